"""`History`: the event log of a state, derived on demand by replaying its actions with logging on."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cardenvs.core.events import COLUMNS, new_log
from cardenvs.core.options import Options
from cardenvs.core.record import copied

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
        """Start the log.

        Args:
            game: the Game.
            options: its options.
            seed: of the deal.
            deck: the explicit tokens of the deal, int16.
            base: record at which the events start, shape (1,); None to start with the deal.
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
