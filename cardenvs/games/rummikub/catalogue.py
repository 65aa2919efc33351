"""The catalogue of melds: runs of 3 to 5 and groups, with every joker assignment (rules.md 2.6).

A turn is built from these melds. They are numbered by ascending highest value; at equal values groups come before
runs, and runs are ordered by colour. A search over ascending values therefore completes melds in the order of their
numbers.
"""

from itertools import combinations

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.rummikub.melds import GROUP, RUN, Meld, joker, natural
from cardenvs.games.rummikub.tiles import JOKER, MOST_JOKERS, NUM_COLOURS, NUM_VALUES, tile_of

LONGEST = 5  # tiles of a run in the catalogue; longer runs are laid as several


def _with_jokers(types: list[int]) -> list[Meld]:
    """Return the melds that count as `types`, with 0 to 2 jokers, ordered by the bit set of the jokers' places."""
    masks = sorted(
        sum(1 << place for place in places)
        for number in range(MOST_JOKERS + 1)
        for places in combinations(range(len(types)), number)
    )
    return [
        Meld(tuple(joker(t) if mask >> place & 1 else natural(t) for place, t in enumerate(types))) for mask in masks
    ]


def _catalogue() -> list[Meld]:
    melds = []
    for value in range(1, NUM_VALUES + 1):
        for size in (3, 4):
            for colours in combinations(range(NUM_COLOURS), size):
                melds += _with_jokers([tile_of(colour, value) for colour in colours])
        for colour in range(NUM_COLOURS):
            for length in range(3, min(LONGEST, value) + 1):
                melds += _with_jokers([tile_of(colour, v) for v in range(value - length + 1, value + 1)])
    return melds


MELDS: tuple[Meld, ...] = tuple(_catalogue())
NUM_MELDS = len(MELDS)
MELD_NUMBER: dict[Meld, int] = {meld: number for number, meld in enumerate(MELDS)}

# Meld numbers, or -1 where there is no such meld.
RUN_NUMBER = np.full((NUM_COLOURS, NUM_VALUES + 1, LONGEST + 1, 1 << LONGEST), -1)  # colour, top, length, joker places
GROUP_NUMBER = np.full((NUM_VALUES + 1, 1 << NUM_COLOURS, 1 << NUM_COLOURS), -1)  # value, colours, jokers' colours
for _number, _meld in enumerate(MELDS):
    _first, _last = _meld.slots[0], _meld.slots[-1]
    if _meld.kind == RUN:
        _places = sum(1 << k for k, slot in enumerate(_meld.slots) if slot.tile == JOKER)
        RUN_NUMBER[_first.colour, _last.value, len(_meld.slots), _places] = _number
    else:
        _jokers = sum(1 << slot.colour for slot in _meld.slots if slot.tile == JOKER)
        GROUP_NUMBER[_first.value, sum(1 << slot.colour for slot in _meld.slots), _jokers] = _number

# The tiles of each meld.
NO_TILE = -1
MELD_SIZE = np.array([len(meld.slots) for meld in MELDS])
MELD_IS_GROUP = np.array([meld.kind == GROUP for meld in MELDS])
MELD_POINTS = np.array([meld.points for meld in MELDS])
MELD_TYPES = np.full((NUM_MELDS, LONGEST), NO_TILE)  # the tile that each slot counts as
MELD_FACES = np.full((NUM_MELDS, LONGEST), NO_TILE)  # the tile in each slot, or JOKER
MELD_EITHER = np.full(NUM_MELDS, NO_TILE)  # for a group of three with one joker: the other missing tile (5.3)
for _number, _meld in enumerate(MELDS):
    MELD_TYPES[_number, : len(_meld.slots)] = [slot.meaning for slot in _meld.slots]
    MELD_FACES[_number, : len(_meld.slots)] = [slot.tile for slot in _meld.slots]
    if _meld.kind == GROUP and len(_meld.slots) == 3 and len(_meld.meanings) == 1:
        _missing = set(range(NUM_COLOURS)) - {slot.colour for slot in _meld.slots}
        MELD_EITHER[_number] = tile_of(_missing.pop(), _meld.slots[0].value)
MELD_NUM_JOKERS = (MELD_FACES == JOKER).sum(axis=1)


@kernel
def other_missing(number, colors):
    """Return the other tile that frees the joker of a meld; NO_TILE if none does, or its colour is not in the game."""
    tile = MELD_EITHER[number]
    return tile if tile < colors * NUM_VALUES else NO_TILE
