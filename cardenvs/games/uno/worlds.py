"""Worlds of Uno: hidden cards dealt again, as far as a player cannot know where they are (9).

If events have proved nothing, all deals of the hidden cards are equally likely, and a shuffle deals them. Otherwise
cards go to slots that bar some kinds (see knowledge.py). A random deal is then repaired by random swaps until all cards
fit, and mixed by swaps that keep them so, each of which is as likely as its reverse.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.rng import canonical_shuffle, random_below
from cardenvs.core.scratch import stack_record
from cardenvs.games.uno import knowledge, state
from cardenvs.games.uno.cards import COLOUR_SETS, COPIES, DECK_SIZE, NUM_COLOURS, NUM_KINDS
from cardenvs.games.uno.knowledge import NOT_RECYCLED, ONLY_RECYCLED
from cardenvs.kits.deck import begin_world

_REPAIRS = 400  # tries for each card
_SWAPS = 12  # for each card
_WORLDS = 50  # tried, when a player is known to hold a card of some colour

# Hidden cards, and the places where they lie: first those in hands, then the card just drawn, then the draw pile
_PLACES = packed(
    [
        ("number", "i8"),
        ("num_slots", "i8"),  # places in hands
        ("cards", "i8", (DECK_SIZE,)),  # bit of the kind, perhaps with NOT_RECYCLED or ONLY_RECYCLED
        ("kinds", "i8", (DECK_SIZE,)),
        ("barred", "i8", (DECK_SIZE,)),  # bits of `cards` that a place bars
        ("owner", "i8", (DECK_SIZE,)),
    ]
)
_new_places = stack_record(_PLACES)


@kernel
def determinize(s, player, seed):
    """Deal the cards that `player` does not see to the places where they may be."""
    begin_world(s, seed)
    if s.is_shown:
        canonical_shuffle(s, s.deck, DECK_SIZE - s.num_stock, DECK_SIZE)
        _forget_others(s, player)
        return
    places = _new_places()
    places.number = places.num_slots = 0
    _list_cards(s, player, places)
    _list_slots(s, player, places)
    _deal(s, player, places)
    _move_cards(s, player, places)


# ---------------------------------------------------------------------------------------------------------------
# Cards and places


@kernel
def _list_cards(s, player, places):
    """List the cards that `player` does not see, ascending, so that nothing depends on where they really are."""
    n = s.rules.num_players
    for kind in range(NUM_KINDS):
        hidden = COPIES[kind] - s.discarded[kind] - s.hands[player, kind]
        if s.current_player == player and s.drawn == kind:
            hidden -= 1
        for p in range(n):
            hidden -= s.known[player, p, kind]
        recycled, others = _sure_origins(s, player, kind, hidden)
        for k in range(hidden):
            card = np.int64(1) << kind
            if k < recycled:
                card |= NOT_RECYCLED
            elif k < recycled + others:
                card |= ONLY_RECYCLED
            places.cards[places.number] = card
            places.kinds[places.number] = kind
            places.number += 1


@kernel
def _sure_origins(s, player, kind, hidden):
    """Return how many hidden cards of a kind must be recycled ones, and how many cannot be (9.4)."""
    recycled = np.int64(s.recycled[kind])
    if s.is_plain or (recycled == 0 and not s.is_rest_known):
        return np.int64(0), np.int64(0)
    most_others = COPIES[kind] - recycled - s.visible_then[player, kind]
    if s.is_rest_known and s.pile[0] == kind:
        most_others -= 1
    sure = min(recycled, max(np.int64(0), hidden - most_others))
    if not s.is_rest_known:
        return sure, np.int64(0)
    return sure, max(np.int64(0), hidden - (recycled - s.drawn_since[player, kind]))


@kernel
def _list_slots(s, player, places):
    """List the places: slots of other hands without those of known cards, a card just drawn, and the draw pile."""
    if s.is_plain:
        for p in range(s.rules.num_players):
            if p != player:
                for _ in range(s.hand_sizes[p]):
                    _add_place(places, p, np.int64(0))
    else:
        for k in range(s.num_slots):
            if s.slot_owner[k] != player:
                _add_place(places, np.int64(s.slot_owner[k]), np.int64(s.slot_barred[k]))
    for p in range(s.rules.num_players):
        if s.knowing[p] >> player & 1:
            for kind in range(NUM_KINDS):
                for _ in range(s.known[player, p, kind]):
                    places.num_slots = knowledge.vacate(places.owner, places.barred, places.num_slots, p, kind)
    for k in range(places.num_slots):
        if s.fresh[places.owner[k]] >> player & 1:
            places.barred[k] |= s.new_barred
    end = places.num_slots
    if s.drawn != state.NO_CARD and s.current_player != player:
        places.owner[end], places.barred[end] = state.NO_PLAYER, s.drawn_barred
        end += 1
    for k in range(end, places.number):
        places.owner[k], places.barred[k] = state.NO_PLAYER, s.new_barred


@kernel(inline=True)
def _add_place(places, owner, barred):
    places.owner[places.num_slots], places.barred[places.num_slots] = owner, barred
    places.num_slots += 1


# ---------------------------------------------------------------------------------------------------------------
# Dealing


@kernel
def _deal(s, player, places):
    """Shuffle the cards so that they fit their places, and so that the guilty hold what they are guilty of (9.3)."""
    for _ in range(_WORLDS):
        _shuffle_cards(s, places)
        if not s.is_plain:
            _repair(s, places)
            _mix(s, places)
        if _are_guilty(s, player, places):
            return


@kernel(inline=True)
def _shuffle_cards(s, places):
    for k in range(places.number - 1):
        _swap(places, k, k + random_below(s.rng, places.number - k))


@kernel(inline=True)
def _swap(places, i, j):
    places.cards[i], places.cards[j] = places.cards[j], places.cards[i]
    places.kinds[i], places.kinds[j] = places.kinds[j], places.kinds[i]


@kernel(inline=True)
def _misfits(places, i, j):
    """Return how many of the cards i and j do not fit where they lie."""
    number = np.int64(0)
    if places.cards[i] & places.barred[i]:
        number += 1
    if places.cards[j] & places.barred[j]:
        number += 1
    return number


@kernel
def _repair(s, places):
    """Swap cards that do not fit with random ones, unless fewer fit then."""
    i, tries = np.int64(0), np.int64(0)
    while i < places.number and tries < _REPAIRS * places.number:
        if not places.cards[i] & places.barred[i]:
            i += 1
            continue
        j = np.int64(random_below(s.rng, places.number))
        before = _misfits(places, i, j)
        _swap(places, i, j)
        if _misfits(places, i, j) > before:
            _swap(places, i, j)
        elif j < i and places.cards[j] & places.barred[j]:
            i = j
        tries += 1


@kernel
def _mix(s, places):
    """Swap random pairs of cards that fit where the other one lies."""
    for _ in range(_SWAPS * places.number):
        i, j = random_below(s.rng, places.number), random_below(s.rng, places.number)
        if not (places.cards[i] & places.barred[j] or places.cards[j] & places.barred[i]):
            _swap(places, i, j)


@kernel
def _are_guilty(s, player, places):
    """Return whether the other players hold a card of the colours of which they have shown to hold one."""
    for p in range(s.rules.num_players):
        if p == player or s.guilty[p] == 0:
            continue
        held = np.int64(0)
        for kind in range(NUM_KINDS):
            if s.known[player, p, kind]:
                held |= np.int64(1) << kind
        for k in range(places.num_slots):
            if places.owner[k] == p:
                held |= places.cards[k]
        for colour in range(NUM_COLOURS):
            if s.guilty[p] >> colour & 1 and not held & COLOUR_SETS[colour]:
                return False
    return True


@kernel
def _move_cards(s, player, places):
    """Put the cards where they have been dealt."""
    for p in range(s.rules.num_players):
        if p != player:
            s.held[p] = 0
            for kind in range(NUM_KINDS):
                s.hands[p, kind] = s.known[player, p, kind]
                if s.known[player, p, kind]:
                    s.held[p] |= np.int64(1) << kind
    for k in range(places.num_slots):
        s.hands[places.owner[k], places.kinds[k]] += 1
        s.held[places.owner[k]] |= np.int64(1) << places.kinds[k]
    k = np.int64(places.num_slots)
    if s.drawn != state.NO_CARD and s.current_player != player:
        s.drawn = places.kinds[k]
        k += 1
    for place in range(DECK_SIZE - s.num_stock, DECK_SIZE):
        s.deck[place] = places.kinds[k]
        k += 1
    _forget_others(s, player)


@kernel
def _forget_others(s, player):
    """Forget what others have seen in hidden places: it would show what lies there."""
    for p in range(s.rules.num_players):
        if p == player:
            continue
        s.fresh[p] &= 1 << player
        if s.knowing[p]:
            s.knowing[p] &= 1 << player
            for viewer in range(s.rules.num_players):
                if viewer != player:
                    for kind in range(NUM_KINDS):
                        s.known[viewer, p, kind] = 0
        for kind in range(NUM_KINDS):
            s.visible_then[p, kind] = 0
            s.drawn_since[p, kind] = 0
