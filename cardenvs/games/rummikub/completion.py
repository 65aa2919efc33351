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

from typing import NamedTuple

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.rummikub import catalogue, turn
from cardenvs.games.rummikub.joker_rule import are_replaced, set_reserve
from cardenvs.games.rummikub.plain_states import are_short, close, finish_plain, next_runs, open_points, plain_runs
from cardenvs.games.rummikub.runs import COMBO_BITS
from cardenvs.games.rummikub.scratch import ONE, ZERO, place_of
from cardenvs.games.rummikub.tiles import JOKER, NUM_COLOURS, NUM_VALUES

_TWO_LISTS = (1 << 2 * turn.LIST_BITS) - 1
_NONE, _BANNED = np.int64(-1), np.int64(-2)  # no meld; a meld that may not be laid
_DONE, _NOT_POSSIBLE = np.int64(-1), np.int64(-2)
_UNKNOWN = np.int64(-2)  # a result, besides IMPOSSIBLE and points
_GROUPS = np.int64(NUM_COLOURS)  # the part of a value after the runs of its colours
_LAY_GROUP, _FILL_PLAIN_RUNS, _CONTINUE_RUN, _START_RUNS = range(4)


class _Part(NamedTuple):
    """A part of a value, and all that stays the same while it is decided.

    Attributes:
        v, part: the runs of colour `part` at value `v`, or with _GROUPS the groups of value `v`.
        one, other: the open runs of colours 0 and 1, and of colours 2 and 3; up to `v` for colours before `part`, else
            up to v - 1. Lists of runs, or combinations (runs.py) for plain colours.
        used: 1 if a rack tile has been laid.
        decided: 1 if the next step is decided.
    """

    v: np.int64
    part: np.int64
    one: np.int64
    other: np.int64
    used: np.int64
    decided: np.int64


@kernel
def mark(w):
    """Set w.marks to 1 for each meld or set that can be the next step of a turn that can be completed.

    Every kernel on the way is compiled together with the whole search, so keep their number low.

    Args:
        w: record of TURN with the problem and the joker rule filled in, except w.reserve.
    """
    for number in range(catalogue.NUM_MELDS):
        w.marks[number] = 0
    turn.look_ahead(w)
    turn.list_groups(w)
    most = _most_kept(w) if w.goal == turn.TO_TAKE else np.int64(0)
    _forget_plain_states(w)
    if w.goal == turn.TO_LAY:
        for c in range(NUM_COLOURS):
            w.plain[c] = 0
        set_reserve(w)
        _forget_states(w)
        _search(w, ZERO)
        return
    for k in range(min(most + 1, w.num_stay)):  # set k is taken apart; sets before it stay, sets after it may stay
        if k > 0:
            turn.put_aside(w, w.stay[k - 1], 1)
        number = w.stay[k]
        if w.marks[number]:
            continue
        if k == most and w.last_banned < 0:
            w.marks[number] = 1
            continue
        was_banned = w.banned[number]
        turn.ban(w, number)
        set_reserve(w)
        _forget_states(w)  # plain states stay valid: their values are above those of the fixed sets
        if _search(w, ONE) != turn.IMPOSSIBLE:
            w.marks[number] = 1
        w.banned[number] = was_banned


@kernel
def _forget_states(w):
    for k in range(1 << turn.STATE_BITS):
        w.states[k, 0] = 0


@kernel
def _forget_plain_states(w):
    for k in range(1 << turn.PLAIN_STATE_BITS):
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
    turn.look_ahead(w)
    turn.list_groups(w)
    return _could_play(w, ZERO)


@kernel
def _could_play(w, kept):
    """Return whether there is a play in which the first `kept` sets of w.stay stay."""
    for k in range(kept):
        turn.put_aside(w, w.stay[k], 1)
    set_reserve(w)
    _forget_plain_states(w)
    most = finish_plain(w, ONE, ZERO, ZERO, ZERO, ZERO, np.int64(w.jokers), np.int64(w.used))
    for k in range(kept):
        turn.put_aside(w, w.stay[k], -1)
    return most != turn.IMPOSSIBLE and most >= w.least


@kernel
def _search(w, decided):
    """Search from the first value; see `_explore`."""
    start = _Part(ONE, ZERO, ZERO, ZERO, np.int64(w.used), decided)
    return _explore(w, start, ZERO, ZERO, ZERO, np.int64(w.jokers), _NONE, ZERO)


