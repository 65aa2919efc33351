"""Piles of tokens as blocks of SVG, and how blocks flow into lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cardenvs.pictures import faces
from cardenvs.pictures.faces import CARD_HEIGHT, CARD_WIDTH, box, circle, num, text
from cardenvs.pictures.text import escaped, text_width

GAP = 10.0
_LABEL = 11.0  # size of the labels of piles
_SMALL = 0.8  # scale of the cards of a player's piles beside the hand
_MOST_BACKS = 14  # face-down cards drawn side by side; more are a stack with their number
_MOST_IN_HAND = 26  # cards of a hand that do not overlap


@dataclass(frozen=True)
class Block:
    """Something that has been drawn at the origin and can be moved.

    Attributes:
        width, height: its size.
        parts: its SVG.
    """

    width: float
    height: float
    parts: tuple[str, ...]

    def at(self, x: float, y: float) -> str:
        """Return the SVG of the block with its top left corner at (x, y)."""
        return f'<g transform="translate({num(x)} {num(y)})">{"".join(self.parts)}</g>'


@dataclass(frozen=True)
class Marks:
    """What the viewer may click: ids of tokens, and ids of piles."""

    tokens: frozenset[str]
    piles: frozenset[str]


def piles_of(view: dict[str, Any], owner: int | None, scale: float, marks: Marks, width: float) -> list[Block]:
    """Return the piles of an owner. Empty ones of players are left out, but not the stock that has run out."""
    return [
        _pile(pile, scale if owner is None or pile["layout"] == "hand" else min(scale, _SMALL), marks, width)
        for pile in view["piles"]
        if pile["owner"] == owner and (pile["count"] or pile["layout"] == "grid" or owner is None)
    ]


def _pile(pile: dict[str, Any], scale: float, marks: Marks, width: float) -> Block:
    shown = tokens_of(pile, scale, marks, width)
    is_counted = pile["layout"] in ("stack", "fan") and pile["count"] > 1
    label = f"{pile['label']} · {pile['count']}" if is_counted else pile["label"]
    caption = text(0, _LABEL, label, _LABEL, "cv-dim")
    body = f'<g data-pile="{escaped(pile["id"])}">{shown.at(0, _LABEL + 6)}</g>'
    return Block(max(shown.width, text_width(label, _LABEL)), shown.height + _LABEL + 6, (caption, body))


def tokens_of(pile: dict[str, Any], scale: float, marks: Marks, width: float) -> Block:
    """Return the tokens of a pile as its layout wants them, without its label, in lines of `width`."""
    layout = pile["layout"]
    style = "cv-can" if pile["id"] in marks.piles else ""
    if not pile["tokens"]:
        if layout == "grid":
            return Block(width, 10, ())
        wide, high = CARD_WIDTH * scale, CARD_HEIGHT * scale
        return Block(wide, high, (box(0, 0, wide, high, f"cv-empty {style}".strip(), 5 * scale),))
    if layout == "stack":
        return _stack(pile, scale, style)
    if layout == "grid":
        places = flow([_line([token], 1, marks, 0, width, "", True) for token in pile["tokens"]], width, 6, 6)
        return Block(width, places.height, places.parts)
    is_fan = layout == "fan" or (layout == "hand" and pile["count"] > _MOST_IN_HAND)
    overlap = 0.55 if is_fan else -0.08
    return flow(
        [_line(group, scale, marks, overlap, width, style) for group in _groups(pile)], width, 16 * scale, 8 * scale
    )


def _groups(pile: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Return the tokens of a pile by group; a pile with hidden tokens is one group."""
    tokens, sizes = pile["tokens"], pile.get("groups")
    if not sizes or any("hidden" in token for token in tokens):
        return [tokens]
    found, first = [], 0
    for size in sizes:
        found.append(tokens[first : first + size])
        first += size
    return found


