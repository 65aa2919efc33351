"""Tests of Kasino: captures of the rules' source, scores at the end of a hand, an oracle, taking card by card."""

import random

import numpy as np
import pytest
from ascii_cards import in_ascii
from kasino_oracle import Oracle, captures, hand_value, maximal

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import OptionError
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.core.state import State
from cardenvs.games.kasino.state import COMPOSE, SLOTS, TRAIL
from cardenvs.kits.cards import CARD_LABELS, bits_of, parse_card, parse_cards

GAME = get_game("kasino_v0")
TABLES = {  # the card played, the table, the number of captures, and the maximal ones
    1: ("Ah", "9c 5d As Kh", 3, ["9c 5d As Kh"]),
    3: ("Td", "8c 8h 6s Tc 3d Ks", 7, ["8c 8h 6s Tc 3d Ks"]),
    4: ("8d", "2s 6h 4c", 1, ["2s 6h"]),
    5: ("2s", "Kc 2h Td 5s 7c 8d", 8, ["Kc 2h Td 5s 7c 8d"]),
    6: ("Jd", "3c 8d 4s 7h Ac", 4, ["3c 8d 4s 7h", "3c 7h Ac"]),
    7: ("Qh", "Qc Qd Js Ah 9c 3s", 15, ["Qc Qd Js Ah 9c 3s"]),
}


def position(hands, table="", won=("", ""), *, num_dealt=52, scores=(0, 0, 0, 0), last_taker=-1, **options):
    """A position: the cards in hand, on the table, and won; by default in the last deal."""
    begun = GAME.new_state(seed=1, num_players=len(hands), **options)
    record = np.frombuffer(begun.record_bytes(), GAME.state_dtype).copy()
    record["num_dealt"] = num_dealt
    record["hands"], record["table"] = 0, bits_of(parse_cards(table) if table else [])
    for k, (hand, cards) in enumerate(zip(hands, won, strict=True)):
        record["hands"][0, k] = bits_of(parse_cards(hand) if hand else [])
        record["won"][0, k] = bits_of(parse_cards(cards) if cards else [])
        record["scores"][0, k] = scores[k]
    seen = bits_of(parse_cards(" ".join([*hands, table, *won]).strip() or "As"))
    rest = [card for card in range(52) if not seen >> card & 1]
    record["deck"] = -1
    record["deck"][0, num_dealt:] = rest[: 52 - num_dealt]
    record["last_taker"] = last_taker
    return State._from_record(GAME, begun.options, record)


def play(state, *texts):
    for text in texts:
        state.apply(state.action_from_label(text))
    return state


def taken_by(state, card):
    """The sets of cards that a card may take by one action."""
    found = set()
    for action in state.legal_actions():
        if action // SLOTS == parse_card(card) and action % SLOTS not in (TRAIL, COMPOSE):
            found.add(frozenset(in_ascii(state.action_label(action)).split(" takes ")[1].split()))
    return found


def without(*texts):
    """All cards but those of the texts."""
    given = set(" ".join(texts).split())
    return " ".join(card for card in CARD_LABELS if card not in given)


@pytest.mark.parametrize("number", TABLES)
def test_the_captures_of_the_source(number):
    card, table, count, largest = TABLES[number]
    state = position([card, "9d" if card != "9d" else "9h"], table)
    found = taken_by(state, card)
    assert found == captures(card, table.split())
    assert len(found) == count
    assert maximal(found) == {frozenset(cards.split()) for cards in largest}
    only = position([card, "9d"], table, capture_choice="maximal", capture_optional=False)  # 16
    assert taken_by(only, card) == maximal(found)
    assert "lay" not in " ".join(only.action_label(action) for action in only.legal_actions())
    auto = position([card, "9d"], table, capture_choice="auto")
    assert taken_by(auto, card) == {max(found, key=len)}


def test_3_with_another_ten():
    assert taken_by(position(["Th", "9d"], TABLES[3][1]), "Th") == {frozenset(["Tc"])}


def test_5_points_are_scored_at_once():
    state = position(["2s 3h", "9d 9h"], TABLES[5][1], num_dealt=20)
    play(state, "2s takes 5s 7c Kc 8d Td 2h")
    assert state.facts(0)["scores"] == [4, 0]  # big kasino 2, small kasino 1, sweep 1


