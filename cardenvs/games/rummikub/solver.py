"""The best play, exactly: kernels. Paragraph numbers are those of rules.md.

Values are gone through from 1 to 13. What matters of the runs laid so far is, per colour, how many of those that
reach the last value have length 1, 2, and 3 or more: the first two must go on, the third may (J. van Rijn,
F. Takes, J. Vis, "The Complexity of Rummikub Problems", 2015). At each value one chooses how many tiles of each colour
go to runs: complete runs are extended first (nothing is lost by that), then new ones begin. What is left may go to
groups, and a table says how many of it can. Only the runs matter for what follows, so as many as possible do.

The best value to go of a state is kept in a table of limited size: an entry that is pushed out is computed again, so
the result is exact whatever the size. A state is not searched if all remaining tiles
would not make it good enough.

A joker on the table that keeps its meaning is one more tile of that type, which must be put down. One that changes it
is free, and a natural tile of the old meaning must lie on the table at the end (5.2): more tiles that must be put
down. Each way to keep or free the jokers on the table is one search.

Of equal plays the search takes the one that it meets first, and it begins with as many tiles in runs as there are on
the table. Then sets of the table are looked for in what was found: those that are there stay where they are.
"""

from itertools import product

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.games.rummikub import catalogue
from cardenvs.games.rummikub.ruleset import FREE, LOCKED, RETRIEVE
from cardenvs.games.rummikub.runs import AFTER, COMBO_BITS, COMBO_MASK, MOST_AT_ONCE, MUST, ONES, WITHIN
from cardenvs.games.rummikub.scratch import place_of
from cardenvs.games.rummikub.tiles import JOKER, MOST_JOKERS, MOST_TILES, NUM_COLOURS, NUM_NATURALS, NUM_VALUES

MAX_MELDS = MOST_TILES // 3  # on a table
TILES_FIRST, POINTS_FIRST, OPENING_VALUE, ANY_PLAY = range(4)  # objectives; the last stops at the first play found
IMPOSSIBLE = -1
WEIGHT = 1024  # of what counts first, against what decides between equals
_ZERO, _ONE = np.int64(0), np.int64(1)
_ALL_BITS = NUM_COLOURS * COMBO_BITS

# A state of the memo: its key, then what is to go and one more, then whether that is exact or only a bound.
# It begins small, since most problems are, and grows up to what may lie on the stack.
_FIRST_MEMO_BITS, _MEMO_BITS, _MEMO_GROWTH = 10, 16, 2
_VALUE_BITS = 21
_VALUE_MASK = (1 << _VALUE_BITS) - 1

# Tiles of each colour that go to groups: such numbers that they can be split into groups of three and four.
_GROUPS = np.array(
    [
        counts
        for counts in sorted(product(range(MOST_AT_ONCE + 1), repeat=NUM_COLOURS), key=sum)
        if max(counts) <= sum(counts) // 3 and sum(max(0, count - 2) for count in counts) <= MOST_JOKERS
    ]
)  # fmt: skip
_NUM_GROUPS = len(_GROUPS)

# Of a colour that must put at least `least` and can put at most `most` tiles to groups: a number for the two.
_RANGES = sorted((most, least) for most in range(MOST_AT_ONCE + 1) for least in range(most + 1))
_NUM_RANGES = len(_RANGES)
_RANGE = np.array([[_RANGES.index((most, min(least, most))) for most in range(MOST_AT_ONCE + 1)] for least in range(5)])


def _most_in_groups() -> np.ndarray:
    """By the number of free jokers, and the ranges of the four colours: the most tiles in groups, or IMPOSSIBLE."""
    shape = (_NUM_RANGES,) * NUM_COLOURS
    found = np.full((MOST_JOKERS + 1, *shape), IMPOSSIBLE, np.int8)
    for counts in _GROUPS:
        jokers, fits = np.zeros(shape, np.int8), np.ones(shape, bool)
        for colour, count in enumerate(counts):
            along = [1] * NUM_COLOURS
            along[colour] = _NUM_RANGES
            jokers = jokers + np.array([max(0, count - most) for most, _ in _RANGES], np.int8).reshape(along)
            fits &= np.array([count >= least for _, least in _RANGES]).reshape(along)
        for number in range(MOST_JOKERS + 1):
            found[number][fits & (jokers <= number)] = counts.sum()  # in order of the sum
    return found.reshape(MOST_JOKERS + 1, -1)


