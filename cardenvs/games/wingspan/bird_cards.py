"""Effects on bird cards off the mats: deck, tray, discards, tucked cards and drafts."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import shuffle, start_stream
from cardenvs.games.wingspan import hands, memory, state, table
from cardenvs.games.wingspan.cards import BIRD_WINGSPAN, NUM_BIRDS, TRAY_SIZE
from cardenvs.games.wingspan.events import log_move, log_set

_ALL_PLAYERS = state.KNOWN_TO_ALL ^ 1 << state.PUBLIC_BIT

# ---------------------------------------------------------------------------------------------------------------
# The deck


@kernel(inline=True)
def cards_left(s):
    """Return how many cards can still be drawn from the deck, including the discards (3.5)."""
    return np.int64(s.num_deck) + s.num_discards


@kernel
def can_draw(s):
    """Return whether there is a card to draw, in the tray or the deck."""
    for k in range(TRAY_SIZE):
        if s.tray[k] != state.NO_BIRD:
            return True
    return cards_left(s) > 0


@kernel
def _next_of_deck(s, log):
    """Take the top card of the deck, after reshuffling the discards if it is empty (3.5). A card must be left."""
    if s.num_deck == 0:
        _reshuffle(s, log)
    s.num_deck -= 1
    bird = np.int64(s.deck[s.num_deck])
    s.deck[s.num_deck] = 0
    return bird


@kernel
def _reshuffle(s, log):
    """Shuffle the discards into a new deck (3.5)."""
    ev.log_move_all(log, table.GATHER, ev.NO_PLAYER, table.DISCARDS, table.DECK)
    ev.log_shuffle(log, table.SHUFFLE, table.DECK)
    for bird in range(NUM_BIRDS):
        if s.place[bird] == state.IN_DISCARDS:
            s.deck[s.num_deck] = bird
            s.num_deck += 1
            s.place[bird] = state.IN_DECK
            s.batch[bird] = memory.batch_of_discard(np.int64(s.known[bird]), np.int64(s.num_shuffles) + 1)
            s.known[bird] = 0
    s.num_discards = 0
    start_stream(s, state.SHUFFLES, np.int64(s.num_shuffles))
    s.num_shuffles += 1
    shuffle(s, s.deck, 0, np.int64(s.num_deck))


# ---------------------------------------------------------------------------------------------------------------
# The setup


@kernel
def drop_bird(s, player, bird, log):
    """Discard face down a bird that `player` was dealt and does not keep (2.3)."""
    hands.take_out(s, player, bird)
    memory.no_longer_hidden(s, player, bird)
    s.place[bird] = state.IN_DISCARDS
    s.known[bird] = 1 << player
    s.num_discards += 1
    log_move(log, table.DROP_BIRD, player, bird, table.HAND + player, table.DISCARDS, 1 << player)


# ---------------------------------------------------------------------------------------------------------------
# The tray and drafts


@kernel
def fill_tray(s, log):
    """Fill the tray from the deck while there are cards (3.3)."""
    _turn_up(s, s.tray, TRAY_SIZE, state.IN_TRAY, table.TRAY, table.FILL_TRAY, log)


@kernel
def turn_up_draft(s, number, log):
    """Turn up cards of the deck for a draft, or as many as are left (11.12)."""
    _turn_up(s, s.draft, number, state.IN_DRAFT, table.DRAFT, table.TURN_UP, log)


@kernel
def _turn_up(s, places, number, place, pile, kind, log):
    """Turn up cards of the deck at those of the first `number` places that are empty."""
    for k in range(number):
        if places[k] == state.NO_BIRD and cards_left(s) > 0:
            bird = _next_of_deck(s, log)
            places[k] = bird
            _lay_open(s, bird, place)
            log_move(log, kind, ev.NO_PLAYER, bird, table.DECK, pile, ev.EVERYBODY)


@kernel
def sweep(s, places, pile, kind, log):
    """Discard all cards of the tray (3.4) or of a draft (11.12)."""
    for k in range(places.shape[0]):
        if places[k] != state.NO_BIRD:
            _to_discards(s, np.int64(places[k]))
            log_move(log, kind, ev.NO_PLAYER, places[k], pile, table.DISCARDS, ev.EVERYBODY)
            places[k] = state.NO_BIRD


@kernel
def take(s, player, places, k, pile, kind, log):
    """Move the card at place k of the tray or of a draft to the hand of `player`."""
    bird = np.int64(places[k])
    places[k] = state.NO_BIRD
    hands.take_openly(s, player, bird)
    log_move(log, kind, player, bird, pile, table.HAND + player, ev.EVERYBODY)


@kernel(inline=True)
def _lay_open(s, bird, place):
    s.place[bird] = place
    s.known[bird] = state.KNOWN_TO_ALL
    s.batch[bird] = 0


@kernel(inline=True)
def _to_discards(s, bird):
    _lay_open(s, bird, state.IN_DISCARDS)
    s.num_discards += 1


# ---------------------------------------------------------------------------------------------------------------
# Drawing and discarding


@kernel
def draw_from_deck(s, player, kind, log):
    """Draw the top card of the deck into the hand of `player`: DRAW_DECK, or DEAL_BIRD. A card must be left."""
    bird = _next_of_deck(s, log)
    hands.draw_unseen(s, player, bird)
    log_move(log, kind, player, bird, table.DECK, table.HAND + player, 1 << player)


@kernel
def discard(s, player, bird, log):
    """Discard a bird face up from the hand of `player`."""
    hands.take_out(s, player, bird)
    memory.no_longer_hidden(s, player, bird)
    _to_discards(s, bird)
    log_move(log, table.DISCARD, player, bird, table.HAND + player, table.DISCARDS, ev.EVERYBODY)


# ---------------------------------------------------------------------------------------------------------------
# Tucking


@kernel
def tuck_from_hand(s, player, slot, bird, log):
    """Tuck a bird from the hand of `player` face down behind the bird in a slot.

    Unless it was the only card in the hand, the others then know of each card that they knew in the hand only that it
    is still there or was tucked (14.4).
    """
    known = np.int64(s.known[bird])
    if s.hand_size[player] > 1:
        known = 1 << player
        hands.forget(s, player)
    if known == state.KNOWN_TO_ALL:
        s.taken[bird] = 0
    else:
        s.num_tucks[player] += 1
    hands.take_out(s, player, bird)
    s.place[bird] = state.IN_TUCKED + player
    s.known[bird] = known
    log_move(log, table.TUCK, player, bird, table.HAND + player, table.TUCKED + player, _viewers(known))
    _count_tucked(s, player, slot, log)


@kernel(inline=True)
def _viewers(known):
    """Return an entry of `known` as the set of viewers of an event."""
    return ev.EVERYBODY if known == state.KNOWN_TO_ALL else known & _ALL_PLAYERS


@kernel
def tuck_from_deck(s, player, slot, log):
    """Tuck the top card of the deck unseen behind a bird of `player`. A card must be left."""
    bird = _next_of_deck(s, log)
    s.place[bird] = state.IN_TUCKED + player
    s.known[bird] = 0
    s.tucked_unseen[player, memory.current_batch(s)] += 1
    log_move(log, table.TUCK_DECK, player, bird, table.DECK, table.TUCKED + player, ev.NOBODY)
    _count_tucked(s, player, slot, log)


@kernel
def hunt_in_deck(s, player, slot, bound, log):
    """Turn up the top card of the deck; tuck it openly if its wingspan is below `bound`, else discard it (11.9).

    A card must be left. Returns whether it was tucked.
    """
    bird = _next_of_deck(s, log)
    if BIRD_WINGSPAN[bird] < bound:
        _lay_open(s, bird, state.IN_TUCKED + player)
        log_move(log, table.TUCK_DECK, player, bird, table.DECK, table.TUCKED + player, ev.EVERYBODY)
        _count_tucked(s, player, slot, log)
        return True
    _to_discards(s, bird)
    log_move(log, table.MISS, player, bird, table.DECK, table.DISCARDS, ev.EVERYBODY)
    return False


@kernel
def _count_tucked(s, player, slot, log):
    s.tucked[player, slot] += 1
    log_set(log, table.NUM_TUCKED, player, table.TUCKED_AT + state.MAX_PLAYERS * slot + player, s.tucked[player, slot])
