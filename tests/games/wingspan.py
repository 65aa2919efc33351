"""Helpers for tests of Wingspan: readable positions, scripts of labels, and checks of the result.

    state = position(
        Player("forest: Barn Owl (1 egg), Blue Jay; wetland: Mallard", hand="Killdeer, Inca Dove", food="2 seed, fish"),
        Player("forest: Turkey Vulture"),
        feeder="fish rodent either", tray="Bushtit, Osprey, Bobolink", deck="Bald Eagle, Dickcissel",
    )

A row lists its birds from left to right, each with what is on it, as in "(2 eggs, 1 cached, 3 tucked)". Birds that are
not named are in the deck, below the named ones. Dice that are not in the feeder are outside.
"""

import functools
import json
import re
from dataclasses import dataclass

import numpy as np

from cardenvs.core.state import State
from cardenvs.games.wingspan import GAME, cards
from cardenvs.games.wingspan.actions import STOP
from cardenvs.games.wingspan.cards import BIRD_NAMES, BONUS_NAMES, FOODS, GOAL_NAMES, HABITATS, NUM_DICE, NUM_SLOTS
from cardenvs.games.wingspan.stack import (
    ACCEPT,
    CACHE,
    CHOOSE_TURN,
    GIVE_EGGS,
    GIVE_FOOD,
    NO_SLOT,
    PAY_COST,
    PAYS_TRADE,
    REACT,
    TRADE_CARD,
)
from cardenvs.games.wingspan.state import (
    ARG1,
    IN_BONUS_DECK,
    IN_BONUS_HAND,
    IN_DECK,
    IN_DISCARDS,
    IN_DRAFT,
    IN_HAND,
    IN_TRAY,
    IN_TUCKED,
    KNOWN_TO_ALL,
    NO_BIRD,
    ON_MAT,
    OP,
    SLOT,
    WORD_BITS,
)

_FACES = (*FOODS, "either")
_BIRD = re.compile(r"([^(]+?)\s*(?:\((.*)\))?")


@dataclass(frozen=True)
class Player:
    """The mat, hand, food and bonus cards of a player, as text."""

    mat: str = ""
    hand: str = ""
    food: str = ""
    bonus: str = ""


def bird(name: str) -> int:
    """Return the id of a bird."""
    return BIRD_NAMES.index(name.strip())


def birds(names: str) -> list[int]:
    """Return the ids of birds listed as in "Mallard, Killdeer"."""
    return [bird(name) for name in names.split(",") if name.strip()]


def amounts(text: str) -> dict[str, int]:
    """Return numbers by name: {"seed": 2, "fish": 1} for "2 seed, fish"."""
    found: dict[str, int] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        number, _, thing = part.rpartition(" ")
        found[thing] = found.get(thing, 0) + int(number or 1)
    return found


