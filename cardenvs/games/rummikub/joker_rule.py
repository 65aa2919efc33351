"""The joker rule (rules.md 5) in the search for complete turns: kernels."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.rummikub import catalogue
from cardenvs.games.rummikub.ruleset import FREE, LOCKED
from cardenvs.games.rummikub.tiles import NUM_VALUES
from cardenvs.games.rummikub.turn import JOKERS_AT, ROWS


@kernel
def are_replaced(w, v, spent):
    """Return whether every joker that represented a tile of value `v` still does or is replaced (5.1, 5.2, 5.3).

    No tile replaces two jokers. `spent` holds the tiles laid at this value, without the fixed ones.
    """
    if w.joker_rule == FREE or not w.had_joker[v]:
        return True
    for way in range(9):  # each joker keeps its meaning (0), or is replaced by that tile (1) or the other tile (2)
        first, second = way % 3, way // 3
        if _is_way(w, v, spent, first, second):
            return True
    return False


@kernel
def _is_way(w, v, spent, first, second):
    """Return whether the jokers of value `v` can be handled in these ways; jokers of other values must have way 0."""
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
    """Return whether the table has as many jokers that represent `tile`, and as many of that tile, as the ways need."""
    jokers, naturals = np.int64(0), np.int64(0)
    for k in range(w.num_old):
        way = first if k == 0 else second
        if w.meaning[k] % NUM_VALUES + 1 == v:
            jokers += 1 if way == 0 and w.meaning[k] == tile else 0
            naturals += 1 if way == 1 and w.meaning[k] == tile else 0
            naturals += 1 if w.either[k] == tile and (way == 2 or (way == 1 and w.needs_both)) else 0
    c = tile // NUM_VALUES
    return jokers <= w.fixed_jokers[tile] + (spent >> JOKERS_AT + 2 * c & 3) and naturals <= w.fixed[tile] + (
        spent >> 2 * c & 3
    )


@kernel
def set_reserve(w):
    """Reserve the jokers of the table that nothing can free for the values they represent."""
    for v in range(ROWS):
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
