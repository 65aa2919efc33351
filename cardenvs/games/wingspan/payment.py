"""Paying food for a bird (rules.md 6).

Two tokens of any kind may stand for one icon. A payment that could do without one of its tokens is of no use to
anybody and is not offered. One number describes what is left: let d be the tokens of a payment that match specific
icons of the cost, at most as many of each food as there are icons. A payment of m tokens pays a cost of C specific and
W wild icons if m + d >= 2 C + W and m is at most two for each icon: an icon that is not matched takes one token if it
is wild and two otherwise, and whatever is left over goes in pairs. A token less lowers m + d by one or two. So the
payments without a token too many are those with

    m + d == 2 C + W

and a token is *worth* 2 if it matches an icon not yet matched, else 1. With alternatives (6.1) one matching token is
worth 2, any other token 1, and 2 is to be paid.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan.cards import BIRD_COST, BIRD_COST_OR, NUM_FOODS, WILD

_SPECIFIC = BIRD_COST[:, :WILD].sum(axis=1)
_WORTH = np.where(BIRD_COST_OR == 1, 2, 2 * _SPECIFIC + BIRD_COST[:, WILD])
BIRD_WORTH = _WORTH.astype(np.int8)
"""What the tokens paid for a bird are worth in all, (170,)."""


@kernel
def can_pay(s, player, bird):
    """Whether the supply of `player` reaches for the food of a bird."""
    matched, total = np.int64(0), np.int64(0)
    for food in range(NUM_FOODS):
        have = np.int64(s.food[player, food])
        total += have
        matched += min(have, np.int64(BIRD_COST[bird, food]))
    if BIRD_COST_OR[bird]:
        matched = min(matched, np.int64(1))
    return total + matched >= BIRD_WORTH[bird]


@kernel
def payable_foods(s, player, bird, worth, lowest):
    """The foods, as bits, of which the next token may be, foods being paid in their order.

    Args:
        bird: what is paid for; s.paid says what has been paid so far.
        worth: what is left to pay.
        lowest: tokens of lower foods can no longer be paid.
    """
    foods = np.int64(0)
    for food in range(lowest, NUM_FOODS):
        if s.food[player, food] == 0:
            continue
        left = worth - (2 if s.paid[food] < BIRD_COST[bird, food] else 1)
        if left >= 0 and _can_reach(s, player, bird, left, food):
            foods |= 1 << food
    return foods


@kernel
def _can_reach(s, player, bird, worth, food):
    """Whether tokens of `food`, of which one has just been spent, and of later foods can be worth exactly `worth`."""
    reached = np.int64(1)  # bit k: a worth of k can be made up
    spent = 1
    for f in range(food, NUM_FOODS):
        matching = np.int64(BIRD_COST[bird, f]) - s.paid[f] - spent
        value = np.int64(0)
        longer = reached
        for _ in range(s.food[player, f] - spent):
            value += 2 if matching > 0 else 1
            if value > worth:
                break
            matching -= 1
            longer |= reached << value
        reached = longer
        spent = 0
    return reached >> worth & 1 == 1
