"""What facts say once a game is over, or a player is out of it, or has begun a play."""

import pytest

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import OptionError
from cardenvs.core.registry import get_game
from cardenvs.games.texas_holdem.actions import FULL_RAISE_0
from cardenvs.games.wingspan import stack
from cardenvs.games.wingspan.state import OP


def over(name, **options):
    """A game that random players have played to the end."""
    state = get_game(name).new_state(seed=1, **options)
    while not state.is_terminal:
        state.apply(state.policy_action("random", state.ply))
    return state


def test_hold_em_has_no_pots_once_they_are_paid():
    stacks = {"stacks": [300, 700, 1500, 1500], "blinds": (10, 20), "num_hands": 1}
    state = get_game("texas_holdem_v0").new_state(seed=3, format="cash", **stacks)
    while not state.is_terminal:
        state.apply(state.legal_actions()[-1])
    assert "main_and_side_pots" not in state.facts(0)


def test_kasino_has_no_score_of_a_hand_in_which_a_match_was_decided():
    decided = 0
    for seed in range(20):
        state = get_game("kasino_v0").new_state(seed=seed, match=True, target=8)
        while not state.is_terminal:
            state.apply(state.policy_action("heuristic", state.ply))
        facts = state.facts(0)
        is_decided = len(facts["scores_by_hand"]) < facts["hand_number"]
        assert is_decided or facts["scores_by_hand"][-1] == facts["scores"]
        assert [0, 0] not in facts["scores_by_hand"][1:]
        decided += is_decided
    assert decided


def test_wingspan_has_no_points_for_goals_that_were_not_scored():
    state = get_game("wingspan_v0").new_state(seed=1)
    while state.facts(0)["round"] < 2:
        state.apply(state.policy_action("random", state.ply))
    state.apply(FORFEIT + state.current_player)
    assert ["points" in goal for goal in state.facts(0)["goals"]] == [True, False, False, False]
    assert all("points" in goal for goal in over("wingspan_v0").facts(0)["goals"])


def test_wingspan_remembers_a_choice_of_the_setup_after_a_forfeit():
    state = get_game("wingspan_v0").new_state(seed=1)
    while state.current_player == 0:
        state.apply(state.policy_action("random", state.ply))
    kept = state.facts(0)["setup"]["bonus_card_kept"]
    state.apply(FORFEIT + 1)
    assert state.facts(0)["setup"]["bonus_card_kept"] == kept is not None


def test_wingspan_says_that_food_is_paid_in_order():
    state = get_game("wingspan_v0").new_state(seed=1)
    while int(state.record.stack[state.record.depth - 1, OP]) != stack.SETUP_FOOD:
        state.apply(state.legal_actions()[0])
    assert "its turn has passed or not come" in state.explain_illegal(int(stack.FIRST_ID[stack.SETUP_FOOD]) + 1)


def test_hold_em_says_that_no_single_raise_reopened_the_betting():
    options = {"stacks": [5000, 5000, 225, 300, 5000, 5000], "blinds": (50, 100), "reopen_rule": "single", "button": 5}
    state = get_game("texas_holdem_v0").new_state(seed=1, format="cash", betting="full", **options)
    for action in ("call",) * 5 + ("check",):
        state.act(action)
    state.act("bet", 100)
    for action in ("call", "all_in", "all_in", "call", "call"):
        state.act(action)
    assert "no single full bet or raise has been made" in state.explain_illegal(FULL_RAISE_0 + 300)


@pytest.mark.parametrize("calls", [(0, 0, 0, 0, 3, 0, 0, 0), (3, 0, 0, 0, 0)])
def test_bridge_refuses_an_auction_that_goes_on_after_its_end(calls):
    with pytest.raises(OptionError, match="the auction is over before call 5"):
        get_game("bridge_v0").new_state(seed=1, phase="play", auction=calls)


def test_canasta_asks_for_no_minimum_after_the_last_deal():
    assert over("canasta_v0").facts(0)["initial_minimum"] == [None, None]


@pytest.mark.parametrize(("name", "bet", "fold"), [("kuhn_poker_v0", 1, 0), ("leduc_poker_v0", 2, 0)])
def test_who_has_folded_owes_nothing(name, bet, fold):
    state = get_game(name).new_state(seed=1, num_players=3)
    state.apply(bet)
    assert state.facts(1)["to_call"] > 0
    assert state.facts(2)["to_call"] > 0
    assert state.facts(0)["to_call"] == 0
    state.apply(fold)
    assert state.facts(1)["to_call"] == 0
    assert state.facts(2)["to_call"] > 0
    state.apply(fold)
    assert [state.facts(player)["to_call"] for player in range(3)] == [0, 0, 0]


def test_rummikub_counts_the_tiles_that_are_left_in_the_rack():
    state = get_game("rummikub_v0").new_state(seed=0, num_players=2)
    while not state.record.num_laid:
        laying = [action for action in state.legal_actions() if state.action_label(action).startswith("lay")]
        state.apply(laying[0] if laying else state.legal_actions()[0])
    facts = state.facts(state.current_player)
    assert facts["rack_points"] == sum(int(label[1:]) for label in facts["rack"])


@pytest.mark.parametrize(
    ("name", "last"),
    [("euchre_v0", 5), ("hearts_v0", 13), ("katko_v0", 5), ("marjapussi_v0", 9), ("skat_v0", 10), ("spades_v0", 13)],
)
def test_there_is_no_trick_after_the_last(name, last):
    assert over(name).facts(0)["trick"] == last


def test_nobody_attacks_after_the_end_of_durak():
    assert over("durak_v0").facts(0)["attack_cards_left"] == 0