def sweeps(*sides, **options):
    """The scores after sweeps of these sides, each of a single card."""
    scores = [0, 0]
    state = None
    for number, side in enumerate(sides):
        card, other = f"{4 + number}c", f"{4 + number}h"
        state = position(["", ""], other, num_dealt=20, **options) if state is None else state
        record = np.frombuffer(state.record_bytes(), GAME.state_dtype).copy()
        record["table"], record["current_player"] = bits_of([parse_card(other)]), side
        record["hands"][0, side] = bits_of(parse_cards(f"{card} {7 + number}d"))
        record["hands"][0, 1 - side] = bits_of([parse_card("Jh")])
        state = play(State._from_record(GAME, state.options, record), f"{card} takes {other}")
        scores = state.facts(0)["scores"]
    return scores


def test_8_sweeps_cancel():
    assert sweeps(0, 1) == [0, 0]
    assert sweeps(0, 0, 1) == [1, 0]
    assert sweeps(0, 1, sweeps="plain") == [1, 1]
    assert sweeps(0, 1, sweeps="off") == [0, 0]


def test_8_sweeps_void_if_both_have_one():
    state = position(["3c", ""], "", ["", without("3c")], last_taker=1, sweeps="void_if_both", scores=(2, 1))
    record = np.frombuffer(state.record_bytes(), GAME.state_dtype).copy()
    record["sweeps"][0, :2] = (2, 1)
    state = play(State._from_record(GAME, state.options, record), "lay 3c")
    assert state.facts(0)["scores"] == [0, 3]  # cards and spades for side 1


@pytest.mark.parametrize(("scope", "score"), [("any", 4), ("own", 5)])
def test_9_frozen_sweeps(scope, score):
    state = position(["9d 3c", "9h 3d"], "3h", num_dealt=20, scores=(10, 4), sweep_freeze_scope=scope)
    record = np.frombuffer(state.record_bytes(), GAME.state_dtype).copy()
    record["current_player"] = 1
    state = play(State._from_record(GAME, state.options, record), "3d takes 3h")
    assert state.facts(0)["scores"] == [10, score]


@pytest.mark.parametrize(("allowed", "score"), [(False, 1), (True, 2)])
def test_10_sweeps_of_the_last_deal(allowed, score):
    state = position(["Kd 5h", "9h 3d"], "Ac Qc", sweep_last_deal=allowed)
    play(state, "Kd takes Ac Qc")
    assert state.facts(0)["scores"][0] == score


def test_11_the_rest_goes_to_the_last_taker():
    cards = "9h As 4c Jd"
    state = position(["Jd", ""], "9h As 4c", ["Kh", without(cards, "Kh")], last_taker=0)
    play(state, "lay Jd")
    assert state.facts(0)["cards"][0] == 5
    assert state.facts(0)["scores"][0] == 1  # the ace; no sweep, no majority


HAND_12 = "Ah Ac Td 3s 4s 5s 6s 7s 3c 4c 5c 6c 7c 8c 9c 3d 4d 5d 6d 7d 8d 9d 3h 4h 5h 6h 7h 8h 9h"


def test_12_the_points_of_a_hand():
    assert len(HAND_12.split()) == 29
    rest = HAND_12.replace(" 9h", "")
    state = position(["9h", ""], "", [rest, without(HAND_12)], last_taker=0, scores=(4, 4))
    play(state, "lay 9h")
    # Before: aces and kasinos; side 1 also has a sweep. Then most cards for side 0, most spades for side 1.
    assert state.facts(0)["scores"] == [5, 6]


@pytest.mark.parametrize(("ties", "prize"), [("nobody", 1), ("carry_over", 2)])
def test_13_tied_cards(ties, prize):
    half = " ".join(CARD_LABELS[:26])
    state = position(
        [CARD_LABELS[0], ""], "", [half.replace("As ", ""), without(half)], last_taker=0, ties=ties, match=True
    )
    play(state, "lay As")
    assert state.facts(0)["hand_number"] == 2
    assert state.facts(0)["points_for_most_cards"] == prize
    assert state.facts(0)["points_for_most_spades"] == 2


