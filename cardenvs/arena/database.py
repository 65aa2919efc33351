"""SQLite files for results: consistent after a crash, readable on read-only disks, with clear errors.

Rows are buffered for a fraction of a second and written in one transaction. A process killed at any moment loses at
most that buffer and leaves no partial rows. SQLite's errors and damaged rows raise ArenaError with the cause and a
remedy.
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

Row = tuple[Any, ...]
Reader = Callable[[Any], Any]
"""Returns the value of a cell, or raises ValueError with a description of valid values."""


class Database:
    """An open file of results. A context manager: leaving it writes buffered rows."""

    kind: ClassVar[str]
    """Name of this kind of file, for messages."""
    application_id: ClassVar[int]
    schema_version: ClassVar[int]
    schema: ClassVar[str]
    insert: ClassVar[str]
    """The statement that inserts one buffered row."""

    def __init__(self, path: str | Path | None = None, *, read_only: bool = False) -> None:
        """Open the file at `path`, or create it; None keeps everything in memory.

        `read_only` changes nothing, so neither the file nor its folder needs to be writable.

        Raises:
            ArenaError: `path` is not a path, or the file is unreadable, damaged, or of another kind or schema version.
        """
        if not isinstance(path, str | Path | None):  # its repr would become the name of a file
            raise ArenaError(f"expected the path of a store, a str or a Path; got {path!r}")
        self.path = None if path is None else str(path)  # path of the file, or None in memory
        self.read_only = read_only  # whether it was opened read-only
        self._waiting: list[Row] = []
        self._last_write = time.monotonic()
        self._left_on_close = contextlib.ExitStack()
        if self.path is not None:
            _check_place(self.path, self.kind, read_only)
        with contextlib.ExitStack() as stack:
            stack.callback(self._left_on_close.close)
            with self._raises_arena_error():
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
                self._check_version()
            if self.path is not None:
                self._register()
        self._switch_to_wal()

    def _switch_to_wal(self) -> None:
        """Keep a journal that lets others read while this process writes."""
        give_up_at = time.monotonic() + _BUSY_TIMEOUT_S
        while True:  # SQLite fails at once instead of waiting: two readers that both wait to write would wait forever
            try:
                self._connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() >= give_up_at:
                    raise
                time.sleep(0.01)

    def _open_for_reading(self) -> None:
        if self.path is None:
            raise ArenaError(f"cannot open a {self.kind} in memory read-only: it is empty")
        self._connection = self._connected(self.path)
        try:
            is_empty = self._is_empty()
        except sqlite3.OperationalError as error:
            if _code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
            self._connection = self._connected_without_writing(self.path)
            is_empty = self._is_empty()
        if is_empty:
            raise ArenaError(f"{self.path} is empty, not a {self.kind}")
        self._check_version()
        self._connection.execute("PRAGMA query_only=ON")

    def _connected(self, path: str, uri: bool = False) -> sqlite3.Connection:
        connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, uri=uri)
        self._left_on_close.callback(connection.close)
        connection.text_factory = _decoded
        return connection

    def _connected_without_writing(self, path: str) -> sqlite3.Connection:
        """Connect without writing a journal beside the store, which SQLite otherwise needs."""
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
        return bool(tables == 0)

    def _check_version(self) -> None:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        if application != self.application_id:
            raise ArenaError(f"{self.path} is an SQLite file, but not a {self.kind}")
        if version != self.schema_version:
            do = "Open it with the cardenvs that wrote it" if version > 0 else "It is damaged: restore a backup"
            raise ArenaError(
                f"{self.path} has schema version {version}; this cardenvs reads version {self.schema_version}. {do}"
            )

    def _execute_all(self, statements: str) -> None:
        for statement in statements.split(";\n"):
            if statement.strip():
                self._connection.execute(statement)

    def __enter__(self) -> Self:
        """Return the open file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Write buffered rows and close."""
        self.close()

    def close(self) -> None:
        """Write buffered rows and close the file."""
        with self._left_on_close:
            self.write()
            if self.path is not None and not self.read_only:
                with contextlib.suppress(sqlite3.Error):  # a row left behind names a process that has ended
                    self._connection.execute("PRAGMA busy_timeout=0")
                    self._connection.execute("DELETE FROM writers WHERE pid = ? AND host = ?", _here())

    # -- registered writers -------------------------------------------------------------------------------------

    def _register(self) -> None:
        """Register this process as a writer, so that others can name it if it holds the lock; drop ended ones."""
        self._connection.execute(_WRITERS)
        for pid, host, _ in self._connection.execute("SELECT pid, host, since FROM writers").fetchall():
            if (pid, host) == _here() or _has_ended(pid, host):
                self._connection.execute("DELETE FROM writers WHERE pid = ? AND host = ?", (pid, host))
        self._connection.execute("INSERT INTO writers VALUES (?, ?, ?)", (*_here(), now()))

    def _writers(self) -> str:
        """Return a description of the other processes that may hold the lock."""
        found = []
        with contextlib.suppress(sqlite3.Error):
            for pid, host, since in self._connection.execute("SELECT pid, host, since FROM writers ORDER BY rowid"):
                if (pid, host) != _here() and not _has_ended(pid, host):
                    found.append(f"process {pid} on {host}, which has it open since {since}")
        return " or ".join(found) or "a process that is not cardenvs (`fuser` and `lsof` name it)"

    # -- writing ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commit the statements of the block, or roll all of them back."""
        with self._raises_arena_error():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # on a full disk SQLite has already rolled back
                    self._connection.execute("ROLLBACK")
                raise

    def _enter(self, row: Row) -> None:
        """Buffer a row for `insert`; it is written within a fraction of a second of the next call."""
        self._waiting.append(row)
        if time.monotonic() - self._last_write >= _WRITE_EVERY_S:
            self.write()

    def write(self) -> None:
        """Write the buffered rows in one transaction.

        Raises:
            ArenaError: writing failed. Rows written earlier are kept; the buffered ones are lost.
        """
        if self._waiting:
            try:
                with self._transaction():
                    self._connection.executemany(self.insert, self._waiting)
            finally:
                self._waiting = []
        self._last_write = time.monotonic()

    # -- reading ------------------------------------------------------------------------------------------------

    def _rows(self, query: str, values: Row = ()) -> Iterator[Row]:
        """Yield the rows a query finds, after writing the buffered ones."""
        self.write()
        with self._raises_arena_error():
            found = self._connection.execute(query, values)
        while True:
            with self._raises_arena_error():
                rows = found.fetchmany(_ROWS_TOGETHER)
            if not rows:
                return
            yield from rows

    def _row(self, query: str, values: Row = ()) -> Row | None:
        return next(iter(list(self._rows(query, values))), None)

    def _read(
        self, table: str, key: Mapping[str, Any], columns: Mapping[str, Reader], row: Row, do: str
    ) -> dict[str, Any]:
        """Return the values of a row by column.

        Raises:
            ArenaError: a cell is damaged; the message names the row by `key` and gives the advice `do`.
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

    # -- errors -------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _raises_arena_error(self) -> Iterator[None]:
        """Turn SQLite's errors into ArenaError."""
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
                    f"end it, then continue with --resume: rows written earlier are kept.{unsaved}"
                )
            case sqlite3.SQLITE_FULL:
                return (
                    f"the disk of {where} is full. Rows written earlier are kept; free some space, then continue with "
                    f"--resume.{unsaved}"
                )
            case sqlite3.SQLITE_IOERR:
                return (
                    f"the disk of {where} cannot be read or written ({said}); is it full or unmounted? Rows "
                    f"written earlier are kept; continue with --resume.{unsaved}"
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
            f"{where} is damaged, or not a {self.kind}: {said}. Restore a backup, or recover what is readable with "
            "`sqlite3 FILE .recover`"
        )


