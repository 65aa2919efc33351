"""The end of a hand: showdown and pots. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.seats import wrap
from cardenvs.games.texas_holdem import effects, state, table
from cardenvs.games.texas_holdem.evaluator import rank_in_deck
from cardenvs.games.texas_holdem.places import count_ahead, eliminate_broke, finish
from cardenvs.games.texas_holdem.seats import is_one, next_seat
from cardenvs.kits.cards import count_bits


@kernel
def end_hand(s, log):
    """End the hand: showdown if two or more are left, pots, rewards, eliminations, end of the game (5 to 8)."""
    return_uncalled(s, log)
    if not is_one(s.in_hand):
        _showdown(s, log)
    _pay_pots(s, log)
    if s.rules.format == state.CASH or s.rules.returns == state.CHIPS:
        for p in range(s.rules.num_players):
            s.rewards[p] += s.stacks[p] - s.start_stacks[p]
    eliminate_broke(s, log)
    if is_one(s.live) or s.hand_number == _last_hand(s):
        s.terminal = 1
        if s.rules.format != state.CASH:
            for p in range(s.rules.num_players):
                if s.live >> p & 1:
                    finish(s, p, count_ahead(s, p, s.live, s.stacks) + 1, s.live, s.stacks, log)


@kernel(inline=True)
def _last_hand(s):
    """Return the number of the last hand that can be played (8.4, 9.1)."""
    if s.rules.format == state.CASH:
        return s.rules.num_hands
    return state.MAX_HANDS if s.rules.max_hands == NONE else s.rules.max_hands


@kernel
def return_uncalled(s, log):
    """Return to the largest contributor what it put in above everybody else (5.1)."""
    n = np.int64(s.rules.num_players)
    leader, most, second = next_seat(s.in_hand, 0, n), np.int64(-1), np.int64(0)
    for p in range(n):
        chips = np.int64(s.chips_in[p])
        if chips > most and s.in_hand >> p & 1:
            second = max(second, most)
            leader, most = p, chips
        else:
            second = max(second, chips)
    if most > second:
        effects.take_back(s, leader, most - second, log)


@kernel
def show_all_in(s, log):
    """Show all hands once no more can be bet (6.1)."""
    if s.rules.reveal_all_in and s.shown == 0:
        for p in range(s.rules.num_players):
            if s.in_hand >> p & 1:
                effects.show_hand(s, p, log)


@kernel
def _showdown(s, log):
    """Rank the hands and show them in order, the last aggressor on the river first (6.2)."""
    n = np.int64(s.rules.num_players)
    for p in range(n):
        if s.in_hand >> p & 1:
            s.ranks[p] = rank_in_deck(s.deck, 2 * p, 2 * n)
    if is_one(s.can_act):
        show_all_in(s, log)
    if s.shown:
        return
    seat = s.button + 1
    if s.aggressor != ev.NO_PLAYER and s.raises[state.RIVER, s.aggressor] > 0:
        seat = np.int64(s.aggressor)
    for k in range(n):
        p = wrap(wrap(seat, n) + k, n)
        if s.in_hand >> p & 1:
            if _is_beaten(s, p):
                ev.log_note(log, table.MUCK, p, 0)
            else:
                effects.show_hand(s, p, log)


@kernel
def _is_beaten(s, player):
    """Return whether a better hand has been shown that plays for all the pots of `player`."""
    for p in range(s.rules.num_players):
        if s.shown >> p & 1 and s.chips_in[p] >= s.chips_in[player] and s.ranks[p] > s.ranks[player]:
            return True
    return False


@kernel
def _pay_pots(s, log):
    """Split the contributions at that of each player in the hand, lowest first, and pay pot by pot (5.2 to 5.5)."""
    n = np.int64(s.rules.num_players)
    total, paid = np.int64(s.pot), np.int64(0)
    rest = np.int64(s.in_hand)  # players for the pots still to be paid
    while rest:
        amount, above = next_pot(s, rest, np.int64(s.in_hand), total - paid)
        if amount > 0:
            _pay_pot(s, rest, amount, n, log)
        paid += amount
        rest = above
    for p in range(n):
        s.ranks[p] = 0


@kernel
def next_pot(s, rest, divided, left):
    """Return the chips of the lowest pot that is left, and the players for the pots above it (5.2, 5.3).

    Args:
        s: the record, before or while the pots of a hand are paid.
        rest: bit mask of the players who can win this pot.
        divided: bit mask of the players at whose contributions the chips are divided.
        left: chips in this pot and those above it.
    """
    n = np.int64(s.rules.num_players)
    top = np.int64(0)
    for p in range(n):
        if rest >> p & 1:
            top = max(top, np.int64(s.chips_in[p]))
    cut = top
    for p in range(n):
        if rest & divided & (1 << p):
            cut = min(cut, np.int64(s.chips_in[p]))
    if cut == top:
        return left, np.int64(0)
    higher, above = np.int64(0), rest & ~divided
    for p in range(n):
        if s.chips_in[p] > cut:
            higher += np.int64(s.chips_in[p]) - cut
            above |= rest & (1 << p)
    return left - higher, above


@kernel
def _pay_pot(s, eligible, amount, n, log):
    """Pay a pot to the best hands; odd chips go one each to winners from the button's left (5.4)."""
    ev.log_note(log, table.SETTLE_POT, ev.NO_PLAYER, amount)
    best, winners = np.int64(-1), np.int64(0)
    for p in range(n):
        if eligible >> p & 1:
            ev.log_note(log, table.ELIGIBLE, p, 0)
            if s.ranks[p] > best:
                best, winners = np.int64(s.ranks[p]), np.int64(0)
            if s.ranks[p] == best:
                winners |= 1 << p
    sharers = count_bits(winners)
    share = amount // sharers
    odd = amount - share * sharers
    seat = s.button + 1
    while winners:
        p = next_seat(winners, seat, n)
        winners &= ~(1 << p)
        effects.win_chips(s, p, share + (1 if odd > 0 else 0), log)
        odd -= 1
        seat = p + 1
