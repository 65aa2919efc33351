"""Cards and tricks of Marjapussi. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.marjapussi.state import KING, NUM_SUITS, PACK, QUEEN, TABLE, VALUES
from cardenvs.kits.tricks import BEATING, OVERTRUMPING, TRUMPING, Ranking, Tricks, trump_of_record

_ALL_SUITS = (1 << NUM_SUITS) - 1
_BEAT_DUTIES = np.array([0, BEATING, OVERTRUMPING, BEATING | OVERTRUMPING], np.int64)


@kernel(inline=True)
def duties(s):
    """The duties of players who do not lead (3.1, 3.3)."""
    return _BEAT_DUTIES[s.rules.beat] | TRUMPING * s.rules.must_trump


TRICKS = Tricks(TABLE, Ranking.plain(PACK, trump=trump_of_record), duties, notes_lacks=True)
led_suit, trick_winner, strength = TRICKS.led_suit, TRICKS.winner, TRICKS.ranking.strength
suit_of, rank_of = PACK.suit_of, PACK.rank_of


@kernel(inline=True)
def points_of(s, card):
    """The points of a card (1.3)."""
    return np.int64(VALUES[s.rules.values, rank_of(card)])


@kernel(inline=True)
def partner_of(player):
    """The partner of `player` (1.1)."""
    return player ^ 2


@kernel(inline=True)
def suits_with(cards, rank):
    """The suits of which a bit set of cards has the card of a rank, as a bit set."""
    return cards >> rank * NUM_SUITS & _ALL_SUITS


@kernel(inline=True)
def both_of(cards):
    """The suits of which a bit set of cards has king and queen, as a bit set."""
    return suits_with(cards, KING) & suits_with(cards, QUEEN)


@kernel(inline=True)
def one_of(cards):
    """The suits of which a bit set of cards has king or queen, but not both, as a bit set."""
    return suits_with(cards, KING) ^ suits_with(cards, QUEEN)


@kernel(inline=True)
def king_and_queen(suit):
    """King and queen of a suit, as a bit set of cards."""
    return (np.int64(1) << QUEEN * NUM_SUITS | np.int64(1) << KING * NUM_SUITS) << suit
