"""Why an action is illegal: one of the codes of actions.py, whose texts are in decision_texts.py."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import actions as a
from cardenvs.games.wingspan import stack
from cardenvs.games.wingspan.cards import BIRD_HABITATS, DUAL_FACE, NUM_HABITATS, NUM_SLOTS, SEED, TRAY_SIZE
from cardenvs.games.wingspan.hands import bird_in_hand, holds
from cardenvs.games.wingspan.legal import can_stop, choices, open_habitats
from cardenvs.games.wingspan.payment import can_pay
from cardenvs.games.wingspan.state import ARG0, ARG1, MAT_SLOTS, NO_BIRD, OP, WHO

_NUM_CHOICES = {
    stack.CHOOSE_TURN: 4,
    stack.TAKE_DICE: a.PAY_FOOD_0 - a.TAKE_DIE_0,
    stack.PAY_COST: a.GAIN_FOOD_0 - a.PAY_FOOD_0,
    stack.GIVE_FOOD: a.GAIN_FOOD_0 - a.PAY_FOOD_0,
    stack.SETUP_FOOD: a.GAIN_FOOD_0 - a.PAY_FOOD_0,
    stack.GET_FOOD: a.LAY_EGG_0 - a.GAIN_FOOD_0,
    stack.LAY: MAT_SLOTS,
    stack.GIVE_EGGS: MAT_SLOTS,
    stack.REACT: MAT_SLOTS,
    stack.REPEAT: MAT_SLOTS,
    stack.DRAW: TRAY_SIZE + 1,
    stack.MOVE: NUM_HABITATS,
    stack.FIRST: a.DRAFT_0 - a.GOES_FIRST_0,
    stack.DRAFT: a.KEEP_BONUS_0 - a.DRAFT_0,
    stack.KEEP_BONUS: a.DISCARD_0 - a.KEEP_BONUS_0,
    stack.TUCK: a.PLAY_0 - a.TUCK_0,
    stack.PLAY: a.NUM_ACTIONS - a.PLAY_0,
}
_IDS = np.array(
    [_NUM_CHOICES.get(op, 1 if op < stack.FIRST_CARD_OP else a.TUCK_0 - a.DISCARD_0) for op in range(stack.FIRST_STEP)]
)


@kernel
def explain(s, action):
    """Return 0 if `action` is legal, else the code of the reason."""
    if action == a.STOP:
        return 0 if can_stop(s) else a.CANNOT_STOP
    op = np.int64(s.stack[s.depth - 1, OP])
    k = action - stack.FIRST_ID[op]
    if not 0 <= k < _IDS[op]:
        return a.NOT_ASKED
    if op >= stack.FIRST_CARD_OP:
        return _explain_card(s, op, k)
    return 0 if choices(s) >> k & 1 else _explain_choice(s, op, k)


@kernel
def _explain_choice(s, op, k):
    """Return why choice k is not possible in the decision on top of the stack."""
    top = s.stack[s.depth - 1]
    who = np.int64(top[WHO])
    if op == stack.CHOOSE_TURN:
        return a.NOTHING_TO_PLAY
    if op == stack.TAKE_DICE:
        if k > DUAL_FACE + SEED:
            return a.RESET_TOO_LATE if top[ARG1] & stack.HAS_BEGUN else a.FEEDER_NOT_UNIFORM
        return a.NO_SUCH_DIE if s.feeder[min(k, DUAL_FACE)] == 0 else a.FOOD_NOT_WANTED
    if op in (stack.PAY_COST, stack.GIVE_FOOD, stack.SETUP_FOOD):
        return a.NO_SUCH_FOOD if s.food[who, k] == 0 else a.PAYS_TOO_MUCH
    if op == stack.GET_FOOD:
        return a.FOOD_NOT_WANTED
    if op in (stack.LAY, stack.GIVE_EGGS, stack.REACT, stack.REPEAT):
        if s.birds[who, k] == NO_BIRD:
            return a.NO_BIRD_THERE
        if op == stack.GIVE_EGGS and s.eggs[who, k] == 0:
            return a.NO_EGG_THERE
        if op == stack.LAY and top[ARG0] >> k & 1:
            return a.NO_ROOM
        return a.BIRD_NOT_WANTED
    if op == stack.DRAW:
        return a.TRAY_PLACE_EMPTY if k < TRAY_SIZE else a.NO_CARDS_LEFT
    if op == stack.MOVE:
        return a.ROW_NOT_OPEN
    if op == stack.FIRST:
        return a.NO_SUCH_SEAT
    return a.NOT_IN_DRAFT if op == stack.DRAFT else a.BONUS_NOT_OFFERED


@kernel
def _explain_card(s, op, k):
    """Return 0, or why choice k, to discard, tuck or play a card, is illegal."""
    top = s.stack[s.depth - 1]
    who = np.int64(top[WHO])
    if op != stack.PLAY:
        if not holds(s, who, k):
            return a.NOT_IN_HAND
        if op == stack.SETUP_BIRDS:
            for j in range(top[ARG0]):
                if bird_in_hand(s, who, j) == k:
                    return a.ALREADY_DECIDED
        return 0
    bird = k // NUM_HABITATS
    habitat = k - NUM_HABITATS * bird
    if not holds(s, who, bird):
        return a.NOT_IN_HAND
    if not BIRD_HABITATS[bird] >> habitat & 1:
        return a.NOT_ITS_HABITAT
    if not top[ARG0] >> habitat & 1:
        return a.HABITAT_NOT_OPEN
    if s.row_size[who, habitat] == NUM_SLOTS:
        return a.ROW_FULL
    if not open_habitats(s, who) >> habitat & 1:
        return a.TOO_FEW_EGGS
    return 0 if can_pay(s, who, bird) else a.TOO_LITTLE_FOOD
