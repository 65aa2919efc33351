"""The rule agent of riichi: what it does in plain positions, and that it uses only what its player knows."""

import random

import pytest
from test_riichi import GAME, READY, act, answered, labels, start

from cardenvs.games.riichi import actions


def choice(game):
    """The label of the rule agent's action."""
    return game.action_label(game.policy_action("heuristic", 0))


def test_it_wins_when_it_can():
    assert choice(start(READY, draws="8s")) == "tsumo"
    game = act(start("", READY, draws="8s"), "discard 8s")
    assert choice(game) == "ron"


def test_it_declares_riichi_with_a_good_wait():
    assert choice(start(READY, draws="9m")) == "riichi 9m"


def test_it_keeps_what_fits_and_throws_single_honours():
    assert choice(start("234m567m345p67s2s1z", draws="4z")) in ("discard 1z", "discard 4z")


def test_it_calls_pon_of_dragons():
    hands = ("147m258p369s1235z", "55z34m667p45s99m24s1z")
    game = act(start(*hands, draws="9m", dora="1s"), "discard 5z")
    assert choice(game) == "pon"


def test_it_does_not_open_a_hand_without_a_yaku():
    game = act(start("", "23m456p789s11m99p8s", draws="4m", dora="1z"), "discard 4m")
    assert "chi with 2m 3m" in labels(game)
    assert choice(game) == "pass"


def test_it_folds_with_a_tile_that_is_safe():
    """Far from tenpai against riichi, it throws what the other has thrown."""
    game = act(start(READY, "1359m2468p13579s", draws="9m1z"), "riichi 9m")
    answered(game)
    assert choice(game) in ("discard 9m", "discard 1z")


@pytest.mark.parametrize("seed", range(3))
def test_it_chooses_the_same_in_all_twins(seed):
    game, chooser = GAME.new_state(seed=seed), random.Random(seed)
    while not game.is_terminal:
        action = game.policy_action("heuristic", game.ply)
        assert action in game.legal_actions()
        if action != actions.PASS and chooser.random() < 0.3:
            for k in range(3):
                twin = game.determinize(game.current_player, seed=1000 * game.ply + k)
                assert twin.policy_action("heuristic", game.ply) == action
        game.apply(action)
