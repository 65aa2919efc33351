"""A run: play, learning, evaluation, progress and checkpoints."""

import functools
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from cardenvs.agents.network import Network
from cardenvs.agents.ppo import (
    check_fits,
    check_model,
    checked_tensor,
    read_checkpoint,
    write_checkpoint,
)
from cardenvs.core.checks import short
from cardenvs.core.errors import CardenvsError, FormatError, OptionError
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.core.rng import derived_seed
from cardenvs.core.text import one_line
from cardenvs.envs.vector import VectorEnv
from cardenvs.training.config import Config
from cardenvs.training.ppo.ahead import Ahead
from cardenvs.training.ppo.collect import Collector
from cardenvs.training.ppo.evaluate import Evaluation, Score
from cardenvs.training.ppo.exploitability import listed, nash_conv
from cardenvs.training.ppo.exploiter import Exploiter
from cardenvs.training.ppo.league import Pool
from cardenvs.training.ppo.learn import Learner
from cardenvs.training.ppo.monte_carlo import MonteCarlo
from cardenvs.training.ppo.opponents import Opponent
from cardenvs.training.ppo.processes import ALONE, Processes, part_of, united
from cardenvs.training.ppo.saved import checked_training, network_state
from cardenvs.training.progress import NETWORK_PARTS, Stopwatch

CHECKPOINT = "latest.pt"
AGENT = "agent"  # the name of a frozen opponent in scores and metrics
TITLES = {"ppo": "PPO", "dmc": "deep Monte Carlo"}  # of methods
MOST_THREADS = 8  # more do not pay for networks of this size


