"""Legal actions of riichi. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.riichi import actions
from cardenvs.games.riichi.effects import new_kinds, waits_with
from cardenvs.games.riichi.hands import CLOSED_KAN, OPEN_KAN, PON, is_complete, riichi_discards, waits
from cardenvs.games.riichi.state import (
    ASKED,
    CALLED,
    MAX_KANS,
    NUM_PLAYERS,
    ROBBING,
    STICK,
    TURN,
    copy_kinds,
    is_closed,
    is_furiten,
    number_of,
    tiles_left,
)
from cardenvs.games.riichi.tiles import HONOURS, NORTH, NUM_FACES, NUM_KINDS, ORPHANS, RED, bit_of, faces_of, kind_of
from cardenvs.games.riichi.winning import has_yaku
from cardenvs.kits.cards import lowest_card

RIICHI_DRAWS = 4  # tiles that must be left in the wall (4.1)
NINE_KINDS = 9
FOUR_WINDS, FOUR_RIICHI, FOUR_KANS = 1, 2, 3  # how a discard ends the round without a result (8.3)


@kernel
def legal_actions(s, out):
    """List the discards, calls, wins and other choices of the player to act (3)."""
    player = np.int64(s.current_player)
    if s.phase == TURN:
        return _list_turn(s, player, out)
    if s.phase == CALLED:
        return _list_discards(s, player, s.barred, out)
    n = _list_calls(s, player, out) if s.phase == ASKED else 0
    if may_ron(s, player):
        out[n] = actions.RON
        n += 1
    out[n] = actions.PASS
    return n + 1


@kernel(inline=True)
def _list_discards(s, player, barred, out):
    return _list_faces(_faces_in_hand(s, player) & ~faces_of(barred), actions.DISCARD, out, 0)


@kernel(inline=True)
def _faces_in_hand(s, player):
    """Return the faces in a hand as a set."""
    faces = np.int64(0)
    for face in range(NUM_FACES):
        faces |= np.int64(s.hands[player, face] != 0) << face
    return faces


@kernel(inline=True)
def _list_faces(faces, first, out, n):
    """List the action `first` + face for each face of a set, from out[n] on, and return where the list ends."""
    while faces:
        out[n] = first + lowest_card(faces)
        faces &= faces - 1
        n += 1
    return n


@kernel
def _list_turn(s, player, out):
    n = 0
    if s.riichi[player]:
        out[n] = actions.DISCARD + s.drawn
        n += 1
    else:
        n = _list_discards(s, player, np.int64(0), out)
        if may_declare_riichi(s, player):
            n = _list_riichi(s, player, out, n)
    if may_kan(s):
        for kind in range(NUM_KINDS):
            if may_close_kan(s, player, kind):
                out[n] = actions.CLOSED_KAN + kind
                n += 1
        for kind in range(NUM_KINDS if s.num_melds[player] else 0):
            if may_add(s, player, kind):
                out[n] = actions.ADDED_KAN + kind
                n += 1
    if may_tsumo(s, player):
        out[n] = actions.TSUMO
        n += 1
    if may_show_nine(s, player):
        out[n] = actions.NINE
        n += 1
    return n


@kernel
def _list_riichi(s, player, out, n):
    leaving = faces_of(_kinds_for_riichi(s, player))
    return _list_faces(_faces_in_hand(s, player) & leaving, actions.RIICHI, out, n)


@kernel
def _kinds_for_riichi(s, player):
    """Return the kinds whose discard leaves a wait of which the player does not hold all four (4.1, 13.4)."""
    kinds = new_kinds()
    copy_kinds(s, player, kinds.counts)
    found = riichi_discards(kinds.counts, s.num_melds[player])
    if found and s.num_melds[player]:
        for kind in range(NUM_KINDS):
            if found >> kind & 1:
                kinds.counts[kind] -= 1
                if not waits_with(s, player, kinds.counts):
                    found &= ~bit_of(kind)
                kinds.counts[kind] += 1
    return found


@kernel(inline=True)
def may_declare_riichi(s, player):
    """Return whether a player may declare riichi if some discard leaves the hand tenpai (4.1)."""
    return (
        s.riichi[player] == 0 and tiles_left(s) >= RIICHI_DRAWS and s.points[player] >= STICK and is_closed(s, player)
    )


# ---------------------------------------------------------------------------------------------------------------
# Kans


@kernel(inline=True)
def may_kan(s):
    """Return whether there may be another kan (3.4)."""
    return s.num_kans < MAX_KANS and tiles_left(s) > 0


@kernel(inline=True)
def may_close_kan(s, player, kind):
    """Return whether the player whose turn it is holds four of a kind, and may lay them (3.5, 4.2)."""
    if s.hands[player, kind] < 3 or number_of(s, player, kind) < 4:
        return False
    return s.riichi[player] == 0 or keeps_waits(s, player, kind)


@kernel
def keeps_waits(s, player, kind):
    """Return whether a kan of the tile drawn in riichi changes neither the waits nor how sets are read (4.2)."""
    if kind_of(s.drawn) != kind:
        return False
    kinds = new_kinds()
    counts, melds = kinds.counts, np.int64(s.num_melds[player])
    copy_kinds(s, player, counts)
    counts[kind] = 3
    before = waits(counts, melds)
    counts[kind] = 0
    if waits(counts, melds + 1) != before:
        return False
    counts[kind] = 3
    while before:
        wait = np.int64(0)
        while not before >> wait & 1:
            wait += 1
        before &= before - 1
        counts[wait] += 1
        if _may_be_in_run(counts, melds, kind):
            return False
        counts[wait] -= 1
    return True


@kernel
def _may_be_in_run(counts, melds, kind):
    """Return whether a complete hand can be read with a run that has a tile of a kind."""
    if kind >= HONOURS:
        return False
    for low in range(max(kind - 2, kind // 9 * 9), min(kind, kind // 9 * 9 + 6) + 1):
        if counts[low] and counts[low + 1] and counts[low + 2]:
            for k in range(3):
                counts[low + k] -= 1
            fits = is_complete(counts, melds + 1)
            for k in range(3):
                counts[low + k] += 1
            if fits:
                return True
    return False


@kernel(inline=True)
def may_add(s, player, kind):
    """Return whether a player has an open pon of a kind, and its fourth tile (3.5)."""
    for m in range(s.num_melds[player]):
        if s.meld_type[player, m] == PON and s.meld_kind[player, m] == kind:
            return number_of(s, player, kind) > 0
    return False


# ---------------------------------------------------------------------------------------------------------------
# Winning, and ending the round


@kernel(inline=True)
def may_tsumo(s, player):
    """Return whether the tile drawn wins (5.1)."""
    return s.waits[player] >> kind_of(s.drawn) & 1 != 0 and has_yaku(s, player, np.int64(s.drawn), True)


@kernel(inline=True)
def may_ron(s, player):
    """Return whether the tile discarded or added to a pon wins (4.3, 5.1)."""
    if not s.waits[player] >> kind_of(s.tile) & 1 or is_furiten(s, player):
        return False
    return has_yaku(s, player, np.int64(s.tile), False)


@kernel(inline=True)
def may_show_nine(s, player):
    """Return whether a player may end the round on the first draw (8.3)."""
    return (
        s.rules.abortive_draws
        and s.is_untouched
        and s.num_discards[player] == 0
        and num_orphans(s, player) >= NINE_KINDS
    )


@kernel
def num_orphans(s, player):
    """Return how many different terminals and honours are in hand."""
    number = 0
    for kind in range(NUM_KINDS):
        if ORPHANS >> kind & 1 and s.hands[player, kind]:
            number += 1
    return number


@kernel
def aborted_by_discard(s):
    """Return how the last discard ends the round without a result, unless somebody wins by it (8.3); else 0."""
    if not s.rules.abortive_draws:
        return 0
    if _are_four_winds(s):
        return FOUR_WINDS
    riichi, owners = 0, 0
    for p in range(NUM_PLAYERS):
        riichi += 1 if s.riichi[p] else 0
        owners += 1 if _has_kan(s, p) else 0
    if riichi == NUM_PLAYERS:
        return FOUR_RIICHI
    return FOUR_KANS if s.num_kans == MAX_KANS and owners > 1 else 0


@kernel(inline=True)
def _are_four_winds(s):
    if not s.is_untouched or s.discards[0, 0] < HONOURS or s.discards[0, 0] > NORTH:
        return False
    number = 0
    for p in range(NUM_PLAYERS):
        if s.num_discards[p] == 1 and s.discards[p, 0] == s.discards[0, 0]:
            number += 1
    return number == NUM_PLAYERS


@kernel(inline=True)
def _has_kan(s, player):
    for m in range(s.num_melds[player]):
        if s.meld_type[player, m] == CLOSED_KAN or s.meld_type[player, m] == OPEN_KAN:
            return True
    return False


# ---------------------------------------------------------------------------------------------------------------
# Calls


@kernel
def _list_calls(s, player, out):
    """List what the player may call the last discard for (3.3)."""
    if s.riichi[player] or tiles_left(s) == 0 or aborted_by_discard(s):
        return 0
    n = 0
    kind = kind_of(s.tile)
    if kind < HONOURS and player == (s.turn + 1) & 3:
        for with_red in range(2):
            for place in range(3):
                if may_chi(s, player, kind, place, with_red):
                    out[n] = actions.CHI + 3 * with_red + place
                    n += 1
    number = number_of(s, player, kind)
    if number >= 2:
        for with_red in range(2):
            if may_pon(s, player, kind, with_red):
                out[n] = actions.PON + with_red
                n += 1
        if number == 3 and may_kan(s):
            out[n] = actions.OPEN_KAN
            n += 1
    return n


@kernel
def may_chi(s, player, kind, place, with_red):
    """Return whether a tile completes a run as its tile number `place`, with or without a red five from the hand."""
    return _holds_run(s, player, kind, place, with_red) and _can_discard(s, player, barred_by_chi(s, kind, place))


@kernel
def _holds_run(s, player, kind, place, with_red):
    """Return whether the other two tiles of such a run are in hand."""
    low = kind - place
    if low < kind // 9 * 9 or low > kind // 9 * 9 + 6:
        return False
    has_five = False
    for k in range(3):
        if k != place:
            own = low + k
            if own % 9 == 4 and with_red:
                has_five = True
                if not s.hands[player, RED + own // 9]:
                    return False
            elif not s.hands[player, own]:
                return False
    return has_five == (with_red == 1)


@kernel(inline=True)
def may_pon(s, player, kind, with_red):
    """Return whether two tiles of a kind are in hand, with or without the red five."""
    if with_red and (kind >= HONOURS or kind % 9 != 4 or not s.hands[player, RED + kind // 9]):
        return False
    if s.hands[player, kind] < 2 - with_red:
        return False
    return s.rules.swap_calling or number_of(s, player, kind) - 2 < _hand_size(s, player) - 2


@kernel(inline=True)
def barred_by_chi(s, kind, place):
    """Return the kinds that may not be discarded after a chi (3.6)."""
    if s.rules.swap_calling:
        return np.int64(0)
    barred = bit_of(kind)
    if place == 0 and kind % 9 < 6:
        barred |= bit_of(kind + 3)
    elif place == 2 and kind % 9 > 2:
        barred |= bit_of(kind - 3)
    return barred


@kernel
def _can_discard(s, player, barred):
    """Return whether a tile is left to discard after a chi that uses none of the barred kinds."""
    number = np.int64(0)
    for kind in range(HONOURS):
        if barred >> kind & 1:
            number += number_of(s, player, kind)
    return number < _hand_size(s, player) - 2


@kernel(inline=True)
def _hand_size(s, player):
    return 13 - 3 * s.num_melds[player]


# ---------------------------------------------------------------------------------------------------------------
# Reasons


@kernel
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else one of the codes of actions.py."""
    player = np.int64(s.current_player)
    if s.phase >= ASKED:
        return _explain_answer(s, player, action)
    if action < actions.RIICHI:
        return _explain_discard(s, player, action)
    if s.phase == CALLED or (action >= actions.CHI and action != actions.TSUMO and action != actions.NINE):
        return actions.NOT_NOW
    if action < actions.CLOSED_KAN:
        return _explain_riichi(s, player, action - actions.RIICHI)
    if action == actions.TSUMO:
        if s.waits[player] >> kind_of(s.drawn) & 1:
            return 0 if may_tsumo(s, player) else actions.NO_YAKU
        return actions.NO_WIN
    if action == actions.NINE:
        if may_show_nine(s, player):
            return 0
        if not s.rules.abortive_draws:
            return actions.NO_SUCH_DRAW
        return actions.NOT_NINE if s.is_untouched and s.num_discards[player] == 0 else actions.NOT_FIRST
    return _explain_kan(s, player, action)


