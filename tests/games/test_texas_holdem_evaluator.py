"""Ranks of poker hands: known frequencies, and a plain evaluator that tries all fives."""

import random
from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest

from cardenvs.core.errors import DeckError
from cardenvs.core.kernel import COMPILED
from cardenvs.games.texas_holdem import hand_category, hand_rank, hand_ranks
from cardenvs.games.texas_holdem.evaluator import CATEGORIES, category_of_rank
from cardenvs.kits.cards import NUM_CARDS

# From high card to straight flush, royal flushes included.
FIVE_CARD_HANDS = (1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 40)
SEVEN_CARD_HANDS = (23_294_460, 58_627_800, 31_433_400, 6_461_620, 6_180_020, 4_047_644, 3_473_184, 224_848, 41_584)
NUM_SEVEN = 133_784_560
CLASS_OF = np.array([CATEGORIES.index(category_of_rank(rank)) if rank else 0 for rank in range(7463)])

compiled_only = pytest.mark.skipif(not COMPILED, reason="millions of hands")


def plain_worth(cards):
    """What five cards are worth, as a tuple: class, then the ranks by number and height."""
    ranks = sorted(((card + 12) % 13 for card in cards), reverse=True)
    if ranks == [12, 3, 2, 1, 0]:
        ranks = [3, 2, 1, 0, -1]
    counts = Counter(ranks)
    by_number = tuple(sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True))
    shape = tuple(sorted(counts.values(), reverse=True))
    straight = len(counts) == 5 and ranks[0] - ranks[4] == 4
    flush = len({card // 13 for card in cards}) == 1
    if straight:
        return (8 if flush else 4, by_number)
    if flush:
        return (5, by_number)
    return ({(4, 1): 7, (3, 2): 6, (3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1}.get(shape, 0), by_number)


@pytest.mark.parametrize("size", [5, 6, 7])
def test_ranks_order_hands_as_a_plain_evaluator_does(size):
    chooser = random.Random(size)
    hands = [chooser.sample(range(NUM_CARDS), size) for _ in range(3000 if COMPILED else 300)]
    # Some with many cards of a suit, or of few ranks.
    hands += [chooser.sample(range(13), 5) + chooser.sample(range(13, 52), size - 5) for _ in range(300)]
    hands += [chooser.sample([card for card in range(52) if card % 13 < 4], size) for _ in range(300)]
    worths = [max(plain_worth(five) for five in combinations(hand, 5)) for hand in hands]
    ranks = hand_ranks(np.array(hands, np.int8)).tolist()
    order = sorted(set(worths))
    assert len(set(ranks)) == len(order)
    assert sorted(set(ranks)) == [ranks[worths.index(worth)] for worth in order]
    assert all(ranks[k] == ranks[worths.index(worth)] for k, worth in enumerate(worths))
    assert all(CATEGORIES.index(category_of_rank(rank)) == worth[0] for rank, worth in zip(ranks, worths, strict=True))


@compiled_only
def test_all_five_card_hands():
    hands = np.fromiter((card for hand in combinations(range(NUM_CARDS), 5) for card in hand), np.int8).reshape(-1, 5)
    ranks = hand_ranks(hands)
    assert tuple(np.bincount(CLASS_OF[ranks])) == FIVE_CARD_HANDS
    assert len(np.unique(ranks)) == 7462
    assert (ranks.min(), ranks.max()) == (1, 7462)


@compiled_only
def test_a_sample_of_seven_card_hands():
    number = 400_000
    hands = np.random.default_rng(0).permuted(np.tile(np.arange(NUM_CARDS, dtype=np.int8), (number, 1)), axis=1)[:, :7]
    found = np.bincount(CLASS_OF[hand_ranks(np.ascontiguousarray(hands))], minlength=9)
    for count, all_hands in zip(found, SEVEN_CARD_HANDS, strict=True):
        expected = number * all_hands / NUM_SEVEN
        assert abs(count - expected) < 5 * expected**0.5 + 1


@pytest.mark.slow
def test_all_seven_card_hands():
    """By their two lowest cards; the other five are among the cards above."""
    found, total = np.zeros(9, np.int64), 0
    fives = np.fromiter((card for hand in combinations(range(50), 5) for card in hand), np.int8).reshape(-1, 5)
    fives = fives[np.argsort(fives[:, 4], kind="stable")]  # the first comb(m, 5) are those of cards below m
    for second in range(1, NUM_CARDS - 5):
        rest = fives[: comb(NUM_CARDS - 1 - second, 5)] + np.int8(second + 1)
        hands = np.empty((len(rest), 7), np.int8)
        hands[:, 1], hands[:, 2:] = second, rest
        for low in range(second):
            hands[:, 0] = low
            found += np.bincount(CLASS_OF[hand_ranks(hands)], minlength=9)
            total += len(hands)
    assert total == NUM_SEVEN
    assert tuple(found) == SEVEN_CARD_HANDS


def test_suits_do_not_matter():
    assert hand_rank("Ah Kh Qd Jc 9s 3d 2c") == hand_rank("As Kd Qc Jh 9d 3s 2h")
    assert hand_rank("Ah Kh Qh Jh 9h") == hand_rank("Ac Kc Qc Jc 9c")


def test_the_best_and_the_worst():
    assert hand_rank("Th Jh Qh Kh Ah 2c 3d") == hand_rank("Ts Js Qs Ks As") == 7462
    assert hand_rank("2c 3d 4h 5s 7c") == 1
    assert hand_category("2c 3d 4h 5s 7c") == "high card"


def test_a_straight_does_not_go_around_the_corner():
    assert hand_category("Qc Kd Ah 2s 3c") == "high card"
    assert hand_rank("2c 3d 4h 5s Ac") < hand_rank("2c 3d 4h 5s 6c")


@pytest.mark.parametrize(
    "cards",
    [
        "Ah Kh Qh Jh",
        "Ah Kh Qh Jh Th 9h 8h 7h",
        "Ah Ah Kh Qh Jh",
        "1h Kh Qh Jh Th",
        [52, 1, 2, 3, 4],
        [True, 2, 3, 4, 5],
        ["Ah", 1, 2, 3, 4],
    ],
)
def test_what_is_no_hand(cards):
    with pytest.raises(DeckError):
        hand_rank(cards)
