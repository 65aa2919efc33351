"""What a hand is worth in the auction."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.bridge.cards import ACES, SUIT_OF_DENOMINATION, length
from cardenvs.kits.cards import count_bits
from cardenvs.kits.tricks import heights


@kernel
def high_card_points(cards):
    """Return the high-card points of a bit set of cards: ace 4, king 3, queen 2, jack 1."""
    return (
        4 * count_bits(cards & ACES)
        + 3 * count_bits(cards & ACES << 12)
        + 2 * count_bits(cards & ACES << 11)
        + count_bits(cards & ACES << 10)
    )


@kernel(inline=True)
def length_of(cards, denomination):
    """Return the number of cards of a suit, given as a denomination."""
    return length(cards, np.int64(SUIT_OF_DENOMINATION[denomination]))


@kernel
def hand_points(cards, is_support, trump):
    """Return high-card points and those for long suits, or for short suits next to a trump suit."""
    points = high_card_points(cards)
    for denomination in range(4):
        number = length_of(cards, denomination)
        if is_support:
            if denomination != trump:
                points += 3 if number == 0 else 2 if number == 1 else 1 if number == 2 else 0
        else:
            points += max(number - 4, 0)
    return points


@kernel
def is_balanced(cards):
    """Whether no suit is shorter than two cards, and at most one has two."""
    doubletons = 0
    for denomination in range(4):
        number = length_of(cards, denomination)
        if number < 2 or number > 5:
            return False
        doubletons += number == 2
    return doubletons <= 1


@kernel
def is_stopped(cards, denomination):
    """Whether a suit has the ace, a guarded king, or a queen with two more."""
    suit = np.int64(SUIT_OF_DENOMINATION[denomination])
    ranks, number = heights(cards, suit), length(cards, suit)
    return (
        (ranks >> 12 & 1) != 0
        or ((ranks >> 11 & 1) != 0 and number >= 2)
        or ((ranks >> 10 & 1) != 0 and number >= 3)
        or ((ranks >> 9 & 1) != 0 and number >= 4)
    )
