"""A run: play, learning, evaluation, progress and checkpoints."""

import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cardenvs.agents.ppo import (
    FORMAT,
    Network,
    check_fits,
    check_model,
    checked_fields,
    checked_tensor,
    read_checkpoint,
)
from cardenvs.core.checks import short
from cardenvs.core.errors import CardenvsError, FormatError, OptionError
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.core.rng import derived_seed
from cardenvs.core.text import one_line
from cardenvs.envs.vector import VectorEnv
from cardenvs.training.config import Config
from cardenvs.training.ppo.collect import Collector
from cardenvs.training.ppo.evaluate import Score, evaluate
from cardenvs.training.ppo.learn import Learner
from cardenvs.training.progress import NETWORK_PARTS, Stopwatch

CHECKPOINT, EVALUATION_FILE = "latest.pt", "evaluation.json"
MOST_THREADS = 8  # more do not pay for networks of this size


class Run:
    """A training run between two updates.

    Attributes:
        game, options, config: what is trained, and how.
        network: what is trained.
        steps, updates: done so far.
        seconds: spent so far, evaluations included.
        total_steps, total_seconds: when it is over, whichever comes first; None: no such limit.
        watch: where the time went, in this process.
    """

    def __init__(
        self,
        game: Game,
        config: Config,
        device: str = "cpu",
        total_steps: float | None = None,
        total_seconds: float | None = None,
    ) -> None:
        """Create a run that has not begun."""
        self.game, self.config, self.options = game, config, game.make_options(**config.options)
        self.total_steps, self.total_seconds = total_steps, total_seconds
        self.steps, self.updates, self.seconds = 0, 0, 0.0
        self.watch = Stopwatch(torch.cuda.synchronize if device.startswith("cuda") else None)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.network = Network.for_game(game, self.options, config.hidden, config.activation).to(device)
        self._generator = torch.Generator(device).manual_seed(config.seed)
        vec = self._games(config.num_envs)
        vec.require_lists("PPO")
        _check_memory(config, vec)
        vec.reset(derived_seed(config.seed, "deals"))
        self.player = Collector(vec, self.network, config, self._generator, self.watch)
        self.learner = Learner(self.network, config, self._generator, self.watch)

    def _games(self, number: int) -> VectorEnv:
        threads = 1 if torch.get_num_threads() == 1 else "auto"
        return VectorEnv(self.game, number, num_threads=threads, mask=False, resumable=True, **self.config.options)

    @property
    def opponents(self) -> list[str]:
        """The policies to evaluate against, by default all of the game.

        Raises:
            PolicyNotFoundError: the game has no policy that the config names.
        """
        for name in self.config.eval_opponents:
            self.game.engine.policy(name)
        return [*self.config.eval_opponents] or self.game.engine.policy_names()

    def compile(self) -> None:
        """Compile, or load from the cache, what the run will call, so that its clock measures training alone."""
        vec = self._games(1)
        vec.reset(0)
        vec.step(vec.sample_actions())
        for opponent in self.opponents:
            vec.policy_actions(opponent, np.zeros(1, np.int64), 0, 0)

    def fraction(self) -> float:
        """Return how much of the run is done, 0 to 1."""
        done = 0.0 if self.total_steps is None else self.steps / self.total_steps
        return min(1.0, done if self.total_seconds is None else max(done, self.seconds / self.total_seconds))

    def advance(self) -> dict[str, float]:
        """Play a rollout and learn from it. Returns metrics."""
        started, before = time.perf_counter(), dict(self.watch.seconds)
        lr, entropy = self._lr(), _between(self.config.entropy, self.config.entropy_end, self.fraction())
        metrics = self.player.play()
        metrics |= self.learner.update(self.player.trajectories, self.player.store, lr, entropy)
        steps = self.config.num_envs * self.config.rollout_steps
        self.steps += steps
        self.updates += 1
        if self.updates % self.config.pool_interval == 0:
            self.player.pool.add(self.network)
        total = time.perf_counter() - started
        spent = {part: value - before.get(part, 0.0) for part, value in self.watch.seconds.items()}
        metrics |= {f"time/{part}": value for part, value in spent.items()}
        metrics["speed/steps_per_second"] = steps / total
        metrics["speed/network_share"] = sum(spent[part] for part in NETWORK_PARTS) / total
        return metrics

    def _lr(self) -> float:
        config, fraction = self.config, self.fraction()
        if config.lr_schedule == "constant":
            return config.lr
        if config.lr_schedule == "cosine":
            fraction = (1 - math.cos(math.pi * fraction)) / 2
        return _between(config.lr, config.lr_end, fraction)

    def evaluate(self, deals: int, purpose: str = "evaluation") -> dict[str, Score]:
        """Scores against each of `opponents`, always on the same deals for a purpose. Draws nothing from the run."""
        seed = derived_seed(self.config.seed, purpose)
        generator = None
        if self.config.eval_sample:
            generator = torch.Generator(self._generator.device).manual_seed(seed)
        vec = self._games(deals)
        scores = {name: evaluate(self.network, vec, name, seed, generator) for name in self.opponents}
        vec.close()
        return scores

    def save(self, path: Path) -> None:
        """Write a checkpoint; a reader sees the old one or the new one, never half of one."""
        training = {
            "total_steps": self.total_steps,
            "total_seconds": self.total_seconds,
            "updates": self.updates,
            "seconds": self.seconds,
            "optimizer": self.learner.optimizer.state_dict(),
            "generator": self._generator.get_state(),
            "player": self.player.get_state(),
        }
        checkpoint = {
            "format": FORMAT,
            "game": self.game.name,
            "options": self.options.as_dict(),
            "layout": self.game.layout(self.options).hash,
            "shape": self.network.shape,
            "model": self.network.state_dict(),
            "steps": self.steps,
            "config": self.config.as_dict(),
            "training": training,
        }
        part = path.with_name(path.name + ".part")
        with part.open("wb") as file:
            torch.save(checkpoint, file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)

    @classmethod
    def restore(cls, path: Path, device: str = "cpu") -> "Run":
        """Return a run as it was when it saved a checkpoint.

        Raises:
            FormatError: the file is damaged, or of another version of the game.
            OSError: it cannot be read.
        """
        checkpoint = read_checkpoint(path)
        try:
            checked_fields(checkpoint, {"training": dict, "config": dict}, "the checkpoint")
            training = checked_fields(checkpoint["training"], _TRAINING_FIELDS, "training")
            config = Config.make(checkpoint["config"], str(path))
            _check_progress(training)
            _check_games(training["player"], config)
            check_model(checkpoint["model"], checkpoint["shape"])
            game = get_game(checkpoint["game"])
            check_fits(checkpoint, path, game, game.make_options(**config.options))
            run = cls(game, config, device, training["total_steps"], training["total_seconds"])
            run.steps, run.updates, run.seconds = checkpoint["steps"], training["updates"], training["seconds"]
            run.network.load_state_dict(checkpoint["model"])
            run.learner.set_state(training["optimizer"])
            size = run._generator.get_state().shape
            run._generator.set_state(checked_tensor(training["generator"], "generator", size, torch.uint8))
            run.player.set_state(training["player"])
        except FormatError as error:
            raise FormatError(f"{path} cannot be resumed: {str(error).removeprefix(f'{path} ')}") from None
        except CardenvsError:
            raise
        except (LookupError, TypeError, ValueError, RuntimeError, OverflowError, MemoryError) as error:
            raise FormatError(f"{path} is damaged: {one_line(repr(error))}") from None
        return run


