"""Wins of riichi: what a hand is worth in its game, and who pays. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.games.riichi import effects, table, yaku
from cardenvs.games.riichi.hands import CHI, PON
from cardenvs.games.riichi.scoring import (
    base_points,
    count_dora,
    count_red_fives,
    ron_payment,
    score_win,
    tsumo_payment,
)
from cardenvs.games.riichi.state import (
    DRAGONS,
    IN_DOUBLE_RIICHI,
    MAX_MELDS,
    NO_PLAYER,
    NUM_PLAYERS,
    ROBBING,
    STICK,
    WINDS,
    copy_kinds,
    seat_wind,
    tiles_left,
)
from cardenvs.games.riichi.tiles import EAST, NUM_FACES, NUM_KINDS, RED, kind_of
from cardenvs.kits.cards import lowest_card

HONBA = 100  # from each of three players (7.3)
_MANGAN = 2_000

HAND = packed(
    [
        ("counts", "i1", (NUM_KINDS,)),
        ("faces", "i1", (NUM_FACES,)),
        ("meld_kinds", "i1", (MAX_MELDS,)),
        ("meld_types", "i1", (MAX_MELDS,)),
    ]
)
new_hand = stack_record(HAND)


# ---------------------------------------------------------------------------------------------------------------
# What a hand is worth


@kernel
def has_yaku(s, player, tile, is_tsumo):
    """Return whether a hand that is complete with a tile has a yaku (5.1)."""
    if s.riichi[player]:
        return True
    han, _, yakuman, _ = value_of(s, player, tile, is_tsumo, np.int64(0))
    return han > 0 or yakuman > 0


@kernel
def value_of(s, player, tile, is_tsumo, bonus):
    """Return han, fu, number of yakuman, and the set of yaku of a complete hand (5, 6).

    Args:
        s: the record.
        player: who wins.
        tile: the winning face, which is in hand already after a draw.
        is_tsumo: whether it was drawn.
        bonus: han for dora.
    """
    hand = new_hand()
    _copy_hand(s, player, tile, is_tsumo, hand)
    rules = s.rules
    return score_win(
        hand.counts, hand.meld_kinds, hand.meld_types, np.int64(s.num_melds[player]), kind_of(tile),
        _circumstances(s, player, is_tsumo), EAST + seat_wind(s, player), EAST + np.int64(s.wind), bonus,
        rules.open_tanyao != 0, rules.kiriage_mangan != 0, rules.double_yakuman != 0, rules.counted_yakuman != 0,
        np.int64(rules.double_wind_fu),
    )  # fmt: skip


@kernel(inline=True)
def _copy_hand(s, player, tile, is_tsumo, hand):
    copy_kinds(s, player, hand.counts)
    if not is_tsumo:
        hand.counts[kind_of(tile)] += 1
    for m in range(MAX_MELDS):
        hand.meld_kinds[m] = s.meld_kind[player, m]
        hand.meld_types[m] = s.meld_type[player, m]


@kernel(inline=True)
def _circumstances(s, player, is_tsumo):
    found = np.int64(0)
    if s.riichi[player]:
        found |= yaku.DOUBLE_RIICHI if s.riichi[player] == IN_DOUBLE_RIICHI else yaku.RIICHI
        if s.ippatsu[player]:
            found |= yaku.IPPATSU
    if is_tsumo:
        found |= yaku.TSUMO
        if s.after_kan:
            found |= yaku.AFTER_KAN
        elif tiles_left(s) == 0:
            found |= yaku.LAST_TILE
        if s.is_untouched and s.num_discards[player] == 0:
            found |= yaku.FIRST_DRAW
    elif s.phase == ROBBING:
        found |= yaku.ROBBING_A_KAN
    elif tiles_left(s) == 0:
        found |= yaku.LAST_TILE
    return found


@kernel
def bonus_of(s, player, tile, is_tsumo):
    """Return the han for dora, red fives and, once they are turned up, ura dora (5.5)."""
    hand = new_hand()
    faces = hand.faces
    for face in range(NUM_FACES):
        faces[face] = s.hands[player, face]
    if not is_tsumo:
        faces[tile] += 1
    for m in range(s.num_melds[player]):
        _add_meld(faces, np.int64(s.meld_kind[player, m]), s.meld_type[player, m], s.meld_red[player, m])
    bonus = count_red_fives(faces) + count_dora(faces, s.indicators, np.int64(s.num_indicators))
    return bonus + count_dora(faces, s.ura, np.int64(s.num_ura)) if s.riichi[player] else bonus


@kernel(inline=True)
def _add_meld(faces, kind, form, has_red):
    """Add the tiles of a meld to a hand by face."""
    if form == CHI:
        for k in range(3):
            faces[kind + k] += 1
    else:
        faces[kind] += 3 if form == PON else 4
    if has_red:
        faces[RED + kind // 9] += 1
        faces[kind // 9 * 9 + 4] -= 1


# ---------------------------------------------------------------------------------------------------------------
# Wins


@kernel
def win_by_tsumo(s, player, log):
    """Let a player win with the tile drawn (7.2)."""
    s.wins[player] += 1
    tile = np.int64(s.drawn)
    ev.log_reveal(log, table.WINS_TSUMO, player, tile, table.HAND + player, 1, ev.EVERYBODY)
    base, liable = _announce(s, player, tile, True, log)
    if liable != NO_PLAYER:
        total = np.int64(0)
        for p in range(NUM_PLAYERS):
            total += _tsumo_share(s, player, p, base) if p != player else 0
        _pay(s, liable, player, total, log)
    else:
        for k in range(1, NUM_PLAYERS):
            p = (player + k) & 3
            _pay(s, p, player, _tsumo_share(s, player, p, base), log)
    take_sticks(s, player, log)


@kernel(inline=True)
def _tsumo_share(s, player, payer, base):
    return tsumo_payment(base, player == s.dealer or payer == s.dealer) + HONBA * s.honba


@kernel
def win_by_ron(s, player, giver, is_first, log):
    """Let a player win by the last tile; the first who does gets honba and sticks (7.2 to 7.5)."""
    tile = np.int64(s.tile)
    s.wins[player] += 1
    s.deal_ins[giver] += is_first
    ev.log_event(log, table.WINS_RON, player, tile, ev.NO_PLACE, ev.NO_PLACE, giver, ev.EVERYBODY, ev.EVERYBODY)
    base, liable = _announce(s, player, tile, False, log)
    payment = ron_payment(base, player == s.dealer)
    honba = 3 * HONBA * np.int64(s.honba) if is_first else np.int64(0)
    if liable != NO_PLAYER and liable != giver:
        _pay(s, liable, player, payment // 2 + honba, log)
        _pay(s, giver, player, payment // 2, log)
    else:
        _pay(s, giver, player, payment + honba, log)
    if is_first:
        take_sticks(s, player, log)


@kernel
def _announce(s, player, tile, is_tsumo, log):
    """Show a hand and log what it counts; return its base, and who is liable for it or NO_PLAYER."""
    effects.show_hand(s, player, log)
    if s.riichi[player] and s.rules.ura_dora:
        effects.turn_up_ura(s, log)
    bonus = bonus_of(s, player, tile, is_tsumo)
    han, fu, yakuman, found = value_of(s, player, tile, is_tsumo, bonus)
    left = found
    while left:
        ev.log_note(log, table.HAS_YAKU, player, lowest_card(left))
        left &= left - 1
    if yakuman:
        ev.log_note(log, table.HAS_YAKUMAN, player, yakuman)
    else:
        if bonus:
            ev.log_note(log, table.HAS_DORA, player, bonus)
        ev.log_note(log, table.HAS_HAN, player, han)
        ev.log_note(log, table.HAS_FU, player, fu)
    liable = _liable(s, player, found)
    if liable != NO_PLAYER:
        ev.log_note(log, table.IS_LIABLE, liable, 0)
    base = base_points(han, fu, yakuman, s.rules.kiriage_mangan != 0, s.rules.counted_yakuman != 0)
    return base, liable


@kernel(inline=True)
def _liable(s, player, found):
    """Return who is liable for a hand with some yaku (7.5)."""
    if s.rules.pao and found & yaku.BIG_DRAGONS:
        return np.int64(s.liable[player, DRAGONS])
    if s.rules.pao and found & yaku.BIG_WINDS:
        return np.int64(s.liable[player, WINDS])
    return np.int64(NO_PLAYER)


# ---------------------------------------------------------------------------------------------------------------
# Payments


@kernel
def change_points(s, player, change, log):
    """Add to the points of a player."""
    s.points[player] += change
    ev.log_set(log, table.NEW_POINTS, player, table.POINTS + player, s.points[player])


@kernel(inline=True)
def _pay(s, payer, receiver, amount, log):
    change_points(s, payer, -amount, log)
    change_points(s, receiver, amount, log)


@kernel(inline=True)
def take_sticks(s, player, log):
    """Give the riichi sticks on the table to a player (7.4)."""
    if s.sticks:
        change_points(s, player, STICK * np.int64(s.sticks), log)
        effects.set_sticks(s, 0, log)


@kernel
def pay_nagashi(s, player, log):
    """Pay a mangan as by tsumo, without honba and sticks (8.2)."""
    for k in range(1, NUM_PLAYERS):
        p = (player + k) & 3
        _pay(s, p, player, tsumo_payment(np.int64(_MANGAN), player == s.dealer or p == s.dealer), log)


@kernel
def leader(s):
    """Return who has most points; of equal ones, the one with the lower number (9.5)."""
    first = 0
    for p in range(1, NUM_PLAYERS):
        if s.points[p] > s.points[first]:
            first = p
    return first
