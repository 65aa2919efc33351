"""Gin rummy, paragraph by paragraph of rules.md. Positions are dealt card by card.

Paragraphs that a few actions show are in tests/scenarios/gin_rummy.
"""

import numpy as np
import pytest

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError, IllegalActionError, OptionError
from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED
from cardenvs.core.state import State
from cardenvs.games.gin_rummy import GAME, min_deadwood
from cardenvs.games.gin_rummy.actions import DONE, DRAW_STOCK, KNOCK_0, PASS, TAKE_UPCARD
from cardenvs.games.gin_rummy.state import DISCARD, MAX_DISCARDS, MAX_HANDS, NO_CARD
from cardenvs.kits.cards import bits_of, card_label, cards_of, parse_card, parse_cards

SOME, FEW = (20, 6) if COMPILED else (2, 1)  # games; uncompiled, a sample will do

# Hands from the scenarios of the rules page. A holds three melds and a loose card.
A = "4h 5h 6h 9s 9d 9c Ks Kh Kd 2c"
B = "7h 8h 3h 2s 3s 4s Qd Qh Jc Td"
NOTHING = "As 3c 5s 7c 9h Jd Ks 2d 4d 6h"  # no melds, and none in the making with what the tests deal


def start(first=A, second=B, upcard="Ac", stock="", **options) -> State:
    """A deal from written cards: two hands, the upcard, the stock from the top."""
    return GAME.new_state(seed=1, deck=f"{first} {second} {upcard} {stock}", **options)


def play(state, *labels) -> State:
    """Play actions by their labels."""
    for label in labels:
        state.apply(state.action_from_label(label))
    return state


def labels(state) -> list[str]:
    return [state.action_label(action) for action in state.legal_actions()]


def hand(state, player) -> set[str]:
    return {card_label(card) for card in cards_of(state.record.hands[player])}


def changed(state, **fields) -> State:
    """The same position with some fields of the record set."""
    states = np.frombuffer(state.record_bytes(), GAME.state_dtype).copy()
    for name, value in fields.items():
        states[name] = value
    return State._from_record(GAME, state.options, states)


def knocked(first=A, second=B, upcard="Ac", discard="2c", **options) -> State:
    """A deal in which the first player takes the upcard and knocks, or has gin."""
    state = play(start(first, second, upcard, **options), f"take {upcard}")
    state.apply(KNOCK_0 + parse_card(discard))
    return state


def position(first, second, pile, num_stock, to_act, phase=DISCARD, **options) -> State:
    """A position without history: two hands, the discard pile's top cards (the last is on top), a stock of so many.

    The stock is filled with the lowest cards left; what is left then lies at the bottom of the pile.
    """
    hands = [int(bits_of(parse_cards(cards))) for cards in (first, second)]
    top = parse_cards(pile)
    rest = [card for card in range(52) if not (hands[0] | hands[1]) >> card & 1 and card not in top]
    whole_pile = rest[num_stock:] + top
    deck, discard_pile = np.full(52, NO_CARD), np.zeros(MAX_DISCARDS)
    deck[52 - num_stock :] = rest[:num_stock]
    discard_pile[: len(whole_pile)] = whole_pile
    return changed(
        start(**options), hands=[hands], known=0, deck=[deck], num_stock=num_stock, discard_pile=[discard_pile],
        num_discards=len(whole_pile), discards=bits_of(whole_pile), current_player=to_act, phase=phase,
    )  # fmt: skip


def refusal(state, action) -> str:
    """Why an action is refused; nothing may have changed."""
    before = state.record_bytes()
    with pytest.raises(IllegalActionError) as error:
        state.apply(action)
    assert state.record_bytes() == before
    return str(error.value)


# ---------------------------------------------------------------------------------------------------------------
# 1. Cards, melds and deadwood


def test_1_1_points_of_the_cards():
    assert min_deadwood("Ac 2d 4s 6h 8c") == 1 + 2 + 4 + 6 + 8
    assert min_deadwood("3c 5d 7s 9h") == 3 + 5 + 7 + 9
    assert min_deadwood("Tc Jd Qs Kh") == 40


@pytest.mark.parametrize(
    ("cards", "deadwood"),
    [
        ("7s 7h 7d Kc", 10),
        ("7s 7h 7d 7c Kc", 10),
        ("7s 8s 9s Kc", 10),
        ("As 2s 3s Kc", 10),
        ("Qs Ks As 2h", 23),
        ("Ks As 2s 9h", 22),
        ("7s 8s 9c Kc", 34),
        ("7s 7h Kc", 24),
    ],
)
def test_1_2_melds(cards, deadwood):
    assert min_deadwood(cards) == deadwood


