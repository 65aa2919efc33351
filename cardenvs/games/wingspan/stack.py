"""The stack of pending decisions and steps.

A row of `s.stack` is (OP, WHO, SLOT, COUNT, ARG0, ARG1): the kind, the player who decides, the slot of the bird whose
power it belongs to (or NO_SLOT), and three numbers that depend on the kind. The top row comes next. The choices of most
decisions are a bit set, where bit k is the action first_id + k.

    decision       COUNT                 ARG0                 ARG1        first id
    CHOOSE_TURN                                                           TURN_0
    USE_POWER                                                 flags       USE
    ACCEPT                               owner of the power               USE
    CACHE                                food                             USE
    TAKE_DICE      dice left             foods wanted         flags       TAKE_DIE_0
    PAY_COST       worth left to pay     lowest food left                 PAY_FOOD_0
    GIVE_FOOD                                                 flags       PAY_FOOD_0
    SETUP_FOOD     tokens left to pay    lowest food left                 PAY_FOOD_0
    GET_FOOD       tokens left           foods offered        flags       GAIN_FOOD_0
    LAY            eggs left             slots allowed        flags       LAY_EGG_0
    GIVE_EGGS      eggs left             slots allowed        flags       DISCARD_EGG_0
    REACT          kind of window        slots not yet used   of window   CHOOSE_BIRD_0
    REPEAT                               slots to choose from flags       CHOOSE_BIRD_0
    DRAW           cards left            debt once one drawn  flags       DRAW_TRAY_0
    MOVE                                 habitats to go to    flags       MOVE_TO_0
    FIRST                                seats                flags       GOES_FIRST_0
    DRAFT                                                     flags       DRAFT_0
    KEEP_BONUS                                                            KEEP_BONUS_0
    TRADE_CARD                                                            DISCARD_0
    PAY_DEBT       cards left                                             DISCARD_0
    SETUP_BIRDS                          first bird undecided             DISCARD_0
    TUCK                                                      flags       TUCK_0
    PLAY                                 habitats allowed     flags       PLAY_0

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
from cardenvs.games.wingspan.state import ARG0, ARG1, COUNT, OP, SLOT, WHO

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

_FIRST_IDS = {
    **dict.fromkeys((USE_POWER, ACCEPT, CACHE), actions.USE),
    **dict.fromkeys((PAY_COST, GIVE_FOOD, SETUP_FOOD), actions.PAY_FOOD_0),
    **dict.fromkeys((REACT, REPEAT), actions.CHOOSE_BIRD_0),
    **dict.fromkeys((TRADE_CARD, PAY_DEBT, SETUP_BIRDS), actions.DISCARD_0),
    CHOOSE_TURN: actions.TURN_0,
    TAKE_DICE: actions.TAKE_DIE_0,
    GET_FOOD: actions.GAIN_FOOD_0,
    LAY: actions.LAY_EGG_0,
    GIVE_EGGS: actions.DISCARD_EGG_0,
    DRAW: actions.DRAW_TRAY_0,
    MOVE: actions.MOVE_TO_0,
    FIRST: actions.GOES_FIRST_0,
    DRAFT: actions.DRAFT_0,
    KEEP_BONUS: actions.KEEP_BONUS_0,
    TUCK: actions.TUCK_0,
    PLAY: actions.PLAY_0,
}
FIRST_ID = np.array([_FIRST_IDS[op] for op in range(FIRST_STEP)])
"""Action id of choice 0 of each decision."""

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


@kernel
def pop(s):
    """Remove the top row of the stack, leaving zeros."""
    s.depth -= 1
    top = s.stack[s.depth]
    for k in range(top.shape[0]):
        top[k] = 0
