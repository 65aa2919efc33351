"""A run between two updates: its parts, and its checkpoint."""

import math
import time
from pathlib import Path
from typing import Any

import torch

from cardenvs.agents.checkpoint_file import check_fits, check_model, checked_tensor, read_checkpoint, write_checkpoint
from cardenvs.agents.network import Network
from cardenvs.core.checks import short
from cardenvs.core.errors import CardenvsError, FormatError, OptionError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.registry import get_game
from cardenvs.core.text import one_line
from cardenvs.training.config import Config
from cardenvs.training.limits import Limits
from cardenvs.training.ppo.ahead import Ahead
from cardenvs.training.ppo.collect import Collector
from cardenvs.training.ppo.evaluator import AGENT, Evaluator
from cardenvs.training.ppo.exploiter import Exploiter
from cardenvs.training.ppo.games import Games
from cardenvs.training.ppo.league import Pool
from cardenvs.training.ppo.learn import Learner
from cardenvs.training.ppo.monte_carlo import MonteCarlo
from cardenvs.training.ppo.opponents import Opponent
from cardenvs.training.ppo.processes import ALONE, Context, Processes
from cardenvs.training.ppo.saved import checked_training, network_state
from cardenvs.training.progress import NETWORK_PARTS


class Run:
    """A training run between two updates.

    Attributes:
        game, options, config: what is trained, and how.
        limits: when the run ends.
        network: the network that is trained.
        steps, updates: done so far.
        seconds: spent so far, evaluations included.
        unlogged: metrics of the last update while they wait for its evaluation; else None.
        games: makes the batches of games.
        evaluator: evaluates the policy.
        player, learner: play and learn; with `overlap`, `player` plays ahead.
        exploiter: the exploiter; None without one.
        pool: past selves, and former exploiters.
        watch: where the time went, in this process.
    """

    def __init__(
        self,
        game: Game,
        config: Config,
        limits: Limits | None = None,
        device: str = "cpu",
        *,
        opponent: Opponent | None = None,
        start: dict[str, Any] | None = None,
        processes: Processes = ALONE,
    ) -> None:
        """Create a run that has not begun, of which this process does its share.

        `opponent` plays all seats but the learner's, if the config names one. `start` is a checkpoint of a network of
        this shape, whose weights the network starts with.

        Raises:
            FormatError: the weights do not have this shape.
            OptionError: this machine or game does not allow a setting, or there is no opponent where the config names
                one.
            PolicyNotFoundError: the game lacks a policy that the config names.
        """
        _check_opponent(config, opponent)
        processes.check(config)
        self.game, self.config, self.options = game, config, game.make_options(**config.options)
        self.limits, self.processes = limits or Limits(), processes
        self.steps, self.updates, self.seconds = 0, 0, 0.0
        self.unlogged: dict[str, float] | None = None
        self.games = Games(game, config, processes)
        self.evaluator = Evaluator(game, config, self.games, opponent)
        self.network = _new_network(game, self.options, config, start).to(device)
        self._generator = torch.Generator(device).manual_seed(config.seed)
        self._opponents = None if opponent is None else {AGENT: opponent}
        self._make_parts(Context(config, self._generator, processes=processes))
        if start is not None:
            self.learner.adopt_scale(start["reward_scale"])
            if self.exploiter is not None:
                self.exploiter.start_again()

    def _make_parts(self, context: Context) -> None:
        config, self.watch = self.config, context.watch
        vec = self.games.share(config.num_envs, "deals")
        self.pool = Pool(self.network, config.pool_size, config.pool_priority)
        self.learner = (MonteCarlo if config.method == "dmc" else Learner)(self.network, context)

        def player(network: Network, context: Context) -> Collector:
            return Collector(vec, network, context, self.pool, self._opponents)

        self.player: Collector | Ahead = (
            Ahead(player, self.network, self.learner.returns, context)
            if config.overlap
            else player(self.network, context)
        )
        self.exploiter: Exploiter | None = None
        if config.num_exploiter_games:
            games = self.games.share(config.num_exploiter_games, "deals of the exploiter")
            self.exploiter = Exploiter(games, self.network, self.learner.returns, context)

    @property
    def policy(self) -> Network:
        """What is evaluated and saved: the network, its moving average with `magnet_decay`, or in the last
        `average_share` of the run the mean of its weights.
        """
        average = self.learner.average
        if average is not None and average.count:
            return average.network
        return (self.learner.magnet if self.config.magnet_decay else None) or self.network

    def fraction(self) -> float:
        """Return the share of the run that is done, 0 to 1."""
        return self.limits.fraction(self.steps, self.seconds)

    def advance(self) -> dict[str, float]:
        """Play a rollout and learn from it. Returns metrics."""
        started, before = time.perf_counter(), dict(self.watch.seconds)
        weights = scheduled(self.config, self.fraction())
        if isinstance(self.player, Ahead):
            self.player.catch_up(self._teacher(weights))
        self.fill_pool()
        metrics = self._play_and_learn(weights)
        if self.exploiter is not None:
            metrics |= self.exploiter.advance(weights)
        steps = self.config.num_envs * self.config.rollout_steps
        self.steps += steps
        self.updates += 1
        self.learner.move_magnet(self.updates)
        if self.learner.average is not None:
            self.learner.average.add(self.network, self.fraction())
        total = time.perf_counter() - started
        spent = {part: value - before.get(part, 0.0) for part, value in self.watch.seconds.items()}
        metrics |= {f"time/{part}": value for part, value in spent.items()}
        metrics["speed/steps_per_second"] = steps / total
        metrics["speed/network_share"] = sum(spent.get(part, 0.0) for part in NETWORK_PARTS) / total
        return metrics

    def _play_and_learn(self, weights: dict[str, float]) -> dict[str, float]:
        player = self.player
        metrics = player.play(self._teacher(weights))
        metrics |= self.learner.update(player.trajectories, player.store, player.returns, weights)
        if isinstance(player, Ahead):
            with self.watch("wait"):
                player.wait()
        return metrics

    def _teacher(self, weights: dict[str, float]) -> str:
        return self.config.teacher if weights["teacher"] else ""

    def fill_pool(self) -> None:
        """Add to the pool at its intervals, before an update: `overlap` plays with the pool while learning."""
        if self.updates == 0:
            return
        if self.updates % self.config.pool_interval == 0:
            self.pool.add(self.network)
        if self.exploiter is not None and self.updates % self.config.exploiter_interval == 0:
            self.exploiter.join(self.pool)

    def save(self, path: Path) -> None:
        """Write a checkpoint atomically. All processes call it, and the first one writes."""
        player = self.player.get_state()
        exploiter = None if self.exploiter is None else self.exploiter.get_state()
        if not self.processes.is_first:
            return
        training = {
            "total_steps": self.limits.total_steps,
            "total_seconds": self.limits.seconds,
            "network": self.network.state_dict() if self.config.saves_an_average else None,
            "updates": self.updates,
            "seconds": self.seconds,
            "unlogged": self.unlogged,
            "learner": self.learner.get_state(),
            "generator": self._generator.get_state(),
            "player": player,
            "exploiter": exploiter,
        }
        more = {"method": self.config.method, "config": self.config.as_dict(), "training": training}
        model, scale = self.policy.state_dict(), self.learner.returns.factor
        write_checkpoint(path, self.game, self.options, self.network.shape, model, self.steps, scale, more)

    @classmethod
    def restore(
        cls, path: Path, device: str = "cpu", *, opponent: Opponent | None = None, processes: Processes = ALONE
    ) -> "Run":
        """Return a run as it was when it saved a checkpoint, in any number of processes.

        Raises:
            FormatError: the file is damaged, or from another version of the game.
            OSError: the file cannot be read.
        """
        checkpoint = read_checkpoint(path)
        try:
            config, training = checked_training(checkpoint, str(path))
            game = get_game(checkpoint["game"])
            check_fits(checkpoint, path, game, game.make_options(**config.options))
            limits = Limits(training["total_steps"], training["total_seconds"])
            run = cls(game, config, limits, device, opponent=opponent, processes=processes)
            run._set_state(checkpoint, training)
        except FormatError as error:
            raise FormatError(f"{path} cannot be resumed: {str(error).removeprefix(f'{path} ')}") from None
        except CardenvsError:
            raise
        except (LookupError, TypeError, ValueError, RuntimeError, OverflowError, MemoryError) as error:
            raise FormatError(f"{path} is damaged: {one_line(repr(error))}") from None
        return run

    def _set_state(self, checkpoint: dict[str, Any], training: dict[str, Any]) -> None:
        self.steps, self.updates, self.seconds = checkpoint["steps"], training["updates"], training["seconds"]
        self.unlogged = training.get("unlogged")
        self.network.load_state_dict(network_state(checkpoint, training.get("network"), self.config))
        self.learner.set_state(training["learner"])
        size = self._generator.get_state().shape
        self._generator.set_state(checked_tensor(training["generator"], "generator", size, torch.uint8))
        self.player.set_state(training["player"])
        if self.exploiter is not None:
            self.exploiter.set_state(training["exploiter"])


