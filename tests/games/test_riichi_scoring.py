"""Tests of what a win of riichi is worth: yaku, fu, payments, dora, and a comparison with the package mahjong."""

import random
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from cardenvs.core.kernel import COMPILED
from cardenvs.games.riichi import yaku as y
from cardenvs.games.riichi.hands import CHI, CLOSED_KAN, OPEN_KAN, PON
from cardenvs.games.riichi.notation import count_tiles, kinds_of_faces, parse_tiles
from cardenvs.games.riichi.scoring import (
    base_points,
    count_dora,
    count_red_fives,
    ron_payment,
    score_win,
    tsumo_payment,
)
from cardenvs.games.riichi.tiles import EAST, HONOURS, LABELS, NUM_KINDS, ORPHANS, RED, SOUTH, WEST, kind_of

MELDS = {"chi": CHI, "pon": PON, "kan": OPEN_KAN, "closed": CLOSED_KAN}
OPTIONS = {"open_tanyao": 1, "kiriage": 0, "double_yakuman": 0, "counted_yakuman": 1, "double_wind_fu": 4}


@dataclass
class Win:
    """What score_win returns, and payments. After tsumo: that of a player who is not the dealer, and of the dealer."""

    han: int
    fu: int
    yakuman: int
    yaku: set
    base: int
    ron: int
    tsumo: tuple


def win(hand, tile, when=0, melds="", seat=SOUTH, round_wind=EAST, dora="", ura="", **options):
    """Score the concealed tiles `hand` that win with `tile`; `melds` as in "chi 789m pon 7z kan 1111s closed 1111z"."""
    options = OPTIONS | options
    words = melds.split()
    parsed = [(MELDS[word], parse_tiles(tiles)) for word, tiles in zip(words[::2], words[1::2], strict=True)]
    kinds, types = np.zeros(4, np.int8), np.zeros(4, np.int8)
    for k, (meld, tiles) in enumerate(parsed):
        types[k], kinds[k] = meld, min(kind_of(tile) for tile in tiles)
    concealed = count_tiles(hand + tile)
    faces = concealed + np.bincount([t for _, tiles in parsed for t in tiles], minlength=len(LABELS)).astype(np.int8)
    bonus = count_red_fives(faces)
    for text in (dora, ura):
        indicators = np.array(parse_tiles(text), np.int8)
        bonus += count_dora(faces, indicators, len(indicators))
    win_kind = kind_of(parse_tiles(tile)[0])
    han, fu, yakuman, found = score_win(
        kinds_of_faces(concealed), kinds, types, len(parsed), win_kind, when, seat, round_wind, bonus, *options.values()
    )
    return paid(han, fu, yakuman, found, seat, options)


def paid(han, fu, yakuman, yaku, seat, options):
    """Return what score_win returned as a Win."""
    base, is_dealer = base_points(han, fu, yakuman, options["kiriage"], options["counted_yakuman"]), seat == EAST
    payments = tsumo_payment(base, is_dealer), tsumo_payment(base, True)
    return Win(han, fu, yakuman, set(y.yaku_names(yaku)), base, ron_payment(base, is_dealer), payments)


def names(*yaku):
    return {y.yaku_names(one)[0] for one in yaku}


# ---------------------------------------------------------------------------------------------------------------
# Scenarios, all scored by the packages mahjong and riichienv too

