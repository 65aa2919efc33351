"""Sampling of possible worlds: re-deals what a player cannot know (rules.md 14).

What the player has seen restricts where a hidden card can be:

- A card that the player saw go into a hand is in that hand, or among the cards tucked from it since.
- The same is true for a *piece*, a card drawn unseen into that hand. Any unseen card may be a piece.
- A card that the player saw on the discard pile before a reshuffle is in that batch of the deck, or was drawn or tucked
  from it.

Known cards and pieces are placed first, the latest arrivals in a hand before the earlier ones, each in a random free
place. An earlier card can be in every place where a later one can, so the number of choices does not depend on
previous ones, and all placements are equally likely. Unseen cards are then dealt to pieces and decks in the same
way, one batch after the other.

The algorithm uses only what is known about the cards and their numbers, never the true place of a hidden card.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import random_below, shuffle
from cardenvs.games.wingspan import state
from cardenvs.games.wingspan.cards import BIRDS_DEALT, BONUSES_DEALT, NUM_BIRDS, NUM_BONUSES, NUM_FOODS
from cardenvs.games.wingspan.memory import batch_known_to, current_batch
from cardenvs.games.wingspan.stack import END_SETUP, KEEP_BONUS, NO_SLOT, SETUP_BIRDS, pop, push
from cardenvs.kits.cards import lowest_card
from cardenvs.kits.deck import begin_world

_NOWHERE = 255  # an entry of s.place or s.bonus_place: not re-dealt yet
_OWNER = (1 << state.PIECE_OWNER_BITS) - 1
# What s.tally counts for each player and batch: hidden birds in the hand, tucked from it, and discarded face down;
# bonus cards in the hand that are not on offer, those on offer, and those discarded.
_HELD, _TUCKED, _DISCARDED = range(3)
_OFFERED = _TUCKED
# A free place, an entry of s.slots: an entry of s.place or s.bonus_place, and above it the bits of who knows the card.
_KNOWN_SHIFT = 5
_PLACE = (1 << _KNOWN_SHIFT) - 1
_OFFER = 1 << _KNOWN_SHIFT + state.MAX_PLAYERS
_BATCH_SHIFT = _KNOWN_SHIFT + state.MAX_PLAYERS + 1


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` cannot know: other hands, face-down cards, decks, and the others' secret choices."""
    begin_world(s, seed)
    _redeal_birds(s, player)
    _redeal_bonuses(s, player)
    if s.round_number < 0:
        _redo_setup(s, player)


# ---------------------------------------------------------------------------------------------------------------
# Birds


@kernel
def _redeal_birds(s, player):
    _pick_up_birds(s, player)
    for p in range(s.rules.num_players):
        if p != player:
            _place_hand(s, p, player)
    number = np.int64(0)  # of free places, without those of older batches
    for batch in range(state.LAST_BATCH, -1, -1):
        first = number
        number = _list_places(s, batch, number)
        shuffle(s, s.slots, first, number)
        for bird in range(NUM_BIRDS):
            is_of_batch = batch > 0 and s.batch[bird] & state.LAST_BATCH == batch
            if is_of_batch and s.place[bird] == _NOWHERE and number > 0:
                number = _put_bird(s, bird, number)
    shuffle(s, s.slots, 0, number)
    for bird in range(NUM_BIRDS):
        if s.place[bird] == _NOWHERE:
            number = _put_bird(s, bird, number)
    _stack_deck(s)


