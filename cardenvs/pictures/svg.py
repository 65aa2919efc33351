"""A game view as an SVG picture.

The picture is laid out from top to bottom: a heading, the other players, the middle of the table, and the viewer's own
place; or, if the view's shape is "ring", the players around a table.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from cardenvs.pictures import faces
from cardenvs.pictures.faces import box, circle, num, text
from cardenvs.pictures.piles import GAP, Block, Marks, flow, piles_of
from cardenvs.pictures.style import checked_theme, css
from cardenvs.pictures.text import escaped, text_width, wrapped

WIDTH = 960.0
NARROW = 480.0  # for phones
_MARGIN, _PAD = 16.0, 12.0
_OWN, _OTHER, _SEAT = 1.15, 0.75, 0.85  # scales of cards
_RING_WIDTH, _RING_HEIGHT, _SEAT_WIDTH = 620.0, 300.0, 190.0
_MOST_IN_RING, _LARGE_RING_HEIGHT = 8, 380.0  # players, and the height for more


def draw_svg(view: dict[str, Any], theme: str = "light", width: float | None = None) -> str:
    """Return an SVG picture of a game view.

    Args:
        view: a document from `State.view`.
        theme: "light", "dark", or "auto" for what the reader's system prefers.
        width: width of the picture in pixels; by default it fills what it is put in.

    Raises:
        ValueError: unknown theme.
    """
    parts, height = draw_parts(view)
    return framed(parts, height, theme, summary(view), width)


def draw_parts(view: dict[str, Any], across: float = WIDTH) -> tuple[list[str], float]:
    """Return the elements of a picture without its frame, and its height; `across` is its width, WIDTH or NARROW."""
    marks = Marks(
        frozenset(token for choice in view["choices"] for token in choice.get("tokens", [])),
        frozenset(choice["source"] for choice in view["choices"] if choice["kind"] == "pile"),
    )
    parts, y = _heading(view, across)
    in_ring = view["shape"] == "ring" and across == WIDTH
    more, y = _ring(view, marks, y) if in_ring else _rows(_chips_as_numbers(view), marks, y, across)
    return parts + more, y


def framed(parts: Sequence[str], height: float, theme: str, label: str, width: float | None = None) -> str:
    """Return the elements of a picture as an SVG document; see `draw_svg`."""
    checked_theme(theme)
    size = f' width="{num(width)}" height="{num(width * height / WIDTH)}"' if width else ' width="100%"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {num(WIDTH)} {num(height)}"{size} class="cv cv-{theme}" '
        f'role="img" aria-label="{escaped(label)}"><style>{css(theme)}</style><defs>{faces.SYMBOLS}</defs>'
        f"{box(0, 0, WIDTH, height, 'cv-bg', 14)}{''.join(parts)}</svg>"
    )


def draw_animation(views: Iterable[dict[str, Any]], seconds: float = 1.2, theme: str = "light") -> str:
    """Return game views as one SVG picture that shows them in turn, for `seconds` each, again and again.

    It needs no script, so it plays wherever a page shows an image.
    """
    pictures = [draw_parts(view) for view in views]
    height = max(height for _, height in pictures)
    frames = [
        f'<g class="cv-frame" style="animation-delay:{k * seconds:g}s">{"".join(parts)}</g>'
        for k, (parts, _) in enumerate(pictures)
    ]
    share = 100 / len(frames)
    rules = (
        f".cv-frame{{visibility:hidden;animation:cv-turn {len(frames) * seconds:g}s step-end infinite}}"
        f"@keyframes cv-turn{{0%{{visibility:visible}}{share:.4f}%{{visibility:hidden}}}}"
    )
    return framed([f"<style>{rules}</style>", *frames], height, theme, "a recorded game")


def summary(view: dict[str, Any]) -> str:
    """Return what a picture shows in a sentence."""
    if view["terminal"]:
        returns = ", ".join(f"player_{p} {player['return']:+g}" for p, player in enumerate(view["players"]))
        return f"{view['title']}: the game is over, {returns}"
    return f"{view['title']}: player_{view['current_player']} to act. {view['prompt']}".strip()


def _bottom(view: dict[str, Any]) -> int:
    """Return the player shown at the bottom."""
    return view["viewer"] if isinstance(view["viewer"], int) else 0


# ---------------------------------------------------------------------------------------------------------------
# The whole picture


def _heading(view: dict[str, Any], across: float) -> tuple[list[str], float]:
    """Return the title, the counters that belong to nobody, and the prompt; and the y below them."""
    parts = [text(_MARGIN, 32, view["title"], 21, "cv-name")]
    x = _MARGIN + text_width(view["title"], 21, bold=True) + 14
    for one in view["counters"]:
        if one["use"] != "number" or isinstance(one["value"], list):
            continue
        shown = f"{one['label']} {'?' if one['value'] is None else one['value']}"
        width = text_width(shown, 12) + 14
        if x + width > across - _MARGIN:
            break
        parts += _pill(x, 31, shown, width, 12)
        x += width + 6
    said = "The game is over." if view["terminal"] else view["prompt"]
    y = 58.0
    for line in wrapped(said, 13, across - 2 * _MARGIN, 3) if said else ():
        parts.append(text(_MARGIN, y, line, 13, "cv-dim"))
        y += 18
    return parts, y - 4


def _chips_as_numbers(view: dict[str, Any]) -> dict[str, Any]:
    """Return a view whose chips are shown in words, for pictures without a table to lay them on."""
    return view | {"counters": [one | {"use": "number"} if one["use"] == "chips" else one for one in view["counters"]]}


def _rows(view: dict[str, Any], marks: Marks, y: float, across: float) -> tuple[list[str], float]:
    """Return the other players, the middle and the viewer's place, from top to bottom."""
    parts, n, bottom, inside = [], len(view["players"]), _bottom(view), across - 2 * _MARGIN
    for row in _other_players(view, [(bottom + k) % n for k in range(1, n)], marks, inside):
        x = _MARGIN
        for block in row:
            parts.append(block.at(x, y))
            x += block.width + GAP
        y += max(block.height for block in row) + GAP
    piles = piles_of(view, None, 1.0, marks, inside - 2 * _PAD)
    if piles:
        inner = flow(piles, inside - 2 * _PAD, centred=True)
        height = inner.height + 2 * _PAD
        parts.append(box(_MARGIN, y, inside, height, "cv-felt", 16))
        parts.append(inner.at((across - inner.width) / 2, y + _PAD))
        y += height + GAP
    own = _player(view, bottom, inside, _OWN, marks)
    parts.append(own.at(_MARGIN, y))
    return parts, y + own.height + _MARGIN


