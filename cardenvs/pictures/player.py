"""A page that plays a recorded game: pictures with a slider, step by step or by itself, and what happened.

The page holds everything it needs and asks no other host for anything. Pictures of a game repeat most of their
elements, so each element is stored once, and all of it compressed.
"""

import base64
import gzip
import html
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from cardenvs.pictures.style import css
from cardenvs.pictures.svg import SYMBOLS, WIDTH, draw_parts, framed, summary
from cardenvs.pictures.text import escaped


@dataclass(frozen=True)
class Frame:
    """One position of a recorded game.

    Attributes:
        view: the game view.
        said: what happened since the frame before, in sentences.
        notes: what an agent thought about its choice here, as JSON-compatible data.
        closes: the part of the game that has just ended, as a `Part`: 1 a trick, 2 a hand. Its result is shown for a
            while.
        ply: number of actions before it, by which a page around the player can ask for a position.
    """

    view: dict[str, Any]
    said: Sequence[str] = ()
    notes: Any = None
    closes: int = 0
    ply: int = 0


def player_page(title: str, frames: Iterable[Frame], players: Sequence[str] = (), back: str = "") -> str:
    """Return a self-contained HTML page that plays a game.

    Args:
        title: of the page.
        frames: the positions, at least one.
        players: names of the players, for the heading.
        back: address of the list of tables, if the page has a link to it.
    """
    elements: dict[str, int] = {}
    shown, last = [], None
    for frame in frames:
        parts, height = draw_parts(frame.view)
        made: dict[str, Any] = {
            "parts": [elements.setdefault(part, len(elements)) for part in parts],
            "height": round(height, 1), "label": summary(frame.view), "said": list(frame.said), "ply": frame.ply,
        }  # fmt: skip
        if frame.closes:
            made["closes"] = int(frame.closes)
        if frame.notes is not None:
            made["notes"] = frame.notes
        shown.append(made)
        last = parts, height, made["label"]
    if last is None:
        raise ValueError("a game to play needs at least one frame")
    data = json.dumps({"elements": list(elements), "frames": shown}, separators=(",", ":"))
    packed = base64.b64encode(gzip.compress(data.encode(), 9, mtime=0)).decode()
    names = ", ".join(f"player_{p} is {name}" for p, name in enumerate(players) if name != f"player_{p}")
    folder = files("cardenvs.pictures")
    page = (folder / "player.html").read_text(encoding="utf-8")
    notes = (folder / "static" / "notes.js").read_text(encoding="utf-8").replace("export function", "function")
    fields = {
        "back": f'<a href="{escaped(back)}">&lsaquo; All tables</a>' if back else "",
        "title": escaped(title), "players": escaped(names), "css": css("auto"), "symbols": SYMBOLS,
        "width": f"{WIDTH:g}", "last": framed(*last[:2], "auto", last[2], later=elements), "data": packed,
        "notes": notes,
    }  # fmt: skip
    for name, value in fields.items():
        page = page.replace(f"{{{{{name}}}}}", value)
    return page


def in_notebook(page: str, height: int = 720) -> str:
    """Return a page as HTML for the output of a notebook cell; it runs apart from the rest of the notebook."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" width="100%" height="{height}" '
        'style="border:0;max-width:980px"></iframe>'
    )
