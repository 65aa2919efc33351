"""Stack memory for kernels, which cannot allocate: it lasts until the kernel that asks for it returns."""

from typing import Any

import numpy as np

from cardenvs.core.kernel import COMPILED


def stack_record(dtype: np.dtype) -> Any:
    """Return a function that gives the kernel calling it an uninitialised record of `dtype`.

    The record lives on the stack of the calling kernel until that kernel returns. Keep it below half a megabyte, and
    pass it on as an argument. Without the compiler it is a new NumPy record.
    """
    if not COMPILED:
        return lambda: np.zeros(1, dtype)[0]

    import numba
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    record_type = numba.from_dtype(dtype)

    @intrinsic
    def reserve(typing_context):
        def generate(context, builder, signature, arguments):
            slot = cgutils.alloca_once(builder, context.get_data_type(types.uint64), size=dtype.itemsize // 8)
            return builder.bitcast(slot, context.get_value_type(record_type))

        return record_type(), generate

    return reserve


def _stack_copy() -> Any:
    if not COMPILED:
        return lambda record: record.copy()

    from numba.core import cgutils, types
    from numba.extending import intrinsic

    @intrinsic
    def copied(typing_context, record):
        def generate(context, builder, signature, arguments):
            slot = cgutils.alloca_once(builder, context.get_data_type(types.uint64), size=-(-record.size // 8))
            cgutils.raw_memcpy(builder, slot, arguments[0], context.get_constant(types.intp, record.size), 1)
            return builder.bitcast(slot, context.get_value_type(record))

        return record(record), generate

    return copied


stack_copy: Any = _stack_copy()
"""`stack_copy(s)` returns a copy of a record, such as a state, on the stack of the calling kernel, to try changes."""
