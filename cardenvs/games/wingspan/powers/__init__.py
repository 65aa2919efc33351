"""The powers of the birds (rules.md 10 to 12), a module for each family.

A power is a short program. It *begins* with one decision of stack.py: take dice, lay eggs, pay an egg, tuck a card, or
just use it. Most powers need no more. The module of its family has, for each power:

    POWERS[name].begins     the decision that it begins with, from its params in birds.json
    POWERS[name].words      its sentence on the card
    kernels                 whether it can be used, what using it does, what a share or a reward is, when it reacts

Where to look: food (supply, birdfeeder, caching), hunting, drawing, eggs, tucking, birds (moving, playing, repeating),
sharing (all players get something), reactions (pink powers). The kernels here choose among them by the bird's handler.
All of them change the game through effects.py alone.

For example, the pink "when another player lays eggs, lay an egg on a bird with a cup nest" is `react_lay_eggs` in
reactions.py: its entry in POWERS begins with LAY and has the sentence, and `_reacts` has its moment, AFTER_EGGS.

A bird with a handler that exists is a row of birds.json. A new handler is an entry in cards.py for its params, its id
in parts.py, an entry in the POWERS of its family, and a branch below if using it does more than its first decision.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import stack
from cardenvs.games.wingspan.cards import BIRD_HANDLER, BIRD_PARAMS, HANDLER_PARAMS, HANDLERS, NUM_BIRDS, NUM_SLOTS
from cardenvs.games.wingspan.powers import birds, drawing, eggs, food, hunting, reactions, sharing, tucking
from cardenvs.games.wingspan.powers.parts import (
    ALL_FOODS,
    CACHE_FOOD_SUPPLY,
    DISCARD_EGG_DRAW_CARDS,
    DISCARD_EGG_GAIN_FOOD,
    DISCARD_FOOD_TUCK_FROM_DECK,
    DRAW_BONUS_CARDS,
    GAIN_FOOD_SUPPLY,
    NO_DECISION,
    NOTHING,
    PREDATOR_DICE,
    PREDATOR_WINGSPAN,
    REACT_GAIN_FOOD_CACHE,
    REACT_PLAY_BIRD_GAIN_FOOD,
    Power,
    slots_of,
)

POWERS = {
    "no_power": Power(begins=lambda: NOTHING, words=lambda spec: "No power."),
    **food.POWERS,
    **hunting.POWERS,
    **drawing.POWERS,
    **eggs.POWERS,
    **tucking.POWERS,
    **birds.POWERS,
    **sharing.POWERS,
    **reactions.POWERS,
}
"""Every handler by name."""


def _first_rows() -> np.ndarray:
    """OP, COUNT, ARG0, ARG1 of the decision with which each bird's power begins."""
    rows = []
    for bird in range(NUM_BIRDS):
        name = HANDLERS[BIRD_HANDLER[bird]]
        params = dict(zip(HANDLER_PARAMS[name], BIRD_PARAMS[bird].tolist(), strict=False))
        rows.append(POWERS[name].begins(**params))
    return np.array(rows, np.int16)


_FIRST_ROWS = _first_rows()


@kernel
def begin_power(s, who, slot, log):
    """The power of the bird in a slot begins: its first decision goes on the stack."""
    bird = s.birds[who, slot]
    row = _FIRST_ROWS[bird]
    op, about = np.int64(row[0]), np.int64(row[2])
    if op == NO_DECISION:
        use(s, who, slot, log)
        return
    if op in (stack.LAY, stack.GIVE_EGGS):
        about = slots_of(s, who, slot, about)
    elif op == stack.MOVE:
        about = birds.open_rows(s, who, slot)
    elif op == stack.REPEAT:
        about = birds.repeatable(s, who, slot)
    elif op == stack.PLAY and about == 0:
        about = 1 << slot // NUM_SLOTS
    elif op == stack.FIRST:
        about = sharing.seats_of(s, who, sharing.sharers(s, who, slot))
    stack.push(s, op, who, slot, row[1], about, row[3])


@kernel
def can_use(s, who, slot):
    """Whether using the power in a slot would do anything, for those that begin with USE_POWER. All see the answer."""
    handler = BIRD_HANDLER[s.birds[who, slot]]
    if handler in (GAIN_FOOD_SUPPLY, CACHE_FOOD_SUPPLY):
        return True
    if handler in (PREDATOR_DICE, PREDATOR_WINGSPAN):
        return hunting.can_hunt(s, who, slot)
    if handler == DISCARD_FOOD_TUCK_FROM_DECK:
        return tucking.can_tuck_for_food(s, who, slot)
    if handler == DRAW_BONUS_CARDS:
        return drawing.num_bonuses_left(s) > 0
    return sharing.can_share(s, who, slot)


@kernel
def use(s, who, slot, log):
    """Do what a power does that begins with USE_POWER, or with no decision at all."""
    handler = BIRD_HANDLER[s.birds[who, slot]]
    if handler == GAIN_FOOD_SUPPLY:
        food.gain_from_supply(s, who, slot, log)
    elif handler in (CACHE_FOOD_SUPPLY, REACT_GAIN_FOOD_CACHE):
        food.cache_from_supply(s, who, slot, log)
    elif handler in (PREDATOR_DICE, PREDATOR_WINGSPAN):
        hunting.hunt(s, who, slot, log)
    elif handler == DISCARD_FOOD_TUCK_FROM_DECK:
        tucking.tuck_for_food(s, who, slot, log)
    elif handler == DRAW_BONUS_CARDS:
        drawing.offer_bonuses(s, who, slot, log)
    elif handler == REACT_PLAY_BIRD_GAIN_FOOD:
        reactions.gain_food_for_play(s, who, slot, log)
    else:
        sharing.share_out(s, who, slot, log)


@kernel
def reward(s, who, slot):
    """What follows when the card or the egg that a power asks for has been given."""
    bird = s.birds[who, slot]
    handler, amount = BIRD_HANDLER[bird], BIRD_PARAMS[bird, 0]
    if handler == DISCARD_EGG_GAIN_FOOD:
        stack.push(s, stack.GET_FOOD, who, slot, amount, ALL_FOODS, stack.OPTIONAL)
    elif handler == DISCARD_EGG_DRAW_CARDS:
        stack.push(s, stack.DRAW, who, slot, amount, 0, stack.OPTIONAL)
    else:
        tucking.reward_tuck(s, who, slot)
