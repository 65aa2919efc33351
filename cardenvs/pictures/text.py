"""Text in pictures: escaping, estimated widths, line breaks.

Fonts differ between viewers, so widths are estimates for a common sans-serif face, on the wide side.
"""

import functools
from typing import Any

_NARROW, _WIDE = frozenset("iljtfrI.,:;'|!()[] "), frozenset("mwMW@%")
_EM_NARROW, _EM_LOWER, _EM_UPPER, _EM_WIDE = 0.35, 0.61, 0.7, 0.92
_BOLD = 1.14
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


@functools.lru_cache(maxsize=4096)
def escaped(text: str) -> str:
    """Return text for XML, without characters that XML does not allow."""
    return "".join(char for char in text if char >= " ").translate(_ENTITIES)


@functools.lru_cache(maxsize=4096)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return the estimated width of text in a font of `size` pixels."""
    em = 0.0
    for char in text:
        if char in _NARROW:
            em += _EM_NARROW
        elif char in _WIDE:
            em += _EM_WIDE
        else:
            em += _EM_UPPER if char.isupper() or ord(char) > 0x7F else _EM_LOWER
    return em * size * (_BOLD if bold else 1)


@functools.lru_cache(maxsize=4096)
def wrapped(text: str, size: float, width: float, most: int = 99, bold: bool = False) -> tuple[str, ...]:
    """Return text in lines of at most `width` pixels and at most `most` lines, the last of which may end in "…"."""
    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and text_width(longer, size, bold) > width:
            lines.append(line)
            line = word
        else:
            line = longer
    lines.append(line)
    if len(lines) > most:
        lines = [*lines[: most - 1], cut(f"{lines[most - 1]} …", size, width, bold)]
    return tuple(cut(line, size, width, bold) for line in lines)


def cut(text: str, size: float, width: float, bold: bool = False) -> str:
    """Return text cut to `width` pixels, with "…" at its end if anything is missing."""
    if text_width(text, size, bold) <= width:
        return text
    while text and text_width(f"{text}…", size, bold) > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def acts(view: dict[str, Any], player: int) -> bool:
    """Return whether a player is to act, or cards of theirs are played for them."""
    return not view["terminal"] and view.get("turn", view["current_player"]) == player


def notes_of(view: dict[str, Any], player: int) -> list[str]:
    """Return what is true of a player, and what the game has paid them."""
    this = view["players"][player]
    notes = list(this["notes"])
    if not (this["active"] or view["terminal"] or "out" in notes):
        notes.append("out")
    if view["terminal"] or this["return"]:
        notes.append(f"return {round(this['return'], 3):+g}")
    return notes


def number_of(view: dict[str, Any], counter: dict[str, Any], player: int) -> str:
    """Return a player's number as text: "?" if it is hidden, empty if the player has none."""
    values = counter["value"]
    if not isinstance(values, list) or player >= len(values):
        return ""
    value = values[player]
    if value is None:
        return "?"
    return str(value) if value != 0 or view["players"][player]["active"] else ""  # who is out has no stack
