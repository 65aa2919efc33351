"""Rules of Texas hold'em: the course of a game. Paragraph numbers are those of rules.md.

Legal actions are in legal.py, the parts of a hand in hand_start.py, hand_end.py and places.py, and the effects of a
move in effects.py.
"""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.rng import canonical_shuffle
from cardenvs.games.texas_holdem import actions, effects, state, table
from cardenvs.games.texas_holdem.hand_end import end_hand, return_uncalled, show_all_in
from cardenvs.games.texas_holdem.hand_start import (
    begin_betting,
    begin_hand,
    deal_next_hand,
    first_positions,
    levels_rise,
)
from cardenvs.games.texas_holdem.legal import largest_raise, owed, smallest_raise
from cardenvs.games.texas_holdem.limit import count_raise, is_completion
from cardenvs.games.texas_holdem.places import finish
from cardenvs.games.texas_holdem.seats import is_one, next_seat
from cardenvs.kits.cards import NUM_CARDS, count_bits
from cardenvs.kits.deck import begin_world


@kernel
def deal(s, given, log):
    """Give everybody chips, place the button and deal the first hand (1.3, 3.1, 3.2)."""
    n = np.int64(s.rules.num_players)
    s.live = (1 << n) - 1
    for p in range(n):
        effects.give_stack(s, p, s.rules.starting_stack if s.rules.stacks[0] == NONE else s.rules.stacks[p], log)
        if s.stacks[p] == 0:
            effects.eliminate(s, p, log)
    s.hands_to_level = s.rules.hands_per_level if levels_rise(s) else 0
    effects.announce_hand(s, log)
    first_positions(s, n, log)
    begin_hand(s, given, log)
    _play_on(s, s.big_blind_seat + 1, log)


@kernel
def apply_action(s, action, log):
    """Fold, check, call, bet or raise, and go on to the next decision (4)."""
    player = np.int64(s.current_player)
    if action == actions.FOLD:
        effects.remember(s, player, state.FOLDS, 0)
        effects.fold_hand(s, player, log)
    else:
        s.pending &= ~(1 << player)
        if action == actions.CHECK_CALL:
            _check_or_call(s, player, log)
        else:
            to_call = owed(s, player)
            low, high = smallest_raise(s, player), largest_raise(s, player)
            _raise_to(s, player, actions.asked_total(s, action, s.pot + to_call, low, high), log)
        s.acted |= 1 << player
        s.acted_since_full |= 1 << player
    _play_on(s, player + 1, log)


@kernel(inline=True)
def _check_or_call(s, player, log):
    chips = owed(s, player)
    if chips == 0:
        effects.remember(s, player, state.CHECKS, 0)
        ev.log_note(log, table.CHECKS, player, 0)
    else:
        effects.remember(s, player, state.CALLS, chips)
        effects.put_in(s, player, chips, table.CALLS, log)


@kernel(inline=True)
def _raise_to(s, player, total, log):
    """Bet or raise to `total`; a full raise sets the minimum of the next one (4.8)."""
    effects.remember(s, player, state.RAISES, total)
    kind = table.RAISES if s.to_match else table.BETS
    if is_completion(s):
        kind = table.COMPLETES
    effects.put_in(s, player, total - s.bets[s.street, player], kind, log)
    if s.rules.betting == state.LIMIT:
        count_raise(s, total)
    elif total - s.to_match >= s.last_raise:
        s.last_raise = total - s.to_match
        s.acted_since_full = 0
    s.to_match = total
    s.raises[s.street, player] += 1
    s.aggressor = player
    s.pending = s.can_act & ~(1 << player)


@kernel
def _play_on(s, first, log):
    """Go on to the next decision, from seat `first` clockwise, through streets, showdowns and deals (4.9)."""
    n = np.int64(s.rules.num_players)
    while True:
        if not is_one(s.in_hand):
            if is_one(s.can_act) and s.pending and owed(s, next_seat(s.pending, 0, n)) == 0:
                s.pending = 0
            if s.pending:
                s.current_player = next_seat(s.pending, first, n)
                return
            if s.street != state.RIVER:
                _next_street(s, log)
                first = (s.button if s.rules.street_order == state.LEFT_OF_BUTTON else s.current_player) + 1
                continue
        end_hand(s, log)
        if s.terminal:
            return
        deal_next_hand(s, log)
        first = s.big_blind_seat + 1


@kernel
def _next_street(s, log):
    """Deal the next board cards; if no more can be bet, show the hands first (3.7, 5.1, 6.1)."""
    if is_one(s.can_act):
        return_uncalled(s, log)
        show_all_in(s, log)
    effects.take_bets_in(s, log)
    s.street += 1
    effects.deal_board(s, log)
    begin_betting(s)


@kernel
def forfeit(s, player, log):
    """Remove `player`: fold the hand, and give the last place left; where chips are paid, all are lost (8.6)."""
    ev.log_note(log, table.FORFEIT, player, 0)
    effects.fold_hand(s, player, log)
    if s.rules.format == state.CASH or s.rules.returns == state.CHIPS:
        _share_stack(s, player)
    place = count_bits(s.live)
    effects.eliminate(s, player, log)
    if s.rules.format != state.CASH:
        finish(s, player, place, 1 << player, s.stacks, log)
    _play_on(s, player, log)


@kernel(inline=True)
def _share_stack(s, player):
    """`player` loses all chips: the pot keeps its part, what is behind is paid to the others in equal parts (8.6)."""
    s.rewards[player] -= s.start_stacks[player]
    others = s.live & ~(1 << player)
    for p in range(s.rules.num_players):
        if others >> p & 1:
            s.rewards[p] += s.stacks[player] / count_bits(others)
    s.start_stacks[player] = s.stacks[player]  # nothing more to pay at the end of the hand


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


@kernel
def determinize(s, player, seed):
    """Re-deal the cards that `player` has not seen: hands that were not shown, the board to come, the rest."""
    begin_world(s, seed)
    num_known = 0
    for place in range(NUM_CARDS):
        if _has_seen(s, player, place):
            s.deck[num_known], s.deck[place] = s.deck[place], s.deck[num_known]
            num_known += 1
    canonical_shuffle(s, s.deck, num_known, NUM_CARDS)
    for place in range(NUM_CARDS - 1, -1, -1):
        if _has_seen(s, player, place):
            num_known -= 1
            s.deck[num_known], s.deck[place] = s.deck[place], s.deck[num_known]


@kernel
def _has_seen(s, player, place):
    """Return whether `player` has seen the card at `place` of the deck: its own, a shown one, or on the board."""
    board = 2 * np.int64(s.rules.num_players)
    if place >= board:
        return place < board + state.BOARD_CARDS[s.street]
    seat = place >> 1
    return s.shown >> seat & 1 or (seat == player and s.dealt >> seat & 1)
