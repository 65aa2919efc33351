"""Constant tables of the cards: birds, bonus cards, round goals, and the numbers printed on the mat.

The data is in data/*.json, one card per line, described by JSON Schemas next to the files. This module reads it once
on import, checks what the schemas cannot express, and converts it to arrays for the kernels; powers.py does so for the
powers. Kernels see numbers only; all names are resolved here.

| what | ids |
| --- | --- |
| bird | 0..169, in the alphabetical order of birds.json |
| bonus card | 0..25, in the order of bonus_cards.json |
| goal | 2 * tile + side, 0..15 |
| food | 0..4, `FOODS`; 5 for a wild icon in a cost |
| die face | 0..4 for a food, 5 for invertebrate or seed |
| habitat, nest, colour of a power | `HABITATS`, `NESTS`, `COLOURS` |
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardenvs.core.errors import FormatError

DATA_FOLDER = Path(__file__).with_name("data")

FOODS = ("invertebrate", "seed", "fruit", "fish", "rodent")
NUM_FOODS = len(FOODS)
INVERTEBRATE, SEED, FRUIT, FISH, RODENT = range(NUM_FOODS)
WILD = 5
"""Index of the wild icon in a row of `BIRD_COST`."""
HABITATS = ("forest", "grassland", "wetland")
NUM_HABITATS = len(HABITATS)
FOREST, GRASSLAND, WETLAND = range(NUM_HABITATS)
SAME = "same"
"""Param `habitat` of `play_additional_bird`: the row in which the bird itself was placed."""
NESTS = ("none", "bowl", "cavity", "ground", "platform", "star")
NO_NEST, BOWL, CAVITY, GROUND, PLATFORM, STAR = range(len(NESTS))
COLOURS = ("none", "white", "brown", "pink")
NO_COLOUR, WHITE, BROWN, PINK = range(len(COLOURS))
TRIGGERS = ("never", "when_played", "when_activated", "once_between_turns")
"""When a power works, by the colour of its box."""
ICONS = ("predator", "flocking", "bonus_card")


class PowerSpec(NamedTuple):
    """A bird's power, as in birds.json."""

    trigger: str
    """One of `TRIGGERS`."""
    power_handler_id: str
    """A key of `POWERS` in handlers.py."""
    params: Mapping[str, Any]
    """The arguments of the handler, as in the data."""


# ---------------------------------------------------------------------------------------------------------------
# Values of the data as numbers

Encode = Callable[[Any], int]


