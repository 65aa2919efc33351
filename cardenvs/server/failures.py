"""Failures of agents at a table, and descriptions of them that reveal no cards."""

from dataclasses import dataclass
from typing import Any

from cardenvs.agents.base import Failure
from cardenvs.agents.seating import OK, Decision

_BAD_ANSWERS = ("illegal", "unparsable", "empty", "truncated")  # the safe action replaces them
_REASONS = {
    "illegal": "its choice was illegal",
    "unparsable": "its reply had no valid answer",
    "empty": "its reply was empty",
    "truncated": "its reply was cut off",
    "timeout": "it did not answer in time",
    "rate_limited": "its endpoint accepts no more requests for now",
    "transport": "its endpoint cannot be reached or sent an invalid response",
    "crash": "its process ended",
    "memory": "it used too much memory",
    "protocol": "its process sent an invalid response",
}
_SERVERS_OWN = ("failures", "outcome", "failed", "earlier", "by")  # names of notes that agents cannot set
_OTHER_REASON = "it failed"  # an agent's own name for a failure could describe hidden cards


@dataclass(frozen=True)
class Stopped:
    """An agent that gave no answer. The game waits until a person lets the agent try again."""

    player: int  # whom the agent plays
    agent: str  # its name
    reason: str  # description of the failure that reveals no cards
    detail: str  # the agent's own message, which may quote its cards


def reason_of(kind: str) -> str:
    """Return a description of a kind of failure that reveals no cards."""
    return _REASONS.get(str(kind), _OTHER_REASON)


def could_not_answer(decision: Decision) -> Failure | None:
    """Return the failure because of which an agent gave no answer; None if it answered, even badly."""
    if decision.outcome == OK:
        return None
    last = decision.failures[-1] if decision.failures else Failure("exception", "")
    return None if last.kind in _BAD_ANSWERS else last


def notes_of(decision: Decision) -> dict[str, Any]:
    """Return the notes that are kept with a decision's action, perhaps none.

    "outcome" and "failed", the kinds of failures, are present only if the agent gave no valid answer.
    """
    notes = {name: value for name, value in decision.notes.items() if name not in _SERVERS_OWN}
    if decision.failures:
        notes["failures"] = [f"{failure.kind}: {failure.message}" for failure in decision.failures]
    if decision.outcome != OK:
        notes["outcome"] = decision.outcome
        notes["failed"] = [failure.kind for failure in decision.failures]
    return notes
