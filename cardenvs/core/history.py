"""The event log of a state, derived on demand by replaying its actions with logging on.

`History` has what the rules have logged, `WholeHistory` what OMNISCIENT gets: the same, and every face that no event
has shown to anybody, such as those of a shuffled deck.
"""

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cardenvs.core.events import COLUMNS, NO_PLACE, NO_PLAYER, OMNISCIENT, UNKNOWN, new_log
from cardenvs.core.fold import FoldedTable
from cardenvs.core.options import Options
from cardenvs.core.record import copied, widen

if TYPE_CHECKING:
    from cardenvs.core.game import Game

NO_ROWS = np.zeros((0, COLUMNS), np.int32)
NO_HISTORY = "the history of this state does not go back to the deal: it is a determinized twin or comes from a batch"


class History:
    """The events of one state, as far as they have been requested.

    `rows` replays only the actions that are new since the last call.

    Attributes:
        num_actions: number of actions whose events are in the log.
    """

    def __init__(self, game: "Game", options: Options, seed: int, deck: np.ndarray, base: np.ndarray | None) -> None:
        """Start the log with the deal, or with the record `base`, shape (1,). `deck` has the explicit tokens of the
        deal, int16.
        """
        self._game, self._options = game, options
        self._chunks: list[np.ndarray] = []
        self.num_actions = 0  # actions whose events are in the log
        if base is not None:
            self._states = copied(base)
            return
        self._states = game.blank(options)
        self._log([lambda states, log: game.engine.start(states, 0, seed, deck, log)])

    def rows(self, actions: list[int]) -> np.ndarray:
        """Return the events after all `actions` of the state, int32 (n, COLUMNS), with their sets of viewers."""
        if self.num_actions < len(actions):
            engine, legal = self._game.engine, np.zeros(self._game.max_legal(self._options), np.int32)

            def step(action: int, states: np.ndarray, log: np.ndarray) -> None:
                engine.apply(states, 0, action, log, legal)

            self._log([functools.partial(step, action) for action in actions[self.num_actions :]])
            self.num_actions = len(actions)
        if len(self._chunks) != 1:
            self._chunks = [np.concatenate(self._chunks) if self._chunks else NO_ROWS]
        return self._chunks[0]

    def _log(self, steps: list[Callable[[np.ndarray, np.ndarray], Any]]) -> None:
        """Run each `step(states, log)` in place and keep its events, in a longer log if they do not fit."""
        log, count = new_log(), 0
        for step in steps:
            before = copied(self._states)
            step(self._states, log)
            while int(log[0, 0]) >= len(log):  # the last events were counted, but not written
                longer = new_log(2 * int(log[0, 0]))
                longer[1 : count + 1] = log[1 : count + 1]
                longer[0, 0] = count
                log = longer
                self._states[:] = before
                step(self._states, log)
            count = int(log[0, 0])
        self._chunks.append(log[1 : count + 1].copy())

    def copy(self) -> Self:
        """Return an independent copy."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._states, twin._chunks = copied(self._states), list(self._chunks)
        return twin


class WholeHistory(History):
    """The events as OMNISCIENT gets them, from the deal on, as rows from `Table.visible`.

    Rules log a shuffle without the order of the cards, since no player may know it. So after the deal, and after each
    action that leaves a face unknown, a row of the kind `lies_face_down` follows for each such face, in the order in
    which the game's view lists the pile. These rows are made only when OMNISCIENT asks. They are in no log, so nothing
    that is made for a player, not even the number of an event, can depend on them.
    """

    def __init__(self, game: "Game", options: Options, seed: int, deck: np.ndarray, base: np.ndarray | None) -> None:
        """Start the log; see `History`. `base` must be None."""
        assert base is None, "what lies face down is known from the deal on only"
        self._known = FoldedTable(game.table)
        super().__init__(game, options, seed, deck, base)

    def _log(self, steps: list[Callable[[np.ndarray, np.ndarray], Any]]) -> None:
        for step in steps:
            super()._log([step])
            rows = self._game.table.visible(self._chunks.pop(), OMNISCIENT)
            for row in rows:
                self._known.apply(row)
            faces = np.array(list(self._face_down()), np.int32).reshape(-1, COLUMNS)
            for row in faces:
                self._known.apply(row)
            self._chunks += [rows, faces]

    def _face_down(self) -> Iterator[tuple[int, ...]]:
        """Yield a row for each face that the events so far do not tell."""
        if not any(UNKNOWN in pile for pile in self._known.piles):
            return
        table = self._game.table
        truth = FoldedTable(table)
        self._game.view.fill_table(widen(self._states)[0], OMNISCIENT, truth)
        for pile, (known, faces) in enumerate(zip(self._known.piles, truth.piles, strict=True)):
            is_ordered, found = table.pile_of[pile][0].ordered, Counter[int]()
            for place, face in enumerate(faces):
                found[face] += 1
                told = face in known[place : place + 1] if is_ordered else found[face] <= known.count(face)
                if UNKNOWN in known and face != UNKNOWN and not told:
                    value = place if is_ordered else found[face]
                    yield table.face_down, NO_PLAYER, face, pile, NO_PLACE, value, 1, 1

    def copy(self) -> Self:
        """Return an independent copy."""
        twin = super().copy()
        twin._known = FoldedTable(self._game.table)
        twin._known.piles = [pile.copy() for pile in self._known.piles]
        twin._known.counters = self._known.counters.copy()
        return twin
