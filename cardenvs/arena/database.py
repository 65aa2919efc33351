"""SQLite files that results are kept in: whole at any moment, readable where nothing can be written, and plain about
what is wrong with them.

Rows are collected for a fraction of a second and written in one transaction, so a process that is killed at any moment
leaves whole rows only, at worst without the last fraction of a second. Whatever SQLite cannot do, and whatever a row
holds that it should not, is an ArenaError that says what is wrong and what would do.
"""

import contextlib
import datetime
import json
import math
import os
import shutil
import socket
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self
from urllib.parse import quote

from cardenvs.core.errors import ArenaError

_WRITE_EVERY_S = 0.25
_BUSY_TIMEOUT_S = 15.0  # another process may be writing to the same file; a transaction takes milliseconds
_LONGEST_QUOTE = 60
_ROWS_TOGETHER = 200
_WRITERS = "CREATE TABLE IF NOT EXISTS writers (pid INTEGER NOT NULL, host TEXT NOT NULL, since TEXT NOT NULL) STRICT"

Reader = Callable[[Any], Any]
"""Gives the value of a cell, or raises ValueError with what should be there."""


class Database:
    """An open file of results. A context manager: leaving it writes what is left.

    Attributes:
        path: of the file, or None in memory.
        read_only: whether it was opened for reading alone.
    """

    kind: ClassVar[str]
    """What such a file is called."""
    application_id: ClassVar[int]
    schema_version: ClassVar[int]
    schema: ClassVar[str]
    upgrades: ClassVar[Mapping[int, str]] = {}
    """By schema version: the statements that make it the next one."""
    insert: ClassVar[str]
    """The statement that enters a row of those that wait."""

    def __init__(self, path: str | Path | None = None, *, read_only: bool = False) -> None:
        """Open the file at `path`, or create it; None keeps everything in memory.

        Args:
            path: of the file.
            read_only: nothing is changed, and nothing need be writable: neither the file nor its folder. A file of an
                older schema is upgraded in memory.

        Raises:
            ArenaError: `path` is not a path; or the file is of another kind or schema version, damaged or unreadable.
        """
        if not isinstance(path, str | Path | None):  # its repr would become the name of a file
            raise ArenaError(f"a store is opened by its path, a str or a Path; got {path!r}")
        self.path = None if path is None else str(path)
        self.read_only = read_only
        self._waiting: list[tuple] = []
        self._last_write = time.monotonic()
        self._left_on_close = contextlib.ExitStack()
        if self.path is not None:
            _check_place(self.path, self.kind, read_only)
        with contextlib.ExitStack() as stack:
            stack.callback(self._left_on_close.close)
            with self._in_words():
                if read_only:
                    self._open_for_reading()
                else:
                    self._open_for_writing()
            stack.pop_all()

    # -- opening ------------------------------------------------------------------------------------------------

    def _open_for_writing(self) -> None:
        self._connection = self._connected(self.path or ":memory:")
        with self._transaction():
            if self._is_empty():
                self._execute_all(self.schema)
                self._connection.execute(f"PRAGMA application_id={self.application_id}")
                self._connection.execute(f"PRAGMA user_version={self.schema_version}")
            else:
                self._upgrade(self._checked_version())
            if self.path is not None:
                self._register()
        self._connection.execute("PRAGMA journal_mode=WAL")

    def _open_for_reading(self) -> None:
        if self.path is None:
            raise ArenaError(f"a {self.kind} in memory has nothing to read yet")
        self._connection = self._connected(self.path)
        try:
            is_empty = self._is_empty()
        except sqlite3.OperationalError as error:
            if _code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
            self._connection = self._connected_without_writing(self.path)
            is_empty = self._is_empty()
        if is_empty:
            raise ArenaError(f"{self.path} holds nothing; it is no {self.kind}")
        version = self._checked_version()
        if version < self.schema_version:
            older, self._connection = self._connection, self._connected(":memory:")
            older.backup(self._connection)
            self._upgrade(version)
        self._connection.execute("PRAGMA query_only=ON")

    def _connected(self, path: str, uri: bool = False) -> sqlite3.Connection:
        connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, uri=uri)
        self._left_on_close.callback(connection.close)
        connection.text_factory = _decoded
        return connection

    def _connected_without_writing(self, path: str) -> sqlite3.Connection:
        """A connection that needs no file beside the store, as SQLite's journal otherwise is."""
        journal = Path(f"{path}-wal")
        if not journal.is_file() or journal.stat().st_size == 0:
            return self._connected(f"file:{quote(os.path.abspath(path))}?immutable=1", uri=True)
        folder = self._left_on_close.enter_context(tempfile.TemporaryDirectory(prefix="cardenvs-"))
        copy = Path(folder) / "copy.db"
        shutil.copyfile(path, copy)
        shutil.copyfile(journal, f"{copy}-wal")
        return self._connected(str(copy))

    def _is_empty(self) -> bool:
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return tables == 0

    def _checked_version(self) -> int:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        if application != self.application_id:
            raise ArenaError(f"{self.path} is an SQLite file, but no {self.kind}")
        if not 1 <= version <= self.schema_version:
            known = f"versions 1 to {self.schema_version}" if self.schema_version > 1 else "version 1"
            do = "Open it with a newer cardenvs" if version > 0 else "It is damaged: take a copy from before"
            raise ArenaError(f"{self.path} has schema version {version}; this cardenvs reads {known}. {do}")
        return version

    def _upgrade(self, version: int) -> None:
        for older in range(version, self.schema_version):
            self._execute_all(self.upgrades[older])
        if version < self.schema_version:
            self._connection.execute(f"PRAGMA user_version={self.schema_version}")

    def _execute_all(self, statements: str) -> None:
        for statement in statements.split(";\n"):
            if statement.strip():
                self._connection.execute(statement)

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Write what is left and close."""
        self.close()

    def close(self) -> None:
        """Write what is left and close the file."""
        with self._left_on_close:
            self.write()
            if self.path is not None and not self.read_only:
                with contextlib.suppress(sqlite3.Error):  # a leftover line names a process that is gone
                    self._connection.execute("PRAGMA busy_timeout=0")
                    self._connection.execute("DELETE FROM writers WHERE pid = ? AND host = ?", _here())

    # -- who writes ---------------------------------------------------------------------------------------------

    def _register(self) -> None:
        """Note that this process writes, for the message that others get who cannot; forget those that have ended."""
        self._connection.execute(_WRITERS)
        for pid, host, _ in self._connection.execute("SELECT pid, host, since FROM writers").fetchall():
            if (pid, host) == _here() or _has_ended(pid, host):
                self._connection.execute("DELETE FROM writers WHERE pid = ? AND host = ?", (pid, host))
        self._connection.execute("INSERT INTO writers VALUES (?, ?, ?)", (*_here(), now()))

    def _writers(self) -> str:
        """Who else may hold the lock."""
        found = []
        with contextlib.suppress(sqlite3.Error):
            for pid, host, since in self._connection.execute("SELECT pid, host, since FROM writers ORDER BY rowid"):
                if (pid, host) != _here() and not _has_ended(pid, host):
                    found.append(f"process {pid} on {host}, which has it open since {since}")
        return " or ".join(found) or "a process that is not cardenvs (`fuser` and `lsof` name it)"

    # -- writing ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing."""
        with self._in_words():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # SQLite has rolled back by itself where the disk is full
                    self._connection.execute("ROLLBACK")
                raise

    def _enter(self, row: tuple) -> None:
        """Enter a row by `insert`, within a fraction of a second."""
        self._waiting.append(row)
        if time.monotonic() - self._last_write >= _WRITE_EVERY_S:
            self.write()

    def write(self) -> None:
        """Write the rows that wait, in one transaction.

        Raises:
            ArenaError: that cannot be done. What was written before is kept; the rows that waited are not.
        """
        if self._waiting:
            try:
                with self._transaction():
                    self._connection.executemany(self.insert, self._waiting)
            finally:
                self._waiting = []
        self._last_write = time.monotonic()

    # -- reading ------------------------------------------------------------------------------------------------

    def _rows(self, query: str, values: tuple = ()) -> Iterator[tuple]:
        """The rows that a query finds among those that are written."""
        self.write()
        with self._in_words():
            found = self._connection.execute(query, values)
        while True:
            with self._in_words():
                rows = found.fetchmany(_ROWS_TOGETHER)
            if not rows:
                return
            yield from rows

    def _row(self, query: str, values: tuple = ()) -> tuple | None:
        return next(iter(list(self._rows(query, values))), None)

    def _read(
        self, table: str, key: Mapping[str, Any], columns: Mapping[str, Reader], row: tuple, do: str
    ) -> dict[str, Any]:
        """The cells of a row by column.

        Args:
            table: its name.
            key: what the row is known by.
            columns: how to read each cell.
            row: the cells.
            do: what to do about a damaged one.

        Raises:
            ArenaError: a cell is damaged.
        """
        found = {}
        for (name, read), cell in zip(columns.items(), row, strict=True):
            try:
                found[name] = read(cell)
            except ValueError as error:
                raise self._damage(table, key, f"column {name} is {quoted(cell)}, not {error}", do) from None
        return found

    def _damage(self, table: str, key: Mapping[str, Any], what: str, do: str) -> ArenaError:
        where = ", ".join(f"{name} {quoted(value)}" for name, value in key.items())
        return ArenaError(f"{self.path or 'the store'} is damaged: table {table}, row {where}: {what}. {do}")

    # -- what went wrong ----------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _in_words(self) -> Iterator[None]:
        """What SQLite cannot do is an ArenaError."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
            raise ArenaError(self._explained(error)) from None

    def _explained(self, error: Exception) -> str:
        where = self.path or "the store in memory"
        unsaved = f" The last {len(self._waiting)} games were not written." if self._waiting else ""
        said = _said(error)
        match _code(error):
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                return (
                    f"{where} is locked by {self._writers()}; gave up after {_BUSY_TIMEOUT_S:g} s. Let it finish or "
                    f"end it, then go on with --resume: what was written before is kept.{unsaved}"
                )
            case sqlite3.SQLITE_FULL:
                return (
                    f"the disk of {where} is full. What was written before is kept in it; make room, then go on with "
                    f"--resume.{unsaved}"
                )
            case sqlite3.SQLITE_IOERR:
                return (
                    f"the disk of {where} cannot be read or written ({said}); is it full, or has it gone? What was "
                    f"written before is kept; go on with --resume.{unsaved}"
                )
            case sqlite3.SQLITE_READONLY:
                return (
                    f"{where} is read-only ({said}). `cardenvs arena report` and `cardenvs verify` can read it; to "
                    f"play on, make it and its folder writable, or copy it.{unsaved}"
                )
            case sqlite3.SQLITE_NOTADB:
                return f"cannot use {where} as a {self.kind}: {said}"
            case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
                return f"cannot open {where} as a {self.kind}: {said}"
        return (
            f"{where} is damaged, or no {self.kind}: {said}. Take a copy of it from before, or save what can be read "
            "with `sqlite3 FILE .recover`"
        )


def _check_place(path: str, kind: str, read_only: bool) -> None:
    """Refuse what SQLite would refuse with fewer words, wait for without end, or take for something else."""
    if not path or "\0" in path:
        raise ArenaError(f"the path of a {kind} is empty or no path: {path!r}")
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        if read_only:
            raise ArenaError(f"there is no file {path}") from None
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(folder):
            raise ArenaError(f"cannot open {path} as a {kind}: there is no folder {folder}") from None
        return
    except OSError as error:
        raise ArenaError(f"cannot open {path} as a {kind}: {error.strerror}") from None
    if not stat.S_ISREG(mode):
        raise ArenaError(f"cannot open {path} as a {kind}: it is {'a folder' if stat.S_ISDIR(mode) else 'no file'}")
    if not os.access(path, os.R_OK):
        raise ArenaError(f"cannot open {path} as a {kind}: it may not be read (permission denied)")


def _code(error: Exception) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF  # without what SQLite adds to it


def _said(error: Exception) -> str:
    """SQLite's own words, in which bytes of a damaged file may stand."""
    if isinstance(error, UnicodeDecodeError):
        return error.object.decode(errors="backslashreplace")
    return str(error).encode(errors="backslashreplace").decode()