TEN = ("234m567m345p67s22s", "8s")  # a hand of the first scenarios
SCENARIOS = [
    ("1 tsumo", TEN, {"when": y.TSUMO}, (3, 20, (700, 1300))),
    ("1 riichi", TEN, {"when": y.RIICHI}, (3, 30, 3900)),
    ("2", TEN, {"when": y.RIICHI, "dora": "1s"}, (5, 30, 8000)),
    ("2 dealer", TEN, {"when": y.RIICHI, "dora": "1s", "seat": EAST}, (5, 30, 12000)),
    ("2 twice", TEN, {"when": y.RIICHI, "dora": "11s"}, (7, 30, 12000)),
    ("2 ura", TEN, {"when": y.RIICHI, "dora": "9m", "ura": "1s"}, (5, 30, 8000)),
    ("3", TEN, {"when": y.RIICHI | y.IPPATSU | y.TSUMO, "dora": "1s", "seat": EAST}, (7, 20, (6000, 6000))),
    ("4", TEN, {"when": y.RIICHI | y.IPPATSU}, (4, 30, 7700)),
    ("4 kiriage", TEN, {"when": y.RIICHI | y.IPPATSU, "kiriage": 1}, (4, 30, 8000)),
    ("4 red", ("234m067m345p67s22s", "8s"), {"when": y.RIICHI}, (4, 30, 7700)),
    ("6", ("123m456p78s99p", "6s"), {"melds": "chi 789m", "dora": "8p"}, (0, 0, 0)),
    ("7", ("234m456p67s55s", "8s"), {"melds": "chi 345m"}, (1, 30, 1000)),
    ("7 closed only", ("234m456p67s55s", "8s"), {"melds": "chi 345m", "open_tanyao": 0}, (0, 0, 0)),
    ("8", ("1199m2288p5577s3z", "3z"), {}, (2, 25, 1600)),
    ("8 tsumo", ("1199m2288p5577s3z", "3z"), {"when": y.RIICHI | y.TSUMO}, (4, 25, (1600, 3200))),
    ("9", ("111z456m789p23s55p", "1s"), {"seat": EAST}, (2, 40, 3900)),
    ("10", ("123m46m777p99p", "5m"), {"melds": "closed 1111z", "seat": EAST, "round_wind": SOUTH}, (1, 70, 3400)),
    ("11", ("222m444p666s88s99m", "9m"), {}, (4, 50, 8000)),
    ("11 tsumo", ("222m444p666s88s99m", "9m"), {"when": y.TSUMO}, (13, 0, (8000, 16000))),
    ("12", ("123m45m11z", "6m"), {"melds": "pon 777z chi 789m"}, (4, 30, 7700)),
    ("13", ("2233445566778m", "8m"), {}, (11, 30, 24000)),
    ("13 riichi", ("2233445566778m", "8m"), {"when": y.RIICHI, "dora": "1m", "ura": "6m"}, (16, 30, 32000)),
    ("14 orphans", ("19m19p19s1234567z", "7z"), {}, (13, 0, 32000)),
    ("14 orphans, double", ("19m19p19s1234567z", "7z"), {"double_yakuman": 1}, (26, 0, 64000)),
    ("14 gates", ("1112345678999m", "9m"), {}, (13, 0, 32000)),
    ("14 gates, double", ("1112345678999m", "9m"), {"double_yakuman": 1}, (26, 0, 64000)),
    ("15", ("223344m667788p5s", "5s"), {}, (4, 40, 8000)),
    ("16", ("234m567m34p22s", "5p"), {"when": y.TSUMO | y.AFTER_KAN, "melds": "closed 8888s"}, (3, 40, (1300, 2600))),
    ("17", ("123m456p789s11s78p", "9p"), {"when": y.TSUMO | y.LAST_TILE}, (3, 20, (700, 1300))),
    ("18", ("234m567m333p45s22s", "6s"), {"when": y.RIICHI}, (2, 40, 2600)),
    ("18 middle", ("234m567m33p456s22s", "3p"), {"when": y.RIICHI}, (2, 40, 2600)),
    ("19 guest wind", ("123m456p789p67s33z", "8s"), {"when": y.RIICHI}, (2, 30, 2000)),
    ("19 own wind", ("123m456p789p67s22z", "8s"), {"when": y.RIICHI, "dora": "1z"}, (3, 40, 5200)),
    ("19 dealer", ("123m456p789p67s11z", "8s"), {"when": y.RIICHI, "seat": EAST}, (1, 40, 2000)),
    ("20", ("123456789m22p67s", "8s"), {}, (3, 30, 3900)),
    ("20 open", ("456789m22p67s", "8s"), {"melds": "chi 123m"}, (1, 30, 1000)),
    ("21 little", ("23m456p77z", "4m"), {"melds": "pon 555z pon 666z", "dora": "1m"}, (5, 30, 8000)),
    ("21 big", ("23m55p", "4m"), {"melds": "pon 555z pon 666z pon 777z"}, (13, 0, 32000)),
    ("22", ("11s99p", "9p"), {"melds": "pon 111z pon 999m pon 222z"}, (6, 40, 12000)),
    ("23", ("5m234p", "5m"), {"melds": "closed 9999p closed 7777z kan 1111s", "seat": WEST}, (3, 110, 8000)),
    ("25", TEN, {"when": y.TSUMO | y.FIRST_DRAW, "seat": EAST}, (13, 0, (16000, 16000))),
]


@pytest.mark.parametrize(
    ("hand", "more", "expected"), [row[1:] for row in SCENARIOS], ids=[row[0] for row in SCENARIOS]
)
def test_scenarios(hand, more, expected):
    found = win(*hand, **more)
    is_tsumo = more.get("when", 0) & y.TSUMO != 0
    assert (found.han, found.fu, found.tsumo if is_tsumo else found.ron) == expected or expected[2] == found.ron == 0


# ---------------------------------------------------------------------------------------------------------------
# Yaku (5.2, 5.4)

