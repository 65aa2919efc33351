"""Piles of tokens as blocks of SVG, and how blocks flow into lines."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cardenvs.pictures import faces
from cardenvs.pictures.faces import CARD_HEIGHT, CARD_WIDTH, box, circle, num, text
from cardenvs.pictures.text import escaped, text_width, wrapped

GAP = 10.0
_LABEL = 13.5  # size of the labels of piles
_MOST_BACKS = 14  # face-down cards drawn side by side; more are a stack with their number
_BACK_STEP = 0.36  # what is seen of each of them, in widths
_MOST_APART = 7  # cards of another player's hand; more are drawn closer, with their number
_COVERED_BY_STACK = 0.4  # where a card that lies crosswise under a stack begins, in widths
_FAN = 0.55  # covered part of the cards of a fan
_APART = -0.08  # the same of tokens with a gap between them
_HELD = 0.24  # covered part of the cards of a hand, at least
_MOST_LISTED = 268.0  # width of a list of cards
_BETWEEN = 0.3  # gap between the groups of a hand, in widths
_FLUSH = 1.0  # gap between tokens that lie in lines of their own length, or turned
_LARGEST_TILE, _LEAST_TILE = 60.0, 40.0  # width of a tile of a hand; if they would be smaller, the hand has two rows
_MOST_TILES = 14  # in a hand of mahjong
_READABLE = 0.4  # what must be seen of each card of a hand, in widths; else the hand has two rows
_UPPER = 0.62  # what is seen of the upper row, in heights
_COVER_X, _COVER_Y = 0.28, 0.24  # how far a card that lies on another is moved, in widths and heights
_COLUMN = 0.27  # what is seen of a card of a column below the next, in heights
_MOST_TURNED = 14.0  # degrees between the outer cards of a hand
_MAT, _MAT_LABEL = 860.0, 132.0  # width of a row of a mat, at least, and of its label
_ARC = 13.0  # how much lower the outer cards of a hand lie


@dataclass(frozen=True)
class Block:
    """Something that has been drawn at the origin and can be moved."""

    # its size
    width: float
    height: float
    parts: tuple[str, ...]  # its SVG

    def at(self, x: float, y: float) -> str:
        """Return the SVG of the block with its top left corner at (x, y)."""
        return f'<g transform="translate({num(x)} {num(y)})">{"".join(self.parts)}</g>'


@dataclass(frozen=True)
class Marks:
    """What the viewer may click: ids of tokens, and ids of piles."""

    tokens: frozenset[str]
    piles: frozenset[str]

    def style(self, token: dict[str, Any]) -> str:
        """Return the style of the outline of a token."""
        return "cv-can" if token["id"] in self.tokens else ""


def labelled(pile: dict[str, Any], scale: float, marks: Marks, width: float, cover: Any = None) -> Block:
    """Return a pile below its label; `cover` is a pile whose tokens lie on those of this one."""
    if pile["layout"] == "grid" and width >= _MAT:
        return _row_of_mat(pile, marks, width)
    if "row_length" in pile:  # what lies in lines before its owner needs no label
        return bare(pile, scale, marks, width)
    named = pile
    if cover and cover["layout"] == "stack":
        shown, named = _across(pile, cover, scale, marks, width), cover
    else:
        shown = _covered(pile, cover, scale, marks, width) if cover else tokens_of(pile, scale, marks, width)
    is_counted = named["layout"] in ("stack", "fan") and named["count"] > 1 and not _is_numbered(named)
    label = f"{named['label']} · {named['count']}" if is_counted else named["label"]
    wide = max(shown.width, min(text_width(label, _LABEL), width))
    caption = text(wide / 2, _LABEL, label, _LABEL, "cv-dim", "middle")
    return Block(wide, shown.height + _LABEL + 6, (caption, _named(pile, shown, (wide - shown.width) / 2, _LABEL + 6)))


def _row_of_mat(pile: dict[str, Any], marks: Marks, width: float) -> Block:
    """Return a grid as a row of places, with its label on the left."""
    lines = wrapped(pile["label"], _LABEL, _MAT_LABEL - 10)
    words = Block(
        _MAT_LABEL, 17.0 * len(lines),
        tuple(text(4, 16 + 17 * k, line, _LABEL, "cv-ink") for k, line in enumerate(lines)),
    )  # fmt: skip
    places = [_line([token], 1, marks, 0, width, "", True) for token in pile["tokens"]]
    style = "cv-can" if pile["id"] in marks.piles else ""
    high = max([faces.GRID_HEIGHT, *(place.height for place in places)])
    empty = Block(faces.GRID_WIDTH, high, (box(0, 0, faces.GRID_WIDTH, high, f"cv-empty {style}".strip()),))
    slots = flow([*places, *[empty] * (pile.get("slots", 0) - len(places))], width - _MAT_LABEL, 6, 6)
    return Block(width, max(high, words.height), (words.at(0, 0), _named(pile, slots, _MAT_LABEL, 0)))


def bare(pile: dict[str, Any], scale: float, marks: Marks, width: float) -> Block:
    """Return a pile without its label."""
    shown = tokens_of(pile, scale, marks, width)
    return Block(shown.width, shown.height, (_named(pile, shown, 0, 0),))


def _named(pile: dict[str, Any], shown: Block, x: float, y: float) -> str:
    return f'<g data-pile="{escaped(pile["id"])}">{shown.at(x, y)}</g>'


def tokens_of(pile: dict[str, Any], scale: float, marks: Marks, width: float) -> Block:
    """Return the tokens of a pile as its layout wants them, without its label, in lines of `width`."""
    layout = pile["layout"]
    style = "cv-can" if pile["id"] in marks.piles else ""
    if "row_length" in pile:
        return _in_lines(pile, scale, marks)
    if not pile["tokens"]:
        if layout == "grid":
            return Block(width, 10, ())
        wide, high = faces.back_size(back_of(pile), scale)
        return Block(wide, high, (box(0, 0, wide, high, f"cv-empty {style}".strip(), 5 * scale),))
    if layout in ("stack", "won"):
        return _stack(pile, scale, style)
    if layout == "grid":
        places = flow([_line([token], 1, marks, 0, width, "", True) for token in pile["tokens"]], width, 6, 6)
        return Block(width, places.height, places.parts)
    if layout == "row" and len(pile["tokens"]) > 1 and all(map(_is_title, pile["tokens"])):
        return titles(pile["tokens"], marks, width)
    if layout == "columns":
        blocks = [_column(group, scale, marks) for group in _groups(pile)]
    elif _lies_flush(pile):
        blocks = _even([_flush(group, back_of(pile), scale, marks, width) for group in _groups(pile)])
    else:
        blocks = [
            _line(group, scale, marks, _overlap(pile, group, scale, width), width, style) for group in _groups(pile)
        ]
    if len(blocks) == len(pile.get("captions", [])):
        blocks = [_captioned(caption, block) for caption, block in zip(pile["captions"], blocks, strict=True)]
    return flow(blocks, width, 16 * scale, 8 * scale)


def _is_title(token: dict[str, Any]) -> bool:
    """Return whether a token is a card with nothing but a title."""
    return "id" in token and token["face"]["kind"] == "text" and not token["face"].get("lines")


def titles(tokens: Sequence[dict[str, Any]], marks: Marks, width: float) -> Block:
    """Return cards with text as lines of a list, which show their titles and marks only."""
    wide = min(max(map(faces.list_width, tokens)), _MOST_LISTED, width)
    step = faces.LIST_HEIGHT
    parts = [faces.draw_in_list(token, step * k, wide, marks.style(token)) for k, token in enumerate(tokens)]
    return Block(wide, step * len(tokens), tuple(parts))


def listed(pile: dict[str, Any], scale: float, marks: Marks, width: float) -> Block:
    """Return a pile of cards with text in little room, below its label: titles, and how many lie face down."""
    seen = [token for token in pile["tokens"] if "id" in token]
    number = pile["count"] - len(seen)
    hidden = backs(number, scale) if number else Block(0, 0, ())
    shown = titles(seen, marks, width)
    both = flow([shown, hidden] if number else [shown], width, 8)
    caption = text(0, _LABEL, pile["label"], _LABEL, "cv-dim")
    return Block(both.width, both.height + _LABEL + 6, (caption, _named(pile, both, 0, _LABEL + 6)))


def is_text(pile: dict[str, Any]) -> bool:
    """Return whether a pile shows cards with text."""
    return any("id" in token and token["face"]["kind"] == "text" for token in pile["tokens"])


def _captioned(caption: str, block: Block) -> Block:
    """Return a block below its caption."""
    parts = (text(0, _LABEL, caption, _LABEL, "cv-dim"), block.at(0, _LABEL + 4))
    return Block(max(block.width, text_width(caption, _LABEL)), block.height + _LABEL + 4, parts)


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


def _overlap(pile: dict[str, Any], tokens: list[dict[str, Any]], scale: float, width: float) -> float:
    """Return the covered part of each token of a line. Those of a trick lie as far apart as they can in few lines."""
    if pile["layout"] in ("fan", "hand") and not is_text(pile):
        return _FAN
    if pile["layout"] != "trick" or is_text(pile) or len(tokens) < 2 or any("hidden" in token for token in tokens):
        return _APART
    wide = max(faces.size_of(token, scale)[0] for token in tokens)
    free = max(width / wide - 1 - 1e-6, 0.0)  # for the steps from one token to the next, in widths
    num_lines = -(-len(tokens) // (1 + int(free / _READABLE)))
    steps = -(-len(tokens) // num_lines) - 1
    return max(1 - free / steps, _APART) if steps else _APART


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
            is_top = style and token is tokens[-1]
            parts.append(faces.draw(token, x, y, scale, "cv-can" if is_top else marks.style(token), in_grid))
        widest, high = max(widest, x + wide), max(high, tall)
        x += wide * (1 - overlap) if not hidden else wide + 4
    return Block(widest, y + high, tuple(parts))


def _lies_flush(pile: dict[str, Any]) -> bool:
    """Return whether the tokens of a pile touch one another: mahjong tiles do, and what lies beside a turned token."""
    return back_of(pile) == "mahjong" or any("pose" in token for token in pile["tokens"])


def _in_lines(pile: dict[str, Any], scale: float, marks: Marks) -> Block:
    """Return a pile in lines of a fixed number of tokens, with room for all its places, one turned in each line."""
    back, number = back_of(pile), pile["row_length"]
    tokens = _one_by_one(pile["tokens"], back)
    lines = [_flush(tokens[k : k + number], back, scale, marks, math.inf) for k in range(0, len(tokens), number)]
    wide, high = faces.size_of({"back": back}, scale)
    room = (wide + _FLUSH) * (number - 1) + max(wide, high)
    least = -(-pile.get("slots", 0) // number)
    parts = tuple(line.at(0, (high + _FLUSH) * k + high - line.height) for k, line in enumerate(lines))
    return Block(max([room, *(line.width for line in lines)]), (high + _FLUSH) * max(len(lines), least), parts)


def _one_by_one(tokens: Sequence[dict[str, Any]], back: str) -> list[dict[str, Any]]:
    """Return tokens with each face-down one by itself."""
    found: list[dict[str, Any]] = []
    for token in tokens:
        found += [{"hidden": 1, "back": back}] * token["hidden"] if "hidden" in token else [token]
    return found


def _flush(tokens: Sequence[dict[str, Any]], back: str, scale: float, marks: Marks, width: float) -> Block:
    """Return tokens that touch one another and may lie sideways, in as many lines as they need, each on one base."""
    placed: list[tuple[dict[str, Any], float, float]] = []  # a token, its left side, and how far it is above the base
    lines, x, beyond = [], 0.0, 0.0
    for token in _one_by_one(tokens, back):
        wide, high = faces.size_of(token, scale)
        if token.get("pose") == "atop" and placed:
            placed.append((token, placed[-1][1], beyond))
            beyond += high
            continue
        if placed and x + wide > width:
            lines.append(_on_base(placed, scale, marks))
            placed, x = [], 0.0
        placed.append((token, x, 0.0))
        x, beyond = x + wide + _FLUSH, high
    return flow([*lines, _on_base(placed, scale, marks)], 0, line_gap=4)


def _on_base(placed: Sequence[tuple[dict[str, Any], float, float]], scale: float, marks: Marks) -> Block:
    """Return a line of tokens whose lower sides lie on one line, but for those beyond another one."""
    sizes = [faces.size_of(token, scale) for token, _, _ in placed]
    height = max(above + high for (_, _, above), (_, high) in zip(placed, sizes, strict=True))
    parts = []
    for (token, x, above), (_, high) in zip(placed, sizes, strict=True):
        y = height - above - high
        if "hidden" in token:
            parts.append(faces.draw_back(x, y, scale, token["back"]))
        else:
            parts.append(faces.draw(token, x, y, scale, marks.style(token)))
    width = max(x + wide for (_, x, _), (wide, _) in zip(placed, sizes, strict=True))
    return Block(width, height, tuple(parts))


def _even(blocks: Sequence[Block]) -> list[Block]:
    """Return blocks as high as the highest one, each at the bottom of its room."""
    height = max(block.height for block in blocks)
    return [
        Block(block.width, height, block.parts if block.height == height else (block.at(0, height - block.height),))
        for block in blocks
    ]


def _column(tokens: list[dict[str, Any]], scale: float, marks: Marks) -> Block:
    """Return tokens below one another, each of which covers most of the one above."""
    parts, y = [], 0.0
    for token in tokens:
        shown = faces.draw(token, 0, y, scale, marks.style(token)) if "id" in token else faces.draw_back(0, y, scale)
        parts.append(shown)
        y += CARD_HEIGHT * scale * _COLUMN
    return Block(CARD_WIDTH * scale, y + CARD_HEIGHT * scale * (1 - _COLUMN), tuple(parts))


def _covered(pile: dict[str, Any], cover: dict[str, Any], scale: float, marks: Marks, width: float) -> Block:
    """Return the tokens of a pile in a row, each with the token of another pile that lies on it."""
    right, down = CARD_WIDTH * scale * _COVER_X, CARD_HEIGHT * scale * _COVER_Y
    pairs = []
    for k, token in enumerate(pile["tokens"]):
        parts = [faces.draw(token, 0, 0, scale, marks.style(token))]
        if k < len(cover["tokens"]):
            parts.append(faces.draw(cover["tokens"][k], right, down, scale, marks.style(cover["tokens"][k])))
        pairs.append(Block(CARD_WIDTH * scale + right, CARD_HEIGHT * scale + down, tuple(parts)))
    return flow(pairs, width, 14 * scale, GAP) if pairs else tokens_of(pile, scale, marks, width)


def _across(pile: dict[str, Any], stack: dict[str, Any], scale: float, marks: Marks, width: float) -> Block:
    """Return the one card of a pile, crosswise under a stack."""
    if not pile["tokens"]:
        return tokens_of(stack, scale, marks, width)
    wide, high, left = CARD_WIDTH * scale, CARD_HEIGHT * scale, CARD_WIDTH * scale * _COVERED_BY_STACK
    above = bare(stack, scale, marks, width) if stack["count"] else Block(0, high, ())
    card = faces.draw(pile["tokens"][0], 0, 0, scale, marks.style(pile["tokens"][0]))
    turned = f'<g transform="translate({num(left + high)} {num((above.height - wide) / 2)}) rotate(90)">{card}</g>'
    return Block(left + high, above.height, (turned, *above.parts))


def back_of(pile: dict[str, Any]) -> str:
    """Return the kind of back that the tokens of a pile have: "card" or "mahjong"."""
    kind: str = pile.get("back", "card")
    return kind


def hidden_tiles(number: int, scale: float) -> Block:
    """Return another player's mahjong tiles side by side, in the same space however many there are."""
    wide, high = faces.back_size("mahjong", scale)
    step = wide + _FLUSH / 2
    parts = tuple(faces.draw_back(step * k, 0, scale, "mahjong") for k in range(number))
    return Block(step * max(number, _MOST_TILES), high, parts)