def test_1_3_a_card_belongs_to_one_meld():
    assert min_deadwood("5h 6h 7h 7s 7d") == min(7 + 7, 5 + 6)


@pytest.mark.parametrize(
    ("cards", "deadwood"),
    [
        ("4h 5h 6h 6s 6d Ks Qd 9c 2c As", 41),  # the set of sixes, not the run: that leaves 44
        ("4h 5h 6h 9s 9d 9c Ks Qs Js Ts", 0),
        ("3s 3h 3d 3c 4c 5c 6c Kd Kh Ks", 0),
        ("7s 7h 7d 7c 5c 6c 8c 9c Kd Qh", 20),
        ("Qs Ks As 2h 5d 9c 9d 9h Jc Td", 48),
        ("Ks Kh Qd Qc Js Jh Td Tc 9s 9h", 98),  # the most there is
        ("4h 5h 6h 9s 9d 9c Ks Kh Kd 2c Qd", 2),  # eleven cards: after the best discard
    ],
)
def test_1_4_deadwood_is_the_least(cards, deadwood):
    assert min_deadwood(cards) == deadwood
    assert min_deadwood(parse_cards(cards)) == deadwood


@pytest.mark.parametrize(
    "cards", ["Ah Ah", "1h", "", "As 2s 3s 4s 5s 6s 7s 8s 9s Ts Js Qs", [52], [-1], ["Ah"], [1.5], [True]]
)
def test_1_4_deadwood_of_no_hand(cards):
    with pytest.raises(DeckError):
        min_deadwood(cards)


# ---------------------------------------------------------------------------------------------------------------
# 2. The deal


def test_2_1_ten_cards_each_an_upcard_and_a_stock_of_31():
    s = GAME.new_state(seed=3).record
    assert [int(cards).bit_count() for cards in s.hands] == [10, 10]
    assert s.num_discards == 1
    assert s.num_stock == 31


def test_2_1_another_seed_deals_other_cards():
    assert len({GAME.new_state(seed=seed).record_bytes() for seed in range(50)}) == 50


def test_2_2_player_0_acts_first_and_an_explicit_deck_is_dealt_in_order():
    state = start(stock="7d 8d")
    assert state.current_player == 0
    assert state.record.dealer == 1
    assert hand(state, 0) == set(A.split())
    assert hand(state, 1) == set(B.split())
    assert state.table(SPECTATOR).piles[GAME.table.pile_ids["discard_pile"]] == [parse_card("Ac")]
    play(state, "pass", "pass", "draw stock", "discard 2♣", "draw stock")
    assert "7d" in hand(state, 0)
    assert "8d" in hand(state, 1)


def test_2_2_what_a_deck_leaves_out_comes_from_the_seed():
    twin = GAME.new_state(seed=2, deck=f"{A} {B}")
    assert hand(twin, 0) == set(A.split())
    assert twin.record.num_stock == 31
    with pytest.raises(DeckError):
        GAME.new_state(deck="Ah Ah")


@pytest.mark.parametrize(("upcard", "limit"), [("Ac", 0), ("Qd", 10), ("5s", 5), ("Tc", 10), ("2h", 2)])
def test_2_3_oklahoma_sets_the_limit(upcard, limit):
    hands = ("6s 7s 8s 6c 7c 8c 6d 7d 8d Jh", "9s Js Qs 9c Jc Qc 9d Jd Kd 9h")
    assert start(*hands, upcard, oklahoma=True, knock_max=3).record.knock_limit == limit
    assert start(*hands, upcard, knock_max=3).record.knock_limit == 3


# ---------------------------------------------------------------------------------------------------------------
# 3. Turns


def test_3_5_the_discard_pile_is_open_and_in_order():
    state = play(start(stock="7d 8d"), "pass", "pass", "draw stock", "discard 2♣", "draw stock", "discard 10♦")
    for viewer in (0, 1, SPECTATOR):
        pile = state.table(viewer).piles[GAME.table.pile_ids["discard_pile"]]
        assert [GAME.view.token_label(card) for card in pile] == ["A♣", "2♣", "10♦"]


def without_knocks(state, until=lambda state: False) -> State:
    """Draw from the stock and discard the first card allowed, until the hand is over or `until` holds."""
    while not state.is_terminal and not until(state):
        legal = state.legal_actions()
        state.apply(DRAW_STOCK if DRAW_STOCK in legal else PASS if legal == [TAKE_UPCARD, PASS] else legal[0])
    return state


