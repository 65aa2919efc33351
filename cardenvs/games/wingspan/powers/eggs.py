"""Powers that lay or discard eggs (rules.md 11.14, 11.15, 11.19, 11.20)."""

from cardenvs.core.text import count
from cardenvs.games.wingspan import stack
from cardenvs.games.wingspan.cards import LAY_ON_SELF, PowerSpec
from cardenvs.games.wingspan.powers.parts import ANY_NEST, ASK, OTHERS, SELF, Power, Row, of_nest
from cardenvs.games.wingspan.state import MAT_SLOTS


def _lay(spec: PowerSpec) -> str:
    where = {"self": "this bird", "any": "any of your birds"}[spec.params["target"]]
    return f"lay {count(spec.params['amount'], 'egg')} on {where}."


def _egg_for_food(spec: PowerSpec) -> str:
    whose = "another of your birds" if spec.params["exclude_self"] else "any of your birds"
    return f"discard an egg from {whose} to gain {count(spec.params['amount'], 'food')} of your choice from the supply."


def _egg_for_cards(spec: PowerSpec) -> str:
    whose = "another of your birds" if spec.params["exclude_self"] else "any of your birds"
    return f"discard an egg from {whose} to draw {count(spec.params['draw'], 'card')}."


def _egg_payment(exclude_self: int) -> Row:
    return stack.GIVE_EGGS, 1, ANY_NEST | OTHERS * exclude_self, ASK | stack.PAYS_POWER


POWERS = {
    "lay_eggs": Power(
        begins=lambda target, amount: (stack.LAY, amount, SELF if target == LAY_ON_SELF else ANY_NEST, ASK),
        words=_lay,
    ),
    "lay_egg_each_nest": Power(
        begins=lambda nest: (stack.LAY, MAT_SLOTS, of_nest(nest), ASK | stack.DISTINCT),
        words=lambda spec: f"lay an egg on each of your birds with a {spec.params['nest']} nest.",
    ),
    "discard_egg_gain_food": Power(  # `reward` in __init__.py gives the food
        begins=lambda amount, exclude_self: _egg_payment(exclude_self),
        words=_egg_for_food,
    ),
    "discard_egg_draw_cards": Power(  # `reward` in __init__.py begins the draw
        begins=lambda draw, exclude_self: _egg_payment(exclude_self),
        words=_egg_for_cards,
    ),
}
