"""CFR on a tree, in four variants that differ in how they weight regrets and policies."""

import math

import numpy as np

from cardenvs.agents.tabular import TabularPolicy
from cardenvs.core.errors import FormatError
from cardenvs.core.game import Game
from cardenvs.core.warmup import Step
from cardenvs.training.cfr import passes
from cardenvs.training.cfr.passes import Method
from cardenvs.training.cfr.tree import Tree

METHODS = {
    # Zinkevich et al., "Regret Minimization in Games with Incomplete Information" (2007): no weights.
    "cfr": Method(math.inf, math.inf, 0.0),
    # Tammelin, "Solving Large Imperfect Information Games Using CFR+" (2014): negative regrets become 0.
    "cfr+": Method(math.inf, -math.inf, 1.0),
    # Brown and Sandholm, "Solving Imperfect-Information Games via Discounted Regret Minimization" (2019), for the
    # following two. The first weights everything in iteration t by t; the second has the values they recommend.
    "linear": Method(1.0, 1.0, 1.0),
    "discounted": Method(1.5, 0.0, 2.0),
}


class Solver:
    """One of METHODS on a tree. In each iteration, the players update their regrets in turn.

    With more than two players it runs, but may not approach an equilibrium.
    """

    def __init__(self, tree: Tree, method: str = "cfr+") -> None:
        """Create a solver that has not begun."""
        self.tree, self.game = tree, tree.game  # what it solves
        self.method = method  # a name in METHODS
        self.iterations = 0  # done so far
        # float64 (num_pairs,); with `iterations`, the whole state. The average policy is proportional to the weights.
        self.regrets, self.weights = np.zeros(tree.num_pairs), np.zeros(tree.num_pairs)
        self._scratch = passes.Scratch.of(tree.arrays)

    def compile(self) -> None:
        """Compile the kernel, or load it from the cache, so that `run` takes no longer than its iterations."""
        self.run(0)

    def run(self, iterations: int) -> None:
        """Do more iterations. Splitting them over several calls makes no difference."""
        passes.iterate(
            self.tree.arrays, self.regrets, self.weights, self.iterations, iterations, METHODS[self.method],
            self._scratch,
        )  # fmt: skip
        self.iterations += iterations

    @property
    def num_infosets(self) -> int:
        """The number of information states of the game."""
        return self.tree.num_infosets

    def saved(self) -> TabularPolicy:
        """Return the average policy as a table, with everything that `restore` needs."""
        tree = self.tree
        return TabularPolicy(
            tree.game.name, tree.options.as_dict(), self.method, self.iterations, tree.player_of_infoset, tree.keys,
            np.diff(tree.first_pair), tree.actions, self.weights, self.regrets,
        )  # fmt: skip

    def restore(self, saved: TabularPolicy) -> None:
        """Resume from a saved table.

        Raises:
            FormatError: the table is of another game, other options or another version of the game.
        """
        saved.check_fits(self.tree.game, self.tree.options)
        own = self.saved()
        for name in ("players", "keys", "sizes", "actions"):
            if not np.array_equal(getattr(own, name), getattr(saved, name)):
                raise FormatError(f"the policy has other {name} than {self.tree.game.name}: it is of another version")
        if saved.regrets is None:
            raise FormatError("the policy has no regrets to resume from")
        self.weights, self.regrets, self.iterations = saved.weights, saved.regrets, saved.iterations

    def average_policy(self) -> np.ndarray:
        """Return the policy that approaches an equilibrium, float64 (num_pairs,)."""
        return self.tree.normalised(self.weights)


def solver_steps(game: Game) -> list[Step]:
    """Return steps that call every kernel for listing and solving the game; none if it has too many deals."""
    return [("tree and CFR", lambda: _solve(game))] if game.can_list_deals() else []


def _solve(game: Game) -> None:
    solver = Solver(Tree(game))
    solver.run(1)
    solver.tree.nash_conv(solver.average_policy())
