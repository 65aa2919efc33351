"""Games as they are kept: in a SQLite file, written before the client hears of a change."""

import json
import secrets
import time
from dataclasses import dataclass
from typing import Any

from cardenvs.server.database import open_database
from cardenvs.server.poker.errors import ApiError
from cardenvs.server.poker.session import Policy, Session

_DAY = 86_400
_ID_BYTES = 16
_SCHEMA = """
CREATE TABLE IF NOT EXISTS poker_games (
    game_id TEXT PRIMARY KEY,
    client TEXT NOT NULL,       -- secret of the client that began it
    seed INTEGER NOT NULL,
    deck_seed INTEGER NOT NULL,
    mode TEXT NOT NULL,
    tier TEXT NOT NULL,
    target INTEGER,
    policies TEXT NOT NULL,     -- JSON, [kind, total] of hints and of jumps
    hints_used INTEGER NOT NULL,
    jumps_used INTEGER NOT NULL,
    history TEXT NOT NULL,      -- JSON, ids of the actions
    step INTEGER NOT NULL,
    is_revealed INTEGER NOT NULL,
    version INTEGER NOT NULL,   -- of the row; a change names the one it is based on
    begun REAL NOT NULL,        -- seconds since 1970
    changed REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS poker_games_of_client ON poker_games (client, begun);
CREATE INDEX IF NOT EXISTS poker_games_by_change ON poker_games (changed);
"""
_COLUMNS = (
    "seed, deck_seed, mode, tier, target, policies, hints_used, jumps_used, history, step, is_revealed, version, begun"
)


@dataclass(frozen=True)
class Kept:
    """A session as it is kept.

    Attributes:
        game_id: unguessable; whoever knows it may play.
        session: the game.
        version: counts its changes.
        begun: seconds since 1970.
    """

    game_id: str
    session: Session
    version: int
    begun: float


class Games:
    """The games of a server. Use it from one thread at a time; other processes may use the same file."""

    def __init__(self, path: str) -> None:
        """Open the file, or make it.

        Raises:
            FileError: it cannot be opened or is not a file of games.
        """
        check = f"SELECT game_id, client, changed, {_COLUMNS} FROM poker_games LIMIT 1"
        self._db = open_database(path, _SCHEMA, check, "games")

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def add(self, client: str, session: Session) -> Kept:
        """Keep a new game."""
        game_id, now = secrets.token_urlsafe(_ID_BYTES), time.time()
        policies = json.dumps([[policy.kind, policy.total] for policy in (session.hint, session.jump)])
        row = (
            session.seed, session.deck_seed, session.mode, session.tier, session.target, policies, session.hint.used,
            session.jump.used, "[]", 0, 0, 0, now,
        )  # fmt: skip
        marks = ", ".join("?" * (len(row) + 3))
        self._db.execute(
            f"INSERT INTO poker_games ({_COLUMNS}, game_id, client, changed) VALUES ({marks})",
            (*row, game_id, client, now),
        )
        return Kept(game_id, session, 0, now)

    def find(self, game_id: str) -> Kept:
        """Return a game.

        Raises:
            ApiError: there is none.
        """
        row = self._db.execute(f"SELECT {_COLUMNS} FROM poker_games WHERE game_id = ?", (game_id,)).fetchone()
        if row is None:
            raise ApiError(404, "GAME_NOT_FOUND")
        return _kept(game_id, row)

    def of_client(self, client: str, most: int) -> list[Kept]:
        """Return the games that a client began, newest first."""
        rows = self._db.execute(
            f"SELECT game_id, {_COLUMNS} FROM poker_games WHERE client = ? ORDER BY begun DESC, rowid DESC LIMIT ?",
            (client, most),
        )
        return [_kept(game_id, row) for game_id, *row in rows]

    def change(self, kept: Kept, session: Session) -> Kept:
        """Keep a changed session.

        Raises:
            ApiError: the game has changed meanwhile. Nothing is kept.
        """
        found = self._db.execute(
            "UPDATE poker_games SET hints_used = ?, jumps_used = ?, history = ?, step = ?, is_revealed = ?, "
            "changed = ?, version = version + 1 WHERE game_id = ? AND version = ?",
            (
                session.hint.used, session.jump.used, json.dumps(session.history), session.step,
                int(session.is_revealed), time.time(), kept.game_id, kept.version,
            ),
        )  # fmt: skip
        if found.rowcount != 1:
            raise ApiError(409, "CONFLICT", reason="the_game_has_changed")
        return Kept(kept.game_id, session, kept.version + 1, kept.begun)

    def count(self) -> int:
        """Return how many games are kept."""
        return int(self._db.execute("SELECT count(*) FROM poker_games").fetchone()[0])

    def drop_old(self, days: int) -> None:
        """Forget games in which nothing has happened for so many days."""
        self._db.execute("DELETE FROM poker_games WHERE changed < ?", (time.time() - days * _DAY,))


def _kept(game_id: str, row: Any) -> Kept:
    seed, deck_seed, mode, tier, target, policies, hints, jumps, history, step, is_revealed, version, begun = row
    (hint, hint_total), (jump, jump_total) = json.loads(policies)
    session = Session(
        seed, deck_seed, mode, tier, target, Policy(hint, hint_total, hints), Policy(jump, jump_total, jumps),
        tuple(json.loads(history)), step, bool(is_revealed),
    )  # fmt: skip
    return Kept(game_id, session, version, begun)
