"""Pink powers: when they react and what they do (rules.md 11.25 to 11.29, 12)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import mats, stack
from cardenvs.games.wingspan.cards import (
    BIRD_COLOUR,
    BIRD_HANDLER,
    BIRD_PARAMS,
    NUM_HABITATS,
    NUM_SLOTS,
    PINK,
    STAR,
    PowerSpec,
)
from cardenvs.games.wingspan.powers.parts import (
    ALL_FOODS,
    NOTHING,
    OTHERS,
    REACT_GAIN_FOOD_CACHE,
    REACT_LAY_EGGS,
    REACT_PLAY_BIRD_GAIN_FOOD,
    REACT_PLAY_BIRD_TUCK,
    REACT_PREDATOR_GAIN_DIE,
    Power,
    food,
    has_room,
    of_nest,
    one_of,
    slots_of,
)


def _when_played_into(spec: PowerSpec) -> str:
    return f"when another player plays a bird into the {spec.params['habitat']}, "


POWERS = {
    "react_lay_eggs": Power(
        begins=lambda nest: (stack.LAY, 1, of_nest(nest) | OTHERS, 0),
        words=lambda spec: (
            f"when another player lays eggs, lay an egg on another bird of yours with a {spec.params['nest']} nest."
        ),
    ),
    "react_play_bird_gain_food": Power(
        begins=lambda habitat, food, amount: NOTHING,
        words=lambda spec: f"{_when_played_into(spec)}gain {food(spec)} from the supply.",
    ),
    "react_play_bird_tuck": Power(
        begins=lambda habitat: (stack.TUCK, 1, 0, 0),
        words=lambda spec: f"{_when_played_into(spec)}tuck a card from your hand behind this bird.",
    ),
    "react_gain_food_cache": Power(  # food.cache_from_supply applies it
        begins=lambda food, amount: NOTHING,
        words=lambda spec: (
            f"when another player gains food and takes {one_of([spec.params['food']])}, "
            f"cache {food(spec)} from the supply on this bird."
        ),
    ),
    "react_predator_gain_die": Power(
        begins=lambda: (stack.TAKE_DICE, 1, ALL_FOODS, 0),
        words=lambda spec: "when another player's hunt succeeds, take a die from the birdfeeder.",
    ),
}


@kernel
def triggered(s, player, kind, param):
    """Return the bit set of slots of the pink birds with which `player` can react now (12).

    Args:
        kind: AFTER_FOOD to AFTER_HUNT.
        param: the habitat for AFTER_PLAY.
    """
    slots = np.int64(0)
    for habitat in range(NUM_HABITATS):
        for column in range(s.row_size[player, habitat]):
            slot = NUM_SLOTS * habitat + column
            if BIRD_COLOUR[s.birds[player, slot]] != PINK or s.pink_used[player] >> slot & 1:
                continue
            if _reacts(s, player, slot, kind, param):
                slots |= 1 << slot
    return slots


@kernel
def _reacts(s, player, slot, kind, param):
    """Return whether the pink bird in a slot reacts to this moment and can do something."""
    bird = s.birds[player, slot]
    handler, first = BIRD_HANDLER[bird], np.int64(BIRD_PARAMS[bird, 0])
    if kind == stack.AFTER_FOOD:
        return handler == REACT_GAIN_FOOD_CACHE and s.dice_foods >> first & 1 == 1
    if kind == stack.AFTER_EGGS:
        if handler != REACT_LAY_EGGS:
            return False
        return has_room(s, player, slots_of(s, player, slot, 1 << first | 1 << STAR | OTHERS)) != 0
    if kind == stack.AFTER_PLAY:
        if first != param:
            return False
        return handler == REACT_PLAY_BIRD_GAIN_FOOD or (handler == REACT_PLAY_BIRD_TUCK and s.hand_size[player] > 0)
    return handler == REACT_PREDATOR_GAIN_DIE


@kernel
def gain_food_for_play(s, who, slot, log):
    """Apply react_play_bird_gain_food."""
    params = BIRD_PARAMS[s.birds[who, slot]]
    mats.gain_food(s, who, params[1], params[2], log)
