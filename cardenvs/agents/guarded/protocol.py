"""Messages between a match and an agent's process: JSON lines on its standard input and output.

The protocol, version 1. Each message is one line of JSON, an object with a "type"; ignore unknown members.

To the agent:

    {"type": "hello", "protocol": 1, "game": "...", "options": {...}}        once; answer with "ready"
    {"type": "reset", "seed": 123, "player": 0}                              a game begins; no answer
    {"type": "events", "events": [{"kind": "bet", "player": 1, "token": null, "source": null, "target": null,
        "value": 2, "text": "player_1 bets 2."}, ...]}                       events its player saw; no answer
    {"type": "act", "player": 0, "decision": 3, "goes_on": false, "seed": 456,
        "legal": [{"id": 2, "label": "call"}, ...],
        "failures": [{"kind": ..., "message": ...}, ...], ...}               answer with "action"
    {"type": "end", "returns": [1.0, -1.0]}                                  the game is over; no answer
    {"type": "bye"}                                                          no more messages: exit

From the agent:

    {"type": "ready", "protocol": 1, "wants": ["view", "facts"]}
    {"type": "action", "id": 2}      or      {"type": "action", "label": "call"}      optionally with "notes": {...}
    {"type": "failure", "message": "..."}                                    it cannot decide; the try has failed

"wants" selects what else "act" contains: "view", "facts", "recap", "observation", "render", and "twin": base64 of a
saved state in which everything that the player cannot know is dealt again. "events" asks for "events" messages. After a
failed try the agent is asked again, with all "failures" so far. A process that is late, ends, or writes anything else
is killed and restarted; it then gets "reset" and all events of the game again. Each game has its own process: after
"end", its standard input is closed, and a second later it is killed with everything it has started.

Only the last lines of a process's standard error are kept, to be quoted if it fails.
"""

import json
from typing import Any

from cardenvs.core.errors import AgentFailureError

PROTOCOL = 1
WANTS = ("view", "facts", "recap", "observation", "render", "twin", "events")
LONGEST_LINE = 1 << 20  # bytes of one message from an agent
LONGEST_NOTES = 64 << 10  # characters of JSON in the notes of a decision
MOST_NOTES = 1 << 20  # characters of JSON in all notes of a game
TOO_LONG = (
    f"at most {LONGEST_NOTES >> 10} KiB of notes are kept of a decision of an agent in a process, and "
    f"{MOST_NOTES >> 10} KiB of a game"
)
MOST_FAILURES = 20  # failures that an agent may report per decision


class BadLineError(Exception):
    """The process wrote something that is not a message."""


def read_message(line: bytes) -> dict[str, Any]:
    """Return the message in a line from an agent. Raises BadLineError if the line is not a JSON object with a type."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise BadLineError(f"it wrote {shown(line[:200])}, which is not JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise BadLineError(f'it wrote {shown(line[:200])}, which is not an object with a "type"')
    return message


def reported_failure(reply: dict[str, Any]) -> AgentFailureError:
    """Return the error described by a "failure" message."""
    error = AgentFailureError(
        str(reply.get("kind", "exception")), str(reply.get("message", "")), final=reply.get("final") is True
    )
    if isinstance(reply.get("trace"), str):
        error.add_note("".join(c if c.isprintable() or c == "\n" else "?" for c in reply["trace"]).rstrip())
    return error


def shown(value: Any) -> str:
    """Return something that an agent wrote, printable and short, for an error message."""
    text = value.decode(errors="backslashreplace") if isinstance(value, bytes) else json.dumps(value)
    text = ascii(text)
    return text if len(text) <= 200 else f"{text[:200]}..."
