"""Which steps lead to a complete turn: kernels for the exact mask. Paragraph numbers are those of rules.md.

An example (checked in tests/games/test_rummikub_steps.py): R3 R4 R5 is on the table, and the rack is R2 B5 K5. The
player takes the set apart; its three tiles are now loose and must be laid again. What may be laid next?

    value 2   R2 may open a red run, or stay in the rack
    value 3   R3 must be laid: it continues that run, or opens one
    value 4   R4 must be laid: the run is R2 R3 R4, which may end here, or R3 R4
    value 5   after R2 R3 R4, the loose R5 completes the group R5 B5 K5: a complete turn
              R2 R3 R4 R5 lays everything that is loose, and B5 and K5 stay in the rack: a complete turn
              R3 R4 R5 is the set that was taken apart, which may not be laid again

So the mask offers R2 R3 R4 and R2 R3 R4 R5. Without R2 there is no complete turn, and the set cannot be taken apart in
the first place.

In general, the search walks the values 1 to 13 and decides at each value, colour by colour, which open runs go on, end
or begin, and then which groups lie there. It meets the melds of a new table in the order of the catalogue: by highest
value, groups before runs, runs by colour. The steps of a turn come in the same order, so one search marks all melds
that can be laid next: the first meld that it completes is the next step. A set that is completed again is a set that
stays. Sets to take apart are tested one by one: those before the tested one stay, those after it may, and it may not be
laid again.

All that matters of the values before is, per colour, the open runs, each with its length and the places of its jokers.
Where no run may be forbidden, a state is *plain*: the number of open runs of length 1, 2, and 3 or more is enough. That
holds, once the next step is decided, for values after the last forbidden meld, and for colours without a forbidden run.
Results for states are kept in tables. A joker that changes its meaning must be replaced (5), which is checked at the
value that it had.
"""

from itertools import product

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.games.rummikub import catalogue
from cardenvs.games.rummikub.ruleset import FREE, LOCKED
from cardenvs.games.rummikub.runs import AFTER, COMBO, COMBO_BITS, COMBO_MASK, MOST_AT_ONCE, ONES, WITHIN
from cardenvs.games.rummikub.scratch import place_of
from cardenvs.games.rummikub.solver import MAX_MELDS
from cardenvs.games.rummikub.tiles import JOKER, MOST_JOKERS, NUM_COLOURS, NUM_NATURALS, NUM_VALUES

IMPOSSIBLE = np.int64(-1)
TO_LAY, TO_TAKE = range(2)  # goals: which steps are to be marked
_ROWS = NUM_VALUES + 4  # values 0 to 16: the search looks two ahead of the one after the last
_STATE_BITS, _PLAIN_STATE_BITS = 10, 10

# An open run is 1 << length | places of its jokers, six bits. A colour has up to four, the greatest first; colours 0
# and 1 are packed in one integer, 2 and 3 in another.
_RUN_BITS, _MOST_RUNS = catalogue.LONGEST + 1, 4
_RUN_MASK = (1 << _RUN_BITS) - 1
_LIST_BITS = _RUN_BITS * _MOST_RUNS
_LIST_MASK = (1 << _LIST_BITS) - 1
_TWO_LISTS = (1 << 2 * _LIST_BITS) - 1
_LENGTH = np.array([max(0, run.bit_length() - 1) for run in range(1 << _RUN_BITS)])

# `spent`: per colour two bits for natural tiles laid at the value at hand, then two for jokers laid as that colour.
_JOKERS_AT = 2 * NUM_COLOURS

_ZERO, _ONE = np.int64(0), np.int64(1)
_NONE, _REFUSED = np.int64(-1), np.int64(-2)  # no meld; a meld that may not be laid
_DONE = np.int64(-1)
_GROUPS = np.int64(NUM_COLOURS)  # the part of a value after the runs of its colours

