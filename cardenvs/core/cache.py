"""The cache of compiled kernels: a file for each, checked before anything of it is loaded.

Numba's own cache trusts its files. Its index and data are pickles, and the data holds machine code: a damaged file
raises anything, or ends the process inside LLVM, again on every start. Here:

* An entry is one file: a mark, a SHA-256 checksum and the pickle. The checksum is compared first; an entry that does
  not match is deleted, its kernel compiled again, and one line on standard error says so.
* A file appears in one piece, by renaming. So processes need no lock, and none can be left behind by a dead one.
* What cannot be saved (full disk, read-only folder) is not saved, and one line says so. The run goes on.
* A wheel may hold entries compiled for any processor of the level x86-64-v3. They are looked up second, and are as
  trusted as the package's other files.
* Units of older sources, and what dead processes left, are deleted once nobody has used them for a while.
* A checksum detects accidents, not malice: who can write an entry can run code as whoever loads it. So the folder must
  belong to the user or to root, and must not be writable for everybody; any other is left alone, with a warning.
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
_FOLDER_MODE, _ENTRY_MODE = 0o755, 0o644  # agents in a sandbox, other users there, read them
PREBUILT_FOLDER = Path(__file__).resolve().parent.parent / "_prebuilt"  # in wheels made by `make wheel`
PREBUILT_CPU = "x86-64-v3"
_PREBUILT_NEEDS = (
    "avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2",
    "ssse3", "xsave",
)  # fmt: skip

_ENTRY, _UNFINISHED = ".kernel", ".saving-"  # how entries end, and how files that are being written begin

_UNITS_PER_GAME = 4  # units of other versions that are kept until they expire
_HOUR = 3600.0
_GRACE = 24 * _HOUR  # a unit that was used within this time is never deleted
_EXPIRY = 30 * 24 * _HOUR  # a unit that was not used for this long is deleted


@functools.cache
def cache_folder() -> Path:
    """Where compiled code is kept: CARDENVS_CACHE_DIR, or the user's cache folder."""
    chosen = os.environ.get("CARDENVS_CACHE_DIR")
    if chosen:
        return Path(chosen).absolute()
    import platformdirs

    return Path(platformdirs.user_cache_dir("cardenvs", appauthor=False)) / "kernels"


@functools.cache
def trusted_folder() -> Path | None:
    """The cache folder, made if need be; None, with a warning, where it cannot be made or others could change it."""
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
    """Whether what is compiled now will be there for the next process, as far as can be known beforehand."""
    folder = trusted_folder()
    return folder is not None and _UNSAVED not in _said and os.access(folder, os.W_OK)


def _danger(info: os.stat_result) -> str:
    """Why other users could have put code into a file or folder; an empty text if they could not."""
    if os.name != "posix":
        return ""
    if info.st_uid not in (os.geteuid(), 0):
        return f"it belongs to another user (id {info.st_uid})"
    if info.st_mode & stat.S_IWOTH:
        return "every user may write to it"
    return ""


class KernelCache:
    """The cached versions of one kernel; what Numba's dispatchers expect of their cache.

    Entries are named by a hash of all that their code depends on, so there is no index that could disagree with them.
    """

    def __init__(self, function: Callable, folder: Path | None, unit: str, identity: str, keep: bool = True) -> None:
        """The cache of a kernel.

        Args:
            function: the kernel's Python function.
            folder: the cache, in which the unit's folder is made with the first entry; None where nothing is saved.
            unit: name of the unit's folder, from `unit_name`.
            identity: what the code depends on besides the function itself and the types of its arguments.
            keep: whether compiled versions are looked for and saved. May be set later, until the first one is.
        """
        self._prebuilt = PREBUILT_FOLDER / unit
        self._folder = folder / unit if folder is not None else None
        self.cache_path = str(self._folder or self._prebuilt)
        self.keep = keep
        self._function, self._identity = function, identity

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled version for a signature, or None."""
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
        """Keep a compiled version, if that is possible."""
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
            _report_once(_UNSAVED, f"cardenvs: cannot save compiled code ({error}); going on without.")

    def _entry_name(self, signature: Any, target: tuple) -> str:
        line = self._function.__code__.co_firstlineno
        digest = hashlib.sha256(repr((self._identity, signature, target, line)).encode() + _contents(self._function))
        return f"{self._function.__name__}-{digest.hexdigest()[:32]}{_ENTRY}"

    def enable(self) -> None:
        """Numba's cache can be switched; this one is always on."""

    def disable(self) -> None:
        """Numba's cache can be switched; this one is always on."""

    def flush(self) -> None:
        """Entries of other sources have other names: there is nothing to forget."""


def _contents(function: Callable) -> bytes:
    """A function's code and what it closes over. Kernels are not pickled: sets in their modules vary in order."""
    from numba.core.serialize import dumps

    parts = [function.__code__.co_code]
    for cell in function.__closure__ or ():
        value = cell.cell_contents
        parts.append(_contents(value.py_func) if hasattr(value, "py_func") else dumps(value))
    return repr(parts).encode()


