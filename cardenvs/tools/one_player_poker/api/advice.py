"""Hints and traces: the rule agent's choices, based on what the player knows, and their reasons.

A trace follows the player's own actions and ends where the player has stopped. The rule agent's own game on the same
deck would reveal cards to come, because its choices depend on the cards that it draws.
"""

from collections.abc import Sequence
from typing import Any

from cardenvs.core.state import State
from cardenvs.games.one_player_poker.heuristic import RULES, recommended
from cardenvs.tools.one_player_poker.api.session import ACTIONS, Session

POLICY = "heuristic_v1"
_KEY = "ai.reason.heuristic"
_FIELDS = ("recommended_action", "explanation_key", "params")


def hint(state: State) -> dict[str, Any]:
    """Return the rule agent's action in a position that is not terminal, with its reason."""
    action, rule, chance = recommended(state.record)
    params: dict[str, Any] = {"rule": RULES[int(rule)]}
    if chance < 1:
        params["chance"] = round(float(chance), 4)
    return {"recommended_action": action_json(int(action)), "explanation_key": _KEY, "params": params}


def rule_agent_points(state: State) -> int:
    """Let the rule agent play a game to its end. Return its model points."""
    while not state.is_terminal:
        state.apply(int(recommended(state.record)[0]))
    return int(state.record.model_score)


def trace(session: Session, made: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """Return the hints at all positions that the player has seen, including those undone by a jump.

    `made` has steps of the rule agent's own game on the same deck, prepared in advance. They are used as long as the
    player's actions are the same; later steps concern cards that the player has not seen.
    """
    steps: list[dict[str, Any]] = []
    state, follows = session.at(0).state(), True
    for step, action in enumerate((*session.history, None)):
        if state.is_terminal:
            break
        follows = follows and step < len(made)
        advice = {name: made[step][name] for name in _FIELDS} if follows else hint(state)
        steps.append({"step_index": step, **advice})
        if action is not None:
            follows = follows and advice["recommended_action"] == action_json(action)
            state.apply(action)
    return steps


def action_json(action: int) -> dict[str, Any]:
    """Return an action as a JSON value of the API."""
    kind, positions = ACTIONS[action]
    return {"type": kind, "selected_indices": list(positions)}
