"""Tables in a SQLite file. Each move is written before anybody sees it."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cardenvs.server.database import open_database

_DAY = 86_400
_SCHEMA = """
CREATE TABLE IF NOT EXISTS tables (
    watch TEXT PRIMARY KEY,     -- the spectators' link
    host TEXT NOT NULL UNIQUE,  -- the host's link
    game TEXT NOT NULL,
    options TEXT NOT NULL,      -- JSON
    seed INTEGER NOT NULL,
    deck TEXT NOT NULL,         -- JSON, tokens of an explicit deal
    seats TEXT NOT NULL,        -- JSON, [[agent or "", link], ...]
    key TEXT NOT NULL,          -- hex; ids of tokens and seeds of agents depend on it
    is_listed INTEGER NOT NULL,
    opened REAL NOT NULL,       -- seconds since 1970
    think REAL NOT NULL,
    clock REAL NOT NULL,
    touched REAL NOT NULL,      -- time of the last move or visit
    finished REAL
);
CREATE TABLE IF NOT EXISTS links (
    link TEXT PRIMARY KEY,      -- of a spectator, host or player
    watch TEXT NOT NULL REFERENCES tables ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS actions (
    watch TEXT NOT NULL REFERENCES tables ON DELETE CASCADE,
    ply INTEGER NOT NULL,
    action INTEGER NOT NULL,
    notes TEXT,                 -- JSON, from the agent that chose the action
    PRIMARY KEY (watch, ply)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS links_of_table ON links (watch);
CREATE INDEX IF NOT EXISTS tables_in_lobby ON tables (is_listed, opened);
CREATE INDEX IF NOT EXISTS tables_by_age ON tables (finished, touched);
"""
_COLUMNS = "watch, host, game, options, seed, deck, seats, key, is_listed, opened, think, clock"


@dataclass(frozen=True)
class SeatRecord:
    """Who owns a seat, and who plays it now."""

    agent: str  # name of the agent that plays now, "" for a person
    link: str  # secret link of the person who owns the seat, even while an agent plays for them; "" for an agent's seat

    @property
    def by(self) -> str:
        """Who plays now: "person", or the name of an agent."""
        return self.agent or "person"


@dataclass(frozen=True)
class TableRecord:
    """Everything about a table except its moves."""

    watch: str  # public link of spectators, which identifies the table
    host: str  # secret link of the host, who opened the table
    # the game, as in a replay
    game: str
    options: dict[str, Any]
    seed: int
    deck: list[int]
    seats: tuple[SeatRecord, ...]  # by player
    key: bytes  # 32 secret bytes from which ids of tokens and seeds of agents are made
    is_listed: bool  # whether the lobby shows the table
    opened: float  # seconds since 1970
    think: float = 0.0  # agents' decisions are shown after a multiple of this many seconds; 0: at once
    clock: float = 0.0  # seconds for a person's move; 0: no limit


@dataclass(frozen=True)
class Move:
    """An action and the notes of the agent that chose it, as JSON values."""

    action: int
    notes: Any = None


class Records:
    """The tables of a server. Use it from one thread at a time."""

    def __init__(self, path: str) -> None:
        """Open the database file, or create it.

        Raises:
            FileError: the file cannot be opened, or is not one of this server.
        """
        self._db = open_database(path, _SCHEMA, f"SELECT {_COLUMNS}, touched, finished FROM tables", "tables")

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def add(self, table: TableRecord) -> None:
        """Add a new table."""
        row = (
            table.watch, table.host, table.game, json.dumps(table.options), table.seed, json.dumps(table.deck),
            _seats_text(table), table.key.hex(), int(table.is_listed), table.opened, table.think, table.clock,
            table.opened,
        )  # fmt: skip
        links = [table.watch, table.host, *(seat.link for seat in table.seats if seat.link)]
        with self._db:
            self._db.execute("BEGIN")
            self._db.execute(f"INSERT INTO tables ({_COLUMNS}, touched) VALUES ({', '.join('?' * len(row))})", row)
            self._db.executemany("INSERT INTO links VALUES (?, ?)", [(link, table.watch) for link in links])

    def add_moves(self, watch: str, ply: int, moves: Sequence[Move]) -> None:
        """Add moves after the first `ply` ones."""
        rows = [
            (watch, ply + k, move.action, None if move.notes is None else json.dumps(move.notes))
            for k, move in enumerate(moves)
        ]
        with self._db:
            self._db.execute("BEGIN")
            self._db.executemany("INSERT INTO actions VALUES (?, ?, ?, ?)", rows)
            self._db.execute("UPDATE tables SET touched = ? WHERE watch = ?", (time.time(), watch))

    def change_seats(self, table: TableRecord) -> None:
        """Update a table's seats and `think`, and add new links."""
        links = [(seat.link, table.watch) for seat in table.seats if seat.link]
        with self._db:
            self._db.execute("BEGIN")
            self._db.execute(
                "UPDATE tables SET seats = ?, think = ?, touched = ? WHERE watch = ?",
                (_seats_text(table), table.think, time.time(), table.watch),
            )
            self._db.executemany("INSERT OR IGNORE INTO links VALUES (?, ?)", links)

    def touch(self, watches: Sequence[str]) -> None:
        """Record the present time as the last visit to some tables."""
        with self._db:
            self._db.execute("BEGIN")
            self._db.executemany("UPDATE tables SET touched = ? WHERE watch = ?", [(time.time(), w) for w in watches])

    def take_back(self, watch: str, ply: int) -> None:
        """Delete the moves after the first `ply` ones."""
        self._db.execute("DELETE FROM actions WHERE watch = ? AND ply >= ?", (watch, ply))

    def finish(self, watch: str) -> None:
        """Record the end of a game, unless it is recorded already."""
        self._db.execute("UPDATE tables SET finished = ? WHERE watch = ? AND finished IS NULL", (time.time(), watch))

    def unfinished(self, most: int) -> list[TableRecord]:
        """Return at most `most` tables with unfinished games, newest first."""
        return self._tables("finished IS NULL ORDER BY opened DESC LIMIT ?", (most,))

    def listed(self, most: int, since: float, visited: Sequence[str] = ()) -> list[tuple[TableRecord, bool]]:
        """Return tables of the lobby, and whether each is finished: unfinished ones, then finished ones, newest first.

        Args:
            most: how many of each.
            since: time, in seconds since 1970, of the last move or visit; unfinished tables with earlier ones are left
                out.
            visited: public links of tables that are not left out.
        """
        places = ", ".join("?" * len(visited))
        going_on = self._tables(
            f"is_listed = 1 AND finished IS NULL AND (touched >= ? OR watch IN ({places})) "
            "ORDER BY opened DESC LIMIT ?",
            (since, *visited, most),
        )
        over = self._tables("is_listed = 1 AND finished IS NOT NULL ORDER BY opened DESC LIMIT ?", (most,))
        return [*((table, False) for table in going_on), *((table, True) for table in over)]

    def find(self, link: str) -> TableRecord | None:
        """Return the table of a spectator's, host's or player's link."""
        found = self.of_links([link])
        return found[link][0] if found else None

    def of_links(self, links: Sequence[str]) -> dict[str, tuple[TableRecord, bool]]:
        """Return the table of each link that has one, and whether its game is finished."""
        found = {}
        for link in filter(str.isascii, links):  # others are none of ours
            row = self._db.execute(
                f"SELECT {_COLUMNS}, finished IS NOT NULL FROM tables "
                "WHERE watch = (SELECT watch FROM links WHERE link = ?)",
                (link,),
            ).fetchone()
            if row is not None:
                found[link] = _table(row[:-1]), bool(row[-1])
        return found

    def moves(self, watch: str) -> list[Move]:
        """Return the moves of a table, oldest first."""
        rows = self._db.execute("SELECT action, notes FROM actions WHERE watch = ? ORDER BY ply", (watch,))
        return [Move(action, None if notes is None else json.loads(notes)) for action, notes in rows]

    def drop_old(self, finished: float, unfinished: float, unused: float, most: int) -> list[str]:
        """Delete at most `most` old tables and return their public links.

        The other arguments are days after the last move or visit: how long finished, unfinished and unused tables are
        kept. Unused are those without moves or visits.
        """
        now = time.time()
        times = {"finished": now - finished * _DAY, "late": now - unfinished * _DAY, "soon": now - unused * _DAY}
        rows = self._db.execute(
            "SELECT watch FROM tables WHERE finished < :finished AND touched < :finished UNION ALL "
            "SELECT watch FROM tables WHERE finished IS NULL AND (touched < :late OR touched < :soon "
            "AND touched = opened) LIMIT :most",
            times | {"most": most},
        )
        watches = [watch for (watch,) in rows]
        with self._db:
            self._db.execute("BEGIN")
            self._db.executemany("DELETE FROM tables WHERE watch = ?", [(watch,) for watch in watches])
        return watches

    def _tables(self, where: str, values: Any = ()) -> list[TableRecord]:
        return [_table(row) for row in self._db.execute(f"SELECT {_COLUMNS} FROM tables WHERE {where}", values)]


def _seats_text(table: TableRecord) -> str:
    return json.dumps([[seat.agent, seat.link] for seat in table.seats])


def _table(row: tuple[Any, ...]) -> TableRecord:
    watch, host, game, options, seed, deck, seats, key, is_listed, opened, think, clock = row
    return TableRecord(
        watch, host, game, json.loads(options), seed, json.loads(deck),
        tuple(SeatRecord(agent, link) for agent, link in json.loads(seats)), bytes.fromhex(key), bool(is_listed),
        opened, think, clock,
    )  # fmt: skip
