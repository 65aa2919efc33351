"""The search that `completion` asks whether a state can be finished: kernels."""

from itertools import product

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.rummikub.tiles import MOST_JOKERS, NUM_COLOURS, NUM_VALUES

IMPOSSIBLE = -1
_MOST_AT_ONCE = 4  # tiles of one type: two copies and two jokers
_MEMO_BITS = 12
_VALUE_BITS = 26
_VALUE_MASK = (1 << _VALUE_BITS) - 1
COMBO_BITS = 6
_COMBO_MASK = (1 << COMBO_BITS) - 1

# Open runs of a colour: how many of length 1, 2, and 3 or more.
_COMBOS = [combo for combo in product(range(_MOST_AT_ONCE + 1), repeat=3) if sum(combo) <= _MOST_AT_ONCE]
_COMBO_OF = {combo: number for number, combo in enumerate(_COMBOS)}
_ONES = np.array([combo[0] for combo in _COMBOS])


def _after(combo: tuple[int, ...], tiles: int) -> int:
    """The combination after putting so many tiles of the next value to runs, or IMPOSSIBLE."""
    ones, twos, more = combo
    if not ones + twos <= tiles <= _MOST_AT_ONCE:
        return IMPOSSIBLE
    longer = min(more, tiles - ones - twos)
    return _COMBO_OF[tiles - ones - twos - longer, ones, twos + longer]


def _within(combo: tuple[int, ...], tiles: int) -> int:
    """The combination without complete runs that cannot go on with so many tiles, or IMPOSSIBLE."""
    ones, twos, more = combo
    return _COMBO_OF[ones, twos, min(more, tiles - ones - twos)] if ones + twos <= tiles else IMPOSSIBLE


_OPEN = np.array([[_COMBO_OF.get((ones, twos, 0), IMPOSSIBLE) for twos in range(5)] for ones in range(5)])
_AFTER = np.array([[_after(combo, tiles) for tiles in range(_MOST_AT_ONCE + 1)] for combo in _COMBOS])
_WITHIN = np.array([[_within(combo, tiles) for tiles in range(_MOST_AT_ONCE + 1)] for combo in _COMBOS])

# Tiles of each colour that go to groups: so many of each that they can be dealt out to groups of three and four.
_GROUPS = np.array(
    [
        counts
        for counts in sorted(product(range(_MOST_AT_ONCE + 1), repeat=NUM_COLOURS), key=sum)
        if max(counts) <= sum(counts) // 3 and sum(max(0, count - 2) for count in counts) <= MOST_JOKERS
    ]
)  # fmt: skip
_NUM_GROUPS = len(_GROUPS)

_ROWS = NUM_VALUES + 3  # values 0 to 15, so that one may look two ahead
SEARCH_FIELDS = (
    ("lying", (NUM_COLOURS, _ROWS)),  # tiles on the table, jokers that keep their meaning among them
    ("low", (NUM_COLOURS, _ROWS)),  # tiles that must be put down
    ("high", (NUM_COLOURS, _ROWS)),  # that may be
    ("pinned", (NUM_COLOURS, _ROWS)),  # of lying: jokers that keep their meaning
    ("weight", (_ROWS,)),  # of a tile from the rack
    ("joker_weight", (_ROWS,)),
    ("num_groups", (_ROWS,)),
    ("groups", (_ROWS, _NUM_GROUPS)),  # those that the tiles allow
    ("colors",),
    ("values",),
    ("jokers",),  # free ones
    ("must_jokers",),  # so many of them must be put down
    ("counts_points",),  # 1: `least` is looked at
    ("memo", (1 << _MEMO_BITS,)),
)


@kernel
def clear_memo(w):
    """Forget the states of the last search."""
    for k in range(1 << _MEMO_BITS):
        w.memo[k] = 0


