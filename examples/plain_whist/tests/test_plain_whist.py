"""Tests of Plain Whist: a test for each paragraph of rules.md, and the conformance suite."""

import cardenvs
import pytest
from cardenvs.core.codes import FORFEIT
from cardenvs.kits.cards import SUITS, card_label, parse_card
from cardenvs.testing import check_game

SPADES = "As Ks Qs Js Ts 9s 8s 7s 6s 5s 4s 3s 2s"


def new_state(seed=0, deck=None):
    return cardenvs.get_game("plain_whist_v0").new_state(seed=seed, deck=deck)


def with_trump(suit, deck=None):
    """A new game in which a suit is trump."""
    return next(state for state in (new_state(seed, deck) for seed in range(99)) if SUITS[state.record.trump] == suit)


def play(state, *cards):
    for card in cards:
        state.apply(parse_card(card))


def test_1_2_tricks_above_six_score():
    state = with_trump("s", deck=SPADES)
    while not state.is_terminal:
        state.apply(state.legal_actions()[0])
    assert state.returns == [7, -7, 7, -7]


def test_2_1_each_player_has_thirteen_cards_and_any_suit_may_be_trump():
    state = new_state()
    assert [int(hand).bit_count() for hand in state.record.hands] == [13] * 4
    assert {SUITS[new_state(seed).record.trump] for seed in range(40)} == set(SUITS)


def test_2_2_player_0_leads_any_card():
    state = new_state()
    assert state.current_player == 0
    assert len(state.legal_actions()) == 13


def test_3_1_players_follow_suit_if_they_can():
    state = new_state(deck=f"{SPADES[:-3]} 2c 2s Ac Kc Qc Jc Tc 9c 8c 7c 6c 5c 4c 3c")
    play(state, "As")
    assert [card_label(action) for action in state.legal_actions()] == ["2s"]
    assert "must be followed" in state.explain_illegal(parse_card("Ac"))
    assert "not in hand" in state.explain_illegal(parse_card("Ah"))


@pytest.mark.parametrize(("trump", "winner"), [("s", 0), ("c", 1), ("h", 2), ("d", 3)])
def test_3_2_the_highest_trump_wins(trump, winner):
    clubs = "2c 3c 4c 5c 6c 7c 8c 9c Tc Jc Qc Kc Ac"
    state = with_trump(trump, deck=f"{SPADES} {clubs} 2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh Ah")
    play(state, "2s", "2c", "Ah")
    state.apply(state.legal_actions()[0])
    assert state.current_player == winner
    assert state.record.tricks_won[winner % 2] == 1


def test_3_2_without_a_trump_the_highest_card_of_the_suit_led_wins():
    hands = ["Ks Qs Js Ts 9s 8s 7s 6s 5s 4s 3s 2s 2h", "As Kc Qc Jc Tc 9c 8c 7c 6c 5c 4c 3c 2c"]
    state = with_trump("h", deck=" ".join([*hands, "Ac Kd Qd Jd Td 9d 8d 7d 6d 5d 4d 3d 2d"]))
    play(state, "Ks", "As", "Ac")
    play(state, "Ad")
    assert state.current_player == 1


def test_4_1_the_side_of_a_player_who_forfeits_loses_seven_points():
    state = new_state()
    state.apply(FORFEIT + 0)
    assert state.returns == [-7, 7, -7, 7]


def test_5_1_worlds_respect_voids():
    state = new_state(deck=f"{SPADES} Ac Kc Qc Jc Tc 9c 8c 7c 6c 5c 4c 3c 2c")
    play(state, "As", "2c")
    for seed in range(50):
        world = state.clone()
        world.determinize(2, seed)
        assert int(world.record.hands[1]) & (1 << 13) - 1 == 0


def test_the_heuristic_beats_random_play():
    total = 0.0
    for seed in range(200):
        state = new_state(seed)
        while not state.is_terminal:
            policy = "heuristic" if state.current_player % 2 == 0 else "random"
            state.apply(state.policy_action(policy, seed))
        total += state.returns[0]
    assert total > 0


def test_every_promise_of_the_suite():
    report = check_game("plain_whist_v0", examples=2)
    assert report.twins > 0
    assert {place for _, place in report.hidden} >= {"hand"}
