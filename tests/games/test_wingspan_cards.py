"""The cards of Wingspan: the data against its schemas and against what is known of the deck, and faults in it."""

import json
import re
import subprocess
import sys
from collections import Counter

import jsonschema_rs
import numpy as np
import pytest

from cardenvs.core.errors import FormatError
from cardenvs.games.wingspan import cards, powers
from cardenvs.games.wingspan.cards import COLOURS, FOODS, HABITATS, NESTS
from cardenvs.games.wingspan.powers import HANDLERS

FILES = ("birds", "bonus_cards", "goals", "mat")


def data(name):
    return json.loads((cards.DATA_FOLDER / f"{name}.json").read_text())


def schema(name):
    return json.loads((cards.DATA_FOLDER / f"{name}.schema.json").read_text())


BIRDS = data("birds")["birds"]
BONUSES = data("bonus_cards")["bonus_cards"]
MAT = data("mat")


def count(values):
    return dict(sorted(Counter(values).items()))


# ---------------------------------------------------------------------------------------------------------------
# The schemas


@pytest.mark.parametrize("name", FILES)
def test_the_data_follow_their_schema(name):
    jsonschema_rs.meta.validate(schema(name))
    jsonschema_rs.validate(schema(name), data(name))
    assert data(name)["$schema"] == f"{name}.schema.json"


def test_nobody_can_change_the_data():
    named = {**vars(cards), **vars(powers)}
    arrays = {name: value for name, value in named.items() if isinstance(value, np.ndarray)}
    assert len(arrays) > 10
    for name, array in arrays.items():
        with pytest.raises(ValueError, match="read-only"):
            array.flat[0] = array.flat[0]
        assert not array.flags.writeable, name


def _first(rows, **changes):
    return [{**rows[0], **changes}, *rows[1:]]


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("birds", {"birds": _first(BIRDS, points="five")}),
        ("birds", {"birds": _first(BIRDS, cost={"berries": 1})}),
        ("birds", {"birds": _first(BIRDS, power={**BIRDS[0]["power"], "power_handler_id": "gain_foods"})}),
        ("birds", {"birds": _first(BIRDS, power={**BIRDS[0]["power"], "trigger": "once_between_turns"})}),
        ("birds", {"birds": _first(BIRDS, colour="blue")}),
        ("bonus_cards", {"bonus_cards": _first(BONUSES, points_each=2)}),
        ("goals", {"goals": data("goals")["goals"][:15]}),
        ("mat", {**MAT, "turns_per_round": [8, 7, 6]}),
    ],
)
def test_a_schema_refuses_what_is_not_in_it(name, broken):
    with pytest.raises(jsonschema_rs.ValidationError):
        jsonschema_rs.validate(schema(name), {**data(name), **broken})


def test_the_schema_knows_the_handlers_that_the_loader_knows():
    specs = schema("birds")["$defs"]["bird"]["properties"]["power"]["oneOf"]
    by_handler = {spec["properties"]["power_handler_id"]["const"]: spec["properties"] for spec in specs}
    assert tuple(by_handler) == HANDLERS
    assert {name: tuple(spec["params"]["properties"]) for name, spec in by_handler.items()} == powers.HANDLER_PARAMS


# ---------------------------------------------------------------------------------------------------------------
# What is known of the deck


def test_numbers_of_cards():
    assert (len(BIRDS), len(BONUSES), len(data("goals")["goals"]), len(HANDLERS)) == (170, 26, 16, 30)
    assert powers.NUM_PARAMS == 3
    for names in (cards.BIRD_NAMES, cards.BIRD_KEYS, cards.BONUS_NAMES, cards.GOAL_NAMES, cards.BIRD_SCIENTIFIC_NAMES):
        assert len(set(names)) == len(names)
    assert list(cards.BIRD_KEYS) == sorted(cards.BIRD_KEYS)


def test_habitats():
    assert count("|".join(bird["habitats"]) for bird in BIRDS) == {
        "forest": 40, "forest|grassland": 14, "forest|grassland|wetland": 27, "forest|wetland": 2,
        "grassland": 31, "grassland|wetland": 11, "wetland": 45,
    }  # fmt: skip
    assert [int(((cards.BIRD_HABITATS >> h) & 1).sum()) for h in range(len(HABITATS))] == [83, 83, 85]


