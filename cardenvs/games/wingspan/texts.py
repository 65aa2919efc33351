"""What is printed on the cards, in words: costs, powers, bonus cards. Made from the data: a new bird has its text."""

import functools

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
    PowerSpec,
)

_MOMENTS = {
    "never": "",
    "when_played": "When played: ",
    "when_activated": "When activated: ",
    "once_between_turns": "Once between turns: ",
}


def count(number: int, thing: str) -> str:
    """Such as "1 egg", "2 eggs"; fish are fish, however many."""
    return f"{number} {thing}" if number == 1 or thing == "fish" else f"{number} {thing}s"


def one_of(things: list[str]) -> str:
    """Such as "a seed or a fruit"."""
    return " or ".join(f"{'an' if thing[0] in 'aeiou' else 'a'} {thing}" for thing in things)


@functools.cache
def cost_text(bird: int) -> str:
    """What a bird costs, such as "2 invertebrates + 1 wild", "1 fruit or 1 seed", "free"."""
    parts = [count(int(n), FOODS[food]) for food, n in enumerate(BIRD_COST[bird, :WILD]) if n]
    if BIRD_COST[bird, WILD]:
        parts.append(f"{BIRD_COST[bird, WILD]} wild")
    return (" or " if BIRD_COST_OR[bird] else " + ").join(parts) or "free"


@functools.cache
def habitats_text(bird: int) -> str:
    """Such as "forest or wetland"."""
    return " or ".join(name for h, name in enumerate(HABITATS) if BIRD_HABITATS[bird] >> h & 1)


@functools.cache
def power_text(bird: int) -> str:
    """A bird's power in a sentence or two, with its moment; "No power." where there is none."""
    spec = BIRD_POWERS[bird]
    return _MOMENTS[spec.trigger] + _SENTENCES[spec.power_handler_id](spec)


@functools.cache
def bird_text(bird: int) -> str:
    """All that is printed on a bird, in a line."""
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
    """What a bonus card pays for, such as "Ecologist: 2 points each for birds in ..."."""
    what = BONUS_TEXTS[bonus]
    if BONUS_EACH[bonus]:
        return f"{BONUS_NAMES[bonus]}: {count(int(BONUS_EACH[bonus]), 'point')} for each of the {what}"
    (low, high), (few, many) = BONUS_THRESHOLDS[bonus], BONUS_POINTS[bonus]
    return f"{BONUS_NAMES[bonus]}: {few} points for {low} to {high - 1} {what}, {many} points for {high} or more"


# ---------------------------------------------------------------------------------------------------------------
# A sentence a handler


def _food(spec: PowerSpec) -> str:
    return count(spec.params["amount"], spec.params["food"])


def _feeder(spec: PowerSpec) -> str:
    cache = " You may cache it on this bird." if spec.params["may_cache"] else ""
    return f"take a die that gives {one_of(spec.params['foods'])} from the birdfeeder, if there is one.{cache}"


def _fewest(spec: PowerSpec) -> str:
    reward = {"feeder_die": "a die of their choice from the birdfeeder", "draw_card": "a card"}[spec.params["reward"]]
    verb = "gain" if spec.params["reward"] == "feeder_die" else "draw"
    return f"the players with the fewest birds in the {spec.params['habitat']} {verb} {reward}."


def _draw(spec: PowerSpec) -> str:
    owed = spec.params["discard_at_turn_end"]
    debt = f" If you do, discard {count(owed, 'card')} at the end of your turn." if owed else ""
    return f"draw {count(spec.params['draw'], 'card')}.{debt}"


def _lay(spec: PowerSpec) -> str:
    where = {"self": "this bird", "any": "any of your birds"}[spec.params["target"]]
    return f"lay {count(spec.params['amount'], 'egg')} on {where}."


def _tuck(spec: PowerSpec) -> str:
    reward = {
        "draw_card": "draw a card",
        "lay_egg_on_self": "you may lay an egg on this bird",
        "gain_food_supply": f"gain {one_of(spec.params.get('foods', []))} from the supply",
    }[spec.params["reward"]]
    return f"tuck a card from your hand behind this bird. If you do, {reward}."


