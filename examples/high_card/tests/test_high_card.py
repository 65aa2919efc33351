"""Tests of High Card: a test for each paragraph of rules.md, and the conformance suite."""

import cardenvs
import pytest
from cardenvs.core.codes import FORFEIT
from cardenvs.core.game_view import table_texts
from cardenvs.testing import check_game

from high_card.rules import KEEP, SWAP


def played(deck, *actions, **options):
    """The state after some actions. `deck`: player 0's card, player 1's, then the deck from the top."""
    state = cardenvs.get_game("high_card_v0").new_state(seed=1, deck=deck, **options)
    for action in actions:
        state.apply(action)
    return state


def pile(state, name, player, viewer):
    """The texts of a player's pile as `viewer` knows it."""
    return table_texts(state.view(viewer))["piles"][name][player]


def test_1_2_the_winner_gets_the_stake():
    assert played("K 7", KEEP, KEEP, stake=5).returns == [5, -5]


def test_2_1_only_the_owner_sees_a_card():
    state = played("7 K")
    assert pile(state, "hand", 0, viewer=0) == ["7"]
    assert pile(state, "hand", 0, viewer=1) == ["?"]


def test_2_2_swap_draws_the_top_card_and_sets_the_old_one_aside():
    state = played("7 K 3 9", SWAP)
    assert pile(state, "hand", 0, viewer=0) == ["3"]
    assert pile(state, "aside", 0, viewer=0) == ["7"]
    assert pile(state, "aside", 0, viewer=1) == ["?"]
    assert state.current_player == 1


def test_2_2_the_second_swap_draws_the_next_card():
    state = played("7 K 3 9", SWAP, SWAP)
    assert pile(state, "hand", 1, viewer=1) == ["9"]


@pytest.mark.parametrize(("deck", "winner"), [("2 A", 1), ("A 2", 0), ("9 T", 1)])
def test_3_1_the_higher_card_wins(deck, winner):
    state = played(deck, KEEP, KEEP)
    assert state.is_terminal
    assert state.returns[winner] == 1


def test_3_2_cards_are_not_shown_at_the_end():
    state = played("K 7", KEEP, KEEP)
    assert pile(state, "hand", 0, viewer=1) == ["?"]
    assert state.recap(1)[-1] == "player_0 wins."


def test_4_1_a_player_who_forfeits_has_lost():
    assert played("2 A", KEEP, FORFEIT + 1).returns == [1, -1]
    assert played("A 2", FORFEIT + 0).returns == [-1, 1]


def test_heuristic_swaps_low_cards_only():
    assert played("7 K").policy_action("heuristic", seed=0) == SWAP
    assert played("K 7").policy_action("heuristic", seed=0) == KEEP


def test_every_promise_of_the_suite():
    report = check_game("high_card_v0", examples=5)
    assert report.twins > 0
    assert {place for _, place in report.hidden} >= {"deck", "hand", "aside"}