# The melds of the catalogue stand in the order in which the search completes them: by part.
_PARTS = NUM_COLOURS + 1
PART_OF = np.array(
    [
        max(slot.value for slot in meld.slots) * _PARTS + (0 if is_group else 1 + meld.slots[0].colour)
        for meld, is_group in zip(catalogue.MELDS, catalogue.MELD_IS_GROUP, strict=True)
    ]
)
_GROUPS_PER_VALUE = int(catalogue.MELD_IS_GROUP.sum()) // NUM_VALUES
_FIRST_GROUP = np.searchsorted(PART_OF, np.arange(NUM_VALUES + 2) * _PARTS)

# Whether these numbers of tiles of each colour, three bits each, can be split into groups of three and four.
_MAKE_GROUPS = np.zeros(1 << 3 * NUM_COLOURS, np.int8)
for _counts in product(range(MOST_AT_ONCE + 1), repeat=NUM_COLOURS):
    if any(max(_counts) <= n and 3 * n <= sum(_counts) <= 4 * n for n in range(sum(_counts) // 3 + 1)):
        _MAKE_GROUPS[sum(_count << 3 * c for c, _count in enumerate(_counts))] = 1

TURN = packed(
    [
        # the problem
        ("goal", "i8"),
        ("colors", "i8"),
        ("values", "i8"),
        ("loose", "i8", (NUM_COLOURS, _ROWS)),  # natural tiles that must be laid
        ("have", "i8", (NUM_COLOURS, _ROWS)),  # the same, and those that may be
        ("jokers", "i8"),  # all of them
        ("must_jokers", "i8"),  # those that must be laid
        ("used", "i8"),  # 1: a rack tile has been laid
        ("least", "i8"),  # points still to be laid, an opening; else 0
        ("floor", "i8"),  # no meld below this number may be laid
        ("banned", "i1", (catalogue.NUM_MELDS,)),  # 1: taken apart, may not be laid again
        ("last_banned", "i8"),  # the highest of them, or -1
        ("num_stay", "i8"),
        ("stay", "i8", (MAX_MELDS,)),  # TO_TAKE: sets that may stay, ascending; their tiles are loose, too
        # the joker rule
        ("joker_rule", "i8"),
        ("needs_both", "i8"),
        ("num_old", "i8"),  # jokers on the table as committed
        ("meaning", "i8", (MOST_JOKERS,)),  # what they stood for
        ("either", "i8", (MOST_JOKERS,)),  # the other tile that frees one (5.3), or NO_TILE
        ("fixed", "i8", (NUM_NATURALS,)),  # natural tiles of other sets and of melds laid
        ("fixed_jokers", "i8", (NUM_NATURALS,)),  # how often jokers there stand for a type
        ("had_joker", "i8", (_ROWS,)),  # whether one of them stood for a tile of a value
        ("reserve", "i8", (_ROWS,)),  # jokers that must be laid at a higher value, since nothing frees them
        # worked out
        ("num_groups", "i8", (_ROWS,)),
        ("groups", "i8", (_ROWS, _GROUPS_PER_VALUE)),  # numbers of those that the tiles allow, ascending
        ("free_from", "i8"),  # from this value on, every meld may be laid
        ("plain", "i8", (NUM_COLOURS,)),  # 1: the open runs of a colour are a combination of runs.py
        ("rack_from", "i8", (_ROWS,)),  # whether there is a natural rack tile of a value, or a higher one
        ("hint", "i8", (NUM_COLOURS, _ROWS)),  # jokers that stood for a type
        # the answer: 1 for each meld that can be laid next, or set that can be taken apart next
        ("marks", "i1", (catalogue.NUM_MELDS,)),
        # states seen
        ("states", "i8", (1 << _STATE_BITS, 2)),
        ("plain_states", "i8", (1 << _PLAIN_STATE_BITS,)),
    ]
)


@kernel
def mark(w):
    """Mark in w.marks each meld, or set, with which the turn can go on so that it can be completed.

    Each kernel that this goes through is compiled with the whole search, so there are few of them.

    Args:
        w: record of TURN, in which the problem and the joker rule are set, w.reserve aside.
    """
    for number in range(catalogue.NUM_MELDS):
        w.marks[number] = 0
    look_ahead(w)
    _list_groups(w)
    most = _most_kept(w) if w.goal == TO_TAKE else np.int64(0)
    _forget_plain_states(w)
    if w.goal == TO_LAY:
        for c in range(NUM_COLOURS):
            w.plain[c] = 0
        _set_reserve(w)
        _forget_states(w)
        _explore(w, _ONE, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, np.int64(w.jokers), np.int64(w.used), _ZERO, _NONE,
                 _ZERO)  # fmt: skip
        return
    for k in range(min(most + 1, w.num_stay)):  # sets before k stay, it is taken apart, those after it may be
        if k > 0:
            _put_aside(w, w.stay[k - 1], 1)
        number = w.stay[k]
        if w.marks[number]:
            continue
        if k == most and w.last_banned < 0:
            w.marks[number] = 1
            continue
        was_banned = w.banned[number]
        _ban(w, number)
        _set_reserve(w)
        _forget_states(w)  # plain ones stay right: they are about higher values than those of the sets put aside
        rest = _explore(w, _ONE, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, np.int64(w.jokers), np.int64(w.used), _ONE,
                        _NONE, _ZERO)  # fmt: skip
        if rest != IMPOSSIBLE:
            w.marks[number] = 1
        w.banned[number] = was_banned


@kernel
def _ban(w, number):
    """Forbid a meld, higher than all that are forbidden, and note where nothing is forbidden."""
    w.banned[number] = 1
    w.free_from = _value_after(number)
    for c in range(NUM_COLOURS):
        w.plain[c] = 1
    for banned in range(number + 1):
        if w.banned[banned] and not catalogue.MELD_IS_GROUP[banned]:
            w.plain[catalogue.MELD_TYPES[banned, 0] // NUM_VALUES] = 0


@kernel
def _forget_states(w):
    for k in range(1 << _STATE_BITS):
        w.states[k, 0] = 0


@kernel
def _forget_plain_states(w):
    for k in range(1 << _PLAIN_STATE_BITS):
        w.plain_states[k] = 0


@kernel
def _most_kept(w):
    """How many sets of w.stay, from the first on, can be left alone so that there is a play, what has been taken apart
    being allowed to be laid again. -1 if there is none.
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
def _could_play(w, kept):
    """Whether there is a play that leaves the first `kept` sets of w.stay alone."""
    for k in range(kept):
        _put_aside(w, w.stay[k], 1)
    _set_reserve(w)
    _forget_plain_states(w)
    answer = _finish(w, _ONE, _ZERO, _ZERO, _ZERO, _ZERO, np.int64(w.jokers), np.int64(w.used))
    for k in range(kept):
        _put_aside(w, w.stay[k], -1)
    return answer != IMPOSSIBLE


@kernel
def _put_aside(w, number, count):
    """Make a set that may stay one that does (count 1), or the other way round (-1)."""
    for i in range(catalogue.MELD_SIZE[number]):
        face = catalogue.MELD_FACES[number, i]
        if face == JOKER:
            w.jokers -= count
            w.must_jokers -= count
            w.fixed_jokers[catalogue.MELD_TYPES[number, i]] += count
        else:
            c, v = face // NUM_VALUES, face % NUM_VALUES + 1
            w.loose[c, v] -= count
            w.have[c, v] -= count
            w.fixed[face] += count


@kernel
def look_ahead(w):
    """Note what the search is to know of higher values."""
    w.free_from = _value_after(max(w.floor, w.last_banned))
    w.rack_from[w.values + 1] = 0
    for v in range(w.values, 0, -1):
        w.rack_from[v] = w.rack_from[v + 1]
        for c in range(NUM_COLOURS):
            w.hint[c, v] = 0
            if w.have[c, v] > w.loose[c, v]:
                w.rack_from[v] = 1
    for v in range(_ROWS):
        w.had_joker[v] = 0
    for k in range(w.num_old):
        w.had_joker[w.meaning[k] % NUM_VALUES + 1] = 1
        w.hint[w.meaning[k] // NUM_VALUES, w.meaning[k] % NUM_VALUES + 1] += 1


@kernel
def _value_after(number):
    """The value from which on no meld up to `number` is completed any more."""
    return PART_OF[number] // _PARTS + 2


@kernel
def _set_reserve(w):
    """Reserve jokers of the table that nothing can free."""
    for v in range(_ROWS):
        w.reserve[v] = 0
    if w.joker_rule == FREE:
        return
    for k in range(w.num_old):
        t = w.meaning[k]
        freed = w.joker_rule != LOCKED and (
            _could_lie(w, t) or (w.either[k] != catalogue.NO_TILE and _could_lie(w, w.either[k]))
        )
        if not freed and w.fixed_jokers[t] == 0:
            for v in range(t % NUM_VALUES + 1):
                w.reserve[v] += 1


@kernel
def _could_lie(w, tile):
    return w.fixed[tile] + w.have[tile // NUM_VALUES, tile % NUM_VALUES + 1] > 0


@kernel
def _list_groups(w):
    """List the groups of each value for which there are tiles."""
    for v in range(_ROWS):
        w.num_groups[v] = 0
    for v in range(1, w.values + 1):
        colours = np.int64(w.jokers)
        for c in range(NUM_COLOURS):
            colours += min(1, w.have[c, v])
        if colours < 3:
            continue
        for number in range(_FIRST_GROUP[v], _FIRST_GROUP[v] + _GROUPS_PER_VALUE):
            if catalogue.MELD_NUM_JOKERS[number] <= w.jokers and _has_tiles(w, number, v):
                w.groups[v, w.num_groups[v]] = number
                w.num_groups[v] += 1


@kernel
def _has_tiles(w, number, v):
    for i in range(catalogue.MELD_SIZE[number]):
        c = catalogue.MELD_TYPES[number, i] // NUM_VALUES
        if c >= w.colors or (catalogue.MELD_FACES[number, i] != JOKER and w.have[c, v] == 0):
            return False
    return True


@kernel
def _explore(w, v, part, i, one, other, fresh, spent, jokers, used, decided, ended, points):
    """Search on from a state.

    Args:
        w: the problem, a record of TURN.
        v, part: what is decided: the runs of colour `part` at value v, or (_GROUPS) the groups of value v.
        i: the open run to be decided, or the first of w.groups[v] that may still be chosen, or _DONE: nothing is left
            to decide in this part.
        one, other: the open runs of colours 0 and 1, and of 2 and 3: up to v of colours before `part`, else to v - 1.
            A list, or the number of a combination where the colour is plain.
        fresh: the open runs of this colour up to v, as far as decided.
        spent: what has been laid at v so far.
        jokers: left.
        used: 1 if a rack tile is used.
        decided: 1 if the next step is decided.
        ended: while it is not, the lowest meld completed in this part, or _NONE.
        points: while it is not, of the melds completed in this part.

    Returns:
        IMPOSSIBLE, or the most points of the melds still to be completed, or w.least if it can be reached (0 where
        points do not count). While the next step is not decided, the answer is in w.marks alone.
    """
    best = np.int64(IMPOSSIBLE)
    key, place = np.int64(0), np.int64(0)
    while True:
        if i == _DONE:
            first = _NONE if decided else np.int64(ended)
            if part < _GROUPS:
                shift = (part & 1) * _LIST_BITS
                if part < 2:
                    one = one & ~(_LIST_MASK << shift) | fresh << shift
                else:
                    other = other & ~(_LIST_MASK << shift) | fresh << shift
                part += 1
            else:
                used = _is_rack_used(w, v, spent, used)
                v += 1
                part, spent = _ZERO, _ZERO
            i, fresh = _ZERO, _ZERO
            if first != _NONE:
                if w.marks[first] == 0:
                    rest = _explore(w, v, part, i, one, other, fresh, spent, jokers, used, _ONE, _NONE, _ZERO)
                    if rest != IMPOSSIBLE and points + rest >= w.least:
                        w.marks[first] = 1
                return np.int64(IMPOSSIBLE)
            if not decided:
                ended, points = _NONE, _ZERO
        if part == 0 and i == 0:
            if v > w.values + 1:
                return _close(w, jokers, used) if decided else np.int64(IMPOSSIBLE)
            if not used and not w.rack_from[v] and w.jokers == w.must_jokers:
                return np.int64(IMPOSSIBLE)
            if decided and v >= w.free_from and _are_short(w, one, 0) and _are_short(w, other, 2):
                plain = _plain_runs(w, one, 0) | _plain_runs(w, other, 2) << 2 * COMBO_BITS
                rest = _finish(w, v, _ZERO, plain, _ZERO, _ZERO, jokers, used)
                return rest if rest == IMPOSSIBLE else rest + _open_points(w, v, one) + _open_points(w, v, other)
            key = (((v << 2 | jokers) << 1 | used) << 1 | decided) << 2 * _LIST_BITS | one
            place = place_of(key, _STATE_BITS) ^ place_of(other, _STATE_BITS)
            if w.states[place, 0] == key and w.states[place, 1] & _TWO_LISTS == other:
                return (w.states[place, 1] >> 2 * _LIST_BITS) - 1
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
            if after != IMPOSSIBLE and now != _REFUSED:
                gain = _points(w, number)
                left = jokers - catalogue.MELD_NUM_JOKERS[number]
                rest = _explore(w, v, part, np.int64(k), one, other, fresh, after, left, used, decided, now,
                                points + gain)  # fmt: skip
                if rest != IMPOSSIBLE:
                    best = max(best, rest + gain)
    elif w.plain[part]:  # how many tiles go to runs
        c = part
        combo = (one if c < 2 else other) >> (c & 1) * _LIST_BITS & _LIST_MASK
        most_jokers = max(_ZERO, jokers - w.reserve[v]) if c < w.colors else _ZERO
        for j in range(most_jokers + 1):
            for n in range(w.have[c, v], -1, -1):
                if best >= w.least:
                    break
                now_spent = spent + ((n | j << _JOKERS_AT) << 2 * c)
                after = _next_runs(w, v, c, combo, n + j, jokers - j)
                if after != IMPOSSIBLE and (n >= w.loose[c, v] or _could_group(w, v, now_spent, jokers - j)):
                    best = _explore(w, v, part, _DONE, one, other, after, now_spent, jokers - j, used, decided, ended,
                                    points)  # fmt: skip
    elif _open_run(one, other, part, i):  # it goes on, or ends before v
        c, run = part, _open_run(one, other, part, i)
        left = w.have[c, v] - (spent >> 2 * c & 3)
        length = _LENGTH[run]
        longer = run + (1 << length)
        if length < catalogue.LONGEST and left > 0:
            best = _explore(w, v, part, i + 1, one, other, _insert(fresh, longer), spent + (1 << 2 * c), jokers,
                            used, decided, ended, points)  # fmt: skip
        if length >= 3 and not (decided and best >= w.least):
            number = catalogue.RUN_NUMBER[c, v - 1, length, run & ~(1 << length)]
            now = _note(w, decided, ended, number)
            if now != _REFUSED:
                gain = _points(w, number)
                rest = _explore(w, v, part, i + 1, one, other, fresh, spent, jokers, used, decided, now,
                                points + gain)  # fmt: skip
                if rest != IMPOSSIBLE:
                    best = max(best, rest + gain)
        if length < catalogue.LONGEST and _may_use_joker(w, c, v, jokers) and not (decided and best >= w.least):
            rest = _explore(w, v, part, i + 1, one, other, _insert(fresh, longer | 1 << length),
                            spent + (1 << _JOKERS_AT + 2 * c), jokers - 1, used, decided, ended, points)  # fmt: skip
            best = max(best, rest)
    else:  # how many runs begin, with a joker or with a natural tile
        c, left = part, w.have[part, v] - (spent >> 2 * part & 3)
        most_jokers = jokers if v < w.values - 1 else _ZERO
        for new_jokers in range(most_jokers + 1):
            if new_jokers > 0:
                if not _may_use_joker(w, c, v, jokers):
                    break
                jokers -= 1
                fresh = _insert(fresh, np.int64(3))
                spent += 1 << _JOKERS_AT + 2 * c
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
        w.states[place, 1] = (best + 1) << 2 * _LIST_BITS | other
    return best


@kernel
def _could_group(w, v, spent, jokers):
    """Whether there may be tiles left for a group of value v."""
    colours = jokers
    for c in range(NUM_COLOURS):
        colours += 1 if w.have[c, v] > (spent >> 2 * c & 3) else 0
    return w.num_groups[v] > 0 and colours >= 3


@kernel
def _open_run(one, other, c, i):
    """Open run i of colour c, or 0. Of a plain colour, what is not 0 in place 0 says that there are some."""
    if i >= _MOST_RUNS:
        return _ZERO
    return np.int64((one if c < 2 else other) >> (c & 1) * _LIST_BITS + i * _RUN_BITS & _RUN_MASK)


@kernel
def _is_empty(w, v, part, one, other, jokers):
    """Whether there is nothing to decide in a part: no group can be laid, or no run is open or can begin."""
    if part == _GROUPS:
        return w.num_groups[v] == 0
    begins = w.have[part, v] > 0 or (v < w.values - 1 and _may_use_joker(w, part, v, jokers))
    return not begins and _open_run(one, other, part, _ZERO) == 0


@kernel
def _note(w, decided, ended, number):
    """`ended` after a meld is completed, or _REFUSED if it may not be laid."""
    if number < w.floor or w.banned[number]:
        return _REFUSED
    if decided:
        return np.int64(ended)
    return np.int64(number if ended == _NONE else min(ended, number))


@kernel
def _points(w, number):
    return np.int64(catalogue.MELD_POINTS[number]) if w.least > 0 else _ZERO


@kernel
def _insert(fresh, run):
    """A list of open runs with one more, the greatest first; there is room for it."""
    shift = np.int64(0)
    while fresh >> shift & _RUN_MASK >= run:
        shift += _RUN_BITS
    below = fresh & (1 << shift) - 1
    return np.int64(below | run << shift | (fresh >> shift) << shift + _RUN_BITS)


@kernel
def _may_use_joker(w, c, v, jokers):
    """Whether a joker may be laid as colour c of value v."""
    return c < w.colors and v <= w.values and jokers > w.reserve[v]


@kernel
def _can_go_on(w, v, c, runs, jokers):
    """Whether there are tiles for the open runs up to v of colour c that are too short to end."""
    ones, twos = np.int64(0), np.int64(0)
    while runs:
        length = _LENGTH[runs & _RUN_MASK]
        ones += 1 if length == 1 else 0
        twos += 1 if length == 2 else 0
        runs >>= _RUN_BITS
    jokers_next = jokers if v < w.values else 0
    jokers_later = jokers if v + 1 < w.values else 0
    return ones + twos <= w.have[c, v + 1] + jokers_next and ones <= w.have[c, v + 2] + jokers_later


@kernel
def _spend_group(w, number, v, spent, jokers):
    """`spent` after a group is laid, or IMPOSSIBLE if its tiles are not there."""
    if catalogue.MELD_NUM_JOKERS[number] > jokers - w.reserve[v]:
        return IMPOSSIBLE
    for i in range(catalogue.MELD_SIZE[number]):
        c = catalogue.MELD_TYPES[number, i] // NUM_VALUES
        if catalogue.MELD_FACES[number, i] == JOKER:
            spent += 1 << _JOKERS_AT + 2 * c
        elif (spent >> 2 * c & 3) < w.have[c, v]:
            spent += 1 << 2 * c
        else:
            return IMPOSSIBLE
    return np.int64(spent)


@kernel
def _is_rack_used(w, v, spent, used):
    """`used` after all of a value is laid."""
    for c in range(NUM_COLOURS):
        if (spent >> 2 * c & 3) > w.loose[c, v]:
            return _ONE
    return np.int64(used)


@kernel
def _is_value_done(w, v, spent):
    """Whether all that lay loose of a value is laid, and its jokers are replaced that have a new meaning."""
    for c in range(NUM_COLOURS):
        if (spent >> 2 * c & 3) < w.loose[c, v]:
            return False
    return are_replaced(w, v, spent)


@kernel
def _close(w, jokers, used):
    """0 if all that must be laid is, and a rack tile with it, else IMPOSSIBLE."""
    laid = w.jokers - jokers
    return np.int64(0) if laid >= w.must_jokers and (used or laid > w.must_jokers) else np.int64(IMPOSSIBLE)


# ---------------------------------------------------------------------------------------------------------------
# Plain states


@kernel
def _are_short(w, lists, first):
    """Whether no open run of colours `first` and the next has more than three tiles: it could not be cut anywhere."""
    for k in range(2):
        runs = lists >> k * _LIST_BITS & _LIST_MASK
        while runs and not w.plain[first + k]:
            if runs & _RUN_MASK >= 16:
                return False
            runs >>= _RUN_BITS
    return True


@kernel
def _plain_runs(w, lists, first):
    """The open runs of colours `first` and the next, as combinations of runs.py."""
    plain = np.int64(0)
    for k in range(2):
        runs = lists >> k * _LIST_BITS & _LIST_MASK
        if w.plain[first + k]:
            plain |= runs << k * COMBO_BITS
            continue
        ones, twos, more = np.int64(0), np.int64(0), np.int64(0)
        while runs:
            length = _LENGTH[runs & _RUN_MASK]
            ones += 1 if length == 1 else 0
            twos += 1 if length == 2 else 0
            more += 1 if length == 3 else 0
            runs >>= _RUN_BITS
        plain |= COMBO[ones, twos, more] << k * COMBO_BITS
    return plain


@kernel
def _open_points(w, v, lists):
    """The points of open runs up to v - 1; 0 where points do not count."""
    points = np.int64(0)
    while lists and w.least > 0:
        if lists & _RUN_MASK:
            length = _LENGTH[lists & _RUN_MASK]
            points += length * (v - 1) - length * (length - 1) // 2
        lists >>= _RUN_BITS
    return points


@kernel
def _finish(w, v, c, runs, spent, grouped, jokers, used):
    """Search on from a plain state; the rest of what `_explore` returns once the next step is decided.

    Args:
        w, v, spent, jokers, used: as for `_explore`.
        c: the colour to be decided at v, or NUM_COLOURS.
        runs: the open runs, a combination of runs.py for each colour: up to v of colours before c, else to v - 1.
        grouped: how many tiles of v go to groups, three bits for each colour before c.
    """
    if c == NUM_COLOURS:
        if not _MAKE_GROUPS[grouped] or not are_replaced(w, v, spent):
            return np.int64(IMPOSSIBLE)
        v += 1
        c, spent, grouped = _ZERO, _ZERO, _ZERO
    key, place = np.int64(0), np.int64(0)
    if c == 0:
        if v > w.values:
            return _close(w, jokers, used)
        if not used and not w.rack_from[v] and w.jokers == w.must_jokers:
            return np.int64(IMPOSSIBLE)
        key = ((v << 2 | jokers) << 1 | used) << NUM_COLOURS * COMBO_BITS | runs
        place = place_of(key, _PLAIN_STATE_BITS)
        if w.plain_states[place] >> 16 == key:
            return (w.plain_states[place] & (1 << 16) - 1) - 1
    best = np.int64(IMPOSSIBLE)
    combo = runs >> c * COMBO_BITS & COMBO_MASK
    others = runs & ~(COMBO_MASK << c * COMBO_BITS)
    most_jokers = max(_ZERO, jokers - w.reserve[v]) if c < w.colors else _ZERO
    for turn in range(most_jokers + 1):
        j = (w.hint[c, v] + turn) % (most_jokers + 1)
        for n in range(w.have[c, v], w.loose[c, v] - 1, -1):
            for g in range(min(n + j, MOST_AT_ONCE) + 1):
                if g > 0 and w.num_groups[v] == 0:
                    break
                after = _next_runs(w, v, c, combo, n + j - g, jokers - j)
                if after == IMPOSSIBLE or not _may_group(grouped, c, g):
                    continue
                rest = _finish(
                    w, v, c + 1, others | after << c * COMBO_BITS, spent | (n | j << _JOKERS_AT) << 2 * c,
                    grouped | g << 3 * c, jokers - j, _ONE if n > w.loose[c, v] else used,
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
def _next_runs(w, v, c, combo, tiles, jokers):
    """The open runs of a colour after `tiles` tiles of value v go to runs, or IMPOSSIBLE."""
    if tiles > MOST_AT_ONCE or AFTER[combo, tiles] < 0:
        return np.int64(IMPOSSIBLE)
    after = AFTER[combo, tiles]
    jokers_next = jokers if v < w.values else 0
    jokers_later = jokers if v + 1 < w.values else 0
    if ONES[after] > w.have[c, v + 2] + jokers_later:
        return np.int64(IMPOSSIBLE)
    return np.int64(WITHIN[after, min(MOST_AT_ONCE, w.have[c, v + 1] + jokers_next)])


@kernel
def _may_group(grouped, c, g):
    """Whether g tiles of colour c may go to groups: at least three colours must."""
    absent = np.int64(1 if g == 0 else 0)
    for k in range(c):
        absent += 1 if grouped >> 3 * k & 7 == 0 else 0
    return absent <= 1 or (g == 0 and grouped == 0)


# ---------------------------------------------------------------------------------------------------------------
# The joker rule


@kernel
def are_replaced(w, v, spent):
    """Whether every joker that stood for a tile of value v still does, or is replaced (5.1, 5.2, 5.3).

    Each joker has its own tile that replaces it. `spent` is what is laid of that value besides what is fixed.
    """
    if w.joker_rule == FREE or not w.had_joker[v]:
        return True
    for way in range(9):  # of each joker: it keeps its meaning, a tile of it lies there, or the other tile does
        first, second = way % 3, way // 3
        if _is_way(w, v, spent, first, second):
            return True
    return False


@kernel
def _is_way(w, v, spent, first, second):
    """Whether the jokers of value v can be accounted for in these ways; others only in way 0."""
    for k in range(w.num_old):
        way = first if k == 0 else second
        if w.meaning[k] % NUM_VALUES + 1 != v:
            if way != 0:
                return False
            continue
        if way > 0 and w.joker_rule == LOCKED:
            return False
        if way == 2 and (w.either[k] == catalogue.NO_TILE or w.needs_both):
            return False
    if w.num_old == 1 and second != 0:
        return False
    for k in range(w.num_old):
        if w.meaning[k] % NUM_VALUES + 1 == v:
            for tile in (w.meaning[k], w.either[k]):
                if tile != catalogue.NO_TILE and not _is_enough(w, tile, v, spent, first, second):
                    return False
    return True


@kernel
def _is_enough(w, tile, v, spent, first, second):
    """Whether as many jokers stand for `tile`, and as many tiles of it lie there, as the ways need."""
    jokers, naturals = np.int64(0), np.int64(0)
    for k in range(w.num_old):
        way = first if k == 0 else second
        if w.meaning[k] % NUM_VALUES + 1 == v:
            jokers += 1 if way == 0 and w.meaning[k] == tile else 0
            naturals += 1 if way == 1 and w.meaning[k] == tile else 0
            naturals += 1 if w.either[k] == tile and (way == 2 or (way == 1 and w.needs_both)) else 0
    c = tile // NUM_VALUES
    return jokers <= w.fixed_jokers[tile] + (spent >> _JOKERS_AT + 2 * c & 3) and naturals <= w.fixed[tile] + (
        spent >> 2 * c & 3
    )
