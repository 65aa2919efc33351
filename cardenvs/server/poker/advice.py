"""Hints and traces: what the rule agent would do, from what the player knows, and why.

A trace follows the player's own actions, and reaches no further than the player has seen. A line of play of its own on
the same deck would tell which cards come: the places of the cards that it takes depend on them.
"""

from collections.abc import Sequence
from typing import Any

from cardenvs.core.state import State
from cardenvs.games.one_player_poker.heuristic import RULES, recommended
from cardenvs.server.poker.session import POSITIONS, Session

POLICY = "heuristic_v1"
_KEY = "ai.reason.heuristic"
_FIELDS = ("recommended_action", "explanation_key", "params")


def hint(state: State) -> dict[str, Any]:
    """Return the rule agent's action in a position where the player is to act, with its reason."""
    action, rule, chance = recommended(state.record)
    params: dict[str, Any] = {"rule": RULES[int(rule)]}
    if chance < 1:
        params["chance"] = round(float(chance), 4)
    return {
        "recommended_action": action_json(int(action)),
        "explanation_key": _KEY,
        "params": params,
    }


def rule_agent_points(state: State) -> int:
    """Play a game to its end by the rule agent; return its model points."""
    while not state.is_terminal:
        state.apply(int(recommended(state.record)[0]))
    return int(state.record.model_score)


def trace(session: Session, made: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """Return the hints at every position that the player has seen, also at those behind a jump.

    Args:
        session: the game.
        made: steps of a trace made beforehand, of a game that the rule agent plays itself. They are used as long as the
            player did the same; from then on they would be about cards that this player has not seen.
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
    """Return an action as the API writes it."""
    kind, positions = POSITIONS[action]
    return {"type": kind, "selected_indices": list(positions)}
