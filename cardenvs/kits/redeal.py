"""Dealing what a player cannot know: worlds for `determinize`.

`redeal_hands` deals the hidden cards to the other hands and the stock; `redeal_unseen` is a whole `determinize`.
`deal_to_three` deals to three hands, each of which may not get some cards.

Players who do not follow suit show that they have none left, and worlds must respect this. `deal_to_places` deals the
hidden cards to *places*, such as a hand or the stock, each with room for some cards and with suits that it may not get
(`voids`). All deals that fit are equally likely:

* Places with the same voids form a group, which gets its cards together and splits them at random.
* Cards of one suit are alike. So for each group but the last two, draw its *share*, the number of its cards of each
  suit, in proportion to the number of deals with this share; then choose that many cards of each suit.
* That number is a sum over the shares of the next group, and so on. Each sum is found once for all numbers of cards
  that may be left of each suit, from the last group to the first. One binomial coefficient counts the deals of the last
  two groups. Groups with most voids come first, because they have the fewest shares.

The numbers of deals reach 5 * 10**28, too many for int64. As float64 they have relative errors below 10**-13, since
they are sums and products of positive numbers.
"""

import math
from typing import Any

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.rng import canonical_shuffle, random_below, random_unit, shuffle, substream_seed
from cardenvs.core.scratch import stack_record
from cardenvs.kits.cards import NUM_CARDS, count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD, begin_world, hidden_in_hands_and_deck

MAX_PLACES = 40
_NUM_SUITS = 4
_NUM_GROUPS = (1 << _NUM_SUITS) - 1  # at most, as nothing is dealt to a place without any suit
_RADIX = 14  # of what is left of a suit: 0 to 13 cards
_BY_NUMBER = np.array(sorted(range(1 << _NUM_SUITS), key=int.bit_count, reverse=True), np.int64)  # sets of suits
_CHOICES = np.array([[math.comb(n, k) for k in range(NUM_CARDS + 1)] for n in range(NUM_CARDS + 1)], np.float64)

# Begin with `new_places()` and `number` 0, then use `add_place`.
PLACES = packed(
    [
        ("number", "i8"),
        ("room", "i8", (MAX_PLACES,)),  # cards that a place takes
        ("voids", "i8", (MAX_PLACES,)),  # bit set of the suits that it may not get
        ("first", "i8", (MAX_PLACES,)),  # where its cards begin once they are dealt
        # Working space
        ("num_groups", "i8"),
        ("group_room", "i8", (_NUM_GROUPS,)),
        ("group_voids", "i8", (_NUM_GROUPS,)),
        ("left", "i8", (_NUM_SUITS,)),  # cards of each suit that are still to be dealt
        ("share", "i8", (_NUM_SUITS,)),  # cards of each suit that a group gets
        ("deals", "f8", (_NUM_GROUPS, _RADIX ** (_NUM_SUITS - 1))),  # from a group on, by what is left of suits 0 to 2
    ]
)
new_places = stack_record(PLACES)


@kernel(inline=True)
def list_cards(cards, deck, k):
    """Write the cards of a bit set to `deck` from index k on, ascending; return the index after them."""
    while cards:
        deck[k] = lowest_card(cards)
        cards &= cards - 1
        k += 1
    return k


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
    list_cards(hidden, s.deck, k)
    canonical_shuffle(s, s.deck, k, end)
    for p in range(s.rules.num_players):
        if p == player:
            continue
        number = count_bits(s.hands[p] & hidden)
        s.hands[p] &= ~hidden
        for _ in range(number):
            s.hands[p] |= np.int64(1) << s.deck[k]
            s.deck[k] = NO_CARD
            k += 1


@kernel
def redeal_unseen(s, player, seed):
    """Re-deal the other hands and the stock: `determinize` of games in which a player sees everything else."""
    begin_world(s, seed)
    redeal_hands(s, player, hidden_in_hands_and_deck(s, player), s.deck.shape[0])


def likelier_worlds(determinize: Any, plausibility: Any, source: int) -> Any:
    """Return a kernel sample(s, player, seed, tries) that prefers worlds which agree with what players have done.

    It draws some worlds of `determinize` and keeps one, each as likely as it is plausible; without tries, the first.

    Args:
        determinize: the game's kernel.
        plausibility: plausibility(s, player), how well a world agrees, from 0.
        source: the chance source of the worlds' seeds.
    """

    @kernel
    def sample(s, player, seed, tries):
        total, chosen = 0.0, np.int64(seed)
        for k in range(tries):
            trial = np.int64(substream_seed(seed, source, k) >> np.uint64(1))
            determinize(s, player, trial)
            weight = plausibility(s, player)
            total += weight
            if random_unit(s.rng) * total < weight:
                chosen = trial
        determinize(s, player, chosen)

    return sample


