"""Durak, paragraph by paragraph of rules.md, from written positions. More examples are in tests/scenarios/durak.

Numbers after "example" are those of the worked examples.
"""

import random

import numpy as np
import pytest

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import IllegalActionError, OptionError
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.state import State
from cardenvs.games.durak import GAME
from cardenvs.games.durak.actions import PASS, SHOW, TAKE, TRANSFER_0
from cardenvs.games.durak.state import NO_CARD
from cardenvs.kits.cards import bits_of, card_label, cards_of, parse_card, parse_cards


def position(*hands, talon="", turn_up="", primary=0, defender=1, num_bouts=9, **options) -> State:
    """A position without history in which `primary` is to lead; hearts are trump, cards not named are discarded."""
    options |= {"num_players": len(hands), "first_attacker": "seat0"}
    start = GAME.new_state(seed=1, **options)
    sets = [int(bits_of(parse_cards(hand))) for hand in hands]
    sets += [0] * (6 - len(sets))
    face_down = parse_cards(talon) if talon else []
    placed = [*face_down, *([parse_card(turn_up)] if turn_up else []), *(c for hand in sets for c in cards_of(hand))]
    size = len(GAME.deck(start.options))
    deck = np.full(52, NO_CARD)
    deck[size - len(face_down) : size] = face_down
    fields = {
        "hands": [sets], "known": 0, "deck": [deck], "num_face_down": len(face_down),
        "turn_up": parse_card(turn_up) if turn_up else NO_CARD, "trump": 3, "primary": primary, "defender": defender,
        "discards": bits_of([card for card in GAME.deck(start.options).tolist() if card not in placed]),
        "in_game": sum(1 << p for p, hand in enumerate(sets) if hand), "num_bouts": num_bouts,
        "most_attack": min(start.options.max_attack_cards, sets[defender].bit_count()), "current_player": primary,
    }  # fmt: skip
    states = np.frombuffer(start.record_bytes(), GAME.state_dtype).copy()
    for name, value in fields.items():
        states[name] = value
    return State._from_record(GAME, start.options, states)


def play(state, *labels) -> State:
    for label in labels:
        state.apply(state.action_from_label(label))
    return state


def labels(state) -> set[str]:
    return {state.action_label(action) for action in state.legal_actions()}


def hand(state, player) -> str:
    return " ".join(sorted(card_label(card) for card in cards_of(state.record.hands[player])))


def refusal(state, action) -> str:
    with pytest.raises(IllegalActionError) as error:
        state.apply(action)
    return str(error.value)


# -- 1 and 2: cards and the deal ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("deck_size", "lowest"), [("24", "9"), ("36", "6"), ("52", "2")])
def test_1_2_the_deck_runs_from_its_lowest_rank_to_the_ace(deck_size, lowest):
    deck = GAME.deck(GAME.make_options(deck_size=deck_size))
    ranks = "23456789TJQKA"
    assert len(deck) == int(deck_size)
    assert {card_label(card)[0] for card in deck} == set(ranks[ranks.index(lowest) :])


def test_1_2_too_many_players_for_the_deck_are_refused():
    with pytest.raises(OptionError, match="5 players with hand_size=6 need 30 cards; deck_size is 24"):
        GAME.make_options(num_players=5, deck_size="24")


def test_2_2_the_turn_up_is_drawn_last_and_seen_by_all():
    state = position("6s 7s", "8s 9s", talon="Kc", turn_up="Kd", hand_size=2)
    play(state, "lead 6♠", "beat with 8♠", "pass")
    assert (hand(state, 0), hand(state, 1)) == ("7s Kc", "9s Kd")
    assert state.record.turn_up == NO_CARD
    assert [card_label(card) for card in cards_of(state.record.known[1])] == ["Kd"]
    assert state.record.known[0] == 0


def test_2_4_the_lowest_trump_is_found_among_all_hands():
    deck = "6s 7s 8c 9d Th Ac  Js 7c 6c 6d Qh Kd  8s 9s Ts Qs 9h 7d  8h"
    state = GAME.new_state(seed=1, num_players=3, deck=deck)
    assert state.current_player == 2
    assert state.facts(0)["trumps_nobody_was_dealt"] == ["6♥", "7♥"]


def test_2_4_player_0_attacks_first_on_request():
    state = GAME.new_state(seed=1, deck="6s 7s 8c 9d Th Ac  Jh 7h 6c 6d Qs Kd  8h", first_attacker="seat0")
    assert state.current_player == 0
    assert state.record.known[1] == 0


# -- 3: a bout --------------------------------------------------------------------------------------------------


