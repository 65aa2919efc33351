"""Tiles and multisets of tiles. Paragraph numbers are those of rules.md (1).

A tile type is `colour * 13 + value - 1` (0..51), or JOKER (52). A multiset of tiles is a tuple of 53 counts.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from cardenvs.core.checks import is_integer, short
from cardenvs.core.errors import DeckError

COLOURS = "RBKO"  # red, blue, black, orange
NUM_COLOURS, NUM_VALUES = 4, 13
NUM_NATURALS = NUM_COLOURS * NUM_VALUES
JOKER = NUM_NATURALS
NUM_TYPES = NUM_NATURALS + 1
MOST_COPIES, MOST_JOKERS = 2, 2
MOST_TILES = NUM_NATURALS * MOST_COPIES + MOST_JOKERS
MAX_MELDS = MOST_TILES // 3  # the most on a table

Multiset = tuple[int, ...]
EMPTY: Multiset = (0,) * NUM_TYPES


def tile_of(colour: int, value: int) -> int:
    """Return the type of a colour 0..3 and a value 1..13."""
    return colour * NUM_VALUES + value - 1


def colour_of(tile: int) -> int:
    """Return the colour 0..3 of a type 0..51."""
    return tile // NUM_VALUES


def value_of(tile: int) -> int:
    """Return the value 1..13 of a type 0..51."""
    return tile % NUM_VALUES + 1


TILE_LABELS = (*(f"{COLOURS[colour_of(t)]}{value_of(t)}" for t in range(NUM_NATURALS)), "J")
_TYPES = {label: tile for tile, label in enumerate(TILE_LABELS)}


def tile_label(tile: int) -> str:
    """Return the label of a type: "R13", or "J" for a joker."""
    return TILE_LABELS[tile]


def parse_tile(text: str) -> int:
    """Return the type of a label such as "R13", "k4" or "J"; Y (yellow) is read as O.

    Raises:
        DeckError: the text is not a tile.
    """
    key = text.strip().upper()
    key = "O" + key[1:] if key.startswith("Y") else key
    if key not in _TYPES:
        raise DeckError(f"{text!r} is not a tile; a tile is a colour of {COLOURS} and a value 1 to 13, as in R13, or J")
    return _TYPES[key]


def parse_tiles(tiles: str | Iterable[str | int]) -> list[int]:
    """Return the types of tiles given as one text ("R13 K4 J"), as texts, or as types.

    Raises:
        DeckError: an entry is not a tile.
    """
    parts = tiles.replace(",", " ").split() if isinstance(tiles, str) else tiles
    return [parse_tile(part) if isinstance(part, str) else _checked_type(part) for part in parts]


def _checked_type(tile: int) -> int:
    if not is_integer(tile) or not 0 <= tile < NUM_TYPES:
        raise DeckError(f"{short(tile)} is not a tile; types are 0 to {JOKER}")
    return int(tile)


# ---------------------------------------------------------------------------------------------------------------
# Multisets


def multiset(tiles: str | Iterable[str | int]) -> Multiset:
    """Return the multiset of tiles given as for `parse_tiles`."""
    counts = [0] * NUM_TYPES
    for tile in parse_tiles(tiles):
        counts[tile] += 1
    return tuple(counts)


def tiles_in(counts: Sequence[int]) -> list[int]:
    """Return the tiles of a multiset, ascending, with repetitions."""
    return [tile for tile, count in enumerate(counts) for _ in range(int(count))]


def add(a: Multiset, b: Multiset) -> Multiset:
    """Return the sum of two multisets."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def sub(a: Multiset, b: Multiset) -> Multiset:
    """Return `a` without `b`.

    Raises:
        DeckError: `b` is not contained in `a`.
    """
    if not leq(b, a):
        lacking = [tile_label(tile) for tile in range(NUM_TYPES) if b[tile] > a[tile]]
        raise DeckError(f"cannot take {' '.join(lacking)} out of a multiset that has fewer")
    return tuple(x - y for x, y in zip(a, b, strict=True))


def leq(a: Multiset, b: Multiset) -> bool:
    """Return whether `a` is contained in `b`."""
    return all(x <= y for x, y in zip(a, b, strict=True))


def total(a: Multiset) -> int:
    """Return the number of tiles."""
    return sum(a)


def rack_points(counts: Sequence[int], joker_value: int) -> int:
    """Return the points of a rack (6.1)."""
    return sum(value_of(t) * int(counts[t]) for t in range(NUM_NATURALS)) + joker_value * int(counts[JOKER])


def multiset_to_json(a: Sequence[int]) -> list[list[int]]:
    """Return [[type, count], ...], ascending, without zeros."""
    return [[tile, int(count)] for tile, count in enumerate(a) if count]


def multiset_from_json(data: Any) -> Multiset:
    """Return the multiset that `multiset_to_json` made of it.

    Raises:
        DeckError: it is not a list of pairs of a type and a count, a type stands twice, or a count is not 1 to 106.
    """
    if not isinstance(data, list) or len(data) > NUM_TYPES:
        raise DeckError(f"a multiset is a list of at most {NUM_TYPES} pairs [type, count]; got {short(data)}")
    counts = [0] * NUM_TYPES
    for pair in data:
        if not isinstance(pair, list) or len(pair) != 2:
            raise DeckError(f"a multiset consists of pairs [type, count]; got {short(pair)}")
        tile = _checked_type(pair[0])
        if counts[tile]:
            raise DeckError(f"type {tile} ({tile_label(tile)}) stands twice in a multiset; give its count once")
        if not is_integer(pair[1]) or not 1 <= pair[1] <= MOST_TILES:
            raise DeckError(f"a count in a multiset is 1 to {MOST_TILES}; got {short(pair[1])}")
        counts[tile] = int(pair[1])
    return tuple(counts)
