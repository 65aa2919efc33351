"""Tiles as text: "123m055p77z" is 1m 2m 3m, a red and two plain 5p, and two red dragons (1.2)."""

from collections.abc import Iterable

import numpy as np

from cardenvs.core.errors import DeckError
from cardenvs.games.riichi.tiles import LABELS, NUM_FACES, RED, SUITS

_FACES = {label: face for face, label in enumerate(LABELS)}
_PLACES = (*range(RED), 3.5, 12.5, 21.5)  # of each face in a text: a red five lies before the plain ones
_LETTERS = SUITS + "z"
_EXAMPLE = "tiles are digits followed by their suit, as in 123m055p77z"


def parse_tiles(text: str) -> list[int]:
    """Return the faces of a text such as "123m 055p 77z", in its order; spaces do not matter.

    Raises:
        DeckError: it has a tile or a letter that does not exist, digits without a suit or a suit without digits.
    """
    faces: list[int] = []
    digits = ""
    for letter in "".join(text.split()):
        if letter in "0123456789":
            digits += letter
            continue
        if letter not in _LETTERS:
            raise DeckError(f"{letter!r} in {text!r} is not a suit; the suits are m, p, s, and z for honours")
        if not digits:
            raise DeckError(f"{letter!r} in {text!r} has no digits before it; {_EXAMPLE}")
        for digit in digits:
            if digit + letter not in _FACES:
                raise DeckError(f"{digit + letter} in {text!r} is not a tile; the honours are 1z to 7z")
            faces.append(_FACES[digit + letter])
        digits = ""
    if digits:
        raise DeckError(f"{digits!r} at the end of {text!r} has no suit; {_EXAMPLE}")
    return faces


def count_tiles(text: str) -> np.ndarray:
    """Return the tiles of a text as int8 (37,), the number of each face.

    Raises:
        DeckError: the text is not one of tiles, or has more of a tile than there are.
    """
    counts = np.bincount(parse_tiles(text), minlength=NUM_FACES).astype(np.int8)
    for kind, number in enumerate(kinds_of_faces(counts)):
        if number > 4:
            raise DeckError(f"{text!r} has {number} tiles {LABELS[kind]}; there are four of each kind")
    for face in range(RED, NUM_FACES):
        if counts[face] > 1:
            raise DeckError(f"{text!r} has {counts[face]} tiles {LABELS[face]}; there is one red five in each suit")
    return counts


def kinds_of_faces(counts: np.ndarray) -> np.ndarray:
    """Return int8 (34,), the number of each kind, from that of each face: a red five is a five."""
    kinds = counts[:RED].copy()
    kinds[[4, 13, 22]] += counts[RED:]
    return kinds


def format_tiles(faces: Iterable[int]) -> str:
    """Return faces as a text in the order of kinds, a red five before the plain ones: "123m055p77z"."""
    groups = dict.fromkeys(_LETTERS, "")
    for face in sorted(faces, key=lambda face: _PLACES[face]):
        groups[LABELS[face][1]] += LABELS[face][0]
    return "".join(digits + letter for letter, digits in groups.items() if digits)


def format_counts(counts: np.ndarray) -> str:
    """Return counts of faces, int8 (37,), or of kinds, int8 (34,), as a text."""
    return format_tiles(face for face, number in enumerate(counts) for _ in range(number))
