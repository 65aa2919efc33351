"""What the tests of Wingspan share: positions in a few readable lines, scripts of labels, and what came of them.

    state = position(
        Player("forest: Barn Owl (1 egg), Blue Jay; wetland: Mallard", hand="Killdeer, Inca Dove", food="2 seed, fish"),
        Player("forest: Turkey Vulture"),
        feeder="fish rodent either", tray="Bushtit, Osprey, Bobolink", deck="Bald Eagle, Dickcissel",
    )

A row lists its birds from left to right; on a bird may lie "(2 eggs, 1 cached, 3 tucked)". Birds that are not named are
in the deck, below the named ones. Dice that are not in the feeder are outside.
"""

import re
from dataclasses import dataclass

import numpy as np

from cardenvs.games.wingspan import cards
from cardenvs.games.wingspan.cards import BIRD_NAMES, BONUS_NAMES, FOODS, GOAL_NAMES, HABITATS, NUM_DICE, NUM_SLOTS
from cardenvs.games.wingspan.state import (
    IN_BONUS_DECK,
    IN_BONUS_HAND,
    IN_DECK,
    IN_DISCARDS,
    IN_HAND,
    IN_TRAY,
    IN_TUCKED,
    KNOWN_TO_ALL,
    NO_BIRD,
    ON_MAT,
    WORD_BITS,
)

_FACES = (*FOODS, "either")
_BIRD = re.compile(r"([^(]+?)\s*(?:\((.*)\))?")


@dataclass(frozen=True)
class Player:
    """One player's things, in words."""

    mat: str = ""
    hand: str = ""
    food: str = ""
    bonus: str = ""


def bird(name: str) -> int:
    """The number of a bird."""
    return BIRD_NAMES.index(name.strip())


def birds(names: str) -> list[int]:
    """The numbers of birds, as listed: "Mallard, Killdeer"."""
    return [bird(name) for name in names.split(",") if name.strip()]


def amounts(text: str) -> dict[str, int]:
    """{"seed": 2, "fish": 1} of "2 seed, fish"."""
    parts = [part.split() for part in text.split(",") if part.strip()]
    return {part[-1]: int(part[0]) if len(part) > 1 else 1 for part in parts}


def rows(mat: str) -> dict[str, list[tuple[int, dict[str, int]]]]:
    """The birds of each row with what lies on them: {"forest": [(17, {"egg": 1})]}."""
    laid = {}
    for row in filter(None, map(str.strip, mat.split(";"))):
        habitat, _, listed = row.partition(":")
        found = [_BIRD.fullmatch(part.strip()) for part in re.split(r",(?![^(]*\))", listed)]
        laid[habitat] = [
            (bird(match[1]), {thing.removesuffix("s"): n for thing, n in amounts(match[2] or "").items()})
            for match in found
        ]
    return laid


# ---------------------------------------------------------------------------------------------------------------
# Laying things out