_NUMBER = (int, float)
_MOST_STEPS = 1 << 62
_TRAINING_FIELDS: dict[str, Any] = {
    "total_steps": (*_NUMBER, type(None)), "total_seconds": (*_NUMBER, type(None)), "updates": int,
    "seconds": _NUMBER, "optimizer": dict, "generator": Tensor, "player": dict,
}  # fmt: skip


def _check_progress(training: dict[str, Any]) -> None:
    for name in ("total_steps", "total_seconds", "updates", "seconds"):
        value = training[name]
        if value is not None and not 0 <= value < _MOST_STEPS:  # False for NaN as well
            raise FormatError(f"{name} is {short(value)}")


def _check_games(player: dict[str, Any], config: Config) -> None:
    """Refuse a number of games other than that of the games in the file, before room is made for them."""
    checked_fields(player, {"env": dict, "trajectories": dict, "store": dict, "pool": list}, "player")
    arrays = checked_fields(player["env"], {"arrays": dict}, "env")["arrays"]
    checked_tensor(arrays.get("episodes"), "episodes", (config.num_envs,), torch.int64)
    for name, array in arrays.items():
        if not isinstance(array, Tensor):
            raise FormatError(f"{short(name)} is not a tensor")
        checked_tensor(array, short(name), array.shape, array.dtype)


def _check_memory(config: Config, vec: VectorEnv) -> None:
    """Refuse rollouts that this machine cannot keep.

    Raises:
        OptionError: says what they take.
    """
    observation = vec.observation_size * vec.layout.dtype.itemsize
    row = observation + 8 * vec.game.max_legal(vec.options) + 40
    wanted = config.num_envs * (config.rollout_steps + vec.num_players) * row
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else math.inf
    if wanted > there:
        raise OptionError(
            f"{config.rollout_steps} steps of {config.num_envs} games take {wanted >> 30} GiB, more than this machine "
            "has; lower num_envs or rollout_steps"
        )


def _between(start: float, end: float, fraction: float) -> float:
    return start + (end - start) * fraction
