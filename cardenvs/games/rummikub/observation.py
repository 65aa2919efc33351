"""The observation of Rummikub."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.rummikub import tiles
from cardenvs.games.rummikub.catalogue import (
    LONGEST,
    MELD_FACES,
    MELD_IS_GROUP,
    MELD_SIZE,
    MELD_TYPES,
    NUM_MELDS,
)
from cardenvs.games.rummikub.ruleset import MAX_PLAYERS
from cardenvs.games.rummikub.state import NO_MELD, PHASES, STATE
from cardenvs.games.rummikub.steps import is_building
from cardenvs.games.rummikub.tiles import MAX_MELDS
from cardenvs.kits.sections import Observation, entries, number, one_hot, per_seat, steps, together, written

_SLOT_LABELS = (
    "run",
    "group",
    *(f"has {c}" for c in tiles.COLOURS),
    "lowest",
    "tiles",
    *(f"joker {k + 1}" for k in range(5)),
)
_SLOT = len(_SLOT_LABELS)  # entries that describe one set
_POOL_STEPS = np.arange(1, tiles.MOST_TILES, 3)
_RACK_STEPS = np.array((*range(1, 11), 12, 14, 16, 18, 20, 24, 28, 32))
_POINT_STEPS = np.array((1, 10, 15, 20, 25, 30, 40, 50))


# The entries that describe a meld.
_DESCRIPTION = np.zeros((NUM_MELDS, _SLOT), np.int8)
for _m in range(NUM_MELDS):
    _types, _faces = MELD_TYPES[_m, : MELD_SIZE[_m]], MELD_FACES[_m, : MELD_SIZE[_m]]
    _DESCRIPTION[_m, int(MELD_IS_GROUP[_m])] = 1
    _DESCRIPTION[_m, 2 + _types // tiles.NUM_VALUES] = 1
    _DESCRIPTION[_m, 2 + tiles.NUM_COLOURS] = _types[0] % tiles.NUM_VALUES + 1
    _DESCRIPTION[_m, 3 + tiles.NUM_COLOURS] = MELD_SIZE[_m]
    _DESCRIPTION[_m, 4 + tiles.NUM_COLOURS : 4 + tiles.NUM_COLOURS + MELD_SIZE[_m]] = _faces == tiles.JOKER
assert _SLOT == 4 + tiles.NUM_COLOURS + LONGEST


@kernel(inline=True)
def _describe(number, start, out):
    for k in range(_SLOT):
        out[start + np.uint64(k)] = _DESCRIPTION[number, k]


@kernel(inline=True)
def _builds(s, p):
    return p == s.current_player


@kernel(inline=True)
def _write_rack(s, player, out, own_rack):
    used = np.int8(_builds(s, player))
    for k in range(tiles.NUM_TYPES):
        tile = np.uint64(k)  # unsigned, so that Numba skips the check for negative indices
        out[own_rack + tile] = s.hands[player, tile] - used * s.used[tile]


@kernel(inline=True)
def _write_table(s, player, out, table, not_seen, sets):
    for k in range(MAX_MELDS):
        if s.sets[k] != NO_MELD:
            meld = np.uint64(s.sets[k])
            _describe(meld, sets + np.uint64(k * _SLOT), out)
            for i in range(MELD_SIZE[meld]):
                out[table + np.uint64(MELD_FACES[meld, np.uint64(i)])] += 1
    for c in range(s.rules.colors):
        for v in range(s.rules.values):
            tile = np.uint64(c * tiles.NUM_VALUES + v)
            out[not_seen + tile] = s.rules.copies - out[table + tile] - s.hands[player, tile]
    out[not_seen + tiles.JOKER] = s.rules.jokers - out[table + tiles.JOKER] - s.hands[player, tiles.JOKER]


@kernel(inline=True)
def _write_turn(s, player, out, taken_apart, loose, laid):
    if _builds(s, player):
        for k in range(tiles.NUM_TYPES):
            out[loose + np.uint64(k)] = s.loose[k]
        for k in range(MAX_MELDS):
            out[taken_apart + np.uint64(k)] = s.taken[k]
        for k in range(s.num_laid):
            _describe(np.uint64(s.laid[k]), laid + np.uint64(k * _SLOT), out)


@kernel(inline=True)
def _points_laid(s, p):
    return s.points if _builds(s, p) else 0


@kernel(inline=True)
def _phase(s, p):
    if not _builds(s, p):
        return -1
    return 2 if s.num_laid > 0 else 1 if is_building(s) else 0


@kernel(inline=True)
def _pool(s, p):
    return s.num_tiles - s.num_dealt


@kernel(inline=True)
def _has_passed(s, p, k):
    return k < s.num_passes


def _tiles(name, doc):
    return written(name, tiles.TILE_LABELS, doc, high=tiles.MOST_COPIES)


def _sets(name, doc):
    doc = (
        f"{doc}, {_SLOT} entries each: is a run, is a group, has R B K O, lowest value, number of tiles, "
        "whether the first to fifth tile is a joker; zeros where there is none"
    )
    labels = tuple(f"{k + 1} {label}" for k in range(MAX_MELDS) for label in _SLOT_LABELS)
    return written(name, labels, doc, high=tiles.NUM_VALUES)


def _by_seat(name, doc, source):
    return per_seat(number(name, doc, source), doc="observer first", room=MAX_PLAYERS)


OBSERVATION = Observation(
    STATE,
    *together(_write_rack, _tiles("own_rack", "tiles in the own rack, without those laid in this turn")),
    *together(
        _write_table,
        _tiles("table", "tiles on the table as committed"),
        _tiles("not_seen", "tiles that are neither on the table nor the observer's"),
        _sets("sets", "the committed table, set by set, as the actions count them"),
    ),
    *together(
        _write_turn,
        written("taken_apart", None, "own turn: 1 for each set taken apart", size=MAX_MELDS),
        _tiles("loose", "own turn: loose tiles"),
        _sets("laid", "own turn: the melds laid, in order"),
    ),
    steps("points_laid", "own turn: value of the melds laid", _POINT_STEPS, _points_laid),
    one_hot("phase", PHASES, "own turn, one-hot: nothing done yet, taking apart, laying", _phase),
    steps("pool", "tiles in the pool", _POOL_STEPS, _pool),
    per_seat(steps("rack_size", "tiles in the rack of seat {}, the observer being 0", _RACK_STEPS, "rack_sizes"),
             apart=True, room=MAX_PLAYERS),
    _by_seat("opened", "1 for each player who has opened", "opened"),
    _by_seat("in_game", "1 for each player who is in the game", "active"),
    _by_seat("to_act", "one-hot player to act", _builds),
    entries("passes", None, "1 for each pass in a row", _has_passed, size=MAX_PLAYERS),
)  # fmt: skip
layout, observe = OBSERVATION.layout, OBSERVATION.observe
