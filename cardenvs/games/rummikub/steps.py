"""Legal steps of a turn, exact and loose (rules.md 8)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.rummikub import actions, catalogue
from cardenvs.games.rummikub.completion import has_play, mark
from cardenvs.games.rummikub.joker_rule import are_replaced
from cardenvs.games.rummikub.state import NO_MELD
from cardenvs.games.rummikub.tiles import JOKER, MAX_MELDS, NUM_COLOURS, NUM_NATURALS, NUM_TYPES, NUM_VALUES
from cardenvs.games.rummikub.turn import TO_LAY, TO_TAKE, look_ahead

_NUM_BITS = np.array([places.bit_count() for places in range(1 << catalogue.LONGEST)])
_LOWEST = np.int64(sum(1 << c * NUM_VALUES for c in range(NUM_COLOURS)))  # the types of value 1, a bit set
_GROUP_COLOURS = np.array([0b0111, 0b1011, 0b1101, 0b1110, 0b1111])  # in the order of the catalogue


@kernel
def is_building(s):
    """Return whether a step of the turn has been made."""
    return s.last_taken != NO_MELD or s.num_laid > 0


@kernel
def was_taken(s, number):
    """Return whether a set of this number has been taken apart in the turn."""
    if number <= s.last_taken:
        for k in range(MAX_MELDS):
            if s.taken[k] and s.sets[k] == number:
                return True
    return False


# ---------------------------------------------------------------------------------------------------------------
# Exact steps


@kernel
def mark_steps(s, w, goal):
    """Mark in w.marks the melds to lay (TO_LAY) or sets to take apart (TO_TAKE) next in a turn that can be completed.

    Sets with lower numbers than the last one taken apart stay; others may be taken apart later. Among equal sets,
    `explain_take` says which is next.
    """
    set_problem(s, w, goal)
    mark(w)


@kernel
def is_able_to_play(s, w):
    """Return whether the player to act, at the start of a turn, has a legal PLAY (3.3, 3.4)."""
    set_problem(s, w, TO_TAKE)
    return has_play(w)


@kernel
def set_problem(s, w, goal):
    """Fill `w`, a record of TURN, with the current turn; see completion.py."""
    player = np.int64(s.current_player)
    w.goal = goal
    w.colors = s.rules.colors
    w.values = s.rules.values
    w.joker_rule = s.rules.joker_rule
    w.needs_both = s.rules.joker_group3_needs_both
    w.floor = s.laid[s.num_laid - 1] if s.num_laid > 0 else 0
    w.least = 0 if s.opened[player] else max(0, s.rules.initial_meld_min - s.points)
    _set_tiles(s, w, player)
    w.num_stay = 0
    w.num_old = 0
    w.last_banned = -1
    for number in range(catalogue.NUM_MELDS):
        w.banned[number] = 0
    if s.opened[player]:
        for k in range(MAX_MELDS):
            if s.sets[k] != NO_MELD:
                _set_set(s, w, k)
        for k in range(s.num_laid):
            _set_fixed(w, np.int64(s.laid[k]))
    elif not s.rules.initial_meld_allow_joker:
        w.jokers = 0


@kernel
def _set_tiles(s, w, player):
    """Fill in the loose tiles and the rack tiles."""
    for c in range(NUM_COLOURS):
        for v in range(w.have.shape[1]):
            w.have[c, v] = 0
            w.loose[c, v] = 0
    w.used = 0
    for tile in range(NUM_NATURALS):
        c, v = tile // NUM_VALUES, tile % NUM_VALUES + 1
        w.loose[c, v] = s.loose[tile]
        w.have[c, v] = s.loose[tile] + s.hands[player, tile] - s.used[tile]
        w.fixed[tile] = 0
        w.fixed_jokers[tile] = 0
        if s.used[tile] > 0:
            w.used = 1
    if s.used[JOKER] > 0:
        w.used = 1
    w.must_jokers = s.loose[JOKER]
    w.jokers = s.loose[JOKER] + s.hands[player, JOKER] - s.used[JOKER]


@kernel
def _set_set(s, w, k):
    """Fill in set `k` of the table: taken apart, may be taken apart (TO_TAKE), or fixed."""
    number = np.int64(s.sets[k])
    _set_old_jokers(w, number)
    if s.taken[k]:
        w.banned[number] = 1
        w.last_banned = max(w.last_banned, number)
    elif w.goal == TO_TAKE and number >= s.last_taken:
        place = w.num_stay
        while place > 0 and w.stay[place - 1] > number:
            w.stay[place] = w.stay[place - 1]
            place -= 1
        w.stay[place] = number
        w.num_stay += 1
        for i in range(catalogue.MELD_SIZE[number]):
            face = catalogue.MELD_FACES[number, i]
            if face == JOKER:
                w.jokers += 1
                w.must_jokers += 1
            else:
                w.loose[face // NUM_VALUES, face % NUM_VALUES + 1] += 1
                w.have[face // NUM_VALUES, face % NUM_VALUES + 1] += 1
    else:
        _set_fixed(w, number)


@kernel
def _set_old_jokers(w, number):
    """Record the tiles that the jokers of a set represented."""
    for i in range(catalogue.MELD_SIZE[number]):
        if catalogue.MELD_FACES[number, i] == JOKER:
            w.meaning[w.num_old] = catalogue.MELD_TYPES[number, i]
            w.either[w.num_old] = catalogue.other_missing(number, w.colors)
            w.num_old += 1


@kernel
def _set_fixed(w, number):
    """Record the tiles of a meld that stays on the table."""
    for i in range(catalogue.MELD_SIZE[number]):
        face = catalogue.MELD_FACES[number, i]
        if face != JOKER:
            w.fixed[face] += 1
        else:
            w.fixed_jokers[catalogue.MELD_TYPES[number, i]] += 1


@kernel
def keeps_joker_rule(s, w):
    """Return whether the play obeys the joker rule as it stands, with no more melds laid (5)."""
    set_problem(s, w, TO_LAY)
    look_ahead(w)
    for v in range(1, w.values + 1):  # noqa: SIM110  kernels have no generators
        if not are_replaced(w, v, np.int64(0)):
            return False
    return True


# ---------------------------------------------------------------------------------------------------------------
# Loose steps


@kernel
def list_lays(s, out, n):
    """Write LAY_0 + m for each meld m whose tiles are at hand to `out`, ascending from index `n`.

    Melds before the last one laid, and melds taken apart in this turn, are left out.

    Returns:
        The next free index of `out`.
    """
    player = np.int64(s.current_player)
    jokers = np.int64(0)
    if s.opened[player] or s.rules.initial_meld_allow_joker:
        jokers = np.int64(s.loose[JOKER] + s.hands[player, JOKER] - s.used[JOKER])
    have = np.int64(0)  # the natural types at hand, as a bit set
    for tile in range(NUM_NATURALS):
        if s.loose[tile] + s.hands[player, tile] > s.used[tile]:
            have |= 1 << tile
    values = _worthwhile_values(have, jokers)
    for v in range(1, s.rules.values + 1):
        if values >> v - 1 & 1:
            n = _list_groups(s, have, jokers, v, out, n)
            for c in range(s.rules.colors):
                n = _list_runs(s, have, jokers, c, v, out, n)
    return n


@kernel
def _list_groups(s, have, jokers, v, out, n):
    """List the groups of value `v`, as `list_lays` does."""
    colours = np.int64(0)
    for c in range(s.rules.colors):
        colours |= (have >> c * NUM_VALUES + v - 1 & 1) << c
    for k in range(_GROUP_COLOURS.shape[0]):
        wanted = _GROUP_COLOURS[k]
        missing = wanted & ~colours
        if wanted < 1 << s.rules.colors and _NUM_BITS[missing] <= jokers:
            last = missing if _NUM_BITS[missing] == jokers else wanted
            for places in range(missing, last + 1):
                if places & missing == missing and places & wanted == places and _NUM_BITS[places] <= jokers:
                    n = _list_lay(s, catalogue.GROUP_NUMBER[v, wanted, places], out, n)
    return n


@kernel
def _list_runs(s, have, jokers, c, v, out, n):
    """List the runs of colour `c` that end at value `v`, as `list_lays` does."""
    for length in range(3, min(catalogue.LONGEST, v) + 1):
        missing = ~(have >> c * NUM_VALUES + v - length) & (1 << length) - 1
        if _NUM_BITS[missing] > jokers:
            break
        last = missing if _NUM_BITS[missing] == jokers else (np.int64(1) << length) - 1
        for places in range(missing, last + 1):
            if places & missing == missing and _NUM_BITS[places] <= jokers:
                n = _list_lay(s, catalogue.RUN_NUMBER[c, v, length, places], out, n)
    return n


@kernel
def _worthwhile_values(have, jokers):
    """Return the values at which a meld may end, as a bit set whose lowest bit is value 1.

    Args:
        have: natural types at hand, a bit set.
        jokers: number of jokers at hand.
    """
    below, two_below = have << 1 & ~_LOWEST, have << 2 & ~(_LOWEST | _LOWEST << 1)
    runs = _are_at_least(3 - jokers, have, below, two_below, np.int64(0)) & ~(_LOWEST | _LOWEST << 1)
    first, second, third, fourth = have, have >> NUM_VALUES, have >> 2 * NUM_VALUES, have >> 3 * NUM_VALUES
    found = _are_at_least(3 - jokers, first, second, third, fourth)
    for c in range(NUM_COLOURS):
        found |= runs >> c * NUM_VALUES
    return found & (1 << NUM_VALUES) - 1


@kernel
def _are_at_least(number, a, b, c, d):
    """Return the bits that are set in at least `number` of four bit sets; `number` is at most 3."""
    if number >= 3:
        return a & b & (c | d) | c & d & (a | b)
    if number == 2:
        return a & b | c & d | (a | b) & (c | d)
    return a | b | c | d if number == 1 else ~np.int64(0)


@kernel
def _list_lay(s, number, out, n):
    if (s.num_laid > 0 and number < s.laid[s.num_laid - 1]) or was_taken(s, number):
        return n
    out[n] = actions.LAY_0 + number
    return n + 1


@kernel
def explain_lay(s, number):
    """Return the code of why a meld cannot be laid next with loose steps, or 0."""
    player = np.int64(s.current_player)
    if s.num_laid > 0 and number < s.laid[s.num_laid - 1]:
        return actions.OUT_OF_ORDER
    if was_taken(s, number):
        return actions.WAS_TAKEN_APART
    jokers = catalogue.MELD_NUM_JOKERS[number]
    if jokers > 0 and not s.opened[player] and not s.rules.initial_meld_allow_joker:
        return actions.JOKER_IN_OPENING
    if jokers > s.loose[JOKER] + s.hands[player, JOKER] - s.used[JOKER]:
        return actions.TILES_MISSING
    for i in range(catalogue.MELD_SIZE[number]):
        face, meaning = catalogue.MELD_FACES[number, i], catalogue.MELD_TYPES[number, i]
        if face != JOKER and s.loose[face] + s.hands[player, face] - s.used[face] <= 0:
            return actions.TILES_MISSING
        if meaning // NUM_VALUES >= s.rules.colors or meaning % NUM_VALUES >= s.rules.values:
            return actions.NOT_IN_GAME
    return 0


@kernel
def explain_take(s, k):
    """Return the code of why set `k` cannot be taken apart next with loose steps, or 0."""
    if s.sets[k] == NO_MELD:
        return actions.NO_SUCH_SET
    if not s.opened[s.current_player]:
        return actions.NOT_OPEN
    if s.num_laid > 0:
        return actions.TAKE_APART_FIRST
    if s.sets[k] < s.last_taken or s.taken[k]:
        return actions.OUT_OF_ORDER
    for j in range(k):
        if s.sets[j] == s.sets[k] and not s.taken[j]:
            return actions.TWIN_FIRST
    return 0


@kernel
def explain_commit(s, w):
    """Return the code of why the steps so far are not a legal PLAY, or 0 (3.2)."""
    rack_tiles, loose = np.int64(0), np.int64(0)
    for tile in range(NUM_TYPES):
        rack_tiles += s.used[tile]
        loose += s.loose[tile]
    if loose > 0:
        return actions.LOOSE_TILES
    if rack_tiles == 0:
        return actions.NO_RACK_TILE
    if not s.opened[s.current_player]:
        return actions.OPENING_TOO_LOW if s.points < s.rules.initial_meld_min else 0
    return 0 if keeps_joker_rule(s, w) else actions.JOKER_NOT_REPLACED
