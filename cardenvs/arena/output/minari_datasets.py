"""Trajectories as Minari datasets, one per seat. Needs the extra `minari`.

A Minari dataset (https://minari.farama.org) has the view of a single agent, here one seat of a game. Observations are
dicts of `observation` and `action_mask`; after the last decision, the mask is all 0.
"""

import re
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium import spaces

from cardenvs.arena.trajectories import Episode
from cardenvs.core.errors import ArenaError, require
from cardenvs.core.game import Game
from cardenvs.core.options import Options

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(/[A-Za-z0-9][A-Za-z0-9_-]*){0,4}")
_TOGETHER = 256  # episodes of each seat in memory
_LONGEST = 200  # characters of a name


class MinariWriter:
    """Writes episodes to the datasets NAME/seat-0-v0, NAME/seat-1-v0, ... in Minari's folder on this machine."""

    def __init__(self, name: str, game: Game, options: Options, *, with_seeds: bool = False) -> None:
        """Check that the datasets can be made; `name` is words separated by slashes.

        `with_seeds` stores the seeds of deals as those of episodes; they determine all cards.

        Raises:
            ArenaError: the name is not valid, or a dataset with that name exists.
            MissingExtraError: minari or h5py is not installed.
        """
        self._minari = require("minari", "minari")
        require("h5py", "minari")
        if not _NAME.fullmatch(name) or len(name) > _LONGEST or re.search(r"-v\d+$", name):
            raise ArenaError(
                "a Minari dataset's name is words of letters, digits, _ and - separated by slashes, without a "
                f"version, as in cards/heuristic; got {name[:_LONGEST]!r}"
            )
        self._game, self._options, self._with_seeds = game, options, with_seeds
        self._ids = [f"{name}/seat-{seat}-v0" for seat in range(options.num_players)]
        existing = self._minari.list_local_datasets()
        for dataset in self._ids:
            if dataset in existing:
                raise ArenaError(f"there is a Minari dataset {dataset}; delete it (`minari delete {dataset}`) first")
        layout = game.layout(options)
        self._num_actions = game.num_actions(options)
        box = spaces.Box(layout.low, layout.high, (layout.size,), layout.dtype)
        mask = spaces.Box(0, 1, (self._num_actions,), np.int8)
        self._space = spaces.Dict({"observation": box, "action_mask": mask})
        self._datasets: dict[int, Any] = {}
        self.counts: dict[str, int] = dict.fromkeys(self._ids, 0)  # number of episodes written, by name of dataset

    def write(self, episodes: Iterable[Episode]) -> None:
        """Write episodes, a few hundred at a time. If that fails, no dataset is left behind."""
        try:
            self._write(episodes)
        except BaseException:
            for seat in self._datasets:
                self._minari.delete_dataset(self._ids[seat])
            raise

    def _write(self, episodes: Iterable[Episode]) -> None:
        waiting: dict[int, list[Episode]] = {}
        for episode in episodes:
            group = waiting.setdefault(episode.seat, [])
            group.append(episode)
            if len(group) == _TOGETHER:
                self._add(episode.seat, group)
                waiting[episode.seat] = []
        for seat, group in waiting.items():
            if group:
                self._add(seat, group)

    def _add(self, seat: int, episodes: list[Episode]) -> None:
        buffers = [self._buffer(episode) for episode in episodes]
        if seat in self._datasets:
            self._datasets[seat].update_dataset_from_buffer(buffers)
        else:
            with warnings.catch_warnings(action="ignore", category=UserWarning):  # there is no environment
                self._datasets[seat] = self._minari.create_dataset_from_buffers(
                    self._ids[seat], buffers, observation_space=self._space,
                    action_space=spaces.Discrete(self._num_actions), data_format="hdf5",
                    description=f"{self._game.title}, seat {seat}, as recorded by cardenvs", requirements=["cardenvs"],
                    algorithm_name="several", author="cardenvs", author_email="", code_permalink="",
                )  # fmt: skip
        self.counts[self._ids[seat]] += len(buffers)

    def _buffer(self, episode: Episode) -> Any:
        steps = len(episode)
        mask = np.zeros((steps + 1, self._num_actions), np.int8)
        for step, legal in enumerate(episode.legal_actions):
            mask[step, legal] = 1
        last = np.arange(steps) == steps - 1
        return self._minari.data_collector.EpisodeBuffer(
            seed=episode.seed if self._with_seeds else None,
            options={"agent": episode.agent, "match": episode.match, "deal": episode.deal, "lineup": episode.lineup},
            observations={"observation": episode.observations, "action_mask": mask},
            actions=episode.actions.astype(np.int64),
            rewards=episode.rewards.astype(np.float64).tolist(),
            terminations=last.tolist(),
            truncations=[False] * steps,
        )
