"""Failures and notes of agents, made printable and limited in size."""

import json
import re
from typing import Any

from cardenvs.agents.base import Failure, Turn
from cardenvs.core.errors import AgentFailureError, IllegalActionError

_LONGEST_NOTES = 1 << 20  # characters of JSON
_LONGEST_MESSAGE = 1000  # characters kept of a failure's message
_LONGEST_KIND = 40  # characters kept of its class
_MOST_FAILURES = 100  # failures kept of one decision


def storable_notes(notes: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of an agent's notes that can be stored, or a note that says why they cannot."""
    if not notes:
        return {}
    try:
        text = json.dumps(notes, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return {"dropped": _short(f"the notes are not JSON values: {error}")}
    if len(text) > _LONGEST_NOTES:
        return {"dropped": f"the notes are {len(text)} characters of JSON; at most {_LONGEST_NOTES} are kept"}
    return dict(json.loads(text))


def reported_failures(turn: Turn) -> list[Failure]:
    """Return the failures of a turn, including those that the agent has added."""
    return [
        Failure(_kind(failure.kind), _short(str(failure.message)))
        for failure in turn.failures[:_MOST_FAILURES]
        if isinstance(failure, Failure)
    ]


def failure_of(error: BaseException) -> Failure:
    """Return the failure for whatever an agent raised."""
    if isinstance(error, AgentFailureError):
        return Failure(_kind(error.kind), _short(str(error)))
    if isinstance(error, IllegalActionError):  # the agent gave a label that no legal action has
        return Failure("illegal", _short(str(error)))
    if isinstance(error, MemoryError):
        return Failure("memory", _short(f"MemoryError: {error}"))
    return Failure("exception", _short(f"{type(error).__name__}: {error}"))


def _kind(kind: object) -> str:
    """Return a failure's class, reduced to a few plain characters."""
    return re.sub(r"[^A-Za-z0-9_. -]", "?", str(kind))[:_LONGEST_KIND]


def _short(text: str) -> str:
    text = "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}..."