@kernel
def _pick_up_birds(s, player):
    """Pick up the hidden birds. Those seen going into a hand stay with its owner; hidden discards are counted.

    What only other players remember of the deck is erased, as it would reveal where cards are.
    """
    for bird in range(NUM_BIRDS):
        if batch_known_to(np.int64(s.batch[bird]), player) == 0:
            s.batch[bird] = 0
        place, known = np.int64(s.place[bird]), np.int64(s.known[bird])
        if known >> player & 1:
            continue
        if state.IN_HAND <= place < state.ON_MAT:
            s.hands[place - state.IN_HAND, bird // state.WORD_BITS] &= ~(1 << bird % state.WORD_BITS)
        elif place == state.IN_DISCARDS:
            s.tally[lowest_card(known), _DISCARDED, 0] += 1
        if s.taken[bird] == 0:
            s.place[bird] = _NOWHERE
        elif place >= state.IN_TUCKED:
            s.place[bird] = place - state.IN_TUCKED + state.IN_HAND


@kernel
def _place_hand(s, owner, player):
    """Choose which of the cards that came into a hand were tucked, starting with those that came after most tucks.

    Pieces are counted in s.tally, and the tucks chosen are marked in s.slots.
    """
    tucks = np.int64(s.num_tucks[owner])
    room = -tucks  # places in the hand
    for bird in range(NUM_BIRDS):
        room += _may_be_held(s, bird, owner, player)
    for k in range(s.num_pieces):
        room += np.int64(s.pieces[k] & _OWNER == owner)
    for came in range(tucks, -1, -1):
        for bird in range(NUM_BIRDS):
            if s.taken[bird] == 1 + came and _may_be_held(s, bird, owner, player):
                if _is_tucked(s, tucks, came, room):
                    s.place[bird] = state.IN_TUCKED + owner
                else:
                    s.hands[owner, bird // state.WORD_BITS] |= 1 << bird % state.WORD_BITS
                    room -= 1
        for k in range(s.num_pieces):
            piece = np.int64(s.pieces[k])
            if piece & _OWNER == owner and piece >> state.PIECE_KIND_BITS == came:
                is_tucked = _is_tucked(s, tucks, came, room)
                room -= 1 - is_tucked
                s.tally[owner, _TUCKED if is_tucked else _HELD, piece >> state.PIECE_OWNER_BITS & state.LAST_BATCH] += 1
    for k in range(tucks):
        s.slots[k] = 0


@kernel
def _may_be_held(s, bird, owner, player):
    """Return 1 if `player` saw a bird go into a hand and does not know whether it is still there, else 0."""
    return np.int64(s.place[bird] == state.IN_HAND + owner and s.taken[bird] > 0 and not s.known[bird] >> player & 1)


@kernel
def _is_tucked(s, tucks, came, room):
    """Choose a free place for a card that came after `came` tucks; returns 1 for a tuck, 0 for the hand."""
    later = np.int64(0)
    for k in range(came, tucks):
        later += 1 - s.slots[k]
    choice = random_below(s.rng, room + later)
    if choice < room:
        return np.int64(0)
    choice -= room
    for k in range(came, tucks):
        if s.slots[k] == 0:
            if choice == 0:
                s.slots[k] = 1
                return np.int64(1)
            choice -= 1
    return np.int64(1)


@kernel
def _list_places(s, batch, number):
    """Append the free places for cards of a batch of the deck to s.slots at `number`; returns the new length."""
    if batch == current_batch(s):
        number = _add_places(s, number, s.num_deck, state.IN_DECK, 0)
    for p in range(s.rules.num_players):
        own = 1 << p + _KNOWN_SHIFT
        number = _add_places(s, number, s.tally[p, _HELD, batch], state.IN_HAND + p, own)
        number = _add_places(s, number, s.tally[p, _TUCKED, batch], state.IN_TUCKED + p, own)
        number = _add_places(s, number, s.tucked_unseen[p, batch], state.IN_TUCKED + p, 0)
        number = _add_places(s, number, s.tally[p, _DISCARDED, batch], state.IN_DISCARDS, own)
        for what in range(3):
            s.tally[p, what, batch] = 0
    return number


@kernel
def _add_places(s, number, count, place, known):
    for _ in range(count):
        s.slots[number] = place | known
        number += 1
    return number


@kernel
def _put_bird(s, bird, number):
    """Put a bird into the last of the free places; returns the number left."""
    number -= 1
    place = np.int64(s.slots[number] & _PLACE)
    s.slots[number], s.place[bird], s.known[bird] = 0, place, s.slots[number] >> _KNOWN_SHIFT
    if state.IN_HAND <= place < state.ON_MAT:
        s.hands[place - state.IN_HAND, bird // state.WORD_BITS] |= 1 << bird % state.WORD_BITS
    return number


@kernel
def _stack_deck(s):
    """Put the birds of the deck in random order."""
    number = 0
    for bird in range(NUM_BIRDS):
        if s.place[bird] == state.IN_DECK:
            s.deck[number] = bird
            number += 1
    shuffle(s, s.deck, 0, number)


# ---------------------------------------------------------------------------------------------------------------
# Bonus cards


@kernel
def _redeal_bonuses(s, player):
    """Re-deal the hidden bonus cards: the deck, other hands, and the others' discards.

    Everybody sees when each card of a hand was drawn, and players discard only cards that they have just drawn. A card
    that `player` remembers as reshuffled is therefore in the deck or has been drawn since.
    """
    _pick_up_bonuses(s, player)
    number = np.int64(0)
    for batch in range(state.LAST_BATCH, -1, -1):
        number = _list_bonus_places(s, batch, number)
        shuffle(s, s.slots, 0, number)
        for card in range(NUM_BONUSES):
            if s.bonus_place[card] == _NOWHERE and (batch == 0 or s.bonus_batch[card] & state.LAST_BATCH == batch):
                number = _put_bonus(s, card, number)
    number = 0
    for card in range(NUM_BONUSES):
        if s.bonus_place[card] == state.IN_BONUS_DECK:
            s.bonus_deck[number] = card
            number += 1
    shuffle(s, s.bonus_deck, 0, number)


@kernel
def _pick_up_bonuses(s, player):
    """Pick up the hidden bonus cards and count them by place."""
    for card in range(NUM_BONUSES):
        if batch_known_to(np.int64(s.bonus_batch[card]), player) == 0:
            s.bonus_batch[card] = 0
        place, known, drawn = np.int64(s.bonus_place[card]), np.int64(s.bonus_known[card]), s.bonus_drawn[card]
        if known >> player & 1:
            continue
        if place == state.IN_BONUS_DISCARDS:
            s.tally[lowest_card(known), _DISCARDED, drawn] += 1
        elif place != state.IN_BONUS_DECK:
            s.tally[place - state.IN_BONUS_HAND, _OFFERED if s.bonus_offer >> card & 1 else _HELD, drawn] += 1
            s.bonus_hands[place - state.IN_BONUS_HAND] &= ~(1 << card)
            s.bonus_offer &= ~(1 << card)
        s.bonus_place[card] = _NOWHERE


@kernel
def _list_bonus_places(s, batch, number):
    """Do as `_list_places` for bonus cards."""
    start = number
    if batch == min(np.int64(s.num_bonus_shuffles), state.LAST_BATCH):
        number = _add_places(s, number, s.num_bonus_deck, state.IN_BONUS_DECK, 0)
    for p in range(s.rules.num_players):
        own = 1 << p + _KNOWN_SHIFT
        number = _add_places(s, number, s.tally[p, _HELD, batch], state.IN_BONUS_HAND + p, own)
        number = _add_places(s, number, s.tally[p, _OFFERED, batch], state.IN_BONUS_HAND + p, own | _OFFER)
        number = _add_places(s, number, s.tally[p, _DISCARDED, batch], state.IN_BONUS_DISCARDS, own)
        for what in range(3):
            s.tally[p, what, batch] = 0
    for k in range(start, number):
        s.slots[k] |= batch << _BATCH_SHIFT
    return number


@kernel
def _put_bonus(s, card, number):
    """Do as `_put_bird` for a bonus card."""
    number -= 1
    slot = np.int64(s.slots[number])
    place = slot & _PLACE
    s.slots[number] = 0
    s.bonus_place[card] = place
    s.bonus_known[card] = slot >> _KNOWN_SHIFT & (1 << state.MAX_PLAYERS) - 1
    s.bonus_drawn[card] = 0 if place == state.IN_BONUS_DECK else slot >> _BATCH_SHIFT
    if place >= state.IN_BONUS_HAND:
        s.bonus_hands[place - state.IN_BONUS_HAND] |= 1 << card
    if slot & _OFFER:
        s.bonus_offer |= 1 << card
    return number


# ---------------------------------------------------------------------------------------------------------------
# The setup


@kernel
def _redo_setup(s, player):
    """Redo the setup (2.3): players who have chosen get random choices, and the one who is choosing starts over."""
    current = np.int64(s.current_player)
    for p in range(s.rules.num_players):
        if p == player or p > current:
            continue
        s.setup_dropped[p] = 0
        s.setup_bonus[p] = 0
        for food in range(NUM_FOODS):
            s.setup_paid[p, food] = 0
        if p == current:
            while s.stack[s.depth - 1, state.WHO] == p and s.stack[s.depth - 1, state.OP] != END_SETUP:
                pop(s)
            push(s, KEEP_BONUS, p, NO_SLOT, 0, 0, 0)
            push(s, SETUP_BIRDS, p, NO_SLOT, 0, 0, 0)
        elif s.active[p]:
            _choose_at_random(s, p)


@kernel
def _choose_at_random(s, player):
    """Choose at random which birds to keep, the foods paid for them, and the bonus card."""
    dropped = random_below(s.rng, 1 << BIRDS_DEALT)
    kept = BIRDS_DEALT
    for k in range(BIRDS_DEALT):
        kept -= dropped >> k & 1
    s.setup_dropped[player] = dropped
    s.setup_bonus[player] = random_below(s.rng, BONUSES_DEALT)
    while kept > 0:
        food = random_below(s.rng, NUM_FOODS)
        if s.setup_paid[player, food] < s.food[player, food]:
            s.setup_paid[player, food] += 1
            kept -= 1
