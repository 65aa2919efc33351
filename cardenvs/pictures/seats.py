"""Players as they sit at the table: a face, a name, and what is true of them."""

import functools
from dataclasses import dataclass
from typing import Any

from cardenvs.pictures import pictograms
from cardenvs.pictures.faces import box, circle, num, text
from cardenvs.pictures.piles import Block
from cardenvs.pictures.text import acts, cut, notes_of, number_of, text_width, wrapped

FACE = 44.0  # width of a face
SAID = 17.0  # height of the line for what a player did last
_NUM_FACES, _NUM_COLOURS = 5, 10
_DEALS = ("dealer", "button")  # notes that are drawn as a button
_NAME, _PILL = 15.5, 13.5  # sizes of text
_PILL_HEIGHT = 20.0

# A head and shoulders in a box of 48 by 48 for each face; hair and hats differ.
_SHOULDERS = '<path class="cv-coat" d="M6 48c1-10 9-14 18-14s17 4 18 14Z"/>'
_HEAD = '<circle class="cv-skin" cx="24" cy="21" r="11"/>'
_LOOK = (
    '<circle class="cv-eye" cx="20" cy="21" r="1.6"/><circle class="cv-eye" cx="28" cy="21" r="1.6"/>'
    '<path class="cv-smile" d="M19.5 26q4.5 4 9 0"/>'
)
_HAIR = (
    '<path class="cv-hair" d="M12.5 20C11 8 37 8 35.5 20 33 14 28 13.5 24 13.5S15 14 12.5 20Z"/>',
    '<path class="cv-hair" d="M12 31C9 6 39 6 36 31l-4-2C36 15 30 14 24 15S12 15 16 29Z"/>',
    '<path class="cv-hair" d="M10 15h28v-2.5H34C34 3 14 3 14 12.5H10Z"/>',
    '<path class="cv-hair" d="M13 19c0-4 2-7 5-9 0-5 12-5 12 0 3 2 5 5 5 9-2-3-5-5-11-5s-9 2-11 5Z"/>'
    '<circle class="cv-hair" cx="24" cy="6.5" r="4"/>',
    '<path class="cv-hair" d="M12.5 21C10 7 30 5 36 13c-1 2-6 3-12 2.5-5-.5-9 1.5-11.5 5.5ZM15 27c2 7 16 7 18 0 '
    '1 12-19 12-18 0Z"/>',
)
FACES = "".join(
    f'<symbol id="cv-face-{k}" viewBox="0 0 48 48">{_SHOULDERS}{_HEAD}{hair}{_LOOK}</symbol>'
    for k, hair in enumerate(_HAIR)
)


@dataclass(frozen=True)
class Label:
    """A short text, in which pictures stand for words if it is `pictured`."""

    text: str
    pictured: bool


def badge(view: dict[str, Any], player: int, width: float) -> Block:
    """Return a player's face, name, what they did last, notes and numbers, in `width`.

    The line for what they did last is an empty text, which clients fill in.
    """
    left = FACE + 10
    room = width - left
    name = cut(f"player_{player}{' (you)' if view['viewer'] == player else ''}", _NAME, room, bold=True)
    said = (
        f'<text x="{num(left)}" y="{num(15 + SAID)}" font-size="13.5" class="cv-said" data-said="{player}" '
        f'data-room="{num(room)}"></text>'
    )
    deals = any(note in _DEALS for note in view["players"][player]["notes"])
    parts = [_face(player, acts(view, player), deals), text(left, 15, name, _NAME, "cv-name"), said]
    pills, height = _pills(_words(view, player), room)
    parts.append(f'<g transform="translate({num(left)} {num(20 + SAID)})">{"".join(pills)}</g>')
    return Block(width, max(FACE + 4, 20 + SAID + height), tuple(parts))


@functools.lru_cache(maxsize=256)
def _face(player: int, is_turn: bool, deals: bool) -> str:
    """Return a round face on the colour of a seat, with a ring around the player to act."""
    middle = FACE / 2
    ring = circle(middle, middle, middle, "cv-turn") if is_turn else ""
    ground = circle(middle, middle, middle - 2, f"cv-seat-{player % _NUM_COLOURS}")
    drawn = f'<use href="#cv-face-{player % _NUM_FACES}" x="4" y="4" width="{num(FACE - 8)}" height="{num(FACE - 8)}"/>'
    if not deals:
        return f"{ground}{drawn}{ring}"
    at = FACE - 6
    button = f"{circle(at, at, 9, 'cv-dealer')}{text(at, at + 4.5, 'D', 13, 'cv-title', 'middle')}"
    return f'{ground}{drawn}{ring}<g role="img" aria-label="dealer">{button}</g>'


def _words(view: dict[str, Any], player: int) -> list[str]:
    """Return what is true of a player, and their numbers."""
    shown = [note for note in notes_of(view, player) if note not in _DEALS]
    for one in view["counters"]:
        number = number_of(view, one, player) if one["use"] == "number" else ""
        shown += [f"{one['label']} {number}"] if number else []
    return shown


def _pills(words: list[str], width: float) -> tuple[list[str], float]:
    """Return short texts on rounded grounds in as many lines as they need, and their height."""
    parts: list[str] = []
    x = y = 0.0
    for word in words:
        for shown in pill_texts(word, width, 3):
            wide = pill_width(shown)
            if x and x + wide > width:
                x, y = 0.0, y + _PILL_HEIGHT + 4
            parts += pill(x, y, shown)
            x += wide + 5
    return parts, y + _PILL_HEIGHT if words else 0.0


def pill_texts(shown: str, width: float, most: int = 99) -> list[Label]:
    """Return the texts of the grounds that a text needs, each of at most `width`."""
    if pictograms.is_pictured(shown):
        return [Label(shown, True)]
    return [Label(part, False) for part in wrapped(shown, _PILL, width - 14, most)]


def pill_width(label: Label) -> float:
    """Return the width of a text with its ground."""
    return _text_width(label) + 14


def pill(x: float, y: float, label: Label) -> list[str]:
    """Return text on a rounded ground whose top left corner is (x, y)."""
    width = pill_width(label)
    ground = box(x, y, width, _PILL_HEIGHT, "cv-pill", _PILL_HEIGHT / 2)
    begin = x + (width - _text_width(label)) / 2
    draw = pictograms.line if label.pictured else text
    return [ground, draw(begin, y + 14.5, label.text, _PILL, "cv-ink")]


def _text_width(label: Label) -> float:
    return pictograms.width_of(label.text, _PILL) if label.pictured else text_width(label.text, _PILL)


def seat(view: dict[str, Any], player: int, width: float, height: float, *inside: str) -> str:
    """Return a player's place with what is in it, on a ground of its own."""
    style = "cv-panel-act" if acts(view, player) else "cv-panel"
    return f'<g data-seat="{player}">{box(0, 0, width, height, style, 14)}{"".join(inside)}</g>'
