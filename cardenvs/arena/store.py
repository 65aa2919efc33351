"""The store: an SQLite file with one row per game.

A store may hold many matches, and several processes may write to it: the first to finish a game records it.
"""

import dataclasses
import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.seeds import MatchSeed
from cardenvs.arena.database import (
    Database,
    Reader,
    Row,
    is_count,
    is_mapping,
    is_number,
    is_whole,
    json_cell,
    list_of,
    now,
    optional,
    text,
    whole,
)
from cardenvs.arena.match import MOST_DEALS, Entry, Match
from cardenvs.arena.records import GameRecord, StoredExperiment
from cardenvs.arena.schedule import Schedule
from cardenvs.core.errors import ArenaError, CardenvsError
from cardenvs.core.registry import get_game
from cardenvs.core.view import GameStatistics

SCHEMA_VERSION = 4

_SCHEMA = """
CREATE TABLE matches (
    id TEXT PRIMARY KEY,            -- Match.id
    game TEXT NOT NULL,
    options TEXT NOT NULL,          -- JSON, every option by name
    agents TEXT NOT NULL,           -- JSON, [{"name", "spec", "fingerprint", "conditions"}, ...]
    secret TEXT NOT NULL,           -- MatchSeed.text, from which the cards are derived
    guests_key TEXT NOT NULL,       -- from which the guests' seeds are derived
    created TEXT NOT NULL,          -- UTC time
    layout TEXT NOT NULL,           -- hash of the observation's layout
    schedule TEXT NOT NULL DEFAULT '{}',  -- JSON, the fields that differ from a round robin
    guard TEXT                      -- JSON, limits on agents; NULL: the first failure ended the match
) STRICT;
CREATE TABLE games (
    match_id TEXT NOT NULL REFERENCES matches (id),
    deal INTEGER NOT NULL,
    lineup INTEGER NOT NULL,        -- index into Match.lineups
    seed INTEGER NOT NULL,          -- seed of the cards
    seating TEXT NOT NULL,          -- JSON, the agent's number by player
    agents TEXT NOT NULL,           -- JSON, the agent's name by player
    returns TEXT,                   -- JSON, by player; NULL if the game failed
    actions TEXT NOT NULL,          -- JSON, all actions in order, codes for forfeits included
    plies INTEGER NOT NULL,
    decisions TEXT NOT NULL,        -- JSON, number of decisions by player
    seconds TEXT NOT NULL,          -- JSON, time spent deciding, by player
    error TEXT,                     -- description of the failure; NULL if the game was finished
    digest TEXT,                    -- hash of events and returns, as in a replay; NULL if the game failed
    failures TEXT NOT NULL DEFAULT '[]',  -- JSON, by player: number of failed tries by class
    outcomes TEXT NOT NULL DEFAULT '[]',  -- JSON, by player: {"forced": number, "forfeit": number}
    notes TEXT NOT NULL DEFAULT '[]',     -- JSON, decisions that failed or that agents made notes on
    statistics TEXT,                -- JSON, the GameStatistics; NULL if they were not recorded
    PRIMARY KEY (match_id, deal, lineup)
) STRICT, WITHOUT ROWID;
CREATE TABLE experiments (
    id TEXT PRIMARY KEY,            -- hash of name and matches
    name TEXT NOT NULL,
    matches TEXT NOT NULL,          -- JSON, [[match id, title], ...]
    anchors TEXT NOT NULL,          -- JSON, {agent: rating}
    config TEXT NOT NULL,           -- JSON, contents of the experiment's file
    created TEXT NOT NULL           -- UTC time
) STRICT;
"""
_COLUMNS = (
    "deal", "lineup", "seed", "seating", "returns", "actions", "decisions", "seconds", "error", "digest", "failures",
    "outcomes", "notes", "statistics",
)  # fmt: skip
_JSON_COLUMNS = {"seating", "returns", "actions", "decisions", "seconds", "failures", "outcomes", "notes"}
_PER_PLAYER = ("returns", "decisions", "seconds", "failures", "outcomes")  # columns with a value for each player
_CHOSEN_BY_SEED = ("id", "secret", "guests_key", "created")  # columns of a match
_NOT_IN_RESULTS = ("actions", "notes", "statistics")  # long columns that summaries do not need
_INSERT = (  # replaces a failed game, but not a finished one
    f"INSERT INTO games (match_id, agents, plies, {', '.join(_COLUMNS)}) "
    f"VALUES ({', '.join('?' * (3 + len(_COLUMNS)))}) ON CONFLICT DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in ("match_id", "agents", "plies", *_COLUMNS))
    + " WHERE games.error IS NOT NULL"
)


