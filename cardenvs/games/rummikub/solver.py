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
    """Find a best play of a position that leaves as much of the table as it is as possible.

    Args:
        w: scratch record of WORK. Afterwards w.melds[0:w.num_melds] are the melds laid, in catalogue numbers.
        p: record of POSITION, p.kept all zeros. Afterwards p.kept marks the melds on the table that stay.

    Returns:
        The value of the play by p.objective, 0 or less if there is none.
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
    """As `best_play`, but of what could stay only that does which is easily seen; p.kept may mark melds that must."""
    best = value_if_at_least(w, p, p.need)
    w.num_melds = 0
    if best > 0:
        _trace(w, p, best)
        keep_sets(w, p)
        write_melds(w)
    return best


@kernel(entry=True)
def playable_play(w, p):
    """As `any_best_play`, but a play that can be built in steps, and is found again from p.kept alone.

    There is one kind of play that cannot: when both jokers stand for the same tile, they may change places. Then the
    sets with jokers are left alone.
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
    """The value of a best play, 0 or less if there is none."""
    return value_if_at_least(w, p, p.need)


@kernel
def value_if_at_least(w, p, need):
    """The value of the best play if it is at least `need`, else something less; w.variant is the search that has it.

    The search is set up, and its memo filled.
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
    """Write down the choices of the play found by `value_if_at_least`."""
    variant = np.int64(w.variant)
    set_up(w, p, variant % 3, variant // 3)
    w.variant = variant
    runs, jokers, least, need = ZERO, np.int64(w.jokers), np.int64(p.least), best + _sunk(w)
    for v in range(1, w.values + 1):
        search(w, np.int64(v), runs, jokers, least, need, ONE)
        runs, jokers, least, need = w.next_runs, w.next_jokers, w.next_least, w.next_need


@kernel(inline=True)
def _sunk(w):
    """What the free jokers from the table were counted, which is nothing gained."""
    return w.must_jokers * w.joker_weight[1]
