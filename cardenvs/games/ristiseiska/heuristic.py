"""A policy for Ristiseiska."""

import numpy as np

from cardenvs.core.kernel import kernel


@kernel
def heuristic(s, legal, n, rng):
    """Play the first legal action."""
    return np.int64(legal[0])
