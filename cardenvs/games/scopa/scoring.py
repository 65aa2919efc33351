"""Points of a hand of Scopa (rules.md 4)."""

import numpy as np

from cardenvs.core.cards import count_bits
from cardenvs.core.kernel import kernel
from cardenvs.games.scopa.state import NO_SIDE, NUM_SUITS, SUIT_SIZE

PRIMIERA_VALUES = np.array([16, 12, 13, 14, 15, 18, 21, 10, 10, 10], np.int8)  # A 2 3 4 5 6 7 J Q K (4.2)
_DIAMONDS = 2  # number of the suit
_SUIT = (1 << SUIT_SIZE) - 1
SETTEBELLO = np.int64(1) << _DIAMONDS * SUIT_SIZE + 6
KING_OF_DIAMONDS = np.int64(1) << _DIAMONDS * SUIT_SIZE + 9
_NAPOLA = 3  # cards of the shortest run


@kernel(inline=True)
def diamonds(cards):
    """Return the ranks of the diamonds in a bit set of cards, as a bit set."""
    return cards >> _DIAMONDS * SUIT_SIZE & _SUIT


@kernel
def primiera(cards, needs_all_suits):
    """Return the primiera of a bit set of cards, or 0 if there is none (4.2)."""
    total = 0
    for suit in range(NUM_SUITS):
        best = 0
        for rank in range(SUIT_SIZE):
            if cards >> suit * SUIT_SIZE + rank & 1:
                best = max(best, np.int64(PRIMIERA_VALUES[rank]))
        if best == 0 and needs_all_suits:
            return 0
        total += best
    return total


@kernel
def napola(cards):
    """Return the length of the run of diamonds from the ace upwards, or 0 if it is shorter than three (4.4)."""
    length, ranks = 0, diamonds(cards)
    while ranks & 1:
        length += 1
        ranks >>= 1
    return length if length >= _NAPOLA else 0


@kernel(inline=True)
def only_best(a, b, c):
    """Return which of three numbers is the largest, or NO_SIDE if two are."""
    if a > max(b, c):
        return 0
    if b > max(a, c):
        return 1
    return 2 if c > max(a, b) else NO_SIDE


@kernel
def most_cards(s):
    """Return the side with most cards, or NO_SIDE (4.1)."""
    return only_best(count_bits(s.won[0]), count_bits(s.won[1]), count_bits(s.won[2]))


@kernel
def most_diamonds(s):
    """Return the side with most diamonds, or NO_SIDE (4.1)."""
    return only_best(count_bits(diamonds(s.won[0])), count_bits(diamonds(s.won[1])), count_bits(diamonds(s.won[2])))


@kernel
def best_primiera(s):
    """Return the side with the best primiera, or NO_SIDE (4.2)."""
    needs = s.rules.primiera_needs_all_suits
    return only_best(primiera(s.won[0], needs), primiera(s.won[1], needs), primiera(s.won[2], needs))
