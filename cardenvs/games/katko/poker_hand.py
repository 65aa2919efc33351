"""The strength of a poker hand of five cards (rules.md 4.3)."""

from cardenvs.core.kernel import kernel

_NUM_RANKS, _NUM_SUITS = 13, 4
_SUIT = (1 << _NUM_RANKS) - 1
_WHEEL = 0b1000000001111  # A 2 3 4 5, with the ace as the highest bit

HIGH_CARD, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(9)


@kernel(inline=True)
def _ace_high(ranks):
    """Move the ace from the lowest bit of a bit set of ranks to the highest."""
    return ranks >> 1 | (ranks & 1) << _NUM_RANKS - 1


@kernel
def hand_strength(hand):
    """Return a number that is larger for a better hand and equal for equal ones, from a bit set of five cards.

    From its highest digit: the category, the ranks that decide first (of which there are most), then the others. Ranks
    are bit sets with the ace on top; sets of the same size compare like the cards.
    """
    once, twice, thrice, always = 0, 0, 0, _SUIT  # ranks in at least so many suits
    is_flush = False
    for suit in range(_NUM_SUITS):
        ranks = _ace_high(hand >> suit * _NUM_RANKS & _SUIT)
        thrice |= twice & ranks
        twice |= once & ranks
        once |= ranks
        always &= ranks
        is_flush |= ranks == once and _size(ranks) == 5
    straight_to = _straight(once)
    if is_flush and straight_to:
        return _number(STRAIGHT_FLUSH, straight_to, 0)
    if always:
        return _number(QUADS, always, once & ~always)
    if thrice and twice != thrice:
        return _number(FULL_HOUSE, thrice, twice & ~thrice)
    if is_flush:
        return _number(FLUSH, once, 0)
    if straight_to:
        return _number(STRAIGHT, straight_to, 0)
    if thrice:
        return _number(TRIPS, thrice, once & ~thrice)
    pairs = _size(twice)
    return _number(TWO_PAIR if pairs == 2 else PAIR if pairs else HIGH_CARD, twice, once & ~twice)


@kernel(inline=True)
def _number(category, first, others):
    return category << 2 * _NUM_RANKS | first << _NUM_RANKS | others


@kernel
def _size(ranks):
    number = 0
    while ranks:
        ranks &= ranks - 1
        number += 1
    return number


@kernel
def _straight(ranks):
    """Return the highest rank of a straight as a bit, or 0."""
    if ranks == _WHEEL:
        return 1 << 3
    for low in range(_NUM_RANKS - 4):
        if ranks == 31 << low:
            return 1 << low + 4
    return 0
