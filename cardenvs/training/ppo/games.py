"""The batches of games that a run plays."""

import math
import os

import numpy as np
import torch

from cardenvs.core.errors import OptionError
from cardenvs.core.game import Game
from cardenvs.core.rng import derived_seed
from cardenvs.envs.vector import VectorEnv
from cardenvs.training.config import Config
from cardenvs.training.ppo.processes import Processes


class Games:
    """Makes the batches of games of a run."""

    def __init__(self, game: Game, config: Config, processes: Processes) -> None:
        """Make batches of `game` with the options of `config`, shared among `processes`."""
        self._game, self._config, self._processes = game, config, processes

    def batch(self, number: int, first: int = 0) -> VectorEnv:
        """Return a batch of games, numbered from `first`. It has to be reset."""
        threads = torch.get_num_threads()
        is_alone = self._processes.size == 1
        return VectorEnv(
            self._game, number, num_threads="auto" if threads > 1 and is_alone else threads, mask=False,
            resumable=True, first_env=first, skip_forced=self._config.skip_forced, **self._config.options,
        )  # fmt: skip

    def share(self, number: int, purpose: str) -> VectorEnv:
        """Return this process's share of `number` games, dealt from a seed for `purpose`.

        Raises:
            OptionError: there are fewer games than processes, or they do not fit in the memory of this machine.
        """
        games = self._processes.share(number)
        vec = self.batch(games.stop - games.start, games.start)
        vec.require_lists(self._config.method_title)
        _check_memory(self._config, vec)
        vec.reset(derived_seed(self._config.seed, purpose))
        return vec

    def compile(self, policies: list[str]) -> None:
        """Compile everything that play and these policies call, or load it from the cache."""
        vec = self.batch(1)
        vec.reset(0)
        vec.step(vec.sample_actions())
        for name in policies:
            vec.policy_actions(name, np.zeros(1, np.int64), 0, 0)


def _check_memory(config: Config, vec: VectorEnv) -> None:
    """Refuse rollouts that do not fit in the memory of this machine.

    Raises:
        OptionError: the message has the size of a rollout.
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
