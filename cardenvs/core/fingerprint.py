"""Fingerprints of kernels: a hash of everything that a kernel's machine code depends on, and of nothing else.

A kernel's code depends on its own bytecode, on the constants and kernels that it names, and so on down. Comments,
docstrings and code that no kernel calls do not change it, so editing them recompiles nothing.

Only values that Numba can compile into code count: a kernel cannot use other globals, and a name that happens to be
both an attribute in the kernel and a global of its module does no harm.
"""

import enum
import functools
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

# The processor is part of an entry's name, so that one folder can contain code for several processors.
_NO_SETTINGS = {"NUMBA_CACHE_DIR", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"}


def toolchain_hash() -> str:
    """Return a hash of the versions and settings of the compiler, and of the passes that cardenvs adds to it."""
    import llvmlite
    import numba

    config: Any = numba.config
    settings = sorted((k, v) for k, v in os.environ.items() if k.startswith("NUMBA_") and k not in _NO_SETTINGS)
    numpy_version = np.__version__.split(".")[:2]  # as in Python, patch releases change neither bytecode nor layouts
    versions = (numba.__version__, llvmlite.__version__, numpy_version, sys.version_info[:2])
    digest = hashlib.sha256(repr((versions, config.BOUNDSCHECK, settings)).encode())
    digest.update(_compiler_passes())
    return digest.hexdigest()[:20]


@functools.cache
def _compiler_passes() -> bytes:
    source = Path(__file__).with_name("machine_code.py")
    return repr(list(_code_parts(compile(source.read_bytes(), source.name, "exec")))).encode()


def kernel_fingerprint(dispatcher: Any) -> str:
    """Return the hash of all that the machine code of a kernel depends on, besides the types of its arguments.

    It is taken on the kernel's first compilation or search in the cache, when everything that it names is defined.
    Numba's compiler lock is held then, so no two threads take it.
    """
    if dispatcher.fingerprint is None:
        dispatcher.fingerprint = f"call of {dispatcher.py_func.__qualname__}"  # while in progress: a recursive call
        options = dispatcher.targetoptions
        flags = options["forceinline"], options["no_cpython_wrapper"]
        dispatcher.fingerprint = hashlib.sha256(repr((flags, *_parts(dispatcher.py_func))).encode()).hexdigest()
    return dispatcher.fingerprint


def type_fingerprint(kind: Any) -> str:
    """Return a Numba type as text, with the names of the fields of named tuples, which `repr` leaves out."""
    if isinstance(kind, tuple):
        return f"({','.join(map(type_fingerprint, kind))})"
    fields = getattr(kind, "fields", None)
    names = ",".join(fields) if isinstance(fields, tuple) and all(isinstance(name, str) for name in fields) else ""
    return f"{kind!r}<{names}>"


def _parts(function: FunctionType) -> Iterator[Any]:
    """Yield a function's name, which an entry in the cache imports, its code, and the values that it names."""
    code = function.__code__
    yield function.__module__, function.__qualname__
    yield from _code_parts(code)
    yield tuple(_value(default) for default in function.__defaults__ or ())
    yield tuple(_value(cell.cell_contents, _names(code)) for cell in function.__closure__ or ())
    for name in sorted(_names(code) & function.__globals__.keys()):
        yield name, _value(function.__globals__[name], _names(code))


@functools.cache
def _names(code: CodeType) -> frozenset[str]:
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return frozenset(code.co_names).union(*inner)


def _code_parts(code: CodeType) -> Iterator[Any]:
    """Yield what a code object does: neither its lines nor its docstring, but the code inside it."""
    yield code.co_name, code.co_argcount, code.co_flags, code.co_code, code.co_exceptiontable
    yield code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    for k, constant in enumerate(code.co_consts):
        if isinstance(constant, CodeType):
            yield from _code_parts(constant)
        elif k > 0 or not isinstance(constant, str):  # the first constant is the docstring, if there is one
            yield _value(constant)


def _value(value: Any, names: frozenset[str] = frozenset()) -> Any:
    """Return the parts of the value of a global name, closure or constant that kernels can use.

    `names` are the attributes in the kernel's code, which it may look up in a module or class.
    """
    if hasattr(value, "py_func"):
        return kernel_fingerprint(value) if getattr(value, "of_cardenvs", False) else value.py_func.__qualname__
    if isinstance(value, np.ndarray):
        return value.dtype.descr, value.shape, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    if isinstance(value, np.dtype):
        return value.descr
    if isinstance(value, enum.Enum):
        return type(value).__qualname__, value.name, value.value
    if isinstance(value, bool | int | float | complex | str | bytes | np.generic | None):
        return type(value).__name__, repr(value)
    if isinstance(value, tuple):
        return type(value).__name__, getattr(value, "_fields", ()), [_value(item, names) for item in value]
    if isinstance(value, frozenset):
        return sorted(repr(_value(item)) for item in value)
    return _namespace(value, names)


def _namespace(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, ModuleType):
        known = vars(value)
        return value.__name__, [(name, _value(known[name], names)) for name in sorted(names & known.keys())]
    if isinstance(value, enum.EnumType):
        return value.__qualname__, sorted((one.name, one.value) for one in list[enum.Enum](value))
    if hasattr(value, "_defn"):  # an intrinsic: a function that generates code
        return list(_generator_parts(value._defn, set()))
    if type(value).__module__.partition(".")[0] == "numba":
        return repr(value)
    return type(value).__name__, getattr(value, "__qualname__", "")


def _generator_parts(function: Callable[..., Any], seen: set[Callable[..., Any]]) -> Iterator[Any]:
    """Yield the code of a function that generates code, with the functions and values in its closure."""
    if function in seen or not isinstance(function, FunctionType):
        return
    seen.add(function)
    yield from _code_parts(function.__code__)
    for cell in function.__closure__ or ():
        yield _value(cell.cell_contents)
        yield from _generator_parts(cell.cell_contents, seen)
