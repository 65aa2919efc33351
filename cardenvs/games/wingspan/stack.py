"""The stack of pending decisions and steps.

A row of `s.stack` is (OP, WHO, SLOT, COUNT, ARG0, ARG1): the kind, the player who decides, the slot of the bird whose
power it belongs to (or NO_SLOT), and three numbers that depend on the kind. The top row comes next. The choices of most
decisions are a bit set, where bit k is the action first_id + k.

    decision       COUNT                 ARG0                 ARG1
    CHOOSE_TURN
    USE_POWER                                                 flags
    ACCEPT                               owner of the power
    CACHE                                food
    TAKE_DICE      dice left             foods wanted         flags
    PAY_COST       worth left to pay     lowest food left
    GIVE_FOOD                                                 flags
    SETUP_FOOD     tokens left to pay    lowest food left
    GET_FOOD       tokens left           foods offered        flags
    LAY            eggs left             slots allowed        flags
    GIVE_EGGS      eggs left             slots allowed        flags
    REACT          kind of window        slots not yet used   of window
    REPEAT                               slots to choose from flags
    DRAW           cards left            debt once one drawn  flags
    MOVE                                 habitats to go to    flags
    FIRST                                seats                flags
    DRAFT                                                     flags
    KEEP_BONUS
    TRADE_CARD
    PAY_DEBT       cards left
    SETUP_BIRDS                          first bird undecided
    TUCK                                                      flags
    PLAY                                 habitats allowed     flags

    step           COUNT                 ARG0                 ARG1
    ROW            next column           habitat                          the brown powers of a row, from right to left
    POWER                                                                 the power of the bird in SLOT begins
    EACH           next player           players left                     players get their share of the power in SLOT
    WINDOW         next seat             kind                 param       players react, clockwise from WHO's left
    PLACE                                bird                 habitat     a bird that has been paid enters the mat
    END_DRAFT                                                             WHO takes the last card
    CLEAR_DRAFT                                                           cards that nobody took are discarded
    END_TURN                                                              debts, tray, next turn
    END_SETUP                                                             the secret choices take effect
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import actions
from cardenvs.games.wingspan.cards import MAX_PLAYERS, NUM_BIRDS, NUM_BONUSES, NUM_FOODS, NUM_HABITATS, TRAY_SIZE
from cardenvs.games.wingspan.state import ARG0, ARG1, COUNT, DRAFT_SIZE, MAT_SLOTS, OP, SLOT, WHO

NO_SLOT = -1

# Decisions whose choices are a bit set, decisions about cards of a hand, steps
(
    CHOOSE_TURN,
    USE_POWER,
    ACCEPT,
    CACHE,
    TAKE_DICE,
    PAY_COST,
    GIVE_FOOD,
    SETUP_FOOD,
    GET_FOOD,
    LAY,
    GIVE_EGGS,
    REACT,
    REPEAT,
    DRAW,
    MOVE,
    FIRST,
    DRAFT,
    KEEP_BONUS,
    TRADE_CARD,
    PAY_DEBT,
    SETUP_BIRDS,
    TUCK,
    PLAY,
    ROW,
    POWER,
    EACH,
    WINDOW,
    PLACE,
    END_DRAFT,
    CLEAR_DRAFT,
    END_TURN,
    END_SETUP,
) = range(32)
FIRST_CARD_OP, FIRST_STEP = TRADE_CARD, ROW

_DECISIONS = (
    ("turn", actions.TURN_0, 4),
    ("use", actions.USE, 1),
    ("accept", actions.USE, 1),
    ("cache", actions.USE, 1),
    ("dice", actions.TAKE_DIE_0, actions.PAY_FOOD_0 - actions.TAKE_DIE_0),
    ("pay_cost", actions.PAY_FOOD_0, NUM_FOODS),
    ("give_food", actions.PAY_FOOD_0, NUM_FOODS),
    ("setup_food", actions.PAY_FOOD_0, NUM_FOODS),
    ("get_food", actions.GAIN_FOOD_0, NUM_FOODS),
    ("lay", actions.LAY_EGG_0, MAT_SLOTS),
    ("give_eggs", actions.DISCARD_EGG_0, MAT_SLOTS),
    ("react", actions.CHOOSE_BIRD_0, MAT_SLOTS),
    ("repeat", actions.CHOOSE_BIRD_0, MAT_SLOTS),
    ("draw", actions.DRAW_TRAY_0, TRAY_SIZE + 1),
    ("move", actions.MOVE_TO_0, NUM_HABITATS),
    ("first", actions.GOES_FIRST_0, MAX_PLAYERS),
    ("draft", actions.DRAFT_0, DRAFT_SIZE),
    ("bonus", actions.KEEP_BONUS_0, NUM_BONUSES),
    ("trade_card", actions.DISCARD_0, NUM_BIRDS),
    ("debt", actions.DISCARD_0, NUM_BIRDS),
    ("setup_birds", actions.DISCARD_0, NUM_BIRDS),
    ("tuck", actions.TUCK_0, NUM_BIRDS),
    ("play", actions.PLAY_0, NUM_BIRDS * NUM_HABITATS),
)
TAKES_SEVERAL = np.isin(range(FIRST_STEP), (TAKE_DICE, PAY_COST, SETUP_FOOD, GET_FOOD, LAY, GIVE_EGGS, DRAW))
"""Whether a decision of each kind takes or pays COUNT dice, tokens, eggs or cards, one by one."""
DECISION_NAMES = tuple(name for name, _, _ in _DECISIONS)
FIRST_ID = np.array([first for _, first, _ in _DECISIONS])
"""Action id of choice 0 of each decision."""
NUM_CHOICES = np.array([number for _, _, number in _DECISIONS])
"""Number of choices of each decision, whether possible or not."""

# Flags of decisions
OPTIONAL = 1  # may be declined or ended
ANNOUNCE = 2  # the first choice uses the power of the bird in SLOT, which is then logged
MAY_CACHE = 4  # TAKE_DICE: the token may be cached at once (11.3)
ALL_DICE = 8  # TAKE_DICE: all there are, without a refill (11.4)
IS_ACTION = 16  # TAKE_DICE: of the gain food action, to whose foods others react (11.28)
HAS_BEGUN = 32  # TAKE_DICE, ALL_DICE: a die has been taken
DISTINCT = 4  # LAY: each egg on a different bird, from left to right
PAYS_POWER = 4  # GIVE_EGGS, TUCK: the reward of the power follows
PAYS_TRADE = 8  # GIVE_EGGS, GIVE_FOOD: the gain of the trade follows

# Kinds of reaction windows (12.2)
AFTER_FOOD, AFTER_EGGS, AFTER_PLAY, AFTER_HUNT = range(4)


@kernel
def push(s, op, who, slot, n, a, b):
    """Push a decision or step on the stack."""
    top = s.stack[s.depth]
    top[OP] = op
    top[WHO] = who
    top[SLOT] = slot
    top[COUNT] = n
    top[ARG0] = a
    top[ARG1] = b
    s.depth += 1


@kernel(inline=True)
def top(s):
    """Return the top row of the stack: kind, player, slot, and the three numbers."""
    row = s.stack[s.depth - 1]
    return (
        np.int64(row[OP]),
        np.int64(row[WHO]),
        np.int64(row[SLOT]),
        np.int64(row[COUNT]),
        np.int64(row[ARG0]),
        np.int64(row[ARG1]),
    )


@kernel
def pop(s):
    """Remove the top row of the stack, leaving zeros."""
    s.depth -= 1
    top = s.stack[s.depth]
    for k in range(top.shape[0]):
        top[k] = 0