_MOST_IN_GROUPS = _most_in_groups()


def integers(fields):
    """A record dtype of integers of 64 bits, so that compiled and plain arithmetic are the same."""
    return packed([(name, "i8", *shape) for name, *shape in fields])


POSITION = integers(
    [
        ("rack", (NUM_NATURALS + 1,)),
        ("num_melds",),
        ("melds", (MAX_MELDS,)),  # on the table, catalogue numbers
        ("kept", (MAX_MELDS,)),  # 1: is not touched
        ("joker_rule",),
        ("needs_both",),
        ("colors",),  # of the game
        ("values",),
        ("joker_points",),
        ("least",),  # points that must be laid: an opening; else 0
        ("objective",),
        ("need",),  # a play of a lower value does not count
        # worked out by `_survey`, of the melds that are not kept
        ("table", (NUM_NATURALS,)),  # natural tiles
        ("in_runs", (NUM_NATURALS,)),  # of these and the jokers, those in runs
        ("fixed", (NUM_NATURALS,)),  # natural tiles of the melds that are kept
        ("num_jokers",),
        ("meaning", (MOST_JOKERS,)),  # the tile that each joker represents
        ("either", (MOST_JOKERS,)),  # the other tile that frees it (5.3), or NO_TILE
    ]
)

_ROWS = NUM_VALUES + 3  # values 0 to 15, so that one may look two ahead
WORK = integers(
    [
        ("lying", (_ROWS, NUM_COLOURS)),  # tiles on the table, jokers that keep their meaning among them
        ("low", (_ROWS, NUM_COLOURS)),  # tiles that must be put down
        ("high", (_ROWS, NUM_COLOURS)),  # that may be
        ("pinned", (_ROWS, NUM_COLOURS)),  # of lying: jokers that keep their meaning
        ("in_old_runs", (_ROWS, NUM_COLOURS)),  # of lying, those in runs
        ("all_lying", (_ROWS,)),  # sums over the colours
        ("all_low", (_ROWS,)),
        ("weight", (_ROWS,)),  # of a tile from the rack
        ("joker_weight", (_ROWS,)),
        ("rest", (_ROWS,)),  # of all rack tiles from this value on
        ("colors",),
        ("values",),
        ("jokers",),  # free ones
        ("must_jokers",),  # number of them that must be laid
        ("counts_points",),  # 1: `least` is looked at
        ("variant",),  # number of the search
        ("stops_early",),  # 1: any play will do
        # choices of a state, by value: how many tiles of each colour go to runs
        ("num_choices", (_ROWS, NUM_COLOURS)),
        ("tiles", (_ROWS, NUM_COLOURS, MOST_AT_ONCE + 1)),
        ("after", (_ROWS, NUM_COLOURS, MOST_AT_ONCE + 1)),  # the open runs then, shifted to their place
        ("excess", (_ROWS, NUM_COLOURS, MOST_AT_ONCE + 1)),  # jokers among them
        ("range", (_ROWS, NUM_COLOURS, MOST_AT_ONCE + 1)),  # for groups
        # the state after the choice that was noted
        ("next_runs",),
        ("next_jokers",),
        ("next_least",),
        ("next_need",),
        # the play found
        ("in_runs", (_ROWS, NUM_COLOURS)),
        ("in_groups", (_ROWS, NUM_COLOURS)),
        ("placed_jokers", (_ROWS, NUM_COLOURS)),
        ("run_jokers", (_ROWS, NUM_COLOURS)),
        ("num_melds",),
        ("melds", (MAX_MELDS,)),  # catalogue numbers, ascending
        # open runs or groups while melds are written
        ("start", (MOST_AT_ONCE,)),
        ("places", (MOST_AT_ONCE,)),
        ("members", (MOST_AT_ONCE,)),
        ("memo_bits",),  # of the memo, 1 << memo_bits entries are used
        ("num_noted",),  # in them, what was pushed out included
        ("memo", (1 << _MEMO_BITS,)),
    ]
)


