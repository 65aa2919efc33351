"""The powers of birds (rules.md 10 to 12), one module per family.

A power *begins* with a decision of stack.py: take dice, lay eggs, pay an egg, tuck a card, or just use it. Most powers
need nothing else. The module of its family has for each power:

    POWERS[name].begins     the decision that it begins with, from its params in birds.json
    POWERS[name].words      its sentence on the card
    kernels                 whether it can be used, what it does, its shares or rewards, when it reacts

The families are food (supply, birdfeeder, caching), hunting, drawing, eggs, tucking, birds (moving, playing,
repeating), sharing (several players get something) and reactions (pink powers). The kernels here dispatch on the
bird's handler.
Powers change the table only through the effects in mats.py, dice.py, bird_cards.py and bonus_cards.py.

For example, the pink "when another player lays eggs, lay an egg on a bird with a cup nest" is `react_lay_eggs` in
reactions.py: its entry in POWERS has the sentence and begins with LAY, and `_reacts` has its moment, AFTER_EGGS.

A bird with an existing handler is just a row of birds.json. A new handler needs an entry in cards.py for its params, an
id in parts.py, an entry in the POWERS of its family, and a branch below if it does more than its first decision.
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
"""All handlers, by name."""


def _first_rows() -> np.ndarray:
    """Return OP, COUNT, ARG0 and ARG1 of the decision that each bird's power begins with, (170, 4)."""
    rows = []
    for bird in range(NUM_BIRDS):
        name = HANDLERS[BIRD_HANDLER[bird]]
        params = dict(zip(HANDLER_PARAMS[name], BIRD_PARAMS[bird].tolist(), strict=False))
        rows.append(POWERS[name].begins(**params))
    return np.array(rows, np.int16)


_FIRST_ROWS = _first_rows()


@kernel
def begin_power(s, who, slot, log):
    """Begin the power of the bird in a slot: push its first decision on the stack, or use it if it has none."""
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
    """Return whether a power that begins with USE_POWER would do anything; depends on public information only."""
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
    """Apply a power that begins with USE_POWER or without a decision."""
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
    """Give what a power pays for the card or egg that it asked for."""
    bird = s.birds[who, slot]
    handler, amount = BIRD_HANDLER[bird], BIRD_PARAMS[bird, 0]
    if handler == DISCARD_EGG_GAIN_FOOD:
        stack.push(s, stack.GET_FOOD, who, slot, amount, ALL_FOODS, stack.OPTIONAL)
    elif handler == DISCARD_EGG_DRAW_CARDS:
        stack.push(s, stack.DRAW, who, slot, amount, 0, stack.OPTIONAL)
    else:
        tucking.reward_tuck(s, who, slot)
