"""Small pictures that stand for words in short texts: "2 eggs" becomes 2 and an egg."""

import itertools
import re

from cardenvs.pictures.text import escaped, text_width

# In a box of 24 by 24.
_PATHS = {
    "egg": (
        "#f6ecd2",
        "M12 2C7.5 2 4 9.5 4 14.5A8 8 0 0 0 20 14.5C20 9.5 16.5 2 12 2Z",
    ),
    "fish": (
        "#4fa3d8",
        "M2 12C6 5.5 13 5.5 17 10.5L22 6V18L17 13.5C13 18.5 6 18.5 2 12ZM7.5 9.8A1.4 1.4 0 1 0 7.5 12.6 1.4 "
        "1.4 0 1 0 7.5 9.8Z",
    ),
    "fruit": (
        "#d8483e",
        "M7 11A5 5 0 1 0 7.01 21 5 5 0 1 0 7 11ZM17 12.5A4.5 4.5 0 1 0 17.01 21.5 4.5 4.5 0 1 0 17 12.5ZM7 "
        "11C8 7 11 4 16 2 16.5 5 17.2 8.5 17 12.5L15.5 12.5C15.6 9 15.3 6.5 14.9 4.6 11.6 6.2 9.4 8.6 8.6 "
        "11.2Z",
    ),
    "seed": (
        "#e3bd4f",
        "M12 22C11 18 11.4 16 11.4 14 7 14 6 11 6 9 9 9 11 10.5 11.4 12.5V9C7.5 8.5 7 6 7 4.5 9.5 4.5 11 6 "
        "11.6 7.5L12 1.5 12.4 7.5C13 6 14.5 4.5 17 4.5 17 6 16.5 8.5 12.6 9V12.5C13 10.5 15 9 18 9 18 11 17 "
        "14 12.6 14 12.6 16 13 18 12 22Z",
    ),
    "rodent": (
        "#b9b2a6",
        "M3 17C3 11 8 8 13 8A3.2 3.2 0 1 1 18.5 10C20.5 11.5 22 14 22.5 16L20 17.5H8C8 19 10 19.5 14 "
        "19.5V21C8 21 5 20.5 5 17.5Z",
    ),
    "invertebrate": (
        "#9ccb5a",
        "M4 13A3.5 3.5 0 0 1 10 10.5 3.6 3.6 0 0 1 15 9.5 4.2 4.2 0 1 1 21.5 14.5C21 17 18.5 18 16.5 17 15 "
        "18.5 12.5 18.5 11.2 17 9 18.5 6.5 18 5.5 16.5 4.3 15.8 4 14.5 4 13ZM17 3L18.5 7H17ZM21.5 4L20 7.5 "
        "19.2 7Z",
    ),
    "wild": (
        "#f0f0f0",
        "M12 2A10 10 0 1 0 12.01 2ZM12 5.5A2 2 0 1 1 11.99 5.5ZM6.5 10A2 2 0 1 1 6.49 10ZM17.5 10A2 2 0 1 1 "
        "17.49 10ZM9 15.5A2 2 0 1 1 8.99 15.5ZM15 15.5A2 2 0 1 1 14.99 15.5Z",
    ),
}
_PLURALS = {"egg": "eggs", "fruit": "fruits", "seed": "seeds", "rodent": "rodents", "invertebrate": "invertebrates"}
_PICTURE_OF = {name: name for name in _PATHS} | {plural: name for name, plural in _PLURALS.items()}
_BESIDE = re.compile(r"\d+|\+|or|of|,|any")  # words that may stand between those with pictures
_LARGE = 1.25  # width of a picture, in font sizes
SYMBOLS = "".join(
    f'<symbol id="cv-pic-{name}" viewBox="0 0 24 24"><path fill="{colour}" stroke="#3a2a20" stroke-width="1.2" '
    f'fill-rule="evenodd" d="{path}"/></symbol>'
    for name, (colour, path) in _PATHS.items()
)


def is_pictured(shown: str) -> bool:
    """Return whether all words of a text from the first number on have pictures, or are numbers and the like."""
    words = list(itertools.dropwhile(lambda word: not word.isdecimal(), _words(shown)))
    return any(word in _PICTURE_OF for word in words) and all(
        word in _PICTURE_OF or _BESIDE.fullmatch(word) for word in words
    )


def width_of(shown: str, size: float) -> float:
    """Return the width of a text, with pictures where there are some (`is_pictured`)."""
    if not is_pictured(shown):
        return text_width(shown, size)
    return sum(_width(word, size) for word in _words(shown)) + size * 0.28 * (len(_words(shown)) - 1)


def line(x: float, y: float, shown: str, size: float, style: str) -> str:
    """Return a line of text that begins at (x, y), its baseline, with pictures where there are some."""
    if not is_pictured(shown):
        return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" class="{style}">{escaped(shown)}</text>'
    parts = []
    for word in _words(shown):
        if word in _PICTURE_OF:
            large = size * _LARGE
            parts.append(
                f'<use href="#cv-pic-{_PICTURE_OF[word]}" x="{x:.1f}" y="{y - large * 0.84:.1f}" width="{large:.1f}" '
                f'height="{large:.1f}"/>'
            )
        else:
            parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" class="{style}">{escaped(word)}</text>')
        x += _width(word, size) + size * 0.28
    return f'<g role="img" aria-label="{escaped(shown)}">{"".join(parts)}</g>'


def _words(shown: str) -> list[str]:
    return shown.replace(",", " , ").split()


def _width(word: str, size: float) -> float:
    return size * _LARGE if word in _PICTURE_OF else text_width(word, size)
