"""The strength of a poker hand of five cards (rules.md 4.3)."""

from cardenvs.core.kernel import kernel
from cardenvs.kits.poker_hands import best_category
from cardenvs.kits.tricks import heights

_NUM_RANKS = 13
_WHEEL, _FIVE_HIGH = 0b1000000001111, 0b1111  # A 2 3 4 5 with the ace as the highest bit; 2 3 4 5


@kernel
def hand_strength(hand):
    """Return a number that is larger for a better hand and equal for equal ones, from a bit set of five cards.

    From its highest digit: the category, then the ranks of which there are four cards, at least three, two and one.
    Ranks are bit sets with the ace on top; sets of the same size compare like the cards.
    """
    once, twice, thrice, always = 0, 0, 0, (1 << _NUM_RANKS) - 1
    for suit in range(4):
        ranks = heights(hand, suit)
        thrice |= twice & ranks
        twice |= once & ranks
        once |= ranks
        always &= ranks
    strength = best_category(hand)
    for ranks in (always, thrice, twice, _FIVE_HIGH if once == _WHEEL else once):
        strength = strength << _NUM_RANKS | ranks
    return strength
