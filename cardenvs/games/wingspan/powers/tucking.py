"""Powers that tuck cards for their owner alone (rules.md 11.17, 11.18)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.text import count
from cardenvs.games.wingspan import bird_cards, mats, stack
from cardenvs.games.wingspan.cards import BIRD_PARAMS, TUCK_DRAW_CARD, TUCK_LAY_EGG, PowerSpec
from cardenvs.games.wingspan.powers.parts import ASK, USE, Power, one_of


def _tuck(spec: PowerSpec) -> str:
    reward = {
        "draw_card": "draw a card",
        "lay_egg_on_self": "you may lay an egg on this bird",
        "gain_food_supply": f"gain {one_of(spec.params.get('foods', []))} from the supply",
    }[spec.params["reward"]]
    return f"tuck a card from your hand behind this bird. If you do, {reward}."


POWERS = {
    "tuck_from_hand": Power(
        begins=lambda reward, foods: (stack.TUCK, 1, 0, ASK | stack.PAYS_POWER),
        words=_tuck,
    ),
    "discard_food_tuck_from_deck": Power(
        begins=lambda food, cost, tuck: USE,
        words=lambda spec: (
            f"discard {count(spec.params['cost'], spec.params['food'])} to tuck "
            f"{count(spec.params['tuck'], 'card')} from the deck behind this bird."
        ),
    ),
}


@kernel
def reward_tuck(s, who, slot):
    """Give the reward for a card tucked from the hand: a card, an egg on the bird, or food (11.17)."""
    params = BIRD_PARAMS[s.birds[who, slot]]
    if params[0] == TUCK_DRAW_CARD:
        stack.push(s, stack.DRAW, who, slot, 1, 0, stack.OPTIONAL)
    elif params[0] == TUCK_LAY_EGG:
        stack.push(s, stack.LAY, who, slot, 1, 1 << slot, stack.OPTIONAL)
    else:
        stack.push(s, stack.GET_FOOD, who, slot, 1, params[1], stack.OPTIONAL)


@kernel
def can_tuck_for_food(s, who, slot):
    """Return whether `who` has the food to discard and the deck has a card."""
    params = BIRD_PARAMS[s.birds[who, slot]]
    return s.food[who, params[0]] >= params[1] and bird_cards.cards_left(s) > 0


@kernel
def tuck_for_food(s, who, slot, log):
    """Apply discard_food_tuck_from_deck."""
    params = BIRD_PARAMS[s.birds[who, slot]]
    mats.pay_food(s, who, params[0], params[1], log)
    for _ in range(min(np.int64(params[2]), bird_cards.cards_left(s))):
        bird_cards.tuck_from_deck(s, who, slot, log)
