"""Checks of files before they are needed, atomic writes, and locks."""

import contextlib
import errno
import json
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from cardenvs.core.errors import FileError

FilePath = str | os.PathLike[str]


def write_whole(path: FilePath, data: str | bytes) -> None:
    """Write a file atomically: readers find the old file or the new one, never a part. Text is encoded as UTF-8.

    Raises:
        OSError: the file cannot be written, or the path is a folder, a device or a pipe. Nothing has changed.
    """
    with whole_file(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


def write_json(path: FilePath, value: Any) -> None:
    """Write a value as indented JSON, atomically; raises as `write_whole`, and ValueError for NaN and infinity."""
    write_whole(path, json.dumps(value, indent=1, allow_nan=False) + "\n")


@contextlib.contextmanager
def whole_file(path: FilePath, sync: bool = False) -> Iterator[IO[bytes]]:
    """Open a binary file that takes the place of `path` at the end of the block, or is deleted if the block fails.

    Every call writes to a file of its own, so several processes may write the same path. With `sync`, the contents are
    on the disk at the end, so a power failure cannot leave a part of them. Raises OSError like `write_whole`.
    """
    target = Path(os.path.realpath(path))  # replaces the target of a link, not the link
    if target.exists() and not target.is_file():
        code = errno.EISDIR if target.is_dir() else errno.EINVAL
        raise OSError(code, os.strerror(code), str(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no folder", str(Path(path).parent))
    part = _part(target.parent)
    try:
        with naming(path), part.open("wb") as file:
            yield file
            if sync:
                file.flush()
                os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


@contextlib.contextmanager
def naming(path: FilePath) -> Iterator[None]:
    """Name a file in the errors of the block that name none, as those of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = str(path)
        raise


def _part(folder: Path) -> Path:
    return folder / f".{os.getpid()}-{secrets.token_hex(4)}.part"


_FOLDER_LOCK = ".lock"


@contextlib.contextmanager
def locked_folder(path: FilePath) -> Iterator[None]:
    """Keep other processes out of a folder, as `locked` does. It is created, and removed if it is empty in the end.

    Raises:
        FileError, OSError: as for `locked`.
    """
    folder, is_new = Path(path), not Path(path).exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with locked(folder / _FOLDER_LOCK):
            yield
    finally:
        if is_new:
            with contextlib.suppress(OSError):  # it holds files
                folder.rmdir()


@contextlib.contextmanager
def locked(path: FilePath) -> Iterator[None]:
    """Keep other processes out of the block. The lock is the file `path`, and ends with the process at the latest.

    The operating system holds the lock, so a killed process leaves none behind. On file systems without locks, the
    block runs without one.

    Raises:
        FileError: another process, or another block of this one, holds the lock. The message has its process id.
        OSError: the file cannot be created.
    """
    file = _locked_file(Path(path))
    try:
        yield
    finally:
        if not file.closed:  # a forked process has closed it
            Path(path).unlink(missing_ok=True)  # before the lock ends: the next one finds this file or makes its own
            _locked.discard(file)
            file.close()


def _locked_file(path: Path) -> IO[bytes]:
    while True:
        file = path.open("a+b")
        try:
            if not _lock(file):
                file.seek(0)
                pid = file.read(20).decode("ascii", "replace").strip()
                raise FileError(
                    f"{path.parent if path.name == _FOLDER_LOCK else path.with_suffix('')} is in use by "
                    f"{f'process {pid}' if pid else 'another process'}; wait until it ends, or choose another path"
                )
            if _is_at(file, path):
                file.truncate(0)
                file.write(str(os.getpid()).encode())
                file.flush()
                _locked.add(file)
                return file
        except BaseException:
            file.close()
            raise
        file.close()  # its last owner has just deleted it


def _is_at(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


_locked: set[IO[bytes]] = set()
_LOCKED_BYTE = 1 << 30  # for Windows, where nobody can read what is locked
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)


def _lock(file: IO[bytes]) -> bool:
    """Lock a file, if nobody else has."""
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(_LOCKED_BYTE)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in _NO_LOCKS
    return True


def _close_locked() -> None:
    """Close the lock files that a fork inherits: it would keep the locks of a killed process."""
    for file in _locked:
        file.close()
    _locked.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_locked)


def check_output(path: FilePath) -> None:
    """Check that `write_whole` will be able to write a file.

    Raises:
        FileError: the path is empty, too long, "-" or not a regular file, or its folder is missing or not writable.
    """
    if os.fspath(path) == "-":
        raise FileError("cannot write -: that would not be standard output, but a file of that name; name another file")
    if (mode := _mode(path, "write")) is not None:
        if stat.S_ISDIR(mode):
            raise FileError(f"cannot write {path}: it is a folder")
        if not stat.S_ISREG(mode):
            raise FileError(f"cannot write {path}: it is not a regular file but a device, a pipe or a socket")
        if not os.access(path, os.W_OK):
            raise FileError(f"cannot write {path}: it is write-protected")
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileError(f"cannot write {path}: there is no folder {Path(path).parent}")
    _check_writable(path, target.parent)


def check_output_folder(path: FilePath) -> None:
    """Check that files can be written into a folder. The folder may be missing, but its parent must exist.

    Raises:
        FileError: the path is empty, too long or not a folder, or cannot be written to.
    """
    mode = _mode(path, "write")
    if mode is not None and not stat.S_ISDIR(mode):
        raise FileError(f"cannot write {path}: it is not a folder")
    folder = Path(os.path.realpath(path))
    if mode is None:
        folder = folder.parent
        if not folder.is_dir():
            raise FileError(f"cannot write {path}: there is no folder {Path(path).parent}")
    _check_writable(path, folder)


def _check_writable(path: FilePath, folder: Path) -> None:
    part = _part(folder)
    try:
        part.touch(exist_ok=False)
    except OSError as error:
        raise FileError(f"cannot write {path}: nothing can be written in {folder} ({error.strerror})") from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def check_input(path: FilePath) -> None:
    """Check that a path is a readable regular file. Reading a pipe, for example, could block for ever.

    Raises:
        FileError: the file is missing, unreadable, or not a regular file.
    """
    mode = _mode(path, "read")
    if mode is None:
        raise FileError(f"cannot read {path}: there is no such file")
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a device, a pipe or a socket; save its output to a file first"
        raise FileError(f"cannot read {path}: it is not a regular file but {what}")
    if not os.access(path, os.R_OK):
        raise FileError(f"cannot read {path}: permission denied")


def _mode(path: FilePath, doing: str) -> int | None:
    """Return the mode of the file at a path, or None if there is none."""
    if not os.fspath(path) or "\0" in os.fspath(path):
        raise FileError(f"cannot {doing} {os.fspath(path)!r}: it is not a valid path")
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise FileError(f"cannot {doing} {path}: {getattr(error, 'strerror', None) or error}") from None
