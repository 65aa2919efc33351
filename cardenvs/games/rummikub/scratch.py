"""Typed constants, and a hash for the tables of kernels."""

import numpy as np

from cardenvs.core.kernel import kernel

ZERO, ONE = np.int64(0), np.int64(1)  # typed, so that a kernel is compiled for int64 arguments only
_PART = (1 << 21) - 1


@kernel(inline=True)
def place_of(key, bits):
    """Hash a key of up to 63 bits to an index from 0 to (1 << bits) - 1.

    Multiplicative hashing (D. Knuth, "The Art of Computer Programming", vol. 3, 6.4) spreads similar keys; each third
    of the key has its own multiplier, so that no product overflows.
    """
    product = (key & _PART) * 0x9E3779B1 + (key >> 21 & _PART) * 0x85EBCA77 + (key >> 42) * 0xC2B2AE3D
    return (product & 0xFFFFFFFF) >> 32 - bits