@kernel
def _explore(w, at, i, fresh, spent, jokers, ended, points):
    """Search from a state.

    Args:
        w: the problem, a record of TURN.
        at: what to decide, with all that stays the same until it is decided.
        i: the open run to decide, or the first of w.groups[v] that can still be chosen, or _DONE if nothing is left
            to decide in this part.
        fresh: the open runs of this colour up to `v` that have been decided.
        spent: the tiles laid at `v` so far.
        jokers: number of jokers left.
        ended: the lowest meld completed in this part, or _NONE; only while the next step is not decided.
        points: points of the melds completed in this part; only while the next step is not decided.

    Returns:
        The most points of the melds still to be completed, or w.least as soon as that is reached (0 if points do not
        matter); IMPOSSIBLE if the turn cannot be completed. While the next step is not decided, only w.marks counts.
    """
    key, place = np.int64(0), np.int64(0)
    while True:
        if i == _DONE:
            next_step = _NONE if at.decided else np.int64(ended)
            at, spent = _next_part(w, at, fresh, spent)
            i, fresh = ZERO, ZERO
            if next_step != _NONE:
                if w.marks[next_step] == 0:
                    rest = _explore(w, _with_step_decided(at), i, fresh, spent, jokers, _NONE, ZERO)
                    if rest != turn.IMPOSSIBLE and points + rest >= w.least:
                        w.marks[next_step] = 1
                return np.int64(turn.IMPOSSIBLE)
            if not at.decided:
                ended, points = _NONE, ZERO
        if at.part == 0 and i == 0:
            known = _without_search(w, at, jokers)
            if known != _UNKNOWN:
                return known
            key = (((at.v << 2 | jokers) << 1 | at.used) << 1 | at.decided) << 2 * turn.LIST_BITS | at.one
            place = place_of(key, turn.STATE_BITS) ^ place_of(at.other, turn.STATE_BITS)
            if w.states[place, 0] == key and w.states[place, 1] & _TWO_LISTS == at.other:
                return (w.states[place, 1] >> 2 * turn.LIST_BITS) - 1
        if i > 0 or not _is_empty(w, at, jokers):
            break
        if at.part == _GROUPS and not _is_value_done(w, at.v, spent):
            return np.int64(turn.IMPOSSIBLE)
        i = _DONE
    best = np.int64(turn.IMPOSSIBLE)
    in_groups = at.part == _GROUPS
    if in_groups or (not w.plain[at.part] and _open_run(at.one, at.other, at.part, i)):
        for k in range(1 + w.num_groups[at.v] - i if in_groups else 3):
            if at.decided and best >= w.least:
                break
            if in_groups:
                choice = _group_choice(w, at, i, k, spent, jokers)
            else:
                choice = _run_choice(w, at, i, k, fresh, spent, jokers)
            next_i, next_fresh, next_spent, next_jokers, number = choice
            if next_i == _NOT_POSSIBLE:
                continue
            gain, now = ZERO, np.int64(ended)
            if number != _NONE:
                gain, now = _points(w, number), _note(w, at.decided, ended, number)
            if now != _BANNED:
                rest = _explore(w, at, next_i, next_fresh, next_spent, next_jokers, now, points + gain)
                if rest != turn.IMPOSSIBLE:
                    best = max(best, rest + gain)
    else:
        for j in range(_most_jokers(w, at, jokers) + 1):
            for k in range(_left(w, at, spent) + 1):
                if at.decided and best >= w.least:
                    break
                if w.plain[at.part]:
                    choice = _plain_choice(w, at, j, k, spent, jokers)
                else:
                    choice = _start_choice(w, at, j, k, fresh, spent, jokers)
                is_possible, next_fresh, next_spent, next_jokers = choice
                if is_possible:
                    rest = _explore(w, at, _DONE, next_fresh, next_spent, next_jokers, ended, points)
                    best = max(best, rest)
    if key:
        w.states[place, 0] = key
        w.states[place, 1] = (best + 1) << 2 * turn.LIST_BITS | at.other
    return best