@kernel(inline=True)
def _explain_discard(s, player, face):
    if not s.hands[player, face]:
        return actions.NOT_HELD
    if s.riichi[player] and face != s.drawn:
        return actions.ONLY_DRAWN
    return actions.SWAPS_CALL if s.barred >> kind_of(face) & 1 else 0


@kernel(inline=True)
def _explain_riichi(s, player, face):
    if not s.hands[player, face]:
        return actions.NOT_HELD
    if s.riichi[player]:
        return actions.IN_RIICHI
    if not is_closed(s, player):
        return actions.OPEN_HAND
    if s.points[player] < STICK:
        return actions.TOO_POOR
    if tiles_left(s) < RIICHI_DRAWS:
        return actions.TOO_LATE
    return 0 if _kinds_for_riichi(s, player) >> kind_of(face) & 1 else actions.NOT_TENPAI


@kernel(inline=True)
def _explain_kan(s, player, action):
    if action < actions.ADDED_KAN:
        kind = action - actions.CLOSED_KAN
        if number_of(s, player, kind) < 4:
            return actions.NOT_HELD
    else:
        kind = action - actions.ADDED_KAN
        if not may_add(s, player, kind):
            return actions.NO_PON
    if tiles_left(s) == 0:
        return actions.LAST_TILE
    if s.num_kans == MAX_KANS:
        return actions.TOO_MANY_KANS
    return 0 if action >= actions.ADDED_KAN or may_close_kan(s, player, kind) else actions.CHANGES_WAITS


