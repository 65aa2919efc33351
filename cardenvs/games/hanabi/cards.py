"""Cards of Hanabi, and sets of them.

A card is 5 * suit + rank, where rank 0 is a one and suit 5 the rainbow; copies are alike. Sets and counts of cards are
integers of two bits a card: a set has the lower bit of each of its cards, a count up to three in both.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.kits.cards import count_bits

MAX_COLORS, MAX_RANKS, RAINBOW = 5, 5, 5
_MAX_RANKS = np.uint64(MAX_RANKS)  # no sign, so that a division is one multiplication
NUM_SUITS = MAX_COLORS + 1
NUM_CARDS = NUM_SUITS * MAX_RANKS  # different ones
MAX_DECK = 10 * NUM_SUITS
SUIT_LETTERS = "RYGWBM"
SUIT_NAMES = ("red", "yellow", "green", "white", "blue", "rainbow")
LABELS = tuple(f"{suit}{rank + 1}" for suit in SUIT_LETTERS for rank in range(MAX_RANKS))


def copies_of(rank, ranks):
    """Return how many copies there are of a card of some rank, from 0 (2.1)."""
    return 3 if rank == 0 else 1 if rank == ranks - 1 else 2


def _sets_of(cards_of, elements):
    """Return for each set of `elements` things (a bit each) the set of their cards."""
    sets = [sum(1 << 2 * card for k in range(elements) if bits >> k & 1 for card in cards_of(k)) for bits in
            range(1 << elements)]  # fmt: skip
    return np.array(sets, np.int64)


OF_SUITS = _sets_of(lambda suit: range(MAX_RANKS * suit, MAX_RANKS * (suit + 1)), NUM_SUITS)
OF_RANKS = _sets_of(lambda rank: range(rank, NUM_CARDS, MAX_RANKS), MAX_RANKS)
COPIES = np.array([[copies_of(rank, ranks) for rank in range(MAX_RANKS)] for ranks in range(MAX_RANKS + 1)], np.int64)
WHOLE_SUIT = np.array(  # by the number of ranks: the counts of one suit
    [sum(copies_of(rank, ranks) << 2 * rank for rank in range(ranks)) for ranks in range(MAX_RANKS + 1)], np.int64
)
_LOW_BITS = np.int64(sum(1 << 2 * card for card in range(NUM_CARDS)))


def cards_of(cards):
    """Return the cards of a set as a list, ascending."""
    return [card for card in range(NUM_CARDS) if int(cards) >> 2 * card & 1]


@kernel(inline=True)
def suit_of(card):
    """Return the suit of a card; 5 is the rainbow."""
    return np.int64(np.uint64(card) // _MAX_RANKS)


@kernel(inline=True)
def rank_of(card):
    """Return the rank of a card, from 0."""
    return np.int64(np.uint64(card) % _MAX_RANKS)


@kernel(inline=True)
def bit_of(card):
    """Return the set of one card, which is also the count of one copy of it."""
    return np.int64(1) << 2 * np.int64(card)


@kernel(inline=True)
def number_of(counts, card):
    """Return the number of copies of a card in a count."""
    return counts >> 2 * np.int64(card) & 3


@kernel(inline=True)
def set_of(counts):
    """Return the set of the cards of which a count has at least one."""
    return (counts | counts >> 1) & _LOW_BITS


@kernel(inline=True)
def number_in(counts, cards):
    """Return how many cards of a count are in a set."""
    return count_bits(counts & cards) + 2 * count_bits(counts >> 1 & cards)