@kernel(inline=True)
def _next_part(w, at, fresh, spent):
    """Return the part after `at`, whose runs or groups are decided, and the tiles laid so far at its value."""
    if at.part == _GROUPS:
        used = _is_rack_used(w, at.v, spent, at.used)
        return _Part(at.v + 1, ZERO, at.one, at.other, used, at.decided), ZERO
    one, other, shift = at.one, at.other, (at.part & 1) * turn.LIST_BITS
    if at.part < 2:
        one = one & ~(turn.LIST_MASK << shift) | fresh << shift
    else:
        other = other & ~(turn.LIST_MASK << shift) | fresh << shift
    return _Part(at.v, at.part + 1, one, other, at.used, at.decided), np.int64(spent)


@kernel(inline=True)
def _with_step_decided(at):
    return _Part(at.v, at.part, at.one, at.other, at.used, ONE)


@kernel(inline=True)
def _without_search(w, at, jokers):
    """Return the result at the beginning of a value where it needs no more of this search, else _UNKNOWN."""
    if at.v > w.values + 1:
        return close(w, jokers, at.used) if at.decided else np.int64(turn.IMPOSSIBLE)
    if not at.used and not w.rack_from[at.v] and w.jokers == w.must_jokers:
        return np.int64(turn.IMPOSSIBLE)
    if at.decided and at.v >= w.free_from and are_short(w, at.one, 0) and are_short(w, at.other, 2):
        plain = plain_runs(w, at.one, 0) | plain_runs(w, at.other, 2) << 2 * COMBO_BITS
        rest = finish_plain(w, at.v, ZERO, plain, ZERO, ZERO, jokers, at.used)
        return rest if rest == turn.IMPOSSIBLE else rest + open_points(w, at.v, at.one) + open_points(w, at.v, at.other)
    return _UNKNOWN


# ---------------------------------------------------------------------------------------------------------------
# Choices: what can be done next in a part. `_explore` tries them, since kernels may not call each other in a circle.


@kernel(inline=True)
def _most_jokers(w, at, jokers):
    """Return the most jokers that can go into runs of a plain colour, or start runs of any other."""
    if w.plain[at.part]:
        return max(ZERO, jokers - w.reserve[at.v]) if at.part < w.colors else ZERO
    return jokers if at.v < w.values - 1 else ZERO  # two values must follow


@kernel(inline=True)
def _group_choice(w, at, i, k, spent, jokers):
    """Return choice `k` of groups, none or w.groups[v, i + k - 1].

    Returns:
        the next i, fresh, spent and jokers of `_explore`, and the meld that is completed, or _NONE. If the choice is
        not possible, its i is _NOT_POSSIBLE.
    """
    if k == 0:
        return (_DONE if _is_value_done(w, at.v, spent) else _NOT_POSSIBLE), ZERO, spent, jokers, _NONE
    place = i + k - 1
    number = np.int64(w.groups[at.v, place])
    after = np.int64(_spend_group(w, number, at.v, spent, jokers))
    left = jokers - catalogue.MELD_NUM_JOKERS[number]
    return (_NOT_POSSIBLE if after == turn.IMPOSSIBLE else place), ZERO, after, left, number


@kernel(inline=True)
def _plain_choice(w, at, j, k, spent, jokers):
    """Return the choice to put `j` jokers, and all natural tiles but `k`, into runs of a plain colour.

    Returns:
        whether it is possible, and the next fresh, spent and jokers of `_explore`.
    """
    c, n = at.part, w.have[at.part, at.v] - k
    combo = (at.one if c < 2 else at.other) >> (c & 1) * turn.LIST_BITS & turn.LIST_MASK
    now_spent = spent + ((n | j << turn.JOKERS_AT) << 2 * c)
    after = next_runs(w, at.v, c, combo, n + j, jokers - j)
    is_possible = after != turn.IMPOSSIBLE and (n >= w.loose[c, at.v] or _could_group(w, at.v, now_spent, jokers - j))
    return is_possible, after, now_spent, jokers - j


