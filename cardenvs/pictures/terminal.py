"""A game view as text for terminals, at most 76 columns wide: what an 80-column terminal leaves inside a frame.

The text is laid out as the SVG picture is: a heading, the other players, the middle of the table, and the viewer's own
place; or, if the view's shape is "ring", the middle and then all players. A player takes one line, in columns, if all
players' lines fit.
"""

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from cardenvs.pictures.text import acts, notes_of, number_of

WIDTH = 76
_INDENT = 4  # of piles below their owner's name
_ROOM = WIDTH - _INDENT
_CELL = 13  # width of a place in a grid: five and their bars fit in a line
_GAP = 3  # columns between piles side by side
_MOST_BACKS = 14  # face-down tokens shown one by one
_BACK = "▒▒"
_GLUE = "\N{NO-BREAK SPACE}"  # keeps a fact on one line
_TALL = 4  # lines of a player's place; taller ones are set apart by an empty line
_SUIT_STYLES = {"s": "", "c": "green", "d": "blue", "h": "red"}
_MAHJONG_STYLES = {"m": "red", "p": "blue", "s": "green", "z": "bold"}
_POSES = {"": "", "sideways": "'", "atop": "''", "down": _BACK[:1]}  # behind a token; players of mahjong write 2'34
_STYLES = {"black": "bold", "orange": "yellow", "grey": "magenta", "brown": "yellow", "pink": "magenta", "white": ""}
_CODES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35}

Span = tuple[str, str]  # text and its style: a key of _CODES, or ""
Line = list[Span]


def draw_text(view: dict[str, Any], colour: bool = False) -> str:
    """Return a document from `State.view` as lines of text, with or without ANSI colours."""
    n = len(view["players"])
    bottom = view["viewer"] if isinstance(view["viewer"], int) else 0
    order = [(bottom + k) % n for k in range(1, n + 1)]
    places = _places(view, order)
    middle = _packed(_piles(view, None)) + (_sheet(view["sheet"]) if "sheet" in view else [])
    in_ring = view["shape"] == "ring"
    sections = [middle, _stacked(places)] if in_ring else [_stacked(places[:-1]), middle, places[-1]]
    lines = _heading(view)
    for section in filter(None, sections):
        lines += [[], *section]
    return "\n".join("".join(_painted(span, colour) for span in _stripped(line)) for line in lines)


def token_span(token: dict[str, Any]) -> Span:
    """Return a visible token as text and style, without what lies on it."""
    face = token["face"]
    if face["kind"] == "text":
        return face["title"], "bold" if "lines" in face else ""
    if face["kind"] == "tile":
        return token["text"], _style(face["colour"])
    if face["kind"] == "mahjong":
        return token["text"], _MAHJONG_STYLES[face["text"][-1]]
    if face["kind"] == "die":
        return token["text"], "bold"
    if "suit" in face:
        return token["text"], _SUIT_STYLES[face["suit"]]
    return token["text"], "magenta" if len(face["rank"]) > 1 else ""


# -- lines --------------------------------------------------------------------------------------------------------


def _style(colour: str) -> str:
    return _STYLES.get(colour, colour)


def _painted(span: Span, colour: bool) -> str:
    text, style = span
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if colour and style else text


def _width(line: Line) -> int:
    return sum(len(text) for text, _ in line)


def _stripped(line: Line) -> Line:
    """Return a line without spaces at its end."""
    while line and not line[-1][0].strip():
        line = line[:-1]
    return [*line[:-1], (line[-1][0].rstrip(), line[-1][1])] if line else []


def _filled(line: Line, width: int) -> Line:
    return [*line, (" " * (width - _width(line)), "")]


def _joined(pieces: Iterable[Line], gap: str) -> Line:
    line: Line = []
    for piece in pieces:
        line = [*line, (gap, "dim"), *piece] if line else list(piece)
    return line


def _flowed(head: Line, pieces: Sequence[Line], gap: str = " ", width: int = WIDTH) -> list[Line]:
    """Return pieces side by side behind `head`, in as many lines as they need, each indented as far as the first."""
    indent = _width(head)
    lines, line = [], list(head)
    for piece in pieces:
        if _width(line) > indent and _width(line) + len(gap) + _width(piece) + len(gap.rstrip()) > width:
            lines.append([*line, (gap.rstrip(), "dim")])
            line = [(" " * indent, "")]
        line = [*line, (gap, "dim"), *piece] if _width(line) > indent else [*line, *piece]
    return [*lines, line]


def _paragraph(text: str, indent: int, width: int = WIDTH, style: str = "") -> list[Line]:
    """Return a text in lines."""
    return [[(" " * indent + line, style)] for line in textwrap.wrap(text, width - indent)]


# -- heading and players ------------------------------------------------------------------------------------------


