"""The tabular solvers of cardenvs beside those of OpenSpiel: sizes, best responses and iterations are the same."""

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from cardenvs.core.registry import get_game  # noqa: E402
from cardenvs.openspiel import load_game  # noqa: E402
from cardenvs.training.cfr import Solver, Tree  # noqa: E402

GAMES = [("kuhn_poker_v0", {}), ("kuhn_poker_v0", {"num_players": 3}), ("leduc_poker_v0", {})]


def spiel_policy(tree, policy):
    """A policy of a tree as OpenSpiel's, over the game that `load_game` makes of it."""
    table = {}
    for number, state in enumerate(tree.infosets):
        player = state.current_player
        chances = tree.probabilities(policy, number).tolist()
        key = f"p{player}:{state.information_state_key(player)}"
        table[key] = list(zip(state.legal_actions(), chances, strict=True))
    return pyspiel.TabularPolicy(table)


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_best_responses_to_any_policy_are_openspiels(name, options):
    tree, game = Tree(get_game(name), **options), load_game(name, **options)
    for seed in range(3):
        policy = tree.normalised(np.random.default_rng(seed).random(tree.num_pairs) ** 3)
        theirs = pyspiel.nash_conv(game, spiel_policy(tree, policy))
        assert tree.nash_conv(policy) == pytest.approx(theirs, abs=1e-9)
        assert theirs > 0.1


@pytest.mark.parametrize(
    ("native", "name", "infosets", "theirs"),
    [
        ("kuhn_poker", "kuhn_poker_v0", 12, 12),
        ("kuhn_poker(players=3)", "kuhn_poker_v0", 48, 48),
        ("leduc_poker", "leduc_poker_v0", 288, 936),
        ("leduc_poker(suit_isomorphism=true)", "leduc_poker_v0", 288, 288),
    ],
)
@pytest.mark.parametrize("method", ["cfr", "cfr+"])
def test_iterations_are_openspiels_with_cards_merged_that_differ_in_suit_only(native, name, infosets, theirs, method):
    """OpenSpiel's Leduc poker has suits, which nothing depends on: ours, without them, is the same game."""
    game = pyspiel.load_game(native)
    tree = Tree(get_game(name), num_players=game.num_players())
    solver = Solver(tree, method)
    other = (pyspiel.CFRSolver if method == "cfr" else pyspiel.CFRPlusSolver)(game)
    assert tree.num_infosets == infosets
    assert len(other.tabular_average_policy().policy_table()) == theirs
    for _ in range(3 if theirs > 100 else 20):
        solver.run(1)
        other.evaluate_and_update_policy()
        wanted = pyspiel.nash_conv(game, other.average_policy())
        assert tree.nash_conv(solver.average_policy()) == pytest.approx(wanted, abs=1e-9)