@kernel(inline=True)
def _run_choice(w, at, i, k, fresh, spent, jokers):
    """Return choice `k` of open run `i`, as `_group_choice` does.

    A natural tile extends it, it ends before `v`, or a joker extends it.
    """
    c, run = at.part, _open_run(at.one, at.other, at.part, i)
    length = turn.LENGTH[run]
    longer = run + (1 << length)
    if k == 1:
        if length < 3:
            return _NOT_POSSIBLE, fresh, spent, jokers, _NONE
        return i + 1, fresh, spent, jokers, np.int64(catalogue.RUN_NUMBER[c, at.v - 1, length, run & ~(1 << length)])
    if length >= catalogue.LONGEST:
        return _NOT_POSSIBLE, fresh, spent, jokers, _NONE
    if k == 0:
        if _left(w, at, spent) <= 0:
            return _NOT_POSSIBLE, fresh, spent, jokers, _NONE
        return i + 1, _insert(fresh, longer), spent + (1 << 2 * c), jokers, _NONE
    if not _may_use_joker(w, c, at.v, jokers):
        return _NOT_POSSIBLE, fresh, spent, jokers, _NONE
    return i + 1, _insert(fresh, longer | 1 << length), spent + (1 << turn.JOKERS_AT + 2 * c), jokers - 1, _NONE


@kernel(inline=True)
def _start_choice(w, at, j, k, fresh, spent, jokers):
    """Return the choice to start `j` runs with a joker, and `k` with a natural tile, as `_plain_choice` does."""
    c = at.part
    is_possible = j == 0 or _may_use_joker(w, c, at.v, jokers - j + 1)
    for _ in range(j):
        fresh = _insert(fresh, np.int64(3))
    for _ in range(k):
        fresh = _insert(fresh, np.int64(2))
    spent += (k | j << turn.JOKERS_AT) << 2 * c
    is_possible = (
        is_possible
        and _can_go_on(w, at.v, c, fresh, jokers - j)
        and ((spent >> 2 * c & 3) >= w.loose[c, at.v] or _could_group(w, at.v, spent, jokers - j))
    )
    return is_possible, fresh, spent, jokers - j


@kernel(inline=True)
def _left(w, at, spent):
    """Return how many natural tiles of a colour and value are left."""
    return np.int64(w.have[at.part, at.v] - (spent >> 2 * at.part & 3))


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
    if i >= turn.MOST_RUNS:
        return ZERO
    return np.int64((one if c < 2 else other) >> (c & 1) * turn.LIST_BITS + i * turn.RUN_BITS & turn.RUN_MASK)


@kernel
def _is_empty(w, at, jokers):
    """Return whether a part needs no decision: no group can be laid, or no run is open or can start."""
    if at.part == _GROUPS:
        return w.num_groups[at.v] == 0
    begins = w.have[at.part, at.v] > 0 or (at.v < w.values - 1 and _may_use_joker(w, at.part, at.v, jokers))
    return not begins and _open_run(at.one, at.other, at.part, ZERO) == 0


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
    while fresh >> shift & turn.RUN_MASK >= run:
        shift += turn.RUN_BITS
    below = fresh & (1 << shift) - 1
    return np.int64(below | run << shift | (fresh >> shift) << shift + turn.RUN_BITS)


@kernel
def _may_use_joker(w, c, v, jokers):
    """Return whether a joker may be laid as colour `c` and value `v`."""
    return c < w.colors and v <= w.values and jokers > w.reserve[v]


@kernel
def _can_go_on(w, v, c, runs, jokers):
    """Return whether there are tiles to complete the short runs of colour `c` that are open up to `v`."""
    ones, twos = np.int64(0), np.int64(0)
    while runs:
        length = turn.LENGTH[runs & turn.RUN_MASK]
        ones += 1 if length == 1 else 0
        twos += 1 if length == 2 else 0
        runs >>= turn.RUN_BITS
    jokers_next = jokers if v < w.values else 0
    jokers_later = jokers if v + 1 < w.values else 0
    return ones + twos <= w.have[c, v + 1] + jokers_next and ones <= w.have[c, v + 2] + jokers_later


@kernel
def _spend_group(w, number, v, spent, jokers):
    """Return `spent` after a group is laid, or IMPOSSIBLE if its tiles are missing."""
    if catalogue.MELD_NUM_JOKERS[number] > jokers - w.reserve[v]:
        return turn.IMPOSSIBLE
    for i in range(catalogue.MELD_SIZE[number]):
        c = catalogue.MELD_TYPES[number, i] // NUM_VALUES
        if catalogue.MELD_FACES[number, i] == JOKER:
            spent += 1 << turn.JOKERS_AT + 2 * c
        elif (spent >> 2 * c & 3) < w.have[c, v]:
            spent += 1 << 2 * c
        else:
            return turn.IMPOSSIBLE
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