def _check_place(path: str, kind: str, read_only: bool) -> None:
    """Raise ArenaError for paths that SQLite would reject without a reason, block on, or misread."""
    if not path or "\0" in path:
        raise ArenaError(f"{path!r} cannot be the path of a {kind}")
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
        raise ArenaError(f"cannot open {path} as a {kind}: it is {'a folder' if stat.S_ISDIR(mode) else 'not a file'}")
    if not os.access(path, os.R_OK):
        raise ArenaError(f"cannot open {path} as a {kind}: permission denied")


def _code(error: Exception) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF  # the primary code, without the extended bits


def _said(error: Exception) -> str:
    """Return SQLite's message with invalid bytes escaped; it may quote a damaged file."""
    if isinstance(error, UnicodeDecodeError):
        return error.object.decode(errors="backslashreplace")
    return str(error).encode(errors="backslashreplace").decode()


def _decoded(raw: bytes) -> str | bytes:
    """Decode text. Invalid UTF-8 stays bytes, which the cell's reader rejects."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _here() -> tuple[int, str]:
    return os.getpid(), socket.gethostname()


def _has_ended(pid: Any, host: Any) -> bool:
    """Return whether a process has ended; False if it runs on another host."""
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
    """Return the UTC time in ISO format, for display only: clocks jump, so nothing is ordered by it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


# -- readers of cells ---------------------------------------------------------------------------------------------


def quoted(value: Any) -> str:
    """Return the repr of a cell for a message, shortened."""
    shown = repr(value[:_LONGEST_QUOTE] if isinstance(value, str | bytes) else value)
    return shown if len(shown) <= _LONGEST_QUOTE else f"{shown[: _LONGEST_QUOTE - 3]}..."


def text(cell: Any) -> str:
    """Read any text."""
    if not isinstance(cell, str):
        raise ValueError("text")
    return cell


def whole(cell: Any) -> int:
    """Read a non-negative integer."""
    if not isinstance(cell, int) or cell < 0:
        raise ValueError("a whole number from 0")
    return cell


def number(cell: Any) -> float:
    """Read a finite number."""
    if not isinstance(cell, int | float) or not math.isfinite(cell):
        raise ValueError("a number")
    return cell


def optional(read: Reader) -> Reader:
    """Return a reader that also accepts NULL, as None."""
    return lambda cell: None if cell is None else read(cell)


def json_cell(is_right: Callable[[Any], bool], what: str) -> Reader:
    """Return a reader of JSON values for which `is_right` holds; `what` describes them in errors."""

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
    """Return a check that a value is a list whose items all satisfy `is_right`."""
    return lambda value: isinstance(value, list) and all(map(is_right, value))


def is_whole(value: Any) -> bool:
    """Return whether a JSON value is an int from 0 to 2**31 - 1, the range of ids and codes."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


def is_number(value: Any) -> bool:
    """Return whether a JSON value is a number below 1e15 in size, small enough to sum."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15


def is_mapping(value: Any) -> bool:
    """Return whether a JSON value is an object."""
    return isinstance(value, dict)


def is_count(value: Any) -> bool:
    """Return whether a JSON value is an object of counts."""
    return isinstance(value, dict) and all(map(is_whole, value.values()))