def _heading(view: dict[str, Any]) -> list[Line]:
    """Return the title, the phase, and the counters that belong to nobody; texts of several lines below them."""
    pieces: list[Line] = [[(view["title"], "bold")]]
    if view["terminal"]:
        pieces.append([("the game is over", "")])
    elif view["phase"] != "play":
        pieces.append([(view["phase"].replace("_", " "), "")])
    below: list[Line] = []
    for one in view["counters"]:
        if one["use"] not in ("number", "chips") or isinstance(one["value"], list):
            continue
        value = "?" if one["value"] is None else str(one["value"])
        if "\n" in value:
            below += [[(line, "")] for line in value.splitlines()]
        elif len(value) > WIDTH // 2:
            below += _flowed([(f"{one['label']} ", "dim")], [[(word, "")] for word in value.split()])
        else:
            pieces.append([(f"{one['label']} ", "dim"), (value, "")])
    return _flowed([], pieces, " · ") + below


def _places(view: dict[str, Any], order: Sequence[int]) -> list[list[Line]]:
    """Return the lines of each player: one, in columns, if all players' piles then fit beside their names."""
    names = _in_columns([[_name(view, player), *_numbers(view, player)] for player in order])
    notes: list[Line] = [[(", ".join(notes_of(view, player)), "")] for player in order]
    heads = [_joined(pair, "  ") for pair in zip(names, notes, strict=True)]
    piles = [_piles(view, player) for player in order]
    if all(len(pile) == 1 for found in piles for pile in found.values()):
        shown = list(dict.fromkeys(name for found in piles for name in found))
        rows = _in_columns(
            [[head, *(found[name][0] if name in found else [] for name in shown)]
             for head, found in zip(heads, piles, strict=True)]
        )  # fmt: skip
        if all(_width(row) <= WIDTH for row in rows):
            return [[row] for row in rows]
    heads_in_lines = [
        [_stripped(name), *_paragraph(words[0][0], _INDENT)] if _width(head) > WIDTH else [head]
        for name, words, head in zip(names, notes, heads, strict=True)
    ]
    return [head + _packed(found) for head, found in zip(heads_in_lines, piles, strict=True)]


def _name(view: dict[str, Any], player: int) -> Line:
    return [("▶ " if acts(view, player) else "  ", ""), (f"player_{player}", "bold")]


def _sheet(sheet: dict[str, Any]) -> list[Line]:
    """Return something that is kept in writing as columns below their headings."""
    columns = [
        [name, *(row[k] if k < len(row) else "" for row in sheet["rows"])] for k, name in enumerate(sheet["columns"])
    ]
    widths = [max(map(len, column)) for column in columns]
    rows = zip(*columns, strict=True)
    return [
        [(f"  {'  '.join(text.ljust(width) for text, width in zip(row, widths, strict=True))}", "" if k else "dim")]
        for k, row in enumerate(rows)
    ]


def _numbers(view: dict[str, Any], player: int) -> list[Line]:
    """Return a cell for each counter of the players; chips that nobody has put in are left out."""
    cells: list[Line] = []
    for one in view["counters"]:
        if one["use"] in ("number", "chips") and isinstance(one["value"], list):
            texts = [number_of(view, one, p) for p in range(len(view["players"]))]
            if one["use"] == "chips":
                texts = [text if text != "0" else "" for text in texts]
            text = texts[player].rjust(max(map(len, texts)))
            cells.append([(f"{one['label']} ", "dim"), (text, "")] if text.strip() else [])
    return cells


def _in_columns(rows: Sequence[Sequence[Line]]) -> list[Line]:
    """Return each row as a line in which the cells are aligned; columns without text are left out."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    gap: Span = ("  ", "")
    return [
        [span for cell, width in zip(row, widths, strict=True) if width for span in [*_filled(cell, width), gap]][:-1]
        for row in rows
    ]


def _stacked(places: Sequence[list[Line]]) -> list[Line]:
    """Return the places of players below each other, tall ones apart."""
    apart = any(len(place) > _TALL for place in places)
    return [line for k, place in enumerate(places) for line in ([[], *place] if apart and k else place)]


# -- piles --------------------------------------------------------------------------------------------------------


def _piles(view: dict[str, Any], owner: int | None) -> dict[str, list[Line]]:
    """Return the lines of an owner's piles by name. Empty ones of players are left out."""
    return {
        pile["name"]: _pile(pile)
        for pile in view["piles"]
        if pile["owner"] == owner and (pile["count"] or pile["layout"] == "grid" or owner is None)
    }


