"""`SearchTree`: the tree of one decision of information-set Monte Carlo tree search."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cardenvs.core.events import NO_LOG, Op, new_log
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.state import State
from cardenvs.core.tree_search import ENTRY, MAX_PATH, WALK, move_entries, read_root
from cardenvs.core.warmup import Step

_ROUNDS = 64  # in one call
_MOST_NEW = _ROUNDS * 2 * MAX_PATH  # entries that they add at most
_FEWEST_ENTRIES, _MOST_ENTRIES = 1 << 15, 1 << 22  # 1 MB, 134 MB


@dataclass(frozen=True)
class RootActions:
    """What a search found about the legal actions at its root, in ascending order of their ids.

    Attributes:
        visits: int64 (n,), rounds in which each was chosen.
        mean: float64 (n,), the mean return of the searching player, -inf where there are no visits.
        error: float64 (n,), its standard error, infinite with fewer than two visits.
    """

    visits: np.ndarray
    mean: np.ndarray
    error: np.ndarray

    def most_visited(self) -> np.ndarray:
        """Return the places of all actions, those with most visits first, and of these those with the highest mean."""
        return np.lexsort((-self.mean, -self.visits))

    @classmethod
    def of(cls, sums: np.ndarray) -> "RootActions":
        """Make it from visits, sums and sums of squares, float64 (n, 3)."""
        visits, total, squares = sums.T
        count = np.maximum(visits, 1)
        mean = np.where(visits > 0, total / count, -np.inf)
        variance = np.maximum(squares / count - (total / count) ** 2, 0.0)
        error = np.where(visits > 1, np.sqrt(variance / np.maximum(visits - 1, 1)), np.inf)
        return cls(visits.astype(np.int64), mean, error)


def tree_steps(game: Game, options: Options, policies: Sequence[str]) -> list[Step]:
    """Return steps of a warm-up that call every kernel of a tree search with these playout policies."""

    def search(policy: str) -> None:
        tree = SearchTree(game.state_type(game, options, seed=0), 0, policy, max_plies=1)
        tree.grow(1)
        tree.root_actions()

    return [(f"tree search with {policy}", functools.partial(search, policy)) for policy in policies]


class SearchTree:
    """A search for the player to act in one state. It grows by rounds; in how many calls makes no difference.

    Attributes:
        rounds: int, playouts so far.
    """

    def __init__(
        self, state: State, seed: int, policy: str = "random", max_plies: int | None = None, exploration: float = 1.0
    ) -> None:
        """Create an empty tree.

        Args:
            state: not terminal; not changed. Only what its player to act knows matters.
            seed: of all worlds and choices, 0..2**63-1.
            policy: who plays out: "random" or one of `game.policies`.
            max_plies: plies of a playout beyond the tree, after which the returns so far count; None: the whole game.
            exploration: weight of the term that favours actions with few visits, in standard deviations of the return.

        Raises:
            PolicyNotFoundError: the game has no such policy.
        """
        game, options = state.game, state.options
        self._grow, self._states, self._seed = game.engine.grow(policy), state.records, seed
        self._max_plies = game.max_length(options) if max_plies is None else max_plies
        self._exploration = exploration
        self._actions = np.array(state.legal_actions(), np.int64)
        self._tree, self._walks = np.zeros(_FEWEST_ENTRIES, ENTRY), np.zeros(1, WALK)
        self._scratch, self._log = np.zeros(1, game.rules.state_dtype), new_log()
        self._legal = np.zeros(game.max_legal(options), np.int32)
        layout = game.layout(options)
        self._seen = np.zeros(layout.size, layout.dtype)
        self._is_counter = np.array([kind.op == Op.SET for kind in game.table.kinds], np.uint8)

    @property
    def rounds(self) -> int:
        """Playouts so far."""
        return int(self._walks["rounds"][0])

    def grow(self, rounds: int) -> None:
        """Play `rounds` more rounds."""
        last = self.rounds + rounds
        while self.rounds < last:
            self._make_room()
            self._grow(
                self._states, 0, self._seed, min(_ROUNDS, last - self.rounds), self._max_plies, self._exploration,
                self._scratch, self._walks, self._tree, self._is_counter, self._log, NO_LOG, self._legal, self._seen,
            )  # fmt: skip
            if self._log[0, 0] >= len(self._log):
                self._log = new_log(2 * int(self._log[0, 0]))

    def root_actions(self) -> RootActions:
        """Return what was found about the legal actions, after at least one round."""
        sums = np.zeros((len(self._actions), 3))
        read_root(self._tree, self._walks, self._actions, sums)
        return RootActions.of(sums)

    def _make_room(self) -> None:
        """Enlarge the table so that half of it is still empty after the next call, up to a limit."""
        while len(self._tree) < min(2 * (int(self._walks["entries"][0]) + _MOST_NEW), _MOST_ENTRIES):
            larger = np.zeros(2 * len(self._tree), ENTRY)
            move_entries(self._tree, larger)
            self._tree = larger
