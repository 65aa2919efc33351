"""Input and scratch records of the solver, and kernels that prepare them. Paragraph numbers are those of rules.md."""

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.games.rummikub import catalogue
from cardenvs.games.rummikub.ruleset import FREE, LOCKED, RETRIEVE
from cardenvs.games.rummikub.runs import MOST_AT_ONCE
from cardenvs.games.rummikub.scratch import ZERO
from cardenvs.games.rummikub.tiles import JOKER, MAX_MELDS, MOST_JOKERS, NUM_COLOURS, NUM_NATURALS, NUM_VALUES

TILES_FIRST, POINTS_FIRST, OPENING_VALUE, ANY_PLAY = range(4)  # objectives; the last stops at the first play found
WEIGHT = 1024  # of the first criterion, relative to the one that breaks ties
MEMO_BITS = 16  # the memo has at most 1 << MEMO_BITS entries


def integers(fields):
    """Return a record dtype with int64 fields only, so that compiled and plain Python compute the same values."""
    return packed([(name, "i8", *shape) for name, *shape in fields])


POSITION = integers(
    [
        ("rack", (NUM_NATURALS + 1,)),
        ("num_melds",),
        ("melds", (MAX_MELDS,)),  # on the table, catalogue numbers
        ("kept", (MAX_MELDS,)),  # 1: the meld stays
        ("joker_rule",),
        ("needs_both",),
        ("colors",),  # of the game
        ("values",),
        ("joker_points",),
        ("least",),  # points that an opening must be worth, else 0
        ("objective",),
        ("need",),  # plays of a lower value are ignored
        # computed by `survey` from the melds that are not kept
        ("table", (NUM_NATURALS,)),  # natural tiles
        ("in_runs", (NUM_NATURALS,)),  # natural tiles and jokers in runs, by what they count as
        ("fixed", (NUM_NATURALS,)),  # natural tiles of the melds that are kept
        ("num_jokers",),
        ("meaning", (MOST_JOKERS,)),  # the tile that each joker represents
        ("either", (MOST_JOKERS,)),  # the other tile that frees it (5.3), or NO_TILE
    ]
)

_ROWS = NUM_VALUES + 3  # values 0 to 15: the search looks two values ahead
WORK = integers(
    [
        ("lying", (_ROWS, NUM_COLOURS)),  # tiles on the table, including jokers that keep their meaning
        ("low", (_ROWS, NUM_COLOURS)),  # tiles that must be put down
        ("high", (_ROWS, NUM_COLOURS)),  # tiles that may be put down
        ("pinned", (_ROWS, NUM_COLOURS)),  # jokers among `lying`
        ("in_old_runs", (_ROWS, NUM_COLOURS)),  # tiles among `lying` that are in runs
        ("all_lying", (_ROWS,)),  # sums over the colours
        ("all_low", (_ROWS,)),
        ("weight", (_ROWS,)),  # of a tile from the rack
        ("joker_weight", (_ROWS,)),
        ("rest", (_ROWS,)),  # weight of all rack tiles from this value on
        ("colors",),
        ("values",),
        ("jokers",),  # free ones
        ("must_jokers",),  # free jokers that must be laid
        ("counts_points",),  # 1: the play must be worth `least` points
        ("variant",),  # number of the search: which jokers on the table are kept or freed
        ("stops_early",),  # 1: any play will do
        # choices in a state, by value: how many tiles of each colour go into runs
        ("num_choices", (_ROWS, NUM_COLOURS)),
        ("tiles", (_ROWS, NUM_COLOURS, MOST_AT_ONCE + 1)),
        ("after", (_ROWS, NUM_COLOURS, MOST_AT_ONCE + 1)),  # the open runs after it, shifted to their bits
        ("excess", (_ROWS, NUM_COLOURS, MOST_AT_ONCE + 1)),  # jokers among these tiles
        ("range", (_ROWS, NUM_COLOURS, MOST_AT_ONCE + 1)),  # index into MOST_IN_GROUPS for the tiles left to groups
        # the state after the recorded choice
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
        # open runs or groups while the melds are written
        ("start", (MOST_AT_ONCE,)),
        ("places", (MOST_AT_ONCE,)),
        ("members", (MOST_AT_ONCE,)),
        ("memo_bits",),  # 1 << memo_bits entries of the memo are used
        ("num_noted",),  # entries written so far, including overwritten ones
        ("memo", (1 << MEMO_BITS,)),
    ]
)


@kernel
def survey(p):
    """Count the tiles of the melds on the table, and list the jokers of melds that are not kept."""
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
def set_up(w, p, first, second):
    """Prepare the search in which each joker on the table is kept (0), freed (1), or freed by the other tile (2).

    Returns:
        Whether this combination is possible under the joker rule.
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
    """Ignore rack tiles that fit in no meld."""
    for v in range(1, w.values + 1):
        for c in range(w.colors):
            if w.high[v, c] > w.lying[v, c] and w.low[v, c] == 0 and not _has_neighbours(w, v, c):
                w.high[v, c] = 0


@kernel
def _has_neighbours(w, v, c):
    """Return whether there are tiles to form a group or a run with a tile of colour `c` and value `v`."""
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
    """Compute the weights and sums of each value."""
    w.rest[w.values + 1] = 0
    for v in range(w.values, 0, -1):
        _set_weights(w, p, v)
        lying, low, high = ZERO, ZERO, ZERO
        for c in range(NUM_COLOURS):
            lying += w.lying[v, c]
            low += w.low[v, c]
            high += w.high[v, c]
        w.all_lying[v] = lying
        w.all_low[v] = low
        w.rest[v] = w.rest[v + 1] + (high - lying) * w.weight[v]


@kernel
def _set_joker(w, p, k, way):
    """Keep joker `k` of the table (way 0) or free it (1, 2); return whether the joker rule allows this."""
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
    """Require the tiles that free joker `k`, separate ones for each joker (5.2, 5.3); return whether they exist."""
    way = first if k == 0 else second
    if p.needs_both and p.either[k] != catalogue.NO_TILE and not _require_tile(w, p, p.either[k], first, second):
        return False
    return _require_tile(w, p, p.either[k] if way == 2 else p.meaning[k], first, second)


@kernel
def _require_tile(w, p, tile, first, second):
    """Require as many natural tiles of one type as all freed jokers together need; return whether there are enough."""
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
    """Set what a rack tile of value `v` weighs: first by the objective, then, to break ties, by the other objective."""
    if p.objective == TILES_FIRST:
        w.weight[v] = WEIGHT + v
        w.joker_weight[v] = WEIGHT
    elif p.objective == POINTS_FIRST:
        w.weight[v] = WEIGHT * v + 1
        w.joker_weight[v] = WEIGHT * p.joker_points + 1
    elif p.objective == ANY_PLAY:
        w.weight[v] = 1
        w.joker_weight[v] = 1
    else:  # an opening: only jokers of the rack are free
        w.weight[v] = v
        w.joker_weight[v] = v
