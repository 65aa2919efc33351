"""Earlier positions of a table, as a viewer saw them after a given number of events."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardenvs.core.beats import beats
from cardenvs.core.events import Part
from cardenvs.core.fold import fold
from cardenvs.core.game_view import write_past_view
from cardenvs.core.narration import Narrator
from cardenvs.core.state import State
from cardenvs.pictures.svg import NARROW, WIDTH, draw_parts, summary

_HELD = ("hand", "fan")  # layouts of piles that clients can sort


@dataclass
class Moment:
    """An earlier position that is not rebuilt yet. It shares no data with its table, so any thread may use it."""

    state: State  # the game at its start; `past` applies actions to it
    actions: Sequence[int]  # up to the one that caused the last event
    viewer: int  # a player, SPECTATOR or OMNISCIENT
    event: int  # number of the viewer's events up to the position, at least 1
    key: bytes  # secret from which the ids of tokens are made


def past(moment: Moment, narrow: bool) -> dict[str, Any]:
    """Return an earlier position as JSON values.

    Returns:
        the members of `drawn`; "event" and "viewer"; "current", the player to act; "said": sentences for what happened
        last; "closes": the part of the game that it ended, as a `Part`; "scores": [{"label", "values": by player}].
    """
    view, rows, closes = view_at(moment)
    state = moment.state
    scores = [{"label": "return", "values": [player["return"] for player in view["players"]]}]
    scores += [
        {"label": one["label"], "values": one["value"]}
        for one in view["counters"]
        if one["use"] in ("number", "chips") and isinstance(one["value"], list)
    ]
    narrator = Narrator(state.game, moment.viewer, state.num_players)
    return {
        "event": moment.event,
        "viewer": view["viewer"],
        "current": view["current_player"],
        "said": narrator.sentences(state.game.table.read(row) for row in rows),
        "closes": int(closes),
        "scores": scores,
        **drawn(view, narrow),
    }


def view_at(moment: Moment) -> tuple[dict[str, Any], np.ndarray, Part]:
    """Return the view of a moment, the rows of events to tell with it, and the part of the game that they end.

    Applies the actions to the moment's state.

    In the middle of an action, piles and counters are as after the events so far, and everything else is as before the
    action. `said` has the events of the beat that ends there (see `cardenvs.core.beats`), or else the last event.
    Where an action ends a hand in several beats, each beat repeats the events of those before it.
    """
    state = before = moment.state
    for number, action in enumerate(moment.actions, 1):
        if number == len(moment.actions):
            before = state.clone()
        state.apply(action)
    table = state.game.table
    rows = table.visible(state.event_log(), moment.viewer)
    first = len(table.visible(before.event_log(), moment.viewer))
    told, closes = rows[moment.event - 1 : moment.event], Part.NONE
    found = beats(table, rows, first, state.is_terminal)
    for beat in found:
        if beat.end == moment.event:
            like = [one.told_from for one in found if one.closes == beat.closes == Part.HAND]
            told, closes = rows[min([*like, beat.told_from]) : beat.told_to], beat.closes
    if moment.event == len(rows):
        return state.view(moment.viewer, moment.key) | {"prompt": "", "choices": []}, told, closes
    folded = fold(table, rows[: moment.event])
    return write_past_view(before, state, moment.viewer, folded, moment.key), told, closes


def drawn(view: dict[str, Any], narrow: bool) -> dict[str, Any]:
    """Return the picture of a view in the form that clients draw.

    Returns:
        "label", "parts", "width" and "height" of the picture; "held": for each of the viewer's hands, the visible
        tokens from left to right as [{"id", "text", "suit", "rank", "like"}, ...], which clients can sort; "like" as in
        the view, if it is there.
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
            suit = face.get("suit") or face.get("colour") or ""
            like = {"like": token["like"]} if "like" in token else {}
            found.append({"id": token["id"], "text": token["text"], "suit": suit, "rank": rank} | like)
    return found
