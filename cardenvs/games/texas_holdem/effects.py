"""Effects of Texas hold'em: the only kernels that move cards or chips. They change the record and log the events."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.texas_holdem import table
from cardenvs.games.texas_holdem.state import BOARD_CARDS, HISTORY, NUM_BOARD
from cardenvs.kits.cards import NUM_CARDS

# ---------------------------------------------------------------------------------------------------------------
# Between hands


@kernel(inline=True)
def give_stack(s, player, chips, log):
    """Give a player the starting chips."""
    s.stacks[player] = chips
    ev.log_set(log, table.NEW_STACK, player, table.STACK + player, chips)


@kernel
def announce_hand(s, log):
    """Collect the cards and bets of the last hand and begin the next one."""
    take_bets_in(s, log)
    _remember_hand(s)
    for p in range(s.rules.num_players):
        if (s.dealt & ~s.in_hand) >> p & 1:
            ev.log_set(log, table.UNFOLD, p, table.FOLDED + p, 0)
        for street in range(4):
            s.bets[street, p] = 0
            s.raises[street, p] = 0
        s.chips_in[p] = 0
        s.start_stacks[p] = s.stacks[p]
    s.dead = 0
    s.num_history = 0
    s.history_next = 0
    s.hand_number += 1
    s.dealt = s.live
    s.in_hand = s.live
    s.can_act = s.live
    s.shown = 0
    s.aggressor = ev.NO_PLAYER
    ev.log_clear(log, table.CLEAR_TABLE)
    ev.log_set(log, table.NEW_HAND, ev.NO_PLAYER, table.HAND_NUMBER, s.hand_number)


@kernel(inline=True)
def _remember_hand(s):
    """Keep what everybody has seen of the last hand until the next one is over (6.4)."""
    if s.hand_number == 0:
        return
    n = np.int64(s.rules.num_players)
    s.last_in_hand = s.in_hand
    s.last_shown = s.shown
    for p in range(n):
        s.last_won[p] = s.stacks[p] - s.start_stacks[p]
        if s.shown >> p & 1:
            s.last_cards[p, 0] = s.deck[2 * p]
            s.last_cards[p, 1] = s.deck[2 * p + 1]
    s.num_last_board = BOARD_CARDS[s.street]
    for k in range(s.num_last_board):
        s.last_board[k] = s.deck[2 * n + k]


@kernel(inline=True)
def set_blinds(s, small, big, log):
    """Set the blinds, if they change."""
    if small != s.small_blind:
        s.small_blind = small
        ev.log_set(log, table.NEW_SMALL, ev.NO_PLAYER, table.SMALL_BLIND, small)
    if big != s.big_blind:
        s.big_blind = big
        ev.log_set(log, table.NEW_BIG, ev.NO_PLAYER, table.BIG_BLIND, big)


@kernel(inline=True)
def set_level(s, level, log):
    """Set the blind level, counted from 0."""
    s.level = level
    ev.log_note(log, table.LEVEL, ev.NO_PLAYER, level + 1)


@kernel(inline=True)
def place_button(s, button, log):
    """Put the button at a position."""
    s.button = button
    ev.log_set(log, table.NEW_BUTTON, ev.NO_PLAYER, table.BUTTON, button)


@kernel
def eliminate(s, player, log):
    """Mark `player` as out of the game."""
    s.live &= ~(1 << player)
    s.active[player] = 0
    ev.log_set(log, table.IS_OUT, player, table.OUT + player, 1)


# ---------------------------------------------------------------------------------------------------------------
# Cards


@kernel
def deal_hole_cards(s, log):
    """Deal two rounds to everybody in the hand, beginning on the button's left (3.6)."""
    if log.shape[0] == 0:
        return  # the cards are in s.deck already
    n = np.int64(s.rules.num_players)
    ev.log_create(log, table.NEW_DECK, table.DECK, NUM_CARDS)
    for k in range(2):
        p = wrap(s.button + 1, n)
        for _ in range(n):
            if s.dealt >> p & 1:
                ev.log_move(log, table.DEAL, p, s.deck[2 * p + k], table.DECK, table.HAND + p, 1 << p)
            p = wrap(p + 1, n)


