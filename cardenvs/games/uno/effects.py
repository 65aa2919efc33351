"""Effects of Uno: the only kernels that move cards. Each changes the record and logs the events."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.games.uno import knowledge, places, state, table
from cardenvs.games.uno.cards import COLOURED, COPIES, DECK_SIZE, NUM_KINDS, SYMBOL_OF, WILD
from cardenvs.kits.shedding import clear_pile, lay_on_pile, next_of_stock, put_under_stock, shuffle_stock, take_top

SHUFFLE = 1  # chance source: the draw pile made again


# ---------------------------------------------------------------------------------------------------------------
# Hands


@kernel(inline=True)
def _enter_hand(s, player, kind):
    s.hands[player, kind] += 1
    s.held[player] |= np.int64(1) << kind
    s.hand_sizes[player] += 1


@kernel(inline=True)
def _leave_hand(s, player, kind):
    """Remove a card that all see. A copy that others know of is the one that leaves."""
    s.hands[player, kind] -= 1
    if s.hands[player, kind] == 0:
        s.held[player] ^= np.int64(1) << kind
    s.hand_sizes[player] -= 1
    knowledge.note_played(s, player, kind)
    if s.guilty[player] and kind < WILD:
        knowledge.clear_guilt(s, player, kind // COLOURED)
    if s.knowing[player]:
        for viewer in range(s.rules.num_players):
            if s.known[player, viewer, kind] > 0:
                s.known[player, viewer, kind] -= 1
    if s.is_tracked:
        places.note_played(s, player, kind)


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def gather_cards(s, log):
    """Put all cards back into the draw pile and shuffle them, so that nothing seen in the last round matters (6.3)."""
    ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.PILE, table.STOCK)
    for p in range(s.rules.num_players):
        ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.HAND + p, table.STOCK)
    ev.log_shuffle(log, table.SHUFFLES, table.STOCK)


@kernel
def clear_table(s):
    """Fill the draw pile with all cards in order, so that it can be shuffled, and empty everything else."""
    place = 0
    for kind in range(NUM_KINDS):
        for _ in range(COPIES[kind]):
            s.deck[place] = kind
            place += 1
        s.discarded[kind] = 0
        s.recycled[kind] = 0
    s.num_stock = DECK_SIZE
    clear_pile(s)
    for p in range(s.rules.num_players):
        s.held[p] = 0
        s.hand_sizes[p] = 0
        for kind in range(NUM_KINDS):
            s.hands[p, kind] = 0
        if s.knowing[p]:
            s.knowing[p] = 0
            for viewer in range(s.rules.num_players):
                for kind in range(NUM_KINDS):
                    s.known[p, viewer, kind] = 0
    s.drawn = state.NO_CARD
    s.is_shown = s.is_tracked = 0
    knowledge.forget(s)


@kernel
def deal_hands(s, log):
    """Deal the hands (2.1)."""
    for p in range(s.rules.num_players):
        for _ in range(s.rules.hand_size):
            kind = take_top(s)
            _enter_hand(s, p, kind)
            ev.log_move(log, table.DEALT, p, kind, table.STOCK, table.HAND + p, 1 << p)


@kernel
def turn_up(s, log):
    """Turn up the first card, and return its kind (2.2)."""
    kind = take_top(s)
    if s.is_tracked:
        places.note_seen_in_pile(s, kind)
    _put_on_pile(s, kind)
    ev.log_move(log, table.TURNS_UP, ev.NO_PLAYER, kind, table.STOCK, table.PILE, ev.EVERYBODY)
    return kind


@kernel
def put_back(s, log):
    """Shuffle the only discard back into the draw pile (2.2)."""
    kind = np.int64(s.pile[0])
    places.track(s)
    places.add_to_pile(s, kind, 1)
    clear_pile(s)
    s.discarded[kind] = 0
    put_under_stock(s, kind)
    ev.log_move(log, table.GOES_BACK, ev.NO_PLAYER, kind, table.PILE, table.STOCK, ev.EVERYBODY)
    shuffle_stock(s, SHUFFLE, table.SHUFFLES, table.STOCK, log)
    s.recycled[kind] = 1


# ---------------------------------------------------------------------------------------------------------------
# Drawing


@kernel
def recycle(s, log):
    """Make a draw pile of the discards, except for the top one, and what is left of the old one (4.7).

    RLCard also takes the top one (8.5).
    """
    kept = 0 if s.rules.rlcard else 1
    if s.num_pile <= kept:
        return
    top = np.int64(s.pile[s.num_pile - 1])
    places.track(s)
    if kept:
        ev.log_move(log, table.LIFTS_TOP, ev.NO_PLAYER, top, table.PILE, table.PASSING, ev.EVERYBODY)
        s.discarded[top] -= 1
    ev.log_move_all(log, table.RECYCLES, ev.NO_PLAYER, table.PILE, table.STOCK)
    for kind in range(NUM_KINDS):
        number = np.int64(s.discarded[kind])
        s.recycled[kind] = number
        places.add_to_pile(s, kind, number)
        s.discarded[kind] = 0
        for _ in range(number):
            put_under_stock(s, kind)
    clear_pile(s)
    if kept:
        _put_on_pile(s, top)
        ev.log_move(log, table.LAYS_TOP, ev.NO_PLAYER, top, table.PASSING, table.PILE, ev.EVERYBODY)
    shuffle_stock(s, SHUFFLE, table.SHUFFLES, table.STOCK, log)


@kernel(inline=True)
def can_draw(s, log):
    """Return whether there is a card to draw, once the discards have been made a draw pile if necessary (4.7)."""
    if s.num_stock == 0:
        recycle(s, log)
    return s.num_stock > 0


@kernel
def draw_to_hand(s, player, barred, event, log):
    """Draw a card that, as all know, is of no kind in `barred`; `event` is the kind of event."""
    knowledge.note_drawn(s, player, barred)
    if s.is_tracked:
        places.note_drawn(s, player, next_of_stock(s), player)
    kind = take_top(s)
    _enter_hand(s, player, kind)
    ev.log_move(log, event, player, kind, table.STOCK, table.HAND + player, 1 << player)


@kernel
def draw_cards(s, player, number, log):
    """Draw `number` cards, or as many as there are (4.7)."""
    for _ in range(number):
        if can_draw(s, log):
            draw_to_hand(s, player, np.int64(0), table.DRAWS, log)


@kernel(inline=True)
def draw_one(s, player, barred, log):
    """Draw the card that may be played at once (4.2); `barred` as in `draw_to_hand`."""
    if s.is_tracked:
        places.note_drawn(s, player, next_of_stock(s), places.DRAWN)
    kind = take_top(s)
    s.drawn = kind
    s.drawn_barred = barred
    ev.log_move(log, table.DRAWS, player, kind, table.STOCK, table.DRAWN + player, 1 << player)


@kernel(inline=True)
def keep_drawn(s, player, log):
    """Take the card just drawn into the hand."""
    knowledge.note_drawn(s, player, s.drawn_barred)
    kind = np.int64(s.drawn)
    if s.is_tracked:
        places.note_drawn_leaves(s, player, kind, 1)
    _enter_hand(s, player, kind)
    s.drawn = state.NO_CARD
    ev.log_move(log, table.KEEPS, player, kind, table.DRAWN + player, table.HAND + player, 1 << player)


# ---------------------------------------------------------------------------------------------------------------
# Playing


@kernel(inline=True)
def _put_on_pile(s, kind):
    lay_on_pile(s, kind)
    s.discarded[kind] += 1
    s.symbol = SYMBOL_OF[kind]


@kernel(inline=True)
def play_card(s, player, kind, event, log):
    """Play a card from the hand; `event` is its kind of event."""
    _leave_hand(s, player, kind)
    _put_on_pile(s, kind)
    ev.log_move(log, event, player, kind, table.HAND + player, table.PILE, ev.EVERYBODY)


@kernel(inline=True)
def play_drawn(s, player, log):
    """Play the card just drawn."""
    kind = np.int64(s.drawn)
    s.drawn = state.NO_CARD
    if s.is_tracked:
        places.note_drawn_leaves(s, player, kind, 0)
    _put_on_pile(s, kind)
    ev.log_move(log, table.PLAYS_DRAWN, player, kind, table.DRAWN + player, table.PILE, ev.EVERYBODY)


@kernel
def draw_and_play(s, player, log):
    """Draw a card that is played at once, without a choice (8.3)."""
    kind = take_top(s)
    if s.is_tracked:
        places.note_seen_in_pile(s, kind)
    _put_on_pile(s, kind)
    ev.log_move(log, table.DRAWS_PLAYED, player, kind, table.STOCK, table.PILE, ev.EVERYBODY)


@kernel(inline=True)
def set_colour(s, player, colour, event, log):
    """Set the colour in force; `event` is its kind of event, which is logged only if it says something new."""
    if event == table.NAMES or s.colour != colour:
        ev.log_set(log, event, player, table.COLOUR, colour)
    s.colour = colour


@kernel(inline=True)
def set_direction(s, direction, log):
    """Set the direction of play."""
    if s.direction != direction:
        s.direction = direction
        ev.log_set(log, table.NEW_DIRECTION, ev.NO_PLAYER, table.DIRECTION, direction)


@kernel(inline=True)
def set_owed(s, number, log):
    """Set how many cards a stack has grown to (7.1)."""
    if s.owed != number:
        s.owed = number
        ev.log_set(log, table.OWES, ev.NO_PLAYER, table.OWED, number)


# ---------------------------------------------------------------------------------------------------------------
# Seeing and swapping hands


@kernel
def show_hand(s, player, viewer, log):
    """Show the hand of `player` to `viewer` (4.6)."""
    for kind in range(NUM_KINDS):
        number = np.int64(s.hands[player, kind])
        if number:
            _reveal(s, player, kind, number, table.SHOWS_HAND, 1 << viewer, log)
        s.known[player, viewer, kind] = number
    s.knowing[player] |= 1 << viewer
    if s.is_tracked:
        places.note_shown(s, player, viewer)


@kernel(inline=True)
def _reveal(s, player, kind, number, event, viewers, log):
    """Log that viewers see cards of one kind in a hand; others do not learn how many kinds there are."""
    ev.log_event(log, event, player, kind, table.HAND + player, ev.NO_PLACE, number, viewers, viewers)


@kernel
def show_all(s, log):
    """Show all hands at the end of a round (6.1)."""
    s.is_shown = 1
    for p in range(s.rules.num_players):
        for kind in range(NUM_KINDS):
            number = np.int64(s.hands[p, kind])
            if number:
                ev.log_reveal(log, table.IS_LEFT_WITH, p, kind, table.HAND + p, number, ev.EVERYBODY)


@kernel
def swap_hands(s, one, other, log):
    """Swap the hands of two players, who remember what they gave away (7.4)."""
    ev.log_note(log, table.SWAPS, one, other)
    _remember_own(s)
    ev.log_move_all(log, table.MOVES_HAND, ev.NO_PLAYER, table.HAND + one, table.PASSING)
    ev.log_move_all(log, table.MOVES_HAND, ev.NO_PLAYER, table.HAND + other, table.HAND + one)
    ev.log_move_all(log, table.MOVES_HAND, ev.NO_PLAYER, table.PASSING, table.HAND + other)
    _swap(s, one, other)
    _forget_own(s)
    _receive(s, one, log)
    _receive(s, other, log)


@kernel
def hand_on(s, log):
    """Pass all hands on in the direction of play (7.4)."""
    n = s.rules.num_players
    ev.log_note(log, table.HANDS_ON, ev.NO_PLAYER, 0)
    _remember_own(s)
    to = np.int64(0)
    ev.log_move_all(log, table.MOVES_HAND, ev.NO_PLAYER, table.HAND, table.PASSING)
    for _ in range(n - 1):
        giver = (to - s.direction + n) % n
        ev.log_move_all(log, table.MOVES_HAND, ev.NO_PLAYER, table.HAND + giver, table.HAND + to)
        _swap(s, giver, to)
        to = giver
    ev.log_move_all(log, table.MOVES_HAND, ev.NO_PLAYER, table.PASSING, table.HAND + to)
    _forget_own(s)
    for p in range(n):
        _receive(s, p, log)


@kernel
def _receive(s, player, log):
    """Let a player look at a new hand."""
    for kind in range(NUM_KINDS):
        number = np.int64(s.hands[player, kind])
        if number:
            _reveal(s, player, kind, number, table.RECEIVES, 1 << player, log)


@kernel
def _remember_own(s):
    """Write into `known` that players know their own hands, while these change owners."""
    for p in range(s.rules.num_players):
        s.knowing[p] |= 1 << p
        if s.is_tracked:
            places.note_shown(s, p, p)
        for kind in range(NUM_KINDS):
            s.known[p, p, kind] = s.hands[p, kind]


@kernel
def _forget_own(s):
    """Undo `_remember_own` after hands have moved: players see all of their new hands."""
    for p in range(s.rules.num_players):
        s.knowing[p] &= ~(1 << p)
        for kind in range(NUM_KINDS):
            s.known[p, p, kind] = 0
        if s.is_tracked:
            places.forget_own(s, p)


@kernel
def _swap(s, one, other):
    """Swap two hands and what is known of them."""
    s.held[one], s.held[other] = s.held[other], s.held[one]
    s.hand_sizes[one], s.hand_sizes[other] = s.hand_sizes[other], s.hand_sizes[one]
    s.knowing[one], s.knowing[other] = s.knowing[other], s.knowing[one]
    knowledge.swap_slots(s, one, other)
    if s.is_tracked:
        places.swap_hands(s, one, other)
    for kind in range(NUM_KINDS):
        s.hands[one, kind], s.hands[other, kind] = s.hands[other, kind], s.hands[one, kind]
        for p in range(s.rules.num_players):
            s.known[one, p, kind], s.known[other, p, kind] = s.known[other, p, kind], s.known[one, p, kind]