def _is_agent(value: Any) -> bool:
    named = is_mapping(value) and all(isinstance(value.get(key), str) for key in ("name", "spec", "fingerprint"))
    return named and is_mapping(value.get("conditions", {}))


def _is_titled(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)


def _is_anchors(value: Any) -> bool:
    return is_mapping(value) and all(map(is_number, value.values()))


def _is_config(value: Any) -> bool:
    if not is_mapping(value) or not is_mapping(ratings := value.get("ratings", {})):
        return False
    by, games = ratings.get("by", "results"), ratings.get("games", 1)
    return set(ratings) <= {"by", "games"} and by in ("results", "places") and is_whole(games) and games > 0


def _is_statistics(value: Any) -> bool:
    if not is_mapping(value) or set(value) != {"figures", "counts", "winners"}:
        return False
    figures, counts, winners = value["figures"], value["counts"], value["winners"]
    return (
        is_mapping(figures)
        and all(map(list_of(is_number), figures.values()))
        and is_mapping(counts)
        and all(map(is_count, counts.values()))
        and (winners is None or list_of(is_whole)(winners))
    )


_MAPPING = json_cell(is_mapping, "a JSON object")
_WHOLES = json_cell(list_of(is_whole), "a JSON list of whole numbers from 0")
_NUMBERS = json_cell(list_of(is_number), "a JSON list of numbers")
_COUNTS = json_cell(list_of(is_count), "a JSON list of counts by name")
_GAME_CELLS: dict[str, Reader] = {
    "deal": whole, "lineup": whole, "seed": whole, "seating": _WHOLES, "returns": _NUMBERS, "actions": _WHOLES,
    "decisions": _WHOLES, "seconds": _NUMBERS, "error": optional(text), "digest": optional(text), "failures": _COUNTS,
    "outcomes": _COUNTS, "notes": json_cell(list_of(is_mapping), "a JSON list of objects"),
    "statistics": optional(json_cell(_is_statistics, "a JSON object of statistics")),
}  # fmt: skip
_MATCH_CELLS: dict[str, Reader] = {
    "game": text, "options": _MAPPING, "agents": json_cell(list_of(_is_agent), "a JSON list of agents"), "secret": text,
    "guests_key": text, "layout": text, "schedule": _MAPPING, "guard": optional(_MAPPING),
}  # fmt: skip
_EXPERIMENT_CELLS: dict[str, Reader] = {
    "name": text, "matches": json_cell(list_of(_is_titled), "a JSON list of [match id, title]"),
    "anchors": json_cell(_is_anchors, "a JSON object of ratings by name"),
    "config": json_cell(_is_config, "a JSON object of settings"),
}  # fmt: skip
_RESTORE = "Restore a backup of the store"
_PLAY_AGAIN = (
    "`cardenvs verify` names all such rows; delete them and continue with --resume, which plays their games again"
)


