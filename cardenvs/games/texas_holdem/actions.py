"""Actions of Texas hold'em, and why one may be illegal. Amounts are totals that a player has in on the street.

    betting="pot_fractions"                              "fcpa"              "full"
    id                                                   id                  id
    0       fold                                         0  fold             0      fold
    1       check, or call                               1  check, or call   1      check, or call
    2       the smallest raise                           2  raise by the pot 1 + t  bet or raise to t
    3..8    raise by 1/3 1/2 3/4 1 3/2 2 of the pot      3  all in
    9       all in

A total below the smallest raise has no id. A total that reaches the stack is the all-in (in "fcpa", one that exceeds
it). If two ids mean the same total, the lower one is legal.

    betting="limit"                                      "pot_limit"
    0       fold                                         0..5  as in "pot_fractions", up to 3/4 of the pot
    1       check, or call                               6     raise by the pot, or all in if that is less
    2       bet, raise or complete

Unless betting is "full", the code RAISE_TO + t is a bet or raise to exactly t: it is applied and replayed like an id,
but no mask offers it. `raise_action` returns the id or code of an amount.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.texas_holdem.state import FCPA, FULL, LIMIT, POT_LIMIT

FOLD, CHECK_CALL = 0, 1
MIN_RAISE = 2
FRACTION_0 = 3
ALL_IN = 9
FCPA_POT, FCPA_ALL_IN = 2, 3
LIMIT_RAISE = 2
POT_RAISE = 6  # with betting="pot_limit"
FULL_RAISE_0 = 1  # FULL_RAISE_0 + t is a raise to t

RAISE_TO = 1 << 26  # far above the ids of those modes, and RAISE_TO + MAX_CHIPS is below core's codes
"""RAISE_TO + t is the code of a bet or raise to the total t, except with betting="full"."""

FRACTIONS = ((1, 3), (1, 2), (3, 4), (1, 1), (3, 2), (2, 1))  # of the pot after a call
FRACTION_NAMES = ("1/3 pot", "1/2 pot", "3/4 pot", "pot", "3/2 pot", "2x pot")
_OVER = np.array([over for over, _ in FRACTIONS])
_UNDER = np.array([under for _, under in FRACTIONS])

# Codes that explain_illegal returns; their texts are in view.py.
(
    NOTHING_TO_CALL,
    ONLY_ALL_IN_CALLS,
    NOBODY_TO_RAISE,
    NOT_REOPENED,
    BELOW_MINIMUM,
    ABOVE_STACK,
    SAME_AS_LOWER,
    SAME_AS_ALL_IN,
    CAPPED,
) = range(1, 10)
_LAST_ID = {"pot_fractions": ALL_IN, "fcpa": FCPA_ALL_IN, "limit": LIMIT_RAISE, "pot_limit": POT_RAISE}


def num_actions(options):
    """Return the number of action ids."""
    if options.betting == "full":
        return FULL_RAISE_0 + sum(options.first_stacks()) + 1
    return _LAST_ID[options.betting] + 1


def max_legal(options):
    """Return the largest possible number of legal actions."""
    return num_actions(options)


def raise_action(options, total):
    """Return the id or code of a bet or raise to `total`."""
    return (FULL_RAISE_0 if options.betting == "full" else RAISE_TO) + int(total)


@kernel(inline=True)
def fraction_raise(pot_after_call, to_match, k):
    """Return the total of a raise by fraction `k` of the pot, rounded half up (4.10)."""
    return to_match + (2 * _OVER[k] * pot_after_call + _UNDER[k]) // (2 * _UNDER[k])


@kernel(inline=True)
def largest_id(s):
    """Return the id of the largest raise; not for betting="full", where it is an ordinary total."""
    if s.rules.betting == FCPA:
        return FCPA_ALL_IN
    if s.rules.betting == LIMIT:
        return LIMIT_RAISE
    return POT_RAISE if s.rules.betting == POT_LIMIT else ALL_IN


@kernel
def asked_total(s, action, pot_after_call, low, high):
    """Return the total that a raise asks for, legal or not.

    Args:
        s: one record.
        action: id or code of a raise.
        pot_after_call: the pot if the player calls.
        low, high: totals of the smallest and the largest raise.
    """
    if s.rules.betting == FULL:
        return action - FULL_RAISE_0
    if action >= RAISE_TO:
        return action - RAISE_TO
    if action == largest_id(s):
        return high
    if s.rules.betting == FCPA:
        return s.to_match + pot_after_call
    if action == MIN_RAISE:
        return low
    return fraction_raise(pot_after_call, np.int64(s.to_match), action - FRACTION_0)
