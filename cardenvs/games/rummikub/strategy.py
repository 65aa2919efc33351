"""Policies for Rummikub, each built on the previous one.

* `greedy` plays whenever it can: the first play that the solver finds.
* `max_tiles` lays as many tiles as possible, and among equal numbers the higher tiles.
* `planner` opens like `max_tiles`. Then it keeps its tiles, including jokers, and draws until it can go out at once:
  tiles on the table help everybody, and a large rack has more plays than a small one. On an empty pool it passes, so
  that somebody else must lay first, unless that would end the game while somebody has fewer tiles. It lays as many
  tiles as it can once somebody has one tile left.

A policy chooses one step at a time and must follow the same plan at each step. The rack and the table of the record do
not change before the play is done, so each step computes the plan again from the start of the turn. Once melds are
being laid, the sets that were not taken apart are known to stay, which makes this fast. A turn that somebody else has
started is finished if the plan fits it, and given up otherwise. The first step of a plan is legal with either option,
so policies need the list of legal actions only to give up such a turn.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import random_below
from cardenvs.core.scratch import stack_record
from cardenvs.core.seats import num_active
from cardenvs.games.rummikub import problem, solver
from cardenvs.games.rummikub.actions import COMMIT, DRAW, LAY_0, PASS, TAKE_0
from cardenvs.games.rummikub.catalogue import MELD_FACES, MELD_SIZE
from cardenvs.games.rummikub.rules import determinize, explain_illegal, idle_needs_no_play, legal_actions
from cardenvs.games.rummikub.ruleset import LOCKED
from cardenvs.games.rummikub.state import NO_MELD
from cardenvs.games.rummikub.steps import explain_lay, explain_take, is_building
from cardenvs.games.rummikub.tiles import JOKER, MAX_MELDS, NUM_TYPES

_NO_ACTION = np.int64(-1)

_CLOSE_TO_OUT = 1  # the planner stops waiting when a rack has this few tiles; tuned on duplicate deals
_LARGE_RACK = 24  # tiles; for larger racks the best use of jokers takes too long to find
_MOST_CHANGES = 6  # exchanges when sampling a rack

new_work = stack_record(problem.WORK)
new_position = stack_record(problem.POSITION)


@kernel
def greedy(s, legal, n, rng):
    """Lay the first play found, else draw.

    Args:
        s: one record, not terminal.
        legal: int32 array whose first `n` entries are the legal actions.
        n: int; 0 if the legal actions have not been listed, then `legal` is scratch space for them.
        rng: not used; the policy is deterministic.

    Returns:
        One of the legal actions.
    """
    w, p = new_work(), new_position()
    set_position(s, p, problem.ANY_PLAY)
    return next_step(s, w, p, legal, n)


@kernel
def max_tiles(s, legal, n, rng):
    """Lay as many tiles as possible, else draw. Arguments as for `greedy`."""
    w, p = new_work(), new_position()
    set_position(s, p, problem.TILES_FIRST)
    return next_step(s, w, p, legal, n)


@kernel
def planner(s, legal, n, rng):
    """Open like `max_tiles`, then draw until the whole rack can be laid at once. Arguments as for `greedy`."""
    w, p = new_work(), new_position()
    set_position(s, p, problem.TILES_FIRST)
    return _give_up(s, legal, n) if waits(s, w, p) else next_step(s, w, p, legal, n)


@kernel
def waits(s, w, p):
    """Return whether the planner waits to go out. If not, prepare `p` for the play that it makes."""
    if _may_wait(s):
        return not goes_out(w, p)
    simplify(p)
    return False


@kernel(entry=True)
def goes_out(w, p):
    """Return whether the whole rack of `p` can be laid at once; if so, make p.need require it.

    p.objective must be TILES_FIRST.
    """
    whole_rack = problem.WEIGHT * _num_held(p)
    if solver.value_if_at_least(w, p, whole_rack) < whole_rack:
        return False
    p.need = whole_rack
    return True


@kernel(entry=True)
def simplify(p):
    """Ignore the jokers of `p` if its rack is so large that finding their best use could take seconds.

    Call `goes_out` first: it tells quickly whether the whole rack, including jokers, can be laid.
    """
    if _num_held(p) > _LARGE_RACK:
        p.rack[JOKER] = 0
        p.joker_rule = LOCKED


@kernel
def _num_held(p):
    held = np.int64(0)
    for tile in range(NUM_TYPES):
        held += p.rack[tile]
    return held


@kernel
def _may_wait(s):
    """Return whether the player to act has opened, does not have to lay, and nobody is about to win."""
    if not s.opened[s.current_player] or idle_needs_no_play(s):
        return False
    fewest = True
    for p in range(s.rules.num_players):
        if p != s.current_player and s.active[p]:
            if s.rack_sizes[p] <= _CLOSE_TO_OUT:
                return False
            if s.rack_sizes[p] < s.rack_sizes[s.current_player]:
                fewest = False
    return fewest or s.num_dealt < s.num_tiles or s.num_passes + 1 < num_active(s)


# ---------------------------------------------------------------------------------------------------------------
# Plans


@kernel
def next_step(s, w, p, legal, n):
    """Return the next step of the best play of `p`."""
    action = _next_lay(s, w, p) if s.num_laid > 0 else _first_steps(s, w, p)
    return action if action != _NO_ACTION and _is_open(s, action) else _give_up(s, legal, n)


@kernel
def set_position(s, p, objective):
    """Fill `p`, a record of POSITION, with the state at the start of the turn of the player to act."""
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
    p.need = 1


@kernel
def _first_steps(s, w, p):
    """Return the action for the next set to take apart, else for the first meld to lay; _NO_ACTION without a play."""
    if solver.playable_play(w, p) <= 0:
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
    """Return whether the plan takes apart all sets that have been taken apart."""
    for k in range(MAX_MELDS):
        if s.taken[k] and _num_taken(s, s.sets[k]) > _num_planned(p, np.int64(s.sets[k])):
            return False
    return True


@kernel
def _num_taken(s, number):
    """Return how many sets of a number have been taken apart."""
    taken = np.int64(0)
    for k in range(MAX_MELDS):
        if s.taken[k] and s.sets[k] == number:
            taken += 1
    return taken


@kernel
def _num_planned(p, number):
    """Return how many sets of a number the plan takes apart."""
    planned = np.int64(0)
    for k in range(p.num_melds):
        if not p.kept[k] and p.melds[k] == number:
            planned += 1
    return planned


@kernel
def _next_lay(s, w, p):
    """Return the action for the next meld to lay, or COMMIT; _NO_ACTION if the melds laid do not fit the plan."""
    _keep_what_was_not_taken(s, p)
    if solver.playable_play(w, p) <= 0 or s.num_laid > w.num_melds or not _fits_plan(s, p):
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
def _is_open(s, action):
    """Return whether a step of the plan can still be made; the steps already made in the turn may rule it out."""
    if action >= LAY_0:
        return explain_lay(s, action - LAY_0) == 0
    return action == COMMIT or explain_take(s, action - TAKE_0) == 0


@kernel
def _give_up(s, legal, n):
    """Draw or pass, else commit, else make any step: with exact steps every one leads to a play."""
    if not is_building(s):
        for idle in (np.int64(DRAW), np.int64(PASS)):
            if explain_illegal(s, idle) == 0:
                return idle
    if n == 0:
        n = legal_actions(s, legal)
    if is_building(s) and n > 1 and legal[1] == COMMIT:
        return np.int64(COMMIT)
    return np.int64(legal[0])


# ---------------------------------------------------------------------------------------------------------------
# Sampling the racks of opponents


@kernel
def sample_belief(s, player, seed):
    """Re-deal what `player` cannot know, weighted towards the racks of opponents that play like the planner.

    An opponent that has had a turn could not go out, or could not open if it has not opened. If a sampled rack could,
    the tiles of that play are exchanged for tiles of the pool. Only the current table is considered, so this is not an
    exact posterior.
    """
    determinize(s, player, seed)
    if s.num_dealt == s.num_tiles:
        return
    to_act = s.current_player
    w, p = new_work(), new_position()
    for other in range(s.rules.num_players):
        if other != player and s.active[other]:
            s.current_player = other
            for _ in range(_MOST_CHANGES):
                set_position(s, p, problem.TILES_FIRST)
                if waits(s, w, p) or solver.playable_play(w, p) <= 0:
                    break
                _exchange(s, other, w, p)
    s.current_player = to_act


@kernel
def _exchange(s, player, w, p):
    """Exchange the rack tiles of a play for tiles of the pool, which must not be empty."""
    size = np.int64(s.num_tiles - s.num_dealt)
    for tile in range(NUM_TYPES):
        p.rack[tile] = 0
    for k in range(w.num_melds):
        for i in range(MELD_SIZE[w.melds[k]]):
            p.rack[MELD_FACES[w.melds[k], i]] += 1
    for k in range(p.num_melds):
        for i in range(0 if p.kept[k] else MELD_SIZE[p.melds[k]]):
            p.rack[MELD_FACES[p.melds[k], i]] -= 1
    for tile in range(NUM_TYPES):
        for _ in range(p.rack[tile]):
            place = s.num_dealt + random_below(s.rng, size)
            s.hands[player, tile] -= 1
            s.hands[player, s.deck[place]] += 1
            s.deck[place] = tile
