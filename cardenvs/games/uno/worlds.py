"""Worlds of Uno: hidden cards dealt again, as far as a player cannot know where they are (9).

If events have proved nothing, all deals of the hidden cards are equally likely, and a shuffle deals them. Otherwise
cards go to slots that bar some kinds (see knowledge.py and kits/shedding.py).
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import canonical_shuffle
from cardenvs.games.uno import state
from cardenvs.games.uno.cards import COLOUR_SETS, DECK_SIZE, NUM_COLOURS, NUM_KINDS
from cardenvs.games.uno.places import AS_DRAWN, DRAWN, IN_PILE, PILE, conclude, forget, num_hidden, places_of
from cardenvs.games.uno.state import MAX_PLAYERS
from cardenvs.kits.deck import begin_world
from cardenvs.kits.shedding import NO_MARKS, add_card, add_place, fit_cards, new_places, shuffle_cards, vacate

_WORLDS = 50  # tried, when a player is known to hold a card of some colour

# Owners of places that are no hands: the card just drawn, and the draw pile, which comes last
ANYWHERE = (1 << MAX_PLAYERS) - 1 | IN_PILE | AS_DRAWN


@kernel
def determinize(s, player, seed):
    """Deal the cards that `player` does not see to the places where they may be."""
    begin_world(s, seed)
    if s.is_shown:
        canonical_shuffle(s, s.deck, DECK_SIZE - s.num_stock, DECK_SIZE)
        _forget_others(s, player)
        return
    places = new_places()
    places.number = places.num_slots = 0
    if s.is_tracked:
        conclude(s, player, True)
    _list_cards(s, player, places)
    _list_slots(s, player, places)
    _deal(s, player, places)
    _move_cards(s, player, places)


# ---------------------------------------------------------------------------------------------------------------
# Cards and places


@kernel
def _list_cards(s, player, places):
    """List the cards that `player` cannot place, ascending, so that nothing depends on where they really are."""
    for kind in range(NUM_KINDS):
        if s.is_tracked:
            for _ in range(s.sure[kind, player, PILE]):
                add_card(places, kind, IN_PILE)
            for _ in range(s.sure[kind, player, DRAWN]):
                add_card(places, kind, AS_DRAWN)
        for _ in range(num_hidden(s, player, kind)):
            add_card(places, kind, places_of(s, player, kind) if s.is_tracked else ANYWHERE)


@kernel
def _list_slots(s, player, places):
    """List the places: slots of other hands without those of cards that are there for sure, and all others."""
    n = s.rules.num_players
    if s.is_plain:
        for p in range(n):
            if p != player:
                for _ in range(s.hand_sizes[p]):
                    add_place(places, p, np.int64(0))
    else:
        for k in range(s.num_slots):
            if s.slot_owner[k] != player:
                add_place(places, np.int64(s.slot_owner[k]), np.int64(s.slot_barred[k]))
    for p in range(n):
        if p != player and (s.is_tracked or s.knowing[p] >> player & 1):
            for kind in range(NUM_KINDS):
                for _ in range(_num_placed(s, player, p, kind)):
                    places.num_slots = vacate(places.owner, places.barred, places.num_slots, p, kind, NO_MARKS)
    end = places.num_slots
    if s.drawn != state.NO_CARD and s.current_player != player:
        places.owner[end], places.barred[end] = DRAWN, s.drawn_barred
        end += 1
    for k in range(end, places.number):
        places.owner[k], places.barred[k] = PILE, 0
    for k in range(places.number):
        places.takes[k] = 1 << places.owner[k]


@kernel(inline=True)
def _num_placed(s, player, p, kind):
    """Return how many cards of a kind `player` knows to be in the hand of `p`."""
    return np.int64(s.sure[kind, player, p]) if s.is_tracked else np.int64(s.known[p, player, kind])


# ---------------------------------------------------------------------------------------------------------------
# Dealing


@kernel
def _deal(s, player, places):
    """Shuffle the cards so that they fit their places, and so that the guilty hold what they are guilty of (9.3)."""
    for _ in range(_WORLDS):
        shuffle_cards(s, places)
        if not s.is_plain or s.is_tracked:
            fit_cards(s, places)
        if _are_guilty(s, player, places):
            return


@kernel
def _are_guilty(s, player, places):
    """Return whether the other players hold a card of the colours of which they have shown to hold one."""
    for p in range(s.rules.num_players):
        if p == player or s.guilty[p] == 0:
            continue
        held = np.int64(0)
        for kind in range(NUM_KINDS):
            if _num_placed(s, player, p, kind):
                held |= np.int64(1) << kind
        for k in range(places.num_slots):
            if places.owner[k] == p:
                held |= np.int64(1) << places.kinds[k]
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
                s.hands[p, kind] = _num_placed(s, player, p, kind)
                if s.hands[p, kind]:
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
        if s.knowing[p]:
            s.knowing[p] &= 1 << player
            for viewer in range(s.rules.num_players):
                if viewer != player:
                    for kind in range(NUM_KINDS):
                        s.known[p, viewer, kind] = 0
    if s.is_tracked:
        for p in range(s.rules.num_players):
            if p != player:
                forget(s, p)
