"""Tables about the open runs of a colour: how many have length 1, 2, and 3 or more.

The first two kinds must be extended, the third may be (J. van Rijn, F. Takes, J. Vis, "The Complexity of Rummikub
Problems", 2015). Each combination of the three counts has a number of COMBO_BITS bits.
"""

from itertools import product

import numpy as np

MOST_AT_ONCE = 4  # tiles of one type: two copies and two jokers
COMBO_BITS = 6
COMBO_MASK = (1 << COMBO_BITS) - 1
IMPOSSIBLE = -1  # no such combination, and no way to go on in the searches

_COMBOS = [combo for combo in product(range(MOST_AT_ONCE + 1), repeat=3) if sum(combo) <= MOST_AT_ONCE]
_COMBO_OF = {combo: number for number, combo in enumerate(_COMBOS)}


def _after(combo: tuple[int, ...], tiles: int) -> int:
    """Return the combination after `tiles` tiles of the next value go into runs.

    Complete runs are extended before new ones start, which never loses anything. IMPOSSIBLE if a short run breaks off.
    """
    ones, twos, more = combo
    if not ones + twos <= tiles <= MOST_AT_ONCE:
        return IMPOSSIBLE
    longer = min(more, tiles - ones - twos)
    return _COMBO_OF[tiles - ones - twos - longer, ones, twos + longer]


def _within(combo: tuple[int, ...], tiles: int) -> int:
    """Return the combination without the complete runs that `tiles` tiles cannot extend.

    IMPOSSIBLE if a short run breaks off.
    """
    ones, twos, more = combo
    return _COMBO_OF[ones, twos, min(more, tiles - ones - twos)] if ones + twos <= tiles else IMPOSSIBLE


COMBO = np.full((MOST_AT_ONCE + 1,) * 3, IMPOSSIBLE)  # the number of a combination
for _combo, _number in _COMBO_OF.items():
    COMBO[_combo] = _number
ONES = np.array([combo[0] for combo in _COMBOS])
MUST = np.array([combo[0] + combo[1] for combo in _COMBOS])  # short runs, each of which needs a tile of the next value
AFTER = np.array([[_after(combo, tiles) for tiles in range(MOST_AT_ONCE + 1)] for combo in _COMBOS])
WITHIN = np.array([[_within(combo, tiles) for tiles in range(MOST_AT_ONCE + 1)] for combo in _COMBOS])
