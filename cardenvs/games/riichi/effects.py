"""Effects of riichi: the only kernels that move tiles and points. Each changes the record and logs the events."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.games.riichi import table
from cardenvs.games.riichi.hands import CHI, CLOSED_KAN, OPEN_KAN, PON, waits
from cardenvs.games.riichi.state import (
    DRAGONS,
    FROM_DRAW,
    IN_DOUBLE_RIICHI,
    IN_RIICHI,
    MAX_DISCARDS,
    MAX_MELDS,
    NO_PLAYER,
    NO_RIICHI,
    NO_TILE,
    NUM_PLAYERS,
    STICK,
    TURN,
    WAS_CALLED,
    WINDS,
    WITH_RIICHI,
    copy_kinds,
)
from cardenvs.games.riichi.tiles import EAST, NUM_FACES, NUM_KINDS, RED, WHITE, bit_of, kind_of

KINDS = packed([("counts", "i1", (NUM_KINDS,))])
new_kinds = stack_record(KINDS)  # counts by kind of one hand


# ---------------------------------------------------------------------------------------------------------------
# The wall


@kernel(inline=True)
def _take(s):
    face = np.int64(s.deck[s.num_dealt])
    s.deck[s.num_dealt] = NO_TILE  # so that the record does not tell in which order tiles were drawn
    s.num_dealt += 1
    return face


@kernel
def gather_tiles(s, log):
    """Put all tiles back into the wall and shuffle them, so that nothing seen in the last round matters."""
    ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.INDICATORS, table.WALL)
    ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.URA, table.WALL)
    for p in range(NUM_PLAYERS):
        ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.HAND + p, table.WALL)
        ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.DISCARDS + p, table.WALL)
        ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.MELDS + p, table.WALL)
        if s.riichi[p]:
            ev.log_set(log, table.NO_RIICHI, p, table.RIICHI + p, 0)
    ev.log_shuffle(log, table.SHUFFLES, table.WALL)


@kernel
def clear_table(s):
    """Fill the wall with all tiles in order, so that it can be shuffled, and empty everything else."""
    place = 0
    for face in range(NUM_FACES):
        for _ in range(_copies(s, face)):
            s.deck[place] = face
            place += 1
    s.num_dealt = s.num_draws = s.num_indicators = s.num_ura = s.num_kans = s.owed_indicators = 0
    s.drawn = s.tile = NO_TILE
    s.barred = 0
    s.is_declaring = s.after_kan = s.is_exhausted = 0
    s.is_untouched = 1
    for kind in range(NUM_KINDS):
        s.seen[kind] = 0
    for p in range(NUM_PLAYERS):
        for face in range(NUM_FACES):
            s.hands[p, face] = 0
        for k in range(MAX_DISCARDS):
            s.discards[p, k] = NO_TILE
            s.discard_marks[p, k] = 0
        s.num_melds[p] = s.num_discards[p] = s.answers[p] = 0
        s.thrown[p] = s.passed[p] = 0
        s.riichi[p] = s.ippatsu[p] = s.shown[p] = s.tenpai[p] = 0
        s.kept_not[p] = NO_TILE
        s.liable[p, DRAGONS] = s.liable[p, WINDS] = NO_PLAYER


@kernel(inline=True)
def _copies(s, face):
    """Return how many tiles of a face there are (1.2)."""
    if face >= RED:
        return 1 if s.rules.red_fives else 0
    return 3 if s.rules.red_fives and (face == 4 or face == 13 or face == 22) else 4


@kernel
def deal_hands(s, log):
    """Deal thirteen tiles to each player, the dealer first (2.1)."""
    for k in range(NUM_PLAYERS):
        p = (s.dealer + k) & 3
        for _ in range(13):
            face = _take(s)
            s.hands[p, face] += 1
            ev.log_move(log, table.DEALT, p, face, table.WALL, table.HAND + p, 1 << p)
        find_waits(s, p)


@kernel
def turn_up(s, log):
    """Turn up the next indicator (2.2, 2.4)."""
    face = _take(s)
    s.indicators[s.num_indicators] = face
    s.num_indicators += 1
    s.seen[kind_of(face)] += 1
    ev.log_move(log, table.TURNS_UP, ev.NO_PLAYER, face, table.WALL, table.INDICATORS, ev.EVERYBODY)


@kernel(inline=True)
def turn_up_owed(s, log):
    """Turn up indicators of open and added kans (2.4)."""
    while s.owed_indicators:
        s.owed_indicators -= 1
        turn_up(s, log)


@kernel
def draw(s, player, event, log):
    """Draw a tile, and let the player act; `event` is the kind of event."""
    if s.riichi[player] == NO_RIICHI:
        s.passed[player] = 0
    face = _take(s)
    s.num_draws += 1
    s.hands[player, face] += 1
    s.drawn = face
    s.tile = NO_TILE
    s.phase = TURN
    s.turn = s.current_player = player
    ev.log_move(log, event, player, face, table.WALL, table.HAND + player, 1 << player)


# ---------------------------------------------------------------------------------------------------------------
# Waits


@kernel
def find_waits(s, player):
    """Write the kinds that complete a hand of 13 tiles: none of which the player holds all four (8.1)."""
    kinds = new_kinds()
    copy_kinds(s, player, kinds.counts)
    s.waits[player] = waits_with(s, player, kinds.counts)


@kernel
def waits_with(s, player, counts):
    """Return the kinds that complete the player's melds and the 13 - 3 * melds concealed tiles `counts`, int8 (34,)."""
    found = waits(counts, np.int64(s.num_melds[player]))
    if found and s.num_melds[player]:
        for m in range(s.num_melds[player]):
            for k in range(3 if s.meld_type[player, m] == CHI else 1):
                kind = np.int64(s.meld_kind[player, m]) + k
                if found >> kind & 1 and _melded(s, player, kind) + counts[kind] == 4:
                    found &= ~bit_of(kind)
    return found


