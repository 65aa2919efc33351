"""Policies for Rummikub, each built on the one before.

* `greedy` plays whenever it can: the first play that the solver finds.
* `max_tiles` lays as many tiles as can be laid, at equal numbers the higher ones.
* `planner` holds up to two low tiles of such a play back that could be laid alone, so that it need not draw in the
  next turns; not while somebody is close to going out, or the pool runs low.

A policy chooses one step at a time, and its plan must be the same at each. Nothing of the record changes for good
before the play is done, so the plan is made anew from what lay there at the beginning of the turn. Once melds are being
laid, the sets that were not taken apart are known to stay, which makes that quick. A turn that somebody else has begun
is finished by the same plan if it fits, and given up otherwise.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.rummikub.actions import COMMIT, LAY_0, TAKE_0
from cardenvs.games.rummikub.scratch import stack_record
from cardenvs.games.rummikub.solver import (
    ANY_PLAY,
    MAX_MELDS,
    POSITION,
    TILES_FIRST,
    WEIGHT,
    WORK,
    best_value,
    playable_play,
)
from cardenvs.games.rummikub.state import NO_MELD
from cardenvs.games.rummikub.steps import is_building
from cardenvs.games.rummikub.tiles import JOKER, NUM_TYPES, NUM_VALUES

_NO_ACTION = np.int64(-1)

# Of the planner. They come from play on duplicate deals.
_MOST_HELD = 2  # tiles held back in a turn
_CLOSE_TO_OUT = 3  # tiles left in the rack of a player who may go out next
_LATE = 8  # tiles left in the pool

new_work = stack_record(WORK)
new_position = stack_record(POSITION)


@kernel
def greedy(s, legal, n, rng):
    """Lay the first play that is found, else draw.

    Args:
        s: one record, not terminal.
        legal: int32 array whose first `n` entries are the legal actions.
        n: int.
        rng: not used, the policy is deterministic.

    Returns:
        One of the legal actions.
    """
    return _next_step(s, legal, n, ANY_PLAY, 0)


@kernel
def max_tiles(s, legal, n, rng):
    """Lay as many tiles as possible, else draw. As `greedy`."""
    return _next_step(s, legal, n, TILES_FIRST, 0)


@kernel
def planner(s, legal, n, rng):
    """Lay many tiles, but hold some back for the turns to come. As `greedy`."""
    waits = s.opened[s.current_player] and not _is_late(s)
    return _next_step(s, legal, n, TILES_FIRST, _MOST_HELD if waits else 0)


# ---------------------------------------------------------------------------------------------------------------
# Plans


@kernel
def _next_step(s, legal, n, objective, most_held):
    """The next step of the plan for this turn."""
    w, p = new_work(), new_position()
    set_position(s, p, objective)
    if most_held > 0:
        q = new_position()
        set_position(s, q, objective)
        _hold_back(w, p, q, most_held)
    action = _next_lay(s, w, p) if s.num_laid > 0 else _first_steps(s, w, p)
    if action != _NO_ACTION and _is_listed(legal, n, action):
        return action
    return _give_up(s, legal, n)


@kernel
def set_position(s, p, objective):
    """Fill a record of POSITION with the beginning of the turn of the player to act; of sets, those there are."""
    player = np.int64(s.current_player)
    for tile in range(NUM_TYPES):
        p.rack[tile] = s.hands[player, tile]
    p.num_melds = 0
    p.least = 0
    if s.opened[player]:
        for k in range(MAX_MELDS):
            if s.sets[k] != NO_MELD:
                p.melds[p.num_melds] = s.sets[k]
                p.kept[p.num_melds] = 0
                p.num_melds += 1
    else:
        p.least = s.rules.initial_meld_min
        if not s.rules.initial_meld_allow_joker:
            p.rack[JOKER] = 0
    p.joker_rule = s.rules.joker_rule
    p.needs_both = s.rules.joker_group3_needs_both
    p.colors = s.rules.colors
    p.values = s.rules.values
    p.joker_points = s.rules.joker_value_at_end
    p.objective = objective


@kernel
def _first_steps(s, w, p):
    """The next set to be taken apart, else the first meld to be laid, or _NO_ACTION if there is no play."""
    if playable_play(w, p) <= 0:
        return _NO_ACTION
    if s.last_taken != NO_MELD and not _fits_plan(s, p):
        return _NO_ACTION
    number, slot = np.int64(NUM_TYPES * NUM_TYPES), _NO_ACTION
    for k in range(p.num_melds):
        if not p.kept[k] and p.melds[k] < number and _num_taken(s, p.melds[k]) < _num_planned(p, p.melds[k]):
            number = p.melds[k]
    for k in range(MAX_MELDS - 1, -1, -1):
        if s.sets[k] == number and not s.taken[k]:
            slot = np.int64(k)
    return TAKE_0 + slot if slot != _NO_ACTION else LAY_0 + w.melds[0]


@kernel
def _fits_plan(s, p):
    """Whether all sets taken apart are to be."""
    for k in range(MAX_MELDS):
        if s.taken[k] and _num_taken(s, s.sets[k]) > _num_planned(p, np.int64(s.sets[k])):
            return False
    return True


@kernel
def _num_taken(s, number):
    """How many sets of a number have been taken apart."""
    taken = np.int64(0)
    for k in range(MAX_MELDS):
        if s.taken[k] and s.sets[k] == number:
            taken += 1
    return taken


@kernel
def _num_planned(p, number):
    """How many sets of a number the plan takes apart."""
    planned = np.int64(0)
    for k in range(p.num_melds):
        if not p.kept[k] and p.melds[k] == number:
            planned += 1
    return planned


@kernel
def _next_lay(s, w, p):
    """The next meld to be laid, or COMMIT; _NO_ACTION if what has been laid is not part of the plan."""
    _keep_what_was_not_taken(s, p)
    if playable_play(w, p) <= 0 or s.num_laid > w.num_melds:
        return _NO_ACTION
    for k in range(s.num_laid):
        if s.laid[k] != w.melds[k]:
            return _NO_ACTION
    return LAY_0 + w.melds[s.num_laid] if s.num_laid < w.num_melds else np.int64(COMMIT)


@kernel
def _keep_what_was_not_taken(s, p):
    """Mark in p.kept all sets that have not been taken apart."""
    i = 0
    for k in range(MAX_MELDS if p.num_melds > 0 else 0):
        if s.sets[k] != NO_MELD:
            p.kept[i] = 1 - s.taken[k]
            i += 1


@kernel
def _is_listed(legal, n, action):
    for k in range(n):  # noqa: SIM110  kernels have no generators
        if legal[k] == action:
            return True
    return False


@kernel
def _give_up(s, legal, n):
    """Draw or pass; if that is not possible, be done, else make any step: with the exact mask all lead to a play."""
    if is_building(s) and n > 1 and legal[1] == COMMIT:
        return np.int64(COMMIT)
    return np.int64(legal[0])


# ---------------------------------------------------------------------------------------------------------------
# Holding back


@kernel
def _hold_back(w, p, q, most_held):
    """Take up to `most_held` low tiles out of p.rack that the best play needs and that could be laid alone.

    Nothing is held back of a play that goes out, and one tile is always laid. q is a copy of p, and changed.
    """
    most = best_value(w, p) // WEIGHT
    if most == _num_tiles(p):
        return
    held = 0
    for v in range(p.values):
        for c in range(p.colors):
            tile = c * NUM_VALUES + v
            if held == most_held or most < 2:
                return
            if p.rack[tile] > 0 and _can_be_laid_alone(w, q, tile):
                p.rack[tile] -= 1
                if best_value(w, p) // WEIGHT == most - 1:
                    most -= 1
                    held += 1
                else:
                    p.rack[tile] += 1


@kernel
def _num_tiles(p):
    """Tiles in the rack."""
    number = np.int64(0)
    for tile in range(NUM_TYPES):
        number += p.rack[tile]
    return number


@kernel
def _can_be_laid_alone(w, q, tile):
    """Whether one tile is a play."""
    for other in range(NUM_TYPES):
        q.rack[other] = 1 if other == tile else 0
    return best_value(w, q) > 0


@kernel
def _is_late(s):
    """Whether the pool is nearly empty, or somebody else is close to going out."""
    if s.num_tiles - s.num_dealt <= _LATE:
        return True
    for p in range(s.rules.num_players):
        if p != s.current_player and s.active[p] and s.rack_sizes[p] <= _CLOSE_TO_OUT:
            return True
    return False
