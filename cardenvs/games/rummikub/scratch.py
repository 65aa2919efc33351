"""Working memory of kernels on the stack: kernels allocate nothing, but a search needs room."""

from typing import Any

import numpy as np

from cardenvs.core.kernel import COMPILED


def stack_record(dtype: np.dtype) -> Any:
    """A function for kernels that gives a record of `dtype`, not cleared.

    It lives on the stack of the kernel that calls the function, until that kernel returns: keep it to some 100 kB,
    and pass it on as an argument. Uncompiled, it is a fresh NumPy record.
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
