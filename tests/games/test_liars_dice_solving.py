"""Liar's dice with a die each, solved: the same tree, iterations and value as OpenSpiel's."""

import numpy as np
import pytest

from cardenvs.core.errors import SolvingError
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.training.cfr import Solver, Tree
from cardenvs.training.cfr.worlds import Grower

GAME = get_game("liars_dice_v0")
BIDDINGS = {"quantity_first": "reset-face", "face_first": "reset-quantity"}  # OpenSpiel's names

pytestmark = pytest.mark.skipif(not COMPILED, reason="trees of thousands of histories")


@pytest.fixture(scope="module", params=BIDDINGS)
def small(request):
    """The tree with dice of four sides."""
    return Tree(GAME, dice=1, sides=4, bidding=request.param)


def test_the_tree_has_a_history_for_each_roll_and_rising_sequence_of_bids(small):
    """Eight bids, each made or not: 2**8 histories a roll, all of which but the one without bids a call may end."""
    assert (small.num_infosets, small.num_decisions, small.num_terminals) == (4 * 2**8, 16 * 2**8, 16 * (2**8 - 1))


def test_rolls_that_differ_in_order_only_are_one_deal():
    """Two dice with four faces show ten different rolls, not sixteen, and so do the other player's."""
    options = GAME.make_options(dice=2, sides=4)
    decks = np.array([GAME.parse_deck(deck, options) for deck, _ in GAME.enumerate_deals(dice=2, sides=4)])
    assert len(decks) == 4**4
    assert len({record.tobytes() for record in Grower(GAME, options).deal(decks).states}) == 100


@pytest.mark.parametrize(("bidding", "value"), [("quantity_first", -0.02713), ("face_first", None)])
def test_a_die_each_is_solved(bidding, value):
    """OpenSpiel's CFR+ comes to the same value: -0.02724 for player 0 after 600 iterations, with NashConv 0.0007."""
    tree = Tree(GAME, dice=1, bidding=bidding)
    solver = Solver(tree)
    solver.run(700)
    policy = solver.average_policy()
    found = tree.values(policy)
    assert found.sum() == pytest.approx(0, abs=1e-12)
    assert tree.nash_conv(policy) < 0.001
    if value is not None:
        assert found[0] == pytest.approx(value, abs=0.001)


def check_iterations(tree, game, pyspiel, iterations):
    theirs, ours = pyspiel.CFRPlusSolver(game), Solver(tree)
    for _ in range(iterations):
        theirs.evaluate_and_update_policy()
        ours.run(1)
        policy, other = ours.average_policy(), theirs.average_policy()
        assert tree.nash_conv(policy) == pytest.approx(pyspiel.nash_conv(game, other), abs=1e-9)
        wanted = pyspiel.expected_returns(game.new_initial_state(), other, -1, True)
        # Regrets that are 0 but for rounding may give another policy where it is of no use to either player.
        assert tree.values(policy) == pytest.approx(wanted, abs=1e-4)


def test_its_iterations_are_openspiels(small):
    pyspiel = pytest.importorskip("pyspiel")
    rule = BIDDINGS[small.options.bidding]
    check_iterations(small, pyspiel.load_game("liars_dice", {"dice_sides": 4, "bidding_rule": rule}), pyspiel, 5)


@pytest.mark.slow
def test_its_iterations_with_six_sides_are_openspiels():
    pyspiel = pytest.importorskip("pyspiel")
    check_iterations(Tree(GAME, dice=1), pyspiel.load_game("liars_dice"), pyspiel, 3)


def test_games_whose_deals_cannot_be_listed_are_refused():
    with pytest.raises(SolvingError, match="has too many deals to list: 60,466,176; at most 10,000"):
        Tree(GAME)
    with pytest.raises(SolvingError, match="chance continues after the deal"):
        Tree(GAME, dice=1, format="elimination")
