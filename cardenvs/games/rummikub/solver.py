"""The best play, exactly: kernels. Paragraph numbers are those of rules.md.

Values are gone through from 1 to 13. What matters of the runs laid so far is, per colour, how many of those that
reach the last value have length 1, 2, and 3 or more: the first two must go on, the third may (J. van Rijn,
F. Takes, J. Vis, "The Complexity of Rummikub Problems", 2015). At each value one chooses the groups, then per colour
how many tiles are put down; what is not in groups extends runs, complete ones first (nothing is lost by that), and
starts new ones. The best value to go of a state is kept in a table of fixed size: what is pushed out of it is worked
out anew, so the result is exact whatever the size.

A joker on the table that keeps its meaning is one more tile of that type, which must be put down. One that changes it
is free, and a natural tile of the old meaning must lie on the table at the end (5.2): more tiles that must be put
down. Each way to keep or free the jokers on the table is one search.
"""

from itertools import product

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.games.rummikub.catalogue import (
    GROUP_NUMBER,
    MELD_EITHER,
    MELD_FACES,
    MELD_SIZE,
    MELD_TYPES,
    NO_TILE,
    RUN_NUMBER,
)
from cardenvs.games.rummikub.ruleset import FREE, LOCKED, RETRIEVE
from cardenvs.games.rummikub.tiles import JOKER, MOST_JOKERS, MOST_TILES, NUM_COLOURS, NUM_NATURALS, NUM_VALUES

MAX_MELDS = MOST_TILES // 3  # on a table
TILES_FIRST, POINTS_FIRST, OPENING_VALUE = range(3)  # objectives
IMPOSSIBLE = -1
_MOST_AT_ONCE = 4  # tiles of one type: two copies and two jokers
_WEIGHT = 1024  # of what counts first, against what decides between equals
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
        # worked out by `_survey`, of the melds that are not kept
        ("table", (NUM_NATURALS,)),  # natural tiles
        ("fixed", (NUM_NATURALS,)),  # natural tiles of the melds that are kept
        ("num_jokers",),
        ("meaning", (MOST_JOKERS,)),  # what each joker stands for
        ("either", (MOST_JOKERS,)),  # the other tile that frees it (5.3), or NO_TILE
    ]
)

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
WORK = integers(
    [
        *SEARCH_FIELDS,
        # the play found
        ("group", (_ROWS,)),
        ("placed", (NUM_COLOURS, _ROWS)),
        ("placed_jokers", (NUM_COLOURS, _ROWS)),
        ("run_jokers", (NUM_COLOURS, _ROWS)),
        ("num_melds",),
        ("melds", (MAX_MELDS,)),  # catalogue numbers, ascending
        # open runs or groups while melds are written
        ("start", (_MOST_AT_ONCE,)),
        ("places", (_MOST_AT_ONCE,)),
        ("members", (_MOST_AT_ONCE,)),
    ]
)


@kernel(entry=True)
def best_play(w, p):
    """Find a best play of a position that leaves as much of the table as it is as possible.

    Args:
        w: scratch record of WORK. Afterwards w.melds[0:w.num_melds] are the melds laid, in catalogue numbers.
        p: record of POSITION, p.kept all zeros. Afterwards p.kept marks the melds on the table that stay.

    Returns:
        The value of the play by p.objective, 0 if there is none.
    """
    best = arrange(w, p)
    if best <= 0:
        return np.int64(0)
    for k in range(p.num_melds):
        p.kept[k] = _cross_out(w, p.melds[k])
    for k in range(p.num_melds):
        if not p.kept[k]:
            p.kept[k] = 1
            if best_value(w, p) < best:
                p.kept[k] = 0
    return arrange(w, p)


@kernel
def _cross_out(w, number):
    """Take a meld out of w.melds; return 1 if it was there, else 0."""
    for k in range(w.num_melds):
        if w.melds[k] == number:
            w.num_melds -= 1
            for j in range(k, w.num_melds):
                w.melds[j] = w.melds[j + 1]
            return 1
    return 0


