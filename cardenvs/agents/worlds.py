"""Many worlds at once: positions that the same actions lead to from different cards."""

from collections.abc import Sequence

import numpy as np

from cardenvs.core.events import NO_LOG
from cardenvs.core.game import Game
from cardenvs.core.options import Options


def replayed(
    game: Game,
    options: Options,
    decks: Sequence[Sequence[int]] | np.ndarray,
    actions: Sequence[int],
    seeds: Sequence[int] | np.ndarray,
) -> np.ndarray:
    """Return the positions, records (N,), that the same actions lead to.

    Args:
        game, options: what is played.
        decks: N explicit decks of one length.
        actions: the actions, legal after all of them.
        seeds: for each deck the seed of the other cards.
    """
    records = np.repeat(game.blank(options), len(decks))
    given = np.array(decks, np.int16).reshape(len(decks), -1)
    game.engine.replay(records, np.array(seeds, np.int64), given, np.array(actions, np.int64), NO_LOG)
    return records


def positions_after(game: Game, records: np.ndarray, plays: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the positions after each play in each of some worlds, records (worlds * plays,): all of the first world,
    then all of the next.

    Args:
        game: the Game.
        records: the worlds, (N,), with one player to act.
        plays: legal actions in a row.
    """
    after = np.repeat(records, len(plays))
    lengths = np.tile([len(play) for play in plays], len(records))
    for ply in range(max(map(len, plays))):
        rows = np.flatnonzero((lengths > ply) & (after["terminal"] == 0))
        actions = np.array([plays[row % len(plays)][ply] for row in rows.tolist()], np.int64)
        game.engine.advance_rows(after, rows, actions, NO_LOG)
    return after