@kernel
def _melded(s, player, kind):
    """Return how many tiles of a kind lie in a player's melds."""
    number = np.int64(0)
    for m in range(s.num_melds[player]):
        low, form = np.int64(s.meld_kind[player, m]), s.meld_type[player, m]
        if form == CHI:
            number += 1 if low <= kind <= low + 2 else 0
        elif low == kind:
            number += 3 if form == PON else 4
    return number


# ---------------------------------------------------------------------------------------------------------------
# Discards


@kernel
def discard(s, player, face, with_riichi, log):
    """Discard a tile, with or without riichi (3.1, 4.1)."""
    turn_up_owed(s, log)
    from_draw = np.int64(s.drawn) == face
    if with_riichi:
        _declare(s, player, log)
    elif s.ippatsu[player]:
        s.ippatsu[player] = 0
    k = np.int64(s.num_discards[player])
    s.discards[player, k] = face
    s.discard_marks[player, k] = (FROM_DRAW if from_draw else 0) | (WITH_RIICHI if with_riichi else 0)
    s.num_discards[player] += 1
    s.hands[player, face] -= 1
    s.thrown[player] |= bit_of(kind_of(face))
    s.seen[kind_of(face)] += 1
    if not from_draw and s.drawn != NO_TILE:
        s.kept_not[player] = face
    s.drawn = NO_TILE
    s.tile = face
    s.barred = 0
    s.after_kan = 0
    event = table.DISCARDS_DRAWN if from_draw else table.DISCARDS_TILE
    ev.log_move(log, event, player, face, table.HAND + player, table.DISCARDS + player, ev.EVERYBODY)
    if s.riichi[player] == NO_RIICHI or with_riichi:
        find_waits(s, player)


@kernel(inline=True)
def _declare(s, player, log):
    s.riichi[player] = IN_DOUBLE_RIICHI if s.is_untouched and s.num_discards[player] == 0 else IN_RIICHI
    s.ippatsu[player] = s.rules.ippatsu
    s.is_declaring = 1
    ev.log_set(log, table.DECLARES, player, table.RIICHI + player, s.riichi[player])


@kernel(inline=True)
def pay_stick(s, player, log):
    """Lay down the stick of a riichi whose discard nobody has won by (4.1)."""
    s.is_declaring = 0
    s.points[player] -= STICK
    ev.log_set(log, table.PAYS_STICK, player, table.POINTS + player, s.points[player])
    set_sticks(s, s.sticks + 1, log)


# ---------------------------------------------------------------------------------------------------------------
# Melds


@kernel(inline=True)
def _new_meld(s, player, form, kind, called, giver, has_red):
    m = np.int64(s.num_melds[player])
    s.meld_type[player, m] = form
    s.meld_kind[player, m] = kind
    s.meld_called[player, m] = called
    s.meld_from[player, m] = giver
    s.meld_red[player, m] = has_red
    s.meld_added[player, m] = 0
    s.num_melds[player] += 1
    s.kept_not[player] = NO_TILE


@kernel(inline=True)
def _lay(s, player, face, log):
    s.hands[player, face] -= 1
    s.seen[kind_of(face)] += 1
    ev.log_move(log, table.LAYS, player, face, table.HAND + player, table.MELDS + player, ev.EVERYBODY)


@kernel(inline=True)
def _disturb(s):
    """Note that a call or a kan interrupts the first go-round, and that of each riichi."""
    s.is_untouched = 0
    for p in range(NUM_PLAYERS):
        s.ippatsu[p] = 0


@kernel(inline=True)
def _take_discard(s, player, event, log):
    giver = np.int64(s.turn)
    s.discard_marks[giver, s.num_discards[giver] - 1] |= WAS_CALLED
    ev.log_move(log, event, player, s.tile, table.DISCARDS + giver, table.MELDS + player, ev.EVERYBODY)
    s.turn = s.current_player = player
    s.passed[player] = s.waits[player] = 0
    _disturb(s)
    return giver


