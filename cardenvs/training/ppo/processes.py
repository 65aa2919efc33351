"""One run in several processes, started by torchrun, that together do what one would do.

Each process plays its share of the games, which have the numbers, and so the cards and the draws, that they would have
in one process. All processes keep the same network, optimiser and random generator: minibatches are drawn from the
turns of all of them, each process computes the gradient of its own turns in a minibatch, and what they add up to is
the gradient of the whole minibatch. So nothing depends on the number of processes but rounding, and a checkpoint is
that of one process.
"""

import datetime
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, distributed

from cardenvs.core.codes import NO_ACTION
from cardenvs.core.errors import OptionError
from cardenvs.training.config import Config
from cardenvs.training.torchrun import is_started_by_torchrun

_TIMEOUT = datetime.timedelta(hours=1)  # the others wait this long for the first process's evaluation


@dataclass(frozen=True)
class Processes:
    """The processes of a run, seen from one of them. A single one sends nothing.

    Attributes:
        rank: number of this process, from 0.
        size: how many there are.
    """

    rank: int = 0
    size: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this process prints and writes files."""
        return self.rank == 0

    def check(self, config: Config) -> None:
        """Refuse settings that only a single process can follow.

        Raises:
            OptionError: names the setting.
        """
        alone = {
            "merge_turns": config.merge_turns,
            "method dmc": config.method == "dmc",
            "a frozen opponent": bool(config.opponent),
            "overlap": config.overlap,
        }
        for what, is_wanted in alone.items():
            if is_wanted and self.size > 1:
                raise OptionError(f"{what} works in one process only; leave it out, or leave out torchrun")

    def share(self, number: int) -> slice:
        """Return this process's part of `number` games.

        Raises:
            OptionError: there are fewer games than processes.
        """
        if number < self.size:
            raise OptionError(f"{number} games are too few for {self.size} processes; raise num_envs")
        return slice(number * self.rank // self.size, number * (self.rank + 1) // self.size)

    def gather(self, value: Any) -> list[Any]:
        """Return the values of all processes, by rank."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        distributed.all_gather_object(values, value)
        return values

    def gather_in_first(self, value: Any) -> list[Any]:
        """Return the values of all processes, by rank, in the first process; in others the list is empty."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size if self.is_first else []
        distributed.gather_object(value, values or None)
        return values

    def largest(self, number: int) -> int:
        """Return the largest of the numbers of all processes."""
        if self.size == 1:
            return number
        largest = torch.tensor(number)
        distributed.all_reduce(largest, distributed.ReduceOp.MAX)
        return int(largest)

    def wait(self) -> None:
        """Wait until all processes are here."""
        self.gather(None)

    @torch.no_grad()
    def add(self, tensors: Sequence[Tensor], weight: float) -> None:
        """Replace tensors, of one dtype, by their sums over all processes, each times its process's weight."""
        flat = torch.cat([tensor.reshape(-1) for tensor in tensors]).mul_(weight)
        distributed.all_reduce(flat)
        for tensor, total in zip(tensors, flat.split([tensor.numel() for tensor in tensors]), strict=True):
            tensor.copy_(total.view_as(tensor))


ALONE = Processes()


@contextmanager
def joined(device: str) -> Iterator[Processes]:
    """The processes that torchrun started, or that the caller has joined; else this one alone.

    Those that the caller has joined need a backend for tensors on the CPU, too.
    """
    if not distributed.is_available():
        yield ALONE
    elif distributed.is_initialized():
        yield Processes(distributed.get_rank(), distributed.get_world_size())
    elif not is_started_by_torchrun():
        yield ALONE
    else:
        on_gpu = device.startswith("cuda")
        distributed.init_process_group("cpu:gloo,cuda:nccl" if on_gpu else "gloo", timeout=_TIMEOUT)
        try:
            yield Processes(distributed.get_rank(), distributed.get_world_size())
        finally:
            distributed.destroy_process_group()


@dataclass(frozen=True)
class Turns:
    """The closed transitions of a rollout, of all processes, in the order that they would have in one.

    Attributes:
        slot: (M,) int64, in this process's buffers; -1: another process has it.
        value, advantage: (M,) float32.
    """

    slot: np.ndarray
    value: np.ndarray
    advantage: np.ndarray

    @classmethod
    def of(
        cls, processes: Processes, slots: np.ndarray, numbers: np.ndarray, value: np.ndarray, advantage: np.ndarray
    ) -> "Turns":
        """Collect them.

        Args:
            processes: those of the run.
            slots: (K,), of this process.
            numbers: (K,), which order the slots of all processes.
            value, advantage: (K,).
        """
        if processes.size == 1:
            return cls(slots, value, advantage)
        parts = processes.gather((numbers, value, advantage))
        slot = np.concatenate(
            [slots if rank == processes.rank else np.full(len(part[0]), -1) for rank, part in enumerate(parts)]
        )
        every_number, every_value, every_advantage = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        order = np.argsort(every_number, kind="stable")  # merges what is sorted already
        return cls(slot[order], every_value[order], every_advantage[order])


# ---------------------------------------------------------------------------------------------------------------
# States of games, as in checkpoints


def united(states: Sequence[dict[str, Any]], num_players: int) -> dict[str, Any]:
    """Return the state of a Collector that plays all games, from those of the processes, by rank."""
    if len(states) == 1:
        return states[0]
    envs = [state["env"] for state in states]
    starts = np.cumsum([0, *(env["num_envs"] for env in envs)])
    arrays = {name: _stacked([env["arrays"][name] for env in envs]) for name in envs[0]["arrays"]}
    slots = [state["trajectories"]["slots"] + int(k) * num_players for state, k in zip(states, starts, strict=False)]
    return {
        **states[0],
        "env": {**envs[0], "num_envs": int(starts[-1]), "arrays": arrays},
        "trajectories": {
            "slots": torch.cat(slots),
            "reward": torch.cat([state["trajectories"]["reward"] for state in states]),
        },
        "store": {name: torch.cat([state["store"][name] for state in states]) for name in states[0]["store"]},
    }


def part_of(state: dict[str, Any], games: slice, num_players: int) -> dict[str, Any]:
    """Return the state of a Collector that plays only some of the games of another's state."""
    env, trajectories = state["env"], state["trajectories"]
    arrays = {name: array[games] for name, array in env["arrays"].items()}
    arrays["actions"] = arrays["actions"][:, : int(arrays["plies"].max())]
    slots = trajectories["slots"]
    mine = (slots >= games.start * num_players) & (slots < games.stop * num_players)
    return {
        **state,
        "env": {**env, "num_envs": games.stop - games.start, "arrays": arrays},
        "trajectories": {"slots": slots[mine] - games.start * num_players, "reward": trajectories["reward"][mine]},
        "store": {name: array[mine.to(array.device)] for name, array in state["store"].items()},
    }


def _stacked(parts: list[Tensor]) -> Tensor:
    """Join arrays by game; lists of actions, which are as long as the longest, are filled up."""
    if parts[0].ndim < 2:
        return torch.cat(parts)
    width = max(part.shape[1] for part in parts)
    fill = [torch.full((len(part), width - part.shape[1]), NO_ACTION, dtype=part.dtype) for part in parts]
    return torch.cat([torch.cat(pair, 1) for pair in zip(parts, fill, strict=True)] if width else parts)