def whole(low: int, high: int) -> Encode:
    """Return a function that accepts whole numbers from `low` to `high`."""

    def encode(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise ValueError(f"{value!r} is not a whole number from {low} to {high}")
        return value

    return encode


def one_of(names: Sequence[str]) -> Encode:
    """Return a function from one of some names to its index."""

    def encode(value: Any) -> int:
        if value not in names:
            raise ValueError(f"{value!r} is not one of {', '.join(names)}")
        return names.index(value)

    return encode


def flag(value: Any) -> int:
    """Return 1 for True, 0 for False."""
    if type(value) is not bool:
        raise ValueError(f"{value!r} is neither true nor false")
    return int(value)


def food_mask(value: Any) -> int:
    """Return a list of foods as a bit set."""
    if not isinstance(value, list) or len(set(value)) != len(value):
        raise ValueError(f"{value!r} is not a list of different foods")
    return sum(1 << FOOD(food) for food in value)


FOOD = one_of(FOODS)
HABITAT = one_of(HABITATS)
_NEST = one_of(NESTS[BOWL:STAR])
MANY = whole(1, 20)


def real_nest(value: Any) -> int:
    """Encode a nest that a power can ask for: not a star, which matches every nest, and not none."""
    return BOWL + _NEST(value)


def encoded(encode: Encode, value: Any, where: str) -> int:
    """Return `encode(value)`; its ValueError becomes a FormatError that says where the value is."""
    try:
        return encode(value)
    except ValueError as error:
        raise FormatError(f"{where}: {error}") from error


# ---------------------------------------------------------------------------------------------------------------
# Reading the data


def _read(name: str) -> Any:
    return json.loads((DATA_FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def _column(rows: list[dict], value: Callable[[dict], Any], dtype: str) -> np.ndarray:
    """Return a value of every card as an array."""
    return constant([encoded(value, row, row["name"]) for row in rows], dtype)


def constant(values: Any, dtype: str) -> np.ndarray:
    """Return a read-only array."""
    array = np.array(values, dtype)
    array.flags.writeable = False
    return array


def _bits(names: Iterable[str], of: Sequence[str]) -> int:
    encode = one_of(of)
    return sum(1 << encode(name) for name in names)


def _cost(bird: dict) -> list[int]:
    kinds = (*FOODS, "wild")
    _bits(bird["cost"], kinds)
    return [bird["cost"].get(kind, 0) for kind in kinds]


def _icon(name: str) -> Callable[[dict], bool]:
    return lambda bird: bool(_bits(bird["icons"], ICONS) >> ICONS.index(name) & 1)


_BIRDS = _read("birds")["birds"]
_BONUSES = _read("bonus_cards")["bonus_cards"]
_GOALS = _read("goals")["goals"]
_MAT = _read("mat")

# ---------------------------------------------------------------------------------------------------------------
# Bonus cards

NUM_BONUSES = len(_BONUSES)
BONUS_NAMES = tuple(card["name"] for card in _BONUSES)
BONUS_KEYS = tuple(card["key"] for card in _BONUSES)
BONUS_TEXTS = tuple(card["text"] for card in _BONUSES)
"""Text of what each card counts."""
BONUS_COUNTS = ("listed_birds", "birds_with_eggs", "birds_in_smallest_habitat", "cards_in_hand")
LISTED_BIRDS, BIRDS_WITH_EGGS, BIRDS_IN_SMALLEST_HABITAT, CARDS_IN_HAND = range(len(BONUS_COUNTS))
BONUS_KIND = _column(_BONUSES, lambda card: one_of(BONUS_COUNTS)(card["counts"]), "u1")
"""What a card counts, an index of `BONUS_COUNTS`, (26,)."""
BONUS_MIN_EGGS = _column(_BONUSES, lambda card: card.get("min_eggs", 0), "i1")
"""For `BIRDS_WITH_EGGS`: eggs that a bird needs to count, (26,)."""
BONUS_EACH = _column(_BONUSES, lambda card: card.get("points_each", 0), "i1")
"""Points per item; 0 for a card with tiers, (26,)."""
BONUS_THRESHOLDS = _column(_BONUSES, lambda card: [tier[0] for tier in card.get("tiers", [[0, 0]] * 2)], "i1")
"""Minimum counts of the lower and upper tier, (26, 2); zeros for a card that pays per item."""
BONUS_POINTS = _column(_BONUSES, lambda card: [tier[1] for tier in card.get("tiers", [[0, 0]] * 2)], "i1")
"""Points of the tiers, not cumulative, (26, 2)."""

# ---------------------------------------------------------------------------------------------------------------
# Birds

NUM_BIRDS = len(_BIRDS)
BIRD_NAMES = tuple(bird["name"] for bird in _BIRDS)
BIRD_KEYS = tuple(bird["key"] for bird in _BIRDS)
BIRD_SCIENTIFIC_NAMES = tuple(bird["scientific_name"] for bird in _BIRDS)
BIRD_POWERS = tuple(PowerSpec(**bird["power"]) for bird in _BIRDS)
"""Each bird's power, as in the data."""
BIRD_HABITATS = _column(_BIRDS, lambda bird: _bits(bird["habitats"], HABITATS), "u1")
"""Bit h is set if the bird can live in habitat h, (170,)."""
BIRD_COST = _column(_BIRDS, _cost, "i1")
"""Number of icons of the five foods and wild, (170, 6)."""
BIRD_COST_OR = _column(_BIRDS, lambda bird: one_of(("all", "one"))(bird["pay"]), "u1")
"""1 if the cost is one of its foods, 0 if it is all of them, (170,)."""
BIRD_POINTS = _column(_BIRDS, lambda bird: bird["points"], "i1")
BIRD_NEST = _column(_BIRDS, lambda bird: one_of(NESTS)(bird["nest"]), "u1")
BIRD_EGG_LIMIT = _column(_BIRDS, lambda bird: bird["egg_limit"], "i1")
BIRD_WINGSPAN = _column(_BIRDS, lambda bird: bird["wingspan_cm"], "i2")
"""In centimetres, (170,)."""
BIRD_PREDATOR = _column(_BIRDS, _icon("predator"), "u1")
BIRD_FLOCKING = _column(_BIRDS, _icon("flocking"), "u1")
BIRD_COLOUR = _column(_BIRDS, lambda bird: one_of(TRIGGERS)(bird["power"]["trigger"]), "u1")
BIRD_BONUS = _column(_BIRDS, lambda bird: _bits(bird["counts_for"], BONUS_KEYS), "i8")
"""Bit b is set if the bird counts for bonus card b, one of `LISTED_BIRDS`, (170,)."""

# ---------------------------------------------------------------------------------------------------------------
# Round goals

NUM_GOALS = len(_GOALS)
NUM_GOAL_TILES = NUM_GOALS // 2
GOAL_NAMES = tuple(goal["name"] for goal in _GOALS)
GOAL_KEYS = tuple(goal["key"] for goal in _GOALS)
GOAL_COUNTS = (
    "birds_in_habitat",
    "eggs_in_habitat",
    "birds_with_egg_by_nest",
    "eggs_by_nest",
    "egg_sets",
    "total_birds",
)
BIRDS_IN_HABITAT, EGGS_IN_HABITAT, BIRDS_WITH_EGG_BY_NEST, EGGS_BY_NEST, EGG_SETS, TOTAL_BIRDS = range(6)
GOAL_KIND = _column(_GOALS, lambda goal: one_of(GOAL_COUNTS)(goal["counts"]), "u1")
"""What a goal counts, an index of `GOAL_COUNTS`, (16,)."""
GOAL_HABITAT = _column(_GOALS, lambda goal: HABITAT(goal.get("habitat", "forest")), "u1")
"""The habitat of a goal that has one, (16,); ignored for the others."""
GOAL_NEST = _column(_GOALS, lambda goal: real_nest(goal["nest"]) if "nest" in goal else NO_NEST, "u1")
"""The nest of a goal that has one, (16,); `NO_NEST` for the others."""
if [2 * goal["tile"] + goal["side"] for goal in _GOALS] != list(range(NUM_GOALS)):
    raise FormatError("goals.json: goals must be in the order of tile and side, two per tile")

# ---------------------------------------------------------------------------------------------------------------
# The mat

MAX_PLAYERS = int(_MAT["players"]["most"])
NUM_ROUNDS = len(_MAT["turns_per_round"])
TURNS_PER_ROUND = constant(_MAT["turns_per_round"], "i1")
TRAY_SIZE = int(_MAT["tray_size"])
NUM_DICE = int(_MAT["feeder_dice"])
NUM_FACES = len(_MAT["die_faces"])
DUAL_FACE = 5
"""The face of a die that gives an invertebrate or a seed."""
NUM_SLOTS = int(_MAT["slots_per_habitat"])
BIRDS_DEALT = int(_MAT["setup"]["birds_dealt"])
BONUSES_DEALT = int(_MAT["setup"]["bonus_cards_dealt"])
EGG_COST = constant(_MAT["egg_cost_by_column"], "i1")
"""Eggs to play a bird into a row with this many birds, (5,)."""
FOOD_GAINED = constant(_MAT["actions_by_num_birds"]["gain_food"], "i1")
"""Dice taken with this many birds in the forest, (6,)."""
EGGS_LAID = constant(_MAT["actions_by_num_birds"]["lay_eggs"], "i1")
CARDS_DRAWN = constant(_MAT["actions_by_num_birds"]["draw_cards"], "i1")
HAS_TRADE = constant(_MAT["actions_by_num_birds"]["has_trade"], "i1")
"""1 if the trade is available with this many birds in the row, (6,)."""
GREEN_POINTS = constant(_MAT["green_goal_points"], "i1")
"""Points of the first three places in each round, (4, 3)."""
BLUE_MOST = int(_MAT["blue_goal_most_points"])
DIE_FOODS = constant([food_mask(face) for face in _MAT["die_faces"]], "i1")
"""Bit set of the foods that each face can give, (6,)."""
