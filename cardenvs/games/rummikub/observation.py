"""The observation of Rummikub."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.core.seats import wrap
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
from cardenvs.games.rummikub.state import NO_MELD, PHASES
from cardenvs.games.rummikub.steps import is_building
from cardenvs.games.rummikub.tiles import MAX_MELDS

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


def _tiles(name, doc):
    return Section(name, tiles.NUM_TYPES, doc, high=tiles.MOST_COPIES, labels=tiles.TILE_LABELS)


def _thermometer(name, steps, doc):
    return Section(name, len(steps), f"{doc}: 1 for each step reached", labels=tuple(f">={step}" for step in steps))


def _sets(name, doc):
    labels = tuple(f"{k + 1} {label}" for k in range(MAX_MELDS) for label in _SLOT_LABELS)
    return Section(
        name, MAX_MELDS * _SLOT,
        f"{doc}, {_SLOT} entries each: is a run, is a group, has R B K O, lowest value, number of tiles, "
        "whether the first to fifth tile is a joker; zeros where there is none",
        high=tiles.NUM_VALUES, labels=labels,
    )  # fmt: skip


LAYOUT = Layout(
    (
        _tiles("own_rack", "tiles in the own rack, without those laid in this turn"),
        _tiles("table", "tiles on the table as committed"),
        _tiles("not_seen", "tiles that are neither on the table nor the observer's"),
        _sets("sets", "the committed table, set by set, as the actions count them"),
        Section("taken_apart", MAX_MELDS, "own turn: 1 for each set taken apart"),
        _tiles("loose", "own turn: loose tiles"),
        _sets("laid", "own turn: the melds laid, in order"),
        _thermometer("points_laid", _POINT_STEPS, "own turn: value of the melds laid"),
        Section("phase", len(PHASES), "own turn, one-hot: nothing done yet, taking apart, laying", labels=PHASES),
        _thermometer("pool", _POOL_STEPS, "tiles in the pool"),
        *(
            _thermometer(f"rack_size_{seat}", _RACK_STEPS, f"tiles in the rack of seat {seat}, the observer being 0")
            for seat in range(MAX_PLAYERS)
        ),
        Section("opened", MAX_PLAYERS, "1 for each player who has opened, observer first"),
        Section("in_game", MAX_PLAYERS, "1 for each player who is in the game, observer first"),
        Section("to_act", MAX_PLAYERS, "one-hot player to act, observer first"),
        Section("passes", MAX_PLAYERS, "1 for each pass in a row"),
    )
)
(
    _OWN_RACK, _TABLE, _NOT_SEEN, _SETS, _TAKEN_APART, _LOOSE, _LAID, _POINTS_LAID, _PHASE, _POOL,
    _RACK_SIZE, *_, _OPENED, _IN_GAME, _TO_ACT, _PASSES,
) = LAYOUT.starts  # fmt: skip

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


def layout(options):
    """Return the observation sections, int8, the same for all options."""
    return LAYOUT


@kernel
def observe(s, player, out):
    """Write the observation of `player` into `out`, int8 (LAYOUT.size,): own rack, table, own turn."""
    out[:] = 0
    builds = s.current_player == player
    for tile in range(tiles.NUM_TYPES):
        out[_OWN_RACK + tile] = s.hands[player, tile] - (s.used[tile] if builds else 0)
    for k in range(MAX_MELDS):
        if s.sets[k] != NO_MELD:
            _describe(np.int64(s.sets[k]), _SETS + k * _SLOT, out)
            for i in range(MELD_SIZE[s.sets[k]]):
                out[_TABLE + MELD_FACES[s.sets[k], i]] += 1
    _observe_not_seen(s, player, out)
    if builds:
        _observe_turn(s, out)
    _observe_players(s, player, out)
    _mark_steps(np.int64(s.num_tiles - s.num_dealt), _POOL_STEPS, _POOL, out)
    for k in range(min(s.num_passes, MAX_PLAYERS)):
        out[_PASSES + k] = 1


@kernel
def _observe_not_seen(s, player, out):
    """Write the tiles of the game that are neither on the table nor in the observer's rack."""
    for c in range(s.rules.colors):
        for v in range(s.rules.values):
            tile = c * tiles.NUM_VALUES + v
            out[_NOT_SEEN + tile] = s.rules.copies - out[_TABLE + tile] - s.hands[player, tile]
    out[_NOT_SEEN + tiles.JOKER] = s.rules.jokers - out[_TABLE + tiles.JOKER] - s.hands[player, tiles.JOKER]


@kernel
def _observe_turn(s, out):
    """Write the turn that the player to act is building."""
    for tile in range(tiles.NUM_TYPES):
        out[_LOOSE + tile] = s.loose[tile]
    for k in range(MAX_MELDS):
        out[_TAKEN_APART + k] = s.taken[k]
    for k in range(s.num_laid):
        _describe(np.int64(s.laid[k]), _LAID + k * _SLOT, out)
    _mark_steps(np.int64(s.points), _POINT_STEPS, _POINTS_LAID, out)
    out[_PHASE + (2 if s.num_laid > 0 else 1 if is_building(s) else 0)] = 1


@kernel
def _observe_players(s, player, out):
    num_players = np.int64(s.rules.num_players)
    for seat in range(num_players):
        p = wrap(player + seat, num_players)
        _mark_steps(np.int64(s.rack_sizes[p]), _RACK_STEPS, _RACK_SIZE + seat * _RACK_STEPS.shape[0], out)
        out[_OPENED + seat] = s.opened[p]
        out[_IN_GAME + seat] = s.active[p]
        out[_TO_ACT + seat] = p == s.current_player


@kernel
def _describe(number, start, out):
    for k in range(_SLOT):
        out[start + k] = _DESCRIPTION[number, k]


@kernel
def _mark_steps(quantity, steps, start, out):
    """Mark the steps of a thermometer that `quantity` has reached, in entries that are 0."""
    k = 0
    while k < steps.shape[0] and quantity >= steps[k]:
        out[start + k] = 1
        k += 1