# ---------------------------------------------------------------------------------------------------------------
# Places that may not get some suits


@kernel(inline=True)
def add_place(places, room, voids):
    """Add a place that takes `room` cards, but none of the suits in the bit set `voids`."""
    places.room[places.number], places.voids[places.number] = room, voids
    places.number += 1


@kernel(inline=True)
def cards_at(places, place, deck):
    """Return the cards dealt to a place, as a bit set."""
    cards = np.int64(0)
    for k in range(places.first[place], places.first[place] + places.room[place]):
        cards |= np.int64(1) << deck[k]
    return cards


@kernel
def deal_to_places(s, places, suits, deck, start, stop):
    """Deal deck[start:stop] to places, so that all deals that respect their voids are equally likely.

    Then deck[first:first + room] are the cards of a place, in random order. Places without voids come last, in the
    order in which they were added. The result does not depend on the order of the cards before.

    Args:
        s: record; its `rng` is advanced.
        places: a PLACES; its `first` is written. Its rooms add up to stop - start.
        suits: int64 (4,), bit sets of at most 13 cards each, as `cards.SUIT_SETS`.
        deck: integer array of cards, rearranged in place.
        start, stop: which of these are dealt. They must fit.
    """
    canonical_shuffle(s, deck, start, stop)
    _prepare(places, suits, deck, start, stop)
    last = places.num_groups - 1
    first = start
    for group in range(last + 1):
        end = first + places.group_room[group]
        if group < last - 1:
            _draw_share(s, places, group)
            _take_share(places, suits, deck, first, end)
        elif group < last:
            shuffle(s, deck, first, stop)
            _split_rest(places, suits, deck, first, end, stop)
        if last > 0:
            shuffle(s, deck, first, end)
        for place in range(places.number):
            if places.voids[place] == places.group_voids[group]:
                places.first[place] = first
                first += places.room[place]


@kernel
def number_of_deals(places, suits, deck, start, stop):
    """Return in how many ways `deal_to_places` could deal, as a float; the arguments are the same."""
    _prepare(places, suits, deck, start, stop)
    number = _deals_to_groups(places)
    for group in range(places.num_groups):
        room = places.group_room[group]
        for place in range(places.number):
            if places.voids[place] == places.group_voids[group]:
                number *= _CHOICES[room, places.room[place]]
                room -= places.room[place]
    return number


@kernel
def _prepare(places, suits, deck, start, stop):
    """Form the groups, and store the numbers of deals from all groups on but the first and the last two."""
    _form_groups(places, suits, deck, start, stop)
    for group in range(places.num_groups - 3, 0, -1):
        _count_deals(places, group)


@kernel
def _form_groups(places, suits, deck, start, stop):
    """Count the cards of each suit, and join places with the same voids into groups, those with most voids first."""
    for suit in range(_NUM_SUITS):
        places.left[suit] = 0
    for k in range(start, stop):
        places.left[_suit_of(suits, deck[k])] += 1
    present = np.int64(0)
    for suit in range(_NUM_SUITS):
        present |= np.int64(places.left[suit] > 0) << suit
    for place in range(places.number):
        places.voids[place] &= present
        places.first[place] = start
    places.num_groups = 0
    for voids in _BY_NUMBER:
        room = np.int64(0)
        for place in range(places.number):
            if places.voids[place] == voids:
                room += places.room[place]
        if room:
            places.group_room[places.num_groups], places.group_voids[places.num_groups] = room, voids
            places.num_groups += 1


@kernel(inline=True)
def _suit_of(suits, card):
    """Return the suit of a card."""
    suit = 0
    while not suits[suit] >> card & 1:
        suit += 1
    return suit


@kernel(inline=True)
def _draw_share(s, places, group):
    """Draw how many cards of each suit a group gets, in proportion to the number of deals."""
    drawn = random_unit(s.rng) * _sum_of_shares(places, group)
    _first_share(places, group)
    passed = _deals_with_share(places, group)
    while drawn >= passed and _next_share(places, group):
        passed += _deals_with_share(places, group)


