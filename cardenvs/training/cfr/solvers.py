"""CFR on a tree, in four variants that differ in how they weight regrets and policies."""

import math
from dataclasses import dataclass

import numpy as np

from cardenvs.agents.tabular import TabularPolicy
from cardenvs.core.errors import FormatError
from cardenvs.training.cfr import passes
from cardenvs.training.cfr.tree import Tree


@dataclass(frozen=True)
class Method:
    """How a variant of CFR weights iteration t.

    After the iteration, positive regrets are multiplied by t**alpha / (t**alpha + 1), negative ones by the same with
    beta; the iteration's policy counts t**gamma times in the average.
    """

    alpha: float
    beta: float
    gamma: float


METHODS = {
    # Zinkevich et al., "Regret Minimization in Games with Incomplete Information" (2007): no weights.
    "cfr": Method(math.inf, math.inf, 0),
    # Tammelin, "Solving Large Imperfect Information Games Using CFR+" (2014): negative regrets become 0.
    "cfr+": Method(math.inf, -math.inf, 1),
    # Brown and Sandholm, "Solving Imperfect-Information Games via Discounted Regret Minimization" (2019), for the
    # following two. The first weights everything of iteration t by t; the second has the values they recommend.
    "linear": Method(1, 1, 1),
    "discounted": Method(1.5, 0, 2),
}


class Solver:
    """One of METHODS on a tree. Players update their regrets in turn within an iteration.

    With more than two players it runs, but need not come near an equilibrium.

    Attributes:
        tree, game: what it solves.
        method: a name in METHODS.
        iterations: done so far.
        regrets, weights: float64 (num_pairs,); with `iterations` all there is to save. The average policy is in
            proportion to the weights.
    """

    def __init__(self, tree: Tree, method: str = "cfr+") -> None:
        """Create a solver that has not begun."""
        self.tree, self.game, self.method, self.iterations = tree, tree.game, method, 0
        self.regrets, self.weights = np.zeros(tree.num_pairs), np.zeros(tree.num_pairs)
        self._pairs, self._histories = np.zeros((5, tree.num_pairs + 1)), np.zeros((2, len(tree.parent)))

    def compile(self) -> None:
        """Compile the kernel, or load it from the cache, so that `run` takes no longer than its iterations."""
        self.run(0)

    def run(self, iterations: int) -> None:
        """Do some more iterations. How many in one call makes no difference."""
        tree, method = self.tree, METHODS[self.method]
        policy, own, factor, gain, reach = self._pairs
        passes.iterate(
            tree.parent, tree.edge, tree.terminals, tree.payoffs, tree.player_of_pair, tree.player_of_infoset,
            tree.last_pair, tree.first_pair, self.regrets, self.weights, self.iterations, iterations,
            float(method.alpha), float(method.beta), float(method.gamma), policy, own, factor, *self._histories, gain,
            reach,
        )  # fmt: skip
        self.iterations += iterations

    @property
    def num_infosets(self) -> int:
        """How many information states the game has."""
        return self.tree.num_infosets

    def saved(self) -> TabularPolicy:
        """Return the average policy as a table, with what `restore` needs."""
        tree = self.tree
        return TabularPolicy(
            tree.game.name, tree.options.as_dict(), self.method, self.iterations, tree.player_of_infoset, tree.keys,
            np.diff(tree.first_pair), tree.actions, self.weights, self.regrets,
        )  # fmt: skip

    def restore(self, saved: TabularPolicy) -> None:
        """Go on from there.

        Raises:
            FormatError: it belongs to another game, other options or another version of the game.
        """
        saved.check_fits(self.tree.game, self.tree.options)
        own = self.saved()
        for name in ("players", "keys", "sizes", "actions"):
            if not np.array_equal(getattr(own, name), getattr(saved, name)):
                raise FormatError(f"the policy has other {name} than {self.tree.game.name}: it is of another version")
        if saved.regrets is None:
            raise FormatError("the policy has no regrets to go on from")
        self.weights, self.regrets, self.iterations = saved.weights, saved.regrets, saved.iterations

    def average_policy(self) -> np.ndarray:
        """Return the policy that approaches an equilibrium, float64 (num_pairs,)."""
        return self.tree.normalised(self.weights)
