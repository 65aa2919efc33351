"""Which steps of a turn can still be completed: kernels for the exact mask. Paragraph numbers are those of rules.md.

Melds are laid in the order of the catalogue: by highest value, then groups before runs, then by colour. A search over
the values 1 to 13 that decides at each value which groups lie there, and of each run whether it ends there, meets the
melds of an arrangement in that same order. So the first meld that it completes is the next one to be laid, and one
search finds every meld that begins some path that can be finished. What matters of the past is, per colour, the open
runs, each with its length and the places of its jokers; all of them must go on. Once the next step is decided, only
whether a state can be finished matters. Then a run of three tiles that could have ended and goes on is like one of two:
if it becomes six tiles, it is two runs. And once no meld is ahead that may not be laid, the solver's search answers.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.rummikub.catalogue import (
    LONGEST,
    MELD_FACES,
    MELD_IS_GROUP,
    MELD_POINTS,
    MELD_SIZE,
    MELD_TYPES,
    MELDS,
    NUM_MELDS,
    RUN_NUMBER,
)
from cardenvs.games.rummikub.finishing import COMBO_BITS, SEARCH_FIELDS, clear_memo, list_groups, open_combo, search
from cardenvs.games.rummikub.melds import GROUP
from cardenvs.games.rummikub.solver import MAX_MELDS, integers
from cardenvs.games.rummikub.tiles import JOKER, NUM_COLOURS, NUM_VALUES

IMPOSSIBLE = np.int64(-1)
_ROWS = NUM_VALUES + 3
_MEMO_SIZE = 1 << 13

# An open run is 1 << length | places of its jokers, length 1 to 4: five bits. A colour has up to four, the greatest
# first; colours 0 and 1 are packed in one integer, 2 and 3 in another.
_RUN_BITS, _MOST_RUNS = 5, 4
_RUN_MASK = (1 << _RUN_BITS) - 1
_LIST_BITS = _RUN_BITS * _MOST_RUNS
_LIST_MASK = (1 << _LIST_BITS) - 1
_LENGTH = np.array([max(0, run.bit_length() - 1) for run in range(1 << _RUN_BITS)])

_TWO_LISTS = (1 << 2 * _LIST_BITS) - 1
_ZERO, _ONE = np.int64(0), np.int64(1)

# Where the parts of `spent` begin: two bits a colour for natural tiles in groups, then for jokers in groups, then three
# bits each for natural tiles and jokers in the runs of the colour at hand.
_GROUP_JOKERS_AT = 2 * NUM_COLOURS
_NATURALS_AT = 4 * NUM_COLOURS
_JOKERS_AT = _NATURALS_AT + 3
_SPENT_BITS = _JOKERS_AT + 3

_PARTS = NUM_COLOURS + 1  # of a value: groups, and runs of each colour
_PART_OF = np.array(
    [
        max(slot.value for slot in meld.slots) * _PARTS + (0 if meld.kind == GROUP else 1 + meld.slots[0].colour)
        for meld in MELDS
    ]
)

# What `first` says: the lowest meld completed in the part being searched, or one of these.
_NOTHING_YET, _EARLIER = np.int64(-2), np.int64(-1)

_GROUPS_PER_VALUE = int(MELD_IS_GROUP.sum()) // NUM_VALUES
_FIRST_GROUP = np.zeros(NUM_VALUES + 1, np.int64)
for _number in reversed(np.flatnonzero(MELD_IS_GROUP)):
    _FIRST_GROUP[MELDS[_number].slots[0].value] = _number

TURN = integers(
    [
        # the problem
        *SEARCH_FIELDS,  # of the solver; jokers are those without a meaning
        ("loose", (NUM_COLOURS, _ROWS)),  # natural tiles that lie loose: must be laid
        ("need", (NUM_COLOURS, _ROWS)),  # the same, and those that free a joker
        ("have", (NUM_COLOURS, _ROWS)),  # natural tiles at hand
        ("used",),  # 1: a rack tile has been laid
        ("least",),  # points still to be laid, an opening; else 0
        ("floor",),  # no meld below this number may be laid
        ("num_banned",),
        ("banned", (MAX_MELDS,)),  # melds taken apart
        ("plain_from", (NUM_COLOURS,)),  # from this value on, no banned run is ahead
        ("free_from",),  # from this value on, no banned meld at all
        ("num_states",),
        ("num_group_melds", (_ROWS,)),
        ("group_melds", (_ROWS, _GROUPS_PER_VALUE)),  # numbers of those that the tiles allow, ascending
        # the answer: 1 for each meld that can be laid next
        ("marks", (NUM_MELDS,)),
        # states seen
        ("states", (_MEMO_SIZE, 2)),
    ]
)


@kernel
def prepare(w):
    """Finish a problem: tiles, jokers, `least`, `floor`, `used` and `banned` are set."""
    for v in range(1, w.values + 1):
        w.num_group_melds[v] = 0
        for number in range(_FIRST_GROUP[v], _FIRST_GROUP[v] + _GROUPS_PER_VALUE):
            if _fits(w, number, v) and _may_lay(w, number):
                w.group_melds[v, w.num_group_melds[v]] = number
                w.num_group_melds[v] += 1
    for c in range(NUM_COLOURS):
        w.plain_from[c] = NUM_VALUES + 1 if w.least > 0 else _PART_OF[w.floor] // _PARTS
    w.free_from = NUM_VALUES + 1 if w.least > 0 else _PART_OF[w.floor] // _PARTS
    for k in range(w.num_banned):
        part = _PART_OF[w.banned[k]]
        w.free_from = max(w.free_from, part // _PARTS)
        if part % _PARTS > 0:
            c = part % _PARTS - 1
            w.plain_from[c] = max(w.plain_from[c], part // _PARTS)
    _prepare_search(w)
    _clear_states(w)


@kernel
def _prepare_search(w):
    """Set the same problem for the solver's `search`, which counts the tiles that need not be laid."""
    w.counts_points = 0
    for v in range(1, w.values + 1):
        w.weight[v] = 1
        w.joker_weight[v] = 1
        for c in range(NUM_COLOURS):
            w.lying[c, v] = w.loose[c, v] + w.pinned[c, v]
            w.low[c, v] = w.need[c, v] + w.pinned[c, v]
            w.high[c, v] = w.have[c, v] + w.pinned[c, v]
        list_groups(w, v)
    for c in range(NUM_COLOURS):
        for v in range(w.values + 1, _ROWS):
            w.high[c, v] = 0
    clear_memo(w)


