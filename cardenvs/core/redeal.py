"""Dealing what a player cannot know: worlds for `determinize`.

`redeal_hands` deals the hidden cards to the other hands and the stock.

Players who do not follow suit show that they have none left, and worlds must respect this. `choose_place` deals one
card after another, each at random among the places where it may lie such that the cards still to come fit. A *place* is
a hand, or all that is left, with room for some cards. Numbers of up to eight places are packed into one int64, eight
bits for each; so are the numbers of cards of the four suits.
"""

import numpy as np

from cardenvs.core.cards import NUM_CARDS, count_bits, lowest_card
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import canonical_shuffle, random_below

MAX_PLACES = 7  # so that the sign bit stays free
_NUM_SUITS = 4
_SUIT_SIZE = NUM_CARDS // _NUM_SUITS
_NO_CARD = -1


@kernel
def redeal_hands(s, player, hidden, end):
    """Deal hidden cards to the hands of the others, as many as they hold, and the rest to the stock.

    Args:
        s: record with `hands`, bit sets of cards, and `deck`, of which deck[end - n:end] are n cards of the stock and
            what has been dealt is -1. Its `rng` is advanced.
        player: who keeps their hand.
        hidden: bit set (int64) of the cards to deal: those in the stock and in the other hands, except for cards that
            these are known to hold, which they keep.
        end: end of the stock in `deck`.
    """
    k = end - count_bits(hidden)
    rest = hidden
    for place in range(k, end):
        s.deck[place] = lowest_card(rest)
        rest &= rest - 1
    canonical_shuffle(s, s.deck, k, end)
    for p in range(s.rules.num_players):
        if p == player:
            continue
        number = count_bits(s.hands[p] & hidden)
        s.hands[p] &= ~hidden
        for _ in range(number):
            s.hands[p] |= np.int64(1) << s.deck[k]
            s.deck[k] = _NO_CARD
            k += 1


@kernel(inline=True)
def packed(number, k):
    """Return `number` as the k-th of several numbers packed into an int64; sums of such are packed numbers, too."""
    return np.int64(number) << 8 * k


@kernel(inline=True)
def unpacked(numbers, k):
    """Return the k-th of several numbers packed into an int64."""
    return numbers >> 8 * k & 255


@kernel
def choose_place(s, card, room, left, voids, num_places):
    """Return a place for `card`, drawn from `s.rng` in proportion to the room, such that the other cards still fit.

    Args:
        s: record; its `rng` is advanced.
        card: 0..51.
        room: cards that each place still takes, packed; the sum is that of `left`.
        left: cards of each suit still to be dealt, `card` included, packed.
        voids: packed bit sets of the suits that a place may not get.
        num_places: at most MAX_PLACES.

    The cards must fit when the first one is dealt; then they fit to the end.
    """
    suit = card // _SUIT_SIZE
    rest = left - packed(1, suit)
    possible = np.int64(0)  # room of the places where the card may lie, packed
    total = 0
    for place in range(num_places):
        free = unpacked(room, place)
        if free == 0 or unpacked(voids, place) >> suit & 1:
            continue
        if voids == 0 or _fits(rest, room - packed(1, place), voids, num_places):
            possible += packed(free, place)
            total += free
    drawn = random_below(s.rng, total)
    place = 0
    while drawn >= unpacked(possible, place):
        drawn -= unpacked(possible, place)
        place += 1
    return place


@kernel
def _fits(left, room, voids, num_places):
    """Whether the cards can be dealt: for each set of suits, some places take as many cards (Hall's theorem)."""
    for suits in range(1, 1 << _NUM_SUITS):
        cards = 0
        for suit in range(_NUM_SUITS):
            if suits >> suit & 1:
                cards += unpacked(left, suit)
        takes = 0
        for place in range(num_places):
            if suits & ~unpacked(voids, place):
                takes += unpacked(room, place)
        if cards > takes:
            return False
    return True
