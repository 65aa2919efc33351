"""Sets of seats as bit sets: kernels."""

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.kits.cards import lowest_card


@kernel(inline=True)
def next_seat(seats, first, n):
    """Return the first seat of a non-empty set clockwise from seat `first`, 0 <= first < 2n."""
    later = seats >> wrap(first, n) << wrap(first, n)
    return lowest_card(later if later else seats)


@kernel(inline=True)
def is_one(seats):
    """Return whether a set has at most one seat."""
    return seats & seats - 1 == 0