def rows(mat: str) -> dict[str, list[tuple[int, dict[str, int]]]]:
    """Return the birds of each row with what is on them: {"forest": [(17, {"egg": 1})]}."""
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
    states, players, *, tray=None, deck="", feeder="", outside="", goals="", discards="", bonus_deck="", rest="deck"
):
    """Write a position into `states`, an array of one record with a valid header; the stack is not changed.

    Args:
        states: (1,) of STATE.
        players: a Player for each one.
        tray, deck, discards: birds; the deck from the top. Without a tray, three other birds are in it.
        feeder, outside: dice, such as "seed seed either"; those outside that are not named show fruit.
        goals: goals of the first rounds; the others are in the order of the tiles.
        bonus_deck: bonus cards from the top; the others follow.
        rest: where birds are that are not named: below the named ones in the "deck", in the "discards", or "tucked"
            behind the last player's first bird, which must exist.
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

    put(birds(discards), IN_DISCARDS, KNOWN_TO_ALL)
    for p, player in enumerate(players):
        put(birds(player.hand), IN_HAND + p, 1 << p)
        s["hand_size"][p] = len(birds(player.hand))
        for _ in birds(player.hand):
            s["pieces"][s["num_pieces"]] = p
            s["num_pieces"] += 1
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
    spare = sorted(left - set(named_deck) - set(birds(tray or "")), reverse=True)
    in_tray = [spare.pop() for _ in range(cards.TRAY_SIZE)] if tray is None else birds(tray)
    put(in_tray, IN_TRAY, KNOWN_TO_ALL)
    s["tray"][: len(in_tray)] = in_tray
    for p in range(len(players)):
        num_tucked = int(s["tucked"][p].sum())
        put([spare.pop(0) for _ in range(num_tucked)], IN_TUCKED + p, 0)
        s["tucked_unseen"][p, 0] = num_tucked
    place = {"deck": IN_DECK, "discards": IN_DISCARDS, "tucked": IN_TUCKED + len(players) - 1}[rest]
    in_deck = spare + named_deck[::-1] if rest == "deck" else named_deck[::-1]
    put(in_deck, IN_DECK, 0)
    if rest == "tucked":
        first = int(np.flatnonzero(s["birds"][len(players) - 1] != NO_BIRD)[0])
        s["tucked"][len(players) - 1, first] += len(left)
        s["tucked_unseen"][len(players) - 1, 0] += len(left)
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


def position(*players, to_act=0, turn_of=None, round_number=1, turns=None, seed=1, **things) -> State:
    """Return a state in which `to_act` chooses the action of a turn.

    Args:
        players: a Player for each one.
        to_act: whose turn it is.
        round_number: 1..4.
        turns: each player's turns left in the round, including the current one; by default all of the round.
        seed: seed of later chance.
        things: arguments of `lay_out`, and options of the game.
    """
    options = {name: things.pop(name) for name in ("goals_side", "reward", "birds") if name in things}
    if "goals_side" in options:
        options["goals"] = options.pop("goals_side")
    begun = GAME.new_state(seed=seed, num_players=len(players), **options)
    states = np.frombuffer(begun.record_bytes(), GAME.state_dtype).copy()
    header = ("rng", "seed", "rules", "active")
    blank = np.zeros(1, GAME.state_dtype)
    for name in header:
        blank[name] = states[name]
    s = blank[0]
    lay_out(blank, players, **things)
    s["round_number"], s["first_player"] = round_number - 1, to_act
    s["turn_player"] = s["current_player"] = to_act
    left = turns or [int(cards.TURNS_PER_ROUND[round_number - 1])] * len(players)
    s["turns_left"][: len(players)] = left
    s["stack"][0] = (CHOOSE_TURN, to_act, NO_SLOT, 0, 0, 0)
    s["depth"] = 1
    state = State._from_record(GAME, begun.options, blank)
    check(state)
    return state


# ---------------------------------------------------------------------------------------------------------------
# Playing


def labels(state) -> list[str]:
    """Return the labels of the legal actions."""
    return [state.action_label(action) for action in state.legal_actions()]


def play(state, *script) -> State:
    """Apply actions by label ("1: decline" requires that player 1 acts), checking each position."""
    for step in script:
        player, _, label = step.rpartition(": ")
        if player:
            assert state.current_player == int(player), f"player_{state.current_player} is to act ({step})"
        state.apply(state.action_from_label(label))
        check(state)
    return state


def decision(state) -> np.ndarray:
    """Return the row of the stack with the pending decision."""
    return state.record.stack[int(state.record.depth) - 1]


ACTIONS = {"forest": "gain food", "grassland": "lay eggs", "wetland": "draw bird cards"}


def activate(state, habitat) -> State:
    """Take the action of a habitat, making first choices and declining trades.

    Stops when a player is asked about a power or a reaction, or when the turn is over.
    """
    turn = (state.record.turn_player, state.ply)
    play(state, ACTIONS[habitat])
    while not state.is_terminal and state.record.turn_player == turn[0]:
        row = decision(state)
        if row[OP] in (CHOOSE_TURN, REACT, CACHE, ACCEPT) or row[SLOT] != NO_SLOT:
            break
        trade = row[OP] == TRADE_CARD or (row[OP] in (GIVE_FOOD, GIVE_EGGS) and row[ARG1] & PAYS_TRADE)
        state.apply(STOP if trade else state.legal_actions()[0])
        check(state)
    return state


def finish_turn(state) -> State:
    """Make the first choice, which declines if possible, until the next turn begins or the game is over."""
    while not state.is_terminal and decision(state)[OP] != CHOOSE_TURN:
        state.apply(state.legal_actions()[0])
        check(state)
    return state


def seed_where(make, happens) -> State:
    """Return the first of the states make(1), make(2), ... for which `happens` is true."""
    for seed in range(1, 400):
        state = make(seed)
        if happens(state):
            return state
    raise AssertionError("no seed does that")


# ---------------------------------------------------------------------------------------------------------------
# What came of it


def on(state, player, name, what) -> int:
    """Return the number of "eggs", "cached" or "tucked" on a bird."""
    slots = np.flatnonzero(state.record.birds[player] == bird(name))
    assert len(slots) == 1, f"{name} is not on the mat of player_{player}"
    return int(state.record[what][player, slots[0]])


def food(state, player) -> dict[str, int]:
    """Return the food supply: {"seed": 2}."""
    return {name: int(n) for name, n in zip(FOODS, state.record.food[player], strict=True) if n}


def hand(state, player) -> set[str]:
    """Return the names of the birds in a hand."""
    return {BIRD_NAMES[k] for k in range(cards.NUM_BIRDS) if state.record.place[k] == IN_HAND + player}


def row(state, player, habitat) -> list[str]:
    """Return the names of the birds in a row."""
    first = NUM_SLOTS * HABITATS.index(habitat)
    return [BIRD_NAMES[k] for k in state.record.birds[player, first : first + NUM_SLOTS] if k != NO_BIRD]


def feeder(state) -> dict[str, int]:
    """Return the dice in the birdfeeder by face."""
    return {name: int(n) for name, n in zip(_FACES, state.record.feeder, strict=True) if n}


def tray(state) -> set[str]:
    """Return the names of the birds in the tray."""
    return {BIRD_NAMES[k] for k in state.record.tray if k != NO_BIRD}


def total(state, player, what) -> int:
    """Return the total "eggs", "cached" or "tucked" of a player."""
    return int(state.record[what][player].sum())


def kinds(state) -> list[str]:
    """Return the kinds of the events since the position was created."""
    return [event.kind for event in state.events()]


def check(state) -> None:
    """Check that every card and die is in exactly one place, and that redundant fields agree."""
    s = state.record
    n = int(s.rules.num_players)
    at = [int((s.place == place).sum()) for place in range(IN_TUCKED + 5)]
    assert at[IN_DECK] == s.num_deck
    assert set(s.deck[: int(s.num_deck)].tolist()) == set(np.flatnonzero(s.place == IN_DECK).tolist())
    assert not s.deck[int(s.num_deck) :].any()
    assert at[IN_DISCARDS] == s.num_discards
    for place, cards_there in ((IN_TRAY, s.tray), (IN_DRAFT, s.draft)):
        assert sorted(k for k in cards_there if k != NO_BIRD) == np.flatnonzero(s.place == place).tolist()
    for p in range(n):
        held = {k for k in range(cards.NUM_BIRDS) if int(s.hands[p, k // WORD_BITS]) >> k % WORD_BITS & 1}
        assert held == set(np.flatnonzero(s.place == IN_HAND + p).tolist())
        assert len(held) == s.hand_size[p]
        laid = [k for k in s.birds[p] if k != NO_BIRD]
        assert sorted(laid) == np.flatnonzero(s.place == ON_MAT + p).tolist()
        assert at[IN_TUCKED + p] == s.tucked[p].sum()
        for h in range(len(HABITATS)):
            filled = s.birds[p, NUM_SLOTS * h : NUM_SLOTS * (h + 1)] != NO_BIRD
            assert filled.tolist() == [column < s.row_size[p, h] for column in range(NUM_SLOTS)]
        for slot, k in enumerate(s.birds[p]):
            limit = cards.BIRD_EGG_LIMIT[k] if k != NO_BIRD else 0
            assert 0 <= s.eggs[p, slot] <= limit
            assert k != NO_BIRD or not (s.cached[p, slot] or s.tucked[p, slot])
        assert (s.food[p] >= 0).all()
    assert s.feeder.sum() + s.outside.sum() == NUM_DICE
    assert (s.feeder >= 0).all()
    assert s.feeder.sum() > 0
    held = [int(s.bonus_hands[p]).bit_count() for p in range(n)]
    assert held == [int((s.bonus_place == IN_BONUS_HAND + p).sum()) for p in range(n)]
    assert int((s.bonus_place == IN_BONUS_DECK).sum()) == s.num_bonus_deck


def changed(state, **fields) -> State:
    """Return the position with some fields of the record changed and a new history."""
    states = np.frombuffer(state.record_bytes(), GAME.state_dtype).copy()
    for name, value in fields.items():
        states[name] = value
    return State._from_record(GAME, state.options, states)


def discards(state) -> set[str]:
    """Return the names of the birds on the discard pile."""
    return {BIRD_NAMES[k] for k in range(cards.NUM_BIRDS) if state.record.place[k] == IN_DISCARDS}


def pays_for(state, name) -> State:
    """Pay for a bird with the first legal payment."""
    while not state.is_terminal and decision(state)[OP] in (PAY_COST, GIVE_EGGS) and state.record.payment == bird(name):
        state.apply(state.legal_actions()[0])
    return state


def recomputed(s, player):
    """Return the parts of a score (13.1), calculated in plain Python from the data alone."""
    facts, bonuses = _facts()
    mat = [
        (
            facts[int(number)],
            slot // 5,
            int(s.eggs[player, slot]),
            int(s.cached[player, slot]),
            int(s.tucked[player, slot]),
        )
        for slot, number in enumerate(s.birds[player])
        if number >= 0
    ]
    hand = sum(int(word).bit_count() for word in s.hands[player])
    paid = 0
    for k, card in enumerate(bonuses):
        if not int(s.bonus_hands[player]) >> k & 1:
            continue
        if card["counts"] == "cards_in_hand":
            n = hand
        elif card["counts"] == "birds_in_smallest_habitat":
            n = min(sum(row == h for _, row, *_ in mat) for h in range(3))
        elif card["counts"] == "birds_with_eggs":
            n = sum(eggs >= card["min_eggs"] for _, _, eggs, *_ in mat)
        else:
            n = sum(card["key"] in fact["counts_for"] for fact, *_ in mat)
        if "points_each" in card:
            paid += n * card["points_each"]
        else:
            paid += max([points for least, points in card["tiers"] if n >= least], default=0)
    goals = sum(int(points) for points in s.goal_points[:, player])
    return [
        sum(fact["points"] for fact, *_ in mat), paid, goals,
        sum(entry[2] for entry in mat), sum(entry[3] for entry in mat), sum(entry[4] for entry in mat),
    ]  # fmt: skip


@functools.cache
def _facts():
    """Return the birds and the bonus cards of the data."""
    files = ("birds", "bonus_cards")
    return tuple(json.loads((cards.DATA_FOLDER / f"{name}.json").read_text())[name] for name in files)