def hidden_dice(number: int, scale: float) -> Block:
    """Return another player's dice side by side."""
    step = faces.DIE * scale * 1.15
    return Block(
        step * number, faces.DIE * scale, tuple(faces.draw_hidden_die(step * k, 0, scale) for k in range(number))
    )


def backs(number: int, scale: float) -> Block:
    """Return the face-down hand of another player, in the same space however many cards it has."""
    wide, high = CARD_WIDTH * scale, CARD_HEIGHT * scale
    room = wide * (1 + _BACK_STEP * (_MOST_APART - 1))
    step = min(wide * _BACK_STEP, (room - wide) / max(number - 1, 1))
    parts = [faces.draw_back(step * k, 0, scale) for k in range(number)]
    if number > _MOST_APART:
        parts += _number(room / 2, high / 2, number)
    return Block(room, high, tuple(parts))


def hand(pile: dict[str, Any], scale: float, marks: Marks, width: float) -> Block:
    """Return a player's own hand: playing cards as a fan that opens as far as `width` allows, mahjong tiles standing
    side by side, other tokens in lines.

    Each token has a slot, a group of its own, so that clients can sort a hand by exchanging what is in the slots.
    """
    tokens = [token for token in pile["tokens"] if "id" in token]
    if len(tokens) < len(pile["tokens"]) or not tokens:
        return tokens_of(pile, scale, marks, width)
    if back_of(pile) == "mahjong":
        return _standing(_groups(pile), marks, width)
    if any(token["face"]["kind"] != "card" for token in tokens):
        scale = min(scale, 1.25)
        placed = [(token, faces.size_of(token, scale)) for token in tokens]
        blocks = [Block(*size, (_slot(token, marks, scale, "translate(0 0)"),)) for token, size in placed]
        return flow(blocks, width, 6, 8)
    groups, wide = _groups(pile), CARD_WIDTH * scale
    gaps, swing = (len(groups) - 1) * wide * _BETWEEN, _swing(len(tokens), scale, is_arched(pile))
    if len(tokens) < 2 or (width - wide - gaps - 2 * swing) / (len(tokens) - 1) >= wide * _READABLE:
        return _fan(groups, scale, marks, width, is_arched(pile))
    upper, lower = (_fan(half, scale, marks, width, is_arched(pile)) for half in _halves(groups))
    down = CARD_HEIGHT * scale * _UPPER
    parts = (upper.at((width - upper.width) / 2, 0), lower.at((width - lower.width) / 2, down))
    return Block(width, down + lower.height, parts)