def _other_players(view: dict[str, Any], players: list[int], marks: Marks, inside: float) -> list[list[Block]]:
    """Return the panels of the other players in rows of up to three; of one, if they need the width."""
    per_row = 2 if len(players) == 4 or inside < NARROW else 3
    if any(pile["layout"] == "grid" for pile in view["piles"]):
        per_row = 1
    found = []
    for first in range(0, len(players), per_row):
        row = players[first : first + per_row]
        width = (inside - GAP * (len(row) - 1)) / len(row)
        height = max(_player(view, player, width, _OTHER, marks).height for player in row)
        found.append([_player(view, player, width, _OTHER, marks, height) for player in row])
    return found


def _ring(view: dict[str, Any], marks: Marks, y: float) -> tuple[list[str], float]:
    """Return the players around an oval table, with their chips before them and the shared piles in the middle."""
    n, bottom = len(view["players"]), _bottom(view)
    seats = [_player(view, (bottom + k) % n, _SEAT_WIDTH, _SEAT, marks) for k in range(n)]
    highest = max(seat.height for seat in seats)
    oval = _RING_HEIGHT if n <= _MOST_IN_RING else _LARGE_RING_HEIGHT
    height = oval + 1.5 * highest
    cx, cy = WIDTH / 2, y + height / 2
    axes = f'rx="{num(_RING_WIDTH / 2)}" ry="{num(oval / 2)}"'
    parts = [f'<ellipse cx="{num(cx)}" cy="{num(cy)}" {axes} class="cv-felt"/>']
    room = _RING_WIDTH * 0.6
    middle = flow(piles_of(view, None, 1.0, marks, room), room, centred=True)
    parts.append(middle.at(cx - middle.width / 2, cy - middle.height / 2))
    for k, seat in enumerate(seats):
        angle = math.pi / 2 + 2 * math.pi * k / n
        across, down = math.cos(angle), math.sin(angle)
        x = cx + across * (_RING_WIDTH / 2 + 50) - _SEAT_WIDTH / 2
        above = cy + down * (oval / 2 + highest / 4) - seat.height / 2
        parts.append(seat.at(x, min(max(above, y), y + height - seat.height)))
        parts += _chips(view, (bottom + k) % n, cx + across * _RING_WIDTH * 0.36, cy + down * oval * 0.27)
    return parts, y + height + _MARGIN


