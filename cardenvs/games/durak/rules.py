"""Rules of Durak: the course of a game. Paragraph numbers are those of rules.md.

Legal actions are in legal.py, the order of the seats in seats.py, the effects of a move in effects.py.
"""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import DEAL, shuffle, shuffle_rest, start_stream
from cardenvs.games.durak import actions, effects, origins, state, table
from cardenvs.games.durak.legal import most_attack_cards, trump_to_show
from cardenvs.games.durak.seats import next_opponent, next_player, next_thrower
from cardenvs.kits.cards import count_bits
from cardenvs.kits.deck import begin_world
from cardenvs.kits.matches import leave
from cardenvs.kits.redeal import list_cards

# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal, turn up the trump, and find the first attacker (2)."""
    list_cards(state.DECKS[s.rules.deck_size], s.deck, 0)
    start_stream(s, DEAL, 0)
    shuffle_rest(s, s.deck, state.deck_size(s), given)
    effects.deal_cards(s, log)
    s.in_game = (1 << s.rules.num_players) - 1
    _begin_bout(s, _first_attacker(s, log), log)


@kernel
def _first_attacker(s, log):
    """Return the holder of the lowest trump, who shows it; without trumps, player 0 (2.4)."""
    s.opening_trump = state.NO_CARD
    if s.rules.first_attacker == state.SEAT_0:
        return 0
    for rank in range(1, state.NUM_RANKS + 1):  # from the deuce to the ace
        card = s.trump * state.NUM_RANKS + rank % state.NUM_RANKS
        for p in range(s.rules.num_players):
            if s.hands[p] >> card & 1:
                effects.show_lowest_trump(s, p, card, log)
                return p
        s.undealt |= 1 << card & state.DECKS[s.rules.deck_size]
    ev.log_note(log, table.NO_TRUMPS, ev.NO_PLAYER, 0)
    return 0


@kernel
def _begin_bout(s, primary, log):
    """Let `primary` lead against the next opponent (3.1)."""
    effects.begin_bout(s, log)
    _give_attack(s, primary, log)
    s.phase = state.LEAD
    s.current_player = primary


@kernel
def _give_attack(s, primary, log):
    """Make `primary` the primary attacker of the next opponent, whose hand limits the attack (2.5, 3.6, 4.3)."""
    effects.set_roles(s, primary, next_opponent(s, primary), log)
    s.most_attack = min(most_attack_cards(s), count_bits(s.hands[s.defender]))


# ---------------------------------------------------------------------------------------------------------------
# Moves


@kernel
def apply_action(s, action, log):
    """Apply a legal action of the player to act and go on to the next decision."""
    player = np.int64(s.current_player)
    if s.phase == state.DEFEND:
        _apply_defend(s, player, action, log)
    elif s.phase == state.LEAD:
        effects.attack(s, player, action, table.LEADS, log)
        _ask_defender(s)
    elif s.phase == state.THROW_IN:
        _apply_throw_in(s, player, action, log)
    else:
        _apply_add(s, player, action, log)


@kernel
def _ask_defender(s):
    s.phase = state.DEFEND
    s.current_player = s.defender


@kernel
def _apply_defend(s, player, action, log):
    """Beat the next attack card, take, or pass the attack on (3.2, 4)."""
    if action == actions.TAKE:
        ev.log_note(log, table.TAKES, player, 0)
        if s.rules.throw_in_on_take and s.num_attack < s.most_attack:
            s.phase = state.ADD
            _ask_thrower(s, ev.NO_PLAYER, log)
        else:
            _end_bout(s, True, log)
    elif action >= actions.TRANSFER_0:
        _transfer(s, player, action, log)
    else:
        effects.beat(s, player, action, log)
        if s.num_beaten < s.num_attack:
            return
        if s.num_attack < s.most_attack:
            s.phase = state.THROW_IN
            _ask_thrower(s, ev.NO_PLAYER, log)
        else:
            _end_bout(s, False, log)


@kernel
def _transfer(s, player, action, log):
    """Pass the attack on to the next opponent; who does so is now the primary attacker (4.1, 4.5)."""
    if action == actions.SHOW:
        effects.show_to_transfer(s, player, trump_to_show(s), log)
    else:
        effects.attack(s, player, action - actions.TRANSFER_0, table.TRANSFERS, log)
    _give_attack(s, player, log)
    _ask_defender(s)


@kernel
def _apply_throw_in(s, player, action, log):
    """Throw in a card, which the defender must answer, or pass (3.4)."""
    if action == actions.PASS:
        ev.log_note(log, table.PASSES, player, 0)
        _ask_thrower(s, player, log)
    else:
        effects.attack(s, player, action, table.THROWS_IN, log)
        _ask_defender(s)


@kernel
def _apply_add(s, player, action, log):
    """Add a card for the defender to take, or pass; an attacker adds as many as they like (3.5)."""
    if action == actions.PASS:
        ev.log_note(log, table.PASSES, player, 0)
        _ask_thrower(s, player, log)
        return
    effects.attack(s, player, action, table.ADDS, log)
    if s.num_attack == s.most_attack:
        _end_bout(s, True, log)
    elif s.hands[player] == 0:
        _ask_thrower(s, player, log)