CLOSED = ("123m456p78s99p234s", "9s")  # counts pinfu
OPEN = ("123m456p78s99p", "9s")  # counts nothing with a triplet of 3s
YAKU = [
    ((y.RIICHI, y.PINFU), 2, CLOSED, {"when": y.RIICHI}),
    ((y.DOUBLE_RIICHI, y.PINFU), 3, CLOSED, {"when": y.DOUBLE_RIICHI}),
    ((y.RIICHI, y.IPPATSU, y.PINFU), 3, CLOSED, {"when": y.RIICHI | y.IPPATSU}),
    ((y.AFTER_KAN,), 1, OPEN, {"melds": "kan 3333s", "when": y.TSUMO | y.AFTER_KAN}),
    ((y.AFTER_KAN,), 1, OPEN, {"melds": "kan 3333s", "when": y.TSUMO | y.AFTER_KAN | y.LAST_TILE}),  # 13.1
    ((y.ROBBING_A_KAN,), 1, OPEN, {"melds": "pon 333s", "when": y.ROBBING_A_KAN}),
    ((y.SELF_DRAW, y.PINFU), 2, CLOSED, {"when": y.TSUMO}),
    ((y.SELF_DRAW,), 1, OPEN, {"melds": "closed 3333s", "when": y.TSUMO}),
    ((), 0, OPEN, {"melds": "pon 333s", "when": y.TSUMO}),
    ((y.LAST_DRAW,), 1, OPEN, {"melds": "pon 333s", "when": y.TSUMO | y.LAST_TILE}),
    ((y.LAST_DISCARD,), 1, OPEN, {"melds": "pon 333s", "when": y.LAST_TILE}),
    ((), 0, OPEN, {"melds": "pon 333s", "dora": "8p"}),  # 5.5
    ((y.PINFU,), 1, CLOSED, {}),
    ((y.PINFU,), 1, ("123m456p78s44z234s", "9s"), {}),
    ((), 0, ("123m456p78s22z234s", "9s"), {}),  # the seat wind
    ((), 0, ("123m456p78s11z234s", "9s"), {}),  # the wind of the round
    ((), 0, ("123m456p78s55z234s", "9s"), {}),
    ((), 0, ("123m456p79s99p234s", "8s"), {}),
    ((), 0, ("12m456p789s99p234s", "3m"), {}),
    ((), 0, ("89m456p789s99p234s", "7m"), {}),
    ((), 0, ("123m456p789s9p234s", "9p"), {}),
    ((y.DOUBLE_RUN,), 1, ("112233m456p79s22z", "8s"), {}),
    ((), 0, ("123m456p79s22z", "8s"), {"melds": "chi 123m"}),
    ((y.TWO_DOUBLE_RUNS,), 3, ("112233m445566s9p", "9p"), {}),
    ((y.TWO_DOUBLE_RUNS, y.PINFU), 4, ("11223344556s99p", "6s"), {}),
    ((y.TWO_DOUBLE_RUNS, y.FULL_FLUSH), 9, ("1111222233335s", "5s"), {}),  # four equal runs
    ((y.ALL_SIMPLES,), 1, ("234m456p68s88p", "7s"), {"melds": "pon 333s"}),
    ((), 0, ("234m456p68s88p", "7s"), {"melds": "pon 333s", "open_tanyao": 0}),
    ((y.ALL_SIMPLES,), 1, ("234m456p68s88p333s", "7s"), {"open_tanyao": 0}),
    ((y.WHITE_DRAGON,), 1, OPEN, {"melds": "pon 555z"}),
    ((y.GREEN_DRAGON,), 1, OPEN, {"melds": "kan 6666z"}),
    ((y.RED_DRAGONS,), 1, OPEN, {"melds": "closed 7777z"}),
    ((y.SEAT_WIND,), 1, OPEN, {"melds": "pon 222z"}),
    ((y.ROUND_WIND,), 1, OPEN, {"melds": "pon 111z"}),
    ((y.SEAT_WIND, y.ROUND_WIND), 2, OPEN, {"melds": "pon 111z", "seat": EAST}),
    ((), 0, OPEN, {"melds": "pon 333z"}),
    ((y.SEVEN_PAIRS,), 2, ("1199m2288p5577s3z", "3z"), {}),
    ((y.THREE_COLOUR_RUN,), 2, ("234m234p24s99p111m", "3s"), {}),
    ((y.THREE_COLOUR_RUN,), 1, ("234p24s99p111m", "3s"), {"melds": "chi 234m"}),
    ((y.STRAIGHT,), 2, ("12345689m22p444s", "7m"), {}),
    ((y.STRAIGHT,), 1, ("12345689m22p", "7m"), {"melds": "pon 444s"}),
    ((y.OUTSIDE_HAND,), 2, ("123m789p12s33z999s", "3s"), {}),
    ((y.OUTSIDE_HAND,), 1, ("123m789p12s33z", "3s"), {"melds": "pon 999s"}),
    ((y.TERMINALS_IN_ALL_SETS,), 3, ("123m789p12s11p999s", "3s"), {}),
    ((y.TERMINALS_IN_ALL_SETS,), 2, ("789p12s11p999s", "3s"), {"melds": "chi 123m"}),
    ((y.THREE_COLOUR_TRIPLETS,), 2, ("333m333p68s99p", "7s"), {"melds": "pon 333s"}),
    ((y.ALL_TRIPLETS,), 2, ("333m44p99p", "4p"), {"melds": "pon 555s pon 666s"}),
    ((y.THREE_CONCEALED_TRIPLETS,), 2, ("333m444p666s78m99p", "9m"), {}),
    ((y.THREE_CONCEALED_TRIPLETS,), 2, ("333m444p78m99p", "9m"), {"melds": "closed 6666s"}),
    ((y.THREE_CONCEALED_TRIPLETS,), 2, ("333m444p66s99p", "6s"), {"melds": "chi 789m", "when": y.TSUMO}),
    ((), 0, ("333m444p66s99p789m", "6s"), {}),  # 5.3
    ((y.THREE_KANS,), 2, ("33m67p", "8p"), {"melds": "kan 1111s closed 2222p kan 9999m"}),
    ((y.LITTLE_DRAGONS, y.WHITE_DRAGON, y.GREEN_DRAGON), 4, ("23m456p77z", "4m"), {"melds": "pon 555z pon 666z"}),
    ((y.TERMINALS_AND_HONOURS, y.ALL_TRIPLETS), 4, ("111m99p33z", "9p"), {"melds": "pon 999s pon 444z"}),
    ((y.TERMINALS_AND_HONOURS, y.SEVEN_PAIRS), 4, ("1199m1199p11s334z", "4z"), {}),
    ((y.HALF_FLUSH,), 3, ("12323446m33z888m", "5m"), {}),
    ((y.HALF_FLUSH,), 2, ("12323446m33z", "5m"), {"melds": "pon 888m"}),
    ((y.FULL_FLUSH,), 6, ("1232344699888m", "5m"), {}),
    ((y.FULL_FLUSH,), 5, ("1232344699m", "5m"), {"melds": "pon 888m"}),
]