# ---------------------------------------------------------------------------------------------------------------
# Entries


def _load(path: Path, target_context: Any, own: bool) -> Any:
    """The compiled code of an entry; None if there is none, or a damaged one.

    Args:
        path: the entry.
        target_context: Numba's, into which it is loaded.
        own: whether it lies in the user's cache, where a damaged entry is deleted; the package's files are left alone.
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
    except Exception as error:  # an entry that is whole, but not what this process can load
        _pass_over(path, f"{type(error).__name__}: {error}", own)
    return None


@functools.cache
def _prebuilt_target(triple: str) -> tuple | None:
    """What prebuilt code was compiled for; None if there is none that this processor runs."""
    import numba

    settings: Any = numba.config
    chosen = settings.CPU_NAME is not None or settings.CPU_FEATURES is not None
    if chosen or not PREBUILT_FOLDER.is_dir() or os.environ.get("CARDENVS_PREBUILT", "1") == "0":
        return None
    return (triple, PREBUILT_CPU, "") if runs_prebuilt_code() else None


def runs_prebuilt_code() -> bool:
    """Whether this processor has all that PREBUILT_CPU promises."""
    import llvmlite.binding

    features = llvmlite.binding.get_host_cpu_features()
    return all(features.get(name) for name in _PREBUILT_NEEDS)


def _read_entry(path: Path, own: bool) -> bytes | None:
    """The contents of an entry; None if there is none, or a damaged one."""
    try:
        # O_NONBLOCK: opening a FIFO for reading would wait for a writer.
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
    return _danger(info) if own else ""  # who can change the package's files can change its Python code, too


def _write_entry(path: Path, data: bytes) -> None:
    """Write a whole entry, or raise OSError and leave what was there."""
    for folder in (cache_folder(), path.parent):  # either may have gone since the start
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
        with contextlib.suppress(OSError):  # what cannot be deleted is passed over again next time
            path.unlink()
    done = "dropped, and compiled again" if own else "compiled again"
    _report_once("damaged", f"cardenvs: compiled code was damaged ({path}: {why}); {done}.")


# ---------------------------------------------------------------------------------------------------------------
# Units of older sources


def unit_name(source: Path, unit: str) -> str:
    """The name of a unit's folder: that of its sources' folder, which stays from version to version, and its hash."""
    return f"{source.name[:40]}-{unit}"


@functools.cache
def _mark_used(unit: Path) -> None:
    """Note in the folder's time of change that this process uses the unit."""
    # A folder that this user may not change is marked by those who may. If they delete the unit, it is compiled again.
    with contextlib.suppress(OSError):
        if time.time() - unit.stat().st_mtime > _HOUR:
            os.utime(unit)


@functools.cache
def _prune_once(cache: Path) -> None:
    """Prune, at the first compilation that this process saves: after an upgrade, something is always compiled."""
    try:
        prune(cache, time.time())
    except OSError as error:
        _report_once("unpruned", f"cardenvs: cannot delete compiled code of older versions ({error}).")


def prune(cache: Path, now: float) -> None:
    """Delete the units that nobody uses any more: never within a day of use, always after 30 days without.

    In between, the few last used of each game stay, so that installed versions in use side by side keep theirs. A
    process whose unit is deleted nevertheless goes on with what it has loaded, and compiles what else it needs.

    Args:
        cache: a folder that `trusted_folder` has accepted. Only folders named as units are touched, only entries and
            unfinished entries in them are deleted, and no link is followed.
        now: seconds since the epoch.
    """
    for units in _units_by_game(cache).values():
        for k, (used, unit) in enumerate(sorted(units, reverse=True)):
            idle = now - used
            _delete_files(unit, now, entries=idle > _EXPIRY or (idle > _GRACE and k >= _UNITS_PER_GAME))


def _units_by_game(cache: Path) -> dict[str, list[tuple[float, Path]]]:
    """(time of last use, folder) of every unit, by the name of its sources' folder."""
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
    """Delete what dead processes left unfinished; if `entries`, the entries and the folder, too."""
    # What cannot be deleted stays until another run can: it belongs to another user, or another process was faster, or
    # has just saved an entry, or the folder holds something that is not ours. None of it harms anybody.
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
    """Write to standard error, unless CARDENVS_QUIET is set. The text may leave its line open."""
    global _line_is_open
    if os.environ.get("CARDENVS_QUIET", "0") in ("", "0"):
        sys.stderr.write(text)
        sys.stderr.flush()
        _line_is_open = not text.endswith("\n")


def say_line(text: str) -> None:
    """Write a line of its own to standard error, unless CARDENVS_QUIET is set."""
    say(("\n" if _line_is_open else "") + text + "\n")
