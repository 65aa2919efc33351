"""Who sits where, and who is still in the game."""

import numpy as np

from cardenvs.core.kernel import kernel


@kernel(inline=True)
def wrap(seat, n):
    """Return `seat` modulo n for 0 <= seat < 2n, without a division, which would cost ten times as much."""
    return seat - n if seat >= n else seat


@kernel(inline=True)
def next_active(s, player):
    """Return the next player after `player` who has not left the game; `player` if all others have."""
    seat = wrap(player + 1, s.rules.num_players)
    while not s.active[np.uint64(seat)]:  # unsigned, so that Numba skips the check for negative indices
        seat = wrap(seat + 1, s.rules.num_players)
    return seat


@kernel(inline=True)
def num_active(s):
    """Return the number of players who have not left the game."""
    number = 0
    for p in range(s.rules.num_players):
        number += s.active[p]
    return number
