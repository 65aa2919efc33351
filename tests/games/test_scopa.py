"""Tests of Scopa: an oracle, positions at the end of a hand, the bound on captures, and the heuristic."""

import itertools
import random
from collections import Counter
from math import comb

import numpy as np
import pytest
from scopa_oracle import DECK, captures, hand_points, primiera

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import OptionError
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.core.state import State
from cardenvs.games.scopa.captures import capture, num_captures
from cardenvs.games.scopa.scoring import primiera as primiera_kernel
from cardenvs.games.scopa.state import SLOTS
from cardenvs.kits.cards import ITALIAN

GAME = get_game("scopa_v0")


def bits(text):
    return sum(1 << ITALIAN.labels.index(card) for card in text.split())


def labels(cards):
    return {label for card, label in enumerate(ITALIAN.labels) if int(cards) >> card & 1}


def last_cards(hands, table, won, *, scope=(0, 0), scores=(0, 0), last_taker=-1, **options):
    """A position with an empty stock: the cards in hand, on the table, and won by each side."""
    begun = GAME.new_state(seed=1, **options)
    record = np.frombuffer(begun.record_bytes(), GAME.state_dtype).copy()
    record["num_dealt"], record["deck"] = 40, -1
    for k, (hand, cards) in enumerate(zip(hands, won, strict=True)):
        record["hands"][0, k], record["won"][0, k] = bits(hand), bits(cards)
        record["sweeps"][0, k], record["scores"][0, k] = scope[k], scores[k]
    record["table"], record["last_taker"] = bits(table), last_taker
    return State._from_record(GAME, begun.options, record)


def play(state, *texts):
    for text in texts:
        state.apply(state.action_from_label(text))
    return state


def without(*texts):
    """All cards but those of the texts."""
    given = set(" ".join(texts).split())
    return " ".join(card for card in DECK if card not in given)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"num_players": 5}, "2, 3, 4 or 6; got 5"), ({"scopone": "ten"}, "scopone=ten needs num_players=4; got 2")],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(OptionError, match=message):
        GAME.make_options(**options)


@pytest.mark.parametrize(("allowed", "points"), [(False, 0), (True, 1)])
def test_10_the_last_card_of_a_hand_is_no_scopa(allowed, points):
    state = last_cards(["4d", ""], "4s", [without("4d 4s"), ""], target=None, last_card_scopa=allowed)
    state.apply(state.legal_actions()[0])
    assert state.record.sweeps[0] == points
    assert labels(state.record.won[0]) == set(DECK)


def test_11_the_last_taker_gets_what_is_left():
    state = last_cards(["Kc", ""], "7d 2c", ["", without("Kc 7d 2c")], last_taker=1, target=None)
    play(state, "lay K♣")
    assert {"7d", "2c", "Kc"} <= labels(state.record.won[1])
    assert state.record.sweeps[1] == 0
    assert "player_1's side has the settebello: 1 point." in state.recap(0)


@pytest.mark.parametrize(
    ("cards", "needs_all", "total"),
    [
        ("7d 7c 6h As", True, 76), ("7h 7s 6d 6c", True, 78), ("7d 7c 7h", True, 0), ("7d 7c 7h", False, 63),
        ("7d 7c 7h Ks", True, 73), ("Ad Ac Ah As", True, 64), ("5d 5c 5h 5s", True, 60), ("6d 6c Ah 5s", True, 67),
        ("7d Kc Kh Ks", True, 51), ("7d 6d 7c 6h As 2s", True, 76),
    ],
)  # fmt: skip
def test_12_and_13_the_primiera(cards, needs_all, total):
    assert primiera_kernel(np.int64(bits(cards)), needs_all) == total
    assert primiera(cards.split(), needs_all) == total


FOURTEEN = "As 2s 4s 6s 7s Js Qs Ks 2c 3c Jc Qc Kc 3d 7d Qd Kd Ah 3h 5h Jh Kh"  # 4 diamonds, 7d, primiera 71
FIFTEEN = "3s 5s 6s Qs Ac 2c 3c 4c 6c Jc 3d 4d 5d 7d Kd Ah 2h 3h 4h 7h"  # 20 cards, 5 diamonds, 7d, primiera 78