@kernel(inline=True)
def _take_share(places, suits, deck, first, end):
    """Move the cards of a share to deck[first:end]. Which ones of a suit is random, because all have been shuffled."""
    for suit in range(_NUM_SUITS):
        places.left[suit] -= places.share[suit]
    j = first
    while first < end:
        suit = _suit_of(suits, deck[j])
        if places.share[suit]:
            places.share[suit] -= 1
            deck[j], deck[first] = deck[first], deck[j]
            first += 1
        j += 1


@kernel(inline=True)
def _split_rest(places, suits, deck, first, end, stop):
    """Move cards that the last group may not get to deck[first:end], and as many of the others as it needs."""
    group = places.num_groups - 2
    forced, _ = _forced_and_free(places, group)
    free = end - first - forced
    for j in range(first, stop):
        suit = _suit_of(suits, deck[j])
        is_forced = places.group_voids[group + 1] >> suit & 1
        if is_forced or (free > 0 and not places.group_voids[group] >> suit & 1):
            free -= 0 if is_forced else 1
            deck[j], deck[first] = deck[first], deck[j]
            first += 1


# ---------------------------------------------------------------------------------------------------------------
# The number of deals


@kernel
def _deals_to_groups(places):
    """Return the number of deals of all cards to the groups."""
    if places.num_groups > 2:
        return _sum_of_shares(places, 0)
    if places.num_groups == 2:
        forced, free = _forced_and_free(places, 0)
        chosen = places.group_room[0] - forced
        return _CHOICES[free, chosen] if chosen >= 0 else 0.0
    return 1.0 if places.num_groups == 0 or places.group_voids[0] == 0 else 0.0


@kernel
def _count_deals(places, group):
    """Store the number of deals from a group on, for all numbers of cards that may be left of each suit by then."""
    left = places.left
    a_most, b_most, c_most, d_most = left[0], left[1], left[2], left[3]
    total = a_most + b_most + c_most + d_most
    for before in range(group):
        total -= places.group_room[before]
    a_least, b_least = _least_left(places, group, 0), _least_left(places, group, 1)
    c_least, d_least = _least_left(places, group, 2), _least_left(places, group, 3)
    for a in range(a_least, a_most + 1):
        for b in range(b_least, b_most + 1):
            for c in range(c_least, c_most + 1):
                d = total - a - b - c
                if d_least <= d <= d_most:
                    left[0], left[1], left[2], left[3] = a, b, c, d
                    places.deals[group, _index(places)] = _sum_of_shares(places, group)
    left[0], left[1], left[2], left[3] = a_most, b_most, c_most, d_most


@kernel(inline=True)
def _least_left(places, group, suit):
    """Return how many cards of a suit are left for a group if those before it get as many as they can."""
    number = places.left[suit]
    for before in range(group):
        if not places.group_voids[before] >> suit & 1:
            number -= places.group_room[before]
    return max(number, 0)


@kernel(inline=True)
def _index(places):
    """Return the place in `deals` of what is left; the number of the last suit follows from the others."""
    return (places.left[0] * _RADIX + places.left[1]) * _RADIX + places.left[2]


@kernel
def _sum_of_shares(places, group):
    """Return the number of deals of what is left to a group and those after it."""
    if not _first_share(places, group):
        return 0.0
    total = _deals_with_share(places, group)
    while _next_share(places, group):
        total += _deals_with_share(places, group)
    return total


@kernel
def _deals_with_share(places, group):
    """Return the number of these deals in which the group gets the current share."""
    number = 1.0
    for suit in range(_NUM_SUITS):
        number *= _CHOICES[places.left[suit], places.share[suit]]
        places.left[suit] -= places.share[suit]
    if group == places.num_groups - 3:
        forced, free = _forced_and_free(places, group + 1)
        chosen = places.group_room[group + 1] - forced
        number *= _CHOICES[free, chosen] if chosen >= 0 else 0.0
    else:
        number *= places.deals[group + 1, _index(places)]
    for suit in range(_NUM_SUITS):
        places.left[suit] += places.share[suit]
    return number


@kernel(inline=True)
def _forced_and_free(places, group):
    """Return how many cards the last group but one must get, and how many either of the last two may get.

    If neither may get some card, it must get more than there are.
    """
    forced, free = np.int64(0), np.int64(0)
    for suit in range(_NUM_SUITS):
        is_barred, is_barred_next = places.group_voids[group] >> suit & 1, places.group_voids[group + 1] >> suit & 1
        if is_barred and is_barred_next:
            forced += NUM_CARDS if places.left[suit] else 0
        elif is_barred_next:
            forced += places.left[suit]
        elif not is_barred:
            free += places.left[suit]
    return forced, free