def _chips(view: dict[str, Any], player: int, x: float, y: float) -> list[str]:
    """Return the chips that a player has put in, if any."""
    parts = []
    for one in view["counters"]:
        if one["use"] == "chips" and one["value"][player]:
            shown = str(one["value"][player])
            parts.append(circle(x, y, max(13, text_width(shown, 11) / 2 + 5), "cv-chip"))
            parts.append(text(x, y + 4, shown, 11, "cv-chip-text", "middle"))
    return parts


# ---------------------------------------------------------------------------------------------------------------
# A player


def _player(view: dict[str, Any], player: int, width: float, scale: float, marks: Marks, height: float = 0.0) -> Block:
    """Return the panel of a player, at least `height` high: name, notes, counters, piles."""
    top, y = _name_lines(view, player, width)
    room = width - 2 * _PAD
    inner = flow(piles_of(view, player, scale, marks, room), room)
    height = max(y + inner.height + _PAD, height)
    acts = not view["terminal"] and view["current_player"] == player
    panel = box(0, 0, width, height, "cv-panel-act" if acts else "cv-panel", 10)
    return Block(width, height, (panel, *top, inner.at(_PAD, y)))


def _name_lines(view: dict[str, Any], player: int, width: float) -> tuple[list[str], float]:
    """Return name, notes and counters of a player in as many lines as they need, and the y below them."""
    this = view["players"][player]
    name = f"player_{player}" + (" (you)" if view["viewer"] == player else "")
    parts = [text(_PAD, 24, name, 14, "cv-name")]
    x, y = _PAD + text_width(name, 14, bold=True) + 8, 24.0
    shown = list(this["notes"])
    shown += ["out"] if not (this["active"] or view["terminal"] or "out" in shown) else []
    shown += [f"return {round(this['return'], 3):+g}"] if view["terminal"] or this["return"] else []
    for one in view["counters"]:
        if one["use"] == "number" and isinstance(one["value"], list) and player < len(one["value"]):
            value = one["value"][player]
            if value != 0 or this["active"]:  # who is out has no stack
                shown.append(f"{one['label']} {'?' if value is None else value}")
    for word in shown:
        wide = text_width(word, 11.5) + 12
        if x + wide > width - _PAD:
            x, y = _PAD, y + 23
        parts += _pill(x, y, word, wide, 11.5)
        x += wide + 5
    return parts, y + 14


def _pill(x: float, y: float, shown: str, width: float, size: float) -> list[str]:
    """Return text with its baseline at y, on a rounded ground."""
    ground = box(x, y - 14, width, 20, "cv-pill", 10)
    return [ground, text(x + width / 2, y, shown, size, "cv-ink", "middle")]
