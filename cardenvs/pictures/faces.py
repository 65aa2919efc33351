"""Drawings of single tokens: playing cards, tiles, dice, cards with text, and backs. All are our own."""

import functools
import json
from collections.abc import Sequence
from typing import Any

from cardenvs.pictures.pictograms import is_pictured, line, width_of
from cardenvs.pictures.text import cut, escaped, text_width, wrapped

CARD_WIDTH, CARD_HEIGHT = 52.0, 72.0  # at scale 1
TEXT_WIDTH = 156.0  # of a card with text
LIST_HEIGHT = 24.0  # of such a card in a list, where it shows its title and marks in one line
GRID_WIDTH, GRID_HEIGHT = 152.0, 48.0  # of a place in a grid, in which such a card shows its title and marks only
TILE_WIDTH, TILE_HEIGHT = 34.0, 46.0
DIE = 44.0  # width and height
MAHJONG_WIDTH, MAHJONG_HEIGHT, _THICKNESS = 26.0, 33.5, 2.6  # of the face of a tile, and what is seen of its side
_LEAST_MAHJONG = 24.0 / MAHJONG_WIDTH  # scale at which a face can be read
_INDEXED = 40.0  # width from which a tile has its name in a corner, above what is drawn on it
_INDEX_HEIGHT = 12.0
_TITLE, _LINE = 13.5, 13.5  # sizes of text
_TITLE_HEIGHT, _LINE_HEIGHT = 16.0, 15.0  # of lines of text
_MOST_LINES = 2  # of one text on a card; clients show cards with long texts large

# Suits in a box of 24 by 24.
SUITS = {
    "s": "M12 2C9 7 3 10 3 15a4.4 4.4 0 0 0 7.6 3C10.4 20 9.6 21.3 8.5 22h7c-1.1-.7-1.9-2-2.1-4A4.4 4.4 "
    "0 0 0 21 15C21 10 15 7 12 2Z",
    "h": "M12 21.5C8 17.6 2.5 13.7 2.5 8.5A5 5 0 0 1 12 6.3 5 5 0 0 1 21.5 8.5C21.5 13.7 16 17.6 12 21.5Z",
    "d": "M12 2L19.5 12 12 22 4.5 12Z",
    "star": "M12 2l2.9 6.6 7.1.7-5.4 4.7 1.6 7L12 17.3 5.8 21l1.6-7L2 9.3l7.1-.7Z",
    "c": "M12 2.5a4.3 4.3 0 0 1 3.6 6.7 4.4 4.4 0 1 1-2.7 7.9C13 19.3 13.8 21 15.3 22H8.7c1.5-1 2.3-2.7 "
    "2.4-4.9a4.4 4.4 0 1 1-2.7-7.9A4.3 4.3 0 0 1 12 2.5Z",
}
# The shape of each colour of tiles, so that nobody needs to tell colours apart.
_SHAPES = {
    "red": "M12 21.5C8 17.6 2.5 13.7 2.5 8.5A5 5 0 0 1 12 6.3 5 5 0 0 1 21.5 8.5C21.5 13.7 16 17.6 12 21.5Z",
    "orange": "M12 3L22 21H2Z",
    "blue": "M12 1.5L22.5 12 12 22.5 1.5 12Z",
    "black": "M4 4H20V20H4Z",
    "grey": "M12 3A9 9 0 1 1 12 21 9 9 0 1 1 12 3Z",
}
_TILE_COLOURS = {"green": "c"}  # green tiles have shape and colour of clubs
_MOST_LETTERS = 2  # of a tile; longer texts are squeezed
SYMBOLS = "".join(
    f'<symbol id="cv-{suit}" viewBox="0 0 24 24"><path d="{path}"/></symbol>'
    for suit, path in (SUITS | _SHAPES).items()
)
_RANKS = {"T": "10"}
_CORNERS = ((-1, -1), (1, -1), (-1, 1), (1, 1))
_PIPS = {  # of a die, in steps from its middle
    "1": ((0, 0),),
    "2": ((-1, -1), (1, 1)),
    "3": ((-1, -1), (0, 0), (1, 1)),
    "4": _CORNERS,
    "5": (*_CORNERS, (0, 0)),
    "6": (*_CORNERS, (-1, 0), (1, 0)),
}


