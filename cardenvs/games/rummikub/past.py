"""What idle turns prove: with some options only a player without a legal play may draw or pass (3.3, 3.4).

`s.history` is a ring of the last turns, from which the table can be taken back turn by turn. Newest last, a turn is

    place, number before, ..., how many places changed, PLAY or OPENING      for a play, a pair for each change
    DRAW or PASS

each kind times MAX_PLAYERS plus the player. worlds.py draws racks with which nobody could have played when they drew or
passed.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.games.rummikub.catalogue import MELD_FACES, MELD_SIZE
from cardenvs.games.rummikub.ruleset import MAX_PLAYERS, NO_PLAY_ONLY
from cardenvs.games.rummikub.state import EXACT, HISTORY, NO_MELD
from cardenvs.games.rummikub.tiles import MAX_MELDS, NUM_TYPES

DRAW, PASS, PLAY, OPENING = range(4)
NO_TURN = -1

# The part of a state that decides whether a player could play, with the names that steps.py reads.
PAST = packed(
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


@kernel
def take_back(s, past, n):
    """Take back the turn that ends before entry `n`, except that nothing is taken from a rack.

    Returns:
        The number of its first entry; its kind (PLAY for an opening, too), or NO_TURN at the beginning of the history;
        and whose turn it was. After a play, past.hands[who] are the tiles put down.
    """
    first = max(np.int64(0), np.int64(s.num_history) - HISTORY)
    if n <= first:
        return n, np.int64(NO_TURN), np.int64(0)
    kind, who = _entry(s, n - 1) // MAX_PLAYERS, _entry(s, n - 1) % MAX_PLAYERS
    if kind < PLAY:
        return n - 1, kind, who
    num_changes = _entry(s, n - 2) if n - 2 >= first else np.int64(HISTORY)
    if n - 2 - 2 * num_changes < first:  # a part of the turn has been overwritten
        return n, np.int64(NO_TURN), np.int64(0)
    for tile in range(NUM_TYPES):
        past.hands[who, tile] = 0
    n -= 2
    for _ in range(num_changes):
        n -= 2
        k, before = _entry(s, n), _entry(s, n + 1)
        _count_tiles(past, who, past.sets[k], 1)
        _count_tiles(past, who, before, -1)
        past.sets[k] = before
    if kind == OPENING:
        past.opened[who] = 0
    return n, np.int64(PLAY), who


@kernel(inline=True)
def is_proof(s, kind):
    """Return whether a turn of this kind, DRAW or PASS, proves that the player had no play."""
    return s.rules.pass_rule == NO_PLAY_ONLY if kind == PASS else not s.rules.allow_draw_when_play_possible


@kernel
def copy_present(s, past, player):
    """Begin with the present, at the start of a turn of `player`, with empty racks."""
    past.current_player = player
    past.rules.colors = s.rules.colors
    past.rules.values = s.rules.values
    past.rules.joker_rule = s.rules.joker_rule
    past.rules.joker_group3_needs_both = s.rules.joker_group3_needs_both
    past.rules.initial_meld_min = s.rules.initial_meld_min
    past.rules.initial_meld_allow_joker = s.rules.initial_meld_allow_joker
    for p in range(MAX_PLAYERS):
        past.opened[p] = s.opened[p]
        for tile in range(NUM_TYPES):
            past.hands[p, tile] = 0
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
def _count_tiles(past, player, number, sign):
    """Add `sign` for each tile of a meld to the tiles that `player` put down."""
    for i in range(MELD_SIZE[number] if number != NO_MELD else 0):
        past.hands[player, MELD_FACES[number, i]] += sign