@pytest.mark.parametrize("last", [0, 2, 7, 30])
def test_3_6_the_hand_is_void_when_the_stock_runs_out(last):
    state = without_knocks(start(last_stock_cards=last))
    assert state.record.num_stock == last
    assert state.returns == [0, 0]
    assert state.current_player == -4
    for player in (0, 1):
        shown = state.table(player).piles[GAME.table.pile_ids["hand"] + 1 - player]
        assert sorted(shown)[0] == -1  # nobody shows a card
    assert state.ply == 2 + 2 * (31 - last)


def test_3_6_the_turn_that_takes_the_last_card_may_end_with_a_knock():
    state = position(f"{A} Kc", B, "Ac", num_stock=2, to_act=0)
    assert play(state, "gin discarding 2♣").returns == [83, -83]
    assert play(position(f"{A} Kc", B, "Ac", num_stock=2, to_act=0), "discard 2♣").returns == [0, 0]
    assert not play(position(f"{A} Kc", B, "Ac", num_stock=3, to_act=0), "discard 2♣").is_terminal


def at_the_wall(**options) -> State:
    """Player 1 has discarded Kc, which gives player 0 gin, and two cards are left in the stock."""
    return play(position(A, f"{B} Kc", "Ac", num_stock=2, to_act=1, wall_knock=True, **options), "discard K♣")


def test_3_8_at_the_wall_the_next_player_may_knock_with_the_last_discard():
    state = at_the_wall()
    assert state.phase == "wall"
    assert state.current_player == 0
    assert labels(state) == [
        "pass", "knock discarding K♠", "gin discarding 2♣", "knock discarding K♦", "knock discarding K♥"
    ]  # fmt: skip
    assert "rules.md 3.4" in refusal(state, KNOCK_0 + parse_card("Kc"))
    for action in (DRAW_STOCK, TAKE_UPCARD, parse_card("2c")):
        assert "rules.md 3.8" in refusal(state, action)
    assert play(at_the_wall(), "gin discarding 2♣").returns == [83, -83]
    assert "knock discarding K♣" in labels(at_the_wall(same_card_discard=True))


def test_3_8_at_the_wall_a_pass_makes_the_hand_void():
    state = play(at_the_wall(), "pass")
    assert state.is_terminal
    assert state.returns == [0, 0]


def test_3_8_big_gin_at_the_wall():
    state = position(ELEVEN, f"{B} 2h", "Ac", num_stock=2, to_act=1, wall_knock=True, big_gin=True)
    play(state, "discard 7♥", "big gin")
    assert state.returns == [84, -84]


def test_3_8_no_knock_at_the_wall_once_all_draws_from_the_pile_are_made():
    assert at_the_wall(max_upcard_draws=1).phase == "wall"
    state = start(NOTHING, wall_knock=True, max_upcard_draws=1, last_stock_cards=30)
    assert play(state, "take A♣", "discard J♦").is_terminal


# ---------------------------------------------------------------------------------------------------------------
# 4. The knock


ELEVEN = "4h 5h 6h 9s 9d 9c Ks Kh Kd Kc"  # with 7h all of them are melded


SQUARE = "3s 4s 5s 3h 4h 5h 3d 4d 5d 2c"  # three sets or three runs
AGAINST_SQUARE = "6s 7s 6h 7h Kc Qd Js Ah 9c 9h"


def test_4_4_the_knocker_lays_what_is_least_open():
    """As runs it scores 47, as sets 73: only the three fours, fives and threes of clubs could be laid off."""
    state = knocked(SQUARE, AGAINST_SQUARE, "8d", "8d", same_card_discard=True)
    assert state.returns == [73, -73]


def test_4_4_the_arrangement_ignores_the_defenders_hand():
    """With the clubs in his hand the defender does well against the sets; they are laid all the same."""
    state = knocked(SQUARE, "3c 4c 5c Kc Qd Js Ah 9c 9h Td", "8d", "8d", same_card_discard=True)
    assert [cards_of(meld)[0] % 13 for meld in state.record.melds[0]] == [2, 3, 4]


def test_4_4_cards_in_the_discard_pile_are_not_open():
    """With the twos and sixes of the three suits gone, nothing can be laid off on the runs."""
    state = position(f"{SQUARE} 8d", "Kc Qd Js Ah 9c 9h Td 8c 7c Jh", "2s 6s 2h 6h 2d 6d", num_stock=20, to_act=0)
    play(state, "knock discarding 8♦")
    assert [cards_of(meld)[0] % 13 for meld in state.record.melds[0]] == [2, 2, 2]
    assert [cards_of(meld)[-1] % 13 for meld in state.record.melds[0]] == [4, 4, 4]