@kernel
def _clear_states(w):
    """Forget all states; there is more room for states where more tiles must be laid."""
    tiles = np.int64(0)
    for c in range(NUM_COLOURS):
        for v in range(1, w.values + 1):
            tiles += w.loose[c, v]
    w.num_states = _MEMO_SIZE
    while tiles < 40 and w.num_states > 64:
        tiles += 6
        w.num_states >>= 1
    for k in range(w.num_states):
        w.states[k, 0] = 0


@kernel
def _fits(w, number, v):
    """Whether the tiles of a group of value v are at hand."""
    jokers = w.jokers
    for i in range(MELD_SIZE[number]):
        c = MELD_TYPES[number, i] // NUM_VALUES
        if MELD_FACES[number, i] != JOKER:
            if w.have[c, v] == 0:
                return False
        elif w.pinned[c, v] == 0:
            jokers -= 1
            if c >= w.colors:
                return False
    return jokers >= 0


@kernel
def _may_lay(w, number):
    """Whether a meld is not before the last one laid, and not one that was taken apart."""
    if number < w.floor:
        return False
    for k in range(w.num_banned):  # noqa: SIM110  kernels have no generators
        if w.banned[k] == number:
            return False
    return True


@kernel
def mark_next(w):
    """Mark in w.marks every meld with which the turn can be continued so that it can be completed."""
    explore(w, _ONE, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, w.jokers, w.used, _NOTHING_YET, _ZERO)


