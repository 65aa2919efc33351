"""Effects of Durak: the only kernels that move cards. Each changes the record and logs the events."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.games.durak import origins, state, table
from cardenvs.kits.cards import RANK_SETS


@kernel
def deal_cards(s, log):
    """Deal the shuffled deck in `s.deck`: whole hands in player order, the turn-up, the rest as talon (2.1, 2.2)."""
    size, players = state.deck_size(s), s.rules.num_players
    ev.log_create(log, table.NEW_TALON, table.TALON, size)
    s.num_face_down = size
    card = np.int64(state.NO_CARD)
    for p in range(players):
        for _ in range(s.rules.hand_size):
            card = _next_card(s)
            s.hands[p] |= 1 << card
            ev.log_move(log, table.DEAL, p, card, table.TALON, table.HAND + p, 1 << p)
        s.drawn[p, 0] = 1
    s.turn_up = state.NO_CARD
    if s.num_face_down:
        card = _next_card(s)
        s.turn_up = card
        ev.log_move(log, table.TURNS_UP, ev.NO_PLAYER, card, table.TALON, table.TURN_UP, ev.EVERYBODY)
    else:
        _show(s, players - 1, card, table.LAST_CARD, log)
    s.trump = card // state.NUM_RANKS
    ev.log_set(log, table.NEW_TRUMP, ev.NO_PLAYER, table.TRUMP, s.trump)


@kernel
def _next_card(s):
    """Take the top card of the face-down talon and return it."""
    place = state.deck_size(s) - s.num_face_down
    card = np.int64(s.deck[place])
    s.deck[place] = state.NO_CARD
    s.num_face_down -= 1
    return card


@kernel
def _show(s, player, card, kind, log):
    """Show a card of `player` to all; it stays in the hand."""
    origins.note_seen(s, player, card)
    s.known[player] |= 1 << card
    ev.log_reveal(log, kind, player, card, table.HAND + player, 1, ev.EVERYBODY)


@kernel
def show_lowest_trump(s, player, card, log):
    """Show the lowest trump of all hands, which gives `player` the first attack (2.4)."""
    s.opening_trump = card
    _show(s, player, card, table.LOWEST_TRUMP, log)


@kernel
def show_to_transfer(s, player, card, log):
    """Show a trump instead of playing it (4.5)."""
    s.shown |= 1 << card
    _show(s, player, card, table.SHOWS, log)


@kernel
def begin_bout(s, log):
    """Clear the count of the last bout and announce the next."""
    s.num_attack = 0
    s.num_beaten = 0
    s.matching = 0
    ev.log_set(log, table.NEW_BOUT, ev.NO_PLAYER, table.BOUT, s.num_bouts + 1)


@kernel
def set_roles(s, primary, defender, log):
    """Name the primary attacker and the defender."""
    s.primary = primary
    s.defender = defender
    ev.log_set(log, table.NEW_ATTACKER, primary, table.ATTACKER, primary)
    ev.log_set(log, table.NEW_DEFENDER, defender, table.DEFENDER, defender)


@kernel
def attack(s, player, card, kind, log):
    """Put `card` from the hand of `player` on the table as an attack; `kind` is the event."""
    _leave_hand(s, player, card)
    s.attack_cards[s.num_attack] = card
    s.num_attack += 1
    s.attack |= 1 << card
    s.matching |= RANK_SETS[card % state.NUM_RANKS]
    ev.log_move(log, kind, player, card, table.HAND + player, table.ATTACK, ev.EVERYBODY)


@kernel
def beat(s, player, card, log):
    """Beat the next unbeaten attack card."""
    _leave_hand(s, player, card)
    s.defence_cards[s.num_beaten] = card
    s.num_beaten += 1
    s.defence |= 1 << card
    s.matching |= RANK_SETS[card % state.NUM_RANKS]
    ev.log_move(log, table.BEATS, player, card, table.HAND + player, table.DEFENCE, ev.EVERYBODY)


@kernel
def _leave_hand(s, player, card):
    origins.note_seen(s, player, card)
    bit = 1 << card
    s.hands[player] ^= bit
    s.known[player] &= ~bit


@kernel
def take_up(s, player, log):
    """Give `player` all cards on the table (3.8)."""
    cards = s.attack | s.defence
    s.hands[player] |= cards
    s.known[player] |= cards
    s.attack = 0
    s.defence = 0
    ev.log_move_all(log, table.TAKES_ATTACK, ev.NO_PLAYER, table.ATTACK, table.HAND + player)
    ev.log_move_all(log, table.TAKES_DEFENCE, ev.NO_PLAYER, table.DEFENCE, table.HAND + player)


@kernel
def discard_table(s, log):
    """Put all cards on the table out of play (3.7)."""
    s.discards |= s.attack | s.defence
    s.attack = 0
    s.defence = 0
    ev.log_move_all(log, table.DISCARDS_ATTACK, ev.NO_PLAYER, table.ATTACK, table.DISCARDS)
    ev.log_move_all(log, table.DISCARDS_DEFENCE, ev.NO_PLAYER, table.DEFENCE, table.DISCARDS)


@kernel
def draw(s, player, log):
    """Give `player` the next card of the talon; the turn-up comes last, and everybody sees it (2.2, 3.9)."""
    if s.num_face_down:
        card = _next_card(s)
        origins.note_draw(s, player)
        ev.log_move(log, table.DRAWS, player, card, table.TALON, table.HAND + player, 1 << player)
    else:
        card = np.int64(s.turn_up)
        s.turn_up = state.NO_CARD
        s.known[player] |= 1 << card
        ev.log_move(log, table.DRAWS, player, card, table.TURN_UP, table.HAND + player, ev.EVERYBODY)
    s.hands[player] |= 1 << card
