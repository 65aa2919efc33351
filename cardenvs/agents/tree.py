"""`SearchTree` and `NetworkTree`: the tree of one decision of information-set Monte Carlo tree search."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cardenvs.core.events import NO_LOG, Op, new_log
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.state import State
from cardenvs.core.tree_search import ENTRY, MAX_PATH, WAITING, WALK, move_entries, read_root
from cardenvs.core.warmup import Step

_MOST_EVENTS = 1024  # events of one action that players distinguish
_ROUNDS = 64  # rounds per call
_LEAVES = 16  # leaves evaluated at once
_FEWEST_ENTRIES, _MOST_ENTRIES = 1 << 15, 1 << 22  # 1.5 MB, 201 MB


@dataclass(frozen=True)
class RootActions:
    """Results of a search for the legal actions at its root, in ascending order of ids.

    Attributes:
        visits: int64 (n,), number of rounds in which each was chosen.
        mean: float64 (n,), mean return of the searching player, -inf without visits.
        error: float64 (n,), its standard error, infinite with fewer than two visits.
    """

    visits: np.ndarray
    mean: np.ndarray
    error: np.ndarray

    def most_visited(self) -> np.ndarray:
        """Return the indices of all actions by visits, then by mean, both descending."""
        return np.lexsort((-self.mean, -self.visits))

    def shares(self) -> np.ndarray:
        """Return each action's share of the visits, float64 (n,)."""
        if not self.visits.any():  # with a network, the first round ends at the root
            first: np.ndarray = np.eye(len(self.visits))[self.most_visited()[0]]
            return first
        shares: np.ndarray = self.visits / self.visits.sum()
        return shares

    @classmethod
    def of(cls, sums: np.ndarray) -> "RootActions":
        """Compute them from visits, sums and sums of squares, float64 (n, 3)."""
        visits, total, squares = sums.T
        count = np.maximum(visits, 1)
        mean = np.where(visits > 0, total / count, -np.inf)
        variance = np.maximum(squares / count - (total / count) ** 2, 0.0)
        error = np.where(visits > 1, np.sqrt(variance / np.maximum(visits - 1, 1)), np.inf)
        return cls(visits.astype(np.int64), mean, error)


def tree_steps(game: Game, options: Options, policies: Sequence[str]) -> list[Step]:
    """Return warm-up steps that call every kernel of a tree search with these playout policies."""

    def search(policy: str) -> None:
        tree = SearchTree(game.state_type(game, options, seed=0), 0, policy, max_plies=1)
        tree.grow(1)
        tree.root_actions()

    return [(f"tree search with {policy}", functools.partial(search, policy)) for policy in policies]


class Tree:
    """A search for the player to act in one state. It grows by rounds, in any number of calls."""

    def __init__(self, state: State, seed: int, exploration: float, walks: int) -> None:
        """Create an empty tree in which `walks` walks descend at once; see the subclasses for the other arguments."""
        game, options = state.game, state.options
        self._states, self._seed, self._exploration = state.records, seed, exploration
        self._actions = np.array(state.legal_actions(), np.int64)
        self._tree, self._walks = np.zeros(_FEWEST_ENTRIES, ENTRY), np.zeros(walks, WALK)
        self._worlds, self._log = np.zeros(walks, game.state_dtype), new_log(_MOST_EVENTS)
        self._legal = np.zeros(game.max_legal(options), np.int32)
        layout = game.layout(options)
        self._seen = np.zeros(layout.size, layout.dtype)
        self._is_counter = np.array([kind.op == Op.SET for kind in game.table.kinds], np.uint8)

    @property
    def rounds(self) -> int:
        """Number of rounds so far."""
        return int(self._walks["rounds"][0])

    def grow(self, rounds: int) -> None:
        """Play `rounds` more rounds."""
        last = self.rounds + rounds
        while self.rounds < last:
            self._make_room()
            self._play(min(_ROUNDS, last - self.rounds))

    def root_actions(self) -> RootActions:
        """Return the results for the legal actions, after at least one round."""
        sums = np.zeros((len(self._actions), 3))
        read_root(self._tree, self._walks, self._actions, sums)
        return RootActions.of(sums)

    def _play(self, rounds: int) -> None:
        raise NotImplementedError

    def _make_room(self) -> None:
        """Enlarge the table, up to a limit, so that half of it is still empty after the next rounds."""
        new = _ROUNDS * MAX_PATH * (1 + len(self._legal)) if self._has_priors else _ROUNDS * MAX_PATH * 2
        while len(self._tree) < min(2 * (int(self._walks["entries"][0]) + new), _MOST_ENTRIES):
            larger = np.zeros(2 * len(self._tree), ENTRY)
            move_entries(self._tree, larger)
            self._tree = larger

    _has_priors = False


