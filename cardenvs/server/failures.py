"""What the failures of an agent mean at a table, and what everybody there may read of them."""

from dataclasses import dataclass
from typing import Any

from cardenvs.agents.base import Failure
from cardenvs.agents.seating import OK, Decision

_BAD_ANSWERS = ("illegal", "unparsable", "empty", "truncated")  # after which the safe action is played
_REASONS = {
    "illegal": "it chose what is not legal",
    "unparsable": "its reply had no valid answer",
    "empty": "its reply was empty",
    "truncated": "its reply was cut off",
    "timeout": "it did not answer in time",
    "rate_limited": "its endpoint allows no more requests now",
    "transport": "its endpoint cannot be reached, or does not answer as it should",
    "crash": "its process ended",
    "memory": "it used too much memory",
    "protocol": "its process did not answer as it should",
}
_SERVERS_OWN = ("failures", "outcome", "failed", "earlier", "by")  # notes that an agent cannot write
_OTHER_REASON = "it failed"  # whatever an agent calls it, which may be about hidden cards


@dataclass(frozen=True)
class Stopped:
    """An agent that could not be asked. The game waits until a person lets it try again.

    Attributes:
        player: whose agent it is.
        agent: its name.
        reason: what went wrong, in words that say nothing about cards.
        detail: its own message, which may quote what the agent sees.
    """

    player: int
    agent: str
    reason: str
    detail: str


def reason_of(kind: str) -> str:
    """Return what a class of failures means, in words that everybody at a table may read."""
    return _REASONS.get(str(kind), _OTHER_REASON)


def could_not_answer(decision: Decision) -> Failure | None:
    """Return why an agent gave no answer, not even a bad one; None if it gave any."""
    if decision.outcome == OK:
        return None
    last = decision.failures[-1] if decision.failures else Failure("exception", "")
    return None if last.kind in _BAD_ANSWERS else last


def notes_of(decision: Decision) -> dict[str, Any]:
    """Return what is kept of a decision beside the action; empty if there is nothing.

    "outcome" and "failed", the classes of failures, are there only if it gave no valid answer.
    """
    notes = {name: value for name, value in decision.notes.items() if name not in _SERVERS_OWN}
    if decision.failures:
        notes["failures"] = [f"{failure.kind}: {failure.message}" for failure in decision.failures]
    if decision.outcome != OK:
        notes["outcome"] = decision.outcome
        notes["failed"] = [failure.kind for failure in decision.failures]
    return notes
