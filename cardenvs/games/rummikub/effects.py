"""Effects of Rummikub: the only kernels that move tiles. Each changes the record and logs the events."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.games.rummikub import past, table
from cardenvs.games.rummikub.catalogue import MELD_FACES, MELD_POINTS, MELD_SIZE
from cardenvs.games.rummikub.state import NO_MELD
from cardenvs.games.rummikub.tiles import MAX_MELDS, NUM_TYPES


@kernel
def deal_racks(s, log):
    """Deal a rack of shuffled tiles to each player; the rest is the pool (1.3)."""
    ev.log_create(log, table.NEW_POOL, table.POOL, s.num_tiles)
    s.num_dealt = 0
    for p in range(s.rules.num_players):
        for _ in range(s.rules.initial_hand_size):
            _take_from_pool(s, p, table.DEAL, log)


@kernel
def draw(s, player, log):
    """Let `player` draw the next tile; the others do not see it."""
    _take_from_pool(s, player, table.DRAW, log)
    s.num_passes = 0
    past.note_turn(s, player, past.DRAW)


@kernel
def _take_from_pool(s, player, kind, log):
    tile = np.int64(s.deck[s.num_dealt])
    s.num_dealt += 1
    s.hands[player, tile] += 1
    s.rack_sizes[player] += 1
    ev.log_move(log, kind, player, tile, table.POOL, table.HAND + player, 1 << player)


@kernel
def pass_turn(s, player, log):
    """Let `player` pass."""
    s.num_passes += 1
    ev.log_note(log, table.PASS, player, 0)
    past.note_turn(s, player, past.PASS)


@kernel
def _log_step(kind, player, value, log):
    """Log a step of a turn, which only the player who builds it sees."""
    ev.log_event(log, kind, player, ev.UNKNOWN, ev.NO_PLACE, ev.NO_PLACE, value, 1 << player, 1 << player)


@kernel
def step_take_apart(s, player, k, log):
    """Take set `k` apart, which makes its tiles loose."""
    s.taken[k] = 1
    s.last_taken = s.sets[k]
    for i in range(MELD_SIZE[s.sets[k]]):
        s.loose[MELD_FACES[s.sets[k], i]] += 1
    _log_step(table.STEP_TAKE_APART, player, k + 1, log)


@kernel
def step_lay(s, player, number, log):
    """Lay a meld with loose tiles where possible, else with rack tiles."""
    s.laid[s.num_laid] = number
    s.num_laid += 1
    s.points += MELD_POINTS[number]
    for i in range(MELD_SIZE[number]):
        face = MELD_FACES[number, i]
        if s.loose[face] > 0:
            s.loose[face] -= 1
        else:
            s.used[face] += 1
    _log_step(table.STEP_LAY, player, number + 1, log)


@kernel
def undo_steps(s, player, log):
    """Give up the play."""
    forget_turn(s)
    _log_step(table.STEP_UNDO, player, 0, log)


@kernel
def forget_turn(s):
    """Reset the turn: no set taken apart, no meld laid."""
    for k in range(MAX_MELDS):
        s.taken[k] = 0
        s.laid[k] = NO_MELD
    for tile in range(NUM_TYPES):
        s.loose[tile] = 0
        s.used[tile] = 0
    s.last_taken = NO_MELD
    s.num_laid = 0
    s.points = 0


@kernel
def commit(s, player, log):
    """Apply the play that has been built to the table, where everybody sees it."""
    for tile in range(NUM_TYPES):
        for _ in range(s.used[tile]):
            s.hands[player, tile] -= 1
            s.rack_sizes[player] -= 1
            ev.log_move(log, table.PUT_DOWN, player, tile, table.HAND + player, table.ON_TABLE, ev.EVERYBODY)
    num_changes = np.int64(s.num_laid)
    for k in range(MAX_MELDS):
        if s.taken[k]:
            _change_set(s, player, k, NO_MELD, table.TAKE_APART, log)
            num_changes += 1
    k = 0
    for i in range(s.num_laid):
        while s.sets[k] != NO_MELD:
            k += 1
        _change_set(s, player, k, np.int64(s.laid[i]), table.LAY, log)
    past.note_num_changes(s, num_changes)
    past.note_turn(s, player, past.PLAY if s.opened[player] else past.OPENING)
    s.num_passes = 0
    forget_turn(s)
    if not s.opened[player]:
        set_opened(s, player, log)


@kernel
def _change_set(s, player, k, number, kind, log):
    past.note_change(s, k, np.int64(s.sets[k]))
    s.sets[k] = number
    ev.log_set(log, kind, player, table.SET + k, number + 1)


@kernel
def set_opened(s, player, log):
    """Mark `player` as having opened."""
    s.opened[player] = 1
    ev.log_set(log, table.OPEN, player, table.OPENED + player, 1)


@kernel
def note_tile(kind, player, tile, log):
    """Log a tile that is shown to everybody and put back."""
    ev.log_event(log, kind, player, tile, ev.NO_PLACE, ev.NO_PLACE, 0, ev.EVERYBODY, ev.EVERYBODY)
