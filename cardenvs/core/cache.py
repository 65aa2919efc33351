"""The cache of compiled kernels: one file per kernel version, verified before it is loaded.

Numba's own cache trusts its files. Its index and data are pickles, and the data contains machine code, so a damaged
file can raise any error, or crash the process inside LLVM on every start. This cache works differently:

* An entry is one file: a mark, a SHA-256 checksum and the pickle. An entry with a wrong checksum is deleted and its
  kernel compiled again, with a message on standard error.
* Files are written atomically, by renaming. Processes need no lock, so a crashed one cannot leave a lock behind.
* If an entry cannot be saved (full disk, read-only folder), a message says so and the process continues.
* A wheel may contain entries compiled for any x86-64-v3 processor. They are used if the user's cache has no entry, and
  are trusted like the package's other files.
* Units of older sources and leftovers of crashed processes are deleted when they have not been used for a while.
* A checksum guards against accidents, not against malice: anyone who can write an entry can run code as the user who
  loads it. The folder must therefore belong to the user or to root and must not be world-writable. Other folders are
  not used, and a warning says so.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import re
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_MARK = b"cardenvs kernel 1\n"
_CHECKSUM_BYTES = 32
_LARGEST_ENTRY = 1 << 28  # bytes; the largest kernel has a few MiB
_UNSAVED = "unsaved"
_FOLDER_MODE, _ENTRY_MODE = 0o755, 0o644  # readable for sandboxed agents, which run as other users
PREBUILT_FOLDER = Path(__file__).resolve().parent.parent / "_prebuilt"  # in wheels made by `make wheel`
PREBUILT_CPU = "x86-64-v3"
_PREBUILT_NEEDS = (
    "avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2",
    "ssse3", "xsave",
)  # fmt: skip

_ENTRY, _UNFINISHED = ".kernel", ".saving-"  # suffix of entries, prefix of files being written

_UNITS_PER_GAME = 4  # most recently used units that are kept until they expire
_HOUR = 3600.0
_GRACE = 24 * _HOUR  # units used within this time are never deleted
_EXPIRY = 30 * 24 * _HOUR  # units not used for this long are deleted


@functools.cache
def cache_folder() -> Path:
    """Return the folder for compiled code: CARDENVS_CACHE_DIR, or a folder in the user's cache.

    A user without a home directory, as in a container run with any user id, gets a folder for temporary files.
    """
    chosen = os.environ.get("CARDENVS_CACHE_DIR")
    if chosen:
        return Path(chosen).absolute()
    import platformdirs

    try:
        return Path(platformdirs.user_cache_dir("cardenvs", appauthor=False)) / "kernels"
    except RuntimeError:  # no HOME, and no entry in the list of users
        folder = _temporary_folder() / f"cardenvs-kernels-{os.getuid()}"
    _report_once(
        "homeless",
        f"cardenvs: this user has no home directory; compiled code is kept in {folder} (set CARDENVS_CACHE_DIR to "
        "choose another folder).",
    )
    return folder


def _temporary_folder() -> Path:
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:  # none is writable, as `trusted_folder` will report
        return Path("/tmp")


@functools.cache
def trusted_folder() -> Path | None:
    """Return the cache folder, created if necessary.

    Returns:
        the folder; None, with a warning, if it cannot be created or other users could change it.
    """
    folder = cache_folder()
    try:
        folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        why = _danger(folder.stat())
    except OSError as error:
        say_line(f"cardenvs: cannot write compiled code to {folder} ({error}); compiling in each process.")
        return None
    if why:
        say_line(
            f"cardenvs: not using compiled code in {folder}: {why}, and code in it would run as you. Compiling in "
            "each process; name a folder of your own with CARDENVS_CACHE_DIR."
        )
        return None
    return folder


def is_saving() -> bool:
    """Return whether the next process will probably find what this one compiles now."""
    folder = trusted_folder()
    return folder is not None and _UNSAVED not in _said and os.access(folder, os.W_OK)


def _danger(info: os.stat_result) -> str:
    """Return why other users could have put code into a file or folder; an empty string if they could not."""
    if os.name != "posix":
        return ""
    if info.st_uid not in (os.geteuid(), 0):
        return f"it belongs to another user (id {info.st_uid})"
    if info.st_mode & stat.S_IWOTH:
        return "every user may write to it"
    return ""


class KernelCache:
    """The cached versions of one kernel, with the interface that Numba's dispatchers expect.

    An entry's name is a hash of everything its code depends on, so the cache needs no index.
    """

    def __init__(self, function: Callable, folder: Path | None, unit: str, identity: str, keep: bool = True) -> None:
        """Set up the cache of a kernel.

        Args:
            function: the kernel's Python function.
            folder: the cache folder, or None to save nothing. The first entry creates the unit's folder in it.
            unit: name of the unit's folder, from `unit_name`.
            identity: what the code depends on besides the function itself and the types of its arguments.
            keep: whether to look up and save compiled versions. Can be changed until the first compilation.
        """
        self._prebuilt = PREBUILT_FOLDER / unit
        self._folder = folder / unit if folder is not None else None
        self.cache_path = str(self._folder or self._prebuilt)
        self.keep = keep
        self._function, self._identity = function, identity

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled version for a signature, or None."""
        target_context.refresh()
        if not self.keep:
            return None
        target = target_context.codegen().magic_tuple()
        found = None
        if self._folder is not None:
            found = _load(self._folder / self._entry_name(signature, target), target_context, own=True)
        if found is None and (target := _prebuilt_target(target[0])) is not None:
            found = _load(self._prebuilt / self._entry_name(signature, target), target_context, own=False)
        return found

    def save_overload(self, signature: Any, result: Any) -> None:
        """Save a compiled version if possible."""
        from numba.core.serialize import dumps

        if not self.keep or self._folder is None or result.library.has_dynamic_globals:
            return
        if any(not loop.can_cache for loop in result.lifted):
            return
        data = dumps(result._reduce())
        try:
            _write_entry(self._folder / self._entry_name(signature, result.library.codegen.magic_tuple()), data)
            _prune_once(self._folder.parent)
        except OSError as error:
            _report_once(_UNSAVED, f"cardenvs: cannot save compiled code ({error}); continuing without.")

    def _entry_name(self, signature: Any, target: tuple) -> str:
        line = self._function.__code__.co_firstlineno
        digest = hashlib.sha256(repr((self._identity, signature, target, line)).encode() + _contents(self._function))
        return f"{self._function.__name__}-{digest.hexdigest()[:32]}{_ENTRY}"

    def enable(self) -> None:
        """Do nothing: this cache is always on."""

    def disable(self) -> None:
        """Do nothing: this cache is always on."""

    def flush(self) -> None:
        """Do nothing: entries of other sources have other names."""


