"""Suits, heights and tricks of Contract Bridge."""

import numpy as np

from cardenvs.core.cards import count_bits, lowest_card
from cardenvs.core.kernel import kernel
from cardenvs.games.bridge.state import NO_CARD, NUM_DENOMINATIONS

NUM_SUITS = 4
SUIT_SIZE = 13
SUIT_CARDS = (1 << SUIT_SIZE) - 1
ACES = 1 | 1 << SUIT_SIZE | 1 << 2 * SUIT_SIZE | 1 << 3 * SUIT_SIZE
SUIT_OF_DENOMINATION = np.array([1, 2, 3, 0, -1], np.int8)  # the deck's suits are s c d h
DENOMINATION_OF_SUIT = np.array([3, 0, 1, 2], np.int8)


@kernel(inline=True)
def suit_of(card):
    """Return the suit of a card, 0 to 3 for s c d h."""
    return card // SUIT_SIZE


@kernel(inline=True)
def height(card):
    """Return the rank of a card with the ace on top: 0 for the 2, 12 for the ace (1.1)."""
    rank = card % SUIT_SIZE
    return rank - 1 if rank else SUIT_SIZE - 1


@kernel(inline=True)
def heights(cards, suit):
    """Return the cards of a suit in a bit set, as a bit set of heights."""
    ranks = cards >> SUIT_SIZE * suit & SUIT_CARDS
    return ranks >> 1 | (ranks & 1) << SUIT_SIZE - 1


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


@kernel(inline=True)
def led_suit(s):
    """Return the suit to follow, or -1 if the trick has no card yet."""
    card = s.played[s.leader, s.trick]
    return -1 if card == NO_CARD else suit_of(np.int64(card))


@kernel(inline=True)
def beats(card, other, trump):
    """Whether `card`, played later, beats `other`, the best card of the trick so far (4.3)."""
    if suit_of(card) == suit_of(other):
        return height(card) > height(other)
    return suit_of(card) == trump


@kernel(inline=True)
def trick_winner(s):
    """Return who has played the best card of the trick so far (4.3)."""
    trump, winner = trump_suit(s), np.int64(s.leader)
    best = np.int64(s.played[winner, s.trick])
    for k in range(1, 4):
        p = (s.leader + k) & 3
        card = np.int64(s.played[p, s.trick])
        if card != NO_CARD and beats(card, best, trump):
            winner, best = p, card
    return winner


@kernel(inline=True)
def playable(s, player):
    """Return the cards that `player` may play to this trick, as a bit set (4.2)."""
    hand, suit = s.hands[player], led_suit(s)
    following = hand & SUIT_CARDS << SUIT_SIZE * max(suit, 0)
    return following if suit >= 0 and following else hand


@kernel(inline=True)
def cards_played(s, player):
    """Return the cards that `player` has played in this deal, as a bit set."""
    cards = np.int64(0)
    for trick in range(s.trick + 1):
        if trick < SUIT_SIZE and s.played[player, trick] != NO_CARD:
            cards |= np.int64(1) << s.played[player, trick]
    return cards


@kernel(inline=True)
def dummy_of(s):
    """Return the partner of the declarer (3.5)."""
    return (s.declarer + 2) & 3


@kernel
def lowest(cards, suit):
    """Return the lowest card of a suit in a bit set, which has one."""
    return card_at(suit, lowest_card(heights(cards, suit)))
