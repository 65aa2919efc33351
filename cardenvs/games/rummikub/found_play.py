"""Turn the choices of the search into a play: the sets of the table that stay, and the melds to lay. Kernels."""

from cardenvs.core.kernel import kernel
from cardenvs.games.rummikub import catalogue
from cardenvs.games.rummikub.groups import MOST_IN_GROUPS, NUM_RANGES, RANGE
from cardenvs.games.rummikub.runs import AFTER, IMPOSSIBLE, MUST
from cardenvs.games.rummikub.scratch import ZERO
from cardenvs.games.rummikub.tiles import JOKER, NUM_COLOURS, NUM_VALUES

# ---------------------------------------------------------------------------------------------------------------
# Sets that stay


@kernel
def keep_sets(w, p):
    """Find sets of the table in the play found: mark them in p.kept and remove them from the play."""
    for k in range(p.num_melds):
        if not p.kept[k] and _take_out(w, p.melds[k]):
            p.kept[k] = 1


@kernel
def _take_out(w, number):
    """Remove a meld from the play found if the other tiles still form melds; return whether they do."""
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
    """Return whether the play found has the tiles of a meld, in runs for a run and in groups for a group."""
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
    """Subtract the tiles of a meld from the play found, or with `sign` -1 add them."""
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
    """Return whether the tiles that are in groups at value `v` can be split into groups."""
    ranges = ZERO
    for c in range(NUM_COLOURS):
        count = w.in_groups[v, c]
        ranges = ranges * NUM_RANGES + RANGE[count, count]
    return MOST_IN_GROUPS[0, ranges] != IMPOSSIBLE


@kernel
def _are_runs(w, c):
    """Return whether the tiles of colour `c` that are in runs can be split into runs."""
    combo = ZERO
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
def write_melds(w):
    """Distribute the tiles to melds and write the catalogue numbers to w.melds, ascending."""
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
    """Distribute each colour to the groups with the fewest tiles; the remaining jokers go to runs."""
    most, tiles = ZERO, ZERO
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
    """Return the first of the smallest groups without colour `c`."""
    best, size = 0, NUM_COLOURS + 1
    for k in range(num):
        members = w.members[k]
        count = (members & 1) + (members >> 1 & 1) + (members >> 2 & 1) + (members >> 3 & 1)
        if not members >> c & 1 and count < size:
            best, size = k, count
    return best


@kernel
def _write_runs(w, c):
    """Distribute the tiles of a colour to runs, oldest first; a run that reaches six splits off its first three."""
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
