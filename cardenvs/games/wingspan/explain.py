"""Why an action is illegal, as codes with texts. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import cards, stack
from cardenvs.games.wingspan.actions import STOP
from cardenvs.games.wingspan.hands import bird_in_hand, holds
from cardenvs.games.wingspan.legal import can_stop, choices, open_habitats
from cardenvs.games.wingspan.payment import can_pay
from cardenvs.games.wingspan.state import NO_BIRD, OP

REASONS = [""]
"""Texts of the codes; 0 is for a legal action."""


def _reason(text: str) -> int:
    """Return a new code for a reason."""
    REASONS.append(text)
    return len(REASONS) - 1


NOT_ASKED = _reason("that is not the decision to make now (rules.md 3.2): {prompt}")
CANNOT_STOP = _reason("this decision cannot be declined (rules.md 10.1)")
NOTHING_TO_PLAY = _reason("no bird in hand can be placed and paid for (rules.md 4.3)")
NO_SUCH_DIE = _reason("no die in the birdfeeder shows that face (rules.md 7.1)")
FOOD_NOT_WANTED = _reason("this power does not give that food (rules.md 11.3, 11.4)")
FEEDER_NOT_UNIFORM = _reason("the dice in the birdfeeder do not all show the same face (rules.md 7.3)")
RESET_TOO_LATE = _reason("the birdfeeder can only be reset before the first die (rules.md 11.4)")
NO_SUCH_FOOD = _reason("that food is not available here (rules.md 6.3)")
PAYS_TOO_MUCH = _reason(
    "that token is not needed, or its turn has passed or not come: food is paid in a fixed order (rules.md 6.4)"
)
NO_BIRD_THERE = _reason("there is no bird in that slot (rules.md 1.1)")
NO_ROOM = _reason("that bird has reached its egg limit (rules.md 1.3)")
BIRD_NOT_WANTED = _reason("this decision does not concern that bird (rules.md 10.1)")
EGG_NOT_NOW = _reason(
    "that egg is not needed, or its turn has passed or not come: eggs are paid in the order of the slots (rules.md 4.2)"
)
NO_EGG_THERE = _reason("there is no egg on that bird (rules.md 1.3)")
TRAY_PLACE_EMPTY = _reason("that place of the tray is empty until the end of the turn (rules.md 5.3)")
NO_CARDS_LEFT = _reason("there are no cards left to draw (rules.md 3.5)")
ROW_NOT_OPEN = _reason("the bird cannot move there (rules.md 11.22)")
NO_SUCH_SEAT = _reason("that player gets nothing here (rules.md 11.5, 11.6)")
NOT_IN_DRAFT = _reason("that card has been taken (rules.md 11.12)")
BONUS_NOT_OFFERED = _reason("that bonus card was not drawn (rules.md 11.13)")
NOT_IN_HAND = _reason("that bird is not in hand (rules.md 1.4)")
ALREADY_DECIDED = _reason("that bird is already decided: discard birds in alphabetical order (rules.md 2.3)")
NOT_ITS_HABITAT = _reason("the bird does not live there (rules.md 4.1)")
HABITAT_NOT_OPEN = _reason("this power plays a bird into a different habitat (rules.md 11.23)")
ROW_FULL = _reason("that row is full (rules.md 4.1)")
TOO_FEW_EGGS = _reason("there are too few eggs to pay for that slot (rules.md 4.2)")
TOO_LITTLE_FOOD = _reason("there is too little food to pay for that bird (rules.md 4.3, 6)")


@kernel
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else the code of the reason."""
    if action == STOP:
        return 0 if can_stop(s) else CANNOT_STOP
    op = np.int64(s.stack[s.depth - 1, OP])
    k = action - stack.FIRST_ID[op]
    if not 0 <= k < stack.NUM_CHOICES[op]:
        return NOT_ASKED
    if op >= stack.FIRST_CARD_OP:
        return _explain_card(s, op, k)
    return 0 if choices(s) >> k & 1 else _explain_choice(s, op, k)


@kernel
def _explain_choice(s, op, k):
    """Return why choice k is not possible in the decision on top of the stack."""
    _, who, _, _, about, flags = stack.top(s)
    if op == stack.CHOOSE_TURN:
        return NOTHING_TO_PLAY
    if op == stack.TAKE_DICE:
        if k > cards.DUAL_FACE + cards.SEED:
            return RESET_TOO_LATE if flags & stack.HAS_BEGUN else FEEDER_NOT_UNIFORM
        return NO_SUCH_DIE if s.feeder[min(k, cards.DUAL_FACE)] == 0 else FOOD_NOT_WANTED
    if op in (stack.PAY_COST, stack.GIVE_FOOD, stack.SETUP_FOOD):
        return NO_SUCH_FOOD if s.food[who, k] == 0 else PAYS_TOO_MUCH
    if op == stack.GET_FOOD:
        return FOOD_NOT_WANTED
    if op in (stack.LAY, stack.GIVE_EGGS, stack.REACT, stack.REPEAT):
        if s.birds[who, k] == NO_BIRD:
            return NO_BIRD_THERE
        if op == stack.GIVE_EGGS:
            return NO_EGG_THERE if s.eggs[who, k] == 0 else EGG_NOT_NOW
        if op == stack.LAY and about >> k & 1:
            return NO_ROOM
        return BIRD_NOT_WANTED
    if op == stack.DRAW:
        return TRAY_PLACE_EMPTY if k < cards.TRAY_SIZE else NO_CARDS_LEFT
    if op == stack.MOVE:
        return ROW_NOT_OPEN
    if op == stack.FIRST:
        return NO_SUCH_SEAT
    return NOT_IN_DRAFT if op == stack.DRAFT else BONUS_NOT_OFFERED


@kernel
def _explain_card(s, op, k):
    """Return 0, or why choice k, to discard, tuck or play a card, is illegal."""
    _, who, _, _, about, _ = stack.top(s)
    if op != stack.PLAY:
        if not holds(s, who, k):
            return NOT_IN_HAND
        if op == stack.SETUP_BIRDS:
            for j in range(about):
                if bird_in_hand(s, who, j) == k:
                    return ALREADY_DECIDED
        return 0
    bird = k // cards.NUM_HABITATS
    habitat = k - cards.NUM_HABITATS * bird
    if not holds(s, who, bird):
        return NOT_IN_HAND
    if not cards.BIRD_HABITATS[bird] >> habitat & 1:
        return NOT_ITS_HABITAT
    if not about >> habitat & 1:
        return HABITAT_NOT_OPEN
    if s.row_size[who, habitat] == cards.NUM_SLOTS:
        return ROW_FULL
    if not open_habitats(s, who) >> habitat & 1:
        return TOO_FEW_EGGS
    return 0 if can_pay(s, who, bird) else TOO_LITTLE_FOOD