def test_4_4_cards_known_in_the_other_hand_are_open():
    """The same, but the defender has taken those cards from the pile, where the knocker saw them."""
    held = "2s 6s 2h 6h 2d 6d Kc Qd Js Ah"
    state = position(f"{SQUARE} 8d", held, "Jh", num_stock=20, to_act=0)
    state = changed(state, known=[[0, bits_of(parse_cards(held))]])
    play(state, "knock discarding 8♦")
    assert [cards_of(meld)[-1] % 13 for meld in state.record.melds[0]] == [2, 3, 4]


def test_4_5_both_hands_are_laid_open():
    state = knocked()
    assert state.table(0) == state.table(1) == state.table(SPECTATOR)
    table = state.table(SPECTATOR)
    assert table.piles[GAME.table.pile_ids["hand"]] == [parse_card("Ac")]
    assert set(table.piles[GAME.table.pile_ids["hand"] + 1]) == set(parse_cards("Qd Qh Jc Td"))


def test_4_6_the_defender_lays_off():
    state = knocked()
    assert [cards_of(cards) for cards in state.record.laid_off] == [[], [], parse_cards("3h 7h 8h")]
    assert state.returns == [39, -39]


def test_4_6_the_fourth_card_goes_on_a_set():
    state = knocked(second="9h 8c 3h 2s 3s 4s Qd Qh Jc Td")
    assert parse_card("9h") in cards_of(int(np.bitwise_or.reduce(state.record.laid_off)))


def test_4_6_the_knocker_never_lays_off():
    state = knocked(upcard="5s", discard="2c")
    assert state.record.hands[0] == bits_of(parse_cards("5s"))  # it would fit on 2s 3s 4s


def test_4_7_a_card_that_fits_set_and_run_goes_where_it_helps():
    """9h carries the heart run on to Th; on the set of nines it would leave Th behind."""
    first = "6h 7h 8h 9s 9d 9c Ks Kd Kc 2c"
    state = knocked(first, "9h Th 3c 5s 7c Jd 4d 6s Qc 8s")
    assert cards_of(int(np.bitwise_or.reduce(state.record.laid_off))) == sorted(parse_cards("9h Th"))


def test_4_7_own_melds_come_first_where_they_are_worth_more():
    """7h stays in the set of sevens rather than going on the run of hearts."""
    state = knocked(second="7h 7s 7d 2s 3s 4s Qd Qh Qc 8h")
    assert state.returns == [7, -7]
    assert not np.any(state.record.laid_off)


def test_4_8_the_ids_exist_with_manual_lay_offs_only():
    assert GAME.num_actions(GAME.make_options()) == 108
    assert GAME.num_actions(GAME.make_options(layoff="manual")) == 213
    assert "no action 108" in refusal(start(), 108)
    assert "rules.md 4.6" in refusal(play(start(layoff="manual"), "take A♣"), DONE)


# ---------------------------------------------------------------------------------------------------------------
# 5. The score of a hand


NINE = "4h 5h 6h 9s 9d 9c Ks Kh Kd"  # with 8d, which is taken, and Jc, which is discarded
EIGHT = {"first": f"{NINE} Jc", "upcard": "8d", "discard": "Jc"}


def test_5_7_a_single_hand_is_zero_sum_and_over():
    state = knocked()
    assert state.is_terminal
    assert sum(state.returns) == 0
    assert state.rewards == state.returns
    assert state.record.scores.tolist() == [39, 0]


# ---------------------------------------------------------------------------------------------------------------
# 6. The match


def test_6_1_the_loser_deals_the_next_hand():
    state = knocked(match_target=100)
    assert not state.is_terminal
    assert state.rewards == [39, -39]
    s = state.record
    assert (s.hand_number, s.dealer, state.current_player, state.phase) == (1, 1, 0, "first_upcard")
    assert s.scores.tolist() == [39, 0]
    assert s.hands_won.tolist() == [1, 0]
    lost = knocked(second="7h 8h 9h 2s 3s 4s Qd Qh Qc 7d", match_target=100, **EIGHT)
    assert (lost.record.dealer, lost.current_player) == (0, 1)


