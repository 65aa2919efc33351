"""`@kernel`: Numba's njit with a reliable cache, or the plain function if there is no compiler.

`njit(cache=True)` has five problems with many small files, which are solved here:

* It does not notice an edit in a *called* function of another file, nor settings such as NUMBA_BOUNDSCHECK that change
  the code. Here, an entry is named by the fingerprint of the kernel and of all that it calls, in a folder named by a
  hash of those settings; see cardenvs.core.fingerprint.
* It compiles a whole file again when a comment in it changes. A fingerprint changes only with the code itself.
* It never finds a closure over other kernels in the cache, because a dispatcher pickles with a random id. Here, each
  dispatcher gets a stable id: its name, its file's hash and the ids of the kernels in its closure.
* Two processes that save at the same time can mix up entries, and a damaged entry crashes every process that loads it.
  Here, entries are separate files with a checksum; see cardenvs.core.cache.
* It saves every function, although the code of an entry point includes everything it calls. Here, only entry points are
  saved, and kernels in a closure, which several entry points of a game share.

With CARDENVS_COMPILE=0 (or NUMBA_DISABLE_JIT=1), or without Numba, every kernel is plain Python: slow, but usable with
debuggers, with coverage, and in a browser.
"""

import functools
import hashlib
import importlib.util
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cardenvs.core.cache import KernelCache, is_saving, say, trusted_folder

numba: Any
if importlib.util.find_spec("numba") is None:  # a browser's Python: the rules run uncompiled
    numba = None
else:
    import numba

    from cardenvs.core.fingerprint import kernel_fingerprint, toolchain_hash
    from cardenvs.core.machine_code import KernelCompiler

CORE_FOLDER = Path(__file__).resolve().parent


if numba is not None and hasattr(os, "register_at_fork"):
    # A process forked while another thread compiles would wait for that thread, which does not exist in the fork.
    _lock = numba.core.compiler_lock.global_compiler_lock
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


COMPILED = numba is not None and os.environ.get("CARDENVS_COMPILE", "1") != "0" and not numba.config.DISABLE_JIT
"""Whether kernels are compiled in this process."""


def kernel(
    function: Callable[..., Any] | None = None, *, folder: Path | None = None, inline: bool = False, entry: bool = False
) -> Any:
    """Compile `function` as a kernel. A kernel must not allocate, raise, or call anything but other kernels,
    and kernels must not call each other in a circle.

    Args:
        function: the function to compile.
        folder: game folder under whose name the code is cached; by default the folder of the function's file. Generic
            code that closes over a game's kernels passes that game's folder.
        inline: always inline the kernel into its callers. This helps kernels that are small, or called from one place
            with arrays, which a call passes field by field. It costs compile time for large kernels with many callers.
        entry: compile the kernel for calls from Python. Python can call any kernel, but others are compiled a second
            time for that: the wrapper for Python takes a third of the compile time, and most kernels do not need it.

    Returns:
        a Numba dispatcher, or `function` itself if the compiler is off.
    """
    if function is None:
        return functools.partial(kernel, folder=folder, inline=inline, entry=entry)
    if not COMPILED:
        return function
    return _compile_lazily(function, folder, inline, entry)


def _compile_lazily(function: Callable[..., Any], folder: Path | None, inline: bool, entry: bool) -> Any:
    source = Path(function.__code__.co_filename)
    if folder is None and source.exists():
        folder = source.resolve().parent
    # _nrt=False: no reference counting, and a kernel that would allocate does not compile.
    dispatcher = numba.njit(
        nogil=True, error_model="numpy", _nrt=False, forceinline=inline, no_cpython_wrapper=not entry,
        no_cfunc_wrapper=True, pipeline_class=KernelCompiler,
    )(function)  # fmt: skip
    dispatcher._set_uuid(_stable_id(function, source, entry))
    dispatcher.fingerprint = None
    if not entry:
        dispatcher.__class__ = _InnerKernel
        dispatcher.as_entry = functools.cache(lambda: _compile_lazily(function, folder, inline, entry=True))
    dispatcher.of_cardenvs = True
    _widen_integers(dispatcher)
    if folder is not None and source.exists():
        identity = functools.partial(kernel_fingerprint, dispatcher)
        dispatcher._cache = KernelCache(function.__name__, trusted_folder(), unit_name(folder), identity, keep=entry)
    for shared in _kernels_in(function):
        if isinstance(shared._cache, KernelCache):
            shared._cache.keep = True
    _report_compiles()
    return dispatcher


