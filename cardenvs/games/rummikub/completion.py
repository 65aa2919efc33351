"""Find the steps with which a turn can be completed: kernels of `steps="exact"`. Paragraph numbers as in rules.md.

An example (checked in tests/games/test_rummikub_steps.py): R3 R4 R5 is on the table, and the rack is R2 B5 K5. The
player takes the set apart; its three tiles are now loose and must be laid again. What can be laid next?

    value 2   R2 may open a red run, or stay in the rack
    value 3   R3 must be laid: it continues that run, or opens one
    value 4   R4 must be laid: the run is R2 R3 R4, which may end here, or R3 R4
    value 5   after R2 R3 R4, the loose R5 completes the group R5 B5 K5: a complete turn
              R2 R3 R4 R5 lays everything that is loose, and B5 and K5 stay in the rack: a complete turn
              R3 R4 R5 is the set that was taken apart, which may not be laid again

So the mask offers R2 R3 R4 and R2 R3 R4 R5. Without R2 there is no complete turn, and the set cannot be taken apart in
the first place.

The search walks through the values 1 to 13. At each value it decides, colour by colour, which open runs are extended,
end or start, and then which groups are laid. It completes the melds of a new table in the order of the catalogue: by
highest value, groups before runs, runs by colour. The steps of a turn have the same order, so one search marks all
melds that can be laid next: the first meld that it completes is the next step. A set that is completed again is a set
that stays. Sets to take apart are tested one by one: sets before the tested one stay, sets after it may stay, and the
tested set may not be laid again.

All that matters about earlier values is, per colour, the open runs: the length of each and the places of its jokers.
Where no run can be banned, a state is *plain*: the number of open runs of length 1, 2, and 3 or more is enough. Once
the next step is decided, this holds for values after the last banned meld, and for colours without a banned run.
Results for states are kept in memos. A joker that changes its meaning must be replaced (5); this is checked at its old
value.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.rummikub import catalogue
from cardenvs.games.rummikub.joker_rule import are_replaced, set_reserve
from cardenvs.games.rummikub.plain_states import are_short, close, finish_plain, next_runs, open_points, plain_runs
from cardenvs.games.rummikub.runs import COMBO_BITS
from cardenvs.games.rummikub.scratch import ONE, ZERO, place_of
from cardenvs.games.rummikub.tiles import JOKER, NUM_COLOURS, NUM_VALUES
from cardenvs.games.rummikub.turn import (
    IMPOSSIBLE,
    JOKERS_AT,
    LENGTH,
    LIST_BITS,
    LIST_MASK,
    MOST_RUNS,
    PLAIN_STATE_BITS,
    RUN_BITS,
    RUN_MASK,
    STATE_BITS,
    TO_LAY,
    TO_TAKE,
    ban,
    list_groups,
    look_ahead,
    put_aside,
)

_TWO_LISTS = (1 << 2 * LIST_BITS) - 1
_NONE, _BANNED = np.int64(-1), np.int64(-2)  # no meld; a meld that may not be laid
_DONE = np.int64(-1)
_GROUPS = np.int64(NUM_COLOURS)  # the part of a value after the runs of its colours


@kernel
def mark(w):
    """Set w.marks to 1 for each meld or set that can be the next step of a turn that can be completed.

    Every kernel on the way is compiled together with the whole search, so keep their number low.

    Args:
        w: record of TURN with the problem and the joker rule filled in, except w.reserve.
    """
    for number in range(catalogue.NUM_MELDS):
        w.marks[number] = 0
    look_ahead(w)
    list_groups(w)
    most = _most_kept(w) if w.goal == TO_TAKE else np.int64(0)
    _forget_plain_states(w)
    if w.goal == TO_LAY:
        for c in range(NUM_COLOURS):
            w.plain[c] = 0
        set_reserve(w)
        _forget_states(w)
        _explore(w, ONE, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, np.int64(w.jokers), np.int64(w.used), ZERO, _NONE,
                 ZERO)  # fmt: skip
        return
    for k in range(min(most + 1, w.num_stay)):  # set k is taken apart; sets before it stay, sets after it may stay
        if k > 0:
            put_aside(w, w.stay[k - 1], 1)
        number = w.stay[k]
        if w.marks[number]:
            continue
        if k == most and w.last_banned < 0:
            w.marks[number] = 1
            continue
        was_banned = w.banned[number]
        ban(w, number)
        set_reserve(w)
        _forget_states(w)  # plain states stay valid: their values are above those of the fixed sets
        rest = _explore(w, ONE, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, np.int64(w.jokers), np.int64(w.used), ONE,
                        _NONE, ZERO)  # fmt: skip
        if rest != IMPOSSIBLE:
            w.marks[number] = 1
        w.banned[number] = was_banned


@kernel
def _forget_states(w):
    for k in range(1 << STATE_BITS):
        w.states[k, 0] = 0


@kernel
def _forget_plain_states(w):
    for k in range(1 << PLAIN_STATE_BITS):
        w.plain_states[k] = 0


@kernel
def _most_kept(w):
    """Return how many sets of w.stay, counted from the first, can stay in a play, or -1 if there is no play.

    Here the sets taken apart may be laid again.
    """
    best, low, high = np.int64(-1), np.int64(0), np.int64(w.num_stay)
    while low <= high:
        middle = (low + high) // 2
        if _could_play(w, middle):
            best = middle
            low = middle + 1
        else:
            high = middle - 1
    return best


@kernel
def has_play(w):
    """Return whether a turn can be completed at all, at its start.

    Args:
        w: as for `mark`, with the goal TO_TAKE.
    """
    look_ahead(w)
    list_groups(w)
    return _could_play(w, ZERO)


@kernel
def _could_play(w, kept):
    """Return whether there is a play in which the first `kept` sets of w.stay stay."""
    for k in range(kept):
        put_aside(w, w.stay[k], 1)
    set_reserve(w)
    _forget_plain_states(w)
    most = finish_plain(w, ONE, ZERO, ZERO, ZERO, ZERO, np.int64(w.jokers), np.int64(w.used))
    for k in range(kept):
        put_aside(w, w.stay[k], -1)
    return most != IMPOSSIBLE and most >= w.least


@kernel
def _explore(w, v, part, i, one, other, fresh, spent, jokers, used, decided, ended, points):
    """Search from a state.

    Args:
        w: the problem, a record of TURN.
        v, part: what to decide: the runs of colour `part` at value `v`, or with _GROUPS the groups of value `v`.
        i: the open run to decide, or the first of w.groups[v] that can still be chosen, or _DONE if nothing is left
            to decide in this part.
        one, other: the open runs of colours 0 and 1, and of colours 2 and 3; up to `v` for colours before `part`, else
            up to v - 1. Lists of runs, or combinations (runs.py) for plain colours.
        fresh: the open runs of this colour up to `v` that have been decided.
        spent: the tiles laid at `v` so far.
        jokers: number of jokers left.
        used: 1 if a rack tile has been laid.
        decided: 1 if the next step is decided.
        ended: the lowest meld completed in this part, or _NONE; only while the next step is not decided.
        points: points of the melds completed in this part; only while the next step is not decided.

    Returns:
        The most points of the melds still to be completed, or w.least as soon as that is reached (0 if points do not
        matter); IMPOSSIBLE if the turn cannot be completed. While the next step is not decided, only w.marks counts.
    """
    best = np.int64(IMPOSSIBLE)
    key, place = np.int64(0), np.int64(0)
    while True:
        if i == _DONE:
            first = _NONE if decided else np.int64(ended)
            if part < _GROUPS:
                shift = (part & 1) * LIST_BITS
                if part < 2:
                    one = one & ~(LIST_MASK << shift) | fresh << shift
                else:
                    other = other & ~(LIST_MASK << shift) | fresh << shift
                part += 1
            else:
                used = _is_rack_used(w, v, spent, used)
                v += 1
                part, spent = ZERO, ZERO
            i, fresh = ZERO, ZERO
            if first != _NONE:
                if w.marks[first] == 0:
                    rest = _explore(w, v, part, i, one, other, fresh, spent, jokers, used, ONE, _NONE, ZERO)
                    if rest != IMPOSSIBLE and points + rest >= w.least:
                        w.marks[first] = 1
                return np.int64(IMPOSSIBLE)
            if not decided:
                ended, points = _NONE, ZERO
        if part == 0 and i == 0:
            if v > w.values + 1:
                return close(w, jokers, used) if decided else np.int64(IMPOSSIBLE)
            if not used and not w.rack_from[v] and w.jokers == w.must_jokers:
                return np.int64(IMPOSSIBLE)
            if decided and v >= w.free_from and are_short(w, one, 0) and are_short(w, other, 2):
                plain = plain_runs(w, one, 0) | plain_runs(w, other, 2) << 2 * COMBO_BITS
                rest = finish_plain(w, v, ZERO, plain, ZERO, ZERO, jokers, used)
                return rest if rest == IMPOSSIBLE else rest + open_points(w, v, one) + open_points(w, v, other)
            key = (((v << 2 | jokers) << 1 | used) << 1 | decided) << 2 * LIST_BITS | one
            place = place_of(key, STATE_BITS) ^ place_of(other, STATE_BITS)
            if w.states[place, 0] == key and w.states[place, 1] & _TWO_LISTS == other:
                return (w.states[place, 1] >> 2 * LIST_BITS) - 1
        if i > 0 or not _is_empty(w, v, part, one, other, jokers):
            break
        if part == _GROUPS and not _is_value_done(w, v, spent):
            return np.int64(IMPOSSIBLE)
        i = _DONE
    if part == _GROUPS:
        if _is_value_done(w, v, spent):
            best = _explore(w, v, part, _DONE, one, other, fresh, spent, jokers, used, decided, ended, points)
        for k in range(i, w.num_groups[v]):
            if decided and best >= w.least:
                break
            number = w.groups[v, k]
            after = _spend_group(w, number, v, spent, jokers)
            now = _note(w, decided, ended, number)
            if after != IMPOSSIBLE and now != _BANNED:
                gain = _points(w, number)
                left = jokers - catalogue.MELD_NUM_JOKERS[number]
                rest = _explore(w, v, part, np.int64(k), one, other, fresh, after, left, used, decided, now,
                                points + gain)  # fmt: skip
                if rest != IMPOSSIBLE:
                    best = max(best, rest + gain)
    elif w.plain[part]:  # decide how many tiles go into runs
        c = part
        combo = (one if c < 2 else other) >> (c & 1) * LIST_BITS & LIST_MASK
        most_jokers = max(ZERO, jokers - w.reserve[v]) if c < w.colors else ZERO
        for j in range(most_jokers + 1):
            for n in range(w.have[c, v], -1, -1):
                if best >= w.least:
                    break
                now_spent = spent + ((n | j << JOKERS_AT) << 2 * c)
                after = next_runs(w, v, c, combo, n + j, jokers - j)
                if after != IMPOSSIBLE and (n >= w.loose[c, v] or _could_group(w, v, now_spent, jokers - j)):
                    best = _explore(w, v, part, _DONE, one, other, after, now_spent, jokers - j, used, decided, ended,
                                    points)  # fmt: skip
    elif _open_run(one, other, part, i):  # decide whether this run is extended or ends before v
        c, run = part, _open_run(one, other, part, i)
        left = w.have[c, v] - (spent >> 2 * c & 3)
        length = LENGTH[run]
        longer = run + (1 << length)
        if length < catalogue.LONGEST and left > 0:
            best = _explore(w, v, part, i + 1, one, other, _insert(fresh, longer), spent + (1 << 2 * c), jokers,
                            used, decided, ended, points)  # fmt: skip
        if length >= 3 and not (decided and best >= w.least):
            number = catalogue.RUN_NUMBER[c, v - 1, length, run & ~(1 << length)]
            now = _note(w, decided, ended, number)
            if now != _BANNED:
                gain = _points(w, number)
                rest = _explore(w, v, part, i + 1, one, other, fresh, spent, jokers, used, decided, now,
                                points + gain)  # fmt: skip
                if rest != IMPOSSIBLE:
                    best = max(best, rest + gain)
        if length < catalogue.LONGEST and _may_use_joker(w, c, v, jokers) and not (decided and best >= w.least):
            rest = _explore(w, v, part, i + 1, one, other, _insert(fresh, longer | 1 << length),
                            spent + (1 << JOKERS_AT + 2 * c), jokers - 1, used, decided, ended, points)  # fmt: skip
            best = max(best, rest)
    else:  # decide how many runs start, with a joker or with a natural tile
        c, left = part, w.have[part, v] - (spent >> 2 * part & 3)
        most_jokers = jokers if v < w.values - 1 else ZERO
        for new_jokers in range(most_jokers + 1):
            if new_jokers > 0:
                if not _may_use_joker(w, c, v, jokers):
                    break
                jokers -= 1
                fresh = _insert(fresh, np.int64(3))
                spent += 1 << JOKERS_AT + 2 * c
            longer, now_spent = fresh, spent
            for new in range(left + 1):
                if new > 0:
                    longer = _insert(longer, np.int64(2))
                    now_spent += 1 << 2 * c
                if (decided and best >= w.least) or not _can_go_on(w, v, c, longer, jokers):
                    break
                if (now_spent >> 2 * c & 3) >= w.loose[c, v] or _could_group(w, v, now_spent, jokers):
                    rest = _explore(w, v, part, _DONE, one, other, longer, now_spent, jokers, used, decided, ended,
                                    points)  # fmt: skip
                    best = max(best, rest)
    if key:
        w.states[place, 0] = key
        w.states[place, 1] = (best + 1) << 2 * LIST_BITS | other
    return best


@kernel
def _could_group(w, v, spent, jokers):
    """Return whether enough tiles may be left for a group of value `v`."""
    colours = jokers
    for c in range(NUM_COLOURS):
        colours += 1 if w.have[c, v] > (spent >> 2 * c & 3) else 0
    return w.num_groups[v] > 0 and colours >= 3


@kernel
def _open_run(one, other, c, i):
    """Return open run `i` of colour `c`, or 0. For a plain colour, run 0 is nonzero if there are any open runs."""
    if i >= MOST_RUNS:
        return ZERO
    return np.int64((one if c < 2 else other) >> (c & 1) * LIST_BITS + i * RUN_BITS & RUN_MASK)


@kernel
def _is_empty(w, v, part, one, other, jokers):
    """Return whether a part needs no decision: no group can be laid, or no run is open or can start."""
    if part == _GROUPS:
        return w.num_groups[v] == 0
    begins = w.have[part, v] > 0 or (v < w.values - 1 and _may_use_joker(w, part, v, jokers))
    return not begins and _open_run(one, other, part, ZERO) == 0


@kernel
def _note(w, decided, ended, number):
    """Return `ended` after a meld is completed, or _BANNED if the meld may not be laid."""
    if number < w.floor or w.banned[number]:
        return _BANNED
    if decided:
        return np.int64(ended)
    return np.int64(number if ended == _NONE else min(ended, number))


@kernel
def _points(w, number):
    return np.int64(catalogue.MELD_POINTS[number]) if w.least > 0 else ZERO


@kernel
def _insert(fresh, run):
    """Insert a run into a list of open runs, which is in descending order and has room."""
    shift = np.int64(0)
    while fresh >> shift & RUN_MASK >= run:
        shift += RUN_BITS
    below = fresh & (1 << shift) - 1
    return np.int64(below | run << shift | (fresh >> shift) << shift + RUN_BITS)


@kernel
def _may_use_joker(w, c, v, jokers):
    """Return whether a joker may be laid as colour `c` and value `v`."""
    return c < w.colors and v <= w.values and jokers > w.reserve[v]


@kernel
def _can_go_on(w, v, c, runs, jokers):
    """Return whether there are tiles to complete the short runs of colour `c` that are open up to `v`."""
    ones, twos = np.int64(0), np.int64(0)
    while runs:
        length = LENGTH[runs & RUN_MASK]
        ones += 1 if length == 1 else 0
        twos += 1 if length == 2 else 0
        runs >>= RUN_BITS
    jokers_next = jokers if v < w.values else 0
    jokers_later = jokers if v + 1 < w.values else 0
    return ones + twos <= w.have[c, v + 1] + jokers_next and ones <= w.have[c, v + 2] + jokers_later


@kernel
def _spend_group(w, number, v, spent, jokers):
    """Return `spent` after a group is laid, or IMPOSSIBLE if its tiles are missing."""
    if catalogue.MELD_NUM_JOKERS[number] > jokers - w.reserve[v]:
        return IMPOSSIBLE
    for i in range(catalogue.MELD_SIZE[number]):
        c = catalogue.MELD_TYPES[number, i] // NUM_VALUES
        if catalogue.MELD_FACES[number, i] == JOKER:
            spent += 1 << JOKERS_AT + 2 * c
        elif (spent >> 2 * c & 3) < w.have[c, v]:
            spent += 1 << 2 * c
        else:
            return IMPOSSIBLE
    return np.int64(spent)


@kernel
def _is_rack_used(w, v, spent, used):
    """Return `used` after value `v` is decided."""
    for c in range(NUM_COLOURS):
        if (spent >> 2 * c & 3) > w.loose[c, v]:
            return ONE
    return np.int64(used)


@kernel
def _is_value_done(w, v, spent):
    """Return whether all loose tiles of value `v` are laid, and its jokers with a new meaning are replaced."""
    for c in range(NUM_COLOURS):
        if (spent >> 2 * c & 3) < w.loose[c, v]:
            return False
    return are_replaced(w, v, spent)