@kernel(inline=True)
def _explain_answer(s, player, action):
    if action == actions.PASS:
        return 0
    if action == actions.RON:
        if not s.waits[player] >> kind_of(s.tile) & 1:
            return actions.NO_WIN
        if is_furiten(s, player):
            return actions.IS_FURITEN
        return 0 if may_ron(s, player) else actions.NO_YAKU
    if s.phase == ROBBING or not actions.is_call(action):
        return actions.NOT_NOW
    if s.riichi[player]:
        return actions.IN_RIICHI
    if tiles_left(s) == 0:
        return actions.LAST_TILE
    if aborted_by_discard(s):
        return actions.ENDS_ROUND
    return _explain_call(s, player, kind_of(s.tile), action)


@kernel(inline=True)
def _explain_call(s, player, kind, action):
    if action == actions.OPEN_KAN:
        if number_of(s, player, kind) < 3:
            return actions.NOT_HELD
        return 0 if s.num_kans < MAX_KANS else actions.TOO_MANY_KANS
    if action >= actions.PON:
        if may_pon(s, player, kind, action - actions.PON):
            return 0
        return actions.NOT_HELD
    if player != (s.turn + 1) & 3:
        return actions.NOT_NEXT
    if kind >= HONOURS:
        return actions.NO_RUN
    with_red, place = (action - actions.CHI) // 3, (action - actions.CHI) % 3
    return 0 if may_chi(s, player, kind, place, with_red) else _why_no_chi(s, player, kind, place, with_red)


@kernel(inline=True)
def _why_no_chi(s, player, kind, place, with_red):
    low = kind - place
    if low < kind // 9 * 9 or low > kind // 9 * 9 + 6:
        return actions.NO_RUN
    return actions.NOTHING_LEFT if _holds_run(s, player, kind, place, with_red) else actions.NOT_HELD
