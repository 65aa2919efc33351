"""SQLite files of the server."""

import contextlib
import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from cardenvs.core.errors import FileError

_IN_MEMORY = ":memory:"
_APPLICATION = 0x63746162  # "ctab"
_SETTINGS = (
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA busy_timeout=5000; "
    f"PRAGMA application_id={_APPLICATION};"
)


def open_database(path: str, schema: str, check: str, what: str) -> sqlite3.Connection:
    """Open a database, or create it. Only its owner can read the file: the seeds in it reveal all cards.

    `path` may be ":memory:". `schema` creates missing tables, and `check` is a query that fails if a table has other
    columns. `what` names the contents in errors.

    Raises:
        FileError: the file cannot be opened, or is not a database of this server. It is not changed then.
    """
    try:
        if path != _IN_MEMORY:
            _check_ours(Path(path), what)
            Path(path).touch(mode=0o600)
        database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        database.executescript(_SETTINGS + schema)
        database.execute(f"{check} LIMIT 1")
    except (OSError, ValueError, sqlite3.Error) as error:  # ValueError: a path with a null byte
        raise FileError(f"cannot keep {what} in {path}: {error}") from None
    return database


def _check_ours(path: Path, what: str) -> None:
    """Raise FileError if a file is the database of another application. Changes no file."""
    if not path.exists() or path.stat().st_size == 0:
        return
    is_in_use = os.path.exists(f"{path}-wal")
    mode = "mode=ro" if is_in_use else "immutable=1"  # mode=ro would leave a journal beside a file without one
    with contextlib.closing(sqlite3.connect(f"file:{quote(os.path.abspath(path))}?{mode}", uri=True)) as database:
        (application,) = database.execute("PRAGMA application_id").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
        (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != _APPLICATION and (application or version or tables):
        raise FileError(
            f"cannot keep {what} in {path}: it is a database of another application and was not changed; name a new "
            "file"
        )
