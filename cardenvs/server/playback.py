"""Recorded games that visitors can watch: replay files, games of match databases, and uploaded replays."""

import itertools
import logging
import secrets
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from cardenvs.core.errors import CardenvsError, FormatError
from cardenvs.server.settings import Settings

if TYPE_CHECKING:
    from cardenvs.arena.store import Store

_log = logging.getLogger("cardenvs.server")
_MOST_BROUGHT = 32  # pages of uploaded replays in memory
_MOST_GAMES = 500  # games in the list of a store


class Playback:
    """The recorded games of a server."""

    def __init__(self, settings: Settings) -> None:
        """Offer the replays and stores that the settings name."""
        self._replays, self._stores = settings.replays, settings.stores
        self._most_actions = settings.limits.replay_actions
        self._brought: OrderedDict[str, str] = OrderedDict()

    def listing(self) -> dict[str, Any]:
        """Return the offered files as JSON values: numbers and names, but no paths."""
        return {
            "replays": [{"number": k, "name": path.name} for k, path in enumerate(self._replays)],
            "stores": [{"number": k, "name": path.name} for k, path in enumerate(self._stores)],
        }

    def replay_job(self, number: int) -> dict[str, Any] | None:
        """Return the drawing job for a replay file, or None for an unknown number."""
        return {"file": str(self._replays[number])} if 0 <= number < len(self._replays) else None

    def store_games(self, number: int) -> list[dict[str, Any]] | None:
        """Return the games of a store as JSON values, or None for an unknown number.

        Raises:
            FormatError: the store cannot be read.
        """
        if not 0 <= number < len(self._stores):
            return None
        from cardenvs.arena.store import Store

        try:
            with Store(self._stores[number], read_only=True) as store:
                return _games_of(store)
        except (CardenvsError, OSError) as error:  # its message has the path of the file
            _log.error("the store %s cannot be read: %s", self._stores[number], error)
            raise FormatError("this store is gone, or damaged") from None

    def store_job(self, number: int, match_id: str, deal: int, lineup: int) -> dict[str, Any] | None:
        """Return the drawing job for a game of a store, or None for an unknown number."""
        if not 0 <= number < len(self._stores):
            return None
        return {"store": str(self._stores[number]), "match": match_id, "deal": deal, "lineup": lineup}

    def brought_job(self, data: bytes) -> dict[str, Any]:
        """Return the drawing job for an uploaded replay. Raises FormatError if the replay is not UTF-8, or too long."""
        if data.count(b",") > self._most_actions:
            raise FormatError(f"the replay has more than {self._most_actions} actions")
        try:
            return {"text": data.decode(), "notes": {}}
        except UnicodeDecodeError:
            raise FormatError("the replay is not UTF-8 text") from None

    def keep(self, page: str) -> str:
        """Keep the page of an uploaded replay until newer ones replace it. Return its name."""
        name = secrets.token_urlsafe(16)
        self._brought[name] = page
        while len(self._brought) > _MOST_BROUGHT:
            self._brought.popitem(last=False)
        return name

    def brought_page(self, name: str) -> str | None:
        """Return the page of an uploaded replay, or None if it is unknown or was replaced."""
        return self._brought.get(name)


def _games_of(store: "Store") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for match_id in store.match_ids():
        match = store.match(match_id)
        for record in itertools.islice(store.results(match_id), _MOST_GAMES - len(found)):
            names = [match.names[agent] for agent in record.seating]
            found.append(
                {
                    "match": match_id, "game": match.game.name, "deal": record.deal, "lineup": record.lineup,
                    "players": names, "returns": list(record.returns),
                }
            )  # fmt: skip
    return found