@pytest.mark.parametrize(
    ("cards", "scope", "points"), [(FOURTEEN, (1, 2), [3, 4]), (FIFTEEN, (1, 2), [2, 2]), (FIFTEEN, (0, 0), [1, 0])]
)
def test_14_and_15_the_points_of_a_hand(cards, scope, points):
    """All cards of a side but one are won, and the last one goes to the last taker, who is the same side."""
    last, *rest = sorted(cards.split())
    state = last_cards([last, ""], "", [" ".join(rest), without(cards)], scope=scope, last_taker=0, target=None)
    play(state, f"lay {last}")
    assert state.facts(0)["points_by_hand"] == [points]
    assert state.returns == [points[0] - points[1], points[1] - points[0]]


@pytest.mark.parametrize(
    ("gains", "winner"), [((2, 3), 1), ((3, 2), 0), ((2, 2), None), ((0, 1), 1), ((0, 0), None)]
)  # fmt: skip
def test_16_the_end_of_a_match(gains, winner):
    """10 to 10 before the hand; the points of the hand are scope here, and the cards are shared evenly."""
    own = FIFTEEN.split()
    own.remove("7d")
    cards = " ".join([*own, next(card for card in without(FIFTEEN).split() if card[1] == "d")])
    points = hand_points([set(cards.split()), set(without(cards).split())], [0, 0])
    scores = [10 - points[0], 10 - points[1]]
    last = next(card for card in cards.split() if card != "7d")
    rest = " ".join(card for card in cards.split() if card != last)
    state = last_cards([last, ""], "", [rest, without(cards)], scope=gains, scores=scores, last_taker=0)
    play(state, f"lay {last}")
    assert state.is_terminal == (winner is not None)
    if winner is not None:
        assert state.returns[winner] == 1


def test_3_7_an_ace_takes_everything_without_a_scopa():
    deck = "Ad 2s 2c  6s 6c 6d  Kc 4d Qc Jc"
    state = GAME.new_state(seed=1, deck=deck, asso_piglia_tutto=True)
    play(state, "A♦ takes J♣ Q♣ K♣ 4♦")
    assert state.record.sweeps[0] == 0
    assert state.record.table == 0


def test_4_3_and_4_4_rebello_and_napola():
    cards = "Ad 2d 3d 4d Kd As"
    state = last_cards(["As", ""], "", ["Ad 2d 3d 4d Kd", without(cards)], last_taker=0, target=None,
                       rebello=True, napola=True)  # fmt: skip
    play(state, "lay A♠")
    mine = state.facts(0)["points_by_hand"][0][0]
    assert mine == 4 + 1  # the napola and the king; cards, settebello and primiera go to the other side


def test_3_3_the_largest_set_is_taken_for_the_player():
    state = GAME.new_state(seed=1, deck="7s 2s 4c  Js Jc Jd  2c 5h 4s Ad", capture_choice="auto_largest")
    takes = [state.action_label(action) for action in state.legal_actions() if "7♠" in state.action_label(action)]
    assert takes == ["7♠ takes 4♠ 2♣ A♦"]


