"""Common parts of powers: handler ids, first decisions, and functions that several powers use."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cardenvs.core.cards import lowest_card
from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.core.text import count
from cardenvs.games.wingspan import bird_cards, stack
from cardenvs.games.wingspan.cards import BIRD_EGG_LIMIT, BIRD_NEST, HANDLERS, NESTS, NUM_FOODS, STAR, PowerSpec
from cardenvs.games.wingspan.state import MAT_SLOTS, NO_BIRD

(
    NO_POWER,
    GAIN_FOOD_SUPPLY,
    ALL_PLAYERS_GAIN_FOOD_SUPPLY,
    GAIN_FOOD_FEEDER,
    GAIN_ALL_FOOD_FEEDER,
    EACH_PLAYER_GAINS_FEEDER_DIE,
    FEWEST_BIRDS_GAIN,
    CACHE_FOOD_SUPPLY,
    PREDATOR_DICE,
    PREDATOR_WINGSPAN,
    DRAW_CARDS,
    ALL_PLAYERS_DRAW_FROM_DECK,
    DRAW_AND_DRAFT,
    DRAW_BONUS_CARDS,
    LAY_EGGS,
    LAY_EGG_EACH_NEST,
    ALL_PLAYERS_LAY_EGG_NEST,
    TUCK_FROM_HAND,
    DISCARD_FOOD_TUCK_FROM_DECK,
    DISCARD_EGG_GAIN_FOOD,
    DISCARD_EGG_DRAW_CARDS,
    TRADE_FOOD,
    MOVE_IF_RIGHTMOST,
    PLAY_ADDITIONAL_BIRD,
    REPEAT_POWER,
    REACT_LAY_EGGS,
    REACT_PLAY_BIRD_GAIN_FOOD,
    REACT_PLAY_BIRD_TUCK,
    REACT_GAIN_FOOD_CACHE,
    REACT_PREDATOR_GAIN_DIE,
) = range(len(HANDLERS))


ALL_FOODS = (1 << NUM_FOODS) - 1

# The slots of a power: a bit set of nests, or SELF for the bird's own slot; OTHERS leaves out the bird's own slot.
ANY_NEST = (1 << len(NESTS)) - 1
SELF, OTHERS = 1 << len(NESTS), 2 << len(NESTS)

NO_DECISION = -1  # for pink powers without another decision than to react
ASK = stack.OPTIONAL | stack.ANNOUNCE
Row = tuple[int, int, int, int]  # OP, COUNT, ARG0, ARG1 of a decision (stack.py)
USE: Row = (stack.USE_POWER, 0, 0, ASK)
NOTHING: Row = (NO_DECISION, 0, 0, 0)


class Power(NamedTuple):
    """A power handler.

    Attributes:
        begins: function from the params, by name, to the row of its first decision.
        words: function from a bird's PowerSpec to the sentence on the card, without the moment.
    """

    begins: Callable[..., Row]
    words: Callable[[PowerSpec], str]


def one_of(things: list[str]) -> str:
    """Return alternatives with articles, such as "a seed or a fruit"."""
    return " or ".join(f"{'an' if thing[0] in 'aeiou' else 'a'} {thing}" for thing in things)


def food(spec: PowerSpec) -> str:
    """Return the amount and the food of a power."""
    return count(spec.params["amount"], spec.params["food"])


def of_nest(nest: int) -> int:
    """Return the bit set of nests that count as `nest`."""
    return 1 << nest | 1 << STAR


@kernel
def slots_of(s, who, slot, which):
    """Return the bit set of slots that a power concerns, from its nests, SELF and OTHERS; its bird is in `slot`."""
    if which & SELF:
        return np.int64(1) << slot
    slots = np.int64(0)
    for k in range(MAT_SLOTS):
        if s.birds[who, k] != NO_BIRD and which >> BIRD_NEST[s.birds[who, k]] & 1:
            slots |= 1 << k
    return slots & ~(1 << slot) if which & OTHERS else slots


@kernel
def has_room(s, who, slots):
    """Return those of some slots, as bits, whose birds have room for an egg."""
    open_slots = np.int64(0)
    for k in range(MAT_SLOTS):
        if slots >> k & 1 and s.birds[who, k] != NO_BIRD and s.eggs[who, k] < BIRD_EGG_LIMIT[s.birds[who, k]]:
            open_slots |= 1 << k
    return open_slots


@kernel
def can_draw(s):
    """Return whether there is a card to draw, in the tray or the deck."""
    for k in range(s.tray.shape[0]):
        if s.tray[k] != NO_BIRD:
            return True
    return bird_cards.cards_left(s) > 0


@kernel
def next_player(players, first, n):
    """Return the first of a set of players, clockwise from `first`."""
    later = players >> first << first
    return lowest_card(later if later else players)


@kernel
def after(player, n):
    """Return the player to the left of `player`."""
    return wrap(player + 1, n)