@kernel(entry=True)
def best_play(w, p):
    """Find a best play of a position that leaves as much of the table as it is as possible.

    Args:
        w: scratch record of WORK. Afterwards w.melds[0:w.num_melds] are the melds laid, in catalogue numbers.
        p: record of POSITION, p.kept all zeros. Afterwards p.kept marks the melds on the table that stay.

    Returns:
        The value of the play by p.objective, 0 or less if there is none.
    """
    best = shuffle_rest(w, p)
    stays = False
    for k in range(p.num_melds if best > 0 else 0):
        if not p.kept[k]:
            p.kept[k] = 1
            if at_least(w, p, best) < best:
                p.kept[k] = 0
            else:
                stays = True
    return shuffle_rest(w, p) if stays else best


@kernel(entry=True)
def shuffle_rest(w, p):
    """As `best_play`, but of what could stay only that does which is easily seen; p.kept may mark melds that must."""
    best = at_least(w, p, p.need)
    w.num_melds = 0
    if best > 0:
        _trace(w, p, best)
        _keep_sets(w, p)
        _write_melds(w)
    return best


@kernel(entry=True)
def playable_play(w, p):
    """As `shuffle_rest`, but a play that can be built in steps, and is found again from p.kept alone.

    There is one kind of play that cannot: when both jokers stand for the same tile, they may change places. Then the
    sets with jokers are left alone.
    """
    before = _num_kept(p)
    best = shuffle_rest(w, p)
    while best > 0 and _num_kept(p) > before:
        before = _num_kept(p)
        value = shuffle_rest(w, p)
        if value <= 0 or (value < best and not w.stops_early):
            for k in range(p.num_melds):
                p.kept[k] = 1 if catalogue.MELD_NUM_JOKERS[p.melds[k]] > 0 else 0
            before = _num_kept(p)
            best = shuffle_rest(w, p)
    return best


@kernel
def _num_kept(p):
    kept = _ZERO
    for k in range(p.num_melds):
        kept += p.kept[k]
    return kept


@kernel(entry=True)
def best_value(w, p):
    """The value of a best play, 0 or less if there is none."""
    return at_least(w, p, p.need)


