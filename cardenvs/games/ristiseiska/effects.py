"""Effects of Ristiseiska: the only kernels that move cards. Each changes the record and logs the events."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.ristiseiska import knowledge, state, table
from cardenvs.games.ristiseiska.state import FIRST_CARD, NO_CARD, NO_PLAYER, NUM_CARDS
from cardenvs.kits.cards import lowest_card
from cardenvs.kits.deck import next_card, shuffle_deck

# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def gather_cards(s, log):
    """Put all cards together and shuffle them, so that nothing seen in the last hand matters (7.1)."""
    ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.LAID, table.STOCK)
    for p in range(s.rules.num_players):
        ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.HAND + p, table.STOCK)
    ev.log_shuffle(log, table.SHUFFLES, table.STOCK)


@kernel
def clear_table(s, log):
    """Empty everything."""
    s.laid = 0
    for p in range(s.rules.num_players):
        s.hands[p] = 0
        s.hand_sizes[p] = 0
        s.place[p] = -1
    s.num_out = s.num_turns = s.num_plays = s.is_shown = 0
    s.beggar, s.begged = NO_PLAYER, NO_CARD
    for k in range(NUM_CARDS):
        s.plays[k], s.play_of[k] = NO_CARD, NO_PLAYER
    knowledge.forget(s)
    set_begs(s, 0, log)
    set_token(s, NO_PLAYER, table.NO_TOKEN, log)


@kernel
def deal_hands(s, given, log):
    """Shuffle, and deal all cards singly from the player after the dealer; return who holds 7♣ (2, 3.1)."""
    shuffle_deck(s, NUM_CARDS, s.num_hands - 1, given)
    n, starter = s.rules.num_players, np.int64(0)
    player = wrap(s.dealer + 1, n)
    for _ in range(NUM_CARDS):
        card = next_card(s)
        s.hands[player] |= np.int64(1) << card
        s.hand_sizes[player] += 1
        ev.log_move(log, table.DEALT, player, card, table.STOCK, table.HAND + player, 1 << player)
        if card == FIRST_CARD:
            starter = np.int64(player)
        player = wrap(player + 1, n)
    return starter


# ---------------------------------------------------------------------------------------------------------------
# Playing, begging and giving


@kernel
def play_card(s, player, card, log):
    """Lay a card on the table."""
    knowledge.note_play(s, player, card)
    bit = np.int64(1) << card
    s.hands[player] &= ~bit
    s.hand_sizes[player] -= 1
    s.laid |= bit
    s.begged = NO_CARD
    ev.log_move(log, table.PLAYS, player, card, table.HAND + player, table.LAID, ev.EVERYBODY)
    set_begs(s, 0, log)


@kernel
def move_gift(s, giver, player, card, event, log):
    """Move a card from one hand to another; only these two see it (4.2)."""
    knowledge.note_gift(s, giver, player, card)
    bit = np.int64(1) << card
    s.hands[giver] &= ~bit
    s.hand_sizes[giver] -= 1
    s.hands[player] |= bit
    s.hand_sizes[player] += 1
    ev.log_move(log, event, giver, card, table.HAND + giver, table.HAND + player, 1 << giver | 1 << player)


@kernel(inline=True)
def set_begs(s, number, log):
    """Set how many begs in a row there have been (5.3)."""
    if s.num_begs != number:
        s.num_begs = number
        ev.log_set(log, table.COUNTS_BEGS, ev.NO_PLAYER, table.BEGS, number)


@kernel
def set_token(s, player, event, log):
    """Say who has the token (6.2)."""
    if event == table.TAKES_TOKEN or s.token != player:
        s.token = player
        ev.log_set(log, event, player, table.TOKEN, player)


@kernel
def go_out(s, player, log):
    """Give a player without cards the next place (5.1, 5.2)."""
    s.place[player] = s.num_out
    s.num_out += 1
    ev.log_note(log, table.GOES_OUT, player, 0)


@kernel
def show_all(s, log):
    """Show all hands at the end (6.1)."""
    s.is_shown = 1
    s.phase = state.PLAY
    s.beggar, s.begged = NO_PLAYER, NO_CARD
    for p in range(s.rules.num_players):
        cards = s.hands[p]
        while cards:
            card = lowest_card(cards)
            cards &= cards - 1
            ev.log_reveal(log, table.IS_LEFT_WITH, p, card, table.HAND + p, 1, ev.EVERYBODY)
