"""Kuhn poker: the paragraphs of rules.md, published figures, and every state against OpenSpiel's kuhn_poker."""

import itertools
from collections import Counter
from fractions import Fraction

import pytest

from cardenvs import get_game
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError, IllegalActionError, OptionError
from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.core.game_view import table_texts

KUHN = get_game("kuhn_poker_v0")
PASS, BET = 0, 1
IDS = {"p": PASS, "b": BET}
ENDINGS = ["pp", "pbp", "pbb", "bp", "bb"]  # of the game for two


def played(deck, moves, **options):
    """The state after `moves`: p, b, or a digit for that player's forfeit."""
    num_players = options.setdefault("num_players", max(2, len(deck.split())))
    assert num_players >= 2
    state = KUHN.new_state(seed=0, deck=deck, **options)
    for move in moves.replace(" ", ""):
        state.apply(FORFEIT + int(move) if move.isdigit() else IDS[move])
    return state


def tree(state):
    """Every state from `state` on, each action tried."""
    yield state
    for action in state.legal_actions():
        child = state.clone()
        child.apply(action)
        yield from tree(child)


# ---------------------------------------------------------------------------------------------------------------
# The rules


@pytest.mark.parametrize("num_players", range(2, 11))
def test_1_1_the_deck_has_one_card_more_than_there_are_players(num_players):
    options = KUHN.make_options(num_players=num_players)
    assert KUHN.deck(options).tolist() == list(range(num_players + 1))
    labels = KUHN.deck_text(KUHN.deck(options)).split()
    assert labels == ["J", "Q", "K", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10"][: num_players + 1]


def test_1_2_a_return_is_what_was_won_less_what_was_put_in():
    state = played("K J", "pbb")
    assert state.record.chips_in[:2].tolist() == [2, 2]
    assert state.returns == [4 - 2, 0 - 2]
    assert played("K J", "bp").returns == [3 - 2, 0 - 1]


def test_2_1_everyone_antes_and_gets_one_card_that_only_they_see():
    state = played("K J", "")
    assert [event.kind for event in state.events()] == ["new_deck", "ante", "deal", "ante", "deal", "lies_face_down"]
    assert table_texts(state.view(0))["counters"] == {"chips_in": [1, 1]}
    assert table_texts(state.view(0))["piles"] == {"deck": ["?"], "hand": [["K"], ["?"]]}
    assert table_texts(state.view(1))["piles"] == {"deck": ["?"], "hand": [["?"], ["J"]]}
    assert table_texts(state.view(SPECTATOR))["piles"]["hand"] == [["?"], ["?"]]
    assert table_texts(state.view(OMNISCIENT))["piles"] == {"deck": ["Q"], "hand": [["K"], ["J"]]}


def test_3_1_player_0_acts_first_and_may_pass_or_bet():
    state = played("K J", "")
    assert state.current_player == 0
    assert [state.action_label(action) for action in state.legal_actions()] == ["pass", "bet"]
    state.apply(BET)
    assert state.record.chips_in[:2].tolist() == [2, 1]
    assert [state.action_label(action) for action in state.legal_actions()] == ["fold", "call"]


def test_3_1_there_is_no_other_action():
    state = played("K J", "")
    with pytest.raises(IllegalActionError, match=r"there is no action 2; actions are 0 to 1"):
        state.apply(2)


def test_3_2_while_nobody_has_bet_each_in_turn_passes_or_bets_and_if_all_pass_cards_are_shown_down():
    players = [played("J K R3", "p" * k).current_player for k in range(3)]
    assert players == [0, 1, 2]
    assert played("J K R3", "ppp").returns == [-1, -1, 2]
    assert played("R3 K J", "ppp").returns == [2, -1, -1]


def test_3_3_after_a_bet_each_other_player_acts_once_more_in_turn():
    assert [played("J K R3", "pb" + "b" * k).current_player for k in range(3)] == [2, 0, -4]
    assert [played("J K R3", "ppb" + "p" * k).current_player for k in range(3)] == [0, 1, -4]
    assert [played("J K R3", "b" + "p" * k).current_player for k in range(3)] == [1, 2, -4]


def test_3_3_a_fold_leaves_the_showdown_and_a_call_puts_in_a_chip():
    state = played("J K R3", "pbbp")  # the lowest card passes, then folds
    assert state.record.chips_in[:3].tolist() == [1, 2, 2]
    assert state.returns == [-1, -2, 3]
    assert played("R3 K J", "pbbp").returns == [-1, 3, -2]  # the best card has folded


def test_3_3_a_fold_and_a_call_are_not_called_a_pass_and_a_bet():
    assert played("K J", "pbp").recap(0)[-4:-1] == [
        "player_0 puts in nothing.",
        "player_1 puts in a chip and has 2 chips in the pot.",
        "player_0 puts in nothing.",
    ]
    assert played("K J", "bb").recap(0)[-2] == "player_1 puts in a chip and has 2 chips in the pot."


def test_3_3_there_is_one_bet_at_most():
    state = played("J K R3", "bb")
    assert [state.action_label(action) for action in state.legal_actions()] == ["fold", "call"]


def test_3_4_the_highest_card_takes_the_pot_and_is_not_shown():
    state = played("Q K", "bb")
    assert state.returns == [-2, 2]
    assert table_texts(state.view(0))["piles"]["hand"] == [["Q"], ["?"]]
    assert state.events(0)[-1].kind == "win"


def test_4_1_a_player_who_forfeits_puts_in_and_loses_two_chips():
    state = played("R3 K J", "0")
    assert state.rewards == [-2, 0, 0]
    assert state.record.chips_in[:3].tolist() == [2, 1, 1]
    assert state.active == [False, True, True]
    assert not state.is_terminal


def test_4_1_a_player_who_has_forfeited_is_passed_over():
    assert played("J K R3", "0").current_player == 1
    assert played("J K R3", "p1").current_player == 2
    assert played("J K R3", "p1b").current_player == 0
    assert played("J K R3", "0bp").is_terminal  # player 2 folds, player 0 is gone
    assert played("J K R3", "0pp").is_terminal  # nobody is left to act


@pytest.mark.parametrize(("moves", "returns"), [("0", [-2, 2]), ("p1", [2, -2]), ("b1", [2, -2]), ("pb0", [-2, 2])])
def test_4_1_the_last_player_left_takes_the_pot_at_once(moves, returns):
    assert played("K J", moves).returns == returns


def test_4_1_two_forfeits_of_three():
    assert played("R3 K J", "01").returns == [-2, -2, 4]
    assert played("R3 K J", "b12").returns == [4, -2, -2]
    assert played("R3 K J", "0b2").returns == [-2, 4, -2]


def test_4_1_those_who_stay_go_to_the_showdown():
    assert played("J K R3", "p1p").returns == played("R3 J K", "p1p").returns[::-1]


def test_4_1_only_the_player_to_act_forfeits():
    state = played("J K R3", "0")
    for player in (0, 2):
        with pytest.raises(IllegalActionError, match=f"player_{player} cannot forfeit now: player_1 is to act"):
            state.apply(FORFEIT + player)
    with pytest.raises(IllegalActionError, match="after the game is over"):
        played("K J", "pp").apply(FORFEIT)


def test_6_options():
    assert KUHN.make_options().as_dict() == {"num_players": 2}
    for wrong in (1, 11, 2.0, "2", None):
        with pytest.raises(OptionError, match="kuhn_poker_v0: option num_players takes an integer from 2 to 10"):
            KUHN.new_state(num_players=wrong)


@pytest.mark.parametrize("num_players", range(2, 11))
def test_6_any_number_of_players(num_players):
    deck = " ".join(KUHN.deck_text([card]) for card in range(1, num_players + 1))
    calls = played(deck, "b" * num_players, num_players=num_players)
    assert calls.returns == [-2] * (num_players - 1) + [2 * (num_players - 1)]
    longest = played(deck, "p" * (num_players - 1) + "b" + "p" * (num_players - 1), num_players=num_players)
    assert longest.is_terminal
    assert longest.ply == 2 * num_players - 1 == KUHN.max_length(longest.options)
    assert longest.returns == [-1] * (num_players - 1) + [num_players - 1]


def test_a_deck_with_more_cards_than_the_game_is_refused():
    with pytest.raises(DeckError, match="token 3 is not in this game"):
        KUHN.new_state(deck="J Q K R3")


# ---------------------------------------------------------------------------------------------------------------
# The scenarios of the rules' source; those that play a deal are in tests/scenarios/kuhn_poker


def test_scenario_9_both_actions_are_legal_in_every_state_and_none_at_the_end():
    for deck, _ in KUHN.enumerate_deals():
        for state in tree(played(deck, "")):
            assert state.legal_actions() == ([] if state.is_terminal else [PASS, BET])


def test_scenario_10_all_deals_and_sequences():
    totals, uniform = Counter(), Fraction(0)
    deals = KUHN.enumerate_deals()
    assert len(deals) == 6
    for deck, moves in itertools.product((deck for deck, _ in deals), ENDINGS):
        value = int(played(deck, moves).returns[0])
        totals[moves] += value
        uniform += Fraction(value, 6 * 2 ** len(moves))
    assert totals == {"pp": 0, "pbp": -6, "pbb": 0, "bp": 6, "bb": 0}
    assert uniform == Fraction(1, 8)


def decision(state):
    """(own card, moves so far) of the player to act."""
    return int(state.record.deck[state.current_player]), "".join("pb"[action] for action in state.actions)


def equilibrium(a):
    """The probability of a bet (or call) by card and moves, for parameter `a` of player 0."""
    third = Fraction(1, 3)
    j, q, k = 0, 1, 2
    return {
        (j, ""): a, (q, ""): 0, (k, ""): 3 * a,
        (j, "pb"): 0, (q, "pb"): a + third, (k, "pb"): 1,
        (j, "p"): third, (q, "p"): 0, (k, "p"): 1,
        (j, "b"): 0, (q, "b"): third, (k, "b"): 1,
    }  # fmt: skip


def value_of(state, bets):
    """What player 0 expects when everyone bets with the probability `bets` gives, exactly."""
    if state.is_terminal:
        return Fraction(state.returns[0])
    bet = Fraction(bets[decision(state)])
    return sum(
        probability * value_of(played_on(state, action), bets)
        for action, probability in ((PASS, 1 - bet), (BET, bet))
        if probability
    )


def played_on(state, action):
    state = state.clone()
    state.apply(action)
    return state


def expected(bets):
    deals = KUHN.enumerate_deals()
    return sum(value_of(played(deck, ""), bets) for deck, _ in deals) / len(deals)


@pytest.mark.parametrize("a", [Fraction(0), Fraction(1, 6), Fraction(1, 3)])
def test_scenario_11_no_deviation_gains_in_equilibrium(a):
    bets = equilibrium(a)
    assert expected(bets) == Fraction(-1, 18)
    for player, sign in ((0, 1), (1, -1)):
        own = [key for key in bets if len(key[1]) % 2 == player]
        for pure in itertools.product((0, 1), repeat=len(own)):
            assert sign * expected(bets | dict(zip(own, pure, strict=True))) <= sign * Fraction(-1, 18)


def test_scenario_12_the_parameter_ends_at_a_third():
    assert max(equilibrium(Fraction(1, 3)).values()) == 1
    assert max(equilibrium(Fraction(1, 2)).values()) > 1


def test_scenario_15_recall_is_perfect():
    start, later = played("Q K", ""), played("Q K", "pb")
    assert start.information_state_key(0) != later.information_state_key(0)
    assert [event.kind for event in later.events(0)[-2:]] == ["pass", "bet"]
    assert later.facts(0)["own_card"] == "Q"
    assert played("Q J", "pb").information_state_key(0) == later.information_state_key(0)
    assert played("J K", "pb").information_state_key(0) != later.information_state_key(0)


# ---------------------------------------------------------------------------------------------------------------
# Against OpenSpiel


@pytest.mark.parametrize(
    ("num_players", "terminals", "information_states"), [(2, 30, 12), (3, 312, 48)], ids=["two", "three"]
)
def test_every_state_is_that_of_openspiel(num_players, terminals, information_states):
    pyspiel = pytest.importorskip("pyspiel")
    theirs = pyspiel.load_game("kuhn_poker", {"players": num_players})
    keys, ends = {}, 0
    assert KUHN.returns(KUHN.make_options(num_players=num_players)).high == theirs.max_utility()
    assert KUHN.max_length(KUHN.make_options(num_players=num_players)) == theirs.max_game_length()
    for deck, _ in KUHN.enumerate_deals(num_players=num_players):
        root = KUHN.new_state(deck=deck, num_players=num_players)
        other = theirs.new_initial_state()
        for card in root.deck.tolist():
            other.apply_action(card)
        for state, twin in paired(root, other):
            assert state.is_terminal == twin.is_terminal()
            assert state.returns == twin.returns()
            if state.is_terminal:
                ends += 1
                continue
            assert state.current_player == twin.current_player()
            assert state.legal_actions() == twin.legal_actions()
            key = state.information_state_key(state.current_player)
            keys.setdefault(key, set()).add(twin.information_state_string(state.current_player))
    assert ends == terminals
    assert len(keys) == information_states
    assert all(len(strings) == 1 for strings in keys.values())
    assert len(set().union(*keys.values())) == information_states


def paired(state, other):
    """Every pair of states from here on, after the same actions."""
    yield state, other
    for action in state.legal_actions():
        yield from paired(played_on(state, action), other.child(action))
