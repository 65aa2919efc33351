"""Tiles of riichi mahjong. Paragraph numbers are those of rules.md (1).

A kind is a number 0..33: characters (m), dots (p) and bamboo (s) of nine each, then the honours (z): east, south, west,
north, white, green, red. A face is a kind, or 34..36: the red five of characters, dots, bamboo. Tiles of one face are
alike, so a hand is 37 counts, one for each face.
"""

import numpy as np

from cardenvs.core.kernel import kernel

NUM_KINDS, NUM_FACES, NUM_TILES = 34, 37, 136
RED = NUM_KINDS  # the first red five
HONOURS = 27  # the first honour
EAST, SOUTH, WEST, NORTH, WHITE, GREEN, RED_DRAGON = range(HONOURS, NUM_KINDS)
SUITS = "mps"
LABELS = (*(f"{rank}{suit}" for suit in SUITS for rank in range(1, 10)), *(f"{honour}z" for honour in range(1, 8)),
          *(f"0{suit}" for suit in SUITS))  # fmt: skip
_KINDS = np.array([*range(NUM_KINDS), 4, 13, 22], np.int64)


def _bits(kinds):
    return np.int64(sum(1 << kind for kind in kinds))


TERMINALS = _bits(suit + rank for suit in (0, 9, 18) for rank in (0, 8))
ORPHANS = TERMINALS | _bits(range(HONOURS, NUM_KINDS))  # terminals and honours


@kernel(inline=True)
def kind_of(face):
    """Return the kind of a face: a red five is a five."""
    return _KINDS[face]


@kernel(inline=True)
def bit_of(kind):
    """Return the set of one kind; sets of kinds are bits of an int64."""
    return np.int64(1) << np.int64(kind)


@kernel(inline=True)
def faces_of(kinds):
    """Return the faces of the kinds in a set: a set of faces, with the red five where it has the five."""
    return kinds | (kinds >> 4 & 1) << RED | (kinds >> 13 & 1) << RED + 1 | (kinds >> 22 & 1) << RED + 2


@kernel(inline=True)
def next_kind(kind):
    """Return the kind that an indicator of this kind makes dora (1.2)."""
    if kind < HONOURS:
        return kind - 8 if kind % 9 == 8 else kind + 1
    if kind <= NORTH:
        return EAST if kind == NORTH else kind + 1
    return WHITE if kind == RED_DRAGON else kind + 1
