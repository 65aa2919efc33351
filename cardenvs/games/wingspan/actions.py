"""Actions: ids with their texts and JSON.

The ids are the same for all options and player counts. Slots, habitats and foods are numbered as in cards.py and
state.py; seats are counted clockwise from the player who acts, who is seat 0.

    id          action                                              JSON: "action" and its other keys
    0           decline, or take no more                            stop
    1           use the power, or take what is offered              use
    2..5        play a bird, gain food, lay eggs, draw cards        turn: turn
    6..10       take a die that shows a food                        take_die: food
    11, 12      take a die invertebrate-or-seed as one of them      take_dual_die: food
    13          roll all dice back into the birdfeeder              reset_feeder
    14..18      pay a food token                                    pay_food: food
    19..23      gain a food token from the supply                   gain_food: food
    24..38      lay an egg on the bird in a slot                    lay_egg: habitat, column
    39..53      discard an egg from a slot                          discard_egg: habitat, column
    54..68      use (react with, or repeat) the power in a slot     choose_bird: habitat, column
    69..71      take a card from the tray                           draw_tray: place
    72          draw a card from the deck                           draw_deck
    73..75      move the bird to a habitat                          move_to: habitat
    76..80      a seat goes first                                   goes_first: seat
    81..86      take a card of the draft                            draft: place
    87..112     keep a bonus card                                   keep_bonus: bonus
    113..282    discard a bird from the hand                        discard: bird
    283..452    tuck a bird from the hand                           tuck: bird
    453..962    play a bird into a habitat (453 + 3 * bird + h)     play: bird, habitat
"""

from typing import Any

import numpy as np

from cardenvs.core.errors import IllegalActionError
from cardenvs.games.wingspan import cards
from cardenvs.games.wingspan.state import DRAFT_SIZE, MAT_SLOTS, WingspanOptions

STOP, USE = 0, 1
TURN_0 = 2
PLAY_A_BIRD, GAIN_FOOD, LAY_EGGS, DRAW_CARDS = range(4)  # added to TURN_0
TAKE_DIE_0 = TURN_0 + 4
TAKE_DUAL_0 = TAKE_DIE_0 + cards.NUM_FOODS
RESET_FEEDER = TAKE_DUAL_0 + 2
PAY_FOOD_0 = RESET_FEEDER + 1
GAIN_FOOD_0 = PAY_FOOD_0 + cards.NUM_FOODS
LAY_EGG_0 = GAIN_FOOD_0 + cards.NUM_FOODS
DISCARD_EGG_0 = LAY_EGG_0 + MAT_SLOTS
CHOOSE_BIRD_0 = DISCARD_EGG_0 + MAT_SLOTS
DRAW_TRAY_0 = CHOOSE_BIRD_0 + MAT_SLOTS
DRAW_DECK = DRAW_TRAY_0 + cards.TRAY_SIZE
MOVE_TO_0 = DRAW_DECK + 1
GOES_FIRST_0 = MOVE_TO_0 + cards.NUM_HABITATS
DRAFT_0 = GOES_FIRST_0 + cards.MAX_PLAYERS
KEEP_BONUS_0 = DRAFT_0 + DRAFT_SIZE
DISCARD_0 = KEEP_BONUS_0 + cards.NUM_BONUSES
TUCK_0 = DISCARD_0 + cards.NUM_BIRDS
PLAY_0 = TUCK_0 + cards.NUM_BIRDS
NUM_ACTIONS = PLAY_0 + cards.NUM_BIRDS * cards.NUM_HABITATS

_TURNS = ("play_a_bird", "gain_food", "lay_eggs", "draw_cards")
_TURN_TEXTS = ("play a bird", "gain food", "lay eggs", "draw cards")


num_actions = NUM_ACTIONS
max_legal = cards.NUM_BIRDS * cards.NUM_HABITATS + 1  # every bird playable in every habitat, and declining


