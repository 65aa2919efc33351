"""Stack memory for kernels, which cannot allocate, and a hash for their tables."""

from typing import Any

import numpy as np

from cardenvs.core.kernel import COMPILED, kernel

ZERO, ONE = np.int64(0), np.int64(1)  # typed, so that a kernel is compiled for int64 arguments only
_PART = (1 << 21) - 1


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


@kernel(inline=True)
def place_of(key, bits):
    """Hash a key of up to 63 bits to an index from 0 to (1 << bits) - 1.

    Multiplicative hashing (D. Knuth, "The Art of Computer Programming", vol. 3, 6.4) spreads similar keys; each third
    of the key has its own multiplier, so that no product overflows.
    """
    product = (key & _PART) * 0x9E3779B1 + (key >> 21 & _PART) * 0x85EBCA77 + (key >> 42) * 0xC2B2AE3D
    return (product & 0xFFFFFFFF) >> 32 - bits