@kernel
def list_groups(w, v):
    """List the ways to put tiles of value v to groups that the tiles at hand, jokers included, allow."""
    w.groups[v, 0] = 0
    w.num_groups[v] = 1
    colours = w.jokers
    for c in range(NUM_COLOURS):
        colours += min(1, w.high[c, v])
    if colours < 3:
        return
    n = 1
    for k in range(1, _NUM_GROUPS):
        lacking, missing_colour = 0, False
        for c in range(NUM_COLOURS):
            lacking += max(0, _GROUPS[k, c] - w.high[c, v])
            if c >= w.colors and _GROUPS[k, c] > 0:
                missing_colour = True
        if lacking <= w.jokers and not missing_colour:
            w.groups[v, n] = k
            n += 1
    w.num_groups[v] = n


@kernel
def search(w, v, c, g, runs, jokers, least):
    """The most that can still be had, or IMPOSSIBLE.

    Args:
        w: the problem, from `set_up`.
        v, c: what is to be decided: colour c of value v, or when c is NUM_COLOURS, the groups of value v + 1.
        g: the groups of value v, as an index of _GROUPS.
        runs: the open runs, a combination of COMBO_BITS for each colour.
        jokers: free jokers left.
        least: points still to be laid.
    """
    if c == NUM_COLOURS:
        v += 1
        if v > w.values:
            return np.int64(0) if jokers <= w.jokers - w.must_jokers and least == 0 else np.int64(IMPOSSIBLE)
        key = ((least << 4 | v) << 2 | jokers) << NUM_COLOURS * COMBO_BITS | runs
        place = (key ^ key >> 11 ^ key >> 23) & (1 << _MEMO_BITS) - 1
        if w.memo[place] >> _VALUE_BITS == key:
            return (w.memo[place] & _VALUE_MASK) - 1
        best = IMPOSSIBLE
        for k in range(w.num_groups[v]):
            best = max(best, search(w, v, np.int64(0), w.groups[v, k], runs, jokers, least))
        w.memo[place] = key << _VALUE_BITS | best + 1
        return best
    best = IMPOSSIBLE
    combo = runs >> c * COMBO_BITS & _COMBO_MASK
    for used in range(jokers + 1 if c < w.colors else 1):
        for n in range(w.high[c, v], w.low[c, v] - 1, -1):
            after = _next_combo(w, v, c, combo, n + used - _GROUPS[g, c], jokers - used)
            if after == IMPOSSIBLE:
                continue
            others = runs & ~(_COMBO_MASK << c * COMBO_BITS)
            left = max(0, least - v * (n + used)) if w.counts_points else 0
            value = search(w, v, c + 1, g, others | after << c * COMBO_BITS, jokers - used, left)
            if value != IMPOSSIBLE:
                best = max(best, value + _gain(w, v, c, n, used))
    return best


@kernel(inline=True)
def _gain(w, v, c, n, used):
    """What n tiles of the type and so many free jokers count."""
    return (n - w.lying[c, v]) * w.weight[v] + used * w.joker_weight[v]


@kernel(inline=True)
def _next_combo(w, v, c, combo, tiles, jokers):
    """The open runs after putting `tiles` of value v to runs, or IMPOSSIBLE if these cannot all be completed."""
    if tiles < 0 or tiles > _MOST_AT_ONCE:
        return np.int64(IMPOSSIBLE)
    after = _AFTER[combo, tiles]
    if after == IMPOSSIBLE:
        return np.int64(IMPOSSIBLE)
    jokers_next = jokers if v < w.values else 0
    jokers_later = jokers if v + 1 < w.values else 0
    if _ONES[after] > w.high[c, v + 2] + jokers_later:
        return np.int64(IMPOSSIBLE)
    return np.int64(_WITHIN[after, min(_MOST_AT_ONCE, w.high[c, v + 1] + jokers_next)])


@kernel(inline=True)
def open_combo(ones, twos):
    """The combination of so many open runs of length 1 and 2."""
    return _OPEN[ones, twos]