@kernel(entry=True)
def arrange(w, p):
    """Find a best arrangement: w.melds are the new melds, those of the table that are kept not among them.

    Returns:
        Its value by p.objective, 0 if no rack tile is used; IMPOSSIBLE if the opening cannot be made.
    """
    _survey(p)
    best, best_variant = IMPOSSIBLE, 0
    for variant in range(9):
        if _set_up(w, p, variant % 3, variant // 3):
            value = search(w, 0, NUM_COLOURS, 0, 0, w.jokers, p.least)
            if value != IMPOSSIBLE and value - _sunk(w) > best:
                best, best_variant = value - _sunk(w), variant
    w.num_melds = 0
    if best > 0:
        _set_up(w, p, best_variant % 3, best_variant // 3)
        retrace(w, 0, NUM_COLOURS, 0, 0, w.jokers, p.least, best + _sunk(w))
        _write_melds(w)
    return best


@kernel(entry=True)
def best_value(w, p):
    """The value of `arrange` without the melds."""
    _survey(p)
    best = IMPOSSIBLE
    for variant in range(9):
        if _set_up(w, p, variant % 3, variant // 3):
            value = search(w, 0, NUM_COLOURS, 0, 0, w.jokers, p.least)
            if value != IMPOSSIBLE:
                best = max(best, value - _sunk(w))
    return best


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
    for k in range(p.num_melds):
        number = p.melds[k]
        for i in range(MELD_SIZE[number]):
            face = MELD_FACES[number, i]
            if face != JOKER:
                if p.kept[k]:
                    p.fixed[face] += 1
                else:
                    p.table[face] += 1
            elif not p.kept[k]:
                p.meaning[p.num_jokers] = MELD_TYPES[number, i]
                p.either[p.num_jokers] = MELD_EITHER[number]
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
    for c in range(NUM_COLOURS):
        for v in range(_ROWS):
            w.pinned[c, v] = 0
            w.lying[c, v] = 0
            w.high[c, v] = 0
    if p.num_jokers > 0 and not _set_joker(w, p, 0, first):
        return False
    if p.num_jokers > 1 and not _set_joker(w, p, 1, second):
        return False
    for t in range(NUM_NATURALS):
        c, v = t // NUM_VALUES, t % NUM_VALUES + 1
        w.lying[c, v] = p.table[t] + w.pinned[c, v]
        w.low[c, v] = w.lying[c, v]
        w.high[c, v] = w.lying[c, v] + p.rack[t]
    for k in range(p.num_jokers):
        way = first if k == 0 else second
        if way > 0 and p.joker_rule == RETRIEVE and not _require_replacement(w, p, k, first, second):
            return False
    for v in range(1, p.values + 1):
        _set_weights(w, p, v)
        list_groups(w, v)
    clear_memo(w)
    return True


@kernel
def clear_memo(w):
    """Forget the states of the last search."""
    for k in range(1 << _MEMO_BITS):
        w.memo[k] = 0


@kernel
def _set_joker(w, p, k, way):
    """Keep joker k of the table (way 0) or free it (1, 2); return whether the joker rule has that way."""
    if way == 0:
        w.pinned[p.meaning[k] // NUM_VALUES, p.meaning[k] % NUM_VALUES + 1] += 1
        return p.joker_rule != FREE
    if p.joker_rule == LOCKED or (way == 2 and (p.joker_rule == FREE or p.either[k] == NO_TILE or p.needs_both == 1)):
        return False
    w.jokers += 1
    w.must_jokers += 1
    return True


@kernel
def _require_replacement(w, p, k, first, second):
    """Let what frees joker k be put down, for each joker freed a tile of its own (5.2, 5.3); return if it can be."""
    way = first if k == 0 else second
    if p.needs_both and p.either[k] != NO_TILE and not _require_tile(w, p, p.either[k], first, second):
        return False
    return _require_tile(w, p, p.either[k] if way == 2 else p.meaning[k], first, second)


@kernel
def _require_tile(w, p, tile, first, second):
    """Require as many natural tiles of one type as the freed jokers need together; return whether there are."""
    c, v = tile // NUM_VALUES, tile % NUM_VALUES + 1
    lacking = w.pinned[c, v] - p.fixed[tile]
    for k in range(p.num_jokers):
        way = first if k == 0 else second
        if way > 0 and (
            (p.meaning[k] == tile and way == 1) or (p.either[k] == tile and (way == 2 or p.needs_both == 1))
        ):
            lacking += 1
    w.low[c, v] = max(w.low[c, v], lacking)
    return w.low[c, v] <= w.high[c, v]


@kernel
def _set_weights(w, p, v):
    """What a tile from the rack counts, first by the objective, then, between equals, by the other one."""
    if p.objective == TILES_FIRST:
        w.weight[v] = _WEIGHT + v
        w.joker_weight[v] = _WEIGHT
    elif p.objective == POINTS_FIRST:
        w.weight[v] = _WEIGHT * v + 1
        w.joker_weight[v] = _WEIGHT * p.joker_points + 1
    else:
        w.weight[v] = v
        w.joker_weight[v] = v


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


# ---------------------------------------------------------------------------------------------------------------
# The search


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


@kernel
def retrace(w, v, c, g, runs, jokers, least, target):
    """Note the first choices that reach the value `target`, as `search` found it; return whether there are any."""
    if c == NUM_COLOURS:
        if search(w, v, c, g, runs, jokers, least) != target:
            return False
        v += 1
        if v > w.values:
            return True
        for k in range(w.num_groups[v]):
            if retrace(w, v, np.int64(0), w.groups[v, k], runs, jokers, least, target):
                w.group[v] = w.groups[v, k]
                return True
        return False
    combo = runs >> c * COMBO_BITS & _COMBO_MASK
    for used in range(jokers + 1 if c < w.colors else 1):
        for n in range(w.high[c, v], w.low[c, v] - 1, -1):
            after = _next_combo(w, v, c, combo, n + used - _GROUPS[g, c], jokers - used)
            if after == IMPOSSIBLE:
                continue
            others = runs & ~(_COMBO_MASK << c * COMBO_BITS)
            left = max(0, least - v * (n + used)) if w.counts_points else 0
            rest = target - _gain(w, v, c, n, used)
            if rest >= 0 and retrace(w, v, c + 1, g, others | after << c * COMBO_BITS, jokers - used, left, rest):
                w.placed[c, v] = n + used
                w.placed_jokers[c, v] = used + w.pinned[c, v]
                return True
    return False


@kernel(inline=True)
def open_combo(ones, twos):
    """The combination of so many open runs of length 1 and 2."""
    return _OPEN[ones, twos]


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
    g = w.group[v]
    most, tiles = 0, 0
    for c in range(NUM_COLOURS):
        most = max(most, _GROUPS[g, c])
        tiles += _GROUPS[g, c]
    num = max(most, (tiles + 3) // 4)
    for k in range(num):
        w.members[k] = 0
        w.places[k] = 0
    for c in range(NUM_COLOURS):
        count = _GROUPS[g, c]
        jokers = max(0, w.placed_jokers[c, v] - (w.placed[c, v] - count))  # those for which the runs have no room
        w.run_jokers[c, v] = w.placed_jokers[c, v] - jokers
        for _ in range(count):
            k = _smallest_group(w, num, c)
            w.members[k] |= 1 << c
            if jokers > 0:
                w.places[k] |= 1 << c
                jokers -= 1
    for k in range(num):
        _add_meld(w, GROUP_NUMBER[v, w.members[k], w.places[k]])


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
        tiles = w.placed[c, v] - _GROUPS[w.group[v], c] if v <= w.values else 0
        must = 0
        for k in range(num):
            if v - w.start[k] < 3:
                must += 1
        spare = tiles - must  # tiles for complete runs and new ones
        jokers = w.run_jokers[c, v] if v <= w.values else 0
        kept = 0
        for k in range(num):
            start, places = w.start[k], w.places[k]
            length = v - start
            if length >= 3:
                if spare == 0:
                    _add_meld(w, RUN_NUMBER[c, v - 1, length, places])
                    continue
                spare -= 1
            if length == 5:
                _add_meld(w, RUN_NUMBER[c, v - 3, 3, places & 7])
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
