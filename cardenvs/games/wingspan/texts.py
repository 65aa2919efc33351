"""Texts of cards, made from their data: costs, powers, bonus cards."""

import functools

from cardenvs.core.text import count
from cardenvs.games.wingspan import cards
from cardenvs.games.wingspan.powers import POWERS, of_params

_MOMENTS = {
    "never": "",
    "when_played": "When played: ",
    "when_activated": "When activated: ",
    "once_between_turns": "Once between turns: ",
}


@functools.cache
def cost_text(bird: int) -> str:
    """Return the cost of a bird, such as "2 invertebrates + 1 wild", "1 fruit or 1 seed" or "free"."""
    parts = [count(int(n), cards.FOODS[food]) for food, n in enumerate(cards.BIRD_COST[bird, : cards.WILD]) if n]
    if cards.BIRD_COST[bird, cards.WILD]:
        parts.append(f"{cards.BIRD_COST[bird, cards.WILD]} wild")
    return (" or " if cards.BIRD_COST_OR[bird] else " + ").join(parts) or "free"


@functools.cache
def habitats_text(bird: int) -> str:
    """Return the habitats of a bird, such as "forest or wetland"."""
    return " or ".join(name for h, name in enumerate(cards.HABITATS) if cards.BIRD_HABITATS[bird] >> h & 1)


@functools.cache
def power_text(bird: int) -> str:
    """Return a bird's power in a sentence or two, with its moment."""
    spec = cards.BIRD_POWERS[bird]
    return _MOMENTS[spec.trigger] + of_params(POWERS[spec.power_handler_id].words, spec.params)


@functools.cache
def bird_text(bird: int) -> str:
    """Return everything printed on a bird, in one line."""
    nest = f"{cards.NESTS[cards.BIRD_NEST[bird]]} nest, holds {count(int(cards.BIRD_EGG_LIMIT[bird]), 'egg')}"
    icons = [name for name, has in (("predator", cards.BIRD_PREDATOR), ("flocking", cards.BIRD_FLOCKING)) if has[bird]]
    facts = [
        habitats_text(bird),
        f"cost: {cost_text(bird)}",
        count(int(cards.BIRD_POINTS[bird]), "point"),
        "no nest" if cards.BIRD_NEST[bird] == cards.NO_NEST else nest,
        f"{cards.BIRD_WINGSPAN[bird]} cm",
        *icons,
    ]
    return f"{cards.BIRD_NAMES[bird]} ({'; '.join(facts)}). {power_text(bird)}"


@functools.cache
def bonus_text(bonus: int) -> str:
    """Return what a bonus card pays for, such as "Ecologist: 2 points for each of the birds in ..."."""
    what = cards.BONUS_TEXTS[bonus]
    if cards.BONUS_EACH[bonus]:
        return f"{cards.BONUS_NAMES[bonus]}: {count(int(cards.BONUS_EACH[bonus]), 'point')} for each of the {what}"
    (low, high), (few, many) = cards.BONUS_THRESHOLDS[bonus], cards.BONUS_POINTS[bonus]
    least, most = count(int(few), "point"), count(int(many), "point")
    return f"{cards.BONUS_NAMES[bonus]}: {least} for {low} to {high - 1} {what}, {most} for {high} or more"
