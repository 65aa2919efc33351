"""Find a best play exactly: kernels. Paragraph numbers are those of rules.md.

The search walks through the values 1 to 13. All it needs to know about the runs laid so far is, per colour, how many of
those that reach the last value have length 1, 2, and 3 or more: the first two kinds must be extended, the third may
be (J. van Rijn, F. Takes, J. Vis, "The Complexity of Rummikub Problems", 2015). At each value it chooses how many tiles
of each colour go into runs. Complete runs are extended first, which never loses anything; the other tiles start new
runs. The remaining tiles may form groups, and a table gives the most that can. Groups do not affect later values, so
the search always uses this maximum.

A memo of limited size stores the best value still to be gained from a state. An entry that is overwritten is computed
again when needed, so the result is exact whatever the size. A state is pruned if all remaining tiles together would
not be enough.

A joker on the table that keeps its meaning counts as one more tile of that type, which must be put down. A joker that
changes its meaning is free, and a natural tile of its old meaning must lie on the table at the end (5.2), which adds
to the tiles that must be put down. Each way to keep or free the jokers on the table is a separate search.

Among equal plays the search takes the first one it finds. It first tries as many tiles in runs as are in runs on the
table. Afterwards the sets of the table are looked for in the play found, and those that it contains stay in place.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.rummikub import catalogue
from cardenvs.games.rummikub.found_play import keep_sets, write_melds
from cardenvs.games.rummikub.problem import set_up, survey
from cardenvs.games.rummikub.runs import IMPOSSIBLE
from cardenvs.games.rummikub.scratch import ONE, ZERO
from cardenvs.games.rummikub.search import FIRST_MEMO_BITS, clear_memo, search


@kernel(entry=True)
def best_play(w, p):
    """Find a best play that leaves as much of the table in place as possible.

    Args:
        w: scratch record of WORK. Afterwards w.melds[0:w.num_melds] are the catalogue numbers of the melds laid.
        p: record of POSITION, p.kept all zeros. Afterwards p.kept marks the melds on the table that stay.

    Returns:
        The value of the play under p.objective, 0 or less if there is no play.
    """
    best = any_best_play(w, p)
    stays = False
    for k in range(p.num_melds if best > 0 else 0):
        if not p.kept[k]:
            p.kept[k] = 1
            if value_if_at_least(w, p, best) < best:
                p.kept[k] = 0
            else:
                stays = True
    return any_best_play(w, p) if stays else best


@kernel(entry=True)
def any_best_play(w, p):
    """Find a best play as `best_play` does, but faster: some melds that could stay are rebuilt.

    On entry p.kept may mark melds that must stay.
    """
    best = value_if_at_least(w, p, p.need)
    w.num_melds = 0
    if best > 0:
        _trace(w, p, best)
        keep_sets(w, p)
        write_melds(w)
    return best


@kernel(entry=True)
def playable_play(w, p):
    """Find a best play as `any_best_play` does, but one that can be built in steps and found again from p.kept alone.

    Only one kind of play cannot: two jokers that stand for the same tile swap places. In that case sets with jokers
    are left alone.
    """
    before = _num_kept(p)
    best = any_best_play(w, p)
    while best > 0 and _num_kept(p) > before:
        before = _num_kept(p)
        value = any_best_play(w, p)
        if value <= 0 or (value < best and not w.stops_early):
            for k in range(p.num_melds):
                p.kept[k] = 1 if catalogue.MELD_NUM_JOKERS[p.melds[k]] > 0 else 0
            before = _num_kept(p)
            best = any_best_play(w, p)
    return best


@kernel
def _num_kept(p):
    kept = ZERO
    for k in range(p.num_melds):
        kept += p.kept[k]
    return kept


@kernel(entry=True)
def best_value(w, p):
    """Return the value of a best play, 0 or less if there is no play."""
    return value_if_at_least(w, p, p.need)


@kernel
def value_if_at_least(w, p, need):
    """Return the value of the best play if it is at least `need`, else some value below `need`.

    Afterwards w.variant is the search that found the play, and the memo holds the states of that search.
    """
    survey(p)
    clear_memo(w, FIRST_MEMO_BITS)
    best, best_variant = np.int64(IMPOSSIBLE), ZERO
    for variant in range(9):
        if set_up(w, p, variant % 3, variant // 3):
            w.variant = variant
            sunk = _sunk(w)
            value = search(w, ONE, ZERO, w.jokers, np.int64(p.least), max(need, best + 1) + sunk, ZERO)
            if value - sunk >= max(need, best + 1):
                best, best_variant = value - sunk, np.int64(variant)
    w.variant = best_variant
    return best


@kernel
def _trace(w, p, best):
    """Write the choices that lead to the play found by `value_if_at_least` into `w`."""
    variant = np.int64(w.variant)
    set_up(w, p, variant % 3, variant // 3)
    w.variant = variant
    runs, jokers, least, need = ZERO, np.int64(w.jokers), np.int64(p.least), best + _sunk(w)
    for v in range(1, w.values + 1):
        search(w, np.int64(v), runs, jokers, least, need, ONE)
        runs, jokers, least, need = w.next_runs, w.next_jokers, w.next_least, w.next_need


@kernel(inline=True)
def _sunk(w):
    """Return the weight of the free jokers from the table: the search counts them, but they are no gain."""
    return w.must_jokers * w.joker_weight[1]