@kernel
def can_complete(w):
    """Whether the turn can be completed."""
    rest = explore(w, _ONE, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, w.jokers, w.used, _EARLIER, _ZERO)
    return rest != IMPOSSIBLE and rest >= w.least


@kernel
def explore(w, v, part, i, runs, more, fresh, spent, jokers, used, first, points):
    """Search on from a state.

    Args:
        w: the problem, a record of TURN.
        v, part: what is decided: the groups of value v (part 0), or the runs of colour part - 1 at value v.
        i: part 0: the first of w.group_melds[v] that may still be chosen; else the open run to be decided.
        runs, more: the open runs, of colours 0 and 1, and of 2 and 3.
        fresh: the open runs of this colour at v, as far as decided.
        spent: the tiles of value v laid so far.
        jokers: left, of those without a meaning.
        used: 1 if a rack tile is used.
        first: the lowest meld completed in this part, or _NOTHING_YET, or _EARLIER.
        points: while `first` is not _EARLIER, of the melds completed in this part.

    Returns:
        IMPOSSIBLE, or the most points of the melds that are still to be completed (0 unless w.least is above 0).
        While `first` is not _EARLIER the answer is in w.marks alone.
    """
    best = np.int64(IMPOSSIBLE)
    is_new_value = part == 0 and spent == 0 and i == 0
    key, place = np.int64(0), np.int64(0)
    if is_new_value:
        if v > w.values:
            return _close(w, jokers, used, first)
        if first == _EARLIER and v > w.free_from and _are_short(runs) and _are_short(more):
            return _finish(w, v, runs, more, jokers, used)
        key = ((((v << 2 | jokers) << 1 | used) << 1 | (first == _EARLIER)) << 2 * _LIST_BITS) | runs
        place = (key ^ key >> 7 ^ key >> 19 ^ key >> 37 ^ more ^ more >> 9 ^ more >> 21) & (w.num_states - 1)
        if w.states[place, 0] == key and w.states[place, 1] & _TWO_LISTS == more:
            return (w.states[place, 1] >> 2 * _LIST_BITS) - 1
    c = part - 1
    run = _open_run(runs, more, c, i)
    if part == 0:
        for k in range(i, w.num_group_melds[v]):
            number = w.group_melds[v, k]
            after = _spend_group(w, v, number, spent, jokers)
            if after == IMPOSSIBLE:
                continue
            rest = explore(
                w, v, part, k, runs, more, fresh, after & (1 << _SPENT_BITS) - 1, after >> _SPENT_BITS, used,
                _lowest(first, number), points + _points(w, number),
            )  # fmt: skip
            if rest != IMPOSSIBLE:
                best = max(best, rest + _points(w, number))
            if _is_enough(w, best, first):
                break
    elif run:
        length = _LENGTH[run]
        for by_joker in range(2):
            left = _jokers_after(w, v, c, spent, jokers) if by_joker else jokers
            if left == IMPOSSIBLE or (not by_joker and not _has_natural(w, v, c, spent)):
                continue
            after = spent + (1 << (_JOKERS_AT if by_joker else _NATURALS_AT))
            places = run ^ 1 << length | by_joker << length
            number = np.int64(IMPOSSIBLE)
            if length >= 2:
                number = RUN_NUMBER[c, v, length + 1, places]
            could_end = number != IMPOSSIBLE and _may_lay(w, number)
            if could_end:
                rest = explore(
                    w, v, part, i + 1, runs, more, fresh, after, left, used,
                    _lowest(first, number), points + _points(w, number),
                )  # fmt: skip
                if rest != IMPOSSIBLE:
                    best = max(best, rest + _points(w, number))
            if length + 1 < LONGEST and not _is_enough(w, best, first):
                longer = _insert(fresh, _plain(w, v, c, first, 2 << length | places, could_end))
                best = max(best, explore(w, v, part, i + 1, runs, more, longer, after, left, used, first, points))
            if _is_enough(w, best, first):
                break
        return best
    # Nothing more to decide in this part but, of a colour, how many runs begin.
    first_joker, last_joker, first_natural, last_natural = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    if part > 0:
        pinned = _pinned_left(w, v, c, spent)
        first_joker, last_joker = pinned, pinned + (jokers if c < w.colors else 0)
        laid = (spent >> 2 * c & 3) + (spent >> _NATURALS_AT & 7)
        first_natural, last_natural = max(0, w.need[c, v] - laid), w.have[c, v] - laid
    for new_jokers in range(first_joker, last_joker + 1):
        for new_naturals in range(first_natural, last_natural + 1):
            if _is_enough(w, best, first):
                break
            left, longer, uses = jokers - (new_jokers - first_joker), fresh, used
            if part > 0:
                if not _can_go_on(w, v, c, fresh, new_naturals + new_jokers, left):
                    continue
                for _ in range(new_jokers):
                    longer = _insert(longer, _plain(w, v, c, first, 3, False))
                for _ in range(new_naturals):
                    longer = _insert(longer, 2)
                if new_naturals - last_natural + w.have[c, v] > w.loose[c, v]:
                    uses = np.int64(1)
            one, other = _with_list(runs, more, c, longer)
            next_v, next_part = (v, part + 1) if part < NUM_COLOURS else (v + 1, np.int64(0))
            next_spent = spent & (1 << _NATURALS_AT) - 1 if part < NUM_COLOURS else np.int64(0)
            now = _EARLIER if first >= 0 else first
            rest = explore(w, next_v, next_part, _ZERO, one, other, _ZERO, next_spent, left, uses, now, _ZERO)
            if first == _EARLIER:
                best = max(best, rest)
            elif first >= 0 and rest != IMPOSSIBLE and points + rest >= w.least:
                w.marks[first] = 1
    if is_new_value:
        w.states[place, 0] = key
        w.states[place, 1] = (best + 1) << 2 * _LIST_BITS | more
    return best


