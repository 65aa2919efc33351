"""The store: an SQLite file with one row a finished game.

Rows are collected for a fraction of a second and written in one transaction, so a process that is killed at any
moment leaves whole rows only, at worst without the last fraction of a second. A store may hold many matches.
"""

import contextlib
import datetime
import json
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from cardenvs.core.errors import ArenaError

if TYPE_CHECKING:
    from cardenvs.arena.match import Match

SCHEMA_VERSION = 1
_APPLICATION_ID = 0x63617264  # "card"
_WRITE_EVERY_S = 0.25
_BUSY_TIMEOUT_S = 60  # another process may be writing to the same store

_SCHEMA = """
CREATE TABLE matches (
    id TEXT PRIMARY KEY,            -- Match.id
    game TEXT NOT NULL,
    options TEXT NOT NULL,          -- JSON, every option by name
    agents TEXT NOT NULL,           -- JSON, [{"name", "spec", "fingerprint"}, ...]
    seed INTEGER NOT NULL,
    created TEXT NOT NULL           -- UTC
) STRICT;
CREATE TABLE games (
    match_id TEXT NOT NULL REFERENCES matches (id),
    deal INTEGER NOT NULL,
    lineup INTEGER NOT NULL,        -- index into Match.lineups
    seed INTEGER NOT NULL,          -- of the cards
    seating TEXT NOT NULL,          -- JSON, the agent's number in each player's place
    agents TEXT NOT NULL,           -- JSON, the agent's name in each player's place
    returns TEXT,                   -- JSON, by player; NULL where the game failed
    actions TEXT NOT NULL,          -- JSON, all actions in order
    plies INTEGER NOT NULL,
    decisions TEXT NOT NULL,        -- JSON, by player
    seconds TEXT NOT NULL,          -- JSON, spent deciding, by player
    error TEXT,                     -- what went wrong, where the game failed
    PRIMARY KEY (match_id, deal, lineup)
) STRICT, WITHOUT ROWID;
"""


@dataclass(frozen=True)
class GameRecord:
    """One game of a match, finished or failed.

    Attributes:
        deal, lineup: which game it is.
        seed: of the cards.
        seating: the agent's number in each player's place.
        returns: by player; empty where the game failed.
        actions: in order.
        decisions: by player.
        seconds: spent deciding, by player.
        error: what went wrong, or None.
    """

    deal: int
    lineup: int
    seed: int
    seating: tuple[int, ...]
    returns: tuple[float, ...]
    actions: tuple[int, ...]
    decisions: tuple[int, ...]
    seconds: tuple[float, ...]
    error: str | None = None


class Store:
    """An open store. A context manager: leaving it writes what is left.

    Attributes:
        path: of the file, or None in memory.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        """Open or create the store at `path`; None keeps it in memory.

        Raises:
            ArenaError: the file is no store, or one of another schema version, or cannot be opened.
        """
        self.path = None if path is None else str(path)
        self._waiting: list[tuple] = []
        self._last_write = time.monotonic()
        try:
            self._connection = sqlite3.connect(self.path or ":memory:", timeout=_BUSY_TIMEOUT_S, isolation_level=None)
        except sqlite3.Error as error:
            raise ArenaError(f"cannot open {self.path} as a store of results: {error}") from None
        with self._transaction():
            self._check_or_create()
        self._connection.execute("PRAGMA journal_mode=WAL")

    def _check_or_create(self) -> None:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables == 0:
            self._create()
        elif application != _APPLICATION_ID:
            raise ArenaError(f"{self.path} is an SQLite file, but no store of cardenvs results")
        elif version != SCHEMA_VERSION:
            raise ArenaError(f"{self.path} has schema version {version}; this cardenvs reads version {SCHEMA_VERSION}")

    def _create(self) -> None:
        for statement in _SCHEMA.split(";\n"):
            if statement.strip():
                self._connection.execute(statement)
        self._connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
        self._connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing; what SQLite cannot do is an ArenaError."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise ArenaError(f"cannot use {self.path or 'memory'} as a store of results: {error}") from None

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Write what is left and close."""
        self.close()

    def close(self) -> None:
        """Write what is left and close the file."""
        self.write()
        self._connection.close()

    def begin(self, match: "Match") -> None:
        """Enter a match; nothing happens if it is there."""
        zipped = zip(match.names, match.agents, match.fingerprints, strict=True)
        agents = [{"name": name, "spec": spec, "fingerprint": fingerprint} for name, spec, fingerprint in zipped]
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        row = (match.id, match.game.name, json.dumps(match.options.as_dict()), json.dumps(agents), match.seed, now)
        with self._transaction():
            self._connection.execute("INSERT OR IGNORE INTO matches VALUES (?, ?, ?, ?, ?, ?)", row)

    def add(self, match: "Match", record: GameRecord) -> None:
        """Enter a game. It is on disk within a fraction of a second of the next call to `add` or `write`."""
        names = [match.names[agent] for agent in record.seating]
        returns = None if record.error else json.dumps(record.returns)
        seating, agents, actions = map(json.dumps, (record.seating, names, record.actions))
        self._waiting.append(
            (
                match.id, record.deal, record.lineup, record.seed, seating, agents, returns, actions,
                len(record.actions), json.dumps(record.decisions), json.dumps(record.seconds), record.error,
            )
        )  # fmt: skip
        if time.monotonic() - self._last_write >= _WRITE_EVERY_S:
            self.write()

    def write(self) -> None:
        """Write what waits, in one transaction. A game that failed before is replaced."""
        if self._waiting:
            with self._transaction():
                places = ", ".join("?" * len(self._waiting[0]))
                self._connection.executemany(f"INSERT OR REPLACE INTO games VALUES ({places})", self._waiting)
            self._waiting.clear()
        self._last_write = time.monotonic()

    def finished(self, match_id: str) -> set[tuple[int, int]]:
        """(deal, lineup) of every finished game of a match."""
        self.write()
        query = "SELECT deal, lineup FROM games WHERE match_id = ? AND error IS NULL"
        return set(self._connection.execute(query, (match_id,)))

    def records(self, match_id: str) -> Iterator[GameRecord]:
        """The finished games of a match, by deal and lineup."""
        self.write()
        query = (
            "SELECT deal, lineup, seed, seating, returns, actions, decisions, seconds FROM games "
            "WHERE match_id = ? AND error IS NULL ORDER BY deal, lineup"
        )
        for deal, lineup, seed, *texts in self._connection.execute(query, (match_id,)):
            seating, returns, actions, decisions, seconds = (tuple(json.loads(text)) for text in texts)
            yield GameRecord(deal, lineup, seed, seating, returns, actions, decisions, seconds)