def action_features(options: WingspanOptions) -> np.ndarray:
    """Return the bird that is played, tucked or discarded, by what its card says, and the row that is meant."""
    del options
    is_in = [cards.BIRD_HABITATS >> habitat & 1 for habitat in range(cards.NUM_HABITATS)]
    has_nest = [nest == cards.BIRD_NEST for nest in range(len(cards.NESTS))]
    triggers = [trigger == cards.BIRD_COLOUR for trigger in range(len(cards.TRIGGERS))]
    birds = np.column_stack(
        [
            cards.BIRD_POINTS, cards.BIRD_EGG_LIMIT, cards.BIRD_COST, cards.BIRD_PREDATOR, cards.BIRD_FLOCKING,
            *is_in, *has_nest, *triggers,
        ]
    )  # fmt: skip
    verbs = (DISCARD_0, TUCK_0, PLAY_0)
    features = np.zeros((NUM_ACTIONS, len(verbs) + cards.NUM_HABITATS + birds.shape[1]), np.int8)
    for verb, first in enumerate(verbs):
        each = cards.NUM_HABITATS if first == PLAY_0 else 1
        acts = features[first : first + each * cards.NUM_BIRDS]
        acts[:, verb] = 1
        acts[:, len(verbs) + cards.NUM_HABITATS :] = np.repeat(birds, each, axis=0)
    for first in (LAY_EGG_0, DISCARD_EGG_0, CHOOSE_BIRD_0):
        for slot in range(MAT_SLOTS):
            features[first + slot, len(verbs) + slot * cards.NUM_HABITATS // MAT_SLOTS] = 1
    for habitat in range(cards.NUM_HABITATS):
        features[MOVE_TO_0 + habitat, len(verbs) + habitat] = 1
        features[PLAY_0 + habitat :: cards.NUM_HABITATS, len(verbs) + habitat] = 1
    return features


# ---------------------------------------------------------------------------------------------------------------
# The codebook


def _slot(k: int) -> dict[str, Any]:
    return {"habitat": cards.HABITATS[k // cards.NUM_SLOTS], "column": k % cards.NUM_SLOTS + 1}


def _entries() -> list[tuple[dict[str, Any], str]]:
    """Return every action as JSON and as text, by id."""
    entries: list[tuple[dict[str, Any], str]] = []

    def add(text: str, action: str, **what: Any) -> None:
        entries.append(({"action": action, **what}, text))

    add("stop", "stop")
    add("use", "use")
    for turn, text in zip(_TURNS, _TURN_TEXTS, strict=True):
        add(text, "turn", turn=turn)
    for food in cards.FOODS:
        add(f"take {food} die", "take_die", food=food)
    for food in (cards.FOODS[cards.INVERTEBRATE], cards.FOODS[cards.SEED]):
        add(f"take invertebrate-or-seed die as {food}", "take_dual_die", food=food)
    add("reset birdfeeder", "reset_feeder")
    for food in cards.FOODS:
        add(f"pay {food}", "pay_food", food=food)
    for food in cards.FOODS:
        add(f"gain {food}", "gain_food", food=food)
    for verb, action in (("lay egg in", "lay_egg"), ("discard egg from", "discard_egg"), ("choose", "choose_bird")):
        for slot in map(_slot, range(MAT_SLOTS)):
            add(f"{verb} {slot['habitat']} {slot['column']}", action, **slot)
    for place in range(1, cards.TRAY_SIZE + 1):
        add(f"draw tray {place}", "draw_tray", place=place)
    add("draw deck", "draw_deck")
    for habitat in cards.HABITATS:
        add(f"move to {habitat}", "move_to", habitat=habitat)
    for seat in range(cards.MAX_PLAYERS):
        add(f"seat {seat} goes first", "goes_first", seat=seat)
    for place in range(1, DRAFT_SIZE + 1):
        add(f"take draft {place}", "draft", place=place)
    for key, name in zip(cards.BONUS_KEYS, cards.BONUS_NAMES, strict=True):
        add(f"keep {name}", "keep_bonus", bonus=key)
    for verb in ("discard", "tuck"):
        for key, name in zip(cards.BIRD_KEYS, cards.BIRD_NAMES, strict=True):
            add(f"{verb} {name}", verb, bird=key)
    for key, name in zip(cards.BIRD_KEYS, cards.BIRD_NAMES, strict=True):
        for habitat in cards.HABITATS:
            add(f"play {name} in {habitat}", "play", bird=key, habitat=habitat)
    return entries


_ENTRIES = _entries()
_IDS_OF_TEXT = {text.lower(): action for action, (_, text) in enumerate(_ENTRIES)}
_IDS_OF_JSON = {tuple(sorted(entry.items())): action for action, (entry, _) in enumerate(_ENTRIES)}


def action_json(action: int) -> dict[str, Any]:
    """Return an action as a JSON object: "action" and the keys that it needs.

    Raises:
        IllegalActionError: `action` is not an id.
    """
    return dict(_entry(action)[0])


def action_text(action: int) -> str:
    """Return an action as text that is the same in every state.

    Raises:
        IllegalActionError: `action` is not an id.
    """
    return _entry(action)[1]


def action_of_json(entry: dict[str, Any]) -> int:
    """Return the id of an action given as JSON, the inverse of `action_json`.

    Raises:
        IllegalActionError: `entry` is not an action.
    """
    try:
        return _IDS_OF_JSON[tuple(sorted(entry.items()))]
    except (KeyError, TypeError, AttributeError):
        raise IllegalActionError(f"{entry!r} is not an action of Wingspan; see the codebook in actions.py") from None


def action_of_text(text: str) -> int:
    """Return the id of an action given as text, the inverse of `action_text`; case and extra spaces are ignored.

    Raises:
        IllegalActionError: `text` is not an action.
    """
    try:
        return _IDS_OF_TEXT[" ".join(text.lower().split())]
    except KeyError:
        raise IllegalActionError(f"{text!r} is not an action of Wingspan; see the codebook in actions.py") from None


def _entry(action: int) -> tuple[dict[str, Any], str]:
    if not 0 <= action < NUM_ACTIONS:
        raise IllegalActionError(f"actions of Wingspan are 0 to {NUM_ACTIONS - 1}; got {action}")
    return _ENTRIES[action]
