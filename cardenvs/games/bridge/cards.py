"""Suits, heights and tricks of Contract Bridge."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.bridge.state import NUM_DENOMINATIONS
from cardenvs.games.bridge.table import TABLE
from cardenvs.kits.cards import FULL, count_bits, lowest_card
from cardenvs.kits.tricks import ACE_HIGH, SUIT_SIZE, Ranking, Tricks, heights

NUM_SUITS = 4
SUIT_CARDS = (1 << SUIT_SIZE) - 1
ACES = 1 | 1 << SUIT_SIZE | 1 << 2 * SUIT_SIZE | 1 << 3 * SUIT_SIZE
SUIT_OF_DENOMINATION = np.array([1, 2, 3, 0, -1], np.int8)  # the deck's suits are s c d h
DENOMINATION_OF_SUIT = np.array([3, 0, 1, 2], np.int8)


@kernel(inline=True)
def card_at(suit, level):
    """Return the card of a suit with a height."""
    return SUIT_SIZE * suit + (0 if level == SUIT_SIZE - 1 else level + 1)


@kernel(inline=True)
def length(cards, suit):
    """Return the number of cards of a suit in a bit set."""
    return count_bits(cards >> SUIT_SIZE * suit & SUIT_CARDS)


@kernel(inline=True)
def trump_suit(s):
    """Return the suit of trumps, or -1."""
    return np.int64(SUIT_OF_DENOMINATION[s.contract % NUM_DENOMINATIONS])


TRICKS = Tricks(TABLE, Ranking.plain(FULL, ACE_HIGH, trump_suit))
led_suit, playable, trick_winner = TRICKS.led_suit, TRICKS.playable, TRICKS.winner  # (4.2, 4.3)


@kernel(inline=True)
def dummy_of(s):
    """Return the partner of the declarer (3.5)."""
    return (s.declarer + 2) & 3


@kernel
def lowest(cards, suit):
    """Return the lowest card of a suit in a bit set, which has one."""
    return card_at(suit, lowest_card(heights(cards, suit)))
