"""Weights of the policies `greedy` and `planner` (strategy.py), in hundredths of a point unless stated otherwise."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan.cards import TURNS_PER_ROUND

_NUM_TURNS = int(TURNS_PER_ROUND.sum())

(
    FOOD_PRICE,  # a token
    FOOD_FEW,  # added for each token short of four
    CARD_PRICE,
    CARD_FEW,  # added for each card short of three
    EGG_PRICE,
    EGG_FEW,  # added for each egg short of two
    WANTED,  # a token that the most wanted bird lacks
    ROOM,  # room for one egg
    PLAY_BASE,  # playing a bird, added to its worth
    USES_0,  # uses of a brown power, in hundredths of the turns left, by habitat
    USES_1,
    USES_2,
    PINK_USES,
    ROW_UNIT,  # a bird that raises the amount of its row, for each turn left
    ROW_TRADE,  # a bird that gives its row a trade, for each turn left
    BONUS,  # of a bird's value for bonus cards, in hundredths
    GOAL_NOW,  # an item that the goal of the round counts
    GOAL_LATER,  # an item that a later goal counts
    GOAL_NEST_BIRD,  # of these, in hundredths, for a bird whose nest may get eggs
    UNLOCK,  # of the gain from making the most wanted bird payable, in hundredths
    SHORT,  # a token that a bird in hand lacks
    PAID,  # of the price of the food that a bird costs, in hundredths
    BIRD_SCALE,  # of a bird's worth when cards are compared, in hundredths
    CARD_FLOOR,  # worth below which a bird card is worth nothing
    SETUP_BASE,  # worth that a bird card needs to be kept in the setup
    SETUP_RANK,  # added for each better card
    RESET,  # resetting the birdfeeder
    ROW_USE,  # of the gains of a row's powers when its action is valued, in hundredths
) = range(28)
NUM_WEIGHTS = 28

GREEDY = np.array([
    (40, 40), (0, 0), (30, 30), (0, 0), (100, 100), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0),
    (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (100, 100), (100, 100), (0, 0), (0, 0), (100, 100),
    (20, 20), (100, 100),
], np.int64)  # fmt: skip

PLANNER = np.array([
    (129, -1), (36, 12), (61, -4), (203, 12), (86, 69), (60, 4), (63, 0), (17, 39), (90, 0), (37, 33), (30, 27),
    (9, 14), (46, 44), (0, 32), (2, 7), (60, 62), (92, 91), (37, 32), (42, -4), (50, 0), (86, 3), (50, 80), (138, 5),
    (429, 436), (72, 30), (60, 60), (38, 28), (84, 15),
], np.int64)  # fmt: skip


@kernel
def weight(weights, k, turns):
    """Return weight k when `turns` turns are left, interpolated between its value at the first turn and at the last."""
    return (weights[k, 0] * turns + weights[k, 1] * (_NUM_TURNS - turns)) // _NUM_TURNS