def _contents(function: Callable) -> bytes:
    """Return a function's code and closure as bytes. Kernels are not pickled, because the order of sets may vary."""
    from numba.core.serialize import dumps

    parts = [function.__code__.co_code]
    for cell in function.__closure__ or ():
        value = cell.cell_contents
        parts.append(_contents(value.py_func) if hasattr(value, "py_func") else dumps(value))
    return repr(parts).encode()


# ---------------------------------------------------------------------------------------------------------------
# Entries


def _load(path: Path, target_context: Any, own: bool) -> Any:
    """Return the compiled code of an entry; None if it is missing or damaged.

    Args:
        path: the entry.
        target_context: Numba's target context.
        own: whether the entry is in the user's cache, where damaged entries are deleted, or part of the package.
    """
    from numba.core.compiler import CompileResult

    try:
        data = _read_entry(path, own)
        if data is None:
            return None
        if own:
            _mark_used(path.parent)
        return CompileResult._rebuild(target_context, *pickle.loads(data))
    except OSError as error:
        _report_once("unreadable", f"cardenvs: cannot read compiled code ({error}); compiled again.")
    except Exception as error:  # an undamaged entry that this process cannot load
        _pass_over(path, f"{type(error).__name__}: {error}", own)
    return None


@functools.cache
def _prebuilt_target(triple: str) -> tuple | None:
    """Return the target of prebuilt code; None if there is none for this processor."""
    import numba

    settings: Any = numba.config
    chosen = settings.CPU_NAME is not None or settings.CPU_FEATURES is not None
    if chosen or not PREBUILT_FOLDER.is_dir() or os.environ.get("CARDENVS_PREBUILT", "1") == "0":
        return None
    return (triple, PREBUILT_CPU, "") if runs_prebuilt_code() else None


def runs_prebuilt_code() -> bool:
    """Return whether this processor has all features of PREBUILT_CPU."""
    import llvmlite.binding

    features = llvmlite.binding.get_host_cpu_features()
    return all(features.get(name) for name in _PREBUILT_NEEDS)


def _read_entry(path: Path, own: bool) -> bytes | None:
    """Return the contents of an entry; None if it is missing or damaged."""
    try:
        # Without O_NONBLOCK, opening a FIFO would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return None
    try:
        damage = _damage(os.fstat(descriptor), own)
        if not damage:
            with open(descriptor, "rb", closefd=False) as file:
                entry = file.read(_LARGEST_ENTRY)
            start = len(_MARK) + _CHECKSUM_BYTES
            if entry[:start] == _MARK + hashlib.sha256(entry[start:]).digest():
                return entry[start:]
            damage = "the checksum does not match"
    finally:
        os.close(descriptor)
    _pass_over(path, damage, own)
    return None