@kernel(inline=True)
def _are_short(lists):
    """Whether all open runs have one or two tiles."""
    while lists:
        if lists & _RUN_MASK >= 8:
            return False
        lists >>= _RUN_BITS
    return True


@kernel
def _finish(w, v, runs, more, jokers, used):
    """Ask the solver whether a state can be finished in which all open runs are short: 0, or IMPOSSIBLE."""
    combos = np.int64(0)
    for c in range(NUM_COLOURS):
        ones, twos = np.int64(0), np.int64(0)
        for i in range(_MOST_RUNS):
            run = _open_run(runs, more, c, i)
            ones += 1 if run >> 1 == 1 else 0
            twos += 1 if run >= 4 else 0
        combos |= open_combo(ones, twos) << c * COMBO_BITS
    gain = search(w, v - 1, NUM_COLOURS, _ZERO, combos, jokers, _ZERO)
    if gain == IMPOSSIBLE:
        return np.int64(IMPOSSIBLE)
    laid = w.jokers - jokers
    enough = used == 1 or laid > w.must_jokers or gain > w.must_jokers - laid
    return np.int64(0) if enough else np.int64(IMPOSSIBLE)


@kernel(inline=True)
def _close(w, jokers, used, first):
    """0 if the last state is a complete turn, else IMPOSSIBLE."""
    laid = w.jokers - jokers
    complete = laid >= w.must_jokers and (used == 1 or laid > w.must_jokers) and first == _EARLIER
    return np.int64(0) if complete else np.int64(IMPOSSIBLE)


@kernel(inline=True)
def _is_enough(w, best, first):
    """Whether a state is known to be good enough: it can be finished, and points do not count."""
    return first == _EARLIER and best != IMPOSSIBLE and w.least == 0


@kernel(inline=True)
def _lowest(first, number):
    """`first` after a meld is completed."""
    if first == _EARLIER:
        return first
    return number if first == _NOTHING_YET else min(first, number)


