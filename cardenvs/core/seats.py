"""Going round the table."""

from cardenvs.core.kernel import kernel


@kernel(inline=True)
def wrap(seat, n):
    """`seat` modulo n for 0 <= seat < 2n, without a division (which costs ten times as much)."""
    return seat - n if seat >= n else seat
