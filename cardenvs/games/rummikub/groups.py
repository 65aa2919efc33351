"""Tables about groups: how many tiles of each colour, all of one value, can be split into groups."""

from itertools import product

import numpy as np

from cardenvs.games.rummikub.runs import IMPOSSIBLE, MOST_AT_ONCE
from cardenvs.games.rummikub.tiles import MOST_JOKERS, NUM_COLOURS

# Numbers of tiles of each colour that can be split into groups of three and four.
GROUPS = np.array(
    [
        counts
        for counts in sorted(product(range(MOST_AT_ONCE + 1), repeat=NUM_COLOURS), key=sum)
        if max(counts) <= sum(counts) // 3 and sum(max(0, count - 2) for count in counts) <= MOST_JOKERS
    ]
)  # fmt: skip
NUM_GROUPS = len(GROUPS)

# A number for each pair (most, least): a colour must put at least `least` and can put at most `most` tiles into groups.
_RANGES = sorted((most, least) for most in range(MOST_AT_ONCE + 1) for least in range(most + 1))
NO_COLOUR = len(_RANGES)  # the number for a colour that is not in the game, which no joker represents either
NUM_RANGES = NO_COLOUR + 1
RANGE = np.array([[_RANGES.index((most, min(least, most))) for most in range(MOST_AT_ONCE + 1)] for least in range(5)])


def _most_in_groups() -> np.ndarray:
    """Return the most tiles in groups, or IMPOSSIBLE, by number of free jokers and ranges of the four colours."""
    shape = (NUM_RANGES,) * NUM_COLOURS
    found = np.full((MOST_JOKERS + 1, *shape), IMPOSSIBLE, np.int8)
    for counts in GROUPS:
        jokers, fits = np.zeros(shape, np.int8), np.ones(shape, bool)
        for colour, count in enumerate(counts):
            along = [1] * NUM_COLOURS
            along[colour] = NUM_RANGES
            lacking = [*(max(0, count - most) for most, _ in _RANGES), 0]
            jokers = jokers + np.array(lacking, np.int8).reshape(along)
            fits &= np.array([*(count >= least for _, least in _RANGES), count == 0]).reshape(along)
        for number in range(MOST_JOKERS + 1):
            found[number][fits & (jokers <= number)] = counts.sum()  # in order of the sum
    return found.reshape(MOST_JOKERS + 1, -1)


MOST_IN_GROUPS = _most_in_groups()

# Whether these numbers of tiles of each colour, three bits each, can be split into groups of three and four.
MAKE_GROUPS = np.zeros(1 << 3 * NUM_COLOURS, np.int8)
for _counts in product(range(MOST_AT_ONCE + 1), repeat=NUM_COLOURS):
    if any(max(_counts) <= n and 3 * n <= sum(_counts) <= 4 * n for n in range(sum(_counts) // 3 + 1)):
        MAKE_GROUPS[sum(_count << 3 * c for c, _count in enumerate(_counts))] = 1