def _packed(piles: dict[str, list[Line]]) -> list[Line]:
    """Return piles below each other, short ones side by side, indented."""
    packed: list[Line] = []
    can_join = False
    for lines in piles.values():
        if len(lines) == 1 and can_join and _width(packed[-1]) + _GAP + _width(lines[0]) <= _ROOM:
            packed[-1] = [*packed[-1], (" " * _GAP, ""), *lines[0]]
        else:
            packed += lines
        can_join = len(lines) == 1
    return [[(" " * _INDENT, ""), *line] for line in packed]


def _pile(pile: dict[str, Any]) -> list[Line]:
    """Return the lines of a pile: its label, and its tokens as its layout wants them."""
    tokens, layout = pile["tokens"], pile["layout"]
    is_counted = layout in ("stack", "fan")
    if layout == "grid":
        return _grid(pile)
    if layout == "stack" and (not pile["ordered"] or all("hidden" in token for token in tokens)):
        return [[(f"{pile['label']} ", "dim"), (str(pile["count"]), "")]]
    head: Line = [(f"{pile['label']} ({pile['count']}) " if is_counted and tokens else f"{pile['label']} ", "dim")]
    if not is_counted and tokens and all("lines" in token.get("face", {}) for token in tokens):
        return [_stripped(head), *(line for token in tokens for line in _card(token))]
    is_text = any("title" in token.get("face", {}) for token in tokens)
    if is_counted and pile["ordered"]:
        top, *below = _shown(tokens[::-1]) or [[("-", "")]]
        return _flowed([*head, *top, (" on ", "dim")], below, width=_ROOM) if below else [_stripped([*head, *top])]
    groups = _groups(pile)
    if not groups:
        shown = _shown(tokens, 0 if is_text else _MOST_BACKS)
        return _flowed(head, shown or [[("-", "")]], ", " if is_text else " ", _ROOM)
    return _flowed(head, groups, " │ ", _ROOM)


def _groups(pile: dict[str, Any]) -> list[Line]:
    """Return the tokens of a pile by group, each behind its caption; nothing if a token is hidden."""
    tokens, sizes = pile["tokens"], pile.get("groups", [])
    if any("hidden" in token for token in tokens):
        return []
    captions = pile.get("captions", [""] * len(sizes))
    found, first = [], 0
    for size, caption in zip(sizes, captions, strict=True):
        group = _joined(_shown(tokens[first : first + size]), " ")
        found.append([(f"{caption} ", "dim"), *group] if caption else group)
        first += size
    return found


def _shown(tokens: Sequence[dict[str, Any]], most_backs: int = _MOST_BACKS) -> list[Line]:
    """Return each token with what lies on it, and face-down ones as backs, or as their number if there are more."""
    found: list[Line] = []
    for token in tokens:
        if "hidden" not in token:
            gap = " " if token["face"]["kind"] == "text" else ""
            marks = [(f"{gap}({', '.join(token['marks'])})", "")] if "marks" in token else []
            text, style = token_span(token)
            pose = _POSES[token.get("pose", "")]
            found.append([(f"{text}{pose}", style), *marks])
        elif token["hidden"] > most_backs:
            found.append([(f"{token['hidden']} x {_BACK}", "dim")])
        else:
            found += [[(_BACK, "dim")]] * token["hidden"]
    return found


def _card(token: dict[str, Any]) -> list[Line]:
    """Return a card with text: its title and short facts, and its last line below them."""
    face = token["face"]
    title: str = face["title"]
    facts: list[str] = [title, *token.get("marks", []), *face["lines"][:-1]]
    glued = [fact.replace(" ", _GLUE).replace(f",{_GLUE}", ", ") for fact in facts]
    first, *rest = _paragraph(" · ".join(glued), 2, _ROOM)
    below = first[0][0].strip().removeprefix(glued[0])
    lines: list[Line] = [[("  ", ""), (title, "bold"), (below, "")], *rest]
    return [[(text.replace(_GLUE, " "), style) for text, style in line] for line in lines] + _paragraph(
        face["lines"][-1], 4, _ROOM, "dim"
    )


def _grid(pile: dict[str, Any]) -> list[Line]:
    """Return a line with the label of a grid, and its tokens in columns: title, brief, and what lies on each."""
    title = f"─ {pile['label']} "
    cells = [_cell(token) for token in pile["tokens"]]
    rows = zip(*(cell + [[]] * (max(map(len, cells)) - len(cell)) for cell in cells), strict=True)
    lines = [_joined([_filled(part, _CELL) for part in row], "│") for row in rows]
    return [[(title.ljust(_ROOM, "─"), "")], *lines]


def _cell(token: dict[str, Any]) -> list[Line]:
    face = token["face"]
    style = _style(face.get("colour", "")) or "bold"
    below = [face["brief"]] if "brief" in face else []
    return [
        *([(line, style)] for line in textwrap.wrap(face["title"], _CELL)),
        *([(line, "")] for text in [*below, *token.get("marks", [])] for line in textwrap.wrap(text, _CELL)),
    ]