def test_6_1_each_hand_is_dealt_afresh_whatever_went_before():
    fresh = start(match_target=100)
    one, two = play(fresh.clone(), "take A♣", "knock discarding 2♣"), without_knocks(fresh, until_hand(1))
    assert one.record.hands.tolist() == two.record.hands.tolist()
    assert one.record.deck.tolist() == two.record.deck.tolist()
    assert hand(one, 0) != set(A.split())
    three = without_knocks(two, until_hand(2))
    assert three.record.hands.tolist() != one.record.hands.tolist()


def until_hand(number):
    return lambda state: state.record.hand_number == number


def test_6_2_after_a_void_hand_the_same_player_deals():
    state = without_knocks(start(match_target=100), until_hand(1))
    assert state.record.dealer == 1
    assert state.rewards == [0, 0]


def test_6_2_so_he_does_after_a_hand_without_points():
    tie = {"second": "7h 8h 9h 2s 3s 4s Qd Qh Qc 8s", "tie_is_undercut": False, "match_target": 100, **EIGHT}
    assert knocked(**tie).record.dealer == 1
    assert knocked(**tie).record.hands_won.tolist() == [0, 0]


BY_13 = "2s 3s 4s Qd Qh Qc 8c 3c 2d Ad"  # a deadwood of 14 against the knock with 1


def last_hand(scores, hands_won, **options) -> State:
    """The end of a match to 100: player 0 takes the upcard and knocks, for 13 points."""
    state = start(second=BY_13, match_target=100, **options)
    margin = scores[0] - scores[1]
    state = changed(state, scores=[scores], hands_won=[hands_won], returns=[[margin, -margin]])
    return play(state, "take A♣", "knock discarding 2♣")


def test_6_3_game_bonus_and_boxes():
    state = last_hand([92, 40], [4, 2])
    assert state.is_terminal
    assert state.returns == [330 - 90, 90 - 330]
    assert state.rewards == [240 - 52, 52 - 240]
    assert state.record.scores.tolist() == [105, 40]
    assert not last_hand([86, 40], [4, 2]).is_terminal
    assert last_hand([92, 40], [4, 2], game_bonus=0, box_bonus=10).returns == [105 + 50 - 60, -95]


@pytest.mark.parametrize(("shutout", "margin"), [("all", 660), ("bonus", 430), ("off", 330)])
def test_6_4_a_shutout(shutout, margin):
    assert last_hand([92, 0], [4, 0], shutout=shutout).returns == [margin, -margin]
    assert last_hand([92, 40], [4, 2], shutout=shutout).returns == [240, -240]


def test_6_5_returns_are_paid_hand_by_hand_and_add_up():
    hands = 0
    for seed in range(5):
        state = GAME.new_state(seed=seed, match_target=60, game_bonus=50, shutout="bonus")
        paid = 0
        while not state.is_terminal:
            before = state.record
            state.apply(state.policy_action("heuristic", seed + state.ply))
            after = state.record
            gained = after.scores - before.scores
            paid += state.rewards[0]
            if after.hand_number > before.hand_number:
                assert state.rewards == [gained[0] - gained[1], gained[1] - gained[0]]
                hands += 1
        s = state.record
        totals = s.scores + 25 * s.hands_won
        winner = int(s.scores[1] > s.scores[0])
        totals[winner] += 50 * (1 + (s.hands_won[1 - winner] == 0))
        assert s.scores[winner] >= 60 > s.scores[1 - winner]
        assert state.returns == [totals[0] - totals[1], totals[1] - totals[0]]
        assert paid == state.returns[0]
    assert hands >= 5


@pytest.mark.parametrize(
    ("scores", "hands_won", "margin"), [([60, 30], [2, 1], 155), ([50, 50], [1, 3], -50), ([0, 0], [0, 0], 0)]
)
def test_6_6_after_the_last_hand_the_score_decides(scores, hands_won, margin):
    state = start(match_target=100)
    difference = scores[0] - scores[1]
    state = changed(
        state, scores=[scores], hands_won=[hands_won], returns=[[difference, -difference]], hand_number=MAX_HANDS - 1
    )
    without_knocks(state)
    assert state.is_terminal
    assert state.returns == [margin, -margin]


# ---------------------------------------------------------------------------------------------------------------
# 7. Forfeit


def forfeited(state, player) -> State:
    assert state.current_player == player
    state.apply(FORFEIT + player)
    assert state.is_terminal
    assert state.active == [player != p for p in (0, 1)]
    return state


