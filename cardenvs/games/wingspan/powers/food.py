"""Powers that gain, cache or trade food (rules.md 11.1, 11.3, 11.4, 11.7, 11.21)."""

from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import mats, stack
from cardenvs.games.wingspan.cards import BIRD_PARAMS, NUM_DICE, PowerSpec
from cardenvs.games.wingspan.powers.parts import ASK, USE, Power, food, one_of


def _feeder(spec: PowerSpec) -> str:
    cache = " You may cache it on this bird." if spec.params["may_cache"] else ""
    return f"take a die that gives {one_of(spec.params['foods'])} from the birdfeeder, if there is one.{cache}"


POWERS = {
    "gain_food_supply": Power(
        begins=lambda food, amount: USE,
        words=lambda spec: f"gain {food(spec)} from the supply.",
    ),
    "gain_food_feeder": Power(
        begins=lambda foods, may_cache: (stack.TAKE_DICE, 1, foods, ASK | stack.MAY_CACHE * may_cache),
        words=_feeder,
    ),
    "gain_all_food_feeder": Power(
        begins=lambda food: (stack.TAKE_DICE, NUM_DICE, 1 << food, ASK | stack.ALL_DICE),
        words=lambda spec: f"take all dice that give {spec.params['food']} from the birdfeeder.",
    ),
    "cache_food_supply": Power(
        begins=lambda food, amount: USE,
        words=lambda spec: f"cache {food(spec)} from the supply on this bird.",
    ),
    "trade_food": Power(
        begins=lambda: (stack.GIVE_FOOD, 1, 0, ASK | stack.PAYS_POWER),
        words=lambda spec: "exchange a food of yours for one of another type from the supply.",
    ),
}


@kernel
def gain_from_supply(s, who, slot, log):
    """Apply gain_food_supply."""
    params = BIRD_PARAMS[s.birds[who, slot]]
    mats.gain_food(s, who, params[0], params[1], log)


@kernel
def cache_from_supply(s, who, slot, log):
    """Apply cache_food_supply or react_gain_food_cache."""
    mats.cache_food(s, who, slot, BIRD_PARAMS[s.birds[who, slot], 1], log)