@kernel(inline=True)
def _plain(w, v, c, first, run, could_end):
    """An open run without what no longer matters of it, once only the end counts and no banned run is ahead."""
    if first != _EARLIER or v < w.plain_from[c]:
        return np.int64(run)
    length = _LENGTH[run]
    if length == 3 and could_end:
        return np.int64(1 << 2)
    return np.int64(1) << length if length < 3 else np.int64(run)


@kernel(inline=True)
def _points(w, number):
    return MELD_POINTS[number] if w.least > 0 else np.int64(0)


@kernel(inline=True)
def _open_run(runs, more, c, i):
    """Open run i of colour c, or 0."""
    if c < 0 or i >= _MOST_RUNS:
        return np.int64(0)
    both = runs if c < 2 else more
    return both >> (c & 1) * _LIST_BITS + i * _RUN_BITS & _RUN_MASK


@kernel(inline=True)
def _with_list(runs, more, c, fresh):
    """The open runs with those of colour c replaced; none are for c = -1."""
    if c < 0:
        return runs, more
    shift = (c & 1) * _LIST_BITS
    if c < 2:
        return runs & ~(_LIST_MASK << shift) | fresh << shift, more
    return runs, more & ~(_LIST_MASK << shift) | fresh << shift


@kernel(inline=True)
def _insert(fresh, run):
    """A list of open runs with one more, the greatest first; there is room for it."""
    shift = 0
    while fresh >> shift & _RUN_MASK >= run:
        shift += _RUN_BITS
    below = fresh & (1 << shift) - 1
    return below | run << shift | (fresh >> shift) << shift + _RUN_BITS


@kernel(inline=True)
def _spend_group(w, v, number, spent, jokers):
    """`spent` after a group, and above it the jokers left; or IMPOSSIBLE if its tiles are not there."""
    for i in range(MELD_SIZE[number]):
        c = MELD_TYPES[number, i] // NUM_VALUES
        if MELD_FACES[number, i] != JOKER:
            if (spent >> 2 * c & 3) >= w.have[c, v]:
                return np.int64(IMPOSSIBLE)
            spent += 1 << 2 * c
        else:
            if (spent >> _GROUP_JOKERS_AT + 2 * c & 3) >= w.pinned[c, v]:
                if jokers == 0:
                    return np.int64(IMPOSSIBLE)
                jokers -= 1
            spent += 1 << _GROUP_JOKERS_AT + 2 * c
    return spent | jokers << _SPENT_BITS


@kernel(inline=True)
def _pinned_left(w, v, c, spent):
    """Jokers that must still be laid as colour c of value v."""
    return max(0, w.pinned[c, v] - (spent >> _GROUP_JOKERS_AT + 2 * c & 3) - (spent >> _JOKERS_AT & 7))


@kernel(inline=True)
def _jokers_after(w, v, c, spent, jokers):
    """The jokers left after one is laid in a run of colour c at value v, or IMPOSSIBLE."""
    if _pinned_left(w, v, c, spent) > 0:
        return jokers
    return jokers - 1 if jokers > 0 and c < w.colors else np.int64(IMPOSSIBLE)


@kernel(inline=True)
def _has_natural(w, v, c, spent):
    """Whether a natural tile of colour c and value v is left."""
    return (spent >> 2 * c & 3) + (spent >> _NATURALS_AT & 7) < w.have[c, v]


@kernel(inline=True)
def _can_go_on(w, v, c, fresh, new, jokers):
    """Whether the open runs of colour c, `new` ones included, are no more than the next tiles."""
    num = new
    while fresh:
        num += 1
        fresh >>= _RUN_BITS
    if num > _MOST_RUNS:
        return False
    next_jokers = jokers if v < w.values else 0
    later_jokers = jokers if v + 1 < w.values else 0
    return (
        num <= w.have[c, v + 1] + w.pinned[c, v + 1] + next_jokers
        and new <= w.have[c, v + 2] + w.pinned[c, v + 2] + later_jokers
    )