def test_nests_colours_and_icons():
    nests = dict(zip(NESTS, np.bincount(cards.BIRD_NEST).tolist(), strict=True))
    assert nests == {"none": 2, "bowl": 38, "cavity": 38, "ground": 38, "platform": 38, "star": 16}
    colours = dict(zip(COLOURS, np.bincount(cards.BIRD_COLOUR).tolist(), strict=True))
    assert colours == {"none": 6, "white": 36, "brown": 116, "pink": 12}
    assert (int(cards.BIRD_PREDATOR.sum()), int(cards.BIRD_FLOCKING.sum())) == (22, 25)
    assert sum("bonus_card" in bird["icons"] for bird in BIRDS) == 15


def test_costs():
    icons = dict(zip((*FOODS, "wild"), (cards.BIRD_COST > 0).sum(0).tolist(), strict=True))
    assert icons == {"invertebrate": 106, "seed": 75, "fruit": 37, "fish": 30, "rodent": 25, "wild": 28}
    assert int(cards.BIRD_COST_OR.sum()) == 31
    free = cards.BIRD_COST.sum(1) == 0
    assert free.sum() == 3
    assert (cards.BIRD_COST_OR[free] == 0).all()
    paid = np.where(cards.BIRD_COST_OR, 1, cards.BIRD_COST.sum(1))
    assert np.bincount(paid).tolist() == [3, 50, 67, 50]
    either = cards.BIRD_COST[cards.BIRD_COST_OR == 1]
    assert either.max() == 1
    assert (either[:, cards.WILD] == 0).all()
    assert (either.sum(1) >= 2).all()


def test_points_eggs_and_wingspans():
    assert np.bincount(cards.BIRD_POINTS).tolist() == [6, 12, 20, 33, 33, 34, 12, 7, 8, 5]
    assert np.bincount(cards.BIRD_EGG_LIMIT).tolist() == [2, 12, 64, 44, 31, 13, 4]
    assert ((cards.BIRD_EGG_LIMIT == 0) == (cards.BIRD_NEST == cards.NO_NEST)).all()
    spans = cards.BIRD_WINGSPAN
    assert (spans.min(), spans.max()) == (10, 277)
    assert [int((spans < bound).sum()) for bound in (50, 75, 100)] == [97, 119, 133]
    assert (int((spans <= 30).sum()), int((spans > 65).sum())) == (60, 57)


HANDLER_SIZES = {
    "no_power": 6, "gain_food_supply": 6, "all_players_gain_food_supply": 5, "gain_food_feeder": 10,
    "gain_all_food_feeder": 2, "each_player_gains_feeder_die": 2, "fewest_birds_gain": 3, "cache_food_supply": 5,
    "predator_dice": 12, "predator_wingspan": 10, "draw_cards": 10, "all_players_draw_from_deck": 4,
    "draw_and_draft": 1, "draw_bonus_cards": 15, "lay_eggs": 7, "lay_egg_each_nest": 4, "all_players_lay_egg_nest": 3,
    "tuck_from_hand": 19, "discard_food_tuck_from_deck": 5, "discard_egg_gain_food": 5, "discard_egg_draw_cards": 2,
    "trade_food": 1, "move_if_rightmost": 8, "play_additional_bird": 10, "repeat_power": 3, "react_lay_eggs": 5,
    "react_play_bird_gain_food": 2, "react_play_bird_tuck": 1, "react_gain_food_cache": 1, "react_predator_gain_die": 3,
}  # fmt: skip


def test_how_many_birds_each_handler_serves():
    assert dict(zip(HANDLERS, np.bincount(powers.BIRD_HANDLER).tolist(), strict=True)) == HANDLER_SIZES


def test_icons_coincide_with_handlers():
    for bird, spec in zip(BIRDS, cards.BIRD_POWERS, strict=True):
        handler = spec.power_handler_id
        assert ("predator" in bird["icons"]) == handler.startswith("predator_"), bird["name"]
        assert ("bonus_card" in bird["icons"]) == (handler == "draw_bonus_cards"), bird["name"]
        assert ("flocking" in bird["icons"]) == ("tuck" in handler), bird["name"]


def test_birds_that_move_live_everywhere():
    movers = [bird for bird in BIRDS if bird["power"]["power_handler_id"] == "move_if_rightmost"]
    assert all(bird["habitats"] == list(HABITATS) for bird in movers)


# ---------------------------------------------------------------------------------------------------------------
# Bonus cards


def _eats(food):
    return lambda bird: food in bird["cost"]


def _nests_in(nest):
    return lambda bird: bird["nest"] in (nest, "star")


def _lives_only_in(habitat):
    return lambda bird: bird["habitats"] == [habitat]


