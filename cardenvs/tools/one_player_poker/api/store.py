"""Games in a SQLite file. Each change is written before the client gets a response.

The number of games is bounded, for each client address and in all. Every new game deletes some expired games, and if
the store is full, idle games of the address with the most games. So a client that fills the store loses games of its
own, and others can still start games.
"""

import json
import secrets
import time
from dataclasses import dataclass
from typing import Any

from cardenvs.core.state import State
from cardenvs.server.database import open_database
from cardenvs.tools.one_player_poker.api.errors import ApiError
from cardenvs.tools.one_player_poker.api.session import CHALLENGE, Policy, Session
from cardenvs.tools.one_player_poker.api.settings import PokerSettings

_DAY = 86_400
_ID_BYTES = 16
_SWEPT = 20  # expired games that a new game deletes at most
_SHARE = 200  # a full store deletes 1/_SHARE of its games, so that it is not full again at once
_SCHEMA = """
CREATE TABLE IF NOT EXISTS poker_games (
    game_id TEXT PRIMARY KEY,
    client TEXT NOT NULL,       -- secret of the client that started the game
    address TEXT NOT NULL,      -- address of that client
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
    score INTEGER NOT NULL,
    is_over INTEGER NOT NULL,
    version INTEGER NOT NULL,   -- number of changes; a change names the version that it is based on
    begun REAL NOT NULL,        -- seconds since 1970
    changed REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS poker_games_of_client ON poker_games (client, begun);
CREATE INDEX IF NOT EXISTS poker_games_of_address ON poker_games (address, changed);
CREATE INDEX IF NOT EXISTS poker_games_by_age ON poker_games (is_over, changed);
"""
_COLUMNS = (
    "seed, deck_seed, mode, tier, target, policies, hints_used, jumps_used, history, step, is_revealed, version, "
    "begun, score, is_over"
)
_OPEN_CHALLENGE = f"NOT is_over AND mode = '{CHALLENGE}' AND seed <> deck_seed"  # unfinished, with a secret deck


@dataclass(frozen=True)
class Kept:
    """A session in the store."""

    game_id: str  # secret id; anybody who knows it may play
    session: Session  # the game
    version: int  # number of changes
    begun: float  # start of the game, in seconds since 1970
    score: int  # points so far
    is_over: bool  # whether the game is over at the player's step

    @property
    def shown_seed(self) -> int | None:
        """The seed; None for a secret deck until the game is over and no jump is allowed."""
        hides = self.session.is_secret and (not self.is_over or self.session.may_jump)
        return None if hides else self.session.seed


