"""Paying food for a bird (rules.md 6).

Two tokens of any kind may replace one token of a certain food. Payments that contain an unneeded token are not offered.
Let d be the number of tokens of a payment that match specific icons of the cost, for each food at most the number of
its icons. A payment of m tokens pays for C specific and W wild icons if m + d >= 2 C + W: a matching token pays an icon
alone, any two others pay a specific icon, and any one a wild icon. Removing a token lowers m + d by one or two. The
payments without an unneeded token are therefore those with

    m + d == 2 C + W

where a token is *worth* 2 if it matches an icon that is not yet matched, else 1. If the cost lists alternatives (6.1),
a matching token is worth 2, any other token 1, and the total to pay is 2.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan.cards import BIRD_COST, BIRD_COST_OR, NUM_FOODS, WILD

_SPECIFIC = BIRD_COST[:, :WILD].sum(axis=1)
_WORTH = np.where(BIRD_COST_OR == 1, 2, 2 * _SPECIFIC + BIRD_COST[:, WILD])
BIRD_WORTH = _WORTH.astype(np.int8)
"""Total worth to pay for each bird, (170,)."""


@kernel
def can_pay(s, player, bird):
    """Return whether the supply of `player` can pay the food cost of a bird."""
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
    """Return the bit set of foods that the next token may have; foods are paid in ascending order.

    Args:
        bird: the bird being paid for; s.paid has the tokens paid so far.
        worth: worth left to pay.
        lowest: lowest food that can still be paid.
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
    """Return whether more tokens of `food`, after one just spent, and of later foods can be worth exactly `worth`."""
    reached = np.int64(1)  # bit k: a worth of k can be reached
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