@pytest.mark.parametrize(("yaku", "han", "hand", "more"), YAKU)
def test_5_2_yaku(yaku, han, hand, more):
    found = win(*hand, **more)
    assert (found.yaku, found.han, found.yakuman) == (names(*yaku), han, 0)


FOUR_WINDS = "pon 111z pon 222z pon 333z pon 444z"
YAKUMAN = [
    ((y.THIRTEEN_ORPHANS,), 1, ("119m19p19s123456z", "7z"), {}),
    ((y.THIRTEEN_SIDED_ORPHANS,), 2, ("19m19p19s1234567z", "1m"), {}),
    ((y.FOUR_CONCEALED_TRIPLETS,), 1, ("222m444p666s88s99m", "9m"), {"when": y.TSUMO}),
    ((y.FOUR_CONCEALED_TRIPLETS,), 1, ("222m444p88s99m", "9m"), {"when": y.TSUMO, "melds": "closed 6666s"}),
    ((y.FOUR_CONCEALED_TRIPLETS_PAIR_WAIT,), 2, ("222m444p666s8s999m", "8s"), {}),
    ((y.NINE_GATES,), 1, ("1123455678999m", "1m"), {}),
    ((y.NINE_SIDED_GATES,), 2, ("1112345678999p", "5p"), {}),
    ((y.BIG_DRAGONS,), 1, ("23m55p", "4m"), {"melds": "pon 555z closed 6666z kan 7777z"}),
    ((y.LITTLE_WINDS,), 1, ("23m44z", "4m"), {"melds": "pon 111z pon 222z pon 333z"}),
    ((y.BIG_WINDS,), 2, ("5p", "5p"), {"melds": FOUR_WINDS}),
    ((y.ALL_HONOURS,), 1, ("11222z55z", "5z"), {"melds": "pon 333z pon 777z"}),
    ((y.ALL_HONOURS,), 1, ("1122334455667z", "7z"), {}),
    ((y.ALL_TERMINALS,), 1, ("111m99p11s", "9p"), {"melds": "pon 999m pon 111p"}),
    ((y.ALL_GREEN,), 1, ("234s66s88s", "8s"), {"melds": "pon 666z chi 234s"}),
    ((y.ALL_GREEN,), 1, ("2233448s", "8s"), {"melds": "pon 666s pon 666z"}),
    ((y.FOUR_KANS,), 1, ("5p", "5p"), {"melds": "kan 1111s closed 2222p kan 9999m kan 3333z"}),
    ((y.BLESSING_OF_HEAVEN,), 1, CLOSED, {"when": y.TSUMO | y.FIRST_DRAW, "seat": EAST}),
    ((y.BLESSING_OF_EARTH,), 1, CLOSED, {"when": y.TSUMO | y.FIRST_DRAW}),
    ((y.BIG_WINDS, y.ALL_HONOURS), 3, ("7z", "7z"), {"melds": FOUR_WINDS}),
    ((y.BLESSING_OF_EARTH, y.THIRTEEN_ORPHANS), 2, ("119m19p19s123456z", "7z"), {"when": y.TSUMO | y.FIRST_DRAW}),
]


