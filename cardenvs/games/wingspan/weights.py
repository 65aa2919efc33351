"""The weights of the policies `greedy` and `planner` of Wingspan (strategy.py)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan.cards import TURNS_PER_ROUND

_NUM_TURNS = int(TURNS_PER_ROUND.sum())

(
    FOOD_PRICE,  # a token
    FOOD_FEW,  # more for each that is missing to four
    CARD_PRICE,
    CARD_FEW,  # more for each that is missing to three
    EGG_PRICE,
    EGG_FEW,  # more for each that is missing to two
    WANTED,  # a token that the bird wanted most is short of
    ROOM,  # room for an egg
    PLAY_BASE,  # to play a bird, above its worth
    USES_0,  # how often a brown power is used, in hundredths of the turns left; by habitat
    USES_1,
    USES_2,
    PINK_USES,
    ROW_UNIT,  # a bird with which its row gives one more, for each turn left
    ROW_TRADE,  # a bird with which its row has the trade
    BONUS,  # hundredths of what a bird counts for bonus cards
    GOAL_NOW,  # a thing that the goal of the round counts
    GOAL_LATER,  # one that a later goal counts
    GOAL_NEST_BIRD,  # hundredths of that, for a nest that is to have eggs
    UNLOCK,  # hundredths of what the bird wanted is better, for an action that makes it payable
    SHORT,  # a token that a bird in hand is short of
    PAID,  # hundredths of the price of the food and eggs that a bird costs
    BIRD_SCALE,  # hundredths of its worth that a bird card is worth, as compared with the others
    CARD_FLOOR,  # what a bird must be worth to be worth anything as a card
    SETUP_BASE,  # what a bird must be worth as a card to be kept
    SETUP_RANK,  # more for each better one kept
    RESET,  # a reset of the feeder
    ROW_USE,  # hundredths of what the powers of a row give that count for the action
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
