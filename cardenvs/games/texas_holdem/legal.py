"""Legal actions of Texas hold'em, and why an action is illegal. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.texas_holdem import actions, state
from cardenvs.games.texas_holdem.limit import is_capped, is_closed, pot_total
from cardenvs.kits.cards import lowest_card


@kernel(inline=True)
def owed(s, player):
    """Return the chips that `player` has to put in to call (4.4)."""
    bet = s.bets[s.street, player]
    to_match = np.int64(s.to_match)
    if s.can_act & ~(1 << player) == 0:
        to_match = _largest_other_bet(s, player)
    return max(0, min(np.int64(s.stacks[player]), to_match - bet))


@kernel
def _largest_other_bet(s, player):
    """Return the largest bet of the others in the hand: all there is to call if they are all-in (4.2)."""
    largest = 0
    for p in range(s.rules.num_players):
        if s.in_hand >> p & 1 and p != player:
            largest = max(largest, np.int64(s.bets[s.street, p]))
    return largest


@kernel
def winnable(s, player):
    """Return the chips of the pot that `player` can win: from each seat at most its own chips."""
    own = np.int64(s.stacks[player]) + s.chips_in[player]
    chips = np.int64(s.dead)
    for p in range(s.rules.num_players):
        chips += min(own, np.int64(s.chips_in[p]))
    return chips


@kernel
def raise_refused(s, player):
    """Return 0 if `player` may bet or raise, else the code of the reason (4.6, 4.7, 12.3, 12.6)."""
    to_call = owed(s, player)
    if s.stacks[player] <= to_call:
        return actions.ONLY_ALL_IN_CALLS
    if not _somebody_can_answer(s, player):
        return actions.NOBODY_TO_RAISE
    if s.rules.betting == state.LIMIT:
        if is_capped(s):
            return actions.CAPPED
        closed = is_closed(s, player, to_call)
    elif s.rules.reopen_rule == state.CUMULATIVE:
        closed = s.acted >> player & 1 and to_call < s.last_raise
    else:
        closed = s.acted_since_full >> player & 1
    return actions.NOT_REOPENED if closed else 0


@kernel
def _somebody_can_answer(s, player):
    """Return whether an opponent in the hand has chips to call more than the current bet (4.6)."""
    others = s.can_act & ~(1 << player)
    while others:
        p = lowest_card(others)
        if s.bets[s.street, p] + s.stacks[p] > s.to_match:
            return True
        others &= others - 1
    return False


@kernel(inline=True)
def all_in_total(s, player):
    """Return the total of going all-in."""
    return np.int64(s.bets[s.street, player]) + s.stacks[player]


@kernel(inline=True)
def largest_raise(s, player):
    """Return the largest total of a bet or raise: all-in, or less if there is a limit (4.5, 12.2, 13.1)."""
    if s.rules.betting == state.LIMIT:
        return smallest_raise(s, player)
    if s.rules.betting == state.POT_LIMIT:
        return min(max(pot_total(s, owed(s, player)), smallest_raise(s, player)), all_in_total(s, player))
    return all_in_total(s, player)


@kernel(inline=True)
def smallest_raise(s, player):
    """Return the smallest total of a bet or raise: a full one, or all-in if the stack is smaller (4.5, 12.2)."""
    return min(np.int64(s.to_match) + s.last_raise, all_in_total(s, player))


@kernel
def legal_actions(s, out):
    """List the legal actions of the player to act, ascending (4.5, 4.10)."""
    player = np.int64(s.current_player)
    to_call = owed(s, player)
    n = _list_calls(to_call, out)
    if raise_refused(s, player):
        return n
    low, high = smallest_raise(s, player), largest_raise(s, player)
    if s.rules.betting == state.FULL:
        for total in range(low, high + 1):
            out[n] = actions.FULL_RAISE_0 + total
            n += 1
        return n
    pot_after_call = np.int64(s.pot) + to_call
    if s.rules.betting == state.FCPA:
        total = s.to_match + pot_after_call
        if low <= total <= high:
            out[n] = actions.FCPA_POT
            n += 1
            if total == high:
                return n
    else:
        n = _legal_fractions(s, pot_after_call, low, high, out, n)
    out[n] = actions.largest_id(s)
    return n + 1


@kernel
def legal_but_amounts(s, out, bounds):
    """List the legal actions, but with betting="full" give only the bounds of the raises (core's Amounts)."""
    bounds[0] = 0
    bounds[1] = -1
    if s.rules.betting != state.FULL:
        return legal_actions(s, out)
    player = np.int64(s.current_player)
    if not raise_refused(s, player):
        bounds[0] = smallest_raise(s, player)
        bounds[1] = largest_raise(s, player)
    return _list_calls(owed(s, player), out)


@kernel(inline=True)
def _list_calls(to_call, out):
    """List fold, if there is something to call, and check or call."""
    n = 0
    if to_call > 0:
        out[n] = actions.FOLD
        n += 1
    out[n] = actions.CHECK_CALL
    return n + 1


@kernel(inline=True)
def _legal_fractions(s, pot_after_call, low, high, out, n):
    """List the smallest raise and the fractions of the pot between it and the largest raise (4.10)."""
    if low == high:
        return n
    out[n] = actions.MIN_RAISE
    n += 1
    last = low
    to_match = np.int64(s.to_match)
    for k in range(len(actions.FRACTIONS)):
        total = actions.fraction_raise(pot_after_call, to_match, k)
        if total >= high:
            break
        if total > last:
            out[n] = actions.FRACTION_0 + k
            n += 1
            last = total
    return n


@kernel
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else a code of actions.py."""
    player = np.int64(s.current_player)
    to_call = owed(s, player)
    if action == actions.FOLD:
        return 0 if to_call > 0 else actions.NOTHING_TO_CALL
    if action == actions.CHECK_CALL:
        return 0
    low, high = smallest_raise(s, player), largest_raise(s, player)
    pot_after_call = np.int64(s.pot) + to_call
    total = actions.asked_total(s, action, pot_after_call, low, high)
    refused = raise_refused(s, player)
    if refused:
        return refused
    if total < low:
        return actions.BELOW_MINIMUM
    if action >= actions.RAISE_TO or s.rules.betting == state.FULL:
        return actions.ABOVE_STACK if total > high else 0
    if s.rules.betting == state.FCPA:
        if action == actions.FCPA_POT:
            return actions.SAME_AS_ALL_IN if total > high else 0
        return actions.SAME_AS_LOWER if s.to_match + pot_after_call == high else 0
    if action == actions.largest_id(s):
        return 0
    if total >= high:
        return actions.SAME_AS_ALL_IN
    return (
        actions.SAME_AS_LOWER
        if action >= actions.FRACTION_0 and total == _next_lower(s, action, pot_after_call, low)
        else 0
    )


@kernel
def _next_lower(s, action, pot_after_call, low):
    """Return the total of the next lower fraction of the pot, at least the smallest raise."""
    if action == actions.FRACTION_0:
        return low
    return max(low, actions.fraction_raise(pot_after_call, np.int64(s.to_match), action - actions.FRACTION_0 - 1))