def _line(
    tokens: list[dict[str, Any]], scale: float, marks: Marks, overlap: float, width: float, style: str,
    in_grid: bool = False,
) -> Block:  # fmt: skip
    """Return tokens in a row, or in several if there is no room; `overlap` is the covered part of each."""
    parts, x, y, high, widest = [], 0.0, 0.0, 0.0, 0.0
    for token in tokens:
        hidden = _hidden(token["hidden"], scale, width) if "hidden" in token else None
        wide, tall = (hidden.width, hidden.height) if hidden else faces.size_of(token, scale, in_grid)
        if x and x + wide > width:
            x, y, high = 0.0, y + high + 6, 0.0
        if hidden:
            parts.append(hidden.at(x, y))
        else:
            is_open = token["id"] in marks.tokens or (style and token is tokens[-1])
            parts.append(faces.draw(token, x, y, scale, "cv-can" if is_open else "", in_grid))
        widest, high = max(widest, x + wide), max(high, tall)
        x += wide * (1 - overlap) if not hidden else wide + 4
    return Block(widest, y + high, tuple(parts))


def _hidden(number: int, scale: float, width: float) -> Block:
    """Return face-down cards: a few side by side, closer if there is little room; many as a stack with their number."""
    if number > _MOST_BACKS:
        return _numbered([faces.draw_back(2.0 * k, 4 - 2.0 * k, scale) for k in range(3)], scale, number)
    step = min(CARD_WIDTH * scale * 0.36, (width - CARD_WIDTH * scale) / max(number - 1, 1))
    parts = tuple(faces.draw_back(step * k, 0, scale) for k in range(number))
    return Block(step * (number - 1) + CARD_WIDTH * scale, CARD_HEIGHT * scale, parts)


def _stack(pile: dict[str, Any], scale: float, style: str) -> Block:
    """Return the top of a pile; of one without an order, a token that the viewer knows, if there is one."""
    first_known = pile["tokens"][0] if not pile["ordered"] else pile["tokens"][-1]
    depth = min(3, pile["count"])
    under = [faces.draw_back(2.0 * k, 4 - 2.0 * k, scale) for k in range(depth)]
    x, y = 2.0 * (depth - 1), 4 - 2.0 * (depth - 1)
    if "hidden" in first_known:
        wide, high = CARD_WIDTH * scale, CARD_HEIGHT * scale
        outline = [box(x, y, wide, high, f"cv-open {style}", 5 * scale)] if style else []
        return _numbered([*under, *outline], scale, pile["count"])
    wide, high = faces.size_of(first_known, scale)
    if first_known["face"]["kind"] == "text":
        return Block(wide, high, (faces.draw(first_known, 0, 0, scale, style),))
    return Block(wide + 6, high + 6, (*under[:-1], faces.draw(first_known, x, y, scale, style)))


def _numbered(parts: list[str], scale: float, number: int) -> Block:
    """Return cards with a number on them."""
    wide, high = CARD_WIDTH * scale + 6, CARD_HEIGHT * scale + 6
    badge = circle(wide / 2, high / 2, 13 * max(scale, 0.8), "cv-card")
    return Block(wide, high, (*parts, badge, text(wide / 2, high / 2 + 4, str(number), 12, "cv-title", "middle")))


def flow(blocks: Sequence[Block], width: float, gap: float = 16, line_gap: float = GAP, centred: bool = False) -> Block:
    """Return blocks side by side, in as many lines as they need."""
    if not blocks:
        return Block(0, 0, ())
    lines: list[list[Block]] = [[]]
    x = 0.0
    for block in blocks:
        if lines[-1] and x + block.width > width:
            lines.append([])
            x = 0.0
        lines[-1].append(block)
        x += block.width + gap
    wides = [sum(block.width for block in line) + gap * (len(line) - 1) for line in lines]
    parts, y = [], 0.0
    for line, wide in zip(lines, wides, strict=True):
        x = (max(wides) - wide) / 2 if centred else 0.0
        for block in line:
            parts.append(block.at(x, y))
            x += block.width + gap
        y += max(block.height for block in line) + line_gap
    return Block(max(wides), y - line_gap, tuple(parts))
