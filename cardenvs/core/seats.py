"""Arithmetic on seats."""

from cardenvs.core.kernel import kernel


@kernel(inline=True)
def wrap(seat, n):
    """Return `seat` modulo n for 0 <= seat < 2n, without a division, which would cost ten times as much."""
    return seat - n if seat >= n else seat