@pytest.mark.parametrize("double", [0, 1])
@pytest.mark.parametrize(("yaku", "number", "hand", "more"), YAKUMAN)
def test_5_4_yakuman(yaku, number, hand, more, double):
    found = win(*hand, **more, double_yakuman=double, dora="1m")
    expected = number if double else len(yaku)
    assert (found.yaku, found.yakuman, found.han, found.fu) == (names(*yaku), expected, 13 * expected, 0)
    assert found.base == 8000 * expected


def test_5_every_yaku_is_tested():
    tested = {one for yaku, _, _, _ in YAKU + YAKUMAN for one in yaku}
    assert len(y.YAKU_NAMES) == len(y.HAN_OF_YAKU) == len(tested)
    for yaku, _, _, more in YAKU + YAKUMAN:
        is_open = any(word in ("chi", "pon", "kan") for word in more.get("melds", "").split())
        assert all(y.HAN_OF_YAKU[one.bit_length() - 1][is_open] for one in yaku)


@pytest.mark.parametrize(
    ("hand", "more", "yaku", "fu"),
    [
        # Three triplets, unless three runs make more yaku
        (("111222333m456p9s", "9s"), {}, (y.THREE_CONCEALED_TRIPLETS,), 50),
        (("111222333m789p1s", "1s"), {}, (y.TERMINALS_IN_ALL_SETS, y.DOUBLE_RUN), 40),
        (("111222333444m5p", "5p"), {}, (y.FOUR_CONCEALED_TRIPLETS_PAIR_WAIT,), 0),
        # Two double runs rather than seven pairs
        (("223344m667788p5s", "5s"), {}, (y.TWO_DOUBLE_RUNS, y.ALL_SIMPLES), 40),
        # 4 5 6 6 6 with the last 6 at the end of the run, for pinfu, or in the pair, for 52 rather than 50 fu
        (("123m456p678s4566m", "6m"), {}, (y.PINFU,), 30),
        (("333p789s4566m", "6m"), {"melds": "closed 2222s", "when": y.RIICHI}, (y.RIICHI,), 60),
        # 2 2 3 3 4 4 with a 2 completes the pair, or a run
        (("22334m567p88s777z", "4m"), {}, (y.DOUBLE_RUN, y.RED_DRAGONS), 40),
    ],
)
def test_5_3_the_reading_that_pays_most(hand, more, yaku, fu):
    found = win(*hand, **more)
    assert (found.yaku, found.fu) == (names(*yaku), fu)


@pytest.mark.parametrize(
    ("hand", "tile", "melds"),
    [
        ("123m456p78s99p234s", "8s", ""), ("123m456p789s9p", "8p", "pon 555z"), ("1199m2288p55577s", "5s", ""),
        ("1111m", "2m", "pon 555z pon 666z kan 7777z"), ("119m19p19s123456z", "1m", ""),
        ("11m22p", "3m", "pon 555z pon 666z pon 777z"),
    ],
)  # fmt: skip
def test_5_1_a_hand_that_is_not_complete_is_worth_nothing(hand, tile, melds):
    assert win(hand, tile, y.TSUMO, melds).han == 0


# ---------------------------------------------------------------------------------------------------------------
# Fu (6)


@pytest.mark.parametrize(
    ("hand", "more", "fu"),
    [
        (("1199m2288p5577s3z", "3z"), {"when": y.TSUMO}, 25),
        (CLOSED, {"when": y.TSUMO}, 20),
        (CLOSED, {}, 30),
        (("234m456p67s88p", "8s"), {"melds": "chi 345s"}, 30),  # 20, see 6.4
        (("234m456p68s88p", "7s"), {"melds": "chi 345s"}, 30),  # 20 + 2
        (("234m456p67s88p", "8s"), {"melds": "chi 345s", "when": y.TSUMO}, 30),  # 20 + 2
        (("234m67s88p", "8s"), {"melds": "pon 222s pon 333s"}, 30),  # 20 + 2 + 2
        (("234m67s88p", "8s"), {"melds": "kan 2222s kan 3333s"}, 40),  # 20 + 8 + 8
        (("234m67s88p", "8s"), {"melds": "closed 2222s pon 333s"}, 40),  # 20 + 16 + 2
        (("123m67s88p", "8s"), {"melds": "kan 9999s pon 555z"}, 40),  # 20 + 16 + 4
        (("123m67s88p", "8s"), {"melds": "closed 9999s pon 555z"}, 60),  # 20 + 32 + 4
        (("123m67s77z", "8s"), {"melds": "closed 9999s pon 555z"}, 60),  # 20 + 32 + 4 + 2
        (("123m678s7z", "7z"), {"melds": "closed 9999s pon 555z"}, 60),  # 20 + 32 + 4 + 2 + 2
        (("123m68s77z", "7s"), {"melds": "closed 9999s pon 555z", "when": y.TSUMO}, 70),  # 20 + 32 + 4 + 2 + 2 + 2
        (("222m444p66s88m345s", "6s"), {}, 40),  # 30 + 4 + 4 + 2
        (("222m444p66s88m345s", "6s"), {"when": y.TSUMO}, 40),  # 20 + 2 + 4 + 4 + 4
        (("123m45p678s11z999s", "6p"), {"seat": EAST, "when": y.RIICHI}, 50),  # 30 + 8 + 4, see 6.3
        (("123m45p678s11z999s", "6p"), {"seat": EAST, "when": y.RIICHI, "double_wind_fu": 2}, 40),
        (("123m45p678s11z999s", "6p"), {"seat": SOUTH, "when": y.RIICHI, "double_wind_fu": 4}, 40),
        (("123m456p678s11z99s", "9s"), {"seat": EAST, "when": y.RIICHI}, 40),  # 30 + 4 + 4
    ],
)
def test_6_fu(hand, more, fu):
    assert win(*hand, **more).fu == fu


