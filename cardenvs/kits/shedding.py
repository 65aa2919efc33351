"""Shedding games: matching the last card, drawing from a stock that is made of the discards again, going out.

`next_player` says whose turn it is. `take_top`, `lay_on_pile` and `shuffle_stock` move cards of the fields in
`stock_fields`.

What events prove about the kinds of hidden cards is kept in *slots*, one for each card in a hand, with a bit set of the
kinds that it cannot be. Slots are in the order in which their cards came. Nobody sees which slot a card leaves. What
then is certain of the slots left is what holds wherever it came from (`vacate`). Most hands prove nothing, and then no
slots are kept (`s.is_plain`).

Worlds deal hidden cards to *places*, slots of hands among them, of which each takes some kinds only. `shuffle_cards`
deals them at random. `fit_cards` then repairs the deal by random swaps until all cards fit, and mixes it by swaps that
keep it so, each of which is as likely as its reverse.
"""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.rng import random_below, shuffle, start_stream
from cardenvs.core.scratch import stack_record
from cardenvs.core.seats import wrap

NO_CARD = -1
MAX_CARDS = 112
NO_MARKS = np.int64(-1)  # of games whose slots bar kinds only

_REPAIRS = 400  # tries for each card
_SWAPS = 12  # for each card


def stock_fields(num_cards):
    """Return the fields of stock and discards, for `record`."""
    return [
        ("deck", "i1", (num_cards,)),  # NO_CARD, then num_stock cards of the stock, top first    seen by: nobody
        ("num_stock", "i1"),  #                                                                   seen by: all
        ("pile", "i1", (num_cards,)),  # the discards, bottom first; NO_CARD above                seen by: all
        ("num_pile", "i1"),  #                                                                    seen by: all
        ("num_shuffles", "i4"),  # of the stock, after the deals                                  seen by: all
        ("direction", "i1"),  # 1 to the left, -1 to the right                                    seen by: all
    ]


def slot_fields(num_cards):
    """Return the fields of what events prove, which all see, for `record`."""
    return [
        ("is_plain", "u1"),  # 1: nothing; slots are then not kept
        ("num_slots", "i1"),
        ("slot_owner", "i1", (num_cards,)),
        ("slot_barred", "i8", (num_cards,)),
    ]


# ---------------------------------------------------------------------------------------------------------------
# Turns and cards


@kernel(inline=True)
def next_player(s, player):
    """Return the player after `player` in the direction of play."""
    n = s.rules.num_players
    return wrap(player + s.direction + n, n) if s.direction < 0 else wrap(player + 1, n)


@kernel(inline=True)
def next_of_stock(s):
    """Return the top card of the stock, which has one."""
    return np.int64(s.deck[s.deck.shape[0] - s.num_stock])


@kernel(inline=True)
def take_top(s):
    """Take the top card off the stock and return it."""
    place = s.deck.shape[0] - s.num_stock
    kind = np.int64(s.deck[place])
    s.deck[place] = NO_CARD
    s.num_stock -= 1
    return kind


@kernel(inline=True)
def lay_on_pile(s, kind):
    """Lay a card on the discards."""
    s.pile[s.num_pile] = kind
    s.num_pile += 1


@kernel(inline=True)
def put_under_stock(s, kind):
    """Add a card to the stock, which is to be shuffled next."""
    s.num_stock += 1
    s.deck[s.deck.shape[0] - s.num_stock] = kind


@kernel(inline=True)
def clear_pile(s):
    """Empty the discards."""
    s.pile[:] = NO_CARD
    s.num_pile = 0


@kernel
def shuffle_stock(s, source, event, stock, log):
    """Shuffle the stock.

    Args:
        s: the record.
        source: chance source of the game's shuffles.
        event: kind of the event, a SHUFFLE.
        stock: the pile.
        log: for events.
    """
    start_stream(s, source, s.num_shuffles)
    s.num_shuffles += 1
    shuffle(s, s.deck, s.deck.shape[0] - s.num_stock, s.deck.shape[0])
    ev.log_shuffle(log, event, stock)


def stock_of(s):
    """Return the cards of the stock, the next one first."""
    return s.deck[s.deck.shape[0] - int(s.num_stock) :]


def pile_of(s):
    """Return the discards, the last one last."""
    return s.pile[: int(s.num_pile)]


# ---------------------------------------------------------------------------------------------------------------
# What events prove about hands


@kernel(inline=True)
def forget_slots(s):
    """Begin a hand, in which nothing is known."""
    s.is_plain = 1
    s.num_slots = 0


