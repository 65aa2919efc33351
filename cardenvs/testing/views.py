"""Checks of what people and clients get: views against their schema, and intents against the actions they stand for."""

import functools
from typing import Any

from cardenvs.core.errors import IllegalActionError, require
from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.core.game_view import game_view_schema
from cardenvs.core.intents import intent_of, resolve
from cardenvs.core.state import State
from cardenvs.testing.case import Case, fail

_KEYS = (b"one table", b"another table")
_MOST_CHOICES = 20  # whose intents are tried in a position


def check_views(case: Case, state: State) -> None:
    """Check the views of all viewers, and that every legal action has an intent that leads back to it."""
    for viewer in (*range(state.num_players), SPECTATOR, OMNISCIENT):
        view = state.view(viewer, _KEYS[0])
        if errors := sorted(_validator().iter_errors(view), key=str):
            where = "/".join(str(part) for part in errors[0].instance_path)
            fail(case, state, f"the view of {viewer} does not fit the schema at {where}: {errors[0].message}")
        _check_ids(case, state, view)
        _check_counts(case, state, view)
    if not state.is_terminal:
        _check_intents(case, state)


def _check_ids(case: Case, state: State, view: dict[str, Any]) -> None:
    ids = _ids_in(view)
    if len(set(ids)) < len(ids):
        fail(case, state, f"two tokens in the view of {view['viewer']} have the same id")
    for choice in view["choices"]:
        if missing := set(choice.get("tokens", [])) - set(ids):
            fail(case, state, f"choice {choice['label']!r} names tokens that the view does not show: {missing}")
        places = {choice[name] for name in ("source", "target") if name in choice}
        if missing := places - {pile["id"] for pile in view["piles"]}:
            fail(case, state, f"choice {choice['label']!r} names piles that the view does not show: {missing}")
    if set(ids) & set(_ids_in(state.view(_number(view), _KEYS[1]))):
        fail(case, state, "ids of tokens are the same at two tables")


def _ids_in(view: dict[str, Any]) -> list[str]:
    return [token["id"] for pile in view["piles"] for token in pile["tokens"] if "id" in token]


def _number(view: dict[str, Any]) -> int:
    viewer: int | str = view["viewer"]
    return {"spectator": SPECTATOR, "everything": OMNISCIENT}[viewer] if isinstance(viewer, str) else viewer


def _check_counts(case: Case, state: State, view: dict[str, Any]) -> None:
    for pile in view["piles"]:
        number = sum(token.get("hidden", 1) for token in pile["tokens"])
        if number != pile["count"] or sum(pile.get("groups", [number])) != number:
            groups = pile.get("groups")
            fail(case, state, f"pile {pile['id']} has {number} tokens, count {pile['count']}, groups {groups}")


def _check_intents(case: Case, state: State) -> None:
    player = state.current_player
    view = state.view(player)
    for choice in view["choices"][:: max(1, len(view["choices"]) // _MOST_CHOICES)]:
        action, label = choice["action"], choice["label"]
        for intent in ({"action": action}, {"action": label}):
            if resolve(state, player, intent) != action:
                fail(case, state, f"the intent {intent} does not lead back to action {action}")
        move = intent_of(choice)
        try:
            meant = resolve(state, player, move)
        except IllegalActionError as error:
            if repr(label) not in str(error) and "that may be" not in str(error):
                fail(case, state, f"the move of {label!r}, {move}, is refused: {error}")
            continue
        if meant != action:
            fail(case, state, f"the move of {label!r}, {move}, leads to action {meant}, not {action}")


@functools.cache
def _validator() -> Any:
    require("jsonschema_rs", "test")
    from jsonschema_rs import Draft202012Validator  # a hundred times faster than jsonschema

    return Draft202012Validator(game_view_schema())