# ---------------------------------------------------------------------------------------------------------------
# Payments (7) and dora (5.5)


@pytest.mark.parametrize(
    ("han", "fu", "base"),
    [
        (0, 0, 0), (1, 30, 240), (2, 25, 400), (3, 20, 640), (3, 60, 1920), (3, 70, 2000), (4, 30, 1920), (4, 40, 2000),
        (5, 20, 2000), (6, 30, 3000), (7, 30, 3000), (8, 30, 4000), (10, 30, 4000), (11, 30, 6000), (12, 30, 6000),
        (13, 30, 8000), (30, 30, 8000),
    ],
)  # fmt: skip
def test_7_1_base(han, fu, base):
    assert base_points(han, fu, 0, 0, 1) == base
    assert base_points(han, fu, 0, 0, 0) == min(base, 6000)
    assert base_points(han, fu, 0, 1, 1) == (2000 if base == 1920 else base)
    assert base_points(han, fu, 3, 0, 0) == 24000


def test_7_2_payments():
    assert [ron_payment(base, dealer) for base in (240, 2000) for dealer in (False, True)] == [1000, 1500, 8000, 12000]
    assert [tsumo_payment(base, dealer) for base in (240, 1280) for dealer in (False, True)] == [300, 500, 1300, 2600]


@pytest.mark.parametrize(
    ("tiles", "indicators", "han"),
    [
        ("123m", "9m", 1), ("123m", "3m", 0), ("1111z", "4z", 4), ("555z", "7z", 3), ("66z77z", "5z6z", 4),
        ("1m", "99m", 2), ("055m", "4m", 3), ("055p", "4p", 3), ("6s", "0s", 1), ("1z", "7z", 0), ("5z", "4z", 0),
        ("1p", "9m", 0),
    ],
)  # fmt: skip
def test_5_5_dora(tiles, indicators, han):
    faces = np.array(parse_tiles(indicators), np.int8)
    assert count_dora(count_tiles(tiles), faces, len(faces)) == han
    assert count_dora(count_tiles(tiles), faces, 0) == 0
    assert count_red_fives(count_tiles(tiles)) == tiles.count("0")


# ---------------------------------------------------------------------------------------------------------------
# Comparison with the package mahjong

