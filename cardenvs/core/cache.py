"""The cache of compiled kernels: one file per kernel version, verified before it is loaded.

Numba's own cache trusts its files. Its index and data are pickles, and the data contains machine code, so a damaged
file can raise any error, or crash the process inside LLVM on every start. This cache works differently:

* An entry is one file: a mark, a SHA-256 checksum and the pickle. An entry with a wrong checksum is deleted and its
  kernel compiled again, with a message on standard error.
* Files are written atomically, by renaming. Processes need no lock, so a crashed one cannot leave a lock behind.
* If an entry cannot be saved (full disk, read-only folder), a message says so and the process continues.
* A wheel may contain entries compiled for any x86-64-v3 processor. They are used if the user's cache has no entry, and
  are trusted like the package's other files.
* Entries of older sources and leftovers of crashed processes are deleted when they have not been used for a while.
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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cardenvs.core.fingerprint import type_fingerprint

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

_ENTRIES_PER_KERNEL = 40  # most recently used entries of one name that are kept until they expire
_HOUR = 3600.0
_GRACE = 24 * _HOUR  # entries used within this time are never deleted
_EXPIRY = 30 * 24 * _HOUR  # entries not used for this long are deleted


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

    def __init__(
        self, name: str, folder: Path | None, unit: str, identity: Callable[[], str], keep: bool = True
    ) -> None:
        """Set up the cache of a kernel.

        Args:
            name: the kernel's name, with which its entries' names begin.
            folder: the cache folder, or None to save nothing. The first entry creates the unit's folder in it.
            unit: name of the folder in it for the entries of a game.
            identity: returns what the code depends on besides the types of its arguments and the compiler's version
                and settings; called on the first use.
            keep: whether to look up and save compiled versions. Can be changed until the first compilation.
        """
        self._prebuilt = PREBUILT_FOLDER / unit
        self._folder = folder / unit if folder is not None else None
        self.cache_path = str(self._folder or self._prebuilt)
        self.keep = keep
        self._name, self._identity = name, identity

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled version for a signature, or None."""
        from numba.core.runtime.nrt import rtsys

        if not self.keep:
            return None
        # Loaded code needs the functions of Numba's runtime, but none of its registries, which a refresh of the target
        # imports, SciPy's linear algebra among them: a third of the time to a first action. The compiler refreshes it.
        rtsys.initialize(target_context)
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

        if not self.keep or self._folder is None:
            return
        if result.library.has_dynamic_globals:  # addresses in this process, as Numba uses for such arrays
            _report_once(
                f"dynamic {self._name}",
                f"cardenvs: compiled code of {self._name} cannot be kept, because a kernel in it names an array with "
                "gaps or of more than 1 MB; make it np.ascontiguousarray(...), or use cardenvs.core.shared_data.",
            )
            return
        if any(not loop.can_cache for loop in result.lifted):
            return
        data = dumps(result._reduce())
        try:
            _write_entry(self._folder / self._entry_name(signature, result.library.codegen.magic_tuple()), data)
            _prune_once(self._folder.parent)
        except OSError as error:
            _report_once(_UNSAVED, f"cardenvs: cannot save compiled code ({error}); continuing without.")

    def _entry_name(self, signature: Any, target: tuple[Any, ...]) -> str:
        identity = self._identity(), type_fingerprint(signature), target
        return f"{self._name}-{hashlib.sha256(repr(identity).encode()).hexdigest()[:32]}{_ENTRY}"

    def enable(self) -> None:
        """Do nothing: this cache is always on."""

    def disable(self) -> None:
        """Do nothing: this cache is always on."""

    def flush(self) -> None:
        """Do nothing: entries of other sources have other names."""


# -- entries ------------------------------------------------------------------------------------------------------


def _load(path: Path, target_context: Any, own: bool) -> Any:
    """Return the compiled code of an entry; None if it is missing or damaged.

    A damaged entry is deleted if it is in the user's `own` cache, not part of the package.
    """
    from numba.core.compiler import CompileResult

    try:
        data = _read_entry(path, own)
        if data is None:
            return None
        return CompileResult._rebuild(target_context, *pickle.loads(data))
    except OSError as error:
        _report_once("unreadable", f"cardenvs: cannot read compiled code ({error}); compiled again.")
    except Exception as error:  # an undamaged entry that this process cannot load
        _pass_over(path, f"{type(error).__name__}: {error}", own)
    return None


@functools.cache
def _prebuilt_target(triple: str) -> tuple[Any, ...] | None:
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
        info = os.fstat(descriptor)
        damage = _damage(info, own)
        if not damage:
            with open(descriptor, "rb", closefd=False) as file:
                entry = file.read(_LARGEST_ENTRY)
            start = len(_MARK) + _CHECKSUM_BYTES
            if entry[:start] == _MARK + hashlib.sha256(entry[start:]).digest():
                if own:
                    _mark_used(path, info)
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


def _mark_used(path: Path, info: os.stat_result) -> None:
    """Record in an entry's modification time that it is in use."""
    # Only users who may change the file mark it. If they delete it, it is compiled again.
    if time.time() - info.st_mtime > _HOUR:
        with contextlib.suppress(OSError):
            os.utime(path)


# -- entries of older sources -------------------------------------------------------------------------------------


@functools.cache
def _prune_once(cache: Path) -> None:
    """Prune when this process first saves a compilation, which always happens after an upgrade."""
    try:
        prune(cache, time.time())
    except OSError as error:
        _report_once("unpruned", f"cardenvs: cannot delete compiled code of older versions ({error}).")


def prune(cache: Path, now: float) -> None:
    """Delete unused entries: never within a day of their last use, always after 30 days without use.

    In between, the most recently used entries of each kernel are kept, for versions installed side by side. A process
    whose entries are deleted continues with what it has loaded, and compiles what else it needs.

    `cache` comes from `trusted_folder`. Only entries and unfinished entries in folders that cardenvs created are
    deleted, and no links are followed. `now` is in seconds since the epoch.
    """
    for unit in os.scandir(cache):
        if re.fullmatch("[^/]*-[0-9a-f]{20}", unit.name) and unit.is_dir(follow_symlinks=False):
            _prune_unit(Path(unit.path), now)


def _prune_unit(unit: Path, now: float) -> None:
    # A deletion may fail because the file belongs to another user, because another process has deleted it or just saved
    # an entry, or because the folder contains other files. A later run tries again.
    with contextlib.suppress(OSError):
        for path in _unused_files(unit, now):
            with contextlib.suppress(OSError):
                os.unlink(path)
        unit.rmdir()  # which fails unless it is empty


def _unused_files(unit: Path, now: float) -> Iterator[str]:
    entries: dict[str, list[tuple[float, str]]] = {}
    for file in os.scandir(unit):
        with contextlib.suppress(FileNotFoundError):  # another process may have pruned it since it was listed
            idle = now - file.stat(follow_symlinks=False).st_mtime
            if file.name.startswith(_UNFINISHED) and idle > _GRACE:
                yield file.path
            elif file.name.endswith(_ENTRY):
                entries.setdefault(file.name.rpartition("-")[0], []).append((idle, file.path))
    for versions in entries.values():
        for k, (idle, path) in enumerate(sorted(versions)):
            if idle > _EXPIRY or (idle > _GRACE and k >= _ENTRIES_PER_KERNEL):
                yield path


_said: set[str] = set()


def _report_once(kind: str, text: str) -> None:
    if kind not in _said:
        _said.add(kind)
        say_line(text)


# -- standard error -----------------------------------------------------------------------------------------------

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
