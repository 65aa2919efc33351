"""Large tables of data for kernels, loaded once a process.

Numba copies a global array into the code of every entry point that reads it. With half a megabyte, this takes long to
compile and to load. `shared_bytes` leaves the data where NumPy has put it. Compiled code contains only the name of a
symbol, which each process defines when it imports the game. So the code can be saved and loaded by other processes.
"""

from typing import Any

import numpy as np

from cardenvs.core.kernel import COMPILED

_defined: dict[str, Any] = {}  # keeps the data of each symbol alive


def shared_bytes(name: str, data: np.ndarray) -> tuple[Any, Any]:
    """Return two functions for kernels: byte_at(k), the k-th byte of `data` as int64, and num_bytes().

    `name` is unique in the process; `data` is uint8, of any shape, C order. Kernels must not read beyond its end.

    Raises:
        ValueError: other data has the name.
    """
    return _shared(name, np.ascontiguousarray(data, np.uint8).ravel())


def shared_words(name: str, data: np.ndarray) -> tuple[Any, Any]:
    """The same for int64 `data`: word_at(k) and num_words()."""
    return _shared(name, np.ascontiguousarray(data, np.int64).ravel())


def _shared(name: str, flat: np.ndarray) -> tuple[Any, Any]:
    if name in _defined:
        raise ValueError(f"there is already shared data with the name {name!r}")
    flat.setflags(write=False)
    # What the symbol names: the address of the data, and its length. So code that was kept fits data of any length.
    header = np.array([flat.ctypes.data, flat.size], np.int64)
    _defined[name] = (flat, header)
    if not COMPILED:
        return lambda k: int(flat[k]), lambda: int(header[1])
    return _compiled_readers(f"cardenvs_{name}", header, 8 * flat.itemsize)


def _compiled_readers(symbol: str, header: np.ndarray, bits: int) -> tuple[Any, Any]:
    import llvmlite.binding
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    llvmlite.binding.add_symbol(symbol, header.ctypes.data)

    def entry(builder: Any, k: int) -> Any:
        """Load an entry of the header."""
        kind = ir.ArrayType(ir.IntType(64), 2)
        place = builder.module.globals.get(symbol)
        if place is None:
            place = ir.GlobalVariable(builder.module, kind, symbol)
        return builder.load(builder.gep(place, [ir.IntType(32)(0), ir.IntType(32)(k)]))

    @intrinsic
    def entry_at(typing_context, k):
        def generate(context, builder, signature, arguments):
            data = builder.inttoptr(entry(builder, 0), ir.IntType(bits).as_pointer())
            value = builder.load(builder.gep(data, [arguments[0]]))
            return value if bits == 64 else builder.zext(value, ir.IntType(64))

        return types.int64(types.int64), generate

    @intrinsic
    def num_entries(typing_context):
        return types.int64(), lambda context, builder, signature, arguments: entry(builder, 1)

    return entry_at, num_entries
