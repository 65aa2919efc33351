"""Texts of cards, made from their data: costs, powers, bonus cards."""

import functools

from cardenvs.core.text import count
from cardenvs.games.wingspan.cards import (
    BIRD_COST,
    BIRD_COST_OR,
    BIRD_EGG_LIMIT,
    BIRD_FLOCKING,
    BIRD_HABITATS,
    BIRD_NAMES,
    BIRD_NEST,
    BIRD_POINTS,
    BIRD_POWERS,
    BIRD_PREDATOR,
    BIRD_WINGSPAN,
    BONUS_EACH,
    BONUS_NAMES,
    BONUS_POINTS,
    BONUS_TEXTS,
    BONUS_THRESHOLDS,
    FOODS,
    HABITATS,
    NESTS,
    NO_NEST,
    WILD,
)
from cardenvs.games.wingspan.powers import POWERS

_MOMENTS = {
    "never": "",
    "when_played": "When played: ",
    "when_activated": "When activated: ",
    "once_between_turns": "Once between turns: ",
}


@functools.cache
def cost_text(bird: int) -> str:
    """Return the cost of a bird, such as "2 invertebrates + 1 wild", "1 fruit or 1 seed" or "free"."""
    parts = [count(int(n), FOODS[food]) for food, n in enumerate(BIRD_COST[bird, :WILD]) if n]
    if BIRD_COST[bird, WILD]:
        parts.append(f"{BIRD_COST[bird, WILD]} wild")
    return (" or " if BIRD_COST_OR[bird] else " + ").join(parts) or "free"


@functools.cache
def habitats_text(bird: int) -> str:
    """Return the habitats of a bird, such as "forest or wetland"."""
    return " or ".join(name for h, name in enumerate(HABITATS) if BIRD_HABITATS[bird] >> h & 1)


@functools.cache
def power_text(bird: int) -> str:
    """Return a bird's power in a sentence or two, with its moment."""
    spec = BIRD_POWERS[bird]
    return _MOMENTS[spec.trigger] + POWERS[spec.power_handler_id].words(spec)


@functools.cache
def bird_text(bird: int) -> str:
    """Return everything printed on a bird, in one line."""
    nest = f"{NESTS[BIRD_NEST[bird]]} nest, holds {count(int(BIRD_EGG_LIMIT[bird]), 'egg')}"
    icons = [name for name, has in (("predator", BIRD_PREDATOR), ("flocking", BIRD_FLOCKING)) if has[bird]]
    facts = [
        habitats_text(bird),
        f"cost: {cost_text(bird)}",
        count(int(BIRD_POINTS[bird]), "point"),
        "no nest" if BIRD_NEST[bird] == NO_NEST else nest,
        f"{BIRD_WINGSPAN[bird]} cm",
        *icons,
    ]
    return f"{BIRD_NAMES[bird]} ({'; '.join(facts)}). {power_text(bird)}"


@functools.cache
def bonus_text(bonus: int) -> str:
    """Return what a bonus card pays for, such as "Ecologist: 2 points for each of the birds in ..."."""
    what = BONUS_TEXTS[bonus]
    if BONUS_EACH[bonus]:
        return f"{BONUS_NAMES[bonus]}: {count(int(BONUS_EACH[bonus]), 'point')} for each of the {what}"
    (low, high), (few, many) = BONUS_THRESHOLDS[bonus], BONUS_POINTS[bonus]
    least, most = count(int(few), "point"), count(int(many), "point")
    return f"{BONUS_NAMES[bonus]}: {least} for {low} to {high - 1} {what}, {most} for {high} or more"
