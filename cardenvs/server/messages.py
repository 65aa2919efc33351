"""What clients send, checked: each message is a JSON object with "do" and the fields below.

{"do": "act", "turn": 7, "intents": [{"action": 12}]}     one move or several, as in cardenvs.core.intents
{"do": "undo", "turn": 7}                                 take the last move back
{"do": "leave", "turn": 7}                                forfeit
{"do": "hint", "turn": 7, "agent": "heuristic"}           what an agent would do
{"do": "plays", "turn": 7}                                whole plays of several actions
{"do": "watch", "viewer": "spectator"}                    or "everything", or a player
{"do": "look", "narrow": true}                            pictures for a narrow screen
{"do": "past", "event": 17}                               the table after so many of the viewer's events
{"do": "run", "how": "go"}                                agents: "go", "pause", "step"
{"do": "pace", "seconds": 0.5}                            time between the moves of agents
{"do": "retry"}                                           let an agent that could not be asked try again
{"do": "next"}                                            the scores of the last hand or round are read
{"do": "seat", "player": 1, "agent": "heuristic"}         who plays a player; "person" plays again
{"do": "log", "player": 1, "before": 20}                  what a player's agents noted, the latest before a number
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
    """A checked message.

    Attributes:
        do: what is asked for.
        fields: the others, by name.
    """

    do: str
    fields: dict[str, Any]


def read_message(text: str | bytes) -> Message:
    """Return what a client asks for.

    Raises:
        FormatError: the text is no such message.
    """
    data = parsed(text, "the message")
    if not isinstance(data, dict) or not isinstance(data.get("do"), str) or data["do"] not in _FIELDS:
        raise FormatError(f'a message is an object whose "do" is one of {", ".join(_FIELDS)}; got {short(data)}')
    wanted = _FIELDS[data["do"]]
    check_fields(data, wanted, "the message")
    return Message(data["do"], {name: data[name] for name in wanted})


def read_viewer(value: Any, num_players: int) -> int:
    """Return the viewer that a client names: a player, "spectator" or "everything".

    Raises:
        FormatError: it is none of these.
    """
    if isinstance(value, str) and value in _VIEWERS:
        return _VIEWERS[value]
    if _is_player(value, num_players):
        return value
    raise FormatError(
        f'a viewer is "spectator", "everything" or a player from 0 to {num_players - 1}; got {short(value)}'
    )


def read_player(value: Any, num_players: int) -> int:
    """Return the player that a client names.

    Raises:
        FormatError: there is no such player.
    """
    if _is_player(value, num_players):
        return value
    raise FormatError(f"a player is a number from 0 to {num_players - 1}; got {short(value)}")


def _is_player(value: Any, num_players: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < num_players
