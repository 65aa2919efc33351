"""SQLite files of the server."""

import sqlite3
from pathlib import Path

from cardenvs.core.errors import FileError

_IN_MEMORY = ":memory:"
_SETTINGS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA busy_timeout=5000;"


def open_database(path: str, schema: str, check: str, what: str) -> sqlite3.Connection:
    """Open a file, or make it, readable for its owner only: the seeds in it tell all cards.

    Args:
        path: of the file, or ":memory:".
        schema: statements that make the tables where they are missing.
        check: a query that fails if the tables are not as they should be.
        what: is kept in it, for errors.

    Raises:
        FileError: it cannot be opened, or is not such a file.
    """
    try:
        if path != _IN_MEMORY:
            Path(path).touch(mode=0o600)
        database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        database.executescript(_SETTINGS + schema)
        database.execute(check)
    except (OSError, sqlite3.Error) as error:
        raise FileError(f"cannot keep {what} in {path}: {error}") from None
    return database
