"""The information-state tensor: all events that a player has seen, one after another, as numbers.

A row of it is a row of the event log (cardenvs.core.events) with its ids one-hot. Nothing is left out or summarised, so
two tensors are equal if and only if the player has seen the same. The size needs a bound on the number of events: where
all deals can be listed and the tree is small enough to walk, the bound is exact. Other games have no such tensor.
"""

import functools
from collections.abc import Sequence

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.record import copied

_MOST_POSITIONS = 300_000  # walked to find the bound, which takes about two seconds


class EventTensor:
    """Writes the events that a player has seen into an array."""

    def __init__(self, game: Game, options: Options, most_events: int) -> None:
        """Create a tensor for games of at most `most_events` events."""
        table, num_players = game.table, options.num_players
        self._is_set = np.array([kind.op == ev.Op.SET for kind in table.kinds])
        self._pile_columns = _columns([owner for _, owner in table.pile_of], num_players)
        self._counter_columns = _columns([owner for _, owner in table.counter_of], num_players)
        num_piles, num_counters = int(self._pile_columns.max()) + 1, int(self._counter_columns.max()) + 1
        num_tokens = int(game.deck(options).max(initial=-1)) + 1
        num_kinds = table.face_down  # the kinds that players see; the last one is OMNISCIENT's
        widths = (num_kinds, num_players, num_tokens, max(num_piles, num_counters), num_piles)
        self._starts = np.cumsum((0, *widths)).tolist()
        # (events, features), the most events of a game and the numbers for one: kind, player, token, source and target
        # (one-hot, all zeros for none or unknown), value, and 1 if the player saw the token or the value
        self.shape = (most_events, self._starts[-1] + 2)

    def write(self, rows: np.ndarray, out: np.ndarray) -> None:
        """Write what a player has seen, the rows of its events, into `out`, float32 of `shape`; the rest is zeros."""
        out[:] = 0
        kind, source = rows[:, ev.KIND], rows[:, ev.SOURCE]
        places = np.where(self._is_set[kind], self._counter_columns[source], self._pile_columns[source])
        ids = (kind, rows[:, ev.PLAYER], rows[:, ev.TOKEN], places, self._pile_columns[rows[:, ev.TARGET]])
        for start, column in zip(self._starts, ids, strict=False):
            known = np.flatnonzero(column >= 0)
            out[known, start + column[known]] = 1
        out[: len(rows), -2] = rows[:, ev.VALUE]
        out[: len(rows), -1] = rows[:, ev.VISIBLE]


def _columns(owners: Sequence[int | None], num_players: int) -> np.ndarray:
    """Return the column of each pile or counter by id; -1 for absent players and for id -1."""
    at_table = [owner is None or owner < num_players for owner in owners]
    numbers = np.cumsum(at_table) - 1
    return np.append(np.where(at_table, numbers, -1), -1).astype(np.int64)


@functools.lru_cache(maxsize=64)
def most_events(game: Game, options: Options, deals: tuple[str, ...]) -> int | None:
    """Return the most events of a game from any of `deals` (deck texts), or None if the tree is too large to walk."""
    engine, most, positions = game.engine, 0, 0
    legal = np.zeros(game.max_legal(options), np.int32)
    log = ev.new_log(1)  # events are counted, not kept
    for deal in deals:
        states = game.blank(options)
        log[0, 0] = 0
        engine.start(states, 0, 0, game.parse_deck(deal, options), log)
        count = engine.legal(states, 0, legal)
        open_positions = [(states, legal[:count].tolist(), int(log[0, 0]))]
        while open_positions:
            states, actions, events = open_positions.pop()
            most = max(most, events)
            positions += 1
            if positions > _MOST_POSITIONS:
                return None
            for action in actions:
                after = copied(states)
                log[0, 0] = 0
                count = engine.apply(after, 0, action, log, legal)
                open_positions.append((after, legal[:count].tolist(), events + int(log[0, 0])))
    return most
