"""Betting with a limit: sizes and cap of fixed limit, and the pot limit. Paragraph numbers are those of rules.md.

With betting="limit", `last_raise` of the record is what the next bet or raise adds to `to_match`: the size of a bet, or
less if it completes a short all-in. `num_bets` counts the bets and raises of the street.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.games.texas_holdem import state
from cardenvs.kits.cards import count_bits


@kernel(inline=True)
def bet_size(s):
    """Return the size of a bet or raise on this street (12.1)."""
    small = np.int64(s.big_blind) if s.rules.small_bet == NONE else np.int64(s.rules.small_bet)
    if s.street < state.TURN:
        return small
    return 2 * small if s.rules.big_bet == NONE else np.int64(s.rules.big_bet)


@kernel(inline=True)
def begin_counting(s):
    """Begin the count of bets on a street (12.3)."""
    s.last_raise = bet_size(s)
    s.num_bets = s.street == state.PREFLOP and s.rules.blind_counts
    s.cap_stays = 0


@kernel(inline=True)
def count_raise(s, total):
    """Count a bet or raise to `total`, before it is the bet to match; a short all-in may not count (12.2, 12.5)."""
    size, above = bet_size(s), total - s.to_match
    missing = s.last_raise - above  # of the full bet or raise
    if missing > 0 and s.rules.short_raise != state.ADDITIVE and 2 * above < size:
        s.last_raise = missing
        return
    s.last_raise = size + (missing if s.rules.short_raise == state.WHOLE_BETS else 0)
    s.num_bets += 1
    s.acted_since_full = 0
    if is_capped(s) and count_bits(s.in_hand) > 2:
        s.cap_stays = 1


@kernel(inline=True)
def is_capped(s):
    """Return whether nobody may bet or raise any more on this street (12.3, 12.4)."""
    if s.rules.max_bets == NONE or s.num_bets < s.rules.max_bets:
        return False
    return s.rules.heads_up_cap or s.cap_stays or count_bits(s.in_hand) > 2


@kernel(inline=True)
def is_closed(s, player, to_call):
    """Return whether only short all-ins have been added since `player` acted, too few to raise again (12.6)."""
    if not s.acted_since_full >> player & 1:
        return False
    return s.rules.reopen_rule == state.SINGLE or 2 * to_call < bet_size(s)


@kernel(inline=True)
def is_completion(s):
    """Return whether a bet or raise would complete a short all-in to a full bet (12.5)."""
    return s.rules.betting == state.LIMIT and s.last_raise < bet_size(s)


@kernel(inline=True)
def pot_total(s, to_call):
    """Return the total of a bet or raise by the pot, including the call (13.1)."""
    return np.int64(s.to_match) + s.pot + to_call


def raise_word(s) -> str:
    """Return what a bet or raise is called now: "bet", "raise" or "complete"."""
    if is_completion(s):
        return "complete"
    return "raise" if s.to_match else "bet"
