"""Growing a tree: all actions in many positions of a game, in one call."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cardenvs.core.events import EVERYBODY, Op, new_log
from cardenvs.core.game import Game
from cardenvs.core.information import add_events, extend_key
from cardenvs.core.options import Options

ACTION = -1  # marks an action in the key of someone who sees everything; no event kind has this number


@functools.cache
def is_set(game: Game) -> np.ndarray:
    """Return, uint8 by event kind, whether the operation is SET."""
    return np.array([kind.op == Op.SET for kind in game.table.kinds], np.uint8)


class Tools(NamedTuple):
    """Working memory of the kernel, and the event kinds that set a value."""

    log: np.ndarray
    is_set: np.ndarray
    legal: np.ndarray
    next_legal: np.ndarray


@functools.cache
def _grower(game: Game) -> Callable[..., int]:
    """Return the kernel grow(before, decks, after, tools) on Worlds.

    It takes every legal action of every position, or, with decks, deals them. It returns the number of positions
    written, or -1 if the log is too short.

    It calls entry points that every state needs, so that the rules are not compiled a second time.
    """
    start, apply, list_legal = game.engine.start, game.engine.apply, game.engine.legal
    see, extend = add_events, extend_key

    def grow(before, decks, after, tools):
        states, children, log, legal, keys = before.states, after.states, tools.log, tools.legal, after.keys
        num_players, count = after.returns.shape[1], 0
        for i in range(states.shape[0]):
            if decks.shape[0] == 0 and before.num_legal[i] > 0:
                list_legal(states, i, legal)
            for k in range(before.num_legal[i]):
                children[count] = states[i]
                for v in range(num_players + 1):
                    keys[count, v, 0], keys[count, v, 1] = before.keys[i, v, 0], before.keys[i, v, 1]
                log[0, 0] = 0
                if decks.shape[0] > 0:
                    start(children, count, 0, decks[i], log)
                    n = list_legal(children, count, tools.next_legal)
                else:
                    chosen = np.int64(legal[k])
                    extend(keys[count, num_players], ACTION, chosen)
                    n = apply(children, count, chosen, log, tools.next_legal)
                    after.action[count] = chosen
                if log[0, 0] >= log.shape[0]:
                    return -1
                for v in range(num_players + 1):
                    see(keys[count, v], log, 1, 1 << v if v < num_players else EVERYBODY, tools.is_set)
                for p in range(num_players):
                    after.returns[count, p] = children[count].returns[p]
                after.source[count] = i
                after.player[count] = children[count].current_player
                after.num_legal[count] = n
                count += 1
        return count

    return game.engine.entry(grow)


class Worlds(NamedTuple):
    """Positions one action after others, with an entry or a row each."""

    states: np.ndarray  # records
    keys: np.ndarray  # uint64 (n, P + 1, 2), keys of what each player, and last someone who sees everything, has seen
    source: np.ndarray  # int32, the position before
    action: np.ndarray  # int32, the action taken there
    player: np.ndarray  # int8, the player to act; negative where the game is over
    num_legal: np.ndarray  # int32, number of legal actions; 0 where the game is over
    returns: np.ndarray  # float64 (n, P), the players' returns so far

    @classmethod
    def of_size(cls, game: Game, num_players: int, size: int) -> "Worlds":
        """Allocate `size` positions."""
        return cls(
            np.zeros(size, game.state_dtype), np.zeros((size, num_players + 1, 2), np.uint64),
            np.zeros(size, np.int32), np.zeros(size, np.int32), np.zeros(size, np.int8), np.zeros(size, np.int32),
            np.zeros((size, num_players)),
        )  # fmt: skip

    def take(self, chosen: np.ndarray) -> "Worlds":
        """Return the chosen positions."""
        raw = self.states.view(np.uint8).reshape(len(self.states), -1)[chosen]  # much faster than field by field
        states = raw.reshape(-1).view(self.states.dtype)
        return Worlds(states, *(array[chosen] for array in self[1:]))


class Grower:
    """Deals positions of a game, and takes all actions in them."""

    def __init__(self, game: Game, options: Options) -> None:
        """Prepare for one game with these options."""
        self._game, self._options = game, options
        most = game.max_legal(options)
        self._legal, self._next_legal = np.zeros(most, np.int32), np.zeros(most, np.int32)
        self._log = new_log()

    def deal(self, decks: np.ndarray) -> Worlds:
        """Return the positions after the deals of decks, int16 (n, tokens)."""
        blank = Worlds.of_size(self._game, self._options.num_players, len(decks))
        blank.states[:] = self._game.blank(self._options)
        blank.num_legal[:] = 1
        return self._grow(blank, decks)

    def grow(self, worlds: Worlds) -> Worlds:
        """Return the positions after all legal actions in all positions, in order."""
        return self._grow(worlds, np.zeros((0, 0), np.int16))

    def _grow(self, worlds: Worlds, decks: np.ndarray) -> Worlds:
        grow = _grower(self._game)
        children = Worlds.of_size(self._game, self._options.num_players, int(worlds.num_legal.sum()))
        while True:
            tools = Tools(self._log, is_set(self._game), self._legal, self._next_legal)
            if grow(worlds, decks, children, tools) >= 0:
                return children
            self._log = new_log(2 * int(self._log[0, 0]))