THEIR_NAMES = {
    "Aka Dora": 0, "Dora": 0, "Ura Dora": 0, "Riichi": y.RIICHI, "Double Riichi": y.DOUBLE_RIICHI, "Ippatsu": y.IPPATSU,
    "Rinshan Kaihou": y.AFTER_KAN, "Chankan": y.ROBBING_A_KAN, "Menzen Tsumo": y.SELF_DRAW,
    "Haitei Raoyue": y.LAST_DRAW, "Houtei Raoyui": y.LAST_DISCARD, "Pinfu": y.PINFU, "Iipeiko": y.DOUBLE_RUN,
    "Ryanpeikou": y.TWO_DOUBLE_RUNS, "Tanyao": y.ALL_SIMPLES, "Yakuhai (haku)": y.WHITE_DRAGON,
    "Yakuhai (hatsu)": y.GREEN_DRAGON, "Yakuhai (chun)": y.RED_DRAGONS, "Chiitoitsu": y.SEVEN_PAIRS,
    "Sanshoku Doujun": y.THREE_COLOUR_RUN, "Ittsu": y.STRAIGHT, "Chantai": y.OUTSIDE_HAND,
    "Junchan": y.TERMINALS_IN_ALL_SETS, "Sanshoku Doukou": y.THREE_COLOUR_TRIPLETS, "Toitoi": y.ALL_TRIPLETS,
    "San Ankou": y.THREE_CONCEALED_TRIPLETS, "San Kantsu": y.THREE_KANS, "Shou Sangen": y.LITTLE_DRAGONS,
    "Honroutou": y.TERMINALS_AND_HONOURS, "Honitsu": y.HALF_FLUSH, "Chinitsu": y.FULL_FLUSH,
    "Kokushi Musou": y.THIRTEEN_ORPHANS, "Kokushi Musou Juusanmen Matchi": y.THIRTEEN_SIDED_ORPHANS,
    "Suu Ankou": y.FOUR_CONCEALED_TRIPLETS, "Suu Ankou Tanki": y.FOUR_CONCEALED_TRIPLETS_PAIR_WAIT,
    "Chuuren Poutou": y.NINE_GATES, "Daburu Chuuren Poutou": y.NINE_SIDED_GATES, "Daisangen": y.BIG_DRAGONS,
    "Shousuushii": y.LITTLE_WINDS, "Dai Suushii": y.BIG_WINDS, "Tsuu Iisou": y.ALL_HONOURS,
    "Chinroutou": y.ALL_TERMINALS, "Ryuuiisou": y.ALL_GREEN, "Suu Kantsu": y.FOUR_KANS,
    "Tenhou": y.BLESSING_OF_HEAVEN, "Chiihou": y.BLESSING_OF_EARTH,
}  # fmt: skip
THEIR_NAMES |= {f"Yakuhai (seat wind {wind})": y.SEAT_WIND for wind in ("east", "south", "west", "north")}
THEIR_NAMES |= {f"Yakuhai (round wind {wind})": y.ROUND_WIND for wind in ("east", "south", "west", "north")}
GREEN = [19, 20, 21, 23, 25, 32]
ORPHAN_KINDS = [kind for kind in range(NUM_KINDS) if ORPHANS >> kind & 1]
POOLS = [  # of the lowest kinds of sets, and kinds of pairs
    range(NUM_KINDS), range(HONOURS), [*range(9), *range(HONOURS, NUM_KINDS)], range(9, 18), range(HONOURS, NUM_KINDS),
    ORPHAN_KINDS, [*ORPHAN_KINDS, 6, 15, 24], [0, 6, 8, 9, 15, 17, 18, 24, 26], GREEN, [0, 3, 6, 9, 12, 15, 18, 21, 24],
    [2, 3, 11, 12, 20, 21, 30], [1, 2, 3, 4], [27, 28, 29, 30, 4], [31, 32, 33, 13], [3, 4, 12, 13, 21, 22],
]  # fmt: skip


def random_hand(rng):
    """Return concealed kinds and melds, a list of (type, kinds), of a complete hand with at most four of a kind."""
    while True:
        pool, concealed, melds = rng.choice(POOLS), [], []
        form, share_of_melds, share_of_runs = rng.random(), rng.choice([0, 0.2, 0.6, 1]), rng.choice([0, 0.3, 0.7, 1])
        if form < 0.06 and len(pool) >= 7:
            concealed = 2 * rng.sample(list(pool), 7)
        elif form < 0.08:
            concealed = [*ORPHAN_KINDS, rng.choice(ORPHAN_KINDS)]
        elif form < 0.10:
            suit = rng.choice([0, 9, 18])
            concealed = [suit + rank for rank in (0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, rng.randrange(9))]
        else:
            for _ in range(4):
                kind = rng.choice(pool)
                is_run = kind < HONOURS and kind % 9 <= 6 and rng.random() < share_of_runs
                tiles = [kind, kind + 1, kind + 2] if is_run else [kind] * 3
                if rng.random() >= share_of_melds:
                    concealed += tiles
                elif is_run:
                    melds.append((CHI, tiles))
                else:
                    meld = rng.choice([PON, OPEN_KAN, CLOSED_KAN, CLOSED_KAN])
                    melds.append((meld, tiles if meld == PON else [kind] * 4))
            concealed += 2 * [rng.choice(pool)]
        if max(Counter(concealed + [kind for _, tiles in melds for kind in tiles]).values()) <= 4:
            return concealed, melds


def random_circumstances(rng, melds):
    """Return a set of circumstances that can come together."""
    when = y.TSUMO if rng.random() < 0.5 else 0
    if all(meld == CLOSED_KAN for meld, _ in melds):
        when |= rng.choice([0, 0, y.RIICHI, y.RIICHI, y.DOUBLE_RIICHI])
        if when & (y.RIICHI | y.DOUBLE_RIICHI) and rng.random() < 0.3:
            when |= y.IPPATSU
    if not melds and when == y.TSUMO and rng.random() < 0.1:
        return when | y.FIRST_DRAW
    if rng.random() < 0.2:
        when |= y.LAST_TILE
    elif rng.random() < 0.2:
        when |= y.AFTER_KAN if when & y.TSUMO else y.ROBBING_A_KAN
    return when


