"""The faces of mahjong tiles: characters, dots, bamboo, winds and dragons. All drawings are our own.

A face is named as players write it: "1m" to "9m", "1p" to "9p" and "1s" to "9s" for characters, dots and bamboo,
"0m", "0p" and "0s" for the red fives, and "1z" to "7z" for east, south, west, north, white, green and red.

Each face is an SVG symbol. A picture contains each symbol that it uses once (`symbols_in`).
"""

import functools
import re

from cardenvs.pictures.brush import outline
from cardenvs.pictures.mahjong_characters import CHARACTERS

Mark = tuple[float, float, str]  # the middle of a dot or of a stick, and its colour

_BOX = "0 0 310 400"  # of a face
_INK, _RED, _GREEN, _BLUE, _IVORY = "#1b2233", "#c4212b", "#0b7a45", "#1d4592", "#fffdf6"
_NUMERALS, _WINDS = "一二三四五六七八九", "東南西北"
_USED = re.compile(r'href="#(cv-mj-\w+)"')


RULES = (  # of a style sheet, for pictures with tiles
    ".cv-index{font-weight:700;fill:#5b6069}.cv-tile-back{fill:#3f9d78;stroke:#bfe3d0;stroke-width:1}"
    ".cv-tile-side{fill:#e3dcc8;stroke:#8d887c;stroke-width:.8}"
    ".cv-tile-rim{fill:#4a9a76;stroke:#1d5b40;stroke-width:.8}"
)


def whole_set() -> str:
    """Return all symbols."""
    return "".join(all_symbols().values())


def symbols_in(drawn: str) -> str:
    """Return the symbols that a drawing uses, those that these use, and the styles of tiles if it has any."""
    symbols, found, asked = all_symbols(), {}, _USED.findall(drawn)
    while asked:
        name = asked.pop()
        if name not in found:
            found[name] = symbols[name]
            asked += _USED.findall(found[name])
    return (f"<style>{RULES}</style>" if "cv-tile-" in drawn else "") + "".join(found.values())


@functools.cache
def all_symbols() -> dict[str, str]:
    """Return all symbols by their ids."""
    drawn = {"dot": (_DOT_BOX, _DOT), "stick": (_STICK_BOX, _STICK)}
    drawn["wan"] = _BOX, _brushed("萬", _RED, 45, 196, 220, 190)
    drawn |= {name: (_BOX, face) for name, face in _faces().items()}
    return {
        f"cv-mj-{name}": f'<symbol id="cv-mj-{name}" viewBox="{box}">{art}</symbol>'
        for name, (box, art) in drawn.items()
    }


def _faces() -> dict[str, str]:
    """Return the drawings of all faces by name."""
    wan = '<use href="#cv-mj-wan" width="310" height="400"/>'
    faces = {f"{rank}m": _numeral(rank, _INK) + wan for rank in range(1, 10)}
    faces |= {"0m": _numeral(5, _RED) + wan, "1p": _ONE_DOT, "1s": _BIRD}
    for rank in range(2, 10):
        faces[f"{rank}p"] = _dots(*_DOTS[rank])
        faces[f"{rank}s"] = _sticks(*_STICKS[rank]) if rank in _STICKS else _eight_sticks()
    faces["0p"] = _dots(_DOTS[5][0], _red(_DOTS[5][1]))
    faces["0s"] = _sticks(_STICKS[5][0], _red(_STICKS[5][1]))
    faces |= {f"{k + 1}z": _brushed(wind, _INK, 22, 62, 266, 276) for k, wind in enumerate(_WINDS)}
    return faces | {
        "5z": _WHITE,
        "6z": _brushed("發", _GREEN, 25, 60, 260, 280),
        "7z": _brushed("中", _RED, 30, 55, 250, 290),
    }


