"""The store: an SQLite file with one row a finished game.

Rows are collected for a fraction of a second and written in one transaction, so a process that is killed at any
moment leaves whole rows only, at worst without the last fraction of a second. A store may hold many matches, and
several processes may write to it: whoever finishes a game first enters it.
"""

import contextlib
import dataclasses
import datetime
import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from cardenvs.agents.seeds import MatchSeed
from cardenvs.core.errors import ArenaError
from cardenvs.core.text import printable

if TYPE_CHECKING:
    from cardenvs.arena.match import Match

SCHEMA_VERSION = 3
_APPLICATION_ID = 0x63617264  # "card"
_WRITE_EVERY_S = 0.25
_BUSY_TIMEOUT_S = 60  # another process may be writing to the same store

_SCHEMA = """
CREATE TABLE matches (
    id TEXT PRIMARY KEY,            -- Match.id
    game TEXT NOT NULL,
    options TEXT NOT NULL,          -- JSON, every option by name
    agents TEXT NOT NULL,           -- JSON, [{"name", "spec", "fingerprint", "conditions"}, ...]
    secret TEXT NOT NULL,           -- MatchSeed.text, from which the cards follow
    guests_key TEXT NOT NULL,       -- from which the seeds of guests follow
    created TEXT NOT NULL,          -- UTC
    layout TEXT,                    -- hash of the observation's layout; NULL in a match of schema 1
    schedule TEXT NOT NULL DEFAULT '{}',  -- JSON, of what differs from a round robin
    guard TEXT                      -- JSON, how agents were guarded; NULL: the first failure ended the match
) STRICT;
CREATE TABLE games (
    match_id TEXT NOT NULL REFERENCES matches (id),
    deal INTEGER NOT NULL,
    lineup INTEGER NOT NULL,        -- index into Match.lineups
    seed INTEGER NOT NULL,          -- of the cards
    seating TEXT NOT NULL,          -- JSON, the agent's number in each player's place
    agents TEXT NOT NULL,           -- JSON, the agent's name in each player's place
    returns TEXT,                   -- JSON, by player; NULL where the game failed
    actions TEXT NOT NULL,          -- JSON, all actions in order, codes for forfeits included
    plies INTEGER NOT NULL,
    decisions TEXT NOT NULL,        -- JSON, by player
    seconds TEXT NOT NULL,          -- JSON, spent deciding, by player
    error TEXT,                     -- what went wrong, where the game failed
    digest TEXT,                    -- over events and returns, as in a replay; NULL in a game of schema 1
    failures TEXT NOT NULL DEFAULT '[]',  -- JSON, by player: {class: number} of failed tries
    outcomes TEXT NOT NULL DEFAULT '[]',  -- JSON, by player: {"forced": number, "forfeit": number}
    notes TEXT NOT NULL DEFAULT '[]',     -- JSON, the decisions that failed or that agents made notes of
    PRIMARY KEY (match_id, deal, lineup)
) STRICT, WITHOUT ROWID;
CREATE TABLE experiments (
    id TEXT PRIMARY KEY,            -- a hash of the matches
    name TEXT NOT NULL,
    matches TEXT NOT NULL,          -- JSON, [[match id, title], ...]
    anchors TEXT NOT NULL,          -- JSON, {agent: rating}
    config TEXT NOT NULL,           -- the experiment as it was read, as JSON
    created TEXT NOT NULL           -- UTC
) STRICT;
"""
_UPGRADES = {  # from schema version: what makes it the next one
    1: """
ALTER TABLE matches ADD COLUMN layout TEXT;
ALTER TABLE matches ADD COLUMN schedule TEXT NOT NULL DEFAULT '{}';
ALTER TABLE matches ADD COLUMN guard TEXT;
ALTER TABLE games ADD COLUMN digest TEXT;
ALTER TABLE games ADD COLUMN failures TEXT NOT NULL DEFAULT '[]';
ALTER TABLE games ADD COLUMN outcomes TEXT NOT NULL DEFAULT '[]';
ALTER TABLE games ADD COLUMN notes TEXT NOT NULL DEFAULT '[]';
CREATE TABLE experiments (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    matches TEXT NOT NULL,
    anchors TEXT NOT NULL,
    config TEXT NOT NULL,
    created TEXT NOT NULL
) STRICT;
""",
    2: """
ALTER TABLE matches ADD COLUMN secret TEXT NOT NULL DEFAULT '';
ALTER TABLE matches ADD COLUMN guests_key TEXT NOT NULL DEFAULT '';
UPDATE matches SET secret = CAST(seed AS TEXT), guests_key = lower(hex(randomblob(16)));
ALTER TABLE matches DROP COLUMN seed;
""",
}
_COLUMNS = (
    "deal", "lineup", "seed", "seating", "returns", "actions", "decisions", "seconds", "error", "digest", "failures",
    "outcomes", "notes",
)  # fmt: skip
_JSON_COLUMNS = {"seating", "returns", "actions", "decisions", "seconds", "failures", "outcomes", "notes"}
_CHOSEN_BY_SEED = ("id", "secret", "guests_key", "created")  # of a match
_NOT_IN_RESULTS = ("actions", "notes")  # nothing that sums up games needs them, and they are long