def _check_opponent(config: Config, opponent: Opponent | None) -> None:
    """Check that there is an opponent if the config names one. Raises OptionError if there is only one of the two."""
    if config.opponent and opponent is None:
        raise OptionError(
            f"this is a run against the agent {short(config.opponent)}: begin or resume it with `cardenvs exploit`"
        )
    if opponent is not None and not config.opponent:
        raise OptionError("an opponent needs the setting `opponent`, its name")


def _new_network(game: Game, options: Options, config: Config, start: dict[str, Any] | None) -> Network:
    """Return a network with random weights, or with those of a checkpoint."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        network = Network.for_game(game, options, **config.network())
    if start is not None:
        check_model(start["model"], network.shape)
        network.load_state_dict(start["model"])
    network.is_half = config.precision == "bfloat16"
    return network


def scheduled(config: Config, fraction: float) -> dict[str, float]:
    """Return learning rate, step of mirror descent and loss weights, by name, after a fraction of the run."""
    return {
        "lr": _lr(config, fraction),
        "mirror_step": _between(config.mirror_step, config.mirror_step_end, fraction),
        "entropy": _between(config.entropy, config.entropy_end, fraction),
        "magnet": _between(config.magnet, config.magnet_end, fraction),
        "teacher": config.teacher_weight * max(0.0, 1 - fraction / max(config.teacher_until, 1e-9))
        if config.teacher
        else 0.0,
    }


def _lr(config: Config, fraction: float) -> float:
    if config.lr_schedule == "constant":
        return config.lr
    if config.lr_schedule == "cosine":
        fraction = (1 - math.cos(math.pi * fraction)) / 2
    return _between(config.lr, config.lr_end, fraction)


def _between(start: float, end: float, fraction: float) -> float:
    return start + (end - start) * fraction
