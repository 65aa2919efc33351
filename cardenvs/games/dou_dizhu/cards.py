"""The cards of Dou Dizhu. Paragraph numbers are those of rules.md.

Suits do not matter, so cards of a rank are alike. A set of cards is one number with four bits for each rank, which
count its cards: 0x32 is three 4s and two 3s.
"""

import numpy as np

from cardenvs.core.kernel import kernel

RANKS = "3456789TJQKA2BR"  # B and R are the black and the red joker (1.2)
NUM_RANKS = len(RANKS)
ACE, TWO, BLACK, RED = range(11, 15)
NUM_SUITED = BLACK  # ranks with four cards; the first NUM_LINKED of them make chains
NUM_LINKED = TWO
COPIES = np.array([4] * NUM_SUITED + [1, 1], np.int64)
DECK_SIZE = int(COPIES.sum())
HAND_SIZE, EXTRA_SIZE = 17, 3
MOST_HELD = HAND_SIZE + EXTRA_SIZE

_ONES = sum(1 << 4 * rank for rank in range(NUM_RANKS))
_TOPS = 8 * _ONES  # the highest bit of each rank: no count reaches it
ALL_CARDS = sum(int(number) << 4 * rank for rank, number in enumerate(COPIES))
ROCKET = 1 << 4 * BLACK | 1 << 4 * RED
NUM_BITS = DECK_SIZE  # of `as_bits`
_LOW_BITS = (1 << NUM_BITS - 1) - 1


@kernel(inline=True)
def count_of(cards, rank):
    """Return how many cards of a rank are in a set."""
    return cards >> 4 * rank & 15


@kernel(inline=True)
def one_of(rank):
    """Return a card of a rank as a set."""
    return np.int64(1) << 4 * rank


@kernel(inline=True)
def contains(cards, others):
    """Return whether a set contains all cards of another one."""
    return ((cards | _TOPS) - others) & _TOPS == _TOPS


@kernel(inline=True)
def without(cards, others):
    """Return a set less the cards of another one, as far as it has them."""
    left = (cards | _TOPS) - others
    enough = left & _TOPS
    return left & ~_TOPS & (enough - (enough >> 3))


@kernel
def count_cards(cards):
    """Return the number of cards in a set."""
    number = np.int64(0)
    while cards:
        number += cards & 15
        cards >>= 4
    return number


@kernel(inline=True)
def at_least(cards, number):
    """Return, one bit in four, the ranks with at least `number` cards, 1 to 4."""
    return ((cards | _TOPS) - number * _ONES & _TOPS) >> 3


@kernel
def ranks_with(cards, number):
    """Return the ranks with at least `number` cards, 1 to 4, as a bit set."""
    spread, ranks = at_least(cards, number), np.int64(0)
    for rank in range(NUM_RANKS):
        ranks |= (spread >> 4 * rank & 1) << rank
    return ranks


@kernel
def as_bits(cards):
    """Return a bit set of 54: four bits for each rank from 3 to 2, of which as many are set as it has cards, then the
    jokers.
    """
    bits = at_least(cards, 1) | at_least(cards, 2) << 1 | at_least(cards, 3) << 2 | at_least(cards, 4) << 3
    return bits & _LOW_BITS | (bits >> 4 * RED & 1) << NUM_BITS - 1


BIT_LABELS = (*(f"{rank}x{number}" for rank in RANKS[:BLACK] for number in range(1, 5)), "B", "R")


def listed(cards):
    """Return a set as a list of ranks, ascending."""
    return [rank for rank in range(NUM_RANKS) for _ in range(int(cards) >> 4 * rank & 15)]