def test_3_1_any_card_may_be_led_but_not_passed():
    state = position("6s 7h Ac", "8s 9s Kd")
    assert labels(state) == {"lead 6♠", "lead 7♥", "lead A♣"}
    assert "must lead" in refusal(state, PASS)
    assert "only the defender takes" in refusal(state, TAKE)
    assert "8♠ is not in hand" in refusal(state, parse_card("8s"))


def test_3_2_cards_are_beaten_in_the_order_of_play():
    state = position("7c 6s 8d", "7d Kd Kc 9s", "Qd Ac 6d Js", variant="perevodnoy")
    play(state, "lead 7♣", "transfer with 7♦")
    assert labels(state) == {"beat with A♣", "take"}
    assert play(state, "beat with A♣").current_player == 2
    assert labels(state) == {"beat with Q♦", "take"}
    assert play(state, "beat with Q♦").phase == "throw_in"


def test_3_2_the_defender_may_not_pass():
    assert "must beat the attack card, or take" in refusal(play(position("6s Ac", "8s 9s"), "lead 6♠"), PASS)


def test_3_4_attackers_are_asked_in_order_and_again_after_each_card():
    state = position("6s 6c Kc", "7s 7c Ts Tc Jd", "7d As Qs", "6d Td Qc", num_bouts=9)
    play(state, "lead 6♠", "beat with 7♠")
    asked = [state.current_player]
    for label in ("pass", "pass", "throw in 6♦", "beat with J♦"):
        play(state, label)
        asked.append(state.current_player)
    assert asked == [0, 2, 3, 1, 0]


def test_3_4_the_bout_is_repelled_when_all_pass():
    state = play(position("6s 6c", "7s 7c", "7d As"), "lead 6♠", "beat with 7♠", "pass", "pass")
    assert (state.current_player, state.phase) == (1, "lead")
    assert int(state.record.attack) == 0
    assert state.record.discards >> parse_card("7s") & 1


def test_3_5_nothing_is_added_if_the_option_says_so():
    state = play(position("6s 6c Kd", "7c 8c", throw_in_on_take=False), "lead 6♠", "take")
    assert (state.current_player, state.phase) == (0, "lead")
    assert hand(state, 1) == "6s 7c 8c"


def test_3_5_only_neighbours_throw_in_if_the_option_says_so():
    hands = ("6s 6c", "Ts Tc Kc", "7d As", "6d Td", "Js Jc")
    everybody, neighbours = (position(*hands, throw_in_by=choice) for choice in ("all", "neighbours"))
    for state, expected in ((everybody, [0, 2, 3, 4]), (neighbours, [0, 2])):
        play(state, "lead 6♠", "beat with 10♠")
        asked = []
        while state.phase == "throw_in":
            asked.append(state.current_player)
            play(state, "pass")
        assert asked == expected


def test_3_5_an_added_card_has_a_rank_of_the_table():
    state = play(position("6s 6c Kd", "7c 8c"), "lead 6♠", "take")
    assert labels(state) == {"add 6♣", "pass"}
    assert "no card of the rank of K♦" in refusal(state, parse_card("Kd"))


def test_example_5_the_hand_of_the_defender_limits_the_attack():
    state = play(position("7c 9d 9s Js", "9c Jd"), "lead 7♣", "beat with 9♣", "throw in 9♦", "beat with J♦")
    assert state.is_terminal
    assert state.returns == [-1, 1]


def test_3_6_no_card_is_added_above_the_limit():
    state = play(position("6s 6c 6d", "7c 8c"), "lead 6♠", "take", "add 6♣")
    assert hand(state, 1) == "6c 6s 7c 8c"
    assert (state.current_player, state.phase) == (0, "lead")


def test_3_8_a_taken_attack_costs_the_defender_the_turn():
    state = play(position("6s 6c", "7c 8c", "9c Tc"), "lead 6♠", "take", "pass", "pass")
    assert (state.current_player, int(state.record.defender)) == (2, 0)


def test_example_8_the_talon_runs_out_in_the_order_of_drawing():
    state = position("6s 8d 9d Td Jd", "6h 7c 9c Tc Jc", "7s Qd Kd Ad 8c", talon="Qs Ks", turn_up="Ah")
    play(state, "lead 6♠", "beat with 6♥", "pass", "pass")
    assert [len(hand(state, p).split()) for p in range(3)] == [6, 4, 6]
    assert "Ah" in hand(state, 2)
    assert (state.current_player, int(state.record.num_face_down), int(state.record.turn_up)) == (1, 0, NO_CARD)


def test_example_9_both_empty_their_hands_and_draw():
    state = play(position("7c", "9c"), "lead 7♣", "beat with 9♣")
    assert state.is_terminal
    assert state.returns == [0, 0]


