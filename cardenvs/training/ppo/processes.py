"""One run in several processes, started by torchrun, with the result that one process would give.

Each process plays its share of the games, with the numbers, and so the cards and draws, that they would have in one
process. All processes keep the same network, optimiser and random generator. Minibatches are drawn from the turns of
all processes; each computes the gradient of its own turns, and the sum is the gradient of the whole minibatch. So only
rounding depends on the number of processes, and a checkpoint is that of one process.
"""

import datetime
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, distributed

from cardenvs.core.codes import NO_ACTION
from cardenvs.core.errors import OptionError
from cardenvs.training.config import Config
from cardenvs.training.progress import Stopwatch
from cardenvs.training.torchrun import is_started_by_torchrun

_TIMEOUT = datetime.timedelta(hours=1)  # how long the others wait while the first process evaluates


@dataclass(frozen=True)
class Processes:
    """The processes of a run, as seen from one of them. A single process sends nothing."""

    rank: int = 0  # number of this process, from 0
    size: int = 1  # number of processes

    @property
    def is_first(self) -> bool:
        """Whether this process prints and writes files."""
        return self.rank == 0

    def check(self, config: Config) -> None:
        """Check that the settings work in this number of processes.

        Raises:
            OptionError: a setting needs a single process.
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
        """Return this process's part of `number` games. Raises OptionError if there are fewer games than processes."""
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
        """Return the values of all processes, by rank, in the first process, and an empty list in the others."""
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
        """Wait until all processes have called this."""
        self.gather(None)

    @torch.no_grad()
    def add(self, tensors: Sequence[Tensor], weight: float) -> None:
        """Replace tensors of one dtype by their sums over all processes, weighted by `weight` of each process."""
        flat = torch.cat([tensor.reshape(-1) for tensor in tensors]).mul_(weight)
        distributed.all_reduce(flat)
        for tensor, total in zip(tensors, flat.split([tensor.numel() for tensor in tensors]), strict=True):
            tensor.copy_(total.view_as(tensor))


ALONE = Processes()


@contextmanager
def joined(device: str) -> Iterator[Processes]:
    """Yield the processes that torchrun started or that the caller has joined, or else this one alone.

    If the caller has joined them, their backend has to support tensors on the CPU as well.
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
    """The closed transitions of a rollout, of all processes, in the order that they would have in one process."""

    slot: np.ndarray  # (M,) int64, slots in this process's buffers; -1: the transition belongs to another process
    # (M,) float32
    value: np.ndarray
    advantage: np.ndarray

    @classmethod
    def of(
        cls, processes: Processes, slots: np.ndarray, numbers: np.ndarray, value: np.ndarray, advantage: np.ndarray
    ) -> "Turns":
        """Collect the transitions of all processes. The arrays are (K,): slots of this process, numbers that order the
        slots of all processes, values and advantages.
        """
        if processes.size == 1:
            return cls(slots, value, advantage)
        parts = processes.gather((numbers, value, advantage))
        slot = np.concatenate(
            [slots if rank == processes.rank else np.full(len(part[0]), -1) for rank, part in enumerate(parts)]
        )
        every_number, every_value, every_advantage = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        order = np.argsort(every_number, kind="stable")  # merges sorted parts
        return cls(slot[order], every_value[order], every_advantage[order])


# -- states of games, as in checkpoints ---------------------------------------------------------------------------


def united(states: Sequence[dict[str, Any]], num_players: int) -> dict[str, Any]:
    """Return the state of a Collector that plays all games, from the states of all processes, by rank."""
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
    """Return the part of a Collector's state that covers some of its games."""
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
    """Join arrays by game; lists of actions are padded to the longest."""
    if parts[0].ndim < 2:
        return torch.cat(parts)
    width = max(part.shape[1] for part in parts)
    fill = [torch.full((len(part), width - part.shape[1]), NO_ACTION, dtype=part.dtype) for part in parts]
    return torch.cat([torch.cat(pair, 1) for pair in zip(parts, fill, strict=True)] if width else parts)


@dataclass(frozen=True)
class Context:
    """What the parts of a run share."""

    config: Config
    generator: torch.Generator  # the source of random numbers, on the device of the network
    watch: Stopwatch = field(default_factory=Stopwatch)  # times the parts
    processes: Processes = ALONE  # the processes of the run