@functools.lru_cache(maxsize=1 << 14)
def num(value: float) -> str:
    """Return a coordinate as short text."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


@functools.lru_cache(maxsize=1 << 14)
def text(x: float, y: float, shown: str, size: float, style: str, anchor: str = "", width: float = 0.0) -> str:
    """Return an SVG text whose baseline begins at (x, y), or is anchored there; `width` squeezes or stretches it."""
    placed = f' text-anchor="{anchor}"' if anchor else ""
    placed += f' textLength="{num(width)}" lengthAdjust="spacingAndGlyphs"' if width else ""
    return f'<text x="{num(x)}" y="{num(y)}" font-size="{num(size)}" class="{style}"{placed}>{escaped(shown)}</text>'


def box(x: float, y: float, width: float, height: float, style: str, radius: float = 5, more: str = "") -> str:
    """Return a rectangle with round corners."""
    return (
        f'<rect x="{num(x)}" y="{num(y)}" width="{num(width)}" height="{num(height)}" rx="{num(radius)}" '
        f'class="{style}"{more}/>'
    )


def circle(x: float, y: float, radius: float, style: str) -> str:
    """Return a circle around (x, y)."""
    return f'<circle cx="{num(x)}" cy="{num(y)}" r="{num(radius)}" class="{style}"/>'


def suit_style(shown: str) -> str:
    """Return the class that colours a text which ends in the sign of a suit, or nothing."""
    suit = {"♠": "s", "♥": "h", "♦": "d", "♣": "c"}.get(shown[-1:])
    return f" cv-{suit}" if suit else ""


def size_of(token: dict[str, Any], scale: float, in_grid: bool = False) -> tuple[float, float]:
    """Return width and height of a token, or of a face-down one, without what lies on it."""
    if is_sideways(token):
        wide, high = size_of(token | {"pose": ""}, scale, in_grid)
        side = _THICKNESS * _readable(scale) if token["face"]["kind"] == "mahjong" else 0.0  # is below every tile
        return high - side, wide + side
    kind = token["face"]["kind"] if "face" in token else token.get("back", "card")
    if kind == "mahjong":
        scale = _readable(scale)
        return MAHJONG_WIDTH * scale, (MAHJONG_HEIGHT + _THICKNESS) * scale
    if kind == "tile":
        return TILE_WIDTH * scale, TILE_HEIGHT * scale
    if kind == "die":
        return DIE * scale, DIE * scale
    if kind == "text":
        return (GRID_WIDTH if in_grid else TEXT_WIDTH), _text_height(token, in_grid)
    return CARD_WIDTH * scale, CARD_HEIGHT * scale


def draw(token: dict[str, Any], x: float, y: float, scale: float, style: str = "", in_grid: bool = False) -> str:
    """Return a visible token. `style` is added to the classes of its outline."""
    kind = token["face"]["kind"]
    if kind == "mahjong":
        drawn = _mahjong(token, x, y, _readable(scale), style)
    elif "pose" in token:
        return _posed(token, x, y, scale, style, in_grid)
    elif kind == "card":
        drawn = _card(token["face"], x, y, scale, style)
    elif kind == "tile":
        drawn = _tile(token["face"], x, y, scale, style)
    elif kind == "die":
        drawn = _die(token["face"], x, y, scale, style)
    else:
        drawn = _text_card(token, x, y, style, in_grid)
    marks = token.get("marks", []) if kind != "text" else []
    if marks:
        width, height = size_of(token, scale)
        shown = ", ".join(marks)
        drawn += text(x + width / 2, y + height - 4 * scale, shown, max(13.0, 9 * scale), "cv-faint", "middle")
    return _as_token(token, drawn)


def _as_token(token: dict[str, Any], drawn: str) -> str:
    """Return a drawing as that of a token; clients show cards with text large."""
    is_text = token["face"]["kind"] == "text"
    shown = token["face"] | ({"marks": token["marks"]} if "marks" in token else {})
    large = f' data-card="{escaped(json.dumps(shown))}"' if is_text else ""
    return f'<g data-token="{token["id"]}"{large}><title>{escaped(token["text"])}</title>{drawn}</g>'


def list_width(token: dict[str, Any]) -> float:
    """Return the width that a card with text needs as a line of a list."""
    marks = text_width(", ".join(token.get("marks", [])), _LINE)
    return text_width(token["face"]["title"], _LINE, bold=True) + marks + 16 + (12 if marks else 0)


def draw_in_list(token: dict[str, Any], y: float, width: float, style: str) -> str:
    """Return a card with text as a line: its title, and its marks on the right."""
    marks = ", ".join(token.get("marks", []))
    room = width - 16 - (text_width(marks, _LINE) + 12 if marks else 0)
    title = cut(token["face"]["title"], _LINE, room, bold=True)
    parts = [box(0, y, width, LIST_HEIGHT - 2, f"cv-card {style}".strip(), 4)]
    parts.append(text(8, y + 16, title, _LINE, "cv-title"))
    if marks:
        parts.append(text(width - 8, y + 16, marks, _LINE, "cv-print", "end"))
    return _as_token(token, "".join(parts))


def is_sideways(token: dict[str, Any]) -> bool:
    """Return whether a token lies sideways."""
    return token.get("pose") in ("sideways", "atop")


def _posed(token: dict[str, Any], x: float, y: float, scale: float, style: str, in_grid: bool) -> str:
    """Return a token that lies sideways or face down."""
    if token["pose"] == "down":
        return _as_token(token, draw_back(x, y, scale, style=style))
    upright = {key: value for key, value in token.items() if key != "pose"}
    drawn = draw(upright, 0, 0, scale, style, in_grid)
    return f'<g transform="translate({num(x)} {num(y + size_of(token, scale, in_grid)[1])}) rotate(-90)">{drawn}</g>'


def back_size(kind: str, scale: float) -> tuple[float, float]:
    """Return width and height of a back of some kind, however small."""
    if kind == "mahjong":
        return MAHJONG_WIDTH * scale, (MAHJONG_HEIGHT + _THICKNESS) * scale
    return CARD_WIDTH * scale, CARD_HEIGHT * scale


def draw_back(x: float, y: float, scale: float, kind: str = "card", style: str = "") -> str:
    """Return a face-down card or tile."""
    if kind == "mahjong":
        return _tile_body(x, y, scale, f"cv-tile-back {style}".strip(), "cv-tile-side", False)
    width, height = CARD_WIDTH * scale, CARD_HEIGHT * scale
    inner = box(x + 4 * scale, y + 4 * scale, width - 8 * scale, height - 8 * scale, "cv-back-in", 3 * scale)
    return box(x, y, width, height, f"cv-back {style}".strip(), 5 * scale) + inner


def draw_hidden_die(x: float, y: float, scale: float) -> str:
    """Return a die that the viewer does not see."""
    side = DIE * scale
    inner = box(x + 4 * scale, y + 4 * scale, side - 8 * scale, side - 8 * scale, "cv-back-in", 6 * scale)
    return box(x, y, side, side, "cv-back", 9 * scale) + inner


def _card(face: dict[str, Any], x: float, y: float, scale: float, style: str) -> str:
    width, height = CARD_WIDTH * scale, CARD_HEIGHT * scale
    rank, suit = _RANKS.get(face["rank"], face["rank"]), face.get("suit")
    outline = box(x, y, width, height, f"cv-card {style}".strip(), 5 * scale)
    squeezed = 17 * scale if len(rank) > 1 else 0.0  # so that a card on top of it leaves it readable
    style = f"cv-rank cv-{suit or 's'}"
    corner = text(x + 4.5 * scale, y + 18 * scale, rank, 18 * scale, style, width=squeezed)
    if rank == "JK":
        return outline + corner + _symbol("star", x + width * 0.3, y + height * 0.42, 30 * scale, f"cv-{suit or 's'}")
    if suit is None:
        squeezed = 30 * scale if len(rank) > 1 else 0.0
        return outline + corner + text(x + width * 0.6, y + height * 0.82, rank, 34 * scale, style, "middle", squeezed)
    below = _suit(suit, x + 5 * scale, y + 22 * scale, 12 * scale)
    large = 28 * scale
    return outline + corner + below + _suit(suit, x + (width - large) * 0.72, y + height * 0.45, large)


def _suit(suit: str, x: float, y: float, size: float) -> str:
    return _symbol(suit, x, y, size, f"cv-{suit}")


def _symbol(name: str, x: float, y: float, size: float, style: str) -> str:
    placed = f'x="{num(x)}" y="{num(y)}" width="{num(size)}" height="{num(size)}"'
    return f'<use href="#cv-{name}" {placed} class="{style}"/>'


def _tile(face: dict[str, Any], x: float, y: float, scale: float, style: str) -> str:
    width, height = TILE_WIDTH * scale, TILE_HEIGHT * scale
    outline = box(x, y, width, height, f"cv-card {style}".strip(), 5 * scale)
    if face["text"] == "J":
        return outline + _symbol("star", x + 5 * scale, y + 8 * scale, 24 * scale, "cv-red")
    colour = _TILE_COLOURS.get(face["colour"], face["colour"])
    squeezed = width - 8 * scale if len(face["text"]) > _MOST_LETTERS else 0
    number = text(x + width / 2, y + height * 0.5, face["text"], 20 * scale, f"cv-rank cv-{colour}", "middle", squeezed)
    size = 11 * scale
    shape = _symbol(colour, x + (width - size) / 2, y + height * 0.62, size, f"cv-{colour}")
    return outline + number + shape


def _readable(scale: float) -> float:
    """Return the scale at which a mahjong tile is drawn: its face needs some room."""
    return max(scale, _LEAST_MAHJONG)


def _mahjong(token: dict[str, Any], x: float, y: float, scale: float, style: str) -> str:
    """Return a mahjong tile, however it lies."""
    if token.get("pose") == "down":
        return draw_back(x, y, scale, "mahjong", style)
    turned = is_sideways(token)
    body = _tile_body(x, y, scale, f"cv-card {style}".strip(), "cv-tile-rim", turned)
    name, wide, high = token["face"]["text"], MAHJONG_WIDTH * scale, MAHJONG_HEIGHT * scale
    if turned:
        placed = f'width="{num(wide)}" height="{num(high)}" transform="translate({num(x)} {num(y + wide)}) rotate(-90)"'
        return f'{body}<use href="#cv-mj-{name}" {placed}/>'
    if wide < _INDEXED or len(token["text"]) > _MOST_LETTERS:
        return f'{body}<use href="#cv-mj-{name}" x="{num(x)}" y="{num(y)}" width="{num(wide)}" height="{num(high)}"/>'
    index = text(x + 3, y + _INDEX_HEIGHT, token["text"], 13, "cv-index")
    placed = f'x="{num(x)}" y="{num(y + _INDEX_HEIGHT)}" width="{num(wide)}" height="{num(high - _INDEX_HEIGHT)}"'
    return f'{body}<use href="#cv-mj-{name}" {placed}/>{index}'


def _tile_body(x: float, y: float, scale: float, above: str, below: str, turned: bool) -> str:
    """Return a tile without what is on its face: its upper side, and what is seen of its thickness."""
    wide, high = MAHJONG_WIDTH * scale, MAHJONG_HEIGHT * scale
    wide, high = (high, wide) if turned else (wide, high)
    side, radius = _THICKNESS * scale, 3.4 * scale
    return box(x, y + side, wide, high, below, radius) + box(x, y, wide, high, above, radius)


def _die(face: dict[str, Any], x: float, y: float, scale: float, style: str) -> str:
    side = DIE * scale
    outline = box(x, y, side, side, f"cv-card {style}".strip(), 9 * scale)
    middle_x, middle_y, step = x + side / 2, y + side / 2, side * 0.26
    if face["text"] not in _PIPS:
        return outline + text(middle_x, middle_y + 8 * scale, face["text"], 24 * scale, "cv-rank cv-s", "middle")
    pips = (circle(middle_x + dx * step, middle_y + dy * step, side * 0.09, "cv-s") for dx, dy in _PIPS[face["text"]])
    return outline + "".join(pips)


def _lines(token: dict[str, Any], in_grid: bool) -> tuple[Sequence[str], list[str]]:
    """Return the title and the lines below it."""
    width = (GRID_WIDTH if in_grid else TEXT_WIDTH) - 16
    face = token["face"]
    if in_grid:
        title: Sequence[str] = (cut(face["title"], _TITLE, width + 4, bold=True),)
    else:
        title = wrapped(face["title"], _TITLE, width, 2, bold=True)
    shown = [] if in_grid else face.get("lines", [])
    joined = _joined([*shown, *token.get("marks", [])], width)
    return title, [part for one in joined for part in _broken(one, width)]


def _joined(lines: list[str], width: float) -> list[str]:
    """Return lines in which pictures stand for words in as few lines as they need, and the others as they are."""
    found: list[str] = []
    for one in lines:
        both = f"{found[-1]} · {one}" if found else ""
        if found and is_pictured(found[-1]) and is_pictured(one) and width_of(both, _LINE) <= width:
            found[-1] = both
        else:
            found.append(one)
    return found


def _broken(shown: str, width: float) -> Sequence[str]:
    """Return a text in lines."""
    is_short = is_pictured(shown) and width_of(shown, _LINE) <= width
    return [shown] if is_short else wrapped(shown, _LINE, width, _MOST_LINES)


def _text_height(token: dict[str, Any], in_grid: bool) -> float:
    if "face" not in token:
        return CARD_HEIGHT
    title, lines = _lines(token, in_grid)
    height = 14 + _TITLE_HEIGHT * len(title) + _LINE_HEIGHT * len(lines)
    return max(height, GRID_HEIGHT) if in_grid else height


def _text_card(token: dict[str, Any], x: float, y: float, style: str, in_grid: bool) -> str:
    width, height = size_of(token, 1, in_grid)
    colour = token["face"].get("colour", "white")
    title, lines = _lines(token, in_grid)
    parts = [box(x, y, width, height, f"cv-card {style}".strip()), box(x, y, width, 5, f"cv-bar-{colour}", 2)]
    below = y + 20
    for shown in title:
        parts.append(text(x + 8, below, shown, _TITLE, "cv-title"))
        below += _TITLE_HEIGHT
    for shown in lines:
        parts.append(line(x + 8, below, shown, _LINE, "cv-print"))
        below += _LINE_HEIGHT
    return "".join(parts)