@pytest.mark.parametrize("answer", ["beat with 9♣", "take"])
def test_example_10_the_last_player_with_cards_is_the_durak(answer):
    state = play(position("7c", "9c Kd"), "lead 7♣", answer)
    assert state.is_terminal
    assert state.returns == [1, -1]


def test_example_11_an_attacker_without_cards_is_out():
    state = play(position("8d", "Td Qc", "Ks"), "lead 8♦", "beat with 10♦")
    assert state.current_player == 2, "seat 0 has no cards, so it is not asked"
    play(state, "pass")
    assert (state.current_player, int(state.record.defender)) == (1, 2)
    assert int(state.record.in_game) == 0b110


def test_example_12_a_defender_without_cards_is_out():
    state = play(position("8d 9c", "Td", "Ks"), "lead 8♦", "beat with 10♦")
    assert (state.current_player, int(state.record.defender)) == (2, 0)


# -- 4: transfers ---------------------------------------------------------------------------------------------------


def test_4_1_transfers_need_the_variant_and_the_rank():
    assert "transfer with 7♦" not in labels(play(position("7c Ks", "7d Kd"), "lead 7♣"))
    state = play(position("7c Ks Qs", "7d Kd", variant="perevodnoy"), "lead 7♣")
    assert labels(state) == {"transfer with 7♦", "take"}
    assert "does not have the rank of 7♣" in refusal(state, TRANSFER_0 + parse_card("Kd"))


def test_4_2_the_new_defender_needs_as_many_cards():
    state = play(position("7c Ks", "7d Kd", variant="perevodnoy"), "lead 7♣")
    assert "fewer cards" in refusal(state, TRANSFER_0 + parse_card("7d"))


def test_4_3_the_limit_is_that_of_the_new_defender():
    state = play(position("7c Ks", "7d Kd Kc", "8c 8d Qs", variant="perevodnoy"), "lead 7♣", "transfer with 7♦")
    assert (int(state.record.primary), int(state.record.defender), int(state.record.most_attack)) == (1, 2, 3)


def test_4_5_a_trump_not_held_cannot_be_shown():
    state = play(position("7c Ks", "7d Kd", variant="perevodnoy", show_trump_transfer=True), "lead 7♣")
    assert "does not hold the trump" in refusal(state, SHOW)
    with pytest.raises(OptionError, match="needs variant='perevodnoy'"):
        GAME.make_options(show_trump_transfer=True)


def test_4_6_the_first_bout_may_be_without_transfers():
    options = {"variant": "perevodnoy", "transfer_in_first_bout": False}
    first = play(position("7c Ks Qs", "7d Kd", num_bouts=0, **options), "lead 7♣")
    assert "first bout may not be transferred" in refusal(first, TRANSFER_0 + parse_card("7d"))
    assert "transfer with 7♦" in labels(play(position("7c Ks Qs", "7d Kd", num_bouts=1, **options), "lead 7♣"))


# -- 5, 6, 7: the end -------------------------------------------------------------------------------------------


def test_5_2_the_game_is_drawn_after_the_last_bout():
    state = play(position("6s 6c Kd", "7c 8c", num_bouts=9, max_bouts=10), "lead 6♠", "take", "pass")
    assert state.is_terminal
    assert state.returns == [0, 0]


def test_5_3_the_others_share_the_point():
    state = play(position("7c", "", "9c Kd", defender=2), "lead 7♣", "take")
    assert state.returns == [0.5, 0.5, -1]


def test_6_1_teams_need_their_number_of_players():
    with pytest.raises(OptionError, match="teams='pairs' needs 4 or 6 players; got 3"):
        GAME.make_options(num_players=3, teams="pairs")


def test_6_2_partners_do_not_attack_each_other():
    state = position("6s 6c", "", "Ts Tc Kc", "7d As", teams="pairs", defender=3)
    play(state, "lead 6♠", "take")
    asked = []
    while state.phase == "add":
        asked.append(state.current_player)
        play(state, "pass")
    assert asked == [0, 2]
    assert (state.current_player, int(state.record.defender)) == (0, 3), "player 1, the partner of 3, is out"


def test_6_3_the_team_with_the_last_cards_loses():
    state = play(position("7c", "", "", "9c Kd", teams="pairs", defender=3), "lead 7♣", "beat with 9♣")
    assert state.returns == [1, -1, 1, -1]


def test_6_3_three_teams():
    state = play(position("7c", "", "", "", "", "9c Kd", teams="pairs", defender=5), "lead 7♣", "take")
    assert state.returns == [0.5, 0.5, -1, 0.5, 0.5, -1]


