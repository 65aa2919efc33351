"""The store of `cardenvs simulate`: an SQLite file with one row a game that is over."""

import json
from dataclasses import asdict
from typing import Any

from cardenvs.arena.database import (
    Database,
    Reader,
    is_count,
    is_mapping,
    is_number,
    is_whole,
    json_cell,
    list_of,
    now,
    number,
    optional,
    text,
    whole,
)
from cardenvs.arena.simulate import GameFailure, PlayedGame, Simulation
from cardenvs.core.view import GameStatistics

_SCHEMA = """
CREATE TABLE simulations (
    id TEXT PRIMARY KEY,            -- Simulation.id
    game TEXT NOT NULL,
    options TEXT NOT NULL,          -- JSON, every option by name
    agents TEXT NOT NULL,           -- JSON, a spec for each player
    seed INTEGER,                   -- of all games; NULL: they were listed
    guests_key TEXT NOT NULL,       -- of the seeds of guests
    created TEXT NOT NULL           -- UTC
) STRICT;
CREATE TABLE games (
    simulation_id TEXT NOT NULL REFERENCES simulations (id),
    seed INTEGER NOT NULL,
    plies INTEGER NOT NULL,
    ms REAL NOT NULL,
    returns TEXT NOT NULL,          -- JSON, by player; [] where the game failed
    winners TEXT NOT NULL,          -- JSON, players
    figures TEXT NOT NULL,          -- JSON, by name a number for each player
    counts TEXT NOT NULL,           -- JSON, by group, by name
    failure TEXT,                   -- JSON, where the game failed
    PRIMARY KEY (simulation_id, seed)
) STRICT, WITHOUT ROWID;
"""


def _is_figures(value: Any) -> bool:
    return is_mapping(value) and all(map(list_of(is_number), value.values()))


def _is_counts(value: Any) -> bool:
    return is_mapping(value) and all(map(is_count, value.values()))


def _is_failure(value: Any) -> bool:
    if not is_mapping(value) or set(value) != set(GameFailure.__dataclass_fields__):
        return False
    texts = all(isinstance(value[name], str) for name in ("kind", "message", "traceback"))
    return texts and all(value[name] is None or is_whole(value[name]) for name in ("ply", "player"))


_CELLS: dict[str, Reader] = {
    "seed": whole,
    "plies": whole,
    "ms": number,
    "returns": json_cell(list_of(is_number), "a JSON list of numbers"),
    "winners": json_cell(list_of(is_whole), "a JSON list of players"),
    "figures": json_cell(_is_figures, "a JSON object of lists of numbers"),
    "counts": json_cell(_is_counts, "a JSON object of counts"),
    "failure": optional(json_cell(_is_failure, "a JSON object of a failure")),
}
_BEGUN: dict[str, Reader] = {"seed": optional(whole), "guests_key": text}
_TAKE_COPY = "Take a copy of the store from before"
_PLAY_AGAIN = "Delete the row and go on with --resume, which plays the game again"


class SimulationStore(Database):
    """An open store of games that were played at one table or several. A game that failed is played again."""

    kind = "store of cardenvs simulations"
    application_id = 0x63617273  # "cars"
    schema_version = 1
    schema = _SCHEMA
    insert = (
        f"INSERT INTO games (simulation_id, {', '.join(_CELLS)}) VALUES ({', '.join('?' * (1 + len(_CELLS)))}) "
        f"ON CONFLICT DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _CELLS)} "
        "WHERE games.failure IS NOT NULL"
    )

    def begin(self, simulation: Simulation, seed: int | None) -> None:
        """Enter a table; if it is there, only the seed is noted."""
        row = (
            simulation.id, simulation.game.name, json.dumps(simulation.options.as_dict()),
            json.dumps(simulation.agents), seed, simulation.guests_key, now(),
        )  # fmt: skip
        query = "INSERT INTO simulations VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET seed = excluded.seed"
        with self._transaction():
            self._connection.execute(query, row)

    def begun(self, simulation: Simulation) -> tuple[int | None, str] | None:
        """The seed that was used last at a table (None: a list of seeds), and its guests' key; None: no such table.

        Raises:
            ArenaError: they are damaged.
        """
        row = self._row(f"SELECT {', '.join(_BEGUN)} FROM simulations WHERE id = ?", (simulation.id,))
        if row is None:
            return None
        found = self._read("simulations", {"id": simulation.id}, _BEGUN, row, _TAKE_COPY)
        return found["seed"], found["guests_key"]

    def add(self, simulation: Simulation, game: PlayedGame) -> None:
        """Enter a game. It is on disk within a fraction of a second of the next call to `add` or `write`."""
        failure = None if game.failure is None else json.dumps(asdict(game.failure))
        self._enter(
            (
                simulation.id, game.seed, game.plies, game.ms, json.dumps(game.returns), json.dumps(game.winners),
                json.dumps(game.statistics.figures), json.dumps(game.statistics.counts), failure,
            )
        )  # fmt: skip

    def finished(self, simulation: Simulation) -> set[int]:
        """The seeds of the games that were played to their end."""
        query = "SELECT seed FROM games WHERE simulation_id = ? AND failure IS NULL"
        return {seed for (seed,) in self._rows(query, (simulation.id,))}

    def game(self, simulation: Simulation, seed: int) -> PlayedGame:
        """A game that the store has.

        Raises:
            ArenaError: it is damaged.
            LookupError: the store does not have it.
        """
        query = f"SELECT {', '.join(_CELLS)} FROM games WHERE simulation_id = ? AND seed = ?"
        row = self._row(query, (simulation.id, seed))
        if row is None:
            raise LookupError(f"no game of seed {seed}")
        key = {"simulation_id": simulation.id, "seed": seed}
        found = self._read("games", key, _CELLS, row, _PLAY_AGAIN)
        players = 0 if found["failure"] is not None else len(simulation.agents)
        columns = [("returns", found["returns"]), *found["figures"].items()]
        if any(len(values) != players for _, values in columns) or any(p >= players for p in found["winners"]):
            raise self._damage("games", key, f"its cells do not fit a table of {players}", _PLAY_AGAIN)
        return PlayedGame(
            found["seed"], found["plies"], found["ms"], tuple(found["returns"]), tuple(found["winners"]),
            GameStatistics(found["figures"], found["counts"]),
            None if found["failure"] is None else GameFailure(**found["failure"]),
        )  # fmt: skip