@kernel
def deal_board(s, log):
    """Deal the board cards of the current street, after a burnt card if the options say so (3.7)."""
    board = 2 * np.int64(s.rules.num_players)
    street = np.int64(s.street)
    if s.rules.burn_cards:
        ev.log_move(
            log, table.BURN, ev.NO_PLAYER, s.deck[board + NUM_BOARD + street - 1], table.DECK, table.BURNT, ev.NOBODY
        )
    for k in range(BOARD_CARDS[street - 1], BOARD_CARDS[street]):
        ev.log_move(
            log, table.FLOP + street - 1, ev.NO_PLAYER, s.deck[board + k], table.DECK, table.BOARD, ev.EVERYBODY
        )


@kernel
def show_hand(s, player, log):
    """Show both cards of `player`."""
    s.shown |= 1 << player
    for k in range(2):
        ev.log_reveal(log, table.SHOW, player, s.deck[2 * player + k], table.HAND + player, 1, ev.EVERYBODY)


# ---------------------------------------------------------------------------------------------------------------
# Chips


@kernel
def put_in(s, player, chips, kind, log):
    """Put chips in for `player` on this street; `kind` is the event: a blind, a call, a bet or a raise."""
    s.bets[s.street, player] += chips
    ev.log_set(log, kind, player, table.BET + player, s.bets[s.street, player])
    _to_pot(s, player, chips, log)


@kernel
def post_ante(s, player, chips, log):
    """Post an ante for `player`, which does not count as a bet."""
    ev.log_note(log, table.POST_ANTE, player, chips)
    _to_pot(s, player, chips, log)


@kernel
def post_dead(s, player, chips, kind, log):
    """Post chips that nobody has to match: the big blind's ante for the table, or more than a big blind (10.2)."""
    ev.log_note(log, kind, player, chips)
    _to_pot(s, player, chips, log)
    s.chips_in[player] -= chips
    s.dead += chips


@kernel(inline=True)
def _to_pot(s, player, chips, log):
    s.stacks[player] -= chips
    s.chips_in[player] += chips
    s.pot += chips
    if s.stacks[player] == 0:
        s.can_act &= ~(1 << player)
    _log_stack_and_pot(s, player, log)


@kernel
def take_back(s, player, chips, log):
    """Return to `player` the chips of a bet that nobody called."""
    from_bet = min(chips, np.int64(s.bets[s.street, player]))
    s.bets[s.street, player] -= from_bet
    s.chips_in[player] -= chips
    s.stacks[player] += chips
    s.pot -= chips
    ev.log_set(log, table.UNCALLED, player, table.BET + player, s.bets[s.street, player])
    _log_stack_and_pot(s, player, log)


@kernel
def win_chips(s, player, chips, log):
    """Pay chips of a pot to `player`."""
    s.pot -= chips
    s.stacks[player] += chips
    ev.log_note(log, table.WIN, player, chips)
    _log_stack_and_pot(s, player, log)


@kernel(inline=True)
def _log_stack_and_pot(s, player, log):
    ev.log_set(log, table.NEW_STACK, player, table.STACK + player, s.stacks[player])
    ev.log_set(log, table.NEW_POT, ev.NO_PLAYER, table.POT, s.pot)


@kernel
def take_bets_in(s, log):
    """Take the bets of the street into the pot, at its end."""
    if log.shape[0] == 0:
        return  # the record keeps the bets by street
    for p in range(s.rules.num_players):
        if s.bets[s.street, p] != 0:
            ev.log_set(log, table.TAKEN_IN, p, table.BET + p, 0)


# ---------------------------------------------------------------------------------------------------------------
# The course of the betting


@kernel
def fold_hand(s, player, log):
    """Fold the hand of `player`."""
    keep = ~(1 << player)
    s.in_hand &= keep
    s.can_act &= keep
    s.pending &= keep
    ev.log_set(log, table.FOLD, player, table.FOLDED + player, 1)


@kernel
def remember(s, player, kind, amount):
    """Append an action to the history of the hand, dropping the oldest one if it is full."""
    k = np.int64(s.history_next)
    s.history_seat[k] = player
    s.history_kind[k] = kind
    s.history_amount[k] = amount
    s.history_street[k] = s.street
    s.history_next = wrap(k + 1, HISTORY)
    s.num_history = min(s.num_history + 1, HISTORY)
