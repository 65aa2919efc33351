"""Worlds of Crazy Eights: hidden cards dealt again, as far as a player cannot know where they are (9)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import canonical_shuffle
from cardenvs.games.crazy_eights.knowledge import DEALT_MARK, MARKS, NUM_MARKS, num_hidden, num_marked
from cardenvs.games.crazy_eights.state import MAX_CARDS, NO_PLAYER, NUM_CARDS
from cardenvs.kits.deck import begin_world
from cardenvs.kits.shedding import add_card, add_place, fit_cards, new_places, shuffle_cards


@kernel
def determinize(s, player, seed):
    """Deal the cards that `player` does not see to the places where they may be."""
    begin_world(s, seed)
    if s.is_shown:
        canonical_shuffle(s, s.deck, MAX_CARDS - s.num_stock, MAX_CARDS)
        return
    places = new_places()
    places.number = places.num_slots = 0
    _list_cards(s, player, places)
    _list_slots(s, player, places)
    for k in range(places.num_slots):
        places.takes[k] = MARKS & ~places.barred[k]
    for k in range(places.num_slots, places.number):
        places.owner[k], places.takes[k], places.barred[k] = NO_PLAYER, s.stock_marks, 0
    shuffle_cards(s, places)
    if not s.is_plain or s.stock_marks != DEALT_MARK:
        fit_cards(s, places)
    _move_cards(s, player, places)


@kernel
def _list_cards(s, player, places):
    """List the cards that `player` does not see, with the marks that they may have."""
    for card in range(NUM_CARDS):
        hidden = num_hidden(s, card)
        own = (s.hands[player] >> card & 1) + (s.doubles[player] >> card & 1)
        for copy in range(hidden - own):
            is_either = own and hidden == 2  # which of two equal cards the player holds
            add_card(places, card, s.marks[0, card] | s.marks[1, card] if is_either else s.marks[copy, card])


@kernel
def _list_slots(s, player, places):
    """List the slots in the hands of the others."""
    if s.is_plain:
        for p in range(s.rules.num_players):
            if p != player:
                for k in range(NUM_MARKS):
                    mark = DEALT_MARK << k
                    for _ in range(num_marked(s, p, mark)):
                        add_place(places, p, MARKS & ~mark)
    else:
        for k in range(s.num_slots):
            if s.slot_owner[k] != player:
                add_place(places, np.int64(s.slot_owner[k]), s.slot_barred[k])


@kernel
def _move_cards(s, player, places):
    """Put the cards where they have been dealt."""
    for p in range(s.rules.num_players):
        if p != player:
            s.hands[p] = s.doubles[p] = 0
    place = MAX_CARDS - s.num_stock
    for k in range(places.number):
        if k < places.num_slots:
            bit = np.int64(1) << places.kinds[k]
            s.doubles[places.owner[k]] |= s.hands[places.owner[k]] & bit
            s.hands[places.owner[k]] |= bit
        else:
            s.deck[place] = places.kinds[k]
            place += 1
