"""Search of the solver, described in solver.py: kernels."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.rummikub.groups import GROUPS, MOST_IN_GROUPS, NO_COLOUR, NUM_GROUPS, NUM_RANGES, RANGE
from cardenvs.games.rummikub.problem import MEMO_BITS
from cardenvs.games.rummikub.runs import AFTER, COMBO_BITS, COMBO_MASK, IMPOSSIBLE, MOST_AT_ONCE, ONES, WITHIN
from cardenvs.games.rummikub.scratch import ONE, ZERO, place_of
from cardenvs.games.rummikub.tiles import NUM_COLOURS

_ALL_BITS = NUM_COLOURS * COMBO_BITS

# A memo entry: the key of a state, its value plus one, and one bit: 1 if the value is exact, 0 if an upper bound.
# The memo starts small, as most problems are small, and grows up to the size that fits on the stack.
FIRST_MEMO_BITS, _MEMO_GROWTH = 10, 2
_VALUE_BITS = 21
_VALUE_MASK = (1 << _VALUE_BITS) - 1


@kernel
def search(w, v, runs, jokers, least, need, note):
    """Return the most that can be gained from value `v` on, or an upper bound below `need` if that is below `need`.

    Args:
        w: the problem, from `set_up`.
        v: the value to decide.
        runs: the open runs, COMBO_BITS for each colour (runs.py).
        jokers: number of free jokers left.
        least: points that still have to be laid.
        need: gains below this are of no interest.
        note: 1 writes the first choice that reaches `need`, and the state after it, into `w`.

    Returns:
        int64; IMPOSSIBLE if no choice can be completed.
    """
    if v > w.values:
        return ZERO if jokers <= w.jokers - w.must_jokers and least == 0 else np.int64(IMPOSSIBLE)
    bound = w.rest[v] + jokers * w.joker_weight[w.values]
    if bound < need:
        return bound
    key = ZERO
    if not note:
        key = (((w.variant << 7 | least) << 4 | v) << 2 | jokers) << _ALL_BITS | runs
        entry = w.memo[place_of(key, w.memo_bits)]
        if entry >> _VALUE_BITS + 1 == key:
            known = (entry >> 1 & _VALUE_MASK) - 1
            if entry & 1 or known < need:
                return known
    for c in range(NUM_COLOURS):
        _list_choices(w, v, c, runs >> c * COMBO_BITS & COMBO_MASK, jokers)
    best = np.int64(IMPOSSIBLE)
    weight, joker_weight = w.weight[v], w.joker_weight[v]
    for k0 in range(w.num_choices[v, 0]):
        for k1 in range(w.num_choices[v, 1]):
            excess_1 = w.excess[v, 0, k0] + w.excess[v, 1, k1]
            if excess_1 > jokers:
                continue
            range_1 = w.range[v, 0, k0] * NUM_RANGES + w.range[v, 1, k1]
            for k2 in range(w.num_choices[v, 2]):
                excess_2 = excess_1 + w.excess[v, 2, k2]
                if excess_2 > jokers:
                    continue
                range_2 = range_1 * NUM_RANGES + w.range[v, 2, k2]
                for k3 in range(w.num_choices[v, 3]):
                    excess = excess_2 + w.excess[v, 3, k3]
                    ranges = range_2 * NUM_RANGES + w.range[v, 3, k3]
                    for used in range(excess, jokers + 1):
                        grouped = np.int64(MOST_IN_GROUPS[used - excess, ranges])
                        if grouped == IMPOSSIBLE:
                            continue
                        tiles = w.tiles[v, 0, k0] + w.tiles[v, 1, k1] + w.tiles[v, 2, k2] + w.tiles[v, 3, k3] + grouped
                        if used > tiles - w.all_low[v]:
                            continue
                        gain = (tiles - used - w.all_lying[v]) * weight + used * joker_weight
                        left = max(ZERO, least - v * tiles) if w.counts_points else ZERO
                        after = w.after[v, 0, k0] | w.after[v, 1, k1] | w.after[v, 2, k2] | w.after[v, 3, k3]
                        asked = max(need, best + 1) - gain
                        value = search(w, v + 1, after, jokers - used, left, asked, ZERO)
                        if value == IMPOSSIBLE:
                            continue
                        best = max(best, value + gain)
                        if note and best >= need:
                            w.next_runs, w.next_jokers, w.next_least = after, jokers - used, left
                            w.next_need = value
                            _note_choice(w, v, k0, k1, k2, k3, used, grouped)
                            return best
                        if best >= bound:
                            _remember(w, key, best, ONE)
                            return best
                        if w.stops_early and best >= need:
                            return best
    if not note:
        _remember(w, key, best, ONE if best >= need or best == IMPOSSIBLE else ZERO)
    return best


@kernel
def _remember(w, key, best, exact):
    """Store the value of a state in the memo; with `exact` 0, an upper bound."""
    if w.num_noted == 1 << w.memo_bits and w.memo_bits < MEMO_BITS:
        clear_memo(w, w.memo_bits + _MEMO_GROWTH)
    w.memo[place_of(key, w.memo_bits)] = (key << _VALUE_BITS | best + 1) << 1 | exact
    w.num_noted += 1


@kernel
def clear_memo(w, bits):
    """Empty the memo and let it use `1 << bits` entries."""
    w.memo_bits = bits
    w.num_noted = 0
    for k in range(1 << bits):
        w.memo[k] = 0


@kernel
def _list_choices(w, v, c, combo, jokers):
    """List how many tiles of colour `c` and value `v` can go into runs: the number on the table, then descending."""
    high, low = w.high[v, c], w.low[v, c]
    next_most = min(MOST_AT_ONCE, w.high[v + 1, c] + (jokers if v < w.values and c < w.colors else 0))
    later_most = w.high[v + 2, c] + (jokers if v + 1 < w.values and c < w.colors else 0)
    most = min(MOST_AT_ONCE, high + (jokers if c < w.colors else 0))
    n = 0
    for k in range(-1, most + 1):
        tiles = w.in_old_runs[v, c] if k < 0 else most - k
        if (k >= 0 and tiles == w.in_old_runs[v, c]) or tiles > most:
            continue
        after = AFTER[combo, tiles]
        if after == IMPOSSIBLE or ONES[after] > later_most:
            continue
        after = WITHIN[after, next_most]
        if after == IMPOSSIBLE:
            continue
        w.tiles[v, c, n] = tiles
        w.after[v, c, n] = after << c * COMBO_BITS
        w.excess[v, c, n] = max(0, tiles - high)
        w.range[v, c, n] = RANGE[max(0, low - tiles), max(0, high - tiles)] if c < w.colors else NO_COLOUR
        n += 1
    w.num_choices[v, c] = n


@kernel
def _note_choice(w, v, k0, k1, k2, k3, used, grouped):
    """Write into `w` how many tiles and jokers of each colour lie in runs and in groups at value `v`."""
    w.in_runs[v, 0] = w.tiles[v, 0, k0]
    w.in_runs[v, 1] = w.tiles[v, 1, k1]
    w.in_runs[v, 2] = w.tiles[v, 2, k2]
    w.in_runs[v, 3] = w.tiles[v, 3, k3]
    _choose_groups(w, v, used, grouped)
    for c in range(NUM_COLOURS):
        jokers = max(0, w.in_runs[v, c] + w.in_groups[v, c] - w.high[v, c])
        used -= jokers
        w.placed_jokers[v, c] = jokers + w.pinned[v, c]
    for c in range(NUM_COLOURS):
        jokers = w.placed_jokers[v, c] - w.pinned[v, c]
        more = min(used, w.in_runs[v, c] + w.in_groups[v, c] - w.low[v, c] - jokers)
        if more > 0:
            w.placed_jokers[v, c] += more
            used -= more


@kernel
def _choose_groups(w, v, used, grouped):
    """Choose the way to put `grouped` tiles into groups that is closest to the table."""
    least_moved = np.int64(1 << 30)
    for k in range(NUM_GROUPS):
        jokers, tiles, moved, fits = ZERO, ZERO, ZERO, True
        for c in range(NUM_COLOURS):
            count = GROUPS[k, c]
            tiles += count
            jokers += max(0, w.in_runs[v, c] + count - w.high[v, c])
            moved += abs(count - (w.lying[v, c] - w.in_old_runs[v, c]))
            if count < w.low[v, c] - w.in_runs[v, c] or (count > 0 and c >= w.colors):
                fits = False
        if fits and tiles == grouped and jokers <= used and moved < least_moved:
            least_moved = moved
            for c in range(NUM_COLOURS):
                w.in_groups[v, c] = GROUPS[k, c]
