"""Effects of Pinnacola: the kernels that move cards and log it. What lays cards and takes the row: melds and hands."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.games.pinnacola import hands, melds, state, table
from cardenvs.games.pinnacola.actions import cards_laid, parts

# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def gather_cards(s, log):
    """Put all cards back into the stock and shuffle them, so that nothing seen in the last hand matters (7.2)."""
    ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.ROW, table.STOCK)
    for p in range(np.int64(s.rules.num_players)):
        ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.HAND + p, table.STOCK)
        s.held[p] = s.twice[p] = s.known_held[p] = s.known_twice[p] = 0
        s.jokers[p] = s.known_jokers[p] = s.hand_sizes[p] = 0
    for m in range(np.int64(s.num_melds)):
        ev.log_set(log, table.SHAPES, ev.NO_PLAYER, table.SHAPE + m, 0)
    s.num_melds = 0
    for side in range(state.NUM_SIDES):
        ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.MELDS + side, table.STOCK)
        s.melded[side] = s.melded_twice[side] = 0
        s.melded_jokers[side] = s.points[side] = 0
        melds.refresh(s, side)
    ev.log_shuffle(log, table.SHUFFLES, table.STOCK)
    for place in range(s.num_row):
        s.row[place] = state.NO_CARD
    s.num_row = 0


@kernel
def deal_cards(s, log):
    """Deal the shuffled deck: the hands in the order of players, and the first card of the row (2)."""
    s.num_dealt = 0
    for p in range(np.int64(s.rules.num_players)):
        for _ in range(s.rules.hand_size):
            draw_card(s, p, table.DEALT, log)
    face = _next_of_stock(s)
    s.row[0] = face
    s.num_row = 1
    ev.log_move(log, table.TURNS_UP, ev.NO_PLAYER, face, table.STOCK, table.ROW, ev.EVERYBODY)


@kernel(inline=True)
def _next_of_stock(s):
    """Take the top card off the stock and return it."""
    face = np.int64(s.deck[s.num_dealt])
    s.deck[s.num_dealt] = state.NO_CARD
    s.num_dealt += 1
    return face


@kernel
def draw_card(s, player, kind, log):
    """Give the top card of the stock to a player, with an event of a kind (2.1, 4.1)."""
    face = _next_of_stock(s)
    hands.enter_hand(s, player, face)
    ev.log_move(log, kind, player, face, table.STOCK, table.HAND + player, 1 << player)


# ---------------------------------------------------------------------------------------------------------------
# The row


@kernel(inline=True)
def take_row(s, player, place, log):
    """Take a card of the row with all that go with it (4.2)."""
    first = hands.first_taken(s, place)
    for k in range(first, np.int64(s.num_row)):
        face, hand = np.int64(s.row[k]), table.HAND + player
        ev.log_event(log, table.TAKES, player, face, table.ROW, hand, first, ev.EVERYBODY, ev.EVERYBODY)
    hands.take_row(s, player, place)


@kernel(inline=True)
def discard(s, player, face, log):
    """Lay a card at the end of the row (4.6)."""
    hands.leave_one(s, player, face)
    s.row[s.num_row] = face
    s.num_row += 1
    ev.log_move(log, table.DISCARDS, player, face, table.HAND + player, table.ROW, ev.EVERYBODY)


# ---------------------------------------------------------------------------------------------------------------
# Melds


@kernel
def lay_cards(s, player, action, log):
    """Meld cards from the hand of `player`, or replace a joker, and return the meld (4.3 to 4.5)."""
    m = melds.lay(s, player, action)
    if log.shape[0]:
        _log_lay(s, player, action, m, log)
    return m


@kernel
def _log_lay(s, player, action, m, log):
    pile = table.MELDS + np.int64(s.meld_side[m])
    faces, second, jokers, spades, clubs = cards_laid(action)
    for face in range(state.JOKER):
        number = (faces >> face & 1) + (second >> face & 1)
        if face == state.TWO_OF_SPADES:
            number += spades
        if face == state.TWO_OF_CLUBS:
            number += clubs
        for _ in range(number):
            ev.log_move(log, table.MELDS_CARD, player, face, table.HAND + player, pile, ev.EVERYBODY)
    for _ in range(jokers):
        ev.log_move(log, table.MELDS_CARD, player, state.JOKER, table.HAND + player, pile, ev.EVERYBODY)
    op, _, _, _ = parts(action)
    if melds.is_swap(op):
        ev.log_move(log, table.TAKES_JOKER, player, state.JOKER, pile, table.HAND + player, ev.EVERYBODY)
    ev.log_set(log, table.SHAPES, player, table.SHAPE + m, np.int64(s.meld_shape[m]))


@kernel
def show_hand(s, player, log):
    """Show what is left in the hand of `player` at the end of a hand (6.1)."""
    for face in range(state.NUM_FACES):
        number = state.num_held(s, player, face)
        if number > state.num_known(s, player, face):
            ev.log_reveal(log, table.SHOWS, player, face, table.HAND + player, number, ev.EVERYBODY)
    s.known_held[player], s.known_twice[player] = s.held[player], s.twice[player]
    s.known_jokers[player] = s.jokers[player]
