"""Input and scratch record of the search for complete turns, and the kernels that prepare it. See completion.py."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.games.rummikub import catalogue
from cardenvs.games.rummikub.tiles import JOKER, MAX_MELDS, MOST_JOKERS, NUM_COLOURS, NUM_NATURALS, NUM_VALUES

IMPOSSIBLE = np.int64(-1)
TO_LAY, TO_TAKE = range(2)  # goals: the steps to mark
ROWS = NUM_VALUES + 4  # values 0 to 16: the search looks two ahead of the one after the last
STATE_BITS, PLAIN_STATE_BITS = 10, 10

# An open run takes six bits: 1 << length | places of its jokers. A colour has up to four open runs, in descending
# order; colours 0 and 1 are packed into one integer, 2 and 3 into another.
RUN_BITS, MOST_RUNS = catalogue.LONGEST + 1, 4
RUN_MASK = (1 << RUN_BITS) - 1
LIST_BITS = RUN_BITS * MOST_RUNS
LIST_MASK = (1 << LIST_BITS) - 1
LENGTH = np.array([max(0, run.bit_length() - 1) for run in range(1 << RUN_BITS)])

# `spent`: per colour two bits for the natural tiles laid at the current value, then two for the jokers.
JOKERS_AT = 2 * NUM_COLOURS

# The catalogue is in the order in which the search completes melds: by part.
_PARTS = NUM_COLOURS + 1
_PART_OF = np.array(
    [
        max(slot.value for slot in meld.slots) * _PARTS + (0 if is_group else 1 + meld.slots[0].colour)
        for meld, is_group in zip(catalogue.MELDS, catalogue.MELD_IS_GROUP, strict=True)
    ]
)
_GROUPS_PER_VALUE = int(catalogue.MELD_IS_GROUP.sum()) // NUM_VALUES
_FIRST_GROUP = np.searchsorted(_PART_OF, np.arange(NUM_VALUES + 2) * _PARTS)

TURN = packed(
    [
        # the problem
        ("goal", "i8"),
        ("colors", "i8"),
        ("values", "i8"),
        ("loose", "i8", (NUM_COLOURS, ROWS)),  # natural tiles that must be laid
        ("have", "i8", (NUM_COLOURS, ROWS)),  # all natural tiles at hand
        ("jokers", "i8"),  # all jokers at hand
        ("must_jokers", "i8"),  # jokers that must be laid
        ("used", "i8"),  # 1: a rack tile has been laid
        ("least", "i8"),  # points that an opening still needs, else 0
        ("floor", "i8"),  # the lowest meld number that may be laid
        ("banned", "i1", (catalogue.NUM_MELDS,)),  # 1: taken apart in this turn, may not be laid again
        ("last_banned", "i8"),  # the highest banned number, or -1
        ("num_stay", "i8"),
        ("stay", "i8", (MAX_MELDS,)),  # TO_TAKE: sets that may stay, ascending; their tiles count as loose
        # the joker rule
        ("joker_rule", "i8"),
        ("needs_both", "i8"),
        ("num_old", "i8"),  # jokers on the table at the start of the turn
        ("meaning", "i8", (MOST_JOKERS,)),  # the tiles they represented
        ("either", "i8", (MOST_JOKERS,)),  # the other tile that frees one (5.3), or NO_TILE
        ("fixed", "i8", (NUM_NATURALS,)),  # natural tiles of sets that stay and of melds laid
        ("fixed_jokers", "i8", (NUM_NATURALS,)),  # jokers in them, by the tile they represent
        ("had_joker", "i8", (ROWS,)),  # 1: a joker on the table represented a tile of this value
        ("reserve", "i8", (ROWS,)),  # jokers that must be laid at a higher value because nothing can free them
        # computed
        ("num_groups", "i8", (ROWS,)),
        ("groups", "i8", (ROWS, _GROUPS_PER_VALUE)),  # groups for which there are tiles, ascending
        ("free_from", "i8"),  # from this value on, no meld is banned
        ("plain", "i8", (NUM_COLOURS,)),  # 1: the open runs of the colour are stored as a combination (runs.py)
        ("rack_from", "i8", (ROWS,)),  # 1: there is a natural rack tile of this value or a higher one
        ("hint", "i8", (NUM_COLOURS, ROWS)),  # jokers that represented this tile
        # result: 1 for each meld that can be laid next, or set that can be taken apart next
        ("marks", "i1", (catalogue.NUM_MELDS,)),
        # memos
        ("states", "i8", (1 << STATE_BITS, 2)),
        ("plain_states", "i8", (1 << PLAIN_STATE_BITS,)),
    ]
)


@kernel
def look_ahead(w):
    """Fill in what the search needs to know about higher values."""
    w.free_from = _value_after(max(w.floor, w.last_banned))
    w.rack_from[w.values + 1] = 0
    for v in range(w.values, 0, -1):
        w.rack_from[v] = w.rack_from[v + 1]
        for c in range(NUM_COLOURS):
            w.hint[c, v] = 0
            if w.have[c, v] > w.loose[c, v]:
                w.rack_from[v] = 1
    for v in range(ROWS):
        w.had_joker[v] = 0
    for k in range(w.num_old):
        w.had_joker[w.meaning[k] % NUM_VALUES + 1] = 1
        w.hint[w.meaning[k] // NUM_VALUES, w.meaning[k] % NUM_VALUES + 1] += 1


@kernel
def _value_after(number):
    """Return the first value at which no meld up to `number` can be completed."""
    return _PART_OF[number] // _PARTS + 2


@kernel
def list_groups(w):
    """List the groups of each value for which there are tiles."""
    for v in range(ROWS):
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
def put_aside(w, number, count):
    """Fix a set that may stay (`count` 1), or undo that (-1)."""
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
def ban(w, number):
    """Ban a meld above all banned ones, and update where no meld is banned."""
    w.banned[number] = 1
    w.free_from = _value_after(number)
    for c in range(NUM_COLOURS):
        w.plain[c] = 1
    for banned in range(number + 1):
        if w.banned[banned] and not catalogue.MELD_IS_GROUP[banned]:
            w.plain[catalogue.MELD_TYPES[banned, 0] // NUM_VALUES] = 0
