"""Liar's dice with a die of four sides each, solved: the same tree and the same values as OpenSpiel's."""

import numpy as np
import pytest
from cardenvs.core.errors import SolvingError
from cardenvs.training.cfr import Solver, Tree
from cardenvs.training.cfr.worlds import Grower

from liars_dice import GAME


@pytest.fixture(scope="module")
def tree():
    return Tree(GAME, dice=1, sides=4)


def test_the_tree_has_a_history_for_each_roll_and_rising_sequence_of_bids(tree):
    """Eight bids, each made or not: 2**8 histories a roll, all of which but the one without bids a call may end."""
    assert (tree.num_infosets, tree.num_decisions, tree.num_terminals) == (4 * 2**8, 16 * 2**8, 16 * (2**8 - 1))


def test_rolls_that_differ_in_order_only_are_one_deal():
    """Two dice with four faces show ten different rolls, not sixteen, and so do the other player's."""
    options = GAME.make_options(dice=2, sides=4)
    decks = np.array([GAME.parse_deck(deck, options) for deck, _ in GAME.enumerate_deals(dice=2, sides=4)])
    assert len(decks) == 4**4
    assert len({record.tobytes() for record in Grower(GAME, options).deal(decks).states}) == 100


def test_cfr_plus_approaches_an_equilibrium(tree):
    solver = Solver(tree)
    solver.run(1000)
    policy = solver.average_policy()
    assert tree.values(policy).sum() == pytest.approx(0, abs=1e-12)
    assert tree.nash_conv(policy) < 0.001


def test_its_iterations_are_openspiels(tree):
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_game("liars_dice(dice_sides=4)")
    theirs, ours = pyspiel.CFRPlusSolver(game), Solver(tree)
    for _ in range(5):
        theirs.evaluate_and_update_policy()
        ours.run(1)
        wanted = pyspiel.nash_conv(game, theirs.average_policy())
        assert tree.nash_conv(ours.average_policy()) == pytest.approx(wanted, abs=1e-9)


def test_games_whose_deals_cannot_be_listed_are_refused():
    with pytest.raises(SolvingError, match="has too many deals to list: 60,466,176; at most 10,000"):
        Tree(GAME)
    with pytest.raises(SolvingError, match="chance continues after the deal"):
        Tree(GAME, dice=1, format="elimination")
