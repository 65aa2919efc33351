"""A policy."""

from cardenvs.core.kernel import kernel


@kernel
def heuristic(s, legal, n, rng):
    """Play the first legal action."""
    return legal[0]
