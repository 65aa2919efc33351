"""SQLite files of the server."""

import contextlib
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from cardenvs.core.errors import FileError

_IN_MEMORY = ":memory:"
_APPLICATION = 0x63746162  # "ctab"
_SETTINGS = (
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA busy_timeout=5000; "
    f"PRAGMA application_id={_APPLICATION};"
)
_FIRST_TABLES = {"tables", "actions", "links", "poker_games"}  # of the versions that wrote no application id
_FIRST_COLUMNS = {"watch", "host", "seats", "key"}  # of "tables" in them


def open_database(path: str, schema: str, check: str, what: str) -> sqlite3.Connection:
    """Open a file, or make it, readable for its owner only: the seeds in it tell all cards.

    Args:
        path: of the file, or ":memory:".
        schema: statements that make the tables where they are missing.
        check: a query that fails if the tables are not as they should be.
        what: is kept in it, for errors.

    Raises:
        FileError: it cannot be opened, or is not such a file. A database of another application is left as it was.
    """
    try:
        if path != _IN_MEMORY:
            _check_ours(Path(path), what)
            Path(path).touch(mode=0o600)
        database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        database.executescript(_SETTINGS + schema)
        database.execute(check)
    except (OSError, ValueError, sqlite3.Error) as error:  # ValueError: a path with a zero byte
        raise FileError(f"cannot keep {what} in {path}: {error}") from None
    return database


def add_columns(database: sqlite3.Connection, table: str, columns: Mapping[str, str]) -> bool:
    """Add the columns that a table of an earlier version lacks.

    Args:
        database: with the table.
        table: its name.
        columns: their types and defaults by name.

    Returns:
        whether any was missing.
    """
    present = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
    missing = [name for name in columns if name not in present]
    for name in missing:
        database.execute(f"ALTER TABLE {table} ADD COLUMN {name} {columns[name]}")
    return bool(missing)


def _check_ours(path: Path, what: str) -> None:
    """Raise FileError if a file is the database of another application. Writes nothing, in no file."""
    if not path.exists() or path.stat().st_size == 0:
        return
    is_in_use = os.path.exists(f"{path}-wal")
    mode = "mode=ro" if is_in_use else "immutable=1"  # the former would leave a journal beside a file without one
    with contextlib.closing(sqlite3.connect(f"file:{quote(os.path.abspath(path))}?{mode}", uri=True)) as database:
        (application,) = database.execute("PRAGMA application_id").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        columns = {row[1] for row in database.execute("PRAGMA table_info(tables)")}
    is_early = tables <= _FIRST_TABLES and (not tables or columns >= _FIRST_COLUMNS)
    if application != _APPLICATION and (application or version or not is_early):
        raise FileError(
            f"cannot keep {what} in {path}: it is a database of another application, and was not changed; name a file "
            "that does not exist yet"
        )
