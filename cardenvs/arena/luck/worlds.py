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
