"""The start of a hand: positions, antes, blinds and cards. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.rng import DEAL, random_below, start_stream
from cardenvs.core.seats import wrap
from cardenvs.games.texas_holdem import effects, state, table
from cardenvs.games.texas_holdem.limit import begin_counting
from cardenvs.games.texas_holdem.seats import next_seat
from cardenvs.kits.cards import NUM_CARDS, count_bits
from cardenvs.kits.deck import put_in_order

_BUTTON = 1  # random stream of the first button; stream (DEAL, k) deals hand k


@kernel
def first_positions(s, n, log):
    """Place the first button and the blinds; heads-up the button posts the small blind (2.3, 3.1)."""
    button = np.int64(s.rules.button)
    if button == NONE:
        button = 0
        if s.rules.button_start == state.RANDOM_BUTTON:
            start_stream(s, _BUTTON, 0)
            button = random_below(s.rng, n)
    if s.rules.button_rule == state.MOVING:
        button = next_seat(s.live, button, n)
    is_pair = count_bits(s.live) == 2
    if is_pair and not s.live >> button & 1:
        button = next_seat(s.live, next_seat(s.live, button, n) + 1, n)
    if is_pair or s.rules.blinds[0] == 0:
        small = button
    elif s.rules.button_rule == state.MOVING:
        small = next_seat(s.live, button + 1, n)
    else:
        small = wrap(button + 1, n)
    effects.place_button(s, button, log)
    s.small_blind_seat = small
    s.big_blind_seat = next_seat(s.live, small + 1, n)


@kernel
def deal_next_hand(s, log):
    """Move button and blinds and deal the next hand (3.2 to 3.5)."""
    effects.announce_hand(s, log)
    if s.hands_to_level > 0:
        s.hands_to_level -= 1
        if s.hands_to_level == 0:
            effects.set_level(s, s.level + 1, log)
            s.hands_to_level = s.rules.hands_per_level if levels_rise(s) else 0
    _next_positions(s, np.int64(s.rules.num_players), log)
    begin_hand(s, s.deck[:0], log)


@kernel
def levels_rise(s):
    """Return whether there is a higher blind level (2.2)."""
    next_level = s.level + 1
    if s.rules.format == state.CASH or s.rules.blinds[0] != NONE or next_level == state.MAX_LEVELS:
        return False
    return s.rules.levels[2 * next_level] != NONE


@kernel
def _next_positions(s, n, log):
    """Move button and blinds for the next hand, by the dead or the moving button rule (3.3 to 3.5)."""
    if s.rules.button_rule == state.MOVING:
        button = next_seat(s.live, s.button + 1, n)
        small = button if count_bits(s.live) == 2 or s.rules.blinds[0] == 0 else next_seat(s.live, button + 1, n)
        big = next_seat(s.live, small + 1, n)
    else:
        big = next_seat(s.live, s.big_blind_seat + 1, n)
        if count_bits(s.live) == 2:
            small = next_seat(s.live, big + 1, n)
            button = small
        else:
            small = np.int64(s.big_blind_seat)
            button = small if s.rules.blinds[0] == 0 else np.int64(s.small_blind_seat)
    effects.place_button(s, button, log)
    s.small_blind_seat = small
    s.big_blind_seat = big


@kernel
def begin_hand(s, given, log):
    """Post antes and blinds and deal the cards (2.2, 3.6, 4.1, 4.2)."""
    n = np.int64(s.rules.num_players)
    s.street = state.PREFLOP
    if s.rules.blinds[0] != NONE:
        effects.set_blinds(s, s.rules.blinds[0], s.rules.blinds[1], log)
    else:
        effects.set_blinds(s, s.rules.levels[2 * s.level], s.rules.levels[2 * s.level + 1], log)
    if s.rules.ante > 0 and s.rules.ante_type == state.EVERYBODY_ANTES:
        seat = np.int64(s.button)
        for _ in range(n):
            seat = wrap(seat + 1, n)
            if s.live >> seat & 1:
                effects.post_ante(s, seat, min(s.rules.ante, s.stacks[seat]), log)
    if s.live >> s.small_blind_seat & 1 and s.small_blind > 0:
        _post(s, np.int64(s.small_blind_seat), s.small_blind, table.POST_SMALL, log)
    else:
        ev.log_note(log, table.NO_SMALL_BLIND, ev.NO_PLAYER, 0)
    big = np.int64(s.big_blind_seat)
    _post(s, big, s.big_blind, table.POST_BIG, log)
    if s.rules.ante > 0 and s.rules.ante_type == state.BIG_BLIND_ANTES and s.stacks[big] > 0:
        effects.post_dead(s, big, min(s.rules.ante, s.stacks[big]), table.POST_ANTE, log)
    if s.hand_number == 1 and s.rules.posts[0] != NONE:
        _post_late(s, n, log)
    _shuffle(s, given)
    effects.deal_hole_cards(s, log)
    begin_betting(s)
    s.to_match = s.big_blind


@kernel
def _post(s, seat, blind, kind, log):
    """Post a blind, or the rest of the stack if it is smaller (4.1)."""
    chips = min(blind, s.stacks[seat])
    if chips > 0:
        effects.put_in(s, seat, chips, kind, log)


@kernel
def _post_late(s, n, log):
    """Post for players who come in: up to the big blind it is a bet, and the rest is dead (4.1)."""
    for seat in range(n):
        chips = min(np.int64(s.rules.posts[seat]), np.int64(s.stacks[seat]))
        bet = min(chips, max(0, s.big_blind - np.int64(s.bets[s.street, seat])))
        if bet > 0:
            effects.put_in(s, seat, bet, table.POST_LATE, log)
        if chips > bet:
            effects.post_dead(s, seat, chips - bet, table.POST_DEAD, log)


@kernel
def _shuffle(s, given):
    """Put the cards that the hand can use into dealing order: the given ones first, then random ones.

    Every hand has its own random stream and starts from the same order of the cards.
    """
    put_in_order(s.deck, NUM_CARDS)
    start_stream(s, DEAL, np.int64(s.hand_number))
    for k in range(given.shape[0]):
        j = k
        while s.deck[j] != given[k]:
            j += 1
        s.deck[k], s.deck[j] = s.deck[j], s.deck[k]
    for k in range(given.shape[0], 2 * s.rules.num_players + state.NUM_BOARD + state.NUM_BURNT):
        j = k + random_below(s.rng, NUM_CARDS - k)
        s.deck[k], s.deck[j] = s.deck[j], s.deck[k]


@kernel(inline=True)
def begin_betting(s):
    """Reset the betting for a new street; everybody with chips is to act (4.3, 4.9)."""
    s.to_match = 0
    s.last_raise = s.big_blind
    if s.rules.betting == state.LIMIT:
        begin_counting(s)
    s.acted = 0
    s.acted_since_full = 0
    s.pending = s.can_act
