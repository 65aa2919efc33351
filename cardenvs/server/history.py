"""Earlier positions of a table: what a viewer saw after the first of its events."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardenvs.core.events import KIND, Part
from cardenvs.core.game_view import write_folded_view
from cardenvs.core.narration import Narrator
from cardenvs.core.state import State
from cardenvs.pictures.svg import NARROW, WIDTH, draw_parts, summary

_HELD = ("hand", "fan")  # layouts of piles that a client may sort


@dataclass
class Moment:
    """Everything that an earlier position is made from. Nothing else uses it, so any thread may.

    Attributes:
        state: the game at its start; `past` moves it on.
        actions: up to the one that the last event belongs to.
        viewer: a player, SPECTATOR or OMNISCIENT.
        event: number of the viewer's events so far, at least 1.
        key: makes the ids of tokens.
    """

    state: State
    actions: Sequence[int]
    viewer: int
    event: int
    key: bytes


def past(moment: Moment, narrow: bool) -> dict[str, Any]:
    """Return an earlier position as JSON values.

    Returns:
        the members of `drawn`, "event", "viewer", "said": sentences of the last event, or of all events that ended a
        hand; and "scores": [{"label", "values": by player}, ...].
    """
    state, viewer = moment.state, moment.viewer
    view, rows = view_at(moment)
    told = [state.game.table.read(row) for row in _last(rows, state)]
    scores = [{"label": "return", "values": [player["return"] for player in view["players"]]}]
    scores += [
        {"label": one["label"], "values": one["value"]}
        for one in view["counters"]
        if one["use"] in ("number", "chips") and isinstance(one["value"], list)
    ]
    return {
        "event": moment.event,
        "viewer": view["viewer"],
        "said": Narrator(state.game, viewer, state.num_players).sentences(told),
        "scores": scores,
        **drawn(view, narrow),
    }


def view_at(moment: Moment) -> tuple[dict[str, Any], np.ndarray]:
    """Return the view of a moment, and the viewer's events up to it as rows; the state moves on to its actions.

    In the middle of an action the table is as its events so far leave it, and all else as before the action.
    """
    state = before = moment.state
    for number, action in enumerate(moment.actions, 1):
        if number == len(moment.actions):
            before = state.clone()
        state.apply(action)
    seen = state.game.table.visible(state.event_log(), moment.viewer)
    rows = seen[: moment.event]
    at = state if len(rows) == len(seen) else before
    return write_folded_view(at, moment.viewer, rows, moment.key), rows


def drawn(view: dict[str, Any], narrow: bool) -> dict[str, Any]:
    """Return the picture of a view as clients draw it.

    Returns:
        "label", "parts", "width" and "height" of the picture, and "held": the visible tokens of the viewer's hands as
        [{"id", "suit", "rank"}, ...], from left to right, for each hand, so that a client may sort them.
    """
    across = NARROW if narrow else WIDTH
    parts, height = draw_parts(view, across)
    return {
        "label": summary(view),
        "parts": "".join(parts),
        "width": across,
        "height": round(height, 1),
        "held": [_held(pile) for pile in view["piles"] if pile["layout"] in _HELD and pile["owner"] == view["viewer"]],
    }


def _held(pile: dict[str, Any]) -> list[dict[str, str]]:
    found = []
    for token in pile["tokens"]:
        if "id" in token:
            face = token["face"]
            rank = face.get("rank") or face.get("text") or face["title"]
            found.append({"id": token["id"], "suit": face.get("suit") or face.get("colour") or "", "rank": rank})
    return found


def _last(rows: np.ndarray, state: State) -> np.ndarray:
    """Return the last event; where a hand ends, all that end it."""
    ends = np.array([kind.closes == Part.HAND for kind in state.game.table.kinds])[rows[:, KIND]]
    others = np.flatnonzero(~ends)
    first = others[-1] + 1 if len(others) else 0
    return rows[min(first, len(rows) - 1) :]