def _egg_for_food(spec: PowerSpec) -> str:
    whose = "another of your birds" if spec.params["exclude_self"] else "any of your birds"
    return f"discard an egg from {whose} to gain {count(spec.params['amount'], 'food')} of your choice from the supply."


def _egg_for_cards(spec: PowerSpec) -> str:
    whose = "another of your birds" if spec.params["exclude_self"] else "any of your birds"
    return f"discard an egg from {whose} to draw {count(spec.params['draw'], 'card')}."


def _play_another(spec: PowerSpec) -> str:
    where = "this bird's habitat" if spec.params["habitat"] == "same" else f"the {spec.params['habitat']}"
    return f"play another bird into {where}, at its normal cost."


def _when_played_into(spec: PowerSpec) -> str:
    return f"when another player plays a bird into the {spec.params['habitat']}, "


_SENTENCES = {
    "no_power": lambda spec: "No power.",
    "gain_food_supply": lambda spec: f"gain {_food(spec)} from the supply.",
    "all_players_gain_food_supply": lambda spec: f"all players gain {_food(spec)} from the supply.",
    "gain_food_feeder": _feeder,
    "gain_all_food_feeder": lambda spec: f"take all dice that give {spec.params['food']} from the birdfeeder.",
    "each_player_gains_feeder_die": lambda spec: (
        "each player takes a die from the birdfeeder, clockwise from a player of your choice."
    ),
    "fewest_birds_gain": _fewest,
    "cache_food_supply": lambda spec: f"cache {_food(spec)} from the supply on this bird.",
    "predator_dice": lambda spec: (
        f"roll the dice outside the birdfeeder. If any shows {one_of([spec.params['food']])}, "
        f"cache 1 {spec.params['food']} from the supply on this bird."
    ),
    "predator_wingspan": lambda spec: (
        f"turn up the top card of the deck. If its wingspan is under {spec.params['under_cm']} cm, "
        "tuck it behind this bird; otherwise discard it."
    ),
    "draw_cards": _draw,
    "all_players_draw_from_deck": lambda spec: (
        f"all players draw {count(spec.params['amount'], 'card')} from the deck."
    ),
    "draw_and_draft": lambda spec: (
        "turn up a card of the deck for each player and one more. Clockwise from you each player takes one; "
        "you take the one that is left."
    ),
    "draw_bonus_cards": lambda spec: f"draw {spec.params['draw']} bonus cards and keep {spec.params['keep']}.",
    "lay_eggs": _lay,
    "lay_egg_each_nest": lambda spec: f"lay an egg on each of your birds with a {spec.params['nest']} nest.",
    "all_players_lay_egg_nest": lambda spec: (
        f"all players lay an egg on a bird of theirs with a {spec.params['nest']} nest; "
        "you may lay one on another such bird."
    ),
    "tuck_from_hand": _tuck,
    "discard_food_tuck_from_deck": lambda spec: (
        f"discard {count(spec.params['cost'], spec.params['food'])} to tuck "
        f"{count(spec.params['tuck'], 'card')} from the deck behind this bird."
    ),
    "discard_egg_gain_food": _egg_for_food,
    "discard_egg_draw_cards": _egg_for_cards,
    "trade_food": lambda spec: "exchange a food of yours for one of another type from the supply.",
    "move_if_rightmost": lambda spec: "if this bird is the rightmost of its habitat, you may move it to another one.",
    "play_additional_bird": _play_another,
    "repeat_power": lambda spec: (
        f"repeat the power of another {'predator' if spec.params['filter'] == 'predator' else 'brown bird'} "
        "in this habitat."
    ),
    "react_lay_eggs": lambda spec: (
        f"when another player lays eggs, lay an egg on another bird of yours with a {spec.params['nest']} nest."
    ),
    "react_play_bird_gain_food": lambda spec: f"{_when_played_into(spec)}gain {_food(spec)} from the supply.",
    "react_play_bird_tuck": lambda spec: f"{_when_played_into(spec)}tuck a card from your hand behind this bird.",
    "react_gain_food_cache": lambda spec: (
        f"when another player gains food and takes {one_of([spec.params['food']])}, "
        f"cache {_food(spec)} from the supply on this bird."
    ),
    "react_predator_gain_die": lambda spec: "when another player's hunt succeeds, take a die from the birdfeeder.",
}