LISTED = {
    "backyard_birder": (71, lambda bird: bird["points"] < 4),
    "bird_counter": (25, lambda bird: "flocking" in bird["icons"]),
    "bird_feeder": (75, _eats("seed")),
    "enclosure_builder": (54, _nests_in("ground")),
    "falconer": (22, lambda bird: "predator" in bird["icons"]),
    "fishery_manager": (30, _eats("fish")),
    "food_web_expert": (16, lambda bird: list(bird["cost"]) == ["invertebrate"]),
    "forester": (40, _lives_only_in("forest")),
    "historian": (19, lambda bird: "'s " in bird["name"]),
    "large_bird_specialist": (57, lambda bird: bird["wingspan_cm"] > 65),
    "nest_box_builder": (54, _nests_in("cavity")),
    "omnivore_specialist": (28, _eats("wild")),
    "passerine_specialist": (60, lambda bird: bird["wingspan_cm"] <= 30),
    "platform_builder": (54, _nests_in("platform")),
    "prairie_manager": (31, _lives_only_in("grassland")),
    "rodentologist": (25, _eats("rodent")),
    "viticulturalist": (37, _eats("fruit")),
    "wetland_scientist": (45, _lives_only_in("wetland")),
    "wildlife_gardener": (54, _nests_in("bowl")),
}
NAMED = {"anatomist": 39, "cartographer": 37, "photographer": 58, "historian": 19}


def listed(key):
    return {bird["key"] for bird in BIRDS if key in bird["counts_for"]}


@pytest.mark.parametrize("key", LISTED)
def test_birds_that_a_bonus_card_counts_by_what_they_are(key):
    number, counts = LISTED[key]
    assert listed(key) == {bird["key"] for bird in BIRDS if counts(bird)}
    assert len(listed(key)) == number
    bit = cards.BONUS_KEYS.index(key)
    assert int(((cards.BIRD_BONUS >> bit) & 1).sum()) == number


@pytest.mark.parametrize("key", NAMED)
def test_birds_that_a_bonus_card_counts_by_their_name(key):
    card = BONUSES[cards.BONUS_KEYS.index(key)]
    named = {bird["key"] for bird in BIRDS if re.search("|".join(card["name_words"]), bird["name"].lower())}
    exceptions = set(card.get("name_exceptions", ()))
    assert exceptions <= named
    assert listed(key) == named - exceptions
    assert len(listed(key)) == NAMED[key]


def test_every_listed_card_is_one_of_those_and_no_other_card_lists_birds():
    kinds = dict(zip(cards.BONUS_KEYS, cards.BONUS_KIND.tolist(), strict=True))
    assert {key for key, kind in kinds.items() if kind == cards.LISTED_BIRDS} == set(LISTED) | set(NAMED)
    assert {key for key, kind in kinds.items() if kind != cards.LISTED_BIRDS} == {
        "breeding_manager", "oologist", "ecologist", "visionary_leader",
    }  # fmt: skip
    assert not any(listed(key) for key, kind in kinds.items() if kind != cards.LISTED_BIRDS)


def test_birds_whose_egg_limit_lets_them_count():
    least = dict(zip(cards.BONUS_KEYS, cards.BONUS_MIN_EGGS.tolist(), strict=True))
    assert sum(bird["egg_limit"] >= least["breeding_manager"] for bird in BIRDS) == 48
    assert sum(bird["egg_limit"] >= least["oologist"] for bird in BIRDS) == 168


def test_tiers_rise():
    for key, each, least, points in zip(
        cards.BONUS_KEYS, cards.BONUS_EACH, cards.BONUS_THRESHOLDS, cards.BONUS_POINTS, strict=True
    ):
        if each:
            assert not least.any(), key
            assert not points.any(), key
        else:
            assert 0 < least[0] < least[1], key
            assert 0 < points[0] < points[1], key


# ---------------------------------------------------------------------------------------------------------------
# Goals and the mat


def test_the_two_sides_of_a_tile_go_together():
    backs = {"birds_in_habitat": "eggs_in_habitat", "birds_with_egg_by_nest": "eggs_by_nest", "egg_sets": "total_birds"}
    for front, back in zip(range(0, 16, 2), range(1, 16, 2), strict=True):
        assert backs[cards.GOAL_COUNTS[cards.GOAL_KIND[front]]] == cards.GOAL_COUNTS[cards.GOAL_KIND[back]]
        assert cards.GOAL_HABITAT[front] == cards.GOAL_HABITAT[back]
        assert cards.GOAL_NEST[front] == cards.GOAL_NEST[back]


def test_a_game_has_26_turns_a_player():
    assert int(cards.TURNS_PER_ROUND.sum()) == 26


def test_each_food_has_a_face_of_its_own_and_two_share_one():
    assert cards.DIE_FOODS.tolist() == [1, 2, 4, 8, 16, 3]