@pytest.mark.parametrize(
    ("options", "returns"),
    [({}, [-1, 1]), ({"num_players": 3}, [-1, 0.5, 0.5]), ({"num_players": 4}, [-1, 1, -1, 1]),
     ({"target": None}, [-24, 24]), ({"target": None, "napola": True, "rebello": True}, [-35, 35]),
     ({"target": None, "num_players": 3}, [-12, 6, 6])],
)  # fmt: skip
def test_6_1_forfeits(options, returns):
    state = GAME.new_state(seed=1, **options)
    state.apply(FORFEIT + 0)
    assert state.returns == returns


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def check_against_the_oracle(seed):
    """Play a random hand beside sets of texts: captures at every position, and the points at the end."""
    chooser = random.Random(seed)
    n = chooser.choice([2, 3, 4, 6])
    flags = {name: chooser.random() < 0.5 for name in ("asso_piglia_tutto", "rebello", "napola", "last_card_scopa")}
    state = GAME.new_state(seed=seed, num_players=n, target=None, **flags)
    sides = 3 if n == 3 else 2
    won, scope, last_taker = [set() for _ in range(sides)], [0] * sides, None
    table = labels(state.record.table)
    while not state.is_terminal:
        player = state.current_player
        side = player if n == 3 else player % 2
        assert labels(state.record.table) == table
        hand = labels(state.record.hands[player])
        expected = {}
        for card in hand:
            takes_all = flags["asso_piglia_tutto"] and card[0] == "A"
            sets = captures(card, table, takes_all=takes_all)
            expected |= {(card, frozenset(cards)): takes_all for cards in sets or [set()]}
        meanings = {}
        for action in state.legal_actions():
            card = action // SLOTS
            takes = num_captures(state.record, card) > 0
            taken = labels(capture(state.record, card, action % SLOTS)) if takes else set()
            meanings[ITALIAN.labels[card], frozenset(taken)] = action
        assert set(meanings) == set(expected)
        (card, taken), action = chooser.choice(sorted(meanings.items(), key=lambda item: item[1]))
        last = all(not labels(state.record.hands[p]) - {card} for p in range(n)) and state.record.num_dealt == 40
        state.apply(action)
        if taken:
            won[side] |= {card, *taken}
            scope[side] += taken == table and not expected[card, taken] and (flags["last_card_scopa"] or not last)
            table, last_taker = table - taken, side
        else:
            table = table | {card}
    if last_taker is not None:
        won[last_taker] |= table
    points = hand_points(won, scope, rebello=flags["rebello"], napola=flags["napola"])
    assert state.facts(0)["points_by_hand"] == [points]
    assert state.returns[0] == pytest.approx(points[0] - sum(points[1:]) / (sides - 1))


@pytest.mark.parametrize("part", range(4))
def test_hands_agree_with_the_oracle(part):
    for seed in range(50 * part, 50 * part + (50 if COMPILED else 2)):
        check_against_the_oracle(seed)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_hands_agree_with_the_oracle(part):
    for seed in range(1000 * (part + 1), 1000 * (part + 2)):
        check_against_the_oracle(seed)


# ---------------------------------------------------------------------------------------------------------------
# The bound on captures


def test_no_table_that_play_can_lead_to_gives_a_card_more_captures_than_slots():
    """All tables, as numbers of cards of each value, from any four cards on; the hands do not limit what is played."""

    def sums(table):
        """By total, the number of sets of cards."""
        ways = [1] + [0] * 10
        for value, count in enumerate(table, 1):
            ways = [
                sum(ways[total - k * value] * comb(count, k) for k in range(count + 1) if k * value <= total)
                for total in range(11)
            ]
        return ways

    def sets(table, total, value=1):
        if total == 0:
            yield (0,) * (11 - value)
        elif value <= total and value <= 10:
            for k in range(min(table[value - 1], total // value) + 1):
                yield from ((k, *rest) for rest in sets(table, total - k * value, value + 1))

    def after(table, value):
        """The tables after a card of a value is played."""
        one = tuple(int(v == value) for v in range(1, 11))
        if table[value - 1]:
            return [tuple(map(int.__sub__, table, one))]
        taken = [(*cards, *(0,) * (10 - len(cards))) for cards in sets(table, value)]
        return [tuple(map(int.__sub__, table, cards)) for cards in taken] or [tuple(map(int.__add__, table, one))]

    begun = itertools.combinations_with_replacement(range(1, 11), 4)
    todo = [tuple(Counter(values)[value] for value in range(1, 11)) for values in begun]
    todo.append((0,) * 10)  # scientific scopone
    seen, most = set(todo), 0
    while todo:
        table = todo.pop()
        ways = sums(table)
        most = max([most, *(ways[value] for value in range(1, 11) if not table[value - 1])])
        new = {other for value in range(1, 11) for other in after(table, value)} - seen
        seen |= new
        todo += new
    assert len(seen) > 10_000
    assert most == SLOTS


def test_the_heuristic_wins_against_random_players():
    margin = 0
    for seed in range(120 if COMPILED else 4):
        state = GAME.new_state(seed=seed, target=None)
        while not state.is_terminal:
            policy = "heuristic" if state.current_player == seed % 2 else "random"
            state.apply(state.policy_action(policy, seed=seed))
        margin += state.returns[seed % 2]
    assert margin > (120 if COMPILED else -40)  # a point a hand


def test_the_heuristic_prefers_the_settebello():
    state = GAME.new_state(seed=1, deck="7h 4s 4c  Js Jc Jd  7c 7d 5s 2h")
    assert state.action_label(state.policy_action("heuristic", 0)) == "7♥ takes 7♦"