@pytest.mark.parametrize(("teams", "returns"), [("none", [-1, *[1 / 3] * 3]), ("pairs", [-1, 1, -1, 1])])
def test_7_1_a_player_who_forfeits_is_the_durak(teams, returns):
    state = GAME.new_state(seed=1, num_players=4, teams=teams, first_attacker="seat0")
    state.apply(FORFEIT + 0)
    assert state.is_terminal
    assert state.returns == pytest.approx(returns)


# -- 9: rulings ---------------------------------------------------------------------------------------------------


def test_9_1_attackers_are_asked_even_if_they_can_only_pass():
    state = play(position("6s Ac", "7s 8c", "Kd Qd"), "lead 6♠", "beat with 7♠")
    assert (state.current_player, labels(state)) == (0, {"pass"})
    assert (play(state, "pass").current_player, labels(state)) == (2, {"pass"})


def test_9_2_cards_taken_stay_known_to_all():
    state = play(position("6s 6c Kd", "7c 8c", "9s Ts"), "lead 6♠", "take", "add 6♣")
    for player in (0, 2):
        assert state.facts(player)["known_hands"][1] == ["6♠", "6♣"]
        seen = GAME.layout(state.options).split(state.observation(player))
        section = seen[f"known_{(1 - player) % 3}"]
        assert [card_label(card) for card in np.flatnonzero(section)] == ["6s", "6c"]
        for seed in range(20):
            twin = state.determinize(player, seed)
            assert {"6s", "6c"} <= set(hand(twin, 1).split())


def test_9_2_the_last_unseen_cards_are_in_the_only_unknown_hand():
    state = position("6s 6c Kd", "7c 8c")
    assert state.facts(0)["known_hands"][1] == ["7♣", "8♣"]


def test_9_3_twins_deal_no_trump_that_nobody_was_dealt():
    state = GAME.new_state(seed=1, deck="6s 7s 8c 9d Ts Ac  Js 7c 6c 6d Qs Kd  8h")
    for seed in range(50):
        assert not state.determinize(0, seed).record.hands[1] & state.record.undealt
    found = set()
    play(state, "lead 6♠", "take", "pass")  # player 0 draws one card
    for seed in range(200):
        found.add(int(state.determinize(1, seed).record.hands[0] & state.record.undealt).bit_count())
    assert found == {0, 1}


def test_9_4_an_attack_is_not_transferred_past_a_player_without_cards():
    state = play(position("7c", "7d Kd", "8c 8d Qs", variant="perevodnoy"), "lead 7♣", "transfer with 7♦")
    assert state.current_player == 2
    state = play(position("7c", "7s Kd", "7d 8d Qs", variant="perevodnoy"), "lead 7♣", "transfer with 7♠")
    assert "fewer cards" in refusal(state, TRANSFER_0 + parse_card("7d"))


# -- invariants ---------------------------------------------------------------------------------------------------


def test_example_18_all_cards_are_always_somewhere():
    chooser = random.Random(5)
    for seed in range(20):
        state = GAME.new_state(seed=seed, num_players=chooser.randint(2, 6))
        discards = 0
        while not state.is_terminal:
            state.apply(chooser.choice(state.legal_actions()))
            table = state.table(OMNISCIENT)
            assert sorted(t for pile in table.piles for t in pile) == sorted(GAME.deck(state.options).tolist())
            assert int(state.record.discards).bit_count() >= discards
            discards = int(state.record.discards).bit_count()


def test_no_game_is_longer_than_its_bound():
    options = {"num_players": 3, "deck_size": "52", "max_bouts": 50, "max_attack_cards": 3}
    bound = GAME.max_length(GAME.make_options(**options))
    assert bound == 50 * 3 * 4
    for seed in range(10):
        state = GAME.new_state(seed=seed, **options)
        while not state.is_terminal:  # always take: the cards go round
            legal = state.legal_actions()
            state.apply(TAKE if TAKE in legal else legal[-1])
        assert state.ply <= bound


# -- the heuristic ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (position("6s 8c 8d Ah", "Ks Qs Kd", talon="Ts Js Jd Jc 9c 9d 9s", turn_up="6h"), "lead 8♣"),
        (position("6s 7c Kc", "8s 9c Kd"), "lead K♣"),  # player 1 cannot beat it
        (play(position("9c 6s", "Tc Kc Ah"), "lead 9♣"), "beat with 10♣"),
        (play(position("9c 6s", "8d Ah", talon="Ts Js Jd Jc 9s 9d", turn_up="6h"), "lead 9♣"), "take"),
        (play(position("9c 6s", "8d Ah"), "lead 9♣"), "beat with A♥"),
        (play(position("7c Ks Qs", "7d Kd 8c", variant="perevodnoy"), "lead 7♣"), "transfer with 7♦"),
    ],
)
def test_heuristic_plays_soundly(state, expected):
    assert state.action_label(state.policy_action("heuristic", 0)) == expected
