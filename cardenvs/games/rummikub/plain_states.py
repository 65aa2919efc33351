"""Search for a complete turn from plain states, in which no run can be banned: kernels. See completion.py."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.rummikub.groups import MAKE_GROUPS
from cardenvs.games.rummikub.joker_rule import are_replaced
from cardenvs.games.rummikub.runs import AFTER, COMBO, COMBO_BITS, COMBO_MASK, MOST_AT_ONCE, ONES, WITHIN
from cardenvs.games.rummikub.scratch import ONE, ZERO, place_of
from cardenvs.games.rummikub.tiles import NUM_COLOURS
from cardenvs.games.rummikub.turn import (
    IMPOSSIBLE,
    JOKERS_AT,
    LENGTH,
    LIST_BITS,
    LIST_MASK,
    PLAIN_STATE_BITS,
    RUN_BITS,
    RUN_MASK,
)


@kernel
def finish_plain(w, v, c, runs, spent, grouped, jokers, used):
    """Search from a plain state; return the same as `completion._explore` once the next step is decided.

    Args:
        w, v, spent, jokers, used: as for `_explore`.
        c: the colour to decide at value `v`, or NUM_COLOURS if all are decided.
        runs: the open runs, a combination (runs.py) per colour; up to `v` for colours before `c`, else up to v - 1.
        grouped: number of tiles of value `v` in groups, three bits for each colour before `c`.
    """
    if c == NUM_COLOURS:
        if not MAKE_GROUPS[grouped] or not are_replaced(w, v, spent):
            return np.int64(IMPOSSIBLE)
        v += 1
        c, spent, grouped = ZERO, ZERO, ZERO
    key, place = np.int64(0), np.int64(0)
    if c == 0:
        if v > w.values:
            return close(w, jokers, used)
        if not used and not w.rack_from[v] and w.jokers == w.must_jokers:
            return np.int64(IMPOSSIBLE)
        key = ((v << 2 | jokers) << 1 | used) << NUM_COLOURS * COMBO_BITS | runs
        place = place_of(key, PLAIN_STATE_BITS)
        if w.plain_states[place] >> 16 == key:
            return (w.plain_states[place] & (1 << 16) - 1) - 1
    best = np.int64(IMPOSSIBLE)
    combo = runs >> c * COMBO_BITS & COMBO_MASK
    others = runs & ~(COMBO_MASK << c * COMBO_BITS)
    most_jokers = max(ZERO, jokers - w.reserve[v]) if c < w.colors else ZERO
    for turn in range(most_jokers + 1):
        j = (w.hint[c, v] + turn) % (most_jokers + 1)
        for n in range(w.have[c, v], w.loose[c, v] - 1, -1):
            for g in range(min(n + j, MOST_AT_ONCE) + 1):
                if g > 0 and w.num_groups[v] == 0:
                    break
                after = next_runs(w, v, c, combo, n + j - g, jokers - j)
                if after == IMPOSSIBLE or not _may_group(grouped, c, g):
                    continue
                rest = finish_plain(
                    w, v, c + 1, others | after << c * COMBO_BITS, spent | (n | j << JOKERS_AT) << 2 * c,
                    grouped | g << 3 * c, jokers - j, ONE if n > w.loose[c, v] else used,
                )  # fmt: skip
                if rest != IMPOSSIBLE:
                    best = max(best, rest + ((n + j) * v if w.least > 0 else 0))
                if best >= w.least:
                    break
            if best >= w.least:
                break
        if best >= w.least:
            break
    if c == 0:
        w.plain_states[place] = key << 16 | best + 1
    return best


@kernel
def _may_group(grouped, c, g):
    """Return whether `g` tiles of colour `c` can go into groups, which need three colours."""
    absent = np.int64(1 if g == 0 else 0)
    for k in range(c):
        absent += 1 if grouped >> 3 * k & 7 == 0 else 0
    return absent <= 1 or (g == 0 and grouped == 0)


@kernel
def next_runs(w, v, c, combo, tiles, jokers):
    """Return the open runs of a colour after `tiles` tiles of value `v` go into runs, or IMPOSSIBLE."""
    if tiles > MOST_AT_ONCE or AFTER[combo, tiles] < 0:
        return np.int64(IMPOSSIBLE)
    after = AFTER[combo, tiles]
    jokers_next = jokers if v < w.values else 0
    jokers_later = jokers if v + 1 < w.values else 0
    if ONES[after] > w.have[c, v + 2] + jokers_later:
        return np.int64(IMPOSSIBLE)
    return np.int64(WITHIN[after, min(MOST_AT_ONCE, w.have[c, v + 1] + jokers_next)])


@kernel
def close(w, jokers, used):
    """Return 0 if all required jokers and at least one rack tile have been laid, else IMPOSSIBLE."""
    laid = w.jokers - jokers
    return np.int64(0) if laid >= w.must_jokers and (used or laid > w.must_jokers) else np.int64(IMPOSSIBLE)


@kernel
def are_short(w, lists, first):
    """Return whether all open runs of colours `first` and `first` + 1 have at most three tiles.

    A longer run is not plain, since it can no longer be cut at every place.
    """
    for k in range(2):
        runs = lists >> k * LIST_BITS & LIST_MASK
        while runs and not w.plain[first + k]:
            if runs & RUN_MASK >= 16:
                return False
            runs >>= RUN_BITS
    return True


@kernel
def plain_runs(w, lists, first):
    """Return the open runs of colours `first` and `first` + 1 as combinations (runs.py)."""
    plain = np.int64(0)
    for k in range(2):
        runs = lists >> k * LIST_BITS & LIST_MASK
        if w.plain[first + k]:
            plain |= runs << k * COMBO_BITS
            continue
        ones, twos, more = np.int64(0), np.int64(0), np.int64(0)
        while runs:
            length = LENGTH[runs & RUN_MASK]
            ones += 1 if length == 1 else 0
            twos += 1 if length == 2 else 0
            more += 1 if length == 3 else 0
            runs >>= RUN_BITS
        plain |= COMBO[ones, twos, more] << k * COMBO_BITS
    return plain


@kernel
def open_points(w, v, lists):
    """Return the points of the open runs up to v - 1, or 0 if points do not matter."""
    points = np.int64(0)
    while lists and w.least > 0:
        if lists & RUN_MASK:
            length = LENGTH[lists & RUN_MASK]
            points += length * (v - 1) - length * (length - 1) // 2
        lists >>= RUN_BITS
    return points
