"""Working memory of kernels on the stack: kernels allocate nothing, but a search needs room. And places in a table."""

from typing import Any

import numpy as np

from cardenvs.core.kernel import COMPILED, kernel

ZERO, ONE = np.int64(0), np.int64(1)  # compiled and plain, arguments of searches are integers of 64 bits
_PART = (1 << 21) - 1


def stack_record(dtype: np.dtype) -> Any:
    """A function for kernels that gives a record of `dtype`, not cleared.

    It lives on the stack of the kernel that calls the function, until that kernel returns: keep it to half a megabyte,
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


@kernel(inline=True)
def place_of(key, bits):
    """A place from 0 to (1 << bits) - 1 in a table of states for a key of up to 63 bits.

    States that differ little are far from each other: the top bits of a product with an odd number (D. Knuth, "The Art
    of Computer Programming", vol. 3, 6.4), one for each third of the key, so that nothing overflows.
    """
    product = (key & _PART) * 0x9E3779B1 + (key >> 21 & _PART) * 0x85EBCA77 + (key >> 42) * 0xC2B2AE3D
    return (product & 0xFFFFFFFF) >> 32 - bits
