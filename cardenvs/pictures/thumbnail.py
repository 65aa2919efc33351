"""A game view as a small picture: the middle of the table and the viewer's hand, without names and labels."""

import itertools
from collections.abc import Sequence
from typing import Any

from cardenvs.pictures.faces import CARD_HEIGHT, SYMBOLS, box, circle, num, text
from cardenvs.pictures.mahjong_tiles import symbols_in
from cardenvs.pictures.piles import Block, Marks, flow, tokens_of
from cardenvs.pictures.style import checked_theme, css
from cardenvs.pictures.text import escaped, text_width

WIDTH, HEIGHT = 480.0, 240.0
_MARGIN = 16.0
_LARGEST = 1.4  # scale of what has much room
_MOST_SIDE_BY_SIDE = 8  # cards; more overlap
_MOST_IN_SETS = 16
_LINES = (280, 360, 440, 560, 700, 900, 1200, 1600)  # lengths of a line to try
_NO_MARKS = Marks(frozenset(), frozenset())


def draw_thumbnail(view: dict[str, Any], theme: str = "light") -> str:
    """Return a small SVG picture of a document from `State.view`, twice as wide as high, for lists of games.

    `theme` is "light", "dark", or "auto" for what the reader's system prefers; others raise ValueError.
    """
    checked_theme(theme)
    middle, hand = _piles(view)
    room = (HEIGHT - 3 * _MARGIN) / 2
    drawn = _fitted(middle, _chips(view), _MARGIN, room) + _fitted(hand, [], 2 * _MARGIN + room, room)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {num(WIDTH)} {num(HEIGHT)}" width="100%" '
        f'class="cv cv-{theme}" role="img" aria-label="{escaped(view["title"])}"><style>{css(theme)}</style>'
        f"<defs>{SYMBOLS}{symbols_in(drawn)}</defs>{box(1, 1, WIDTH - 2, HEIGHT - 2, 'cv-felt', 16)}{drawn}</svg>"
    )


def _piles(view: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the piles between the players, and the viewer's hand or else what the viewer has laid out."""
    own = view["viewer"] if isinstance(view["viewer"], int) else 0
    middle, hand, grids = [], [], []
    for pile in view["piles"]:
        is_own, layout = pile["owner"] == own, pile["layout"]
        if is_own and pile["name"] == "hand" and pile["count"]:
            hand.append(_shortened(pile))
        elif is_own and layout == "grid":
            grids.append(pile)
        elif _is_laid_before(pile, is_own) or (pile["owner"] is None and (pile["count"] or layout != "stack")):
            middle.append(_shortened(pile))
    texts = [pile for pile in middle if "text" in _kinds(pile)]
    best = max(texts, key=lambda pile: (pile["owner"] is None, pile["layout"] == "row", -pile["count"]), default=None)
    middle = [pile for pile in middle if pile not in texts or pile is best]  # text needs room
    birds = [token for pile in grids for token in pile["tokens"]]
    return middle, hand or ([grids[0] | {"tokens": birds, "count": len(birds)}] if birds else [])


def _is_laid_before(pile: dict[str, Any], is_own: bool) -> bool:
    """Whether a player has laid a pile before them: a card of the trick, a dummy's hand, the viewer's own melds."""
    is_laid = pile["name"] == "hand" or pile["layout"] == "row" or (is_own and pile["layout"] == "sets")
    return is_laid and bool(_kinds(pile)) and "" not in _kinds(pile)


def _kinds(pile: dict[str, Any]) -> set[str]:
    """Return the kinds of a pile's tokens: "card", "tile", "text", or "" for face-down ones."""
    return {"" if "hidden" in token else token["face"]["kind"] for token in pile["tokens"]}


def _shortened(pile: dict[str, Any]) -> dict[str, Any]:
    """Return a pile as a thumbnail shows it: many cards overlap, and only the first sets are shown."""
    if pile["count"] <= _MOST_SIDE_BY_SIDE or _kinds(pile) != {"card"} or pile["layout"] not in ("hand", "sets"):
        return pile
    if pile["layout"] == "hand":
        return pile | {"layout": "fan"}
    ends = [end for end in itertools.accumulate(pile["groups"]) if end <= _MOST_IN_SETS]
    return pile | {"layout": "fan", "tokens": pile["tokens"][: ends[-1]], "groups": pile["groups"][: len(ends)]}


def _chips(view: dict[str, Any]) -> list[Block]:
    """Return what the players have put in."""
    found = []
    for one in view["counters"]:
        values = one["value"] if isinstance(one["value"], list) else [one["value"]]
        for value in values if one["use"] == "chips" else ():
            if value:
                radius = max(18.0, text_width(str(value), 15) / 2 + 6)
                shown = text(radius, CARD_HEIGHT / 2 + 5, str(value), 15, "cv-chip-text", "middle")
                parts = (circle(radius, CARD_HEIGHT / 2, radius, "cv-chip"), shown)
                found.append(Block(2 * radius, CARD_HEIGHT, parts))
    return found


def _fitted(piles: Sequence[dict[str, Any]], more: Sequence[Block], y: float, height: float) -> str:
    """Return piles and other blocks as large as a band of the picture allows."""
    if not piles and not more:
        return ""
    tried = []
    for length in _LINES:
        block = flow([*(tokens_of(pile, 1.0, _NO_MARKS, length) for pile in piles), *more], length, centred=True)
        scale = min((WIDTH - 2 * _MARGIN) / block.width, height / block.height, _LARGEST)
        tried.append((scale, -length, block))
    scale, _, block = max(tried, key=lambda one: one[:2])
    x, y = (WIDTH - scale * block.width) / 2, y + (height - scale * block.height) / 2
    return f'<g transform="translate({num(x)} {num(y)}) scale({scale:.3f})">{"".join(block.parts)}</g>'
