"""Tables as they are kept: in a SQLite file, written before anybody sees a move."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cardenvs.server.database import open_database

_DAY = 86_400
_SCHEMA = """
CREATE TABLE IF NOT EXISTS tables (
    watch TEXT PRIMARY KEY,     -- in the link for spectators
    host TEXT NOT NULL UNIQUE,  -- in the link of whoever opened the table
    game TEXT NOT NULL,
    options TEXT NOT NULL,      -- JSON
    seed INTEGER NOT NULL,
    deck TEXT NOT NULL,         -- JSON, tokens of an explicit deal
    seats TEXT NOT NULL,        -- JSON, [[agent or "", link], ...]
    key TEXT NOT NULL,          -- hex; makes ids of tokens and seeds of agents
    is_listed INTEGER NOT NULL,
    opened REAL NOT NULL,       -- seconds since 1970
    finished REAL
);
CREATE TABLE IF NOT EXISTS actions (
    watch TEXT NOT NULL REFERENCES tables ON DELETE CASCADE,
    ply INTEGER NOT NULL,
    action INTEGER NOT NULL,
    notes TEXT,                 -- JSON, of the agent that chose it
    PRIMARY KEY (watch, ply)
) WITHOUT ROWID;
"""
_COLUMNS = "watch, host, game, options, seed, deck, seats, key, is_listed, opened"


@dataclass(frozen=True)
class SeatRecord:
    """Who plays a player.

    Attributes:
        agent: name of an agent, or "" for a person.
        link: secret part of the seat's link; "" for an agent.
    """

    agent: str
    link: str


@dataclass(frozen=True)
class TableRecord:
    """Everything about a table but its moves.

    Attributes:
        watch: public part of the link for spectators; identifies the table.
        host: secret part of the link of whoever opened the table.
        game, options, seed, deck: what is played, as in a replay.
        seats: by player.
        key: 32 secret bytes; ids of tokens and seeds of agents are made from it.
        is_listed: whether the lobby shows the table.
        opened: seconds since 1970.
    """

    watch: str
    host: str
    game: str
    options: dict[str, Any]
    seed: int
    deck: list[int]
    seats: tuple[SeatRecord, ...]
    key: bytes
    is_listed: bool
    opened: float


@dataclass(frozen=True)
class Move:
    """An action and what its agent noted about it, as JSON values."""

    action: int
    notes: Any = None


class Records:
    """The tables of a server. Use it from one thread at a time."""

    def __init__(self, path: str) -> None:
        """Open the file, or make it.

        Raises:
            FileError: it cannot be opened or is not a file of tables.
        """
        self._db = open_database(path, _SCHEMA, f"SELECT {_COLUMNS}, finished FROM tables LIMIT 1", "tables")

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def add(self, table: TableRecord) -> None:
        """Keep a new table."""
        seats = json.dumps([[seat.agent, seat.link] for seat in table.seats])
        row = (
            table.watch, table.host, table.game, json.dumps(table.options), table.seed, json.dumps(table.deck), seats,
            table.key.hex(), int(table.is_listed), table.opened,
        )  # fmt: skip
        self._db.execute(f"INSERT INTO tables ({_COLUMNS}) VALUES ({', '.join('?' * len(row))})", row)

    def add_moves(self, watch: str, ply: int, moves: Sequence[Move]) -> None:
        """Keep moves, the first of them after `ply` others."""
        rows = [
            (watch, ply + k, move.action, None if move.notes is None else json.dumps(move.notes))
            for k, move in enumerate(moves)
        ]
        with self._db:
            self._db.execute("BEGIN")
            self._db.executemany("INSERT INTO actions VALUES (?, ?, ?, ?)", rows)

    def take_back(self, watch: str, ply: int) -> None:
        """Forget all moves from number `ply` on."""
        self._db.execute("DELETE FROM actions WHERE watch = ? AND ply >= ?", (watch, ply))

    def finish(self, watch: str) -> None:
        """Note that a game is over, unless it is noted already."""
        self._db.execute("UPDATE tables SET finished = ? WHERE watch = ? AND finished IS NULL", (time.time(), watch))

    def unfinished(self, most: int) -> list[TableRecord]:
        """Return the tables whose games go on, newest first."""
        return self._tables("finished IS NULL ORDER BY opened DESC LIMIT ?", (most,))

    def listed(self, most: int) -> list[tuple[TableRecord, bool]]:
        """Return the newest tables of the lobby, and whether each is finished."""
        rows = self._db.execute(
            f"SELECT {_COLUMNS}, finished IS NOT NULL FROM tables WHERE is_listed ORDER BY opened DESC LIMIT ?", (most,)
        )
        return [(_table(row[:-1]), bool(row[-1])) for row in rows]

    def find(self, link: str) -> TableRecord | None:
        """Return the table that a link of any kind leads to."""
        found = self._tables(
            "watch = :link OR host = :link OR EXISTS "
            "(SELECT 1 FROM json_each(seats) WHERE json_extract(value, '$[1]') = :link)",
            {"link": link},
        )
        return found[0] if found else None

    def moves(self, watch: str) -> list[Move]:
        """Return the moves of a table, oldest first."""
        rows = self._db.execute("SELECT action, notes FROM actions WHERE watch = ? ORDER BY ply", (watch,))
        return [Move(action, None if notes is None else json.loads(notes)) for action, notes in rows]

    def drop_old(self, days: int) -> None:
        """Forget tables that were finished more than so many days ago."""
        self._db.execute("DELETE FROM tables WHERE finished < ?", (time.time() - days * _DAY,))

    def _tables(self, where: str, values: Any = ()) -> list[TableRecord]:
        return [_table(row) for row in self._db.execute(f"SELECT {_COLUMNS} FROM tables WHERE {where}", values)]


def _table(row: tuple[Any, ...]) -> TableRecord:
    watch, host, game, options, seed, deck, seats, key, is_listed, opened = row
    return TableRecord(
        watch, host, game, json.loads(options), seed, json.loads(deck),
        tuple(SeatRecord(agent, link) for agent, link in json.loads(seats)), bytes.fromhex(key), bool(is_listed),
        opened,
    )  # fmt: skip