@kernel
def at_least(w, p, need):
    """The value of the best play if it is at least `need`, else something less; w.variant is the search that has it.

    The search is set up, and its memo filled.
    """
    _survey(p)
    _clear_memo(w, _FIRST_MEMO_BITS)
    best, best_variant = np.int64(IMPOSSIBLE), _ZERO
    for variant in range(9):
        if _set_up(w, p, variant % 3, variant // 3):
            w.variant = variant
            sunk = _sunk(w)
            value = search(w, _ONE, _ZERO, w.jokers, np.int64(p.least), max(need, best + 1) + sunk, _ZERO)
            if value - sunk >= max(need, best + 1):
                best, best_variant = value - sunk, np.int64(variant)
    w.variant = best_variant
    return best


@kernel
def _trace(w, p, best):
    """Write down the choices of the play found by `at_least`."""
    variant = np.int64(w.variant)
    _set_up(w, p, variant % 3, variant // 3)
    w.variant = variant
    runs, jokers, least, need = _ZERO, np.int64(w.jokers), np.int64(p.least), best + _sunk(w)
    for v in range(1, w.values + 1):
        search(w, np.int64(v), runs, jokers, least, need, _ONE)
        runs, jokers, least, need = w.next_runs, w.next_jokers, w.next_least, w.next_need


@kernel(inline=True)
def _sunk(w):
    """What the free jokers from the table were counted, which is nothing gained."""
    return w.must_jokers * w.joker_weight[1]


# ---------------------------------------------------------------------------------------------------------------
# The problem


@kernel
def _survey(p):
    """Count the tiles of the melds on the table, and note the jokers of those that are not kept."""
    p.num_jokers = 0
    for t in range(NUM_NATURALS):
        p.table[t] = 0
        p.fixed[t] = 0
        p.in_runs[t] = 0
    for k in range(p.num_melds):
        number = p.melds[k]
        for i in range(catalogue.MELD_SIZE[number]):
            face = catalogue.MELD_FACES[number, i]
            if not p.kept[k] and not catalogue.MELD_IS_GROUP[number]:
                p.in_runs[catalogue.MELD_TYPES[number, i]] += 1
            if face != JOKER:
                if p.kept[k]:
                    p.fixed[face] += 1
                else:
                    p.table[face] += 1
            elif not p.kept[k]:
                p.meaning[p.num_jokers] = catalogue.MELD_TYPES[number, i]
                p.either[p.num_jokers] = catalogue.other_missing(number, p.colors)
                p.num_jokers += 1


@kernel
def _set_up(w, p, first, second):
    """Prepare the search in which the jokers on the table are kept (0), freed (1), or freed by the other tile (2).

    Returns:
        Whether there is such a search.
    """
    if (p.num_jokers < 2 and second > 0) or (p.num_jokers < 1 and first > 0):
        return False
    w.colors = p.colors
    w.values = p.values
    w.jokers = p.rack[JOKER]
    w.must_jokers = 0
    w.counts_points = 1 if p.least > 0 else 0
    w.stops_early = 1 if p.objective == ANY_PLAY else 0
    for v in range(_ROWS):
        for c in range(NUM_COLOURS):
            w.pinned[v, c] = 0
            w.lying[v, c] = 0
            w.low[v, c] = 0
            w.high[v, c] = 0
            w.in_old_runs[v, c] = 0
    if p.num_jokers > 0 and not _set_joker(w, p, 0, first):
        return False
    if p.num_jokers > 1 and not _set_joker(w, p, 1, second):
        return False
    for t in range(NUM_NATURALS):
        c, v = t // NUM_VALUES, t % NUM_VALUES + 1
        w.lying[v, c] = p.table[t] + w.pinned[v, c]
        w.low[v, c] = w.lying[v, c]
        w.high[v, c] = w.lying[v, c] + p.rack[t]
        w.in_old_runs[v, c] = p.in_runs[t]
    for k in range(p.num_jokers):
        way = first if k == 0 else second
        if way > 0 and p.joker_rule == RETRIEVE and not _require_replacement(w, p, k, first, second):
            return False
    _drop_useless(w)
    _sum_up(w, p)
    return True


@kernel
def _drop_useless(w):
    """Leave out rack tiles that no meld can hold."""
    for v in range(1, w.values + 1):
        for c in range(w.colors):
            if w.high[v, c] > w.lying[v, c] and w.low[v, c] == 0 and not _has_neighbours(w, v, c):
                w.high[v, c] = 0


@kernel
def _has_neighbours(w, v, c):
    """Whether there are tiles for a group or a run with a tile of this type."""
    missing = 2 - w.jokers
    for other in range(w.colors):
        if other != c and w.high[v, other] > 0:
            missing -= 1
    if missing <= 0:
        return True
    for low in range(max(1, v - 2), min(v, w.values - 2) + 1):
        missing = 3 - w.jokers
        for k in range(low, low + 3):
            if w.high[k, c] > 0:
                missing -= 1
        if missing <= 0:
            return True
    return False


@kernel
def _sum_up(w, p):
    """Work out the weights and the sums of each value."""
    w.rest[w.values + 1] = 0
    for v in range(w.values, 0, -1):
        _set_weights(w, p, v)
        lying, low, high = _ZERO, _ZERO, _ZERO
        for c in range(NUM_COLOURS):
            lying += w.lying[v, c]
            low += w.low[v, c]
            high += w.high[v, c]
        w.all_lying[v] = lying
        w.all_low[v] = low
        w.rest[v] = w.rest[v + 1] + (high - lying) * w.weight[v]


@kernel
def _set_joker(w, p, k, way):
    """Keep joker k of the table (way 0) or free it (1, 2); return whether the joker rule has that way."""
    if way == 0:
        w.pinned[p.meaning[k] % NUM_VALUES + 1, p.meaning[k] // NUM_VALUES] += 1
        return p.joker_rule != FREE
    if p.joker_rule == LOCKED or (
        way == 2 and (p.joker_rule == FREE or p.either[k] == catalogue.NO_TILE or p.needs_both == 1)
    ):
        return False
    w.jokers += 1
    w.must_jokers += 1
    return True


@kernel
def _require_replacement(w, p, k, first, second):
    """Let what frees joker k be put down, for each joker freed a tile of its own (5.2, 5.3); return if it can be."""
    way = first if k == 0 else second
    if p.needs_both and p.either[k] != catalogue.NO_TILE and not _require_tile(w, p, p.either[k], first, second):
        return False
    return _require_tile(w, p, p.either[k] if way == 2 else p.meaning[k], first, second)


@kernel
def _require_tile(w, p, tile, first, second):
    """Require as many natural tiles of one type as the freed jokers need together; return whether there are."""
    c, v = tile // NUM_VALUES, tile % NUM_VALUES + 1
    lacking = w.pinned[v, c] - p.fixed[tile]
    for k in range(p.num_jokers):
        way = first if k == 0 else second
        if way > 0 and (
            (p.meaning[k] == tile and way == 1) or (p.either[k] == tile and (way == 2 or p.needs_both == 1))
        ):
            lacking += 1
    w.low[v, c] = max(w.low[v, c], lacking)
    return w.low[v, c] <= w.high[v, c]


@kernel
def _set_weights(w, p, v):
    """What a tile from the rack counts, first by the objective, then, between equals, by the other one."""
    if p.objective == TILES_FIRST:
        w.weight[v] = WEIGHT + v
        w.joker_weight[v] = WEIGHT
    elif p.objective == POINTS_FIRST:
        w.weight[v] = WEIGHT * v + 1
        w.joker_weight[v] = WEIGHT * p.joker_points + 1
    elif p.objective == ANY_PLAY:
        w.weight[v] = 1
        w.joker_weight[v] = 1
    else:  # an opening: no joker is free but those of the rack
        w.weight[v] = v
        w.joker_weight[v] = v


# ---------------------------------------------------------------------------------------------------------------
# The search


@kernel
def search(w, v, runs, jokers, least, need, note):
    """The most that can be had from value v on if it is at least `need`; else something less than `need`, at least it.

    Args:
        w: the problem, from `_set_up`.
        v: the value to be decided.
        runs: the open runs, a combination of COMBO_BITS for each colour.
        jokers: free jokers left.
        least: points still to be laid.
        need: see above.
        note: write the first choice that reaches `need`, and the state after it, into w.

    Returns:
        int64; IMPOSSIBLE if there is no way to go on.
    """
    if v > w.values:
        return _ZERO if jokers <= w.jokers - w.must_jokers and least == 0 else np.int64(IMPOSSIBLE)
    bound = w.rest[v] + jokers * w.joker_weight[w.values]
    if bound < need:
        return bound
    key = _ZERO
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
            range_1 = w.range[v, 0, k0] * _NUM_RANGES + w.range[v, 1, k1]
            for k2 in range(w.num_choices[v, 2]):
                excess_2 = excess_1 + w.excess[v, 2, k2]
                if excess_2 > jokers:
                    continue
                range_2 = range_1 * _NUM_RANGES + w.range[v, 2, k2]
                for k3 in range(w.num_choices[v, 3]):
                    excess = excess_2 + w.excess[v, 3, k3]
                    ranges = range_2 * _NUM_RANGES + w.range[v, 3, k3]
                    for used in range(excess, jokers + 1):
                        grouped = np.int64(_MOST_IN_GROUPS[used - excess, ranges])
                        if grouped == IMPOSSIBLE:
                            continue
                        tiles = w.tiles[v, 0, k0] + w.tiles[v, 1, k1] + w.tiles[v, 2, k2] + w.tiles[v, 3, k3] + grouped
                        if used > tiles - w.all_low[v]:
                            continue
                        gain = (tiles - used - w.all_lying[v]) * weight + used * joker_weight
                        left = max(_ZERO, least - v * tiles) if w.counts_points else _ZERO
                        after = w.after[v, 0, k0] | w.after[v, 1, k1] | w.after[v, 2, k2] | w.after[v, 3, k3]
                        asked = max(need, best + 1) - gain
                        value = search(w, v + 1, after, jokers - used, left, asked, _ZERO)
                        if value == IMPOSSIBLE:
                            continue
                        best = max(best, value + gain)
                        if note and best >= need:
                            w.next_runs, w.next_jokers, w.next_least = after, jokers - used, left
                            w.next_need = value
                            _note_choice(w, v, k0, k1, k2, k3, used, grouped)
                            return best
                        if best >= bound:
                            _remember(w, key, best, _ONE)
                            return best
                        if w.stops_early and best >= need:
                            return best
    if not note:
        _remember(w, key, best, _ONE if best >= need or best == IMPOSSIBLE else _ZERO)
    return best


@kernel
def _remember(w, key, best, exact):
    """Note what is to go of a state, or, if that is not exact, what it is at most."""
    if w.num_noted == 1 << w.memo_bits and w.memo_bits < _MEMO_BITS:
        _clear_memo(w, w.memo_bits + _MEMO_GROWTH)
    w.memo[place_of(key, w.memo_bits)] = (key << _VALUE_BITS | best + 1) << 1 | exact
    w.num_noted += 1


@kernel
def _clear_memo(w, bits):
    w.memo_bits = bits
    w.num_noted = 0
    for k in range(1 << bits):
        w.memo[k] = 0


@kernel
def _list_choices(w, v, c, combo, jokers):
    """List how many tiles of colour c and value v can go to runs: as many as on the table first, then downwards."""
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
        w.range[v, c, n] = _RANGE[max(0, low - tiles), max(0, high - tiles)]
        n += 1
    w.num_choices[v, c] = n


@kernel
def _note_choice(w, v, k0, k1, k2, k3, used, grouped):
    """Write down what lies where at value v."""
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
    """Of the ways to have this many tiles in groups, choose the one that is most like the table."""
    least_moved = np.int64(1 << 30)
    for k in range(_NUM_GROUPS):
        jokers, tiles, moved, fits = _ZERO, _ZERO, _ZERO, True
        for c in range(NUM_COLOURS):
            count = _GROUPS[k, c]
            tiles += count
            jokers += max(0, w.in_runs[v, c] + count - w.high[v, c])
            moved += abs(count - (w.lying[v, c] - w.in_old_runs[v, c]))
            if count < w.low[v, c] - w.in_runs[v, c]:
                fits = False
        if fits and tiles == grouped and jokers <= used and moved < least_moved:
            least_moved = moved
            for c in range(NUM_COLOURS):
                w.in_groups[v, c] = _GROUPS[k, c]


# ---------------------------------------------------------------------------------------------------------------
# Sets that stay


@kernel
def _keep_sets(w, p):
    """Mark in p.kept the sets of the table that can be taken out of the play found, and take them out."""
    for k in range(p.num_melds):
        if not p.kept[k] and _take_out(w, p.melds[k]):
            p.kept[k] = 1


@kernel
def _take_out(w, number):
    """Take a meld out of the play found if the rest still makes melds; return if so."""
    if not _holds(w, number):
        return False
    _count_out(w, number, 1)
    v, c = catalogue.MELD_TYPES[number, 0] % NUM_VALUES + 1, catalogue.MELD_TYPES[number, 0] // NUM_VALUES
    if _are_groups(w, v) if catalogue.MELD_IS_GROUP[number] else _are_runs(w, c):
        return True
    _count_out(w, number, -1)
    return False


@kernel
def _holds(w, number):
    """Whether the tiles of a meld lie where it needs them in the play found."""
    for i in range(catalogue.MELD_SIZE[number]):
        v, c = catalogue.MELD_TYPES[number, i] % NUM_VALUES + 1, catalogue.MELD_TYPES[number, i] // NUM_VALUES
        jokers = w.placed_jokers[v, c]
        if catalogue.MELD_FACES[number, i] == JOKER:
            if jokers == 0:
                return False
        elif w.in_runs[v, c] + w.in_groups[v, c] == jokers:
            return False
        if (w.in_groups[v, c] if catalogue.MELD_IS_GROUP[number] else w.in_runs[v, c]) == 0:
            return False
    return True


@kernel
def _count_out(w, number, sign):
    """Count the tiles of a meld out of the play found, or with sign -1 back into it."""
    for i in range(catalogue.MELD_SIZE[number]):
        v, c = catalogue.MELD_TYPES[number, i] % NUM_VALUES + 1, catalogue.MELD_TYPES[number, i] // NUM_VALUES
        if catalogue.MELD_IS_GROUP[number]:
            w.in_groups[v, c] -= sign
        else:
            w.in_runs[v, c] -= sign
        if catalogue.MELD_FACES[number, i] == JOKER:
            w.placed_jokers[v, c] -= sign


@kernel
def _are_groups(w, v):
    """Whether the tiles of value v in groups make groups."""
    ranges = _ZERO
    for c in range(NUM_COLOURS):
        count = w.in_groups[v, c]
        ranges = ranges * _NUM_RANGES + _RANGE[count, count]
    return _MOST_IN_GROUPS[0, ranges] != IMPOSSIBLE


@kernel
def _are_runs(w, c):
    """Whether the tiles of colour c in runs make runs."""
    combo = _ZERO
    for v in range(1, w.values + 2):
        if v > w.values:
            return MUST[combo] == 0
        combo = AFTER[combo, w.in_runs[v, c]]
        if combo == IMPOSSIBLE:
            return False
    return False


# ---------------------------------------------------------------------------------------------------------------
# The melds of the play found


@kernel
def _write_melds(w):
    """Deal the tiles of the choices out to melds of the catalogue: w.melds, ascending."""
    w.num_melds = 0
    for v in range(1, w.values + 1):
        _write_groups(w, v)
    for c in range(NUM_COLOURS):
        _write_runs(w, c)
    for k in range(1, w.num_melds):
        number, j = w.melds[k], k
        while j > 0 and w.melds[j - 1] > number:
            w.melds[j] = w.melds[j - 1]
            j -= 1
        w.melds[j] = number


@kernel
def _write_groups(w, v):
    """Deal each colour out to the groups that have the fewest tiles; what jokers are left goes to the runs."""
    most, tiles = _ZERO, _ZERO
    for c in range(NUM_COLOURS):
        most = max(most, w.in_groups[v, c])
        tiles += w.in_groups[v, c]
    num = max(most, (tiles + 3) // 4)
    for k in range(num):
        w.members[k] = 0
        w.places[k] = 0
    for c in range(NUM_COLOURS):
        count = w.in_groups[v, c]
        jokers = max(0, w.placed_jokers[v, c] - w.in_runs[v, c])  # those for which the runs have no room
        w.run_jokers[v, c] = w.placed_jokers[v, c] - jokers
        for _ in range(count):
            k = _smallest_group(w, num, c)
            w.members[k] |= 1 << c
            if jokers > 0:
                w.places[k] |= 1 << c
                jokers -= 1
    for k in range(num):
        _add_meld(w, catalogue.GROUP_NUMBER[v, w.members[k], w.places[k]])


@kernel
def _smallest_group(w, num, c):
    """The first of the smallest groups that lack colour c."""
    best, size = 0, NUM_COLOURS + 1
    for k in range(num):
        members = w.members[k]
        count = (members & 1) + (members >> 1 & 1) + (members >> 2 & 1) + (members >> 3 & 1)
        if not members >> c & 1 and count < size:
            best, size = k, count
    return best


@kernel
def _write_runs(w, c):
    """Follow the open runs of a colour, the oldest first; a run of six gives its first three away as a meld."""
    num = 0  # open runs: w.start, and the places of their jokers in w.places
    for v in range(1, w.values + 2):
        tiles = w.in_runs[v, c] if v <= w.values else 0
        must = 0
        for k in range(num):
            if v - w.start[k] < 3:
                must += 1
        spare = tiles - must  # tiles for complete runs and new ones
        jokers = w.run_jokers[v, c] if v <= w.values else 0
        kept = 0
        for k in range(num):
            start, places = w.start[k], w.places[k]
            length = v - start
            if length >= 3:
                if spare == 0:
                    _add_meld(w, catalogue.RUN_NUMBER[c, v - 1, length, places])
                    continue
                spare -= 1
            if length == 5:
                _add_meld(w, catalogue.RUN_NUMBER[c, v - 3, 3, places & 7])
                start, places, length = start + 3, places >> 3, 2
            if jokers > 0:
                places |= 1 << length
                jokers -= 1
            w.start[kept] = start
            w.places[kept] = places
            kept += 1
        for _ in range(spare):
            w.start[kept] = v
            w.places[kept] = min(1, jokers)
            jokers -= min(1, jokers)
            kept += 1
        num = kept


@kernel
def _add_meld(w, number):
    w.melds[w.num_melds] = number
    w.num_melds += 1
