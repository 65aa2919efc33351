"""What a winning hand counts: its yaku, as a set. Paragraph numbers are those of rules.md.

Sets of yaku and of circumstances are int64. A circumstance that is a yaku by itself, such as RIICHI, is the same bit in
both.

The sets of a hand are a set of triplets (kans included), by kind, and *runs*: an int64 with three bits for each kind at
which a run can begin, seven for each suit, which is how often it does.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.riichi.tiles import EAST, GREEN, HONOURS, NORTH, ORPHANS, RED_DRAGON, TERMINALS, WHITE, bit_of
from cardenvs.kits.cards import count_bits

(
    RIICHI, DOUBLE_RIICHI, IPPATSU, AFTER_KAN, ROBBING_A_KAN, SELF_DRAW, LAST_DRAW, LAST_DISCARD,
    PINFU, DOUBLE_RUN, TWO_DOUBLE_RUNS, ALL_SIMPLES, WHITE_DRAGON, GREEN_DRAGON, RED_DRAGONS, SEAT_WIND, ROUND_WIND,
    SEVEN_PAIRS, THREE_COLOUR_RUN, STRAIGHT, OUTSIDE_HAND, TERMINALS_IN_ALL_SETS,
    THREE_COLOUR_TRIPLETS, ALL_TRIPLETS, THREE_CONCEALED_TRIPLETS, THREE_KANS, LITTLE_DRAGONS, TERMINALS_AND_HONOURS,
    HALF_FLUSH, FULL_FLUSH,
    THIRTEEN_ORPHANS, THIRTEEN_SIDED_ORPHANS, FOUR_CONCEALED_TRIPLETS, FOUR_CONCEALED_TRIPLETS_PAIR_WAIT,
    NINE_GATES, NINE_SIDED_GATES, BIG_DRAGONS, LITTLE_WINDS, BIG_WINDS, ALL_HONOURS, ALL_TERMINALS, ALL_GREEN,
    FOUR_KANS, BLESSING_OF_HEAVEN, BLESSING_OF_EARTH,
) = (1 << k for k in range(45))  # fmt: skip

# Circumstances that count only together with others: the tile was drawn, it was the last one of the wall or the last
# discard, it was the first draw and there has been no call.
TSUMO, LAST_TILE, FIRST_DRAW = (1 << k for k in range(60, 63))

# English and Japanese name, han of a closed and of an open hand (0: for closed hands only); yakuman have 13 for each.
_ROWS = {
    RIICHI: ("riichi", "Riichi", 1, 0),
    DOUBLE_RIICHI: ("double riichi", "Double riichi", 2, 0),
    IPPATSU: ("ippatsu", "Ippatsu", 1, 0),
    AFTER_KAN: ("after a kan", "Rinshan kaihou", 1, 1),
    ROBBING_A_KAN: ("robbing a kan", "Chankan", 1, 1),
    SELF_DRAW: ("closed hand self-drawn", "Menzen tsumo", 1, 0),
    LAST_DRAW: ("last draw", "Haitei raoyue", 1, 1),
    LAST_DISCARD: ("last discard", "Houtei raoyui", 1, 1),
    PINFU: ("pinfu", "Pinfu", 1, 0),
    DOUBLE_RUN: ("double run", "Iipeikou", 1, 0),
    TWO_DOUBLE_RUNS: ("two double runs", "Ryanpeikou", 3, 0),
    ALL_SIMPLES: ("all simples", "Tanyao", 1, 1),
    WHITE_DRAGON: ("white dragon", "Haku", 1, 1),
    GREEN_DRAGON: ("green dragon", "Hatsu", 1, 1),
    RED_DRAGONS: ("red dragon", "Chun", 1, 1),
    SEAT_WIND: ("seat wind", "Jikaze", 1, 1),
    ROUND_WIND: ("round wind", "Bakaze", 1, 1),
    SEVEN_PAIRS: ("seven pairs", "Chiitoitsu", 2, 0),
    THREE_COLOUR_RUN: ("three-colour run", "Sanshoku doujun", 2, 1),
    STRAIGHT: ("straight", "Ittsuu", 2, 1),
    OUTSIDE_HAND: ("terminals or honours in all sets", "Chantaiyao", 2, 1),
    TERMINALS_IN_ALL_SETS: ("terminals in all sets", "Junchan taiyao", 3, 2),
    THREE_COLOUR_TRIPLETS: ("three-colour triplets", "Sanshoku doukou", 2, 2),
    ALL_TRIPLETS: ("all triplets", "Toitoihou", 2, 2),
    THREE_CONCEALED_TRIPLETS: ("three concealed triplets", "Sanankou", 2, 2),
    THREE_KANS: ("three kans", "Sankantsu", 2, 2),
    LITTLE_DRAGONS: ("little three dragons", "Shousangen", 2, 2),
    TERMINALS_AND_HONOURS: ("terminals and honours", "Honroutou", 2, 2),
    HALF_FLUSH: ("half flush", "Honiisou", 3, 2),
    FULL_FLUSH: ("full flush", "Chiniisou", 6, 5),
    THIRTEEN_ORPHANS: ("thirteen orphans", "Kokushi musou", 13, 0),
    THIRTEEN_SIDED_ORPHANS: ("thirteen-sided orphans", "Kokushi musou juusanmen machi", 13, 0),
    FOUR_CONCEALED_TRIPLETS: ("four concealed triplets", "Suuankou", 13, 0),
    FOUR_CONCEALED_TRIPLETS_PAIR_WAIT: ("four concealed triplets on the pair", "Suuankou tanki", 13, 0),
    NINE_GATES: ("nine gates", "Chuuren poutou", 13, 0),
    NINE_SIDED_GATES: ("nine-sided gates", "Junsei chuuren poutou", 13, 0),
    BIG_DRAGONS: ("big three dragons", "Daisangen", 13, 13),
    LITTLE_WINDS: ("little four winds", "Shousuushii", 13, 13),
    BIG_WINDS: ("big four winds", "Daisuushii", 13, 13),
    ALL_HONOURS: ("all honours", "Tsuuiisou", 13, 13),
    ALL_TERMINALS: ("all terminals", "Chinroutou", 13, 13),
    ALL_GREEN: ("all green", "Ryuuiisou", 13, 13),
    FOUR_KANS: ("four kans", "Suukantsu", 13, 13),
    BLESSING_OF_HEAVEN: ("blessing of heaven", "Tenhou", 13, 0),
    BLESSING_OF_EARTH: ("blessing of earth", "Chiihou", 13, 0),
}

YAKU_NAMES = tuple((english, japanese) for english, japanese, _, _ in _ROWS.values())  # by the place of the bit
HAN_OF_YAKU = tuple((closed, opened) for _, _, closed, opened in _ROWS.values())  # of a closed hand, of an open one
YAKUMAN = np.int64(sum(yaku for yaku, row in _ROWS.items() if row[2] == 13))
# Yakuman that count twice with the option (5.4)
DOUBLE = np.int64(THIRTEEN_SIDED_ORPHANS | FOUR_CONCEALED_TRIPLETS_PAIR_WAIT | NINE_SIDED_GATES | BIG_WINDS)

# Row 3 * is_open + k: the yaku whose han have bit k, so that three counts add up all han.
_HAN_BITS = np.array(
    [[sum(yaku for yaku, (*_, closed, opened) in _ROWS.items() if closed < 13 and (closed, opened)[is_open] >> k & 1)
      for k in range(3)] for is_open in range(2)], np.int64
).ravel()  # fmt: skip


def yaku_names(yaku):
    """Return the English names in a set of yaku."""
    return [name for k, (name, _) in enumerate(YAKU_NAMES) if int(yaku) >> k & 1]


@kernel(inline=True)
def han_of(yaku, is_open):
    """Return the han of a set of yaku without yakuman (5.2)."""
    row = 3 if is_open else 0
    return (
        count_bits(yaku & _HAN_BITS[row])
        + 2 * count_bits(yaku & _HAN_BITS[row + 1])
        + 4 * count_bits(yaku & _HAN_BITS[row + 2])
    )


# ---------------------------------------------------------------------------------------------------------------
# Whatever the sets are


@kernel(inline=True)
def yaku_of_circumstances(circumstances, is_open, seat_wind):
    """Return the yaku that depend on how the tile came (5.2, 5.4, 13.1)."""
    yaku = circumstances & (RIICHI | DOUBLE_RIICHI | IPPATSU | AFTER_KAN | ROBBING_A_KAN)
    if yaku & DOUBLE_RIICHI:
        yaku &= ~RIICHI
    is_tsumo = circumstances & TSUMO != 0
    if circumstances & LAST_TILE and not circumstances & (AFTER_KAN | ROBBING_A_KAN):
        yaku |= LAST_DRAW if is_tsumo else LAST_DISCARD
    if is_tsumo and not is_open:
        yaku |= SELF_DRAW
        if circumstances & FIRST_DRAW:
            yaku |= BLESSING_OF_HEAVEN if seat_wind == EAST else BLESSING_OF_EARTH
    return yaku


_SUIT = (1 << 9) - 1
_HONOURS = np.int64((1 << 34) - (1 << HONOURS))
_GREEN_TILES = np.int64(sum(1 << kind for kind in (19, 20, 21, 23, 25, GREEN)))


@kernel(inline=True)
def yaku_of_kinds(kinds, is_open, open_tanyao):
    """Return the yaku that depend on the kinds in the hand only (5.2, 5.4).

    Args:
        kinds: set of the kinds of all tiles, melds included.
        is_open: whether there is an open meld.
        open_tanyao: the option.
    """
    yaku = np.int64(0)
    if kinds & ORPHANS == 0:
        yaku |= ALL_SIMPLES if open_tanyao or not is_open else 0
    elif kinds & ~ORPHANS == 0:
        if kinds & _HONOURS == 0:
            yaku |= ALL_TERMINALS
        else:
            yaku |= TERMINALS_AND_HONOURS if kinds & TERMINALS else ALL_HONOURS
    suits = np.int64(kinds & _SUIT != 0) + (kinds >> 9 & _SUIT != 0) + (kinds >> 18 & _SUIT != 0)
    if suits == 1:
        yaku |= HALF_FLUSH if kinds & _HONOURS else FULL_FLUSH
    return yaku | (ALL_GREEN if kinds & ~_GREEN_TILES == 0 else 0)


_GATES = 0o311111113


@kernel(inline=True)
def yaku_of_gates(group, win_rank):
    """Return the yaku of a hand without melds in one suit, a group of hands.py: nine gates or none (5.4).

    Args:
        group: the suit with all 14 tiles.
        win_rank: the rank of the winning tile, 0..8.
    """
    for rank in range(9):
        if group == _GATES + (np.int64(1) << 3 * rank):
            return NINE_SIDED_GATES if rank == win_rank else NINE_GATES
    return 0


# ---------------------------------------------------------------------------------------------------------------
# Of four sets and a pair


_WINDS, _DRAGONS = 15 << EAST, 7 << WHITE
_RUN_ONES = 0o111111111111111111111  # a one for each kind at which a run can begin
_FIRST_OF_SUITS = 1 | 1 << 21 | 1 << 42
_OUTER_RUNS = _FIRST_OF_SUITS | _FIRST_OF_SUITS << 18  # 123 and 789


@kernel(inline=True)
def yaku_of_honours(triplets, pair, seat_wind, round_wind):
    """Return the yaku of triplets of winds and dragons (5.2, 5.4).

    Args:
        triplets: set of kinds.
        pair: kind.
        seat_wind, round_wind: kinds.
    """
    yaku = np.int64(0)
    if triplets & _HONOURS == 0:
        return yaku
    yaku |= SEAT_WIND if triplets >> seat_wind & 1 else 0
    yaku |= ROUND_WIND if triplets >> round_wind & 1 else 0
    yaku |= WHITE_DRAGON if triplets >> WHITE & 1 else 0
    yaku |= GREEN_DRAGON if triplets >> GREEN & 1 else 0
    yaku |= RED_DRAGONS if triplets >> RED_DRAGON & 1 else 0
    dragons, winds = count_bits(triplets & _DRAGONS), count_bits(triplets & _WINDS)
    if dragons == 3:
        yaku |= BIG_DRAGONS
    elif dragons == 2 and pair >= WHITE:
        yaku |= LITTLE_DRAGONS
    if winds == 4:
        yaku |= BIG_WINDS
    elif winds == 3 and EAST <= pair <= NORTH:
        yaku |= LITTLE_WINDS
    return yaku


@kernel(inline=True)
def yaku_of_runs(runs, triplets, pair, is_open):
    """Return the yaku of a hand that has runs, pinfu excepted (5.2)."""
    yaku, begun = np.int64(0), (runs | runs >> 1 | runs >> 2) & _RUN_ONES
    if begun & begun >> 21 & begun >> 42:
        yaku |= THREE_COLOUR_RUN
    if begun & begun >> 9 & begun >> 18 & _FIRST_OF_SUITS:
        yaku |= STRAIGHT
    if begun & ~_OUTER_RUNS == 0 and (triplets | bit_of(pair)) & ~ORPHANS == 0:
        yaku |= OUTSIDE_HAND if (triplets | bit_of(pair)) & _HONOURS else TERMINALS_IN_ALL_SETS
    if not is_open:
        twice, four_times = count_bits((runs >> 1 | runs >> 2) & _RUN_ONES), count_bits(runs >> 2 & _RUN_ONES)
        if twice + four_times:
            yaku |= DOUBLE_RUN if twice + four_times == 1 else TWO_DOUBLE_RUNS
    return yaku


@kernel(inline=True)
def yaku_of_triplets(triplets, has_runs, num_concealed, num_kans, is_pair_wait):
    """Return the yaku of triplets and kans, whatever their kinds are, and of three suits (5.2, 5.3, 5.4).

    Args:
        triplets: set of kinds.
        has_runs: whether the hand has runs.
        num_concealed: number of concealed triplets; one that a ron completes is not.
        num_kans: number of kans.
        is_pair_wait: whether the winning tile completes the pair.
    """
    yaku = np.int64(0) if has_runs else np.int64(ALL_TRIPLETS)
    if triplets & triplets >> 9 & triplets >> 18 & _SUIT:
        yaku |= THREE_COLOUR_TRIPLETS
    if num_concealed == 4:
        yaku |= FOUR_CONCEALED_TRIPLETS_PAIR_WAIT if is_pair_wait else FOUR_CONCEALED_TRIPLETS
    elif num_concealed == 3:
        yaku |= THREE_CONCEALED_TRIPLETS
    if num_kans == 4:
        yaku |= FOUR_KANS
    elif num_kans == 3:
        yaku |= THREE_KANS
    return yaku
