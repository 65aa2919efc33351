"""Checks of files before they are needed, and atomic writes."""

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

from cardenvs.core.errors import FileError

FilePath = str | os.PathLike[str]


def write_whole(path: FilePath, data: str | bytes) -> None:
    """Write a file atomically: readers find the old file or the new one, never a part. Text is encoded as UTF-8.

    Raises:
        OSError: the file cannot be written, or the path is a folder, a device or a pipe. Nothing has changed.
    """
    target = Path(os.path.realpath(path))  # replaces the target of a link, not the link
    raw = data.encode() if isinstance(data, str) else data
    if target.exists() and not target.is_file():
        code = errno.EISDIR if target.is_dir() else errno.EINVAL
        raise OSError(code, os.strerror(code), str(target))
    part = _part(target.parent)
    try:
        part.write_bytes(raw)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _part(folder: Path) -> Path:
    return folder / f".{os.getpid()}-{secrets.token_hex(4)}.part"


def check_output(path: FilePath) -> None:
    """Check that `write_whole` will be able to write a file.

    Raises:
        FileError: the path is empty, too long or not a regular file, or its folder is missing or not writable.
    """
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
