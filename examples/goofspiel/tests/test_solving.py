"""Goofspiel with four cards, solved: the same tree and iterations as OpenSpiel's."""

import pytest
from cardenvs.training.cfr import Solver, Tree

from goofspiel import GAME

SPIEL = "turn_based_simultaneous_game(game=goofspiel(num_cards={},points_order=random,returns_type=point_difference))"


def test_cfr_plus_approaches_an_equilibrium_of_value_0():
    tree = Tree(GAME, num_cards=4)
    solver = Solver(tree)
    solver.run(300)
    policy = solver.average_policy()
    assert tree.nash_conv(policy) < 0.01
    assert tree.values(policy) == pytest.approx([0, 0], abs=0.01)  # choosing first is no advantage


def test_its_iterations_are_openspiels():
    pyspiel = pytest.importorskip("pyspiel")
    game, tree = pyspiel.load_game(SPIEL.format(3)), Tree(GAME, num_cards=3)
    theirs, ours = pyspiel.CFRPlusSolver(game), Solver(tree)
    for _ in range(5):
        theirs.evaluate_and_update_policy()
        ours.run(1)
        wanted = 2 * pyspiel.nash_conv(game, theirs.average_policy())  # a lead of two is two points here, one there
        assert tree.nash_conv(ours.average_policy()) == pytest.approx(wanted, abs=1e-9)