@dataclass(frozen=True)
class GameRecord:
    """One game of a match, finished or failed.

    Attributes:
        deal, lineup: which game it is.
        seed: of the cards.
        seating: the agent's number in each player's place.
        returns: by player; empty where the game failed.
        actions: in order, codes for forfeits included.
        decisions: by player.
        seconds: spent deciding, by player.
        error: what went wrong, or None.
        digest: over events and returns, as in a replay.
        failures: by player: {class: number} of failed tries; empty where no proxy counted.
        outcomes: by player: how many decisions were "forced", and "forfeit"; likewise.
        notes: the decisions that failed or that agents made notes of, as JSON values.
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
    digest: str | None = None
    failures: tuple[dict[str, int], ...] = ()
    outcomes: tuple[dict[str, int], ...] = ()
    notes: tuple[dict[str, Any], ...] = ()


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
        elif version > SCHEMA_VERSION or version < 1:
            raise ArenaError(
                f"{self.path} has schema version {version}; this cardenvs reads versions 1 to {SCHEMA_VERSION}. "
                "Open it with a newer cardenvs"
            )
        else:
            for older in range(version, SCHEMA_VERSION):
                self._execute_all(_UPGRADES[older])
            if version < SCHEMA_VERSION:
                self._connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")

    def _create(self) -> None:
        self._execute_all(_SCHEMA)
        self._connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
        self._connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")

    def _execute_all(self, statements: str) -> None:
        for statement in statements.split(";\n"):
            if statement.strip():
                self._connection.execute(statement)

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

    # -- entering -----------------------------------------------------------------------------------------------

    def begin(self, match: "Match") -> None:
        """Enter a match; nothing happens if it is there."""
        with self._transaction():
            self._insert("OR IGNORE", "matches", self._row(match))

    def _row(self, match: "Match") -> dict[str, Any]:
        return {
            "id": match.id,
            "game": match.game.name,
            "options": json.dumps(match.options.as_dict()),
            "agents": json.dumps(agents_json(match)),
            "secret": match.seed.text,
            "guests_key": match.seed.guests_key,
            "created": _now(),
            "layout": match.game.layout(match.options).hash,
            "schedule": json.dumps(match.schedule.as_dict()),
            "guard": None if match.guard is None else json.dumps(dataclasses.asdict(match.guard)),
        }

    def seeded(self, match: "Match", resume: bool = False) -> "Match":
        """The match with the guests' key that it has here; a new match as it is.

        Args:
            match: to be played or gone on with.
            resume: where nobody chose its seed, take that of the last match which is the same but for the seed.
        """
        what = {name: value for name, value in self._row(match).items() if name not in _CHOSEN_BY_SEED}
        which = {"id": match.id} if not (resume and match.seed.is_drawn) else what
        query = (
            f"SELECT secret, guests_key FROM matches WHERE {' AND '.join(f'{name} IS ?' for name in which)} "
            "ORDER BY rowid DESC"
        )
        found = self._connection.execute(query, tuple(which.values())).fetchone()
        return match if found is None else dataclasses.replace(match, seed=MatchSeed.of("-".join(found)))

    def begin_experiment(self, experiment: "StoredExperiment") -> None:
        """Enter an experiment. One with the same matches takes its place."""
        row = {
            "id": experiment.id,
            "name": experiment.name,
            "matches": json.dumps(experiment.matches),
            "anchors": json.dumps(experiment.anchors),
            "config": json.dumps(experiment.config),
            "created": _now(),
        }
        with self._transaction():
            self._insert("OR REPLACE", "experiments", row)

    def _insert(self, how: str, table: str, row: dict[str, Any]) -> None:
        names, places = ", ".join(row), ", ".join("?" * len(row))
        self._connection.execute(f"INSERT {how} INTO {table} ({names}) VALUES ({places})", tuple(row.values()))

    def add(self, match: "Match", record: GameRecord) -> None:
        """Enter a game. It is on disk within a fraction of a second of the next call to `add` or `write`."""
        agents = json.dumps([match.names[agent] for agent in record.seating])
        values = [getattr(record, name) for name in _COLUMNS]
        texts = [
            json.dumps(value) if name in _JSON_COLUMNS else value for name, value in zip(_COLUMNS, values, strict=True)
        ]
        if record.error:
            texts[_COLUMNS.index("returns")] = None
        self._waiting.append((match.id, agents, len(record.actions), *texts))
        if time.monotonic() - self._last_write >= _WRITE_EVERY_S:
            self.write()

    def write(self) -> None:
        """Write what waits, in one transaction. A game that failed before is replaced; one that is finished stays."""
        if self._waiting:
            names = ("match_id", "agents", "plies", *_COLUMNS)
            changes = ", ".join(f"{name} = excluded.{name}" for name in names)
            statement = (
                f"INSERT INTO games ({', '.join(names)}) VALUES ({', '.join('?' * len(names))}) "
                f"ON CONFLICT DO UPDATE SET {changes} WHERE games.error IS NOT NULL"
            )
            with self._transaction():
                self._connection.executemany(statement, self._waiting)
            self._waiting.clear()
        self._last_write = time.monotonic()

    # -- reading ------------------------------------------------------------------------------------------------

    def count(self, match_id: str) -> int:
        """How many games of a match are finished."""
        self.write()
        query = "SELECT count(*) FROM games WHERE match_id = ? AND error IS NULL"
        (count,) = self._connection.execute(query, (match_id,)).fetchone()
        return count

    def finished(self, match_id: str) -> set[tuple[int, int]]:
        """(deal, lineup) of every finished game of a match."""
        self.write()
        query = "SELECT deal, lineup FROM games WHERE match_id = ? AND error IS NULL"
        return set(self._connection.execute(query, (match_id,)))

    def records(self, match_id: str) -> Iterator[GameRecord]:
        """The finished games of a match, by deal and lineup."""
        return self._records(match_id, _COLUMNS)

    def results(self, match_id: str) -> Iterator[GameRecord]:
        """The same without actions and notes, which are read faster."""
        return self._records(match_id, tuple(name for name in _COLUMNS if name not in _NOT_IN_RESULTS))

    def game(self, match_id: str, deal: int, lineup: int) -> GameRecord:
        """One finished game.

        Raises:
            ArenaError: the store does not have it.
        """
        for record in self._records(match_id, _COLUMNS, "AND deal = ? AND lineup = ?", (deal, lineup)):
            return record
        raise ArenaError(f"{self.path or 'the store'} has no finished game {deal}.{lineup} of match {match_id}")

    def _records(
        self, match_id: str, columns: tuple[str, ...], which: str = "", values: tuple[int, ...] = ()
    ) -> Iterator[GameRecord]:
        self.write()
        query = (
            f"SELECT {', '.join(columns)} FROM games WHERE match_id = ? AND error IS NULL {which} ORDER BY deal, lineup"
        )
        missing: dict[str, Any] = {name: () for name in _COLUMNS if name not in columns}
        for row in self._connection.execute(query, (match_id, *values)):
            found: dict[str, Any] = {
                name: tuple(json.loads(value)) if name in _JSON_COLUMNS else value
                for name, value in zip(columns, row, strict=True)
            }
            yield GameRecord(**found, **missing)

    def match_ids(self) -> list[str]:
        """The matches of the store, in the order in which they were entered."""
        return [match_id for (match_id,) in self._connection.execute("SELECT id FROM matches ORDER BY rowid")]

    def match(self, match_id: str) -> "Match":
        """A match as it was entered, with as many deals as it has begun (1 if none). Its agents may be gone.

        Raises:
            ArenaError: no such match, or one of another version of its game.
            GameNotFoundError, OptionError: its game is not installed, or has other options now.
        """
        from cardenvs.arena.match import Match

        self.write()
        query = "SELECT game, options, agents, secret, guests_key, layout, schedule, guard FROM matches WHERE id = ?"
        row = self._connection.execute(query, (match_id,)).fetchone()
        if row is None:
            raise ArenaError(f"{self.path or 'the store'} has no match {match_id}")
        name, options, agents, secret, key, layout, schedule, guard = row
        seed = MatchSeed.of(f"{secret}-{key}")
        (last,) = self._connection.execute("SELECT max(deal) FROM games WHERE match_id = ?", (match_id,)).fetchone()
        return Match.stored(
            match_id, name, json.loads(options), json.loads(agents), 1 if last is None else last + 1, seed, layout,
            json.loads(schedule), None if guard is None else json.loads(guard),
        )  # fmt: skip

    def experiments(self) -> list["StoredExperiment"]:
        """The experiments of the store, the last one last."""
        query = "SELECT name, matches, anchors, config FROM experiments ORDER BY created, rowid"
        return [
            StoredExperiment(
                name, tuple(tuple(pair) for pair in json.loads(matches)), json.loads(anchors), json.loads(config)
            )
            for name, matches, anchors, config in self._connection.execute(query)
        ]

    def failed(self) -> list[tuple[str, int, int, str]]:
        """(match id, deal, lineup, error) of the games that failed and were not played again since."""
        self.write()
        query = (
            "SELECT match_id, deal, lineup, error FROM games WHERE error IS NOT NULL ORDER BY match_id, deal, lineup"
        )
        return list(self._connection.execute(query))

    def digest(self) -> str:
        """A hash of all that the store holds, times aside: equal for equal results, whatever the order of entry."""
        self.write()
        digest = hashlib.sha256()
        for query in (
            "SELECT id, game, options, agents, secret, layout, schedule, guard FROM matches ORDER BY id",
            "SELECT id, name, matches, anchors, config FROM experiments ORDER BY id",
            "SELECT match_id, deal, lineup, seed, seating, agents, returns, actions, plies, decisions, error, digest, "
            "failures, outcomes FROM games ORDER BY match_id, deal, lineup",
        ):
            for row in self._connection.execute(query):
                digest.update(json.dumps(row).encode() + b"\n")
        return digest.hexdigest()


@dataclass(frozen=True)
class StoredExperiment:
    """An experiment as a store keeps it.

    Attributes:
        name: for people.
        matches: (match id, title) of each.
        anchors: the fixed ratings, by agent.
        config: the file that it was read from, as JSON values.
    """

    name: str
    matches: tuple[tuple[str, str], ...]
    anchors: dict[str, float]
    config: dict[str, Any]

    def __post_init__(self) -> None:
        """Refuse names that do not show as they are: a store may come from anybody."""
        for shown in (self.name, *(title for _, title in self.matches)):
            if not shown.isprintable():
                raise ArenaError(f"an experiment or match is called '{printable(shown)}', which does not show as it is")

    @property
    def id(self) -> str:
        """A hash of the name and the matches."""
        return hashlib.sha256(json.dumps([self.name, self.matches]).encode()).hexdigest()[:16]


def agents_json(match: "Match") -> list[dict[str, Any]]:
    """The agents of a match as JSON values: name, spec, fingerprint, and the conditions of those that have any."""
    zipped = zip(match.names, match.agents, match.fingerprints, match.conditions, strict=True)
    return [
        {"name": name, "spec": spec, "fingerprint": fingerprint, **({"conditions": conditions} if conditions else {})}
        for name, spec, fingerprint, conditions in zipped
    ]


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