@pytest.mark.parametrize(
    ("options", "cost"),
    [
        ({}, 98 + 25),
        ({"gin_bonus": 20, "big_gin": True}, 98 + 31),
        ({"knock_max": 98, "undercut_bonus": 50}, 98 + 50),
        ({"oklahoma": True, "oklahoma_spade_double": True}, 2 * (98 + 25)),
    ],
)
def test_7_1_a_forfeit_costs_the_most_that_a_hand_can(options, cost):
    assert forfeited(start(**options), 0).returns == [-cost, cost]
    assert GAME.returns(GAME.make_options(**options)).low == -cost


def test_7_1_a_forfeit_shows_the_hand():
    state = forfeited(play(knocked(layoff="manual"), "lay off 7♥ on a run"), 1)
    assert state.returns == [123, -123]
    assert "?" not in table_texts(state.view(0))["piles"]["hand"][1]


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("scores", [[0, 0], [90, 10], [10, 90]])
@pytest.mark.parametrize(
    ("shutout", "cost"), [("off", 99 + 123 + 50 * 25 + 100), ("bonus", 1572 + 100), ("all", 2 * 1572)]
)
def test_7_1_a_forfeit_costs_the_most_that_a_match_can(player, scores, shutout, cost):
    state = start(match_target=100, shutout=shutout)
    margin = scores[0] - scores[1]
    state = changed(state, scores=[scores], hands_won=[[int(n > 0) for n in scores]], returns=[[margin, -margin]])
    if player == 1:
        play(state, "pass")
    forfeited(state, player)
    assert state.returns[player] == -cost
    assert sum(state.returns) == 0


# ---------------------------------------------------------------------------------------------------------------
# 8. What is known, and what can be done


def test_8_1_a_card_taken_from_the_pile_is_known_until_it_is_discarded():
    state = play(start(NOTHING, upcard="Kd"), "take K♦", "discard J♦")
    assert state.facts(1)["opponent_is_known_to_hold"] == ["K♦"]
    assert state.facts(0)["opponent_knows_of_your"] == ["K♦"]
    play(state, "take J♦", "discard 10♦", "draw stock")
    play(state, "discard K♦")
    assert state.facts(1)["opponent_is_known_to_hold"] == []
    assert state.facts(1)["opponent_discarded"] == ["K♦"]
    assert state.facts(0)["opponent_is_known_to_hold"] == ["J♦"]


def test_8_1_the_observation():
    state = play(start(NOTHING, upcard="Kd"), "take K♦", "discard J♦", "take J♦")
    parts = [state.game.layout(state.options).split(state.observation(player)) for player in (0, 1)]
    for player in (0, 1):
        seen = {name: np.flatnonzero(values).tolist() for name, values in parts[player].items()}
        s = state.record
        assert seen["own_hand"] == cards_of(s.hands[player])
        assert seen["own_shown"] == parse_cards("Kd Jd")[player : player + 1]
        assert seen["opponent_shown"] == parse_cards("Jd Kd")[player : player + 1]
        assert seen["discard_pile"] == []
        assert seen["upcard"] == [parse_card("Jd")]
        assert seen["upcard_taken"] == [0]
        assert seen["to_act"] == [0] * player
        assert seen["is_dealer"] == [0] * player
        assert seen["phase"] == [2]
        assert len(seen["deadwood_with_upcard"]) == 0
        assert len(seen["stock"]) == 16
    melds = parts[1]["own_melds"]
    assert [card for card in range(52) if melds[card] == 2] == sorted(parse_cards("2s 3s 4s Td Jd Qd"))


def test_8_1_the_observation_of_lay_offs_and_of_a_match():
    state = play(knocked(layoff="manual"), "lay off 7♥ on a run")
    parts = state.game.layout(state.options).split(state.observation(1))
    assert np.flatnonzero(parts["knocker_runs"]).tolist() == parse_cards("4h 5h 6h 7h")
    assert np.flatnonzero(parts["knocker_sets"]).tolist() == sorted(parse_cards("9s 9d 9c Ks Kh Kd"))
    assert parts["knocker_deadwood"].sum() == 1
    assert np.flatnonzero(parts["opponent_shown"]).tolist() == [parse_card("Ac")]
    state = changed(start(match_target=200), scores=[[39, 120]], hands_won=[[1, 3]], hand_number=4)
    parts = state.game.layout(state.options).split(state.observation(0))
    shown = ("own_score", "opponent_score", "own_hands_won", "opponent_hands_won", "hand_number")
    assert [int(parts[name].sum()) for name in shown] == [1, 6, 1, 3, 0]


