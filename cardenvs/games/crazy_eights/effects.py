"""Effects of Crazy Eights: the only kernels that move cards. Each changes the record and logs the events."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import shuffle_rest
from cardenvs.core.seats import wrap
from cardenvs.games.crazy_eights import knowledge, state, table
from cardenvs.games.crazy_eights.state import MAX_CARDS, NUM_CARDS, hand_size_of, packs_of
from cardenvs.kits.cards import lowest_card
from cardenvs.kits.shedding import clear_pile, lay_on_pile, put_under_stock, shuffle_stock, take_top

SHUFFLE = 1  # chance source: the stock made again


# ---------------------------------------------------------------------------------------------------------------
# Hands and discards


@kernel(inline=True)
def _enter_hand(s, player, card):
    bit = np.int64(1) << card
    s.doubles[player] |= s.hands[player] & bit
    s.hands[player] |= bit
    s.hand_sizes[player] += 1


@kernel(inline=True)
def _leave_hand(s, player, card):
    bit = np.int64(1) << card
    s.hands[player] &= ~bit | s.doubles[player]
    s.doubles[player] &= ~bit
    s.hand_sizes[player] -= 1


@kernel(inline=True)
def _lay_down(s, card):
    bit = np.int64(1) << card
    lay_on_pile(s, card)
    s.double_discards |= s.discards & bit
    s.discards |= bit
    s.top = card


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def gather_cards(s, log):
    """Put all cards back into the stock and shuffle them, so that nothing seen in the last hand matters (7.1)."""
    ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.PILE, table.STOCK)
    for p in range(s.rules.num_players):
        ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.HAND + p, table.STOCK)
    ev.log_shuffle(log, table.SHUFFLES, table.STOCK)


@kernel
def clear_table(s):
    """Empty everything."""
    clear_pile(s)
    s.discards = s.double_discards = 0
    for p in range(s.rules.num_players):
        s.hands[p] = s.doubles[p] = 0
        s.hand_sizes[p] = 0
    s.is_shown = 0
    knowledge.forget(s)


@kernel
def fill_stock(s, given):
    """Shuffle all cards, `given` first, from the random numbers that have been started."""
    packs = packs_of(s.rules)
    size = packs * NUM_CARDS
    for k in range(size):
        s.deck[k] = k // packs
    shuffle_rest(s, s.deck, size, given)
    if size < MAX_CARDS:
        for k in range(size):
            s.deck[MAX_CARDS - size + k] = s.deck[k]
            s.deck[k] = state.NO_CARD
    s.num_stock = size


@kernel
def deal_hands(s, log):
    """Deal the hands, card by card from the player after the dealer (2.2)."""
    n = s.rules.num_players
    for _ in range(hand_size_of(s.rules)):
        for k in range(1, n + 1):
            player = wrap(s.dealer + k, n)
            card = take_top(s)
            _enter_hand(s, player, card)
            ev.log_move(log, table.DEALT, player, card, table.STOCK, table.HAND + player, 1 << player)


@kernel
def turn_up(s, log):
    """Turn up the first card, and return it (2.3)."""
    card = take_top(s)
    _lay_down(s, card)
    ev.log_move(log, table.TURNS_UP, ev.NO_PLAYER, card, table.STOCK, table.PILE, ev.EVERYBODY)
    return card


@kernel
def put_back(s, log):
    """Shuffle the only discard back into the stock (2.3)."""
    card = np.int64(s.top)
    clear_pile(s)
    s.discards = 0
    knowledge.note_put_back(s, card)
    put_under_stock(s, card)
    ev.log_move(log, table.GOES_BACK, ev.NO_PLAYER, card, table.PILE, table.STOCK, ev.EVERYBODY)
    shuffle_stock(s, SHUFFLE, table.SHUFFLES, table.STOCK, log)


# ---------------------------------------------------------------------------------------------------------------
# Drawing and playing


@kernel
def draw_card(s, player, log):
    """Draw a card from the stock, which has one, and make the stock again if that was the last (5.4)."""
    knowledge.note_drawn(s, player)
    card = take_top(s)
    _enter_hand(s, player, card)
    ev.log_move(log, table.DRAWS, player, card, table.STOCK, table.HAND + player, 1 << player)
    refill(s, log)


@kernel
def refill(s, log):
    """Make the stock again if it is empty (5.4)."""
    if s.num_stock == 0 and s.rules.reshuffle and s.num_pile > 1:
        _recycle(s, log)


@kernel
def _recycle(s, log):
    """Make a stock of the discards, except for the top one."""
    top = np.int64(s.top)
    ev.log_move(log, table.LIFTS_TOP, ev.NO_PLAYER, top, table.PILE, table.LIFTED, ev.EVERYBODY)
    ev.log_move_all(log, table.RECYCLES, ev.NO_PLAYER, table.PILE, table.STOCK)
    ev.log_move(log, table.LAYS_TOP, ev.NO_PLAYER, top, table.LIFTED, table.PILE, ev.EVERYBODY)
    for k in range(s.num_pile - 1):
        put_under_stock(s, s.pile[k])
    clear_pile(s)
    bit = np.int64(1) << top
    cards, doubles = s.discards & (~bit | s.double_discards), s.double_discards & ~bit
    s.discards = s.double_discards = 0
    _lay_down(s, top)
    knowledge.note_recycled(s, cards, doubles)
    shuffle_stock(s, SHUFFLE, table.SHUFFLES, table.STOCK, log)


@kernel
def play_card(s, player, card, log):
    """Play a card."""
    knowledge.note_played(s, player, card)
    _leave_hand(s, player, card)
    _lay_down(s, card)
    ev.log_move(log, table.PLAYS, player, card, table.HAND + player, table.PILE, ev.EVERYBODY)


@kernel
def set_suit(s, player, suit, event, log):
    """Set the suit to follow; `event` is its kind of event, which is logged only if it says something new."""
    if event == table.NAMES or s.suit != suit:
        ev.log_set(log, event, player, table.SUIT, suit)
    s.suit = suit


@kernel
def set_direction(s, direction, log):
    """Set the direction of play."""
    if s.direction != direction:
        s.direction = direction
        ev.log_set(log, table.NEW_DIRECTION, ev.NO_PLAYER, table.DIRECTION, direction)


@kernel
def set_owed(s, number, log):
    """Set how many cards the next player must draw (4.3)."""
    if s.owed != number:
        s.owed = number
        ev.log_set(log, table.OWES, ev.NO_PLAYER, table.OWED, number)


@kernel
def show_all(s, log):
    """Show all hands at the end (6.1)."""
    s.is_shown = 1
    for p in range(s.rules.num_players):
        cards = s.hands[p]
        while cards:
            card = lowest_card(cards)
            cards &= cards - 1
            number = 1 + (s.doubles[p] >> card & 1)
            ev.log_reveal(log, table.IS_LEFT_WITH, p, card, table.HAND + p, number, ev.EVERYBODY)
