"""Two policies for gin rummy: a strong one, and the plain one that it is measured against.

Both know what the player to act may know: the own hand, the discard pile and who put what there, the cards that the
opponent has taken from it. Card sets are int64 bit sets; quantities are in points of deadwood.
"""

import numpy as np

from cardenvs.core.cards import NUM_CARDS, lowest_card
from cardenvs.core.kernel import kernel
from cardenvs.games.gin_rummy.actions import (
    BIG_GIN,
    DONE,
    DRAW_STOCK,
    KNOCK_0,
    LAY_OFF_ON_RUN_0,
    PASS,
    TAKE_UPCARD,
)
from cardenvs.games.gin_rummy.melds import (
    MAX_MELDS,
    NUM_RANKS,
    NUM_SUITS,
    best_layoffs,
    best_melded,
    hand_points,
    meld_outs,
    min_deadwood,
    min_deadwood_after_discard,
    neighbours,
)
from cardenvs.games.gin_rummy.rules import knocking_hand, top_discard
from cardenvs.games.gin_rummy.state import DISCARD, FIRST_UPCARD, HAND_SIZE, LAYOFF, WALL

_ALL_CARDS = (1 << NUM_CARDS) - 1

# Weights, found by self-play on duplicate deals (evolution strategy against a pool of earlier versions).
_DRAW_VALUE = 0.11  # of one draw's expected saving, for each card in the stock: so many draws are looked ahead
_KNOCK_VALUE = 18.5  # of being sure to be able to knock after the next draw
_TAKE_MARGIN = 0.7  # what taking the upcard must be better by than a draw from the stock
_FED_BASE, _FED_PER_POINT = 6.3, 0.6  # what it costs when the opponent melds the discard
_COLD = 0.7  # how much less likely the opponent holds a neighbour of what he discarded
_REFUSED = 0.45  # how much less likely the opponent could use what is like a card that he has passed over
_KNOCK_AT_20, _KNOCK_PER_CARD = 6.0, 1.0  # the most deadwood to knock with when 20 cards are in the stock; and slope
_KNOCK_PER_GIN_OUT = 3.0  # how much less if so many cards would make gin
_MAX_GIN_OUTS = 3


@kernel
def heuristic(s, legal, n, rng):
    """Play well: draw towards a knock, discard what is safe, knock early or wait for gin and the undercut.

    Args:
        s: one record, not terminal.
        legal: int32 array, the legal actions in the first `n` entries.
        n: int.
        rng: not used; the policy is deterministic.

    Returns:
        One of the legal actions.
    """
    if s.phase == DISCARD:
        return _choose_discard(s, legal, n)
    if s.phase == WALL:
        return _choose_knock(s, legal, n, True)
    if s.phase == LAYOFF:
        return _choose_layoff(s, legal, n)
    return _choose_draw(s, legal, n)


@kernel
def greedy(s, legal, n, rng):
    """Play plainly: take the upcard if it lowers the deadwood, discard for the least deadwood, knock when possible."""
    if s.phase == LAYOFF:
        return _choose_layoff(s, legal, n)
    hand = knocking_hand(s)
    if s.phase != DISCARD and s.phase != WALL:
        taken = legal[0] == TAKE_UPCARD and min_deadwood_after_discard(hand | 1 << top_discard(s)) < min_deadwood(hand)
        return np.int64(legal[0] if taken else legal[n - 1])
    return np.int64(0)
