"""What a win is worth: han, fu, base and payments. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.games.riichi.groups import (
    NOT_SETS,
    count_of,
    exactly_two,
    held,
    honour_group,
    in_threes,
    lowest_pair,
    one_of,
    ranks_of,
    read_sets,
    strays,
    suit_group,
    sum_modulo_3,
)
from cardenvs.games.riichi.hands import CHI, CLOSED_KAN, PON, is_orphans, is_seven_pairs, kinds_of
from cardenvs.games.riichi.tiles import HONOURS, ORPHANS, RED, WHITE, bit_of, kind_of, next_kind
from cardenvs.games.riichi.yaku import (
    DOUBLE,
    FULL_FLUSH,
    PINFU,
    SEVEN_PAIRS,
    THIRTEEN_ORPHANS,
    THIRTEEN_SIDED_ORPHANS,
    TSUMO,
    YAKUMAN,
    han_of,
    yaku_of_circumstances,
    yaku_of_gates,
    yaku_of_honours,
    yaku_of_kinds,
    yaku_of_runs,
    yaku_of_triplets,
)
from cardenvs.kits.cards import count_bits, lowest_card

# A win while it is being scored: what is known of it, the pair of the present reading, and the best reading so far.
_WIN = packed(
    [
        *((name, "i8") for name in (
            "win_kind", "is_tsumo", "seat_wind", "round_wind", "bonus_han",
            "kiriage", "double_yakuman", "counted_yakuman", "double_wind_fu",
            "is_open", "meld_triplets", "meld_runs", "meld_fu", "num_kans", "num_closed_kans",
            "kinds", "honour_triplets", "shared_yaku", "pair",
            "best", "han", "fu", "yakuman", "yaku",
        ))
    ]
)  # fmt: skip
_new_win = stack_record(_WIN)


@kernel(entry=True)
def score_win(
    counts, meld_kinds, meld_types, num_melds, win_kind, circumstances, seat_wind, round_wind, bonus_han,
    open_tanyao, kiriage, double_yakuman, counted_yakuman, double_wind_fu,
):  # fmt: skip
    """Return what a hand is worth that wins with a tile: that of all readings which pays most (5.3).

    Args:
        counts: int8 (34,), the concealed tiles with the winning one, 14 - 3 * num_melds of them.
        meld_kinds: int8 (4,), the lowest kind of each meld.
        meld_types: int8 (4,): CHI, PON, OPEN_KAN or CLOSED_KAN of hands.py.
        num_melds: 0..4.
        win_kind: the kind of the winning tile.
        circumstances: set of those in yaku.py: RIICHI, DOUBLE_RIICHI, IPPATSU, AFTER_KAN, ROBBING_A_KAN, TSUMO,
            LAST_TILE, FIRST_DRAW.
        seat_wind, round_wind: kinds.
        bonus_han: han of dora (5.5), which count beside a yaku.
        open_tanyao, kiriage, double_yakuman, counted_yakuman, double_wind_fu: the options.

    Returns:
        han: int64, dora included; 0 if the hand is not complete or has no yaku, and 13 for each yakuman.
        fu: int64; 0 with yakuman, where they do not matter.
        yakuman: int64, their number, double ones counted twice with the option.
        yaku: int64, a set; with yakuman, only those (5.4).
    """
    w = _new_win()
    w.win_kind, w.is_tsumo = win_kind, circumstances & TSUMO != 0
    w.seat_wind, w.round_wind, w.bonus_han = seat_wind, round_wind, bonus_han
    w.kiriage, w.double_yakuman, w.counted_yakuman = kiriage, double_yakuman, counted_yakuman
    w.double_wind_fu = double_wind_fu
    w.best = w.han = w.fu = w.yakuman = w.yaku = 0
    _note_melds(w, meld_kinds, meld_types, num_melds)
    m, p, s = suit_group(counts, 0), suit_group(counts, 9), suit_group(counts, 18)
    honours = honour_group(counts)
    w.kinds |= kinds_of(held(m), held(p), held(s), held(honours))
    w.shared_yaku = yaku_of_circumstances(circumstances, w.is_open, seat_wind)
    w.shared_yaku |= yaku_of_kinds(w.kinds, w.is_open, open_tanyao)
    if num_melds == 0:
        _read_closed_hand(w, counts, m, p, s, honours)
    _read_hand(w, m, p, s, honours)
    return w.han, w.fu, w.yakuman, w.yaku


# ---------------------------------------------------------------------------------------------------------------
# Readings


@kernel(inline=True)
def _note_melds(w, meld_kinds, meld_types, num_melds):
    """Fill what depends on the melds."""
    w.is_open = w.meld_triplets = w.meld_runs = w.meld_fu = w.num_kans = w.num_closed_kans = w.kinds = 0
    for k in range(num_melds):
        kind, meld = np.int64(meld_kinds[k]), meld_types[k]
        if meld != CLOSED_KAN:
            w.is_open = 1
        if meld == CHI:
            w.meld_runs += np.int64(1) << 3 * (kind - 2 * (kind // 9))
            w.kinds |= np.int64(7) << kind
            continue
        w.meld_triplets |= bit_of(kind)
        w.kinds |= bit_of(kind)
        fu = 4 if ORPHANS >> kind & 1 else 2
        if meld != PON:
            w.num_kans += 1
            fu *= 4
        if meld == CLOSED_KAN:
            w.num_closed_kans += 1
            fu *= 2
        w.meld_fu += fu


@kernel(inline=True)
def _read_closed_hand(w, counts, m, p, s, honours):
    """Consider seven pairs and thirteen orphans, and note nine gates (5.1, 5.4)."""
    if is_seven_pairs(m, p, s, honours):
        _consider(w, w.shared_yaku | SEVEN_PAIRS, 25)
    elif is_orphans(m, p, s, honours):
        blessing = w.shared_yaku & YAKUMAN
        _consider(w, blessing | (THIRTEEN_SIDED_ORPHANS if counts[w.win_kind] == 2 else THIRTEEN_ORPHANS), 0)
    elif w.shared_yaku & FULL_FLUSH:
        w.shared_yaku |= yaku_of_gates(m | p | s, w.win_kind % 9)


@kernel(inline=True)
def _read_hand(w, m, p, s, honours):
    """Consider all readings as sets and a pair: first find the pair, which is in the group with 2 tiles modulo 3."""
    rest_m, rest_p, rest_s, pairs = sum_modulo_3(m), sum_modulo_3(p), sum_modulo_3(s), exactly_two(honours)
    if strays(honours) or count_bits(pairs) + (rest_m == 2) + (rest_p == 2) + (rest_s == 2) != 1:
        return
    if rest_m == 1 or rest_p == 1 or rest_s == 1:
        return
    w.honour_triplets = ranks_of(in_threes(honours)) << HONOURS
    if pairs:
        _read_sets(w, m, p, s, HONOURS + lowest_card(pairs) // 3)
        return
    group, first = (m, 0) if rest_m else ((p, 9) if rest_p else (s, 18))
    rank = lowest_pair(group)
    while rank < 9:
        if count_of(group, rank) >= 2:
            left = group - 2 * one_of(rank)
            _read_sets(w, left if rest_m else m, left if rest_p else p, left if rest_s else s, first + rank)
        rank += 3


@kernel
def _read_sets(w, m, p, s, pair):
    """Consider all readings of what is left beside a pair.

    They differ only where three runs are three triplets as well. Only one suit has so many tiles.
    """
    sets_m, sets_p, sets_s = read_sets(m, -1), read_sets(p, -1), read_sets(s, -1)
    if sets_m == NOT_SETS or sets_p == NOT_SETS or sets_s == NOT_SETS:
        return
    w.pair = pair
    _consider_sets(w, sets_m, sets_p, sets_s)
    for suit in range(3):
        group = m if suit == 0 else (p if suit == 1 else s)
        ambiguous = in_threes(group)
        ambiguous &= ambiguous >> 3 & ambiguous >> 6
        while ambiguous:
            other = read_sets(group, lowest_card(ambiguous) // 3)
            ambiguous &= ambiguous - 1
            if other != NOT_SETS:
                _consider_sets(
                    w, other if suit == 0 else sets_m, other if suit == 1 else sets_p, other if suit == 2 else sets_s
                )


@kernel
def _consider_sets(w, m, p, s):
    """Consider a reading, given as read_sets returns the suits, with each set that the winning tile may complete."""
    concealed = m & 511 | (p & 511) << 9 | (s & 511) << 18 | w.honour_triplets
    own_runs = m >> 9 | p >> 9 << 21 | s >> 9 << 42
    triplets, runs, win = concealed | w.meld_triplets, own_runs + w.meld_runs, w.win_kind
    num_concealed = count_bits(concealed) + w.num_closed_kans
    fu = 20 + w.meld_fu + 4 * (count_bits(concealed) + count_bits(concealed & ORPHANS)) + _pair_fu(w)
    yaku = w.shared_yaku | yaku_of_honours(triplets, w.pair, w.seat_wind, w.round_wind)
    yaku |= yaku_of_runs(runs, triplets, w.pair, w.is_open) if runs else 0
    is_wide, is_narrow = _runs_with(own_runs, win)
    if is_wide or is_narrow or w.pair == win or w.is_tsumo:
        with_triplets = yaku | yaku_of_triplets(triplets, runs != 0, num_concealed, w.num_kans, w.pair == win)
        if is_wide and fu == 20 and triplets == 0 and not w.is_open:
            _consider(w, with_triplets | PINFU, 20 if w.is_tsumo else 30)
        elif is_wide or (w.is_tsumo and concealed >> win & 1):
            _consider(w, with_triplets, _whole_fu(w, fu))
        if is_narrow or w.pair == win:
            _consider(w, with_triplets, _whole_fu(w, fu + 2))
    if not w.is_tsumo and concealed >> win & 1:  # a triplet that a ron completes counts as open (5.3)
        yaku |= yaku_of_triplets(triplets, runs != 0, num_concealed - 1, w.num_kans, False)
        _consider(w, yaku, _whole_fu(w, fu - (4 if ORPHANS >> win & 1 else 2)))


@kernel(inline=True)
def _runs_with(runs, kind):
    """Return whether a kind completes a run from both sides, or its middle or edge (6.2)."""
    if kind >= HONOURS:
        return False, False
    rank = kind % 9
    place = 3 * (kind - 2 * (kind // 9))
    as_low, as_middle = rank <= 6 and runs >> place & 7 != 0, 1 <= rank <= 7 and runs >> max(place - 3, 0) & 7 != 0
    as_high = rank >= 2 and runs >> max(place - 6, 0) & 7 != 0
    is_wide = (as_low and rank != 6) or (as_high and rank != 2)
    return is_wide, as_middle or (as_low and rank == 6) or (as_high and rank == 2)


# ---------------------------------------------------------------------------------------------------------------
# Fu, and the best reading


@kernel(inline=True)
def _pair_fu(w):
    """Return the fu of the pair (6.3)."""
    if w.pair >= WHITE:
        return np.int64(2)
    winds = np.int64(w.pair == w.seat_wind) + (w.pair == w.round_wind)
    return w.double_wind_fu if winds == 2 else 2 * winds


@kernel(inline=True)
def _whole_fu(w, fu):
    """Return the fu with those for how the hand was won, rounded up (6.1, 6.4)."""
    if w.is_tsumo:
        fu += 2
    elif not w.is_open:
        fu += 10
    fu = (fu + 9) // 10 * 10
    return max(fu, 30) if w.is_open else fu


@kernel
def _consider(w, yaku, fu):
    """Keep a reading if it is better than those before: by payment, then yakuman before han, han, fu."""
    limits, yakuman = yaku & YAKUMAN, np.int64(0)
    if limits:
        yaku, fu = limits, np.int64(0)
        yakuman = count_bits(limits) + (count_bits(limits & DOUBLE) if w.double_yakuman else 0)
        han = 13 * yakuman
    else:
        han = han_of(yaku, w.is_open)
        if han == 0:
            return
        han += w.bonus_han
    base = base_points(han, fu, yakuman, w.kiriage, w.counted_yakuman)
    worth = ((base << 4 | yakuman) << 10 | han) << 10 | fu
    if worth > w.best:
        w.best, w.han, w.fu, w.yakuman, w.yaku = worth, han, fu, yakuman, yaku


# ---------------------------------------------------------------------------------------------------------------
# Payments (7.1, 7.2)


@kernel(entry=True)
def base_points(han, fu, yakuman, kiriage, counted_yakuman):
    """Return the base of a win in points (7.1), 0 without han.

    Args:
        han, fu, yakuman: as score_win returns them.
        kiriage, counted_yakuman: the options.
    """
    if yakuman:
        return 8000 * yakuman
    if han >= 11:
        return 8000 if han >= 13 and counted_yakuman else 6000
    if han >= 6:
        return 4000 if han >= 8 else 3000
    if han == 0:
        return 0
    base = fu << (2 + han)
    if han == 5 or base > 2000 or (kiriage and han >= 3 and base == 1920):
        return 2000
    return base


@kernel(entry=True)
def ron_payment(base, is_dealer):
    """Return what the discarder pays to a winner, who may be the dealer (7.2)."""
    return (base * (6 if is_dealer else 4) + 99) // 100 * 100


@kernel(entry=True)
def tsumo_payment(base, has_dealer):
    """Return what one player pays after tsumo; `has_dealer`: whether the payer or the winner is the dealer (7.2)."""
    return (base * (2 if has_dealer else 1) + 99) // 100 * 100


# ---------------------------------------------------------------------------------------------------------------
# Dora (5.5)


@kernel(entry=True)
def count_dora(faces, indicators, number):
    """Return the han that indicators give.

    Args:
        faces: int8 (37,), all tiles of the winner by face, melds and the winning tile included.
        indicators: int8, faces.
        number: how many of the indicators count.
    """
    han = np.int64(0)
    for k in range(number):
        kind = next_kind(kind_of(indicators[k]))
        han += faces[kind]
        if kind < HONOURS and kind % 9 == 4:
            han += faces[RED + kind // 9]
    return han


@kernel(entry=True)
def count_red_fives(faces):
    """Return the han of red fives in int8 (37,), the tiles by face."""
    return np.int64(faces[RED]) + faces[RED + 1] + faces[RED + 2]
