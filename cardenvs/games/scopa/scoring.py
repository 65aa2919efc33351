"""Points of a hand of Scopa (rules.md 4)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.scopa.state import NUM_SUITS, SUIT_SIZE
from cardenvs.kits.matches import NO_SIDE, num_sides

PRIMIERA_VALUES = np.array([16, 12, 13, 14, 15, 18, 21, 10, 10, 10], np.int8)  # A 2 3 4 5 6 7 J Q K (4.2)
_DIAMONDS = 2  # number of the suit
_SUIT = (1 << SUIT_SIZE) - 1
ALL_CARDS = (1 << NUM_SUITS * SUIT_SIZE) - 1
DIAMONDS = _SUIT << _DIAMONDS * SUIT_SIZE
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


@kernel
def best_primiera(s):
    """Return the side with the best primiera, or NO_SIDE (4.2)."""
    best, winner = np.int64(0), NO_SIDE
    for side in range(num_sides(s)):
        points = primiera(s.won[side], s.rules.primiera_needs_all_suits)
        if points > best:
            best, winner = points, side
        elif points == best:
            winner = NO_SIDE
    return winner