def test_8_2_a_void_hand_shows_nothing_and_a_knock_everything():
    void = without_knocks(start(last_stock_cards=30))
    assert void.facts(0)["opponent_is_known_to_hold"] == []
    assert void.table(SPECTATOR).piles[GAME.table.pile_ids["hand"]] == [-1] * 10
    assert -1 not in knocked().table(SPECTATOR).piles[GAME.table.pile_ids["hand"] + 1]


def test_8_3_every_action_has_a_label_of_its_own():
    for options in ({}, {"layoff": "manual"}):
        state = start(**options)
        texts = {state.action_label(action) for action in range(GAME.num_actions(state.options))}
        assert len(texts) == GAME.num_actions(state.options)
        assert "no action" in refusal(state, GAME.num_actions(state.options))


# ---------------------------------------------------------------------------------------------------------------
# 11. Options


@pytest.mark.parametrize(
    "options",
    [
        {"knock_max": 99}, {"gin_bonus": -1}, {"layoff": "auto"}, {"last_stock_cards": 31}, {"max_upcard_draws": 0},
        {"match_target": 0}, {"num_players": 3}, {"shutout": "none"}, {"oklahoma": 1},
    ],
)  # fmt: skip
def test_11_options_that_cannot_be(options):
    with pytest.raises(OptionError):
        GAME.make_options(**options)


def test_11_bounds_of_the_returns():
    def most(**options):
        returns = GAME.returns(GAME.make_options(**options))
        assert (returns.low, returns.total) == (-returns.high, 0)
        return returns.high

    assert most() == 123
    assert most(big_gin=True) == 129
    assert most(undercut_bonus=200) == 210
    assert most(undercut_bonus=200, knock_max=0) == 123
    assert most(undercut_bonus=200, knock_max=0, oklahoma=True) == 210
    assert most(oklahoma_spade_double=True) == 246
    assert most(match_target=100) == 2 * (99 + 123 + 100 + 50 * 25)
    assert most(match_target=10, shutout="bonus") == 9 + 123 + 100 + 10 * 25 + 100
    worst = knocked("Ah Ad As 2h 2d 2s 3h 3d 3s 4c", "Ks Kh Qd Qc Js Jh Td Tc 9s 9h", "3c", "4c")
    assert worst.returns == [123, -123]


@pytest.mark.parametrize("options", [{}, {"wall_knock": True}, {"last_stock_cards": 20, "max_upcard_draws": 7}])
def test_11_the_longest_hand_is_as_long_as_promised(options):
    """Two passes, all draws from the discard pile but one, then all of the stock."""
    state = start(NOTHING, B.replace("Jc", "Jh").replace("3h", "Kh"), **options)
    while not state.is_terminal:
        legal = state.legal_actions()
        spare_draws = state.facts(0)["draws_from_the_discard_pile_left"] - 1
        choices = (PASS, TAKE_UPCARD if spare_draws > 0 else DRAW_STOCK, DRAW_STOCK, legal[0])
        state.apply(next(action for action in choices if action in legal))
    assert state.ply == GAME.max_length(state.options)


def observed(state, player) -> dict[str, np.ndarray]:
    return state.game.layout(state.options).split(state.observation(player))


def test_8_2_in_a_match_the_hand_before_stays_in_view():
    state = knocked(match_target=200)  # laid off: 7h 8h 3h
    assert state.record.hand_number == 1
    own, other = observed(state, 0), observed(state, 1)
    for before in (own["own_last_hand"], other["opponent_last_hand"]):
        assert {card: before[card] for card in cards_of(int(bits_of(parse_cards(A.replace("2c", "Ac")))))} == {
            card: 1 if card == parse_card("Ac") else 2 for card in parse_cards(A.replace("2c", "Ac"))
        }
    for before in (own["opponent_last_hand"], other["own_last_hand"]):
        marks = {card: before[card] for card in np.flatnonzero(before)}
        laid_off, melded = parse_cards("7h 8h 3h"), parse_cards("2s 3s 4s")
        assert marks == dict.fromkeys(laid_off, 3) | dict.fromkeys(melded, 2) | dict.fromkeys(
            parse_cards("Qd Qh Jc Td"), 1
        )
    assert np.flatnonzero(own["last_discard_pile"]).tolist() == [parse_card("2c")]
    assert (own["last_knocker"].tolist(), other["last_knocker"].tolist()) == ([1, 0], [0, 1])
    assert sum(1 << k for k in np.flatnonzero(other["opponent_score_digits"])) == 39