def code_for(entry: Any, arguments: tuple[Any, ...]) -> Any:
    """Return the code of an entry kernel for arguments of these types, to be called with such only.

    A call of the kernel itself would look the types up each time, which takes 2 µs for a tuple of arrays.
    """
    return entry.compile(tuple(map(numba.typeof, arguments))) if hasattr(entry, "py_func") else entry


if numba is not None:

    class _InnerKernel(numba.core.registry.CPUDispatcher):
        """A kernel compiled for calls from other kernels, without the wrapper for calls from Python."""

        def __call__(self, *arguments: Any) -> Any:
            return self.as_entry()(*arguments)


def _widen_integers(dispatcher: Any) -> None:
    """Compile one version for all integers but uint64. By default, Numba compiles a kernel again for each kind of
    integer that another kernel calls it with: f(s, 0), f(s, 1), f(s, k) and f(s, s.field) separately.
    """
    choose_version = dispatcher.get_call_template

    def choose_wide_version(args, kws):
        wide = {name: _wide(kind) for name, kind in kws.items()}
        return choose_version(tuple(_wide(kind) for kind in args), wide)

    dispatcher.get_call_template = choose_wide_version


def _wide(kind: Any) -> Any:
    plain = numba.types.unliteral(kind)
    return numba.types.int64 if isinstance(plain, numba.types.Integer) and plain.bitwidth < 64 else plain


def _stable_id(function: Callable[..., Any], source: Path, entry: bool) -> str:
    inner = ",".join(kernel._uuid for kernel in _kernels_in(function))
    file = _file_hash(source) if source.exists() else ""
    return f"{function.__module__}.{function.__qualname__}[{inner}]:{file}" + ("" if entry else ":inner")


@functools.cache
def _file_hash(source: Path) -> str:
    return hashlib.sha256(source.read_bytes()).hexdigest()


def _kernels_in(function: Callable[..., Any]) -> list[Any]:
    """Return the kernels in a function's closure."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return [cell for cell in cells if hasattr(cell, "py_func")]


@functools.cache
def unit_name(folder: Path) -> str:
    """Return the name of the folder in the cache for the code of a game: the game's, and a hash of the compiler's."""
    return f"{folder.name[:40]}-{toolchain_hash()}"


# -- progress messages --------------------------------------------------------------------------------------------


def kernel_name(dispatcher: Any) -> str:
    """Return a short name of a kernel: its module, without the package of games or the file of rules, and its own."""
    innermost = dispatcher
    while inner := _kernels_in(innermost.py_func):
        innermost = inner[0]
    module = innermost.py_func.__module__.removesuffix(".rules")
    module = module.rpartition("games.")[2] if "games." in module else module.rpartition(".")[2]
    return f"{module} {dispatcher.py_func.__name__}"


@functools.cache
def _report_compiles() -> None:
    """From now on, print each outermost compilation of a kernel and its duration. Loading a kernel prints nothing."""
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
                kept = " (kept for the next run)" if is_saving() else ""
                say(f"cardenvs: compiling {kernel_name(dispatcher)}{kept} ...")

        def on_end(self, event):
            if not _is_kernel(event.data["dispatcher"]):
                return
            self.depth -= 1
            if self.depth == 0:
                say(f" {time.perf_counter() - self.started:.1f} s\n")

    event.register("numba:compile", Report())


def _is_kernel(dispatcher: Any) -> bool:
    """Return whether a dispatcher is a kernel of this package, not another Numba function in the process."""
    return getattr(dispatcher, "of_cardenvs", False)
