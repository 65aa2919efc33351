"""Names by which people call the players of a table."""

import re
import zlib
from collections.abc import Sequence

_NAMES = (
    "Ada", "Bruno", "Clara", "Dario", "Elsa", "Felix", "Greta", "Hugo", "Iris", "Jonas", "Karla", "Leo", "Mira", "Nils",
    "Olga", "Pavel", "Rosa", "Sami", "Tilda", "Viktor",
)  # fmt: skip
_PLAYER = re.compile(r"\bplayer_(\d{1,3})\b")


def seat_names(table: str, num_players: int) -> list[str]:
    """Return a name for each player of a table; those of another table are likely to differ."""
    first = zlib.crc32(table.encode())
    return [_NAMES[(first + player) % len(_NAMES)] for player in range(num_players)]


def with_names(text: str, names: Sequence[str]) -> str:
    """Return a text in which players are called by name: "player_1 passes" becomes "Bruno passes"."""
    return _PLAYER.sub(lambda found: names[int(found[1])] if int(found[1]) < len(names) else found[0], text)