def lay_out(
    states, players, *, tray="", deck="", feeder="", outside="", goals="", discards="", bonus_deck="", rest="deck"
):
    """Write a position into `states`, an array of one record whose header is filled in; the stack stays as it is.

    Args:
        states: (1,) of STATE.
        players: a Player for each one.
        tray, deck, discards: birds; the deck from the top.
        feeder, outside: dice, such as "seed seed either"; those outside that are not named show fruit.
        goals: of the rounds; others follow in the order of the tiles.
        bonus_deck: bonus cards from the top; the others follow.
        rest: where birds lie that are not named: under the named ones in the "deck", among the "discards", or
            "tucked" behind the last player's first bird, which needs to be there.
    """
    s = states[0]
    for name in ("birds", "tray", "draft"):
        s[name][...] = NO_BIRD
    for name in (
        "eggs",
        "cached",
        "tucked",
        "row_size",
        "food",
        "hands",
        "hand_size",
        "bonus_hands",
        "deck",
        "bonus_deck",
    ):
        s[name][...] = 0
    left = set(range(cards.NUM_BIRDS))

    def put(birds_here, place, known):
        for number in birds_here:
            assert number in left, f"{BIRD_NAMES[number]} lies in two places"
            left.remove(number)
            s["place"][number], s["known"][number] = place, known

    put(birds(tray), IN_TRAY, KNOWN_TO_ALL)
    s["tray"][: len(birds(tray))] = birds(tray)
    put(birds(discards), IN_DISCARDS, KNOWN_TO_ALL)
    num_tucked = 0
    for p, player in enumerate(players):
        put(birds(player.hand), IN_HAND + p, 1 << p)
        s["hand_size"][p] = len(birds(player.hand))
        for number in birds(player.hand):
            s["hands"][p, number // WORD_BITS] |= 1 << number % WORD_BITS
        for food, amount in amounts(player.food).items():
            s["food"][p, FOODS.index(food)] = amount
        for habitat, laid in rows(player.mat).items():
            h = HABITATS.index(habitat)
            s["row_size"][p, h] = len(laid)
            for slot, (number, things) in enumerate(laid, NUM_SLOTS * h):
                put([number], ON_MAT + p, KNOWN_TO_ALL)
                s["birds"][p, slot] = number
                s["eggs"][p, slot] = things.pop("egg", 0)
                s["cached"][p, slot] = things.pop("cached", 0)
                s["tucked"][p, slot] = things.pop("tucked", 0)
                assert not things, f"nothing is called {things}"
                assert s["eggs"][p, slot] <= cards.BIRD_EGG_LIMIT[number], f"too many eggs for {BIRD_NAMES[number]}"
    named_deck = birds(deck)
    spare = sorted(left - set(named_deck), reverse=True)
    for p in range(len(players)):
        num_tucked = int(s["tucked"][p].sum())
        put([spare.pop(0) for _ in range(num_tucked)], IN_TUCKED + p, 0)
    place = {"deck": IN_DECK, "discards": IN_DISCARDS, "tucked": IN_TUCKED + len(players) - 1}[rest]
    in_deck = spare + named_deck[::-1] if rest == "deck" else named_deck[::-1]
    put(in_deck, IN_DECK, 0)
    if rest == "tucked":
        first = int(np.flatnonzero(s["birds"][len(players) - 1] != NO_BIRD)[0])
        s["tucked"][len(players) - 1, first] += len(left)
    put(sorted(left), place, KNOWN_TO_ALL if rest == "discards" else 0)
    s["num_deck"] = len(in_deck)
    s["deck"][: len(in_deck)] = in_deck
    s["num_discards"] = int((s["place"] == IN_DISCARDS).sum())
    _lay_dice(s, feeder, outside)
    _lay_goals(s, goals)
    _lay_bonuses(s, players, bonus_deck)


def _lay_dice(s, feeder, outside):
    inside = [_FACES.index(face) for face in feeder.split()]
    out = [_FACES.index(face) for face in outside.split()]
    out += [_FACES.index("fruit")] * (NUM_DICE - len(inside) - len(out))
    assert len(inside) + len(out) == NUM_DICE
    s["feeder"][...] = np.bincount(inside, minlength=len(_FACES))
    s["outside"][...] = np.bincount(out, minlength=len(_FACES))


def _lay_goals(s, goals):
    named = [GOAL_NAMES.index(name.strip()) for name in goals.split(",") if name.strip()]
    tiles = [goal // 2 for goal in named]
    named += [2 * tile for tile in range(cards.NUM_GOAL_TILES) if tile not in tiles]
    s["goals"][...] = named[: cards.NUM_ROUNDS]


def _lay_bonuses(s, players, bonus_deck):
    held = set()
    for p, player in enumerate(players):
        for name in filter(None, map(str.strip, player.bonus.split(","))):
            card = BONUS_NAMES.index(name)
            held.add(card)
            s["bonus_hands"][p] |= 1 << card
            s["bonus_place"][card], s["bonus_known"][card] = IN_BONUS_HAND + p, 1 << p
    named = [BONUS_NAMES.index(name.strip()) for name in bonus_deck.split(",") if name.strip()]
    order = [card for card in range(cards.NUM_BONUSES) if card not in held and card not in named] + named[::-1]
    for card in order:
        s["bonus_place"][card], s["bonus_known"][card] = IN_BONUS_DECK, 0
    s["bonus_deck"][: len(order)] = order
    s["num_bonus_deck"] = len(order)