class Store(Database):
    """An open store of matches and their games."""

    kind = "store of cardenvs results"
    application_id = 0x63617264  # "card"
    schema_version = SCHEMA_VERSION
    schema = _SCHEMA
    insert = _INSERT

    # -- adding -------------------------------------------------------------------------------------------------

    def begin(self, match: Match) -> None:
        """Add a match, unless the store already has it."""
        with self._transaction():
            self._insert("OR IGNORE", "matches", self._match_row(match))

    def _match_row(self, match: Match) -> dict[str, Any]:
        return {
            "id": match.id,
            "game": match.game.name,
            "options": json.dumps(match.options.as_dict()),
            "agents": json.dumps([entry.as_dict() for entry in match.entries]),
            "secret": match.seed.text,
            "guests_key": match.seed.guests_key,
            "created": now(),
            "layout": match.game.layout(match.options).hash,
            "schedule": json.dumps(match.schedule.as_dict()),
            "guard": None if match.guard is None else json.dumps(dataclasses.asdict(match.guard)),
        }

    def seeded(self, match: Match, resume: bool = False) -> Match:
        """Return the match with the guests' key from the store, or unchanged if the store does not have it.

        Args:
            match: the match to play or continue.
            resume: if its seed was drawn, use the seed of the last match that differs only in the seed.
        """
        what = {name: value for name, value in self._match_row(match).items() if name not in _CHOSEN_BY_SEED}
        which = {"id": match.id} if not (resume and match.seed.is_drawn) else what
        query = (
            f"SELECT secret, guests_key FROM matches WHERE {' AND '.join(f'{name} IS ?' for name in which)} "
            "ORDER BY rowid DESC"
        )
        found = self._connection.execute(query, tuple(which.values())).fetchone()
        return match if found is None else match.changed(seed=MatchSeed.of("-".join(found)))

    def begin_experiment(self, experiment: StoredExperiment) -> None:
        """Add an experiment, replacing one with the same name and matches."""
        row = {
            "id": experiment.id,
            "name": experiment.name,
            "matches": json.dumps(experiment.matches),
            "anchors": json.dumps(experiment.anchors),
            "config": json.dumps(experiment.config),
            "created": now(),
        }
        with self._transaction():
            self._insert("OR REPLACE", "experiments", row)

    def _insert(self, how: str, table: str, row: dict[str, Any]) -> None:
        names, places = ", ".join(row), ", ".join("?" * len(row))
        self._connection.execute(f"INSERT {how} INTO {table} ({names}) VALUES ({places})", tuple(row.values()))

    def add(self, match: Match, record: GameRecord) -> None:
        """Add a game. It is buffered until the next `write`, or an `add` after a fraction of a second."""
        agents = json.dumps([match.names[agent] for agent in record.seating])
        values = [getattr(record, name) for name in _COLUMNS]
        texts = [
            json.dumps(value) if name in _JSON_COLUMNS else value for name, value in zip(_COLUMNS, values, strict=True)
        ]
        if record.error:
            texts[_COLUMNS.index("returns")] = None
        if record.statistics is not None:
            texts[_COLUMNS.index("statistics")] = json.dumps(dataclasses.asdict(record.statistics))
        self._enter((match.id, agents, len(record.actions), *texts))

    # -- reading ------------------------------------------------------------------------------------------------

    def count(self, match_id: str) -> int:
        """Return the number of finished games of a match."""
        return int(self._single("SELECT count(*) FROM games WHERE match_id = ? AND error IS NULL", match_id))

    def _single(self, query: str, match_id: str) -> Any:
        ((found,),) = list(self._rows(query, (match_id,)))
        return found

    def finished(self, match_id: str) -> set[tuple[int, int]]:
        """Return (deal, lineup) of every finished game of a match."""
        return set(self._rows("SELECT deal, lineup FROM games WHERE match_id = ? AND error IS NULL", (match_id,)))

    def records(
        self, match_id: str, damaged: Callable[[tuple[Any, Any], str], None] | None = None
    ) -> Iterator[GameRecord]:
        """Yield the finished games of a match, ordered by deal and lineup.

        `damaged` is called with (deal, lineup) of each unreadable row and what is wrong with it.

        Raises:
            ArenaError: a row is damaged, and `damaged` is None.
        """
        return self._records(match_id, _COLUMNS, damaged=damaged)

    def results(self, match_id: str) -> Iterator[GameRecord]:
        """Yield the games of `records` without actions, notes and statistics, which is faster."""
        return self._records(match_id, tuple(name for name in _COLUMNS if name not in _NOT_IN_RESULTS))

    def game(self, match_id: str, deal: int, lineup: int) -> GameRecord:
        """Return one finished game.

        Raises:
            ArenaError: the store does not have it, or its row is damaged.
        """
        for record in self._records(match_id, _COLUMNS, "AND deal = ? AND lineup = ?", (deal, lineup)):
            return record
        raise ArenaError(f"{self.path or 'the store'} has no finished game {deal}.{lineup} of match {match_id}")

    def _records(
        self,
        match_id: str,
        columns: tuple[str, ...],
        which: str = "",
        values: tuple[int, ...] = (),
        damaged: Callable[[tuple[Any, Any], str], None] | None = None,
    ) -> Iterator[GameRecord]:
        query = (
            f"SELECT {', '.join(columns)} FROM games WHERE match_id = ? AND error IS NULL {which} ORDER BY deal, lineup"
        )
        readers = {name: _GAME_CELLS[name] for name in columns}
        missing: dict[str, Any] = {name: () for name in _COLUMNS if name not in (*columns, "statistics")}
        for row in self._rows(query, (match_id, *values)):
            try:
                record = self._record(match_id, readers, row, missing)
            except ArenaError as error:
                if damaged is None:
                    raise
                damaged((row[0], row[1]), str(error))
            else:
                yield record

    def _record(self, match_id: str, readers: Mapping[str, Reader], row: Row, missing: Mapping[str, Any]) -> GameRecord:
        key = {"match_id": match_id, "deal": row[0], "lineup": row[1]}
        found = self._read("games", key, readers, row, _PLAY_AGAIN)
        found = {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}
        players = len(found["seating"])
        for name in _PER_PLAYER:
            if len(found[name]) != players and (found[name] or name not in ("failures", "outcomes")):
                raise self._damage(
                    "games", key, f"column {name} has {len(found[name])} values for {players} players", _PLAY_AGAIN
                )
        if len(found["failures"]) != len(found["outcomes"]):
            raise self._damage("games", key, "one of the columns failures and outcomes is empty", _PLAY_AGAIN)
        if found.get("statistics") is not None:
            found["statistics"] = GameStatistics(**found["statistics"])
            if not _fits(found["statistics"], players):
                raise self._damage(
                    "games", key, f"column statistics does not fit a game of {players} players", _PLAY_AGAIN
                )
        return GameRecord(**found, **missing)

    def stray(self) -> list[tuple[Any, Any, Any, str]]:
        """Return (match id, deal, lineup, what is wrong) of games without a match, or with both error and returns."""
        query = (
            "SELECT match_id, deal, lineup, error IS NOT NULL FROM games WHERE (error IS NULL) = (returns IS NULL) "
            "OR match_id NOT IN (SELECT id FROM matches) ORDER BY match_id, deal, lineup"
        )
        known = set(self.match_ids())
        return [
            (match_id, deal, lineup, "the store has no such match")
            if match_id not in known
            else (match_id, deal, lineup, "it has both an error and returns")
            for match_id, deal, lineup, has_error in self._rows(query)
            if match_id not in known or has_error  # a row with neither fails when it is read
        ]

    def match_ids(self) -> list[str]:
        """Return the ids of the store's matches, in the order they were added."""
        ids = []
        for row, found in self._rows("SELECT rowid, id FROM matches ORDER BY rowid"):
            ids.append(self._read("matches", {"number": row}, {"id": text}, (found,), _RESTORE)["id"])
        return ids

    def match(self, match_id: str) -> Match:
        """Return a match as it was added, with as many deals as it has begun (at least 1). Its agents may be gone.

        Raises:
            ArenaError: there is no such match, it is damaged, or was played with another version of its game.
            GameNotFoundError, OptionError: its game is not installed, or its options have changed.
        """
        query = f"SELECT {', '.join(_MATCH_CELLS)} FROM matches WHERE id = ?"
        row = self._row(query, (match_id,))
        if row is None:
            raise ArenaError(f"{self.path or 'the store'} has no match {match_id}")
        key = {"id": match_id}
        found = self._read("matches", key, _MATCH_CELLS, row, _RESTORE)
        last = self._single(f"SELECT max(deal) FROM games WHERE match_id = ? AND deal < {MOST_DEALS}", match_id)
        deals = 1 if last is None else max(0, int(last)) + 1  # SQLite sorts text, in a damaged row, above all numbers
        try:
            return _match_of(match_id, found, deals)
        except CardenvsError as error:
            raise type(error)(f"match {match_id} of {self.path or 'the store'}: {error}") from None
        except (TypeError, ValueError) as error:
            raise self._damage("matches", key, f"its cells do not make a match: {error}", _RESTORE) from None

    def experiments(self) -> list[StoredExperiment]:
        """Return the experiments of the store, in the order they were begun."""
        found = []
        query = f"SELECT id, {', '.join(_EXPERIMENT_CELLS)} FROM experiments ORDER BY rowid"
        for known_by, *row in self._rows(query):
            cells = self._read("experiments", {"id": known_by}, _EXPERIMENT_CELLS, tuple(row), _RESTORE)
            cells["matches"] = tuple(tuple(pair) for pair in cells["matches"])
            found.append(StoredExperiment(**cells))
        return found

    def failed(self, match_id: str | None = None) -> list[tuple[str, int, int, str]]:
        """Return (match id, deal, lineup, error) of failed games not yet played again, of one match or of all."""
        query = (
            "SELECT match_id, deal, lineup, error FROM games WHERE error IS NOT NULL AND (? IS NULL OR match_id = ?) "
            "ORDER BY match_id, deal, lineup"
        )
        failed = []
        for row in self._rows(query, (match_id, match_id)):
            key = dict(zip(("match_id", "deal", "lineup"), row[:3], strict=True))
            failed.append((*row[:3], self._read("games", key, {"error": text}, row[3:], _PLAY_AGAIN)["error"]))
        return failed

    def digest(self, matches: Collection[str] | None = None) -> str:
        """Return a hash of everything but times, notes and guests' keys. It does not depend on the order of rows.

        Args:
            matches: ids of matches, to hash only these and their games; None: the whole store.
        """
        digest = hashlib.sha256()
        some = "" if matches is None else "WHERE {} IN (SELECT value FROM json_each(?))"
        values = () if matches is None else (json.dumps(list(matches)),)
        queries = (
            "SELECT id, game, options, agents, secret, layout, schedule, guard FROM matches "
            f"{some.format('id')} ORDER BY id",
            *(() if some else ("SELECT id, name, matches, anchors, config FROM experiments ORDER BY id",)),
            "SELECT match_id, deal, lineup, seed, seating, agents, returns, actions, plies, decisions, error, digest, "
            f"failures, outcomes, statistics FROM games {some.format('match_id')} ORDER BY match_id, deal, lineup",
        )
        for query in queries:
            for row in self._rows(query, values):
                digest.update(json.dumps(row, default=bytes.hex).encode() + b"\n")  # bytes only in a damaged cell
        return digest.hexdigest()


def _fits(statistics: GameStatistics, players: int) -> bool:
    each = all(len(values) == players for values in statistics.figures.values())
    return each and all(winner < players for winner in statistics.winners or ())


def _match_of(match_id: str, found: Mapping[str, Any], deals: int) -> Match:
    """Return the match of a row.

    Raises:
        ArenaError: it was played with another version of its game.
        GameNotFoundError, OptionError: its game is not installed, or its options have changed.
    """
    game = get_game(found["game"])
    options = game.make_options(**found["options"])
    if found["layout"] != game.layout(options).hash:
        raise ArenaError(f"it was played with another version of {game.name} (its observation differs)")
    guard = None if found["guard"] is None else AgentLimits(**_tuples(found["guard"]))
    entries = tuple(Entry(**agent) for agent in found["agents"])
    seed = MatchSeed.of(f"{found['secret']}-{found['guests_key']}")
    schedule = Schedule.from_dict(found["schedule"])
    return Match(game, options, entries, deals, seed, schedule, guard, stored_id=match_id)


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
