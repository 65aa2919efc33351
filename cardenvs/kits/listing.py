"""Lists of legal actions: from bit sets, and room for one."""

from typing import Any

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.kits.cards import lowest_card


@kernel(inline=True)
def list_bits(bits, first, out, n):
    """Write first + k to `out`, from index n on, for each element k of a bit set (int64), ascending.

    Returns:
        the next free index of `out`.
    """
    while bits:
        out[np.uint64(n)] = first + lowest_card(bits)
        bits &= bits - 1
        n += 1
    return n


def legal_list(size: int) -> Any:
    """Return a function that gives the kernel calling it room for a legal list: `actions`, int32 (size,)."""
    return stack_record(packed([("actions", "i4", (size,))]))
