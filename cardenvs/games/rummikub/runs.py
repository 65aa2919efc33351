"""Open runs of a colour, as the searches count them: how many have length 1, 2, and 3 or more.

The first two must go on, the third may (J. van Rijn, F. Takes, J. Vis, "The Complexity of Rummikub Problems", 2015). A
combination of the three counts has a number of COMBO_BITS.
"""

from itertools import product

import numpy as np

MOST_AT_ONCE = 4  # tiles of one type: two copies and two jokers
COMBO_BITS = 6
COMBO_MASK = (1 << COMBO_BITS) - 1
IMPOSSIBLE = -1

_COMBOS = [combo for combo in product(range(MOST_AT_ONCE + 1), repeat=3) if sum(combo) <= MOST_AT_ONCE]
_COMBO_OF = {combo: number for number, combo in enumerate(_COMBOS)}


def _after(combo: tuple[int, ...], tiles: int) -> int:
    """The combination after `tiles` tiles of the next value go to runs, or IMPOSSIBLE if not all can go on.

    Complete runs go on before new ones begin: nothing is lost by that.
    """
    ones, twos, more = combo
    if not ones + twos <= tiles <= MOST_AT_ONCE:
        return IMPOSSIBLE
    longer = min(more, tiles - ones - twos)
    return _COMBO_OF[tiles - ones - twos - longer, ones, twos + longer]


def _within(combo: tuple[int, ...], tiles: int) -> int:
    """The combination without complete runs that cannot go on with that many tiles; IMPOSSIBLE if others cannot."""
    ones, twos, more = combo
    return _COMBO_OF[ones, twos, min(more, tiles - ones - twos)] if ones + twos <= tiles else IMPOSSIBLE


COMBO = np.full((MOST_AT_ONCE + 1,) * 3, IMPOSSIBLE)  # the number of a combination
for _combo, _number in _COMBO_OF.items():
    COMBO[_combo] = _number
ONES = np.array([combo[0] for combo in _COMBOS])
MUST = np.array([combo[0] + combo[1] for combo in _COMBOS])  # tiles that the next value must give
AFTER = np.array([[_after(combo, tiles) for tiles in range(MOST_AT_ONCE + 1)] for combo in _COMBOS])
WITHIN = np.array([[_within(combo, tiles) for tiles in range(MOST_AT_ONCE + 1)] for combo in _COMBOS])