@kernel
def call_chi(s, player, place, with_red, log):
    """Complete a run by the last discard, which is its tile number `place` (3.3)."""
    called = np.int64(s.tile)
    low = kind_of(called) - place
    giver = _take_discard(s, player, table.CALLS_CHI, log)
    for k in range(3):
        if k != place:
            kind = low + k
            _lay(s, player, RED + kind // 9 if with_red and kind % 9 == 4 else kind, log)
    _new_meld(s, player, CHI, low, called, giver, with_red or called >= RED)


@kernel
def call_pon(s, player, with_red, log):
    """Complete a triplet by the last discard (3.3)."""
    called = np.int64(s.tile)
    kind = kind_of(called)
    giver = _take_discard(s, player, table.CALLS_PON, log)
    _lay(s, player, kind, log)
    _lay(s, player, RED + kind // 9 if with_red else kind, log)
    _new_meld(s, player, PON, kind, called, giver, with_red or called >= RED)
    _note_liable(s, player, kind, giver)


@kernel
def call_kan(s, player, log):
    """Complete four of a kind by the last discard (3.3)."""
    called = np.int64(s.tile)
    kind = kind_of(called)
    giver = _take_discard(s, player, table.CALLS_KAN, log)
    has_red = _lay_all(s, player, kind, log)
    _new_meld(s, player, OPEN_KAN, kind, called, giver, has_red or called >= RED)
    _note_liable(s, player, kind, giver)
    turn_up_owed(s, log)
    s.num_kans += 1
    s.owed_indicators += s.rules.kan_dora


@kernel(inline=True)
def _lay_all(s, player, kind, log):
    """Lay all tiles of a kind that are in hand, and return whether a red one is among them."""
    while s.hands[player, kind]:
        _lay(s, player, kind, log)
    has_red = kind < 27 and kind % 9 == 4 and s.hands[player, RED + kind // 9] > 0
    if has_red:
        _lay(s, player, RED + kind // 9, log)
    return has_red


@kernel
def closed_kan(s, player, kind, log):
    """Lay four of a kind from the hand; its indicator is turned up at once (2.4, 3.5)."""
    ev.log_note(log, table.CLOSED_KAN, player, 0)
    has_red = _lay_all(s, player, kind, log)
    _new_meld(s, player, CLOSED_KAN, kind, NO_TILE, NO_PLAYER, has_red)
    _disturb(s)
    turn_up_owed(s, log)
    s.num_kans += 1
    if s.rules.kan_dora:
        turn_up(s, log)
    find_waits(s, player)


@kernel
def add_to_pon(s, player, kind, log):
    """Add the fourth tile to an open triplet (3.5)."""
    face = kind if s.hands[player, kind] else RED + kind // 9
    s.hands[player, face] -= 1
    s.seen[kind] += 1
    for m in range(MAX_MELDS):
        if m < s.num_melds[player] and s.meld_type[player, m] == PON and s.meld_kind[player, m] == kind:
            s.meld_type[player, m] = OPEN_KAN
            s.meld_red[player, m] |= face >= RED
            s.meld_added[player, m] = 1
    s.tile = face
    s.drawn = NO_TILE
    s.after_kan = 0
    s.kept_not[player] = NO_TILE
    ev.log_move(log, table.ADDS, player, face, table.HAND + player, table.MELDS + player, ev.EVERYBODY)
    turn_up_owed(s, log)
    s.num_kans += 1
    find_waits(s, player)


@kernel(inline=True)
def complete_added_kan(s):
    """Note that nobody has robbed the kan."""
    _disturb(s)
    s.owed_indicators += s.rules.kan_dora


@kernel
def _note_liable(s, player, kind, giver):
    """Note who has fed the third set of dragons, or the fourth of winds (7.5)."""
    if kind < EAST:
        return
    first, wanted, which = (WHITE, 3, DRAGONS) if kind >= WHITE else (EAST, 4, WINDS)
    number = 0
    for m in range(s.num_melds[player]):
        if first <= s.meld_kind[player, m] < first + wanted and s.meld_type[player, m] != CHI:
            number += 1
    if number == wanted:
        s.liable[player, which] = giver


# ---------------------------------------------------------------------------------------------------------------
# Points


@kernel(inline=True)
def set_sticks(s, number, log):
    """Set the number of riichi sticks on the table."""
    s.sticks = number
    ev.log_set(log, table.NEW_STICKS, ev.NO_PLAYER, table.STICKS, number)


@kernel(inline=True)
def set_honba(s, number, log):
    """Set the number of counters on the table."""
    if s.honba != number:
        s.honba = number
        ev.log_set(log, table.NEW_HONBA, ev.NO_PLAYER, table.HONBA, number)


@kernel
def show_hand(s, player, log):
    """Show a hand to all at the end of a round."""
    if s.shown[player]:
        return
    s.shown[player] = 1
    for face in range(NUM_FACES):
        number = np.int64(s.hands[player, face])
        if number:
            ev.log_reveal(log, table.SHOWS, player, face, table.HAND + player, number, ev.EVERYBODY)


@kernel
def turn_up_ura(s, log):
    """Turn up the tiles below the indicators (5.5)."""
    while s.num_ura < s.num_indicators:
        face = _take(s)
        s.ura[s.num_ura] = face
        s.num_ura += 1
        ev.log_move(log, table.TURNS_UP_URA, ev.NO_PLAYER, face, table.WALL, table.URA, ev.EVERYBODY)