@kernel
def _ask_thrower(s, last, log):
    """Ask the attacker after `last`; if there is none, the bout is over (3.4, 3.5)."""
    player = next_thrower(s, last)
    if player == ev.NO_PLAYER:
        _end_bout(s, s.phase == state.ADD, log)
    else:
        s.current_player = player


# ---------------------------------------------------------------------------------------------------------------
# The end of a bout, and of the game


@kernel
def _end_bout(s, taken, log):
    """Clear the table, draw, and begin the next bout or end the game (3.7 to 3.10, 5)."""
    defender = np.int64(s.defender)
    if taken:
        effects.take_up(s, defender, log)
    else:
        ev.log_note(log, table.REPELLED, defender, 0)
        effects.discard_table(s, log)
    _draw_cards(s, log)
    _leave_game(s, log)
    s.num_bouts += 1
    if _teams_left(s) <= 1:
        _end_game(s, log)
    elif s.num_bouts >= s.rules.max_bouts:
        ev.log_note(log, table.NO_DURAK, ev.NO_PLAYER, 0)
        s.terminal = 1
    elif not taken and s.hands[defender]:
        _begin_bout(s, defender, log)
    else:
        _begin_bout(s, next_player(s, defender), log)


@kernel
def _draw_cards(s, log):
    """Let all draw up to a full hand: the primary attacker, the others clockwise, and last the defender (3.9)."""
    for k in range(s.rules.num_players):
        player = (s.primary + k) % s.rules.num_players
        if player != s.defender:
            _fill_hand(s, player, log)
    _fill_hand(s, np.int64(s.defender), log)


@kernel
def _fill_hand(s, player, log):
    missing = min(s.rules.hand_size - count_bits(s.hands[player]), state.num_talon(s))
    for _ in range(missing):
        effects.draw(s, player, log)


@kernel
def _leave_game(s, log):
    """Let players without cards leave the game; while there is a talon, all have drawn some (3.10)."""
    for p in range(s.rules.num_players):
        if s.in_game >> p & 1 and s.hands[p] == 0:
            s.in_game ^= 1 << p
            ev.log_note(log, table.IS_OUT, p, 0)


@kernel
def _teams_left(s):
    """Return 0 if nobody holds cards, 1 if only one player or team does, else 2 (5.1, 6.3)."""
    first = ev.NO_PLAYER
    for p in range(s.rules.num_players):
        if s.in_game >> p & 1:
            if first != ev.NO_PLAYER and not state.are_partners(s, first, p):
                return 2
            first = p
    return 0 if first == ev.NO_PLAYER else 1


@kernel
def _end_game(s, log):
    """Name the durak, if anybody holds cards (5.1, 5.2)."""
    s.terminal = 1
    for p in range(s.rules.num_players):
        if s.in_game >> p & 1:
            _lose(s, p, log)
            return
    ev.log_note(log, table.NO_DURAK, ev.NO_PLAYER, 0)


@kernel
def _lose(s, loser, log):
    """Take a point from the durak or each member of their team, and share these among the others (5.3, 6.3)."""
    size = s.rules.num_players // state.num_teams(s)
    for p in range(s.rules.num_players):
        if state.are_partners(s, p, loser):
            s.rewards[p] = -1.0
            ev.log_note(log, table.IS_DURAK, p, 0)
        else:
            s.rewards[p] = size / (s.rules.num_players - size)


@kernel
def forfeit(s, player, log):
    """Make `player` the durak at once (7.1)."""
    leave(s, player, table.FORFEITS, log)
    s.terminal = 1
    _lose(s, player, log)


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` has not seen: cards that others were dealt or drew face down, and the face-down talon.

    Trumps that nobody was dealt (2.4) only go to the talon and to hands as cards drawn since (9.3). `s.deck` below the
    talon serves as the place to shuffle: first the cards that were dealt, then those that were drawn.
    """
    begin_world(s, seed)
    size = state.deck_size(s)
    hidden = np.int64(0)
    for place in range(size - s.num_face_down, size):
        hidden |= 1 << s.deck[place]
    for p in range(s.rules.num_players):
        if p != player:
            hidden |= origins.hidden_cards(s, p)
    undealt = hidden & s.undealt
    chosen, num_drawn = origins.choose_origins(s, player, count_bits(undealt))
    dealt = size - count_bits(hidden)
    drawn = size - s.num_face_down - num_drawn
    list_cards(undealt, s.deck, list_cards(hidden & ~undealt, s.deck, dealt))
    shuffle(s, s.deck, dealt, size - count_bits(undealt))
    shuffle(s, s.deck, drawn, size)
    for p in range(s.rules.num_players):
        if p != player:
            number = count_bits(origins.hidden_cards(s, p))
            s.hands[p] = s.known[p]
            dealt = _deal_hidden(s, p, dealt, number - origins.num_drawn(chosen, p))
            drawn = _deal_hidden(s, p, drawn, origins.num_drawn(chosen, p))


@kernel
def _deal_hidden(s, player, place, number):
    """Give `player` a number of cards of `s.deck` from `place`; return the next place."""
    for k in range(place, place + number):
        s.hands[player] |= 1 << s.deck[k]
        s.deck[k] = state.NO_CARD
    return place + number