def theirs(modules, tiles, tile, melds, when, seat, round_wind, dora, ura, options):
    """Return han, fu, payments, and yaku as names, by mahjong; or None without yaku."""
    hand, config, meld_module = modules
    rules = config.OptionalRules(
        has_open_tanyao=bool(options["open_tanyao"]), has_aka_dora=True, kiriage=bool(options["kiriage"]),
        has_double_yakuman=bool(options["double_yakuman"]),
        kazoe_limit=0 if options["counted_yakuman"] else config.HandConstants.KAZOE_SANBAIMAN,
    )  # fmt: skip
    is_tsumo, is_last = bool(when & y.TSUMO), bool(when & y.LAST_TILE)
    is_first = bool(when & y.FIRST_DRAW)
    given = config.HandConfig(
        is_tsumo=is_tsumo, is_riichi=bool(when & y.RIICHI), is_daburu_riichi=bool(when & y.DOUBLE_RIICHI),
        is_ippatsu=bool(when & y.IPPATSU), is_rinshan=bool(when & y.AFTER_KAN), is_chankan=bool(when & y.ROBBING_A_KAN),
        is_haitei=is_last and is_tsumo, is_houtei=is_last and not is_tsumo, is_tenhou=is_first and seat == EAST,
        is_chiihou=is_first and seat != EAST, player_wind=seat, round_wind=round_wind, options=rules,
    )  # fmt: skip
    forms = {CHI: "chi", PON: "pon", OPEN_KAN: "kan", CLOSED_KAN: "kan"}
    sets = [meld_module.Meld(forms[meld], tiles_of, opened=meld != CLOSED_KAN) for meld, tiles_of in melds]
    found = hand.HandCalculator.estimate_hand_value(tiles, tile, sets, dora, given, ura_dora_indicators=ura)
    if found.error:
        assert found.error == "no_yaku", found.error
        return None
    yaku = {y.yaku_names(THEIR_NAMES[one.name])[0] for one in found.yaku if THEIR_NAMES[one.name]}
    return found.han, found.fu, (found.cost["main"], found.cost["additional"]), yaku


def compare_with_mahjong(seed, number):
    """Score random wins here and with mahjong; return how often each yaku was seen."""
    hand = pytest.importorskip("mahjong.hand_calculating.hand")
    modules = hand, pytest.importorskip("mahjong.hand_calculating.hand_config"), pytest.importorskip("mahjong.meld")
    rng, seen = random.Random(seed), Counter()
    for _ in range(number):
        concealed, melds = random_hand(rng)
        held = Counter(concealed + [kind for _, kinds in melds for kind in kinds])
        left = {kind: [4 * kind + k for k in range(4)] for kind in held}  # their tiles, of which the first five is red
        for kind in (4, 13, 22):
            if 0 < held[kind] < 4 and rng.random() < 0.6:
                left[kind].pop(0)
        tiles = [left[kind].pop(0) for kind in rng.sample(concealed, len(concealed))]
        tile = rng.choice(tiles)
        their_melds = [(meld, [left[kind].pop(0) for kind in kinds]) for meld, kinds in melds]
        tiles += [one for _, kinds in their_melds for one in kinds]
        dora, ura = ([rng.randrange(136) for _ in range(rng.randrange(5))] for _ in range(2))
        when, seat, round_wind = random_circumstances(rng, melds), EAST + rng.randrange(4), EAST + rng.randrange(2)
        options = OPTIONS | {name: rng.randrange(2) for name in OPTIONS if name != "double_wind_fu"}
        expected = theirs(modules, tiles, tile, their_melds, when, seat, round_wind, dora, ura, options)

        found = scored(tiles, concealed, melds, tile // 4, when, seat, round_wind, dora, ura, options)
        seen.update(found.yaku)
        if expected is None:
            assert found.han == 0
            seen["no yaku"] += 1
            continue
        payments = found.tsumo[::-1] if when & y.TSUMO else (found.ron, 0)
        case = concealed, melds, tile // 4, when, seat, round_wind, options
        assert (found.han, payments, found.yaku) == (expected[0], expected[2], expected[3]), case
        assert found.yakuman or found.fu == expected[1], case
    return seen


def scored(tiles, concealed, melds, win_kind, when, seat, round_wind, dora, ura, options):
    """Score a hand given as their tiles, our kinds and melds."""
    faces = np.bincount([face_of(tile) for tile in tiles], minlength=len(LABELS)).astype(np.int8)
    bonus = count_red_fives(faces) + count_dora(faces, np.array([face_of(tile) for tile in dora], np.int8), len(dora))
    if when & (y.RIICHI | y.DOUBLE_RIICHI):
        bonus += count_dora(faces, np.array([face_of(tile) for tile in ura], np.int8), len(ura))
    kinds, types = np.zeros(4, np.int8), np.zeros(4, np.int8)
    for k, (meld, tiles_of) in enumerate(melds):
        kinds[k], types[k] = tiles_of[0], meld
    counts = np.bincount(concealed, minlength=NUM_KINDS).astype(np.int8)
    found = score_win(counts, kinds, types, len(melds), win_kind, when, seat, round_wind, bonus, *options.values())
    return paid(*found, seat, options)


def face_of(tile):
    return RED + tile // 36 if tile in (16, 52, 88) else tile // 4


def test_hands_are_worth_what_mahjong_says():
    seen = compare_with_mahjong(1, 2_000 if COMPILED else 50)
    if COMPILED:
        assert seen.keys() == {"no yaku", *(name for name, _ in y.YAKU_NAMES)}, seen
