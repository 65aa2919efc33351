"""The steps of a turn: which of them are open, in the loose and in the exact sense (rules.md 8)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.rummikub.actions import (
    JOKER_IN_OPENING,
    JOKER_NOT_REPLACED,
    LAY_0,
    LOOSE_TILES,
    NO_RACK_TILE,
    NO_SUCH_SET,
    NOT_IN_GAME,
    NOT_OPEN,
    OPENING_TOO_LOW,
    OUT_OF_ORDER,
    TAKE_APART_FIRST,
    TILES_MISSING,
    TWIN_FIRST,
    WAS_TAKEN_APART,
)
from cardenvs.games.rummikub.catalogue import (
    MELD_EITHER,
    MELD_FACES,
    MELD_MEANINGS,
    MELD_NATURALS,
    MELD_NUM_JOKERS,
    MELD_SIZE,
    MELD_TYPES,
    NATURAL_MELDS,
    NO_TILE,
    NUM_MELDS,
)
from cardenvs.games.rummikub.completion import can_complete, mark_next, prepare
from cardenvs.games.rummikub.ruleset import FREE, LOCKED, RETRIEVE
from cardenvs.games.rummikub.solver import MAX_MELDS, integers
from cardenvs.games.rummikub.state import NO_MELD, NO_SLOT
from cardenvs.games.rummikub.tiles import JOKER, MOST_JOKERS, NUM_COLOURS, NUM_NATURALS, NUM_TYPES, NUM_VALUES

_ROWS = NUM_VALUES + 3

# What a turn is built from at a moment.
PARTS = integers(
    [
        ("loose", (NUM_TYPES,)),  # must be laid
        ("rack", (NUM_TYPES,)),  # may be laid
        ("fixed", (NUM_NATURALS,)),  # natural tiles of the sets that stay and of the melds laid
        ("num_jokers",),  # in the sets taken apart
        ("meaning", (MOST_JOKERS,)),  # what they stood for
        ("either", (MOST_JOKERS,)),  # the other tile that frees one (5.3), or NO_TILE
        ("laid_meaning", (NUM_NATURALS,)),  # how often jokers in the melds laid stand for a type
    ]
)


@kernel
def is_building(s):
    """Whether a step of the turn has been made."""
    return s.last_taken != NO_MELD or s.num_laid > 0


@kernel
def was_taken(s, number):
    """Whether a set of this number has been taken apart in the turn."""
    if s.last_taken != NO_MELD:
        for k in range(MAX_MELDS):
            if s.taken[k] and s.sets[k] == number:
                return True
    return False


# ---------------------------------------------------------------------------------------------------------------
# What is there


@kernel
def gather(s, parts, first_loose, taken, twin):
    """Fill `parts` as if all sets of a number from `first_loose` on, and two more, were taken apart.

    Args:
        s: the record.
        parts: record of PARTS.
        first_loose: a number of the catalogue; NUM_MELDS takes nothing more apart.
        taken, twin: slots, or NO_SLOT.
    """
    player = np.int64(s.current_player)
    for tile in range(NUM_TYPES):
        parts.loose[tile] = s.loose[tile]
        parts.rack[tile] = s.hands[player, tile] - s.used[tile]
    for tile in range(NUM_NATURALS):
        parts.fixed[tile] = 0
        parts.laid_meaning[tile] = 0
    parts.num_jokers = 0
    if not s.opened[player]:
        if not s.rules.initial_meld_allow_joker:
            parts.rack[JOKER] = 0
        return
    for k in range(MAX_MELDS):
        number = np.int64(s.sets[k])
        if number == NO_MELD:
            continue
        opens = not s.taken[k] and (number >= first_loose or k in (taken, twin))
        for i in range(MELD_SIZE[number]):
            face = MELD_FACES[number, i]
            if opens:
                parts.loose[face] += 1
            elif not s.taken[k] and face != JOKER:
                parts.fixed[face] += 1
            if face == JOKER and (opens or s.taken[k]):
                parts.meaning[parts.num_jokers] = MELD_TYPES[number, i]
                parts.either[parts.num_jokers] = MELD_EITHER[number]
                parts.num_jokers += 1
    for k in range(s.num_laid):
        for i in range(MELD_SIZE[s.laid[k]]):
            if MELD_FACES[s.laid[k], i] == JOKER:
                parts.laid_meaning[MELD_TYPES[s.laid[k], i]] += 1
            else:
                parts.fixed[MELD_FACES[s.laid[k], i]] += 1


# ---------------------------------------------------------------------------------------------------------------
# The joker rule


@kernel
def set_problem(s, parts, w, first, second):
    """Set the completion problem in which the jokers taken are kept (0), freed (1), or freed by the other tile (2).

    Returns:
        Whether the joker rule and the tiles at hand have that way.
    """
    if (parts.num_jokers < 2 and second > 0) or (parts.num_jokers < 1 and first > 0):
        return False
    for k in range(parts.num_jokers):
        if not _has_way(s, parts, k, first if k == 0 else second):
            return False
    for c in range(NUM_COLOURS):
        for v in range(_ROWS):
            w.have[c, v] = 0
            w.pinned[c, v] = 0
    for tile in range(NUM_NATURALS):
        c, v = tile // NUM_VALUES, tile % NUM_VALUES + 1
        w.loose[c, v] = parts.loose[tile]
        w.need[c, v] = parts.loose[tile]
        w.have[c, v] = parts.loose[tile] + parts.rack[tile]
    num_pinned = np.int64(0)
    for k in range(parts.num_jokers):
        if (first if k == 0 else second) == 0:
            num_pinned += _pin(parts, w, k, first)
        elif s.rules.joker_rule == RETRIEVE and not _require_replacement(s, parts, w, k, first, second):
            return False
    w.jokers = parts.loose[JOKER] + parts.rack[JOKER] - num_pinned
    w.must_jokers = max(0, parts.loose[JOKER] - num_pinned)
    return w.jokers >= 0


@kernel
def _has_way(s, parts, k, way):
    """Whether the joker rule knows this way of treating joker k."""
    if s.rules.joker_rule == FREE:
        return way == 1
    if s.rules.joker_rule == LOCKED:
        return way == 0
    return way < 2 or (parts.either[k] != NO_TILE and not s.rules.joker_group3_needs_both)


@kernel
def _pin(parts, w, k, first):
    """Let a joker be laid with the meaning of joker k, unless one has been; return how many that are, 0 or 1."""
    tile = parts.meaning[k]
    same = 2 if k == 1 and first == 0 and parts.meaning[0] == tile else 1
    if parts.laid_meaning[tile] >= same:
        return 0
    w.pinned[tile // NUM_VALUES, tile % NUM_VALUES + 1] += 1
    return 1


@kernel
def _require_replacement(s, parts, w, k, first, second):
    """Let what frees joker k lie on the new table, for each joker a tile of its own (5.2, 5.3); return if it can."""
    way = first if k == 0 else second
    both = s.rules.joker_group3_needs_both and parts.either[k] != NO_TILE
    if both and not _require_tile(s, parts, w, parts.either[k], first, second):
        return False
    return _require_tile(s, parts, w, parts.either[k] if way == 2 else parts.meaning[k], first, second)


@kernel
def _require_tile(s, parts, w, tile, first, second):
    """Require as many natural tiles of one type as the freed jokers need together; return whether there are."""
    lacking = -parts.fixed[tile]
    for k in range(parts.num_jokers):
        way = first if k == 0 else second
        by_either = way == 2 or (way == 1 and s.rules.joker_group3_needs_both)
        if (way == 1 and parts.meaning[k] == tile) or (by_either and parts.either[k] == tile):
            lacking += 1
    c, v = tile // NUM_VALUES, tile % NUM_VALUES + 1
    w.need[c, v] = max(w.need[c, v], lacking)
    return w.need[c, v] <= w.have[c, v]


@kernel
def keeps_joker_rule(s, parts, w):
    """Whether what has been built keeps the joker rule, nothing being laid any more (5). `parts` is of this moment."""
    for tile in range(NUM_TYPES):
        parts.rack[tile] = 0
    for way in range(9):  # noqa: SIM110  kernels have no generators
        if set_problem(s, parts, w, way % 3, way // 3):
            return True
    return False


# ---------------------------------------------------------------------------------------------------------------
# The exact sense


@kernel
def _begin(s, w):
    """Set what the problems of a moment have in common."""
    w.colors = s.rules.colors
    w.values = s.rules.values
    w.used = 0
    for tile in range(NUM_TYPES):
        if s.used[tile] > 0:
            w.used = 1
    w.least = 0
    if not s.opened[s.current_player]:
        w.least = max(0, s.rules.initial_meld_min - s.points)
    w.floor = s.laid[s.num_laid - 1] if s.num_laid > 0 else 0
    w.num_banned = 0
    for k in range(MAX_MELDS):
        if s.taken[k]:
            w.banned[w.num_banned] = s.sets[k]
            w.num_banned += 1


@kernel
def mark_lays(s, parts, w):
    """Mark in w.marks the melds that can be laid next so that the turn can be completed."""
    for number in range(NUM_MELDS):
        w.marks[number] = 0
    _begin(s, w)
    gather(s, parts, NUM_MELDS, NO_SLOT, NO_SLOT)
    for way in range(9):
        if set_problem(s, parts, w, way % 3, way // 3):
            prepare(w)
            mark_next(w)


@kernel
def can_take(s, parts, w, k):
    """Whether the turn can be completed after set k, which `explain_take` allows, is taken apart.

    The sets of lower numbers stay, those of higher ones may be taken apart later. A twin of set k either stays for
    good, or is taken apart next.
    """
    _begin(s, w)
    w.banned[w.num_banned] = s.sets[k]
    w.num_banned += 1
    if _completes(s, parts, w, k, NUM_MELDS, NO_SLOT) or _completes(s, parts, w, k, s.sets[k] + 1, NO_SLOT):
        return True
    for twin in range(k + 1, MAX_MELDS):
        if s.sets[twin] == s.sets[k] and not s.taken[twin]:
            return _completes(s, parts, w, k, s.sets[k] + 1, twin)
    return False


@kernel
def _completes(s, parts, w, k, first_loose, twin):
    """Whether there is a completion when set k, `twin`, and all sets of a number from `first_loose` on lie loose."""
    gather(s, parts, np.int64(first_loose), k, twin)
    for way in range(9):
        if set_problem(s, parts, w, way % 3, way // 3):
            prepare(w)
            if can_complete(w):
                return True
    return False


@kernel
def is_able_to_play(s, parts, w):
    """Whether the player to act, at the beginning of the turn, has a legal PLAY (3.3, 3.4)."""
    mark_lays(s, parts, w)
    for number in range(NUM_MELDS):
        if w.marks[number]:
            return True
    for k in range(MAX_MELDS):  # noqa: SIM110  kernels have no generators
        if explain_take(s, k) == 0 and can_take(s, parts, w, k):
            return True
    return False


# ---------------------------------------------------------------------------------------------------------------
# The loose sense


@kernel
def list_lays(s, out, n):
    """Write LAY_0 + m for each meld m whose tiles are at hand to `out`, ascending from place n; return the next place.

    Melds before the last one laid, and those taken apart, are left out.
    """
    player = np.int64(s.current_player)
    jokers = np.int64(0)
    if s.opened[player] or s.rules.initial_meld_allow_joker:
        jokers = np.int64(s.loose[JOKER] + s.hands[player, JOKER] - s.used[JOKER])
    floor = np.int64(s.laid[s.num_laid - 1]) if s.num_laid > 0 else np.int64(0)
    have = np.int64(0)  # the natural types at hand, as a bit set
    for tile in range(NUM_NATURALS):
        if s.loose[tile] + s.hands[player, tile] > s.used[tile]:
            have |= 1 << tile
    in_game = np.int64(0)  # what a joker may stand for
    for c in range(s.rules.colors):
        in_game |= (1 << s.rules.values) - 1 << c * NUM_VALUES
    for k in range(NUM_MELDS if jokers else NATURAL_MELDS.shape[0]):
        number = np.int64(k) if jokers else NATURAL_MELDS[k]
        fits = MELD_NATURALS[number] & ~have | MELD_MEANINGS[number] & ~in_game
        if fits == 0 and number >= floor and MELD_NUM_JOKERS[number] <= jokers and not was_taken(s, number):
            out[n] = LAY_0 + number
            n += 1
    return n


@kernel
def explain_lay(s, number):
    """Why a meld cannot be laid next in the loose sense, or 0."""
    player = np.int64(s.current_player)
    if s.num_laid > 0 and number < s.laid[s.num_laid - 1]:
        return OUT_OF_ORDER
    if was_taken(s, number):
        return WAS_TAKEN_APART
    jokers = MELD_NUM_JOKERS[number]
    if jokers > 0 and not s.opened[player] and not s.rules.initial_meld_allow_joker:
        return JOKER_IN_OPENING
    if jokers > s.loose[JOKER] + s.hands[player, JOKER] - s.used[JOKER]:
        return TILES_MISSING
    for i in range(MELD_SIZE[number]):
        face, meaning = MELD_FACES[number, i], MELD_TYPES[number, i]
        if face != JOKER and s.loose[face] + s.hands[player, face] - s.used[face] <= 0:
            return TILES_MISSING
        if meaning // NUM_VALUES >= s.rules.colors or meaning % NUM_VALUES >= s.rules.values:
            return NOT_IN_GAME
    return 0


@kernel
def explain_take(s, k):
    """Why set k cannot be taken apart next in the loose sense, or 0."""
    if s.sets[k] == NO_MELD:
        return NO_SUCH_SET
    if not s.opened[s.current_player]:
        return NOT_OPEN
    if s.num_laid > 0:
        return TAKE_APART_FIRST
    if s.sets[k] < s.last_taken or s.taken[k]:
        return OUT_OF_ORDER
    for j in range(k):
        if s.sets[j] == s.sets[k] and not s.taken[j]:
            return TWIN_FIRST
    return 0


@kernel
def explain_commit(s, parts, w):
    """Why what has been built is no legal PLAY, or 0 (3.2)."""
    rack_tiles, loose = np.int64(0), np.int64(0)
    for tile in range(NUM_TYPES):
        rack_tiles += s.used[tile]
        loose += s.loose[tile]
    if loose > 0:
        return LOOSE_TILES
    if rack_tiles == 0:
        return NO_RACK_TILE
    if not s.opened[s.current_player]:
        return OPENING_TOO_LOW if s.points < s.rules.initial_meld_min else 0
    gather(s, parts, NUM_MELDS, NO_SLOT, NO_SLOT)
    return 0 if parts.num_jokers == 0 or keeps_joker_rule(s, parts, w) else JOKER_NOT_REPLACED