def test_8_2_of_a_void_hand_only_what_was_seen_stays_in_view():
    state = without_knocks(start(match_target=200), until_hand(1))
    own, other = observed(state, 0), observed(state, 1)
    held, seen = int(state.record.last_hands[0]), int(state.record.last_known[0])
    assert np.flatnonzero(own["own_last_hand"]).tolist() == cards_of(held)
    assert np.flatnonzero(other["opponent_last_hand"]).tolist() == cards_of(seen)
    assert not own["last_knocker"].any()
    twin = state.determinize(1, seed=3)
    assert int(twin.record.last_hands[0]).bit_count() == held.bit_count()
    assert int(twin.record.last_hands[0]) & seen == seen
    assert int(twin.record.last_hands[0]) != held
    assert not int(twin.record.last_hands[0]) & (int(twin.record.last_hands[1]) | int(twin.record.last_discards))


# ---------------------------------------------------------------------------------------------------------------
# Whole games: cards, events, twins


VARIANTS = [
    {},
    {"layoff": "manual", "big_gin": True, "knock_max": 60},
    {"wall_knock": True, "oklahoma": True, "same_card_discard": True, "last_stock_cards": 20},
    {"match_target": 40, "oklahoma_spade_double": True, "last_stock_cards": 25, "knock_max": 40},
    {"match_target": 100, "layoff": "manual", "max_upcard_draws": 5, "wall_knock": True, "knock_max": 98},
]


def games(options, num_games, max_plies):
    """States of games played by a mix of chance and the heuristic, after every ply."""
    rng = np.random.default_rng(5)
    for seed in range(num_games):
        state = GAME.new_state(seed=seed, **options)
        yield state
        while not state.is_terminal and state.ply < max_plies:
            at_random = rng.random() < 0.4
            state.apply(
                int(rng.choice(state.legal_actions())) if at_random else state.policy_action("heuristic", state.ply)
            )
            yield state


@pytest.mark.parametrize("options", VARIANTS)
def test_every_card_is_somewhere_exactly_once(options):
    for state in games(options, SOME, max_plies=400):
        s = state.record
        places = [*s.hands, *s.melds.ravel(), s.discards, bits_of(s.deck[52 - s.num_stock :].tolist())]
        assert sum(int(cards).bit_count() for cards in places) == 52
        assert np.bitwise_or.reduce(places) == (1 << 52) - 1
        assert s.discards == bits_of(s.discard_pile[: s.num_discards].tolist())
        assert set(s.deck[: 52 - s.num_stock]) == {NO_CARD}
        assert all(s.known[p] & ~s.hands[p] == 0 for p in (0, 1))
        assert (s.discarded[0] | s.discarded[1]) & ~s.discards == 0


@pytest.mark.parametrize("options", VARIANTS)
def test_the_events_of_each_viewer_fold_to_the_table(options):
    for state in games(options, FEW, max_plies=150):
        for viewer in (0, 1, SPECTATOR):
            assert not state.folded_table(viewer).differences(state.table(viewer))


@pytest.mark.parametrize("options", VARIANTS)
def test_a_twin_keeps_what_is_seen_and_deals_the_rest_anew(options):
    moved = 0
    for state in games(options, FEW, max_plies=150):
        for player in (0, 1):
            twin = state.determinize(player, seed=state.ply)
            assert twin.table(player) == state.table(player)
            assert (twin.observation(player) == state.observation(player)).all()
            assert twin.facts(player) == state.facts(player)
            assert twin.render(player) == state.render(player)
            if player == state.current_player:
                assert twin.legal_actions() == state.legal_actions()
                assert labels(twin) == labels(state)
            assert twin.table(OMNISCIENT).tokens() == state.table(OMNISCIENT).tokens()
            moved += twin.record.hands[1 - player] != state.record.hands[1 - player]
    assert moved > 10


def test_a_twin_is_uniform():
    """Nine of the 40 cards that player 0 has not seen are in the other hand, each as often as any other."""
    state = play(start(NOTHING, upcard="Kd"), "pass", "take K♦", "discard 10♦")
    num_twins = 4000 if COMPILED else 100
    counts = np.zeros(52)
    for seed in range(num_twins):
        counts[cards_of(state.determinize(0, seed).record.hands[1])] += 1
    hidden = [card for card in range(52) if counts[card] not in (0, num_twins)]
    assert counts[parse_card("Kd")] == num_twins
    assert len(hidden) == 52 - 10 - 2
    expected = num_twins * 9 / 40
    chi_square = ((counts[hidden] - expected) ** 2 / (expected * (1 - 9 / 40))).sum() * 39 / 40
    assert chi_square < 39 + 5 * (2 * 39) ** 0.5