class Run:
    """A training run between two updates.

    Attributes:
        game, options, config: what is trained, and how.
        network: what is trained.
        opponents: names of whom the policy is evaluated against.
        steps, updates: done so far.
        seconds: spent so far, evaluations included.
        total_steps, total_seconds: when it is over, whichever comes first; None: no such limit.
        unlogged: metrics of the last update if it was to be followed by an evaluation, which was not finished.
        pool: past selves, and exploiters.
        watch: where the time went, in this process.
    """

    def __init__(
        self,
        game: Game,
        config: Config,
        device: str = "cpu",
        total_steps: float | None = None,
        total_seconds: float | None = None,
        opponent: Opponent | None = None,
        start: dict[str, Any] | None = None,
        processes: Processes = ALONE,
    ) -> None:
        """Create a run that has not begun, of which this process does its share.

        Args:
            game, config: what to train, and how.
            device: of the network.
            total_steps, total_seconds: limits.
            opponent: who plays all seats but the learner's, if the config names an `opponent`.
            start: a checkpoint of a network of this shape, whose weights to begin with.
            processes: of the run.

        Raises:
            FormatError: the weights are not of this shape.
            OptionError: a setting that this machine or game does not allow, or an opponent that is not there.
            PolicyNotFoundError: the game has no policy that the config names for evaluations.
        """
        if bool(config.opponent) != (opponent is not None):
            raise OptionError(
                f"this is a run against the agent {short(config.opponent)}: begin or resume it with `cardenvs exploit`"
                if config.opponent
                else "an opponent needs the setting `opponent`, its name"
            )
        processes.check(config)
        self.processes = processes
        self._opponents = None if opponent is None else {AGENT: opponent}
        self.game, self.config, self.options = game, config, game.make_options(**config.options)
        self.opponents = [*(self._opponents or _policies_to_play(game, config))]
        self.total_steps, self.total_seconds = total_steps, total_seconds
        self.steps, self.updates, self.seconds = 0, 0, 0.0
        self.unlogged: dict[str, float] | None = None
        self.watch = Stopwatch()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.network = Network.for_game(game, self.options, **config.network()).to(device)
        if start is not None:
            check_model(start["model"], self.network.shape)
            self.network.load_state_dict(start["model"])
        self.network.is_half = config.precision == "bfloat16"
        self._generator = torch.Generator(device).manual_seed(config.seed)
        self._evaluations: dict[str, Evaluation] = {}
        self._tree = listed(game, self.options) if config.nash_conv else None
        vec = self._share_of_games(config.num_envs)
        vec.require_lists(TITLES[config.method])
        _check_memory(config, vec)
        vec.reset(derived_seed(config.seed, "deals"))
        self.pool = Pool(self.network, config.pool_size, config.pool_priority)
        learner = MonteCarlo if config.method == "dmc" else Learner
        self.learner = learner(self.network, config, self._generator, self.watch, processes)
        self._ahead: Ahead | None = None
        if config.overlap:
            player = functools.partial(self._new_player, vec, Stopwatch())
            seed = derived_seed(config.seed, "play ahead")
            self._ahead = Ahead(player, self.network, self.learner.returns, seed)
            self.player = self._ahead.player
        else:
            self.player = self._new_player(vec, self.watch, self.network, self._generator)
        if start is not None:
            self.learner.adopt_scale(start["reward_scale"])
        self.exploiter = self._new_exploiter()

    def _new_player(self, vec: VectorEnv, watch: Stopwatch, network: Network, generator: torch.Generator) -> Collector:
        return Collector(
            vec, network, self.config, generator, watch, self.pool, self._opponents, self.processes,
            self.config.num_envs,
        )  # fmt: skip

    def _new_exploiter(self) -> Exploiter | None:
        number = self.config.num_exploiter_games
        if not number:
            return None
        vec = self._share_of_games(number)
        vec.reset(derived_seed(self.config.seed, "deals of the exploiter"))
        return Exploiter(vec, self.network, self.config, self._generator, self.watch, self.processes, number)

    def _share_of_games(self, number: int) -> VectorEnv:
        games = self.processes.share(number)
        return self._games(games.stop - games.start, games.start)

    def _games(self, number: int, first: int = 0) -> VectorEnv:
        threads = torch.get_num_threads()
        return VectorEnv(
            self.game, number, num_threads="auto" if threads > 1 and self.processes.size == 1 else threads, mask=False,
            resumable=True, first_env=first, **self.config.options,
        )  # fmt: skip

    @property
    def policy(self) -> Network:
        """What is evaluated and plays: the network, or its moving average."""
        average = self.learner.magnet if self.config.magnet_decay else None
        return average or self.network

    def compile(self) -> None:
        """Compile, or load from the cache, what the run will call, so that its clock measures training alone."""
        vec = self._games(1)
        vec.reset(0)
        vec.step(vec.sample_actions())
        for name in self.opponents if self._opponents is None else ["random"]:
            vec.policy_actions(name, np.zeros(1, np.int64), 0, 0)

    def fraction(self) -> float:
        """Return how much of the run is done, 0 to 1."""
        done = 0.0 if self.total_steps is None else self.steps / self.total_steps
        return min(1.0, done if self.total_seconds is None else max(done, self.seconds / self.total_seconds))

    def advance(self) -> dict[str, float]:
        """Play a rollout and learn from it. Returns metrics."""
        started, before = time.perf_counter(), dict(self.watch.seconds)
        self._fill_pool()
        weights = self._weights()
        metrics = self._play_and_learn(weights)
        if self.exploiter is not None:
            metrics |= self.exploiter.advance(weights)
        steps = self.config.num_envs * self.config.rollout_steps
        self.steps += steps
        self.updates += 1
        self._move_magnet()
        total = time.perf_counter() - started
        spent = {part: value - before.get(part, 0.0) for part, value in self.watch.seconds.items()}
        metrics |= {f"time/{part}": value for part, value in spent.items()}
        metrics["speed/steps_per_second"] = steps / total
        metrics["speed/network_share"] = sum(spent.get(part, 0.0) for part in NETWORK_PARTS) / total
        return metrics

    def _play_and_learn(self, weights: dict[str, float]) -> dict[str, float]:
        rollout = self._ahead or self.player
        metrics = rollout.play(self.config.teacher if weights["teacher"] else "")
        metrics |= self.learner.update(rollout.trajectories, rollout.store, rollout.returns, weights)
        if self._ahead is not None:
            with self.watch("wait"):
                self._ahead.wait()
        return metrics

    def _fill_pool(self) -> None:
        """Add to the pool, at its intervals. At the end of an update, `overlap` has already played with the pool."""
        if self.updates == 0:
            return
        if self.updates % self.config.pool_interval == 0:
            self.pool.add(self.network)
        if self.exploiter is not None and self.updates % self.config.exploiter_interval == 0:
            self.exploiter.join(self.pool)

    def _move_magnet(self) -> None:
        config = self.config
        if config.magnet_decay:
            self.learner.pull_magnet(self.updates)
        elif config.magnet_interval and self.updates % config.magnet_interval == 0:
            self.learner.move_magnet()

    def _weights(self) -> dict[str, float]:
        """What the schedules say for now, by name."""
        config, fraction = self.config, self.fraction()
        return {
            "lr": self._lr(),
            "mirror_step": _between(config.mirror_step, config.mirror_step_end, fraction),
            "entropy": _between(config.entropy, config.entropy_end, fraction),
            "magnet": _between(config.magnet, config.magnet_end, fraction),
            "teacher": config.teacher_weight * max(0.0, 1 - fraction / max(config.teacher_until, 1e-9))
            if config.teacher
            else 0.0,
        }

    def _lr(self) -> float:
        config, fraction = self.config, self.fraction()
        if config.lr_schedule == "constant":
            return config.lr
        if config.lr_schedule == "cosine":
            fraction = (1 - math.cos(math.pi * fraction)) / 2
        return _between(config.lr, config.lr_end, fraction)

    def evaluate(
        self, deals: int, purpose: str = "evaluation", on_games: Callable[[int, int], None] = lambda done, total: None
    ) -> Iterator[tuple[str, Score]]:
        """Yield the scores against each of `opponents`, by name. Draws nothing from the run.

        Args:
            deals: how many; for a purpose they are always the same ones.
            purpose: of the evaluation.
            on_games: called with the number of games that have ended, and their total.
        """
        if purpose not in self._evaluations:
            seed = derived_seed(self.config.seed, purpose)
            sampled = self.config.eval_sample
            self._evaluations[purpose] = Evaluation(self._games(deals), seed, sampled, self._opponents)
        evaluation, done = self._evaluations[purpose], 0
        total = sum(map(evaluation.num_games, self.opponents))

        def count(ended: int) -> None:
            nonlocal done
            done += ended
            on_games(done, total)

        evaluation.on_games = count
        for name in self.opponents:
            yield name, evaluation.score(self.policy, name)

    def nash_conv(self) -> float | None:
        """NashConv if the config asks for it: of the policy, sampled, or for dmc of its best actions."""
        if self._tree is None:
            return None
        return nash_conv(self.policy, self._tree, greedy=self.config.method == "dmc")

    def save(self, path: Path) -> None:
        """Write a checkpoint; a reader sees the old one or the new one, never half of one.

        All processes call it, and the first one writes.
        """
        player, ahead = (self._state_of_all(self.player), None) if self._ahead is None else self._ahead.get_state()
        exploiter = None if self.exploiter is None else self.exploiter.get_state(self._state_of_all)
        if not self.processes.is_first:
            return
        training = {
            "total_steps": self.total_steps,
            "total_seconds": self.total_seconds,
            "network": self.network.state_dict() if self.config.magnet_decay else None,
            "updates": self.updates,
            "seconds": self.seconds,
            "unlogged": self.unlogged,
            "learner": self.learner.get_state(),
            "generator": self._generator.get_state(),
            "player": player,
            "ahead": ahead,
            "exploiter": exploiter,
        }
        more = {"method": self.config.method, "config": self.config.as_dict(), "training": training}
        model, scale = self.policy.state_dict(), self.learner.returns.factor
        write_checkpoint(path, self.game, self.options, self.network.shape, model, self.steps, scale, more)

    def _state_of_all(self, player: Collector) -> dict[str, Any]:
        """Return the state of a Collector with the games of all processes, in the first one."""
        state = player.get_state()
        if self.processes.size > 1:  # tensors on a GPU cannot be sent to the process of another
            state["store"] = {name: array.cpu() for name, array in state["store"].items()}
        states = self.processes.gather_in_first(state if self.processes.is_first else {**state, "pool": None})
        return united(states, player.vec.num_players) if states else state

    def _state_for(self, player: Collector, state: dict[str, Any]) -> dict[str, Any]:
        """Return this process's part of such a state."""
        if self.processes.size == 1:
            return state
        first = player.vec.first_env
        return part_of(state, slice(first, first + player.vec.num_envs), player.vec.num_players)

    def _set_player(self, player: dict[str, Any], ahead: dict[str, Any] | None) -> None:
        if self._ahead is None or ahead is None:
            self.player.set_state(self._state_for(self.player, player))
        else:
            self._ahead.set_state(player, ahead)

    @classmethod
    def restore(
        cls, path: Path, device: str = "cpu", opponent: Opponent | None = None, processes: Processes = ALONE
    ) -> "Run":
        """Return a run as it was when it saved a checkpoint, in any number of processes.

        Args:
            path: of the checkpoint.
            device: of the network.
            opponent, processes: as for a new run.

        Raises:
            FormatError: the file is damaged, or of another version of the game.
            OSError: it cannot be read.
        """
        checkpoint = read_checkpoint(path)
        try:
            config, training = checked_training(checkpoint, str(path))
            game = get_game(checkpoint["game"])
            check_fits(checkpoint, path, game, game.make_options(**config.options))
            limits = training["total_steps"], training["total_seconds"]
            run = cls(game, config, device, *limits, opponent, processes=processes)
            run.steps, run.updates, run.seconds = checkpoint["steps"], training["updates"], training["seconds"]
            run.unlogged = training.get("unlogged")
            run.network.load_state_dict(network_state(checkpoint, training.get("network"), config))
            run.learner.set_state(training["learner"])
            size = run._generator.get_state().shape
            run._generator.set_state(checked_tensor(training["generator"], "generator", size, torch.uint8))
            run._set_player(training["player"], training.get("ahead"))
            if run.exploiter is not None:
                exploiter = training["exploiter"]
                player = run._state_for(run.exploiter.player, exploiter["player"])
                run.exploiter.set_state({**exploiter, "player": player})
        except FormatError as error:
            raise FormatError(f"{path} cannot be resumed: {str(error).removeprefix(f'{path} ')}") from None
        except CardenvsError:
            raise
        except (LookupError, TypeError, ValueError, RuntimeError, OverflowError, MemoryError) as error:
            raise FormatError(f"{path} is damaged: {one_line(repr(error))}") from None
        return run


def _check_memory(config: Config, vec: VectorEnv) -> None:
    """Refuse rollouts that this machine cannot keep.

    Raises:
        OptionError: says what they take.
    """
    observation = vec.observation_size * vec.layout.dtype.itemsize
    row = observation + 8 * vec.game.max_legal(vec.options) + 40
    wanted = config.num_envs * (config.rollout_steps + vec.num_players) * row * (1 + config.overlap)
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else math.inf
    if wanted > there:
        raise OptionError(
            f"{config.rollout_steps} steps of {config.num_envs} games take {wanted >> 30} GiB, more than this machine "
            "has; lower num_envs or rollout_steps"
        )


def _policies_to_play(game: Game, config: Config) -> Sequence[str]:
    """Return the policies to evaluate against, by default all of the game.

    Raises:
        PolicyNotFoundError: the game has no policy that the config names.
    """
    for name in config.eval_opponents:
        game.engine.policy(name)
    return config.eval_opponents or game.engine.policy_names()


def _between(start: float, end: float, fraction: float) -> float:
    return start + (end - start) * fraction