def _decoded(raw: bytes) -> str | bytes:
    """Text; bytes that are not text stay bytes, and the reader of the cell refuses them."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _here() -> tuple[int, str]:
    return os.getpid(), socket.gethostname()


def _has_ended(pid: Any, host: Any) -> bool:
    """Whether a process is gone, as far as can be seen from here."""
    if host != socket.gethostname() or not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass
    return False


def now() -> str:
    """The time for people. Nothing is ordered by it: clocks jump."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


# ---------------------------------------------------------------------------------------------------------------
# Readers of cells


def quoted(value: Any) -> str:
    """A cell for a message, shortened."""
    shown = repr(value[:_LONGEST_QUOTE] if isinstance(value, str | bytes) else value)
    return shown if len(shown) <= _LONGEST_QUOTE else f"{shown[: _LONGEST_QUOTE - 3]}..."


def text(cell: Any) -> str:
    """Any text."""
    if not isinstance(cell, str):
        raise ValueError("text")
    return cell


def whole(cell: Any) -> int:
    """A number from 0."""
    if not isinstance(cell, int) or cell < 0:
        raise ValueError("a whole number from 0")
    return cell


def number(cell: Any) -> float:
    """A finite number."""
    if not isinstance(cell, int | float) or not math.isfinite(cell):
        raise ValueError("a number")
    return cell


def optional(read: Reader) -> Reader:
    """The same, or NULL."""
    return lambda cell: None if cell is None else read(cell)


def json_cell(is_right: Callable[[Any], bool], what: str) -> Reader:
    """JSON that `is_right`; `what` says what that is."""

    def read(cell: Any) -> Any:
        try:
            value = json.loads(text(cell), parse_constant=_refused)
        except (ValueError, RecursionError):
            raise ValueError(what) from None
        if not is_right(value):
            raise ValueError(what)
        return value

    return read


def _refused(constant: str) -> None:
    raise ValueError(constant)


def list_of(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Whether a value is a list of what is right."""
    return lambda value: isinstance(value, list) and all(map(is_right, value))


def is_whole(value: Any) -> bool:
    """Whether a JSON value is a number of a record: from 0, and no larger than ids and codes are."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number that can be summed."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15


def is_mapping(value: Any) -> bool:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_count(value: Any) -> bool:
    """Whether a JSON value counts something by name."""
    return isinstance(value, dict) and all(map(is_whole, value.values()))
