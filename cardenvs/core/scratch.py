"""Stack memory for kernels, which cannot allocate."""

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