@kernel
def keep_slots(s, barred):
    """Begin to keep slots, of which each bars `barred`, unless they are kept already."""
    if s.is_plain:
        s.is_plain = 0
        for p in range(s.rules.num_players):
            for _ in range(s.hand_sizes[p]):
                add_slot(s, p, barred)


@kernel
def add_slot(s, player, barred):
    """Note that `player` takes a card which the others do not see, of no kind in `barred`; slots are kept."""
    s.slot_owner[s.num_slots] = player
    s.slot_barred[s.num_slots] = barred
    s.num_slots += 1


@kernel
def bar_from_slots(s, player, kinds):
    """Note that no card in the hand of `player` is one of these kinds, a bit set; slots are kept."""
    for k in range(s.num_slots):
        if s.slot_owner[k] == player:
            s.slot_barred[k] |= kinds


@kernel
def vacate(owners, barred, number, player, kind, marks):
    """Remove a slot of `player` from which a card may have come, and return how many slots are left.

    Of those from which it may have come, each passes what it bars to the next one, which keeps what both bar: whichever
    slot the card has left, the others hold cards that fit. If the bars of later slots are among those of earlier ones,
    nothing is lost.

    Args:
        owners, barred: of the slots, rearranged in place.
        number: of slots.
        player: who has played the card.
        kind: of the card.
        marks: a bit set of which a slot that the card may leave does not bar everything, for games that bar more than
            kinds; else NO_MARKS.
    """
    last = -1
    for k in range(number):
        # One test instead of three, as most branches would be guessed wrong.
        if np.int64(owners[k] == player) & ~(barred[k] >> kind) & np.int64(marks & ~barred[k] != 0):
            if last >= 0:
                barred[last] &= barred[k]
            last = k
    if last < 0:
        return number
    for k in range(last, number - 1):
        owners[k] = owners[k + 1]
        barred[k] = barred[k + 1]
    return number - 1


# ---------------------------------------------------------------------------------------------------------------
# Worlds

# Hidden cards, and the places where they lie. Begin with `new_places()`, `number` and `num_slots` 0.
PLACES = packed(
    [
        ("number", "i8"),  # of the cards
        ("num_slots", "i8"),  # of the places, first those in hands
        ("kinds", "i8", (MAX_CARDS,)),  # of the cards
        ("may", "i8", (MAX_CARDS,)),  # a card may go to a place if these bit sets
        ("takes", "i8", (MAX_CARDS,)),  # have a common element
        ("owner", "i8", (MAX_CARDS,)),  # of the places: a player, or what the game says
        ("barred", "i8", (MAX_CARDS,)),  # bit sets of the kinds that places bar
    ]
)
new_places = stack_record(PLACES)


@kernel(inline=True)
def add_card(places, kind, may):
    """Add a hidden card. Add cards ascending, so that nothing depends on where they really are."""
    places.kinds[places.number], places.may[places.number] = kind, may
    places.number += 1


@kernel(inline=True)
def add_place(places, owner, barred):
    """Add a place that bars some kinds; what it takes is still to be said."""
    places.owner[places.num_slots], places.barred[places.num_slots] = owner, barred
    places.num_slots += 1


@kernel(inline=True)
def shuffle_cards(s, places):
    """Deal the cards at random; place k gets card k."""
    for k in range(places.number - 1):
        _swap(places, k, k + random_below(s.rng, places.number - k))


@kernel(inline=True)
def _swap(places, i, j):
    places.may[i], places.may[j] = places.may[j], places.may[i]
    places.kinds[i], places.kinds[j] = places.kinds[j], places.kinds[i]


@kernel(inline=True)
def _fits(places, card, place):
    """Return whether a card may lie in a place."""
    return np.int64((places.may[card] & places.takes[place]) != 0) & ~(places.barred[place] >> places.kinds[card])


@kernel
def fit_cards(s, places):
    """Swap cards until all fit their places, then mix them."""
    _repair(s, places)
    _mix(s, places)


@kernel
def _repair(s, places):
    """Swap cards that do not fit with random ones, unless fewer fit then."""
    i, tries = np.int64(0), np.int64(0)
    while i < places.number and tries < _REPAIRS * places.number:
        if _fits(places, i, i):
            i += 1
            continue
        j = np.int64(random_below(s.rng, places.number))
        if _fits(places, i, j) + _fits(places, j, i) >= _fits(places, j, j):
            _swap(places, i, j)
            if j < i and not _fits(places, j, j):
                i = j
        tries += 1


@kernel
def _mix(s, places):
    """Swap random pairs of cards that fit where the other one lies."""
    for _ in range(_SWAPS * places.number):
        i, j = random_below(s.rng, places.number), random_below(s.rng, places.number)
        if _fits(places, i, j) & _fits(places, j, i):
            _swap(places, i, j)
