"""Decisions of agents as arrays to learn from, read from a store of the arena or a file of trajectories."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from cardenvs.arena.output.parquet import TrajectoryFile
from cardenvs.arena.store import Store
from cardenvs.arena.trajectories import Episode, Games
from cardenvs.core.checks import short
from cardenvs.core.errors import ArenaError, FormatError, OptionError
from cardenvs.core.game import Game
from cardenvs.core.options import Options

NO_ACTION = -1
_COLUMNS = ["observation", "legal_actions", "action", "forced", "return", "deal", "agent"]
_Report = Callable[[int, int], None]  # called with the number done and the total
_Part = tuple[np.ndarray, ...]  # the arrays of Decisions


@dataclass(frozen=True)
class Decisions:
    """N decisions of some agents, without the fallbacks that were played for an agent that failed."""

    # what was played
    game: Game
    options: Options
    observation: np.ndarray  # (N, D) of the game's dtype
    legal: np.ndarray  # (N, L) int32, ids of the legal actions, ascending, padded with NO_ACTION
    action: np.ndarray  # (N,) int32, the id of the chosen action
    returns: np.ndarray  # (N,) float32, what the player got from there to the end, in the game's unit
    deal: np.ndarray  # (N,) int64, number of the deal. Decisions with the same number may share cards.

    def __len__(self) -> int:
        """N."""
        return len(self.action)

    @property
    def digest(self) -> str:
        """A hash of all arrays."""
        digest = hashlib.sha256()
        for array in (self.observation, self.legal, self.action, self.returns, self.deal):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:16]

    @classmethod
    def of_store(
        cls, path: Path, game: Game, agents: Collection[str], most: int, on_game: _Report = lambda done, total: None
    ) -> Self:
        """Read at most `most` decisions of agents from a store.

        Raises:
            ArenaError: the store is damaged, or has no game of these agents.
            OptionError: the decisions do not fit in memory.
        """
        with Store(path, read_only=True) as store:
            games = Games(store, game.name)
            _check_known(agents, {name for _, match in games.matches for name in match.names}, path)
            parts = map(_part_of_episode, games.episodes(agents, on_game))
            return cls._joined(game, games.options, _limited(parts, most), path)

    @classmethod
    def of_parquet(
        cls, path: Path, game: Game, agents: Collection[str], most: int, on_row: _Report = lambda done, total: None
    ) -> Self:
        """Read at most `most` decisions of agents from a file of `cardenvs trajectories`.

        Raises:
            FormatError: the file is damaged or of another game.
            ArenaError: the file has no decisions of these agents.
            OptionError: the decisions do not fit in memory.
        """
        file = TrajectoryFile(path)
        try:
            options = game.make_options(**file.about["options"])
        except (TypeError, OptionError) as error:
            raise FormatError(f"{path} has options that {game.name} lacks: {error}") from None
        file.check_fits(game, options)
        found: set[str] = set()

        def parts() -> Iterator[_Part]:
            done = 0
            for batch in file.batches(_COLUMNS):
                found.update(batch["agent"])
                done += len(batch["action"])
                on_row(done, file.rows)
                yield _part_of_batch(batch, agents, game, options, path)

        read = cls._joined(game, options, _limited(parts(), most), path)
        if len(read) < most:
            _check_known(agents, found, path)
        return read

    @classmethod
    def _joined(cls, game: Game, options: Options, parts: Iterator[_Part], path: Path) -> Self:
        columns = list(zip(*parts, strict=True))
        if not columns:
            raise ArenaError(f"{path} has no decisions of these agents")
        widest = max(legal.shape[1] for legal in columns[1])
        columns[1] = tuple(
            np.pad(legal, ((0, 0), (0, widest - legal.shape[1])), constant_values=NO_ACTION) for legal in columns[1]
        )
        return cls(game, options, *map(np.concatenate, columns))


def _memory() -> int:
    """Return the bytes of this machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 1 << 62


def _check_known(agents: Collection[str], known: set[str], path: Path) -> None:
    unknown = [name for name in agents if name not in known]
    if unknown or not known:
        names = ", ".join(sorted(map(short, known))[:20]) or "none"
        raise ArenaError(f"{path} has no decisions of {short(unknown[0] if unknown else '')}; its agents: {names}")


def _limited(parts: Iterator[_Part], most: int) -> Iterator[_Part]:
    """Yield parts until there are `most` decisions. Raises OptionError if this machine does not have enough memory."""
    rows = widest = size = 0
    for part in parts:
        kept: _Part = tuple(array[: most - rows] for array in part)
        observation, legal, *others = kept
        rows, widest = rows + len(legal), max(widest, legal.shape[1])
        size += observation.nbytes + sum(array.nbytes for array in others)
        if 2 * (size + rows * widest * legal.itemsize) > _memory():  # joining the parts needs twice the memory
            raise OptionError(f"more than {rows:,} decisions do not fit in this machine's memory; lower --most")
        yield kept
        if rows >= most:
            return


def _part_of_episode(episode: Episode) -> _Part:
    kept = ~episode.forced
    legal = np.full((len(episode), max(map(len, episode.legal_actions))), NO_ACTION, np.int32)
    for step, ids in enumerate(episode.legal_actions):
        legal[step, : len(ids)] = ids
    deal = np.full(len(episode), episode.deal, np.int64)
    columns = (episode.observations[:-1], legal, episode.actions, episode.returns, deal)
    return tuple(array[kept] for array in columns)


def _part_of_batch(batch: dict[str, Any], agents: Collection[str], game: Game, options: Options, path: Path) -> _Part:
    offsets, values = batch["legal_actions"]
    sizes = np.diff(offsets)
    _check_rows(batch, sizes, values, game, options, path)
    place = np.arange(len(values)) - np.repeat(offsets[:-1], sizes)
    row = np.repeat(np.arange(len(sizes)), sizes)
    legal = np.full((len(sizes), sizes.max(initial=1)), NO_ACTION, np.int32)
    legal[row, place] = values
    if not (legal == batch["action"][:, None]).any(1).all():
        raise FormatError(f"{path} is damaged: an action is not among the legal ones")
    kept = np.isin(batch["agent"].astype(str), list(agents)) & ~batch["forced"]
    columns = (batch["observation"], legal, batch["action"], batch["return"], batch["deal"])
    return tuple(array[kept] for array in columns)


def _check_rows(
    batch: dict[str, Any], sizes: np.ndarray, values: np.ndarray, game: Game, options: Options, path: Path
) -> None:
    """Check values against the game: a file may come from anyone."""
    actions = game.num_actions(options)
    inside = (sizes >= 1).all() and (sizes <= game.max_legal(options)).all()
    if not inside or ((values < 0) | (values >= actions)).any():
        raise FormatError(f"{path} is damaged: its legal actions are not those of {game.name}")
    if not np.isfinite(batch["return"]).all() or not np.isfinite(batch["observation"]).all():
        raise FormatError(f"{path} is damaged: a number is not finite")
    if (batch["action"] < 0).any():
        raise FormatError(f"{path} is damaged: an action is negative")