def _red(marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
    return tuple((x, y, _RED) for x, y, _ in marks)


# -- characters ---------------------------------------------------------------------------------------------------


def _brushed(character: str, colour: str, x: float, y: float, width: float, height: float, weight: float = 1.0) -> str:
    return f'<path fill="{colour}" d="{outline(CHARACTERS[character], x, y, width, height, weight)}"/>'


def _numeral(rank: int, colour: str) -> str:
    return _brushed(_NUMERALS[rank - 1], colour, 50, 22, 210, 165, 1.12)


# -- dots ---------------------------------------------------------------------------------------------------------

_DOT_BOX = "0 0 100 100"
_DOT = (  # the colour is that of its use
    '<circle cx="50" cy="50" r="49"/>'
    f'<g fill="none" stroke="{_IVORY}"><circle cx="50" cy="50" r="37" stroke-width="6"/>'
    '<circle cx="50" cy="50" r="16" stroke-width="15" stroke-dasharray="9.3 7.45"/></g>'
)
_ONE_DOT = (
    f'<circle cx="155" cy="200" r="128" fill="{_GREEN}"/>'
    f'<g fill="none" stroke="{_IVORY}"><circle cx="155" cy="200" r="115" stroke-width="7"/>'
    '<circle cx="155" cy="200" r="89" stroke-width="24" stroke-dasharray="22 12.95"/>'
    f'<circle cx="155" cy="200" r="62" stroke-width="8" fill="{_BLUE}"/>'
    f'<circle cx="155" cy="200" r="46" stroke-width="6" fill="{_RED}"/>'
    '<circle cx="155" cy="200" r="21" stroke-width="22" stroke-dasharray="14 8"/></g>'
)
_DOTS: dict[int, tuple[float, tuple[Mark, ...]]] = {  # the size of each dot, and where they are
    2: (150, ((155, 106, _GREEN), (155, 294, _BLUE))),
    3: (116, ((76, 80, _BLUE), (155, 200, _RED), (234, 320, _GREEN))),
    4: (124, ((84, 102, _BLUE), (226, 102, _GREEN), (84, 298, _GREEN), (226, 298, _BLUE))),
    5: (108, ((74, 80, _BLUE), (236, 80, _GREEN), (155, 200, _RED), (74, 320, _GREEN), (236, 320, _BLUE))),
    6: (106, (*((x, 76, _GREEN) for x in (90, 220)), *((x, y, _RED) for y in (212, 326) for x in (90, 220)))),
    7: (88, (
        (64, 66, _GREEN), (155, 104, _GREEN), (246, 142, _GREEN),
        *((x, y, _RED) for y in (240, 334) for x in (102, 208)),
    )),
    8: (88, tuple((x, y, _BLUE) for y in (60, 153, 247, 340) for x in (98, 212))),
    9: (86, tuple((x, y, colour) for y, colour in ((72, _GREEN), (200, _RED), (328, _BLUE)) for x in (60, 155, 250))),
}  # fmt: skip


def _dots(size: float, marks: tuple[Mark, ...]) -> str:
    return "".join(
        f'<use href="#cv-mj-dot" x="{x - size / 2:g}" y="{y - size / 2:g}" width="{size:g}" height="{size:g}" '
        f'fill="{colour}"/>'
        for x, y, colour in marks
    )


# -- bamboo -------------------------------------------------------------------------------------------------------

_STICK_BOX = "0 0 60 130"
_STICK = (  # two joints; the colour is that of its use
    '<path d="M30 1C50 1 58 8 56 15 54 21 46 22 46 27V53C46 57 58 58 58 65S46 73 46 77V103C46 108 54 109 56 115 58 122 '
    '50 129 30 129S2 122 4 115C6 109 14 108 14 103V77C14 73 2 72 2 65S14 57 14 53V27C14 22 6 21 4 15 2 8 10 1 30 1Z"/>'
    f'<path d="M30 24V53M30 77V106" stroke="{_IVORY}" stroke-width="8" stroke-linecap="round"/>'
)
_UPPER, _LOWER = 106, 294
_STICKS: dict[int, tuple[float, tuple[Mark, ...]]] = {  # the height of each stick, and where they are
    2: (164, ((155, _UPPER, _GREEN), (155, _LOWER, _GREEN))),
    3: (164, ((155, _UPPER, _GREEN), (88, _LOWER, _GREEN), (222, _LOWER, _GREEN))),
    4: (164, tuple((x, y, _GREEN) for y in (_UPPER, _LOWER) for x in (88, 222))),
    5: (156, (*((x, y, _GREEN) for y in (_UPPER, _LOWER) for x in (66, 244)), (155, 200, _RED))),
    6: (164, tuple((x, y, _GREEN) for y in (_UPPER, _LOWER) for x in (66, 155, 244))),
    7: (114, ((155, 78, _RED), *((x, y, _GREEN) for y in (206, 328) for x in (66, 155, 244)))),
    9: (114, tuple((x, y, colour) for y in (72, 200, 328) for x, colour in ((66, _GREEN), (155, _RED), (244, _GREEN)))),
}
_LEANING = 35.0  # degrees, of the inner sticks of the eight


def _sticks(height: float, marks: tuple[Mark, ...]) -> str:
    return "".join(_stick(x, y, height, colour) for x, y, colour in marks)


def _stick(x: float, y: float, height: float, colour: str, turn: float = 0.0) -> str:
    width = height * 60 / 130
    turned = f' transform="rotate({turn:g} {x:g} {y:g})"' if turn else ""
    return (
        f'<use href="#cv-mj-stick" x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" height="{height:g}" '
        f'fill="{colour}"{turned}/>'
    )


def _eight_sticks() -> str:
    """Return an M above a W."""
    outer = [_stick(x, y, 160, _GREEN) for y in (_UPPER, _LOWER) for x in (44, 266)]
    inner = [
        _stick(155 + side * 46, y, 146, _GREEN, side * turn)
        for y, turn in ((_UPPER + 8, _LEANING), (_LOWER - 8, -_LEANING))
        for side in (-1, 1)
    ]
    return "".join(outer + inner)


_BIRD = (
    '<g transform="translate(12 14) scale(.93)">'
    # tail
    f'<path fill="{_GREEN}" d="M150 190C215 205 285 275 292 372 250 335 180 290 140 232Z"/>'
    f'<path fill="{_BLUE}" d="M168 176C235 172 296 216 305 296 262 262 200 245 160 216Z"/>'
    f'<path fill="{_BLUE}" d="M136 208C180 250 218 310 214 392 180 350 140 300 122 238Z"/>'
    f'<g fill="{_RED}" stroke="{_IVORY}" stroke-width="6"><circle cx="262" cy="322" r="15"/>'
    '<circle cx="277" cy="255" r="14"/><circle cx="196" cy="345" r="13"/></g>'
    # legs and branch
    f'<path fill="none" stroke="{_RED}" stroke-width="9" stroke-linecap="round" d="M104 240V318M132 246V318"/>'
    f'<path fill="none" stroke="{_GREEN}" stroke-width="16" stroke-linecap="round" d="M22 326C70 316 120 320 160 330"/>'
    # body, breast and wing
    f'<path fill="{_GREEN}" d="M52 96C50 150 44 170 58 206 76 250 136 264 176 232 200 208 190 180 168 164 134 142 '
    '124 124 124 92 124 44 54 44 52 96Z"/>'
    f'<path fill="{_RED}" d="M53 150C46 176 52 206 72 228 84 238 96 240 104 236 84 210 78 178 86 148 74 156 62 156 '
    '53 150Z"/>'
    f'<path fill="{_BLUE}" stroke="{_IVORY}" stroke-width="6" d="M96 160C140 152 190 180 206 226 160 240 108 220 '
    '96 160Z"/>'
    f'<path fill="none" stroke="{_IVORY}" stroke-width="6" stroke-linecap="round" d="M118 178C146 180 170 196 186 '
    '216M120 198C138 204 156 212 168 222"/>'
    # head
    f'<path fill="{_RED}" d="M56 78L8 96 56 108Z"/><circle cx="82" cy="88" r="13" fill="{_IVORY}"/>'
    f'<circle cx="80" cy="88" r="7" fill="{_INK}"/>'
    f'<g fill="none" stroke="{_BLUE}" stroke-width="7" stroke-linecap="round"><path d="M84 56C80 42 76 34 66 24M92 54'
    'C94 40 94 30 92 14M102 56C108 44 116 34 126 26"/></g>'
    f'<g fill="{_RED}"><circle cx="64" cy="22" r="10"/>'
    '<circle cx="92" cy="13" r="10"/><circle cx="128" cy="24" r="10"/></g></g>'
)
_WHITE = (
    f'<g fill="none" stroke="{_BLUE}"><rect x="40" y="46" width="230" height="308" rx="14" stroke-width="17"/>'
    '<rect x="64" y="70" width="182" height="260" rx="6" stroke-width="6"/></g>'
)
