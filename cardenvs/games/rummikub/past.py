"""What idle turns prove: with some options only a player without a legal play may draw or pass (3.3, 3.4).

`s.history` is a ring of the last turns, from which the table can be taken back turn by turn. Newest last, a turn is

    place, number before, ..., how many places changed, PLAY or OPENING      for a play, a pair for each change
    DRAW or PASS

each kind times MAX_PLAYERS plus the player. A world fits if, going back, nobody could have played when they drew or
passed. The tile that a player drew last may be any of their rack at that time.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.rng import random_below
from cardenvs.core.scratch import stack_record
from cardenvs.games.rummikub.catalogue import MELD_FACES, MELD_SIZE
from cardenvs.games.rummikub.ruleset import MAX_PLAYERS, NO_PLAY_ONLY
from cardenvs.games.rummikub.state import EXACT, HISTORY, NO_MELD
from cardenvs.games.rummikub.steps import is_able_to_play
from cardenvs.games.rummikub.tiles import MAX_MELDS, NUM_TYPES
from cardenvs.games.rummikub.turn import TURN

DRAW, PASS, PLAY, OPENING = range(4)
ALL_TURNS = 1 << 40  # agree
NO_TILE = np.int64(-1)

# The part of a state that decides whether a player could play, with the names that steps.py reads.
_PAST = packed(
    [
        (
            "rules",
            packed(
                [
                    ("colors", "i8"),
                    ("values", "i8"),
                    ("joker_rule", "i8"),
                    ("joker_group3_needs_both", "i8"),
                    ("initial_meld_min", "i8"),
                    ("initial_meld_allow_joker", "i8"),
                ]
            ),
        ),
        ("current_player", "i8"),
        ("hands", "i8", (MAX_PLAYERS, NUM_TYPES)),
        ("rack_sizes", "i8", (MAX_PLAYERS,)),
        ("sets", "i8", (MAX_MELDS,)),
        ("opened", "i8", (MAX_PLAYERS,)),
        ("taken", "i8", (MAX_MELDS,)),
        ("last_taken", "i8"),
        ("laid", "i8", (MAX_MELDS,)),
        ("num_laid", "i8"),
        ("loose", "i8", (NUM_TYPES,)),
        ("used", "i8", (NUM_TYPES,)),
        ("points", "i8"),
    ]
)
_new_past = stack_record(_PAST)
_new_turn = stack_record(TURN)


@kernel
def proves(s):
    """Return whether idle turns can prove anything. With loose steps a player may give up a play to draw (8.5)."""
    return s.rules.steps == EXACT and (not s.rules.allow_draw_when_play_possible or s.rules.pass_rule == NO_PLAY_ONLY)


@kernel
def note_turn(s, player, kind):
    """Note a turn that ends, after the changes of a play."""
    if proves(s):
        _push(s, kind * MAX_PLAYERS + player)


@kernel
def note_change(s, k, number):
    """Note that place `k` of the table had the set `number`, before it is changed in a play."""
    if proves(s):
        _push(s, k)
        _push(s, number)


@kernel
def note_num_changes(s, count):
    """Note how many changes a play has made."""
    if proves(s):
        _push(s, count)


@kernel(inline=True)
def _push(s, number):
    s.history[s.num_history % HISTORY] = number
    s.num_history += 1


@kernel(inline=True)
def _entry(s, n):
    return np.int64(s.history[n % HISTORY])


@kernel(entry=True)
def num_agreeing(s, player, searches):
    """Return how many entries of the history, from its end, agree with the rack of `player`, or ALL_TURNS.

    Draws from `s.rng` which tile the player drew in a turn. With `searches`, other tiles are tried if they could have
    played without that one; else a rack agrees as often as it has orders of drawing that fit. A turn without a play
    is not looked at where a later one proves the same: on the same table, and before the opening, to which the table
    does not matter.
    """
    past, w = _new_past(), _new_turn()
    _copy_present(s, past, player)
    end = np.int64(s.num_history)
    first = max(np.int64(0), end - HISTORY)
    n, is_new = end, True
    while n > first:
        kind, who = _entry(s, n - 1) // MAX_PLAYERS, _entry(s, n - 1) % MAX_PLAYERS
        if kind >= PLAY:
            if n - 2 < first or n - 2 - 2 * _entry(s, n - 2) < first:
                break  # a part of the turn has been overwritten
            n = _take_back(s, past, n, who)
            if kind == OPENING:
                past.opened[who] = 0
            is_new = True
            continue
        if who == player:
            tile = _put_back(s, past, player) if kind == DRAW else NO_TILE
            if is_new and _is_proof(s, kind):
                could_play = is_able_to_play(past, w)
                if could_play and searches and tile != NO_TILE:
                    could_play = not _find_drawn(past, w, player, tile)
                if could_play:
                    return end - n
                if not past.opened[player]:
                    break
                is_new = False
        n -= 1
    return np.int64(ALL_TURNS)


@kernel(inline=True)
def _is_proof(s, kind):
    return s.rules.pass_rule == NO_PLAY_ONLY if kind == PASS else not s.rules.allow_draw_when_play_possible


@kernel
def _copy_present(s, past, player):
    """Begin with the present, at the start of a turn of `player`."""
    past.current_player = player
    past.rules.colors = s.rules.colors
    past.rules.values = s.rules.values
    past.rules.joker_rule = s.rules.joker_rule
    past.rules.joker_group3_needs_both = s.rules.joker_group3_needs_both
    past.rules.initial_meld_min = s.rules.initial_meld_min
    past.rules.initial_meld_allow_joker = s.rules.initial_meld_allow_joker
    for p in range(MAX_PLAYERS):
        past.rack_sizes[p] = s.rack_sizes[p]
        past.opened[p] = s.opened[p]
        for tile in range(NUM_TYPES):
            past.hands[p, tile] = s.hands[p, tile]
    for k in range(MAX_MELDS):
        past.sets[k] = s.sets[k]
        past.taken[k] = 0
        past.laid[k] = NO_MELD
    for tile in range(NUM_TYPES):
        past.loose[tile] = 0
        past.used[tile] = 0
    past.last_taken = NO_MELD
    past.num_laid = 0
    past.points = 0


@kernel
def _take_back(s, past, n, player):
    """Take back the play that ends before entry `n`; return the number of its first entry."""
    count = _entry(s, n - 2)
    n -= 2
    for _ in range(count):
        n -= 2
        k, before = _entry(s, n), _entry(s, n + 1)
        _count_tiles(past, player, past.sets[k], 1)
        _count_tiles(past, player, before, -1)
        past.sets[k] = before
    return n


@kernel
def _count_tiles(past, player, number, sign):
    """Move the tiles of a meld from the table to the rack of `player`, or back."""
    if number == NO_MELD:
        return
    past.rack_sizes[player] += sign * MELD_SIZE[number]
    for i in range(MELD_SIZE[number]):
        past.hands[player, MELD_FACES[number, i]] += sign


@kernel
def _put_back(s, past, player):
    """Put back a random tile of `player`, the one drawn in this turn, and return it."""
    k = random_below(s.rng, past.rack_sizes[player])
    tile = np.int64(0)
    while k >= past.hands[player, tile]:
        k -= past.hands[player, tile]
        tile += 1
    past.hands[player, tile] -= 1
    past.rack_sizes[player] -= 1
    return tile


@kernel
def _find_drawn(past, w, player, tile):
    """Put back another tile in place of `tile`, so that `player` cannot play; return whether there is one.

    The search begins behind `tile`, so that low tiles are no likelier than others.
    """
    past.hands[player, tile] += 1
    for k in range(1, NUM_TYPES):
        other = (tile + k) % NUM_TYPES
        if past.hands[player, other] > 0:
            past.hands[player, other] -= 1
            if not is_able_to_play(past, w):
                return True
            past.hands[player, other] += 1
    past.hands[player, tile] -= 1
    return False
