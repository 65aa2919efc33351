"""`@kernel`: Numba's njit with a cache that can be trusted, or the plain function where there is no compiler.

What `njit(cache=True)` gets wrong for a suite of many small files, and what is done about it:

* It does not notice an edit in a *called* function of another file, nor settings such as NUMBA_BOUNDSCHECK that
  change code without changing source. Here a unit (core, or core and one game's folder) is cached in a folder
  named by a hash of all its sources and data and of those settings.
* A closure over other kernels is never found in the cache again, because a dispatcher pickles with a random id.
  Here each dispatcher gets a stable id: its name, the ids of the kernels in its closure, and the unit's hash.
* Two processes that save at once can mix up entries. Here saving is behind a file lock.

Set CARDENVS_COMPILE=0 (or NUMBA_DISABLE_JIT=1), or leave Numba out, and every kernel is plain Python: slow, but
open to a debugger, to coverage, and to a browser's Python.
"""

import functools
import hashlib
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

numba: Any
if importlib.util.find_spec("numba") is None:  # a browser's Python: the rules run uncompiled
    numba = None
else:
    import numba

CORE_FOLDER = Path(__file__).resolve().parent
_SOURCE_SUFFIXES = {".py", ".json", ".csv", ".npy", ".npz"}


def _compiler_wanted() -> bool:
    return numba is not None and os.environ.get("CARDENVS_COMPILE", "1") != "0" and not numba.config.DISABLE_JIT


COMPILED = _compiler_wanted()
"""Whether kernels are compiled in this process."""


def kernel(
    function: Callable | None = None, *, folder: Path | None = None, inline: bool = False, entry: bool = False
) -> Any:
    """Compile `function` as a kernel: no allocation, no exception, no call but to other kernels.

    Args:
        function: the function to compile.
        folder: the game folder whose cache the code goes to; by default the folder of the function's file.
            Generic code closed over one game's kernels names that game's folder.
        inline: always compile it into its callers. Pays for what is small, or called from one place with arrays,
            which a call passes field by field; costs compile time for what is large and called from many.
        entry: made to be called from Python. Any kernel may be, but others are compiled once more when they are:
            what a call from Python needs is a third of the compile time, and most kernels never get one.

    Returns:
        A Numba dispatcher, or `function` itself when the compiler is off.
    """
    if function is None:
        return functools.partial(kernel, folder=folder, inline=inline, entry=entry)
    if not COMPILED:
        return function
    return _compile_lazily(function, folder, inline, entry)


def _compile_lazily(function: Callable, folder: Path | None, inline: bool, entry: bool) -> Any:
    source = Path(function.__code__.co_filename)
    if folder is None and source.exists():
        folder = source.resolve().parent
    unit = unit_hash(folder) if folder is not None else ""
    # Numba files code under the function's name: the two ways to compile a function must not meet in one folder.
    cache = cache_folder() / unit / ("entries" if entry else "inner") if unit and _cache_is_writable() else None
    with _numba_cache_dir(cache):
        # _nrt=False: no reference counting, and a kernel that would allocate does not compile.
        dispatcher = numba.njit(
            cache=cache is not None, nogil=True, error_model="numpy", _nrt=False, forceinline=inline,
            no_cpython_wrapper=not entry, no_cfunc_wrapper=True,
        )(function)  # fmt: skip
    dispatcher._set_uuid(_stable_id(function, unit + ("" if entry else ":inner")))
    if not entry:
        dispatcher.__class__ = _InnerKernel
        dispatcher.as_entry = functools.cache(lambda: _compile_lazily(function, folder, inline, entry=True))
    dispatcher.of_cardenvs = True
    _forget_literals(dispatcher)
    if cache is not None:
        _lock_saving(dispatcher, cache)
    _report_compiles()
    return dispatcher


if numba is not None:

    class _InnerKernel(numba.core.registry.CPUDispatcher):
        """A kernel compiled for other kernels: without the wrapper through which Python would call it."""

        def __call__(self, *arguments: Any) -> Any:
            return self.as_entry()(*arguments)