def _standing(groups: list[list[dict[str, Any]]], marks: Marks, width: float) -> Block:
    """Return mahjong tiles side by side, in two rows if they would be too small; a full hand fits into `width`."""
    held = sum(map(len, groups))
    rows, most = [groups], max(held, _MOST_TILES)
    if width / (most + _BETWEEN) < _LEAST_TILE:
        most = -(-most // 2)
        rows = _halves(groups) if held > most else rows
    scale = min(width / (most + _BETWEEN) - _FLUSH, _LARGEST_TILE) / faces.MAHJONG_WIDTH
    return flow([_standing_row(row, scale, marks) for row in rows], 0, line_gap=6, centred=True)


def _standing_row(groups: list[list[dict[str, Any]]], scale: float, marks: Marks) -> Block:
    wide, high = faces.back_size("mahjong", scale)
    parts, x = [], 0.0
    for group in groups:
        for token in group:
            parts.append(_slot(token, marks, scale, f"translate({num(x)} 0)"))
            x += wide + _FLUSH
        x += wide * _BETWEEN
    return Block(x - wide * _BETWEEN - _FLUSH, high, tuple(parts))


def _halves(groups: list[list[dict[str, Any]]]) -> list[list[list[dict[str, Any]]]]:
    """Return the groups of a hand in two halves: between two groups, if that is near the middle."""
    ends = list(itertools.accumulate(map(len, groups)))
    total = ends[-1]
    cut = min(ends[:-1], key=lambda end: abs(2 * end - total), default=0)
    if abs(2 * cut - total) > total / 3:
        cut = (total + 1) // 2
    starts = [end - len(group) for end, group in zip(ends, groups, strict=True)]
    upper = [group[: max(cut - start, 0)] for start, group in zip(starts, groups, strict=True)]
    lower = [group[max(cut - start, 0) :] for start, group in zip(starts, groups, strict=True)]
    return [[group for group in half if group] for half in (upper, lower)]


def is_arched(pile: dict[str, Any]) -> bool:
    """Return whether the cards of a hand lie in an arch: those in groups lie straight."""
    return not pile.get("groups")


def _fan(groups: list[list[dict[str, Any]]], scale: float, marks: Marks, width: float, arched: bool) -> Block:
    tokens, gaps = [token for group in groups for token in group], len(groups) - 1
    wide, high = CARD_WIDTH * scale, CARD_HEIGHT * scale
    gap = wide * _BETWEEN
    turn, swing = _turn(len(tokens), arched), _swing(len(tokens), scale, arched)
    step = wide * (1 - _HELD)
    if len(tokens) > 1:
        step = min(step, (width - wide - gaps * gap - 2 * swing) / (len(tokens) - 1))
    middle = (len(tokens) - 1) / 2
    lower = 0.0 if turn else (fan_height(scale, arched) - high - 4) / 2
    parts, x, k = [], swing, 0
    for group in groups:
        for token in group:
            side = (k - middle) / middle if middle else 0.0
            placed = f"translate({num(x)} {num(_ARC * side * side * bool(turn) + lower + 4)})"
            if turn:
                placed += f" rotate({num(turn * (k - middle))} {num(wide / 2)} {num(high)})"
            parts.append(_slot(token, marks, scale, placed))
            x, k = x + step, k + 1
        x += gap
    return Block(x - gap - step + wide + swing, fan_height(scale, arched), tuple(parts))


def _turn(count: int, arched: bool) -> float:
    """Return the degrees between neighbours in a hand of `count` cards."""
    return min(_MOST_TURNED / (count - 1), 3.0) if arched and count > 2 else 0.0


def _swing(count: int, scale: float, arched: bool) -> float:
    """Return how far the outer cards of a hand lean out, as they turn about the middle of their lower edge."""
    turned = math.radians(_turn(count, arched) * (count - 1) / 2)
    return CARD_WIDTH * scale / 2 * (math.cos(turned) - 1) + CARD_HEIGHT * scale * math.sin(turned)


def fan_height(scale: float, arched: bool) -> float:
    """Return the height of a hand of cards, with room for the outer ones of an arch, however many it has."""
    if not arched:
        return CARD_HEIGHT * scale + 4
    side = math.radians(_MOST_TURNED / 2)
    return CARD_HEIGHT * scale * (2 - math.cos(side)) + CARD_WIDTH * scale / 2 * math.sin(side) + _ARC + 4


def _slot(token: dict[str, Any], marks: Marks, scale: float, placed: str) -> str:
    return f'<g data-slot="" transform="{placed}">{faces.draw(token, 0, 0, scale, marks.style(token))}</g>'


def _hidden(number: int, scale: float, width: float) -> Block:
    """Return face-down cards: a few side by side, closer if there is little room; many as a stack with their number."""
    if number > _MOST_BACKS:
        return _numbered([faces.draw_back(2.0 * k, 4 - 2.0 * k, scale) for k in range(3)], scale, number)
    step = min(CARD_WIDTH * scale * _BACK_STEP, (width - CARD_WIDTH * scale) / max(number - 1, 1))
    parts = tuple(faces.draw_back(step * k, 0, scale) for k in range(number))
    return Block(step * (number - 1) + CARD_WIDTH * scale, CARD_HEIGHT * scale, parts)


def _stack(pile: dict[str, Any], scale: float, style: str) -> Block:
    """Return a pile of which the top is seen, or, face down, how many it has."""
    depth, kind = min(3, pile["count"]), back_of(pile)
    under = [faces.draw_back(2.0 * k, 4 - 2.0 * k, scale, kind) for k in range(depth)]
    x, y = 2.0 * (depth - 1), 4 - 2.0 * (depth - 1)
    if _is_numbered(pile):
        wide, high = faces.back_size(kind, scale)
        outline = [box(x, y, wide, high, f"cv-open {style}", 5 * scale)] if style else []
        return _numbered([*under, *outline], scale, pile["count"], kind)
    top = _top(pile)
    scale *= max(1.0, faces.back_size(kind, scale)[1] / faces.size_of(top, scale)[1])  # as large as the backs below it
    wide, high = faces.size_of(top, scale)
    return Block(wide + 6, high + 6, (*under[:-1], faces.draw(top, x, y, scale, style)))


def _top(pile: dict[str, Any]) -> dict[str, Any]:
    """Return the top of a pile; of one without an order, a token that the viewer knows, if there is one."""
    top: dict[str, Any] = pile["tokens"][-1 if pile["ordered"] else 0]
    return top


def _is_numbered(pile: dict[str, Any]) -> bool:
    """Return whether a stack is drawn face down with its number: cards with text would take much room."""
    if pile["layout"] not in ("stack", "won") or not pile["tokens"]:
        return False
    top = _top(pile)
    return pile["layout"] == "won" or "hidden" in top or top["face"]["kind"] == "text"


def _numbered(parts: list[str], scale: float, number: int, kind: str = "card") -> Block:
    """Return face-down tokens with a number on them."""
    wide, high = faces.back_size(kind, scale)
    return Block(wide + 6, high + 6, (*parts, *_number(wide / 2 + 3, high / 2 + 3, number)))


def _number(x: float, y: float, number: int) -> list[str]:
    return [circle(x, y, 13, "cv-count"), text(x, y + 4.5, str(number), 13, "cv-title", "middle")]


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