# ---------------------------------------------------------------------------------------------------------------
# Faults in the data


def power(**changes):
    spec = {
        "trigger": "when_activated",
        "power_handler_id": "cache_food_supply",
        "params": {"food": "seed", "amount": 1},
    }
    return {**spec, **changes}


def test_a_power_is_a_handler_and_numbers():
    assert powers.encode_power(power(), "Testbird") == (HANDLERS.index("cache_food_supply"), [cards.SEED, 1, 0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"power_handler_id": "cache_gold"}, "the power handler 'cache_gold' is not implemented"),
        (
            {"params": {"food": "seed", "amount": 1, "colour": "red"}},
            "has no param 'colour'; its params are: 'amount', 'food'",
        ),
        ({"params": {"food": "seed"}}, "needs the param 'amount'"),
        ({"params": {"food": "berries", "amount": 1}}, "'berries' is not one of invertebrate, seed"),
        ({"params": {"food": "seed", "amount": 0}}, "0 is not a whole number from 1 to 20"),
        ({"params": {"food": "seed", "amount": True}}, "True is not a whole number"),
        ({"trigger": "once_between_turns"}, "works when_played or when_activated, not 'once_between_turns'"),
        ({"power_handler_id": "no_power", "params": {}}, "works never, not 'when_activated'"),
        ({"power_handler_id": "react_lay_eggs", "params": {"nest": "bowl"}}, "works once_between_turns, not"),
        (
            {"power_handler_id": "tuck_from_hand", "params": {"reward": "gain_food_supply"}},
            "needs foods if its reward is gain_food_supply, and only then",
        ),
        (
            {"power_handler_id": "tuck_from_hand", "params": {"reward": "draw_card", "foods": ["seed"]}},
            "needs foods if its reward is gain_food_supply, and only then",
        ),
        ({"power_handler_id": "lay_egg_each_nest", "params": {"nest": "star"}}, "'star' is not one of bowl, cavity"),
        ({"power_handler_id": "predator_dice", "params": {"food": "seed"}}, "'seed' is not one of fish, rodent"),
        (
            {"power_handler_id": "discard_egg_gain_food", "params": {"amount": 1, "exclude_self": 1}},
            "neither true nor false",
        ),
        (
            {"power_handler_id": "gain_food_feeder", "params": {"foods": "seed", "may_cache": True}},
            "not a list of different foods",
        ),
    ],
)
def test_a_fault_in_a_power_names_the_bird(changes, message):
    with pytest.raises(FormatError, match=r"^Testbird: ") as caught:
        powers.encode_power(power(**changes), "Testbird")
    assert message in str(caught.value)


IMPORT_WITH = """
import json, pathlib, sys
path, old, new = sys.argv[1:]
read = pathlib.Path.read_text
def read_text(self, *args, **kwargs):
    text = read(self, *args, **kwargs)
    if self.name != path:
        return text
    assert old in text
    return text.replace(old, new, 1)
pathlib.Path.read_text = read_text
import cardenvs.games.wingspan.cards
"""


@pytest.mark.parametrize(
    ("path", "old", "new", "message"),
    [
        (
            "birds.json",
            '"react_gain_food_cache"',
            '"react_gain_gold"',
            "Loggerhead Shrike: the power handler 'react_gain_gold' is not implemented",
        ),
        (
            "birds.json",
            '{"extra": 1}',
            '{"extra": 1, "more": 2}',
            "American Oystercatcher: draw_and_draft has no param 'more'",
        ),
        (
            "birds.json",
            '"counts_for": ["bird_feeder"',
            '"counts_for": ["bird_feader"',
            "Acorn Woodpecker: 'bird_feader' is not one of",
        ),
        ("birds.json", '"nest": "cavity"', '"nest": "hole"', "Acorn Woodpecker: 'hole' is not one of none, bowl"),
        ("birds.json", '"cost": {"seed": 3}', '"cost": {"sead": 3}', "Acorn Woodpecker: 'sead' is not one of"),
        ("bonus_cards.json", '"cards_in_hand"', '"cards_in_mind"', "Visionary Leader: 'cards_in_mind' is not one of"),
        ("goals.json", '"tile": 0, "side": 1', '"tile": 0, "side": 0', "goals must be in the order of tile and side"),
    ],
)
def test_a_fault_in_the_data_stops_the_import(path, old, new, message):
    run = subprocess.run(
        [sys.executable, "-c", IMPORT_WITH, path, old, new], capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode != 0
    assert "FormatError" in run.stderr
    assert message in run.stderr
