"""Recorded games that a server shows: replay files, games of stores, and replays that visitors bring."""

import itertools
import secrets
from collections import OrderedDict
from typing import Any

from cardenvs.core.errors import CardenvsError, FormatError
from cardenvs.core.replay import Replay
from cardenvs.server.settings import Settings

_MOST_BROUGHT = 32  # pages of visitors' replays in memory
_MOST_GAMES = 500  # of a store that are listed
_MOST_ACTIONS = 5_000


class Playback:
    """The recorded games of a server."""

    def __init__(self, settings: Settings) -> None:
        """Offer the replays and stores that the settings name."""
        self._replays, self._stores = settings.replays, settings.stores
        self._brought: OrderedDict[str, str] = OrderedDict()

    def listing(self) -> dict[str, Any]:
        """Return what there is to play, as JSON values; files are numbered, their paths stay here."""
        return {
            "replays": [{"number": k, "name": path.name} for k, path in enumerate(self._replays)],
            "stores": [{"number": k, "name": path.name} for k, path in enumerate(self._stores)],
        }

    def replay_page(self, number: int) -> str | None:
        """Return the page of a replay file; None if there is no such number."""
        return Replay.load(self._replays[number]).page() if 0 <= number < len(self._replays) else None

    def store_games(self, number: int) -> list[dict[str, Any]] | None:
        """Return the games of a store, as JSON values; None if there is no such number."""
        if not 0 <= number < len(self._stores):
            return None
        from cardenvs.arena.store import Store

        found: list[dict[str, Any]] = []
        with Store(self._stores[number], read_only=True) as store:
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

    def store_page(self, number: int, match_id: str, deal: int, lineup: int) -> str | None:
        """Return the page of a game of a store, with agents' notes; None if there is no such store.

        Raises:
            FormatError: the store does not have the game.
        """
        if not 0 <= number < len(self._stores):
            return None
        from cardenvs.arena.store import Store
        from cardenvs.arena.verify import replay_of

        with Store(self._stores[number], read_only=True) as store:
            try:
                record = store.game(match_id, deal, lineup)
                replay = replay_of(store.match(match_id), record)
            except CardenvsError:  # which names the file
                raise FormatError("the store does not have that game, or its record is damaged") from None
        return replay.page(notes={note["ply"]: note for note in record.notes})

    def bring(self, data: bytes) -> str:
        """Check a replay that a visitor brings, and return the name under which its page is kept for a while.

        Raises:
            FormatError: it is not a replay, or not that of a game that was played so.
        """
        if data.count(b",") > _MOST_ACTIONS:
            raise FormatError(f"a replay that is played here has at most {_MOST_ACTIONS} actions")
        page = Replay.parse(data).page()
        name = secrets.token_urlsafe(16)
        self._brought[name] = page
        while len(self._brought) > _MOST_BROUGHT:
            self._brought.popitem(last=False)
        return name

    def brought_page(self, name: str) -> str | None:
        """Return the page of a replay that somebody brought."""
        return self._brought.get(name)
