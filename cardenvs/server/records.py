"""Tables as they are kept: in a SQLite file, written before anybody sees a move."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cardenvs.server.database import add_columns, open_database

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
CREATE TABLE IF NOT EXISTS links (
    link TEXT PRIMARY KEY,      -- of any kind
    watch TEXT NOT NULL REFERENCES tables ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS actions (
    watch TEXT NOT NULL REFERENCES tables ON DELETE CASCADE,
    ply INTEGER NOT NULL,
    action INTEGER NOT NULL,
    notes TEXT,                 -- JSON, of the agent that chose it
    PRIMARY KEY (watch, ply)
) WITHOUT ROWID;
"""
_FIRST_COLUMNS = "watch, host, game, options, seed, deck, seats, key, is_listed, opened"
_COLUMNS = f"{_FIRST_COLUMNS}, think, clock"
_LATER_COLUMNS = {  # a file of an earlier version lacks them
    "think": "REAL NOT NULL DEFAULT 0",
    "clock": "REAL NOT NULL DEFAULT 0",
    "touched": "REAL NOT NULL DEFAULT 0",  # when the last move was made, or somebody was here
}
_LATER = """
UPDATE tables SET touched = opened WHERE touched = 0;
INSERT OR IGNORE INTO links SELECT watch, watch FROM tables WHERE watch NOT IN (SELECT watch FROM links)
    UNION ALL SELECT host, watch FROM tables WHERE watch NOT IN (SELECT watch FROM links)
    UNION ALL SELECT json_extract(value, '$[1]'), watch FROM tables, json_each(seats)
        WHERE json_extract(value, '$[1]') <> '' AND watch NOT IN (SELECT watch FROM links);
CREATE INDEX IF NOT EXISTS links_of_table ON links (watch);
CREATE INDEX IF NOT EXISTS tables_in_lobby ON tables (is_listed, opened);
CREATE INDEX IF NOT EXISTS tables_by_age ON tables (finished, touched);
"""


@dataclass(frozen=True)
class SeatRecord:
    """Whose a player is, and who plays it now.

    Attributes:
        agent: name of the agent that plays now; "" if a person does.
        link: secret part of the link of the person whose seat it is, also while an agent plays for them; "" if it is
            no person's.
    """

    agent: str
    link: str

    @property
    def by(self) -> str:
        """Who plays now: "person", or the name of an agent."""
        return self.agent or "person"


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
        think: seconds that agents take at least, and of which their time is a multiple; 0: what they take.
        clock: seconds that a person has for a move; 0: no limit.
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
    think: float = 0.0
    clock: float = 0.0


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
        self._db = open_database(path, _SCHEMA, f"SELECT {_FIRST_COLUMNS}, finished FROM tables LIMIT 1", "tables")
        add_columns(self._db, "tables", _LATER_COLUMNS)
        self._db.executescript(_LATER)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def add(self, table: TableRecord) -> None:
        """Keep a new table."""
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
        """Keep moves, the first of them after `ply` others."""
        rows = [
            (watch, ply + k, move.action, None if move.notes is None else json.dumps(move.notes))
            for k, move in enumerate(moves)
        ]
        with self._db:
            self._db.execute("BEGIN")
            self._db.executemany("INSERT INTO actions VALUES (?, ?, ?, ?)", rows)
            self._db.execute("UPDATE tables SET touched = ? WHERE watch = ?", (time.time(), watch))

    def change_seats(self, table: TableRecord) -> None:
        """Keep who plays at a table, the links of its people, and how long its agents think at least."""
        links = [(seat.link, table.watch) for seat in table.seats if seat.link]
        with self._db:
            self._db.execute("BEGIN")
            self._db.execute(
                "UPDATE tables SET seats = ?, think = ?, touched = ? WHERE watch = ?",
                (_seats_text(table), table.think, time.time(), table.watch),
            )
            self._db.executemany("INSERT OR IGNORE INTO links VALUES (?, ?)", links)

    def touch(self, watches: Sequence[str]) -> None:
        """Note that tables are in use."""
        with self._db:
            self._db.execute("BEGIN")
            self._db.executemany("UPDATE tables SET touched = ? WHERE watch = ?", [(time.time(), w) for w in watches])

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
            f"SELECT {_COLUMNS}, finished IS NOT NULL FROM tables WHERE is_listed = 1 ORDER BY opened DESC LIMIT ?",
            (most,),
        )
        return [(_table(row[:-1]), bool(row[-1])) for row in rows]

    def find(self, link: str) -> TableRecord | None:
        """Return the table that a link of any kind leads to."""
        found = self._tables("watch = (SELECT watch FROM links WHERE link = ?)", (link,))
        return found[0] if found else None

    def moves(self, watch: str) -> list[Move]:
        """Return the moves of a table, oldest first."""
        rows = self._db.execute("SELECT action, notes FROM actions WHERE watch = ? ORDER BY ply", (watch,))
        return [Move(action, None if notes is None else json.loads(notes)) for action, notes in rows]

    def drop_old(self, finished: float, unfinished: float, unused: float, most: int) -> list[str]:
        """Forget old tables, and return them by their public links.

        Args:
            finished: days that finished tables are kept.
            unfinished: days that others are kept after the last move or visit.
            unused: days that those are kept at which nobody has done anything.
            most: how many to forget at once, which takes a moment each.
        """
        now = time.time()
        times = {"finished": now - finished * _DAY, "late": now - unfinished * _DAY, "soon": now - unused * _DAY}
        rows = self._db.execute(
            "SELECT watch FROM tables WHERE finished < :finished UNION ALL "
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
