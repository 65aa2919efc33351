"""Compilation of the solvers ahead of time."""

from cardenvs.core.game import Game
from cardenvs.core.warmup import Step
from cardenvs.training.cfr.solvers import Solver
from cardenvs.training.cfr.tree import Tree


def solver_steps(game: Game) -> list[Step]:
    """Return steps that call every kernel that listing and solving the game calls; none if its deals are too many."""
    return [("tree and CFR", lambda: _solve(game))] if game.can_list_deals() else []


def _solve(game: Game) -> None:
    solver = Solver(Tree(game))
    solver.run(1)
    solver.tree.nash_conv(solver.average_policy())