class Games:
    """The store of games. Use it from one thread at a time; other processes may use the same file."""

    def __init__(self, path: str, settings: PokerSettings | None = None, keep_days: float = 30) -> None:
        """Open the database file at `path`, or create it; ":memory:" is allowed. Finished games are kept for
        `keep_days`.

        Raises:
            FileError: the file cannot be opened, or is not one of this server.
        """
        self._db = open_database(
            path, _SCHEMA, f"SELECT game_id, client, address, {_COLUMNS} FROM poker_games", "games"
        )
        self._settings, self._keep_days = settings or PokerSettings(), keep_days
        self._room = 0  # games that may be added before the next count, which is slow

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def add(self, client: str, address: str, session: Session) -> Kept:
        """Add a new game without actions, and make room for it. `client` is the client's secret."""
        self._drop_expired()
        self._make_room(address)
        game_id, now = secrets.token_urlsafe(_ID_BYTES), time.time()
        policies = json.dumps([[policy.kind, policy.total] for policy in (session.hint, session.jump)])
        row = (
            session.seed, session.deck_seed, session.mode, session.tier, session.target, policies, session.hint.used,
            session.jump.used, "[]", 0, 0, 0, now, 0, 0,
        )  # fmt: skip
        marks = ", ".join("?" * (len(row) + 4))
        self._db.execute(
            f"INSERT INTO poker_games ({_COLUMNS}, game_id, client, address, changed) VALUES ({marks})",
            (*row, game_id, client, address, now),
        )
        return Kept(game_id, session, 0, now, 0, False)

    def find(self, game_id: str) -> Kept:
        """Return a game. Raises ApiError if there is no such game."""
        row = self._db.execute(f"SELECT {_COLUMNS} FROM poker_games WHERE game_id = ?", (game_id,)).fetchone()
        if row is None:
            raise ApiError(404, "GAME_NOT_FOUND")
        return _kept(game_id, row)

    def of_client(self, client: str, most: int) -> list[Kept]:
        """Return at most `most` games that a client started, newest first."""
        rows = self._db.execute(
            f"SELECT game_id, {_COLUMNS} FROM poker_games WHERE client = ? ORDER BY begun DESC, rowid DESC LIMIT ?",
            (client, most),
        )
        return [_kept(game_id, row) for game_id, *row in rows]

    def change(self, kept: Kept, session: Session, state: State) -> Kept:
        """Write a changed session, whose game was `kept` before the change.

        Raises:
            ApiError: the game has changed since it was read. Nothing is written.
        """
        score, is_over = int(state.record.score), state.is_terminal
        found = self._db.execute(
            "UPDATE poker_games SET hints_used = ?, jumps_used = ?, history = ?, step = ?, is_revealed = ?, score = ?, "
            "is_over = ?, changed = ?, version = version + 1 WHERE game_id = ? AND version = ?",
            (
                session.hint.used, session.jump.used, json.dumps(session.history), session.step,
                int(session.is_revealed), score, int(is_over), time.time(), kept.game_id, kept.version,
            ),
        )  # fmt: skip
        if found.rowcount != 1:
            raise ApiError(409, "CONFLICT", reason="the_game_has_changed")
        return Kept(kept.game_id, session, kept.version + 1, kept.begun, score, is_over)

    def count(self) -> int:
        """Return the number of games."""
        return int(self._db.execute("SELECT count(*) FROM poker_games").fetchone()[0])

    def open_challenges(self, address: str) -> int:
        """Return the number of unfinished challenges with secret decks of a client address."""
        asked = f"SELECT count(*) FROM poker_games WHERE address = ? AND {_OPEN_CHALLENGE}"
        return int(self._db.execute(asked, (address,)).fetchone()[0])

    def _drop_expired(self) -> None:
        """Delete a few expired games."""
        now = time.time()
        for is_over, days in ((0, self._settings.unfinished_game_days), (1, self._keep_days)):
            self._drop("WHERE is_over = ? AND changed < ? ORDER BY changed", (is_over, now - days * _DAY), _SWEPT)

    def _make_room(self, address: str) -> None:
        """Delete games if the store, or the share of an address, is full."""
        (of_address,) = self._db.execute("SELECT count(*) FROM poker_games WHERE address = ?", (address,)).fetchone()
        excess = of_address + 1 - self._settings.games_per_address
        if excess > 0:  # keeps unfinished challenges: nobody can get rid of one that goes badly
            self._drop(f"WHERE address = ? AND NOT ({_OPEN_CHALLENGE}) ORDER BY changed", (address,), excess)
        if self._room == 0:
            if self.count() >= self._settings.games:
                self._drop_of_the_greediest()
            self._room = max(1, min(1 + self._settings.games // _SHARE, self._settings.games - self.count()))
        self._room -= 1

    def _drop_of_the_greediest(self) -> None:
        """Delete idle games of the addresses with the most games, down to half of the largest number."""
        asked = (
            "SELECT address, count(*) AS number FROM poker_games GROUP BY address ORDER BY number DESC, min(changed) "
            "LIMIT 100"
        )
        found = self._db.execute(asked).fetchall()
        kept, left = found[0][1] // 2, 1 + self._settings.games // _SHARE
        for address, number in found:
            excess = min(number - kept, left)
            if excess > 0:
                self._drop("WHERE address = ? ORDER BY changed", (address,), excess)
                left -= excess

    def _drop(self, which: str, values: tuple[Any, ...], most: int) -> None:
        chosen = f"SELECT rowid FROM poker_games {which} LIMIT ?"
        self._db.execute(f"DELETE FROM poker_games WHERE rowid IN ({chosen})", (*values, most))


def _kept(game_id: str, row: Any) -> Kept:
    seed, deck_seed, mode, tier, target, policies, hints, jumps, history, step, is_revealed, *rest = row
    version, begun, score, is_over = rest
    (hint, hint_total), (jump, jump_total) = json.loads(policies)
    session = Session(
        seed, deck_seed, mode, tier, target, Policy(hint, hint_total, hints), Policy(jump, jump_total, jumps),
        tuple(json.loads(history)), step, bool(is_revealed),
    )  # fmt: skip
    return Kept(game_id, session, version, begun, score, bool(is_over))