def _forget_literals(dispatcher: Any) -> None:
    """Compile one version for all integers: Numba would make one for f(s, 0), one for f(s, 1) and one for f(s, k)."""
    choose_version = dispatcher.get_call_template

    def choose_plain_version(args, kws):
        plain = {name: numba.types.unliteral(kind) for name, kind in kws.items()}
        return choose_version(tuple(numba.types.unliteral(kind) for kind in args), plain)

    dispatcher.get_call_template = choose_plain_version


def _stable_id(function: Callable, unit: str) -> str:
    inner = ",".join(kernel._uuid for kernel in _kernels_in(function))
    return f"{function.__module__}.{function.__qualname__}[{inner}]:{unit}"


def _kernels_in(function: Callable) -> list[Any]:
    """The kernels in a function's closure."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return [cell for cell in cells if hasattr(cell, "py_func")]


# ---------------------------------------------------------------------------------------------------------------
# The cache folder


@functools.cache
def cache_folder() -> Path:
    """Where compiled code is kept: CARDENVS_CACHE_DIR, or the user's cache folder."""
    chosen = os.environ.get("CARDENVS_CACHE_DIR")
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("cardenvs", appauthor=False)) / "kernels"


@functools.cache
def unit_hash(folder: Path) -> str:
    """Hash of all that the compiled code of `folder` depends on: core, the folder itself, compiler and settings."""
    digest = hashlib.sha256()
    settings = sorted((k, v) for k, v in os.environ.items() if k.startswith("NUMBA_") and k != "NUMBA_CACHE_DIR")
    digest.update(repr((numba.__version__, sys.version_info[:3], numba.config.BOUNDSCHECK, settings)).encode())
    for root in dict.fromkeys((CORE_FOLDER, folder)):
        for path in _sources(root):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


def _sources(root: Path) -> Iterable[Path]:
    return sorted(path for path in root.rglob("*") if path.suffix in _SOURCE_SUFFIXES)


@functools.cache
def _cache_is_writable() -> bool:
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        _write(f"cardenvs: cannot write compiled code to {folder} ({error}); compiling anew in each process.\n")
        return False
    return True


@contextmanager
def _numba_cache_dir(folder: Path | None):
    """Have Numba choose `folder` as the cache of the dispatcher made inside the block."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = "" if folder is None else str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def _lock_saving(dispatcher: Any, folder: Path) -> None:
    """Let one process at a time save to `folder`: Numba's index files are read, changed and written back."""
    from filelock import FileLock

    save = dispatcher._cache.save_overload

    def save_locked(signature, overload):
        with FileLock(folder / ".lock"):
            save(signature, overload)

    dispatcher._cache.save_overload = save_locked


# ---------------------------------------------------------------------------------------------------------------
# Telling people what takes so long


def _write(text: str) -> None:
    if os.environ.get("CARDENVS_QUIET", "0") in ("", "0"):
        sys.stderr.write(text)
        sys.stderr.flush()


def kernel_name(dispatcher: Any) -> str:
    """Short name of a kernel for people: its game's or module's last part, and its own."""
    innermost = dispatcher
    while inner := _kernels_in(innermost.py_func):
        innermost = inner[0]
    module = innermost.py_func.__module__
    return f"{module.removesuffix('.rules').rsplit('.', 1)[-1]} {dispatcher.py_func.__name__}"


@functools.cache
def _report_compiles() -> None:
    """From now on print each outermost compilation of a kernel and how long it took; loading one is silent."""
    from numba.core import event

    class Report(event.Listener):
        depth = 0
        started = 0.0

        def on_start(self, event):
            dispatcher = event.data["dispatcher"]
            if not _is_kernel(dispatcher):
                return
            self.depth += 1
            if self.depth == 1:
                self.started = time.perf_counter()
                kept = " (kept for the next run)" if _cache_is_writable() else ""
                _write(f"cardenvs: compiling {kernel_name(dispatcher)}{kept} ...")

        def on_end(self, event):
            if not _is_kernel(event.data["dispatcher"]):
                return
            self.depth -= 1
            if self.depth == 0:
                _write(f" {time.perf_counter() - self.started:.1f} s\n")

    event.register("numba:compile", Report())


def _is_kernel(dispatcher: Any) -> bool:
    """Whether it is one of this suite's, not somebody else's Numba function in the same process."""
    return getattr(dispatcher, "of_cardenvs", False)