class SearchTree(Tree):
    """A search with playouts by a policy."""

    def __init__(
        self, state: State, seed: int, policy: str = "random", max_plies: int | None = None, exploration: float = 1.0
    ) -> None:
        """Create an empty tree.

        Args:
            state: not terminal; not changed. Only what the player to act knows matters.
            seed: seed of all worlds and choices, 0..2**63-1.
            policy: playout policy: "random" or one of `game.policies`.
            max_plies: most plies of a playout beyond the tree; then the returns so far count. None: the whole game.
            exploration: weight of the term that favours actions with few visits, in standard deviations of the return.

        Raises:
            PolicyNotFoundError: the game has no such policy.
        """
        super().__init__(state, seed, exploration, walks=1)
        self._grow = state.game.engine.grow(policy)
        self._max_plies = state.game.max_length(state.options) if max_plies is None else max_plies

    def _play(self, rounds: int) -> None:
        self._grow(
            self._states, 0, self._seed, rounds, self._max_plies, self._exploration, self._worlds, self._walks,
            self._tree, self._is_counter, self._log, NO_LOG, self._legal, self._seen,
        )  # fmt: skip


class Evaluator(Protocol):
    """A network that predicts actions and returns."""

    def reads(self, game: Game, options: Options) -> Options:
        """Return the options whose observations it reads where `options` are played."""
        raise NotImplementedError

    def evaluate(self, observation: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return probabilities of all actions, float64 (N, A), and expected further returns, float64 (N,).

        Args:
            observation: (N, D), of the game's dtype, each from any player's view.
            mask: int8 (N, A), ones for legal actions.
        """
        raise NotImplementedError


class NetworkTree(Tree):
    """A search with the priors and values of a network, which evaluates several leaves at once."""

    _has_priors = True

    def __init__(self, state: State, seed: int, network: Evaluator, exploration: float = 1.0) -> None:
        """Create an empty tree; see `SearchTree` for the arguments."""
        super().__init__(state, seed, exploration, walks=_LEAVES)
        game, options = state.game, state.options
        read = network.reads(game, options)
        layout, num_players, num_actions = game.layout(read), options.num_players, game.num_actions(options)
        self._network, self._descend = network, game.engine_for(read).descend
        self._priors, self._values = np.zeros((_LEAVES, num_actions)), np.zeros((_LEAVES, num_players))
        self._observations = np.zeros((_LEAVES, num_players, layout.size), layout.dtype)
        self._masks = np.zeros((_LEAVES, num_actions), np.int8)
        self._is_zero_sum = num_players == 2 and game.returns(options).total == 0

    def _play(self, rounds: int) -> None:
        last = self.rounds + rounds
        self._play_to(max(1, self.rounds))  # the first round ends at the root, where others would wait as well
        self._play_to(last)

    def _play_to(self, last: int) -> None:
        while self.rounds < last:
            self._descend(
                self._states, 0, self._seed, last, self._exploration, self._worlds, self._walks, self._tree,
                self._is_counter, self._log, self._legal, self._seen, self._priors, self._values, self._observations,
                self._masks,
            )  # fmt: skip
            self._evaluate(np.flatnonzero(self._walks["stage"] == WAITING))

    def _evaluate(self, waiting: np.ndarray) -> None:
        """Write priors and values for the positions of waiting walks.

        In a two-player zero-sum game, one evaluation gives both players' values. In other games, each player's value
        comes from that player's own observation.
        """
        if not len(waiting):
            return
        num_players = self._values.shape[1]
        to_act = self._worlds["current_player"][waiting].astype(np.int64)
        players = to_act[:, None] if self._is_zero_sum else np.tile(np.arange(num_players), (len(waiting), 1))
        seen = self._observations[waiting[:, None], players]
        masks = np.repeat(self._masks[waiting], players.shape[1], 0)
        probs, further = self._network.evaluate(seen.reshape(len(masks), -1), masks)
        further = further.reshape(players.shape)
        if self._is_zero_sum:
            own = further[:, 0]
            further = np.stack([own, -own], 1)
            further[to_act == 1] *= -1
            self._priors[waiting] = probs
        else:
            self._priors[waiting] = probs.reshape(len(waiting), num_players, -1)[np.arange(len(waiting)), to_act]
        self._values[waiting] = self._worlds["returns"][waiting, :num_players] + further