def _damage(info: os.stat_result, own: bool) -> str:
    if not stat.S_ISREG(info.st_mode):
        return "it is not a regular file"
    if info.st_size > _LARGEST_ENTRY:
        return f"it has {info.st_size} bytes"
    return _danger(info) if own else ""  # anyone who can change the package's files can change its Python code too


def _write_entry(path: Path, data: bytes) -> None:
    """Write an entry atomically, or raise OSError and change nothing."""
    for folder in (cache_folder(), path.parent):  # either may have been deleted since the start
        folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=_UNFINISHED, dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            os.chmod(temporary, _ENTRY_MODE)
            file.write(_MARK + hashlib.sha256(data).digest() + data)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _pass_over(path: Path, why: str, own: bool) -> None:
    if own:
        with contextlib.suppress(OSError):  # if it cannot be deleted, it is skipped again next time
            path.unlink()
    done = "dropped, and compiled again" if own else "compiled again"
    _report_once("damaged", f"cardenvs: compiled code was damaged ({path}: {why}); {done}.")


# ---------------------------------------------------------------------------------------------------------------
# Units of older sources


def unit_name(source: Path, unit: str) -> str:
    """Return the name of a unit's folder: the name of its sources' folder, and its hash."""
    return f"{source.name[:40]}-{unit}"


@functools.cache
def _mark_used(unit: Path) -> None:
    """Record in the folder's modification time that this process uses the unit."""
    # Only users who may change the folder mark it. If they delete the unit, it is compiled again.
    with contextlib.suppress(OSError):
        if time.time() - unit.stat().st_mtime > _HOUR:
            os.utime(unit)


@functools.cache
def _prune_once(cache: Path) -> None:
    """Prune when this process first saves a compilation, which always happens after an upgrade."""
    try:
        prune(cache, time.time())
    except OSError as error:
        _report_once("unpruned", f"cardenvs: cannot delete compiled code of older versions ({error}).")


def prune(cache: Path, now: float) -> None:
    """Delete unused units: never within a day of their last use, always after 30 days without use.

    In between, the few most recently used units of each game are kept, for versions installed side by side. A process
    whose unit is deleted continues with what it has loaded, and compiles what else it needs.

    Args:
        cache: a folder from `trusted_folder`. Only entries and unfinished entries in unit folders are deleted, and no
            links are followed.
        now: seconds since the epoch.
    """
    for units in _units_by_game(cache).values():
        for k, (used, unit) in enumerate(sorted(units, reverse=True)):
            idle = now - used
            _delete_files(unit, now, entries=idle > _EXPIRY or (idle > _GRACE and k >= _UNITS_PER_GAME))


def _units_by_game(cache: Path) -> dict[str, list[tuple[float, Path]]]:
    """Return (time of last use, folder) of every unit by the name of its sources' folder."""
    units: dict[str, list[tuple[float, Path]]] = {}
    for found in os.scandir(cache):
        game, _, unit = found.name.rpartition("-")
        if re.fullmatch("[0-9a-f]{20}", unit) and found.is_dir(follow_symlinks=False):
            # Another process may have pruned it since it was listed.
            with contextlib.suppress(FileNotFoundError):
                used = found.stat(follow_symlinks=False).st_mtime
                units.setdefault(game, []).append((used, Path(found.path)))
    return units


def _delete_files(unit: Path, now: float, entries: bool) -> None:
    """Delete unfinished entries of crashed processes and, if `entries` is True, the entries and the folder."""
    # A deletion may fail because the file belongs to another user, because another process has deleted it or just saved
    # an entry, or because the folder contains other files. A later run tries again.
    with contextlib.suppress(OSError):
        for file in os.scandir(unit):
            with contextlib.suppress(OSError):
                idle = now - file.stat(follow_symlinks=False).st_mtime
                is_left_over = file.name.startswith(_UNFINISHED) and idle > _GRACE
                if is_left_over or (entries and file.name.endswith(_ENTRY)):
                    os.unlink(file.path)
        if entries:
            unit.rmdir()


_said: set[str] = set()


def _report_once(kind: str, text: str) -> None:
    if kind not in _said:
        _said.add(kind)
        say_line(text)


# ---------------------------------------------------------------------------------------------------------------
# Standard error

_line_is_open = False


def say(text: str) -> None:
    """Write to standard error unless CARDENVS_QUIET is set. The text may end in the middle of a line."""
    global _line_is_open
    if os.environ.get("CARDENVS_QUIET", "0") in ("", "0"):
        sys.stderr.write(text)
        sys.stderr.flush()
        _line_is_open = not text.endswith("\n")


def say_line(text: str) -> None:
    """Write a separate line to standard error unless CARDENVS_QUIET is set."""
    say(("\n" if _line_is_open else "") + text + "\n")
