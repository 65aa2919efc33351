"""Games as they are kept: in a SQLite file, written before the client hears of a change.

The number of games is bounded, for each client address and in all. Every new game removes some that have expired, and
where there is no room left, idle games of the address that has most. So a client that fills the store loses games of
its own, and everybody else can go on starting games.
"""

import json
import secrets
import time
from dataclasses import dataclass
from typing import Any

from cardenvs.core.state import State
from cardenvs.server.database import add_columns, open_database
from cardenvs.server.poker.errors import ApiError
from cardenvs.server.poker.session import CHALLENGE, Policy, Session
from cardenvs.server.settings import Limits

_DAY = 86_400
_ID_BYTES = 16
_SWEPT = 20  # expired games that a new one removes at most
_SHARE = 200  # a full store is freed of one game in so many, so that it is not full again at once
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
"""
_FIRST_COLUMNS = (
    "seed, deck_seed, mode, tier, target, policies, hints_used, jumps_used, history, step, is_revealed, version, begun"
)
_LATER_COLUMNS = {  # a file of an earlier version lacks them
    "address": "TEXT NOT NULL DEFAULT ''",  # of the client that began it
    "score": "INTEGER",  # NULL: not known
    "is_over": "INTEGER NOT NULL DEFAULT 0",
}
_COLUMNS = f"{_FIRST_COLUMNS}, score, is_over"
_INDEXES = """
DROP INDEX IF EXISTS poker_games_by_change;
CREATE INDEX IF NOT EXISTS poker_games_by_age ON poker_games (is_over, changed);
CREATE INDEX IF NOT EXISTS poker_games_of_address ON poker_games (address, changed);
"""
_FOUR_PLAYS = """
UPDATE poker_games SET is_over = (SELECT count(*) FROM json_each(history) WHERE key < step AND value < 21) = 4
"""
_OPEN_CHALLENGE = f"NOT is_over AND mode = '{CHALLENGE}' AND seed <> deck_seed"  # with a secret deck


@dataclass(frozen=True)
class Kept:
    """A session as it is kept.

    Attributes:
        game_id: unguessable; whoever knows it may play.
        session: the game.
        version: counts its changes.
        begun: seconds since 1970.
        score: points so far; None: not known, as the game is of an earlier version.
        is_over: whether it has ended where the player stands.
    """

    game_id: str
    session: Session
    version: int
    begun: float
    score: int | None
    is_over: bool

    @property
    def shown_seed(self) -> int | None:
        """The seed, as far as the player may know it: that of a secret deck once the game is over for good."""
        hides = self.session.is_secret and (not self.is_over or self.session.may_jump)
        return None if hides else self.session.seed


class Games:
    """The games of a server. Use it from one thread at a time; other processes may use the same file."""

    def __init__(self, path: str, limits: Limits | None = None) -> None:
        """Open the file, or make it.

        Raises:
            FileError: it cannot be opened or is not a file of games.
        """
        check = f"SELECT game_id, client, changed, {_FIRST_COLUMNS} FROM poker_games LIMIT 1"
        self._db, self._limits = open_database(path, _SCHEMA, check, "games"), limits or Limits()
        if add_columns(self._db, "poker_games", _LATER_COLUMNS):
            self._db.execute(_FOUR_PLAYS)
        self._db.executescript(_INDEXES)
        self._room = 0  # games that may be added before they are counted again, which takes a moment

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def add(self, client: str, address: str, session: Session) -> Kept:
        """Keep a new game, and make room for it.

        Args:
            client: secret of the client that begins it.
            address: of the client, whose games are counted.
            session: the game, without actions.
        """
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

    def change(self, kept: Kept, session: Session, state: State) -> Kept:
        """Keep a changed session, whose position is `state`.

        Raises:
            ApiError: the game has changed meanwhile. Nothing is kept.
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
        """Return how many games are kept."""
        return int(self._db.execute("SELECT count(*) FROM poker_games").fetchone()[0])

    def open_challenges(self, address: str) -> int:
        """Return how many unfinished challenges with secret decks a client address has."""
        asked = f"SELECT count(*) FROM poker_games WHERE address = ? AND {_OPEN_CHALLENGE}"
        return int(self._db.execute(asked, (address,)).fetchone()[0])

    def _drop_expired(self) -> None:
        """Forget games in which nothing has happened for long, a few at a time."""
        now = time.time()
        for is_over, days in ((0, self._limits.unfinished_game_days), (1, self._limits.keep_days)):
            self._drop("WHERE is_over = ? AND changed < ? ORDER BY changed", (is_over, now - days * _DAY), _SWEPT)

    def _make_room(self, address: str) -> None:
        """See that one more game may be kept, also for this address."""
        (of_address,) = self._db.execute("SELECT count(*) FROM poker_games WHERE address = ?", (address,)).fetchone()
        excess = of_address + 1 - self._limits.games_per_address
        if excess > 0:  # not challenges under way: nobody gets rid of one that goes badly
            self._drop(f"WHERE address = ? AND NOT ({_OPEN_CHALLENGE}) ORDER BY changed", (address,), excess)
        if self._room == 0:
            if self.count() >= self._limits.games:
                self._drop_of_the_greediest()
            self._room = max(1, min(1 + self._limits.games // _SHARE, self._limits.games - self.count()))
        self._room -= 1

    def _drop_of_the_greediest(self) -> None:
        """Forget idle games of the addresses that have most, down to half of what the first of them has."""
        asked = (
            "SELECT address, count(*) AS number FROM poker_games GROUP BY address ORDER BY number DESC, min(changed) "
            "LIMIT 100"
        )
        found = self._db.execute(asked).fetchall()
        kept, left = found[0][1] // 2, 1 + self._limits.games // _SHARE
        for address, number in found:
            excess = min(number - kept, left)
            if excess > 0:
                self._drop("WHERE address = ? ORDER BY changed", (address,), excess)
                left -= excess

    def _drop(self, which: str, values: tuple[Any, ...], most: int) -> None:
        chosen = f"SELECT rowid FROM poker_games {which} LIMIT ?"
        self._db.execute(f"DELETE FROM poker_games WHERE rowid IN ({chosen})", (*values, most))


def _kept(game_id: str, row: Any) -> Kept:
    seed, deck_seed, mode, tier, target, policies, hints, jumps, history, step, is_revealed, version, begun, *end = row
    score, is_over = end
    (hint, hint_total), (jump, jump_total) = json.loads(policies)
    session = Session(
        seed, deck_seed, mode, tier, target, Policy(hint, hint_total, hints), Policy(jump, jump_total, jumps),
        tuple(json.loads(history)), step, bool(is_revealed),
    )  # fmt: skip
    return Kept(game_id, session, version, begun, score, bool(is_over))
