"""Tests of Goofspiel: each paragraph of rules.md, OpenSpiel's game, and the conformance suite."""

import collections
import random

import pytest
from cardenvs.core.codes import FORFEIT
from cardenvs.core.game_view import table_texts
from cardenvs.testing import check_game

from goofspiel import GAME


def played(prizes, bids="", **options):
    """The state after bids on prizes in a given order."""
    state = GAME.new_state(seed=1, deck=prizes, **{"num_cards": len(prizes.split()), **options})
    for bid in bids.split():
        state.apply(int(bid) - 1)
    return state


def counter(state, name, viewer):
    return table_texts(state.view(viewer))["counters"][name]


def test_1_1_and_2_1_a_prize_is_turned_up():
    state = played("2 3 1")
    assert table_texts(state.view(0))["piles"]["prize"] == ["2"]
    assert table_texts(state.view(0))["piles"]["prizes"] == ["?", "?"]
    assert [state.action_label(action) for action in state.legal_actions()] == ["bid 1", "bid 2", "bid 3"]


def test_2_2_the_first_choice_is_hidden_until_the_second():
    state = played("2 3 1", "3")
    assert state.current_player == 1
    assert counter(state, "bid", viewer=0) == [3, 0]
    assert counter(state, "bid", viewer=1) == [None, 0]
    assert state.facts(1)["cards"] == [[1, 2, 3], [1, 2, 3]]
    layout = GAME.layout(state.options)
    assert layout.split(state.observation(0))["own_bid"].argmax() == 2
    assert not layout.split(state.observation(1))["own_bid"].any()
    assert layout.split(state.observation(1))["has_bid"].tolist() == [0, 1]
    state.apply(0)
    assert "player_0 has bid 3." in state.recap(1)
    assert state.facts(1)["cards"] == [[1, 2], [2, 3]]


def test_2_3_the_higher_card_wins_and_equal_cards_win_nothing():
    assert played("2 3 1", "3 1").returns == [2, -2]
    assert played("2 3 1", "2 2").returns == [0, 0]
    again = played("2 3 1", "3 1")
    assert "out of the game (2.3)" in again.explain_illegal(2)


def test_2_4_and_3_1_after_all_prizes_the_game_is_over():
    state = played("2 3 1", "3 1 1 3 2 2")
    assert state.is_terminal
    assert state.returns == [2 - 3, 3 - 2]
    assert table_texts(state.view(0))["piles"]["gone"] == ["1", "2", "3"]


def test_4_1_who_forfeits_loses_all_prizes_that_are_left():
    state = played("2 3 1", "3 1 1")
    state.apply(FORFEIT + 1)
    assert state.is_terminal
    assert state.returns == [2 + 4, -2 - 4]
    assert counter(state, "bid", viewer=1) == [None, 0]


def test_worlds_choose_again_for_the_other_player():
    state = played("2 3 1 4", "3 1 4")
    bids, prizes = collections.Counter(), collections.Counter()
    for seed in range(900):
        twin = state.determinize(1, seed)
        assert twin.view(1) == state.view(1)
        bids[int(twin.record.bids[0]) + 1] += 1
        prizes[tuple(twin.record.deck[2:4] + 1)] += 1
        assert state.determinize(0, seed).record.bids[0] == 3
    assert bids.keys() == {1, 2, 4}
    assert min(bids.values()) > 240
    assert len(prizes) == 2


@pytest.mark.parametrize("num_cards", [3, 5, 13])
def test_openspiel_plays_the_same_game(num_cards):
    pyspiel = pytest.importorskip("pyspiel")
    rules = f"goofspiel(num_cards={num_cards},points_order=random,returns_type=point_difference)"
    game = pyspiel.load_game(f"turn_based_simultaneous_game(game={rules})")
    chooser = random.Random(7)
    for seed in range(20):
        theirs, ours = game.new_initial_state(), GAME.new_state(seed=seed, num_cards=num_cards)
        while not theirs.is_terminal():
            if theirs.is_chance_node():
                theirs.apply_action(int(ours.record.prize))
                continue
            assert ours.current_player == theirs.current_player()
            assert ours.legal_actions() == theirs.legal_actions()
            action = chooser.choice(ours.legal_actions())
            ours.apply(action)
            theirs.apply_action(action)
        while not ours.is_terminal:  # OpenSpiel plays the last cards by itself
            (action,) = ours.legal_actions()
            ours.apply(action)
        assert ours.returns == [2 * points for points in theirs.returns()]  # OpenSpiel's are above the mean


def test_every_promise_of_the_suite():
    report = check_game("goofspiel_v0", examples=3)
    assert report.hidden["play", "bid"][1] > 0