@pytest.mark.parametrize(("ties", "points"), [("split", 1), ("nobody", 0)])
def test_13_two_of_three_tie_for_spades(ties, points):
    others = [card for card in CARD_LABELS if card[1] != "s"]
    spades = ["As 2s 3s 4s", "6s 7s 8s 9s Ts", "Js Qs Ks"]
    won = [" ".join([*others[start:end], spades[k]]) for k, (start, end) in enumerate([(0, 8), (8, 16), (16, 39)])]
    state = play(position(["5s", "", ""], "", won, last_taker=0, ties=ties), "lay 5s")
    assert state.facts(0)["spades"] == [5, 5, 3]
    assert state.facts(0)["scores"] == [points, points, 1]  # side 2 has most cards


def test_14_a_match_ends_in_the_middle_of_a_hand():
    state = position(["Kd 5h", "9h 3d"], "Ac Qc 4d", num_dealt=20, scores=(15, 3), match=True)
    play(state, "Kd takes Ac Qc")
    assert state.is_terminal
    assert state.returns == [1, -1]


def test_14_at_the_end_of_a_hand_all_is_counted_first():
    spades = " ".join(card for card in CARD_LABELS if card[1] == "s")
    most = " ".join(card for card in CARD_LABELS if card[1] != "s" and card != "3c")
    cards = most.split()
    state = position(["3c", ""], "", [" ".join(cards[:30]), " ".join([spades, *cards[30:]])], last_taker=0,
                     scores=(15, 15), match=True)  # fmt: skip
    play(state, "lay 3c")
    assert state.is_terminal
    assert state.facts(0)["scores"] == [16, 17]
    assert state.returns == [-1, 1]


def test_6_4_points_above_the_target_are_counted_back():
    state = position(["Kd 5h", "9h 3d"], "Ac Qc As Qd 4d", num_dealt=20, scores=(15, 3), match=True, exact_target=True)
    play(state, "Kd takes As Ac Qc Qd")
    assert state.facts(0)["scores"] == [15, 3]
    assert not state.is_terminal


@pytest.mark.parametrize(
    ("scores", "ends"),
    [((15, 3), [14, 3]), ((13, 3), [16, 3]), ((14, 3), [15, 3])],
)
def test_8_3_prizes_are_added_one_after_the_other_and_counted_back_after_each(scores, ends):
    """Most cards (1), then most spades (2)."""
    mine = without("Kd 9h Qc As Ah Ac Ad 2s Td")  # most cards and most spades
    state = position(["Kd", ""], "9h", [mine, ""], scores=scores, last_taker=0, match=True, exact_target=True)
    play(state, "lay Kd")
    assert state.facts(0)["scores"] == ends
    assert state.is_terminal == (16 in ends)


def test_6_3_misere():
    state = position(["Kd", ""], "Ac Qc", ["", without("Kd Ac Qc")], scores=(5, 8), last_taker=1, misere=True)
    assert [state.action_label(action) for action in state.legal_actions()] == ["K♦ takes A♣ Q♣"]
    state.apply(state.legal_actions()[0])
    scores = state.facts(0)["scores"]
    assert state.returns == [scores[1] - scores[0], scores[0] - scores[1]]


def test_options_and_forfeits():
    with pytest.raises(OptionError, match="teams=true needs num_players=4; got 2"):
        GAME.make_options(teams=True)
    state = GAME.new_state(seed=1, num_players=4, teams=True, match=True)
    state.apply(FORFEIT + 0)
    assert state.returns == [-1, 1, -1, 1]


@pytest.mark.parametrize(
    ("options", "returns"),
    [
        ({}, [-20, 20]),  # 10 points and 10 sweeps, which freezes them
        ({"sweep_freeze_at": 100}, [-30, 30]),  # every other card of 40 sweeps
        ({"sweep_freeze_at": 100, "sweep_last_deal": True}, [-34, 34]),
        ({"sweeps": "off"}, [-10, 10]),
        ({"num_players": 3}, [-14, 7, 7]),  # 10 points and 18 sweeps of the two others
        ({"num_players": 3, "misere": True}, [-20, 10, 10]),
    ],
)
def test_7_1_who_forfeits_a_hand_loses_the_most_that_it_can_cost(options, returns):
    state = GAME.new_state(seed=1, **options)
    state.apply(FORFEIT + 0)
    assert state.returns == returns
    assert state.game.returns(state.options).low == returns[0]


# ---------------------------------------------------------------------------------------------------------------
# Taking card by card


