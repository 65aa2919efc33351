"""Messages of clients: JSON objects with "do" and the fields below.

{"do": "act", "turn": 7, "intents": [{"action": 12}]}     make one or more moves, see cardenvs.core.intents
{"do": "undo", "turn": 7}                                 take back the last move
{"do": "leave", "turn": 7}                                forfeit
{"do": "hint", "turn": 7, "agent": "heuristic"}           ask for an agent's choice
{"do": "plays", "turn": 7}                                ask for whole plays of several actions
{"do": "watch", "viewer": "spectator"}                    or "everything", or a player
{"do": "look", "narrow": true}                            choose pictures for a narrow screen, as "?narrow"
                                                          in the address of the socket does from the start
{"do": "past", "event": 17}                               show the table after that many of the viewer's events
{"do": "run", "how": "go"}                                agents "go", "pause" or "step"
{"do": "pace", "seconds": 0.5}                            set the time between agents' moves
{"do": "retry"}                                           let a stopped agent try again
{"do": "next"}                                            continue after the scores of a hand or round
{"do": "seat", "player": 1, "agent": "heuristic"}         choose who plays a player; "person" takes the seat back
{"do": "log", "player": 1, "before": 20}                  show notes of a player's agents, the latest before a number
"""

from dataclasses import dataclass
from typing import Any

from cardenvs.core.checks import check_fields, parsed, short
from cardenvs.core.errors import FormatError
from cardenvs.core.events import OMNISCIENT, SPECTATOR

_FIELDS: dict[str, dict[str, Any]] = {
    "act": {"turn": int, "intents": list},
    "undo": {"turn": int},
    "leave": {"turn": int},
    "hint": {"turn": int, "agent": str},
    "plays": {"turn": int},
    "watch": {"viewer": int | str},
    "look": {"narrow": bool},
    "past": {"event": int},
    "run": {"how": str},
    "pace": {"seconds": int | float},
    "retry": {},
    "next": {},
    "seat": {"player": int, "agent": str},
    "log": {"player": int, "before": int},
}
_VIEWERS = {"spectator": SPECTATOR, "everything": OMNISCIENT}


@dataclass(frozen=True)
class Message:
    """A checked message."""

    do: str  # the request
    fields: dict[str, Any]  # its other fields by name


def read_message(text: str | bytes) -> Message:
    """Parse and check a message. Raises FormatError if the message is invalid."""
    data = parsed(text, "the message")
    if not isinstance(data, dict) or not isinstance(data.get("do"), str) or data["do"] not in _FIELDS:
        raise FormatError(f'a message must be an object whose "do" is one of {", ".join(_FIELDS)}; got {short(data)}')
    wanted = _FIELDS[data["do"]]
    check_fields(data, wanted, "the message")
    return Message(data["do"], {name: data[name] for name in wanted})


def read_viewer(value: int | str, num_players: int) -> int:
    """Return the viewer for a player, "spectator" or "everything". Raises FormatError if the value is none of these."""
    if isinstance(value, str):
        if value in _VIEWERS:
            return _VIEWERS[value]
    elif 0 <= value < num_players:
        return value
    raise FormatError(
        f'a viewer must be "spectator", "everything" or a player from 0 to {num_players - 1}; got {short(value)}'
    )


def read_player(value: int, num_players: int) -> int:
    """Return a player's number unchanged. Raises FormatError if there is no such player."""
    if not 0 <= value < num_players:
        raise FormatError(f"a player must be a number from 0 to {num_players - 1}; got {short(value)}")
    return value
