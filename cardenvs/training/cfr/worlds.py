"""Many positions of one game, all one action further in one call: how the tree is grown."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cardenvs.core.events import EVERYBODY, Op, new_log
from cardenvs.core.game import Game
from cardenvs.core.information import add_events, extend_key
from cardenvs.core.options import Options

ACTION = -1  # marks an action in the key of someone who sees everything; no kind of event has this number


@functools.cache
def is_set(game: Game) -> np.ndarray:
    """Return, uint8 by event kind, whether its operation is SET."""
    return np.array([kind.op == Op.SET for kind in game.table.kinds], np.uint8)


@functools.cache
def _grower(game: Game) -> Callable:
    """grow(...) -> worlds written, or -1 if the log is too short.

    It calls entry points that every state needs, so that the rules are not compiled a second time.
    """
    start, apply, list_legal = game.engine.start, game.engine.apply, game.engine.legal
    see, extend = add_events, extend_key

    def grow(
        states, keys, num_legal, decks, children, child_keys, source, action, player, child_legal, returns, log, is_set,
        legal, next_legal,
    ):  # fmt: skip
        num_players, count = returns.shape[1], 0
        for i in range(states.shape[0]):
            if decks.shape[0] == 0 and num_legal[i] > 0:
                list_legal(states, i, legal)
            for k in range(num_legal[i]):
                children[count] = states[i]
                for v in range(num_players + 1):
                    child_keys[count, v, 0], child_keys[count, v, 1] = keys[i, v, 0], keys[i, v, 1]
                log[0, 0] = 0
                if decks.shape[0] > 0:
                    start(children, count, 0, decks[i], log)
                    n = list_legal(children, count, next_legal)
                else:
                    chosen = np.int64(legal[k])
                    extend(child_keys[count, num_players], ACTION, chosen)
                    n = apply(children, count, chosen, log, next_legal)
                    action[count] = chosen
                if log[0, 0] >= log.shape[0]:
                    return -1
                for v in range(num_players + 1):
                    see(child_keys[count, v], log, 1, 1 << v if v < num_players else EVERYBODY, is_set)
                for p in range(num_players):
                    returns[count, p] = children[count].returns[p]
                source[count] = i
                player[count] = children[count].current_player
                child_legal[count] = n
                count += 1
        return count

    return game.engine.entry(grow)


@dataclass
class Worlds:
    """Positions that are one action away from others, with an entry or a row each.

    Attributes:
        states: records.
        keys: uint64 (n, P + 1, 2), what each player has seen, and last what someone who sees everything has.
        source: int32, the position each came from.
        action: int32, by which action.
        player: int8, who is to act; negative where the game is over.
        num_legal: int32, number of legal actions; 0 where the game is over.
        returns: float64 (n, P), the players' returns so far.
    """

    states: np.ndarray
    keys: np.ndarray
    source: np.ndarray
    action: np.ndarray
    player: np.ndarray
    num_legal: np.ndarray
    returns: np.ndarray

    @classmethod
    def of_size(cls, game: Game, num_players: int, size: int) -> "Worlds":
        """Return room for that many."""
        return cls(
            np.zeros(size, game.rules.state_dtype), np.zeros((size, num_players + 1, 2), np.uint64),
            np.zeros(size, np.int32), np.zeros(size, np.int32), np.zeros(size, np.int8), np.zeros(size, np.int32),
            np.zeros((size, num_players)),
        )  # fmt: skip

    def take(self, chosen: np.ndarray) -> "Worlds":
        """Return some of them."""
        raw = self.states.view(np.uint8).reshape(len(self.states), -1)[chosen]  # much faster than field by field
        states = raw.reshape(-1).view(self.states.dtype)
        rest = (self.keys, self.source, self.action, self.player, self.num_legal, self.returns)
        return Worlds(states, *(array[chosen] for array in rest))


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
            done = grow(
                worlds.states, worlds.keys, worlds.num_legal, decks, children.states, children.keys, children.source,
                children.action, children.player, children.num_legal, children.returns, self._log,
                is_set(self._game), self._legal, self._next_legal,
            )  # fmt: skip
            if done >= 0:
                return children
            self._log = new_log(2 * int(self._log[0, 0]))
