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
    "forest": (
        "#3f8f4f",
        "M12 1.5L19 11.5H15.8L20.5 18H13.8V22.5H10.2V18H3.5L8.2 11.5H5Z",
    ),
    "grassland": (
        "#a9b93f",
        "M5 22C5 14 4 10 1.5 7 5.5 8.5 7.5 12.5 8 17 8.5 11 9.5 6 12 2 13 7 13.6 12 14 17 15 12 17.5 8.5 22 6 19.5 11 "
        "18.7 15 19 22Z",
    ),
    "wetland": (
        "#4f9fd0",
        "M1 8C4 4 7 4 10 8 13 12 16 12 19 8L23 5V10L19 13C16 17 13 17 10 13 7 9 4 9 1 13Z"
        "M1 16C4 12 7 12 10 16 13 20 16 20 19 16L23 13V18L19 21C16 24 13 24 10 21 7 17 4 17 1 21Z",
    ),
    "bowl_nest": (
        "#b98548",
        "M1.5 11.5H22.5C22.5 18 17.8 21.5 12 21.5S1.5 18 1.5 11.5ZM6 10.5A2.9 4.4 0 0 1 11.8 10.5Z"
        "M12.2 10.5A2.9 4.4 0 0 1 18 10.5Z",
    ),
    "cavity_nest": (
        "#b98548",
        "M6 1.5H18V22.5H6ZM12 7A3.4 4.4 0 1 0 12.01 7Z",
    ),
    "ground_nest": (
        "#b98548",
        "M1 20.5C3 15.5 7 14 12 14S21 15.5 23 20.5ZM6 13A2.9 4.4 0 0 1 11.8 13ZM12.2 13A2.9 4.4 0 0 1 18 13Z",
    ),
    "platform_nest": (
        "#b98548",
        "M1 10.5H23V13.5H1ZM4 14.5H7.2L9.2 22.5H6ZM16.8 14.5H20L18 22.5H14.8ZM6 9.5A2.9 4.4 0 0 1 11.8 9.5Z"
        "M12.2 9.5A2.9 4.4 0 0 1 18 9.5Z",
    ),
    "star_nest": (
        "#e0b93f",
        "M12 1.5L15 8.6 22.4 9.3 16.8 14.2 18.5 21.6 12 17.7 5.5 21.6 7.2 14.2 1.6 9.3 9 8.6Z",
    ),
    "point": (
        "#8db7dd",
        "M3 22C4 13 10 4 21.5 2.5 21.5 13 14 18 7.5 18.5L5.2 22Z",
    ),
    "cached": (
        "#d8a35a",
        "M4 10H20L18 22H6ZM7.5 9C7.5 2.5 16.5 2.5 16.5 9H14C14 6 10 6 10 9Z",
    ),
    "tucked": (
        "#f4f1e8",
        "M4 9H20V22.5H4ZM7.5 1.5H16.5V7.5H7.5Z",
    ),
}
_PLURALS = {name: f"{name}s" for name in ("egg", "fruit", "seed", "rodent", "invertebrate", "point")}
_PICTURE_OF = {name: name for name in _PATHS} | {plural: name for name, plural in _PLURALS.items()}
_BESIDE = re.compile(r"\d+|\+|·|or|of|,|any|for|no|nest|cm")  # words that may stand between those with pictures
_NEST = re.compile(r"\b(bowl|cavity|ground|platform|star) nest\b")
_LEFT_OUT = (",", "for")
_NOT_ALONE = ("point", "points")  # a word that says enough, unless others beside it have pictures
_LARGE = 1.25  # width of a picture, in font sizes
SYMBOLS = "".join(
    f'<symbol id="cv-pic-{name}" viewBox="0 0 24 24"><path fill="{colour}" stroke="#3a2a20" stroke-width="1.2" '
    f'fill-rule="evenodd" d="{path}"/></symbol>'
    for name, (colour, path) in _PATHS.items()
)


def is_pictured(shown: str) -> bool:
    """Return whether all words of a text, or those from the first number on, have pictures or are numbers."""
    words = _words(shown)
    words = list(itertools.dropwhile(lambda word: not word.isdecimal(), words)) or words
    return any(word in _PICTURE_OF and word not in _NOT_ALONE for word in words) and all(
        word in _PICTURE_OF or _BESIDE.fullmatch(word) for word in words
    )


def width_of(shown: str, size: float) -> float:
    """Return the width of a text, with pictures where there are some (`is_pictured`)."""
    if not is_pictured(shown):
        return text_width(shown, size)
    words = _drawn(shown)
    return sum(_width(word, size) for word in words) + size * 0.28 * (len(words) - 1)


def line(x: float, y: float, shown: str, size: float, style: str) -> str:
    """Return a line of text that begins at (x, y), its baseline, with pictures where there are some."""
    if not is_pictured(shown):
        return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" class="{style}">{escaped(shown)}</text>'
    parts = []
    for word in _drawn(shown):
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
    return _NEST.sub(r"\1_nest", shown).replace(",", " , ").split()


def _drawn(shown: str) -> list[str]:
    """Return the words of a text with pictures, without those that pictures make superfluous."""
    return [word for word in _words(shown) if word not in _LEFT_OUT]


def _width(word: str, size: float) -> float:
    return size * _LARGE if word in _PICTURE_OF else text_width(word, size)