@kernel
def _first_share(places, group):
    """Begin with as many cards as possible of the first suits. Return False if there are too few for the group."""
    return _fill_share(places, group, 0, places.group_room[group]) == 0


@kernel(inline=True)
def _fill_share(places, group, suit, number):
    """Share `number` cards among a suit and those after it, the first ones first. Return how many do not fit."""
    for k in range(suit, _NUM_SUITS):
        places.share[k] = min(number, _most_of(places, group, k))
        number -= places.share[k]
    return number


@kernel(inline=True)
def _most_of(places, group, suit):
    """Return how many cards of a suit a group may get."""
    return np.int64(0) if places.group_voids[group] >> suit & 1 else places.left[suit]


@kernel
def _next_share(places, group):
    """Move to the next share: one card less of a suit, as late as possible. Return False after the last share."""
    after, room = np.int64(0), np.int64(0)  # cards of later suits in the share, and how many there may be
    for suit in range(_NUM_SUITS - 1, -1, -1):
        if places.share[suit] and after < room:
            places.share[suit] -= 1
            _fill_share(places, group, suit + 1, after + 1)
            return True
        after += places.share[suit]
        room += _most_of(places, group, suit)
    return False


# ---------------------------------------------------------------------------------------------------------------
# Three hands that may not get some cards

# Begin with `new_three_hands()` and set room and barred of each; the room of a hand that is not there is 0.
THREE_HANDS = packed(
    [
        ("room", "i8", (3,)),  # cards that a hand takes
        ("barred", "i8", (3,)),  # bit set of the cards that it may not get
        ("cards", "i8", (3,)),  # bit set of the cards that it was dealt
    ]
)
new_three_hands = stack_record(THREE_HANDS)


@kernel
def deal_to_three(s, hands, cards):
    """Deal some cards to three hands, so that all deals in which no hand gets a card barred from it are equally likely.

    Cards that may go to the same hands are alike. Two of the three classes of cards that may go to hand 0 and to
    another one determine how many of the rest it gets; so draw these two numbers, in proportion to the number of deals.
    Then deal hand 0, and then hand 1, which leaves what hand 2 gets.

    Args:
        s: record; its `rng` is advanced.
        hands: a THREE_HANDS; its `cards` are written. Some deal must fit.
        cards: bit set of the cards, as many as there is room for.
    """
    zero, one, two = cards & ~hands.barred[0], cards & ~hands.barred[1], cards & ~hands.barred[2]
    not_two, not_one, anywhere = zero & one & ~two, zero & ~one & two, zero & one & two
    only_zero, only_one = zero & ~one & ~two, ~zero & one & ~two
    room_zero = hands.room[0] - count_bits(only_zero)
    room_one = hands.room[1] - count_bits(only_one | not_two)  # and as many more as hand 0 takes of `not_two`
    open_to_one = count_bits(one & two)  # less what hand 0 takes of `anywhere`
    num_not_two, num_not_one, num_anywhere = count_bits(not_two), count_bits(not_one), count_bits(anywhere)
    total, from_not_two, from_not_one = 0.0, np.int64(0), np.int64(0)
    for a in range(min(num_not_two, room_zero) + 1):
        for b in range(max(room_zero - a - num_anywhere, 0), min(num_not_one, room_zero - a) + 1):
            rest, more = room_zero - a - b, room_one + a
            if more < 0:
                continue
            deals = _CHOICES[num_not_two, a] * _CHOICES[num_not_one, b] * _CHOICES[num_anywhere, rest]
            deals *= _CHOICES[open_to_one - rest, more]
            total += deals
            if random_unit(s.rng) * total < deals:
                from_not_two, from_not_one = a, b
    rest = room_zero - from_not_two - from_not_one
    hands.cards[0] = only_zero | draw_cards(s, not_two, from_not_two) | draw_cards(s, not_one, from_not_one)
    hands.cards[0] |= draw_cards(s, anywhere, rest)
    left = cards & ~hands.cards[0]
    hands.cards[1] = (only_one | not_two) & left
    hands.cards[1] |= draw_cards(s, one & two & left, hands.room[1] - count_bits(hands.cards[1]))
    hands.cards[2] = left & ~hands.cards[1]


@kernel
def draw_cards(s, cards, number):
    """Return `number` random cards of a bit set."""
    drawn, left = np.int64(0), count_bits(cards)
    while number > 0:
        card = cards & -cards
        cards ^= card
        if random_below(s.rng, left) < number:
            drawn |= card
            number -= 1
        left -= 1
    return drawn