CROWDED = "2c 3c 4c 5c 6c 7c 8c 9c Tc 2h 3h 4h 5h 6h 7h"


def test_when_there_are_more_captures_than_slots_all_can_be_composed():
    state = position(["Kd 5d", "9d 3d"], CROWDED, num_dealt=20)
    every = captures("Kd", CROWDED.split())
    assert len(every) > 30
    assert taken_by(state, "Kd") < every
    chooser = random.Random(1)
    for wanted in chooser.sample(sorted(map(sorted, every)), 40):
        copy = state.clone()
        play(copy, "Kd takes other cards")
        for group in partition(sorted(wanted, key=CARD_LABELS.index), hand_value("Kd")):
            play(copy, *(f"take {card}" for card in group))
        play(copy, "done")
        assert int(copy.record.won[0]) == bits_of(parse_cards("Kd " + " ".join(wanted)))


def partition(cards, total):
    """Some split of cards into groups with that sum."""
    if not cards:
        return []
    first, *rest = cards
    for bits in range(1 << len(rest)):
        group = [first, *(card for k, card in enumerate(rest) if bits >> k & 1)]
        if sum(map(hand_value, group)) == total:
            others = partition([card for card in rest if card not in group], total)
            if others is not None:
                return [group, *others]
    return None


def test_every_way_of_taking_cards_ends_in_a_capture():
    every = captures("Kd", CROWDED.split())
    for seed in range(200 if COMPILED else 5):
        chooser = random.Random(seed)
        state = play(position(["Kd 5d", "9d 3d"], CROWDED, num_dealt=20), "Kd takes other cards")
        taken = set()
        while state.phase == "take":
            label = in_ascii(state.action_label(chooser.choice(state.legal_actions())))
            taken |= {label.split()[1]} if label != "done" else set()
            play(state, label)
        assert frozenset(taken) in every


def test_lists_are_short_when_everybody_always_trails():
    state = GAME.new_state(seed=1)
    while not state.is_terminal:
        legal = state.legal_actions()
        assert len(legal) <= 4 * SLOTS
        state.apply(legal[0])
    assert state.facts(0)["cards"] == [0, 0]


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def check_against_the_oracle(seed):
    """Play a random hand beside the oracle: captures at every position, and the scores at the end."""
    chooser = random.Random(seed)
    n, rule = chooser.choice([2, 3, 4]), chooser.choice(["cancel_min", "void_if_both", "plain", "off"])
    state, oracle = GAME.new_state(seed=seed, num_players=n, sweeps=rule), Oracle(n, rule)
    while not state.is_terminal:
        player = state.current_player
        table = {CARD_LABELS[card] for card in range(52) if int(state.record.table) >> card & 1}
        hand = [CARD_LABELS[card] for card in range(52) if int(state.record.hands[player]) >> card & 1]
        for card in hand:
            found = taken_by(state, card)
            if len(table) < 9:
                every = captures(card, table)
                assert found == every if len(every) <= 30 else found < every
        label = in_ascii(state.action_label(chooser.choice([a for a in state.legal_actions() if a % SLOTS != COMPOSE])))
        stock = 52 - int(state.record.num_dealt)
        if " takes " in label:
            card, cards = label.split(" takes ")
            taken = set(cards.split())
            oracle.capture(player, card, taken, taken == table, stock)
            table -= taken
        else:
            table.add(label.split()[1])
        play(state, label)
        if not state.is_terminal:
            assert state.facts(0)["scores"] == oracle.scores
    assert state.facts(0)["scores"] == oracle.finish(table)


@pytest.mark.parametrize("part", range(4))
def test_hands_agree_with_the_oracle(part):
    for seed in range(50 * part, 50 * part + (50 if COMPILED else 2)):
        check_against_the_oracle(seed)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_hands_agree_with_the_oracle(part):
    for seed in range(1000 * (part + 1), 1000 * (part + 2)):
        check_against_the_oracle(seed)


def test_the_heuristic_wins_against_random_players():
    margin = 0
    for seed in range(120 if COMPILED else 4):
        state = GAME.new_state(seed=seed)
        while not state.is_terminal:
            policy = "heuristic" if state.current_player == seed % 2 else "random"
            state.apply(state.policy_action(policy, seed=seed))
        margin += state.returns[seed % 2]
    assert margin > (240 if COMPILED else -40)
