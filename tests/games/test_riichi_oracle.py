"""The oracle of riichi mahjong by itself: the scenarios of the rules, PyPI `mahjong`, and what always holds."""

import random
from collections import Counter

import pytest
from riichi_oracle import CLOSED_KAN, PASS, RIICHI, RON, TSUMO, Match, Round, full_set
from riichi_oracle_score import KANS, ORPHANS, RED_FIVES, Win, kind_of, ron_pay, tsumo_pay, waits, worth


def faces(text):
    """Faces of a text such as 340m11z; 0 is the red five."""
    found, ranks = [], ""
    for letter in text:
        if letter.isdigit():
            ranks += letter
        else:
            suit = "mpsz".index(letter)
            found += [34 + suit if rank == "0" else 9 * suit + int(rank) - 1 for rank in ranks]
            ranks = ""
    return found


def scored(hand, tile, melds="", tsumo=False, d="", ura="", options=None, **win):
    """The worth of a hand; melds are texts such as "pon 777z", separated by commas."""
    texts = [text.strip().rsplit(" ", 1) for text in melds.split(",") if text]
    win = Win(tsumo=tsumo, dora=tuple(faces(d)), ura=tuple(faces(ura)), **win)
    return worth(faces(hand), [(sort, faces(tiles)) for sort, tiles in texts], faces(tile)[0], win, options)


def pays(value, tsumo=False, dealer=False):
    if not tsumo:
        return ron_pay(value.base, dealer)
    return tsumo_pay(value.base, dealer, False), tsumo_pay(value.base, dealer, True)


SCENARIOS = (  # section 12: hand, tile, (han, fu) or yakuman, pay, and what else counts
    ("234m567m345p67s22s", "8s", (3, 20), (700, 1300), {"tsumo": True}),
    ("234m567m345p67s22s", "8s", (3, 30), 3900, {"riichi": 1}),
    ("234m567m345p67s22s", "8s", (5, 30), 8000, {"riichi": 1, "d": "1s"}),
    ("234m567m345p67s22s", "8s", (5, 30), 12000, {"riichi": 1, "d": "1s", "seat_wind": 0}),
    ("234m567m345p67s22s", "8s", (7, 30), 12000, {"riichi": 1, "d": "11s"}),
    ("234m567m345p67s22s", "8s", (5, 30), 8000, {"riichi": 1, "d": "9m", "ura": "1s"}),
    ("234m567m345p67s22s", "8s", (7, 20), (6000, 6000),
     {"riichi": 1, "ippatsu": True, "tsumo": True, "d": "1s", "seat_wind": 0}),
    ("234m567m345p67s22s", "8s", (4, 30), 7700, {"riichi": 1, "ippatsu": True}),
    ("234m567m345p67s22s", "8s", (4, 30), 8000,
     {"riichi": 1, "ippatsu": True, "options": {"kiriage_mangan": True}}),
    ("234m067m345p67s22s", "8s", (4, 30), 7700, {"riichi": 1}),
    ("123m456p78s99p", "6s", None, None, {"melds": "chi 789m", "d": "8p"}),
    ("234m456p67s55s", "8s", (1, 30), 1000, {"melds": "chi 345m"}),
    ("234m456p67s55s", "8s", None, None, {"melds": "chi 345m", "options": {"open_tanyao": False}}),
    ("1199m2288p5577s3z", "3z", (2, 25), 1600, {}),
    ("1199m2288p5577s3z", "3z", (4, 25), (1600, 3200), {"riichi": 1, "tsumo": True}),
    ("111z456m789p23s55p", "1s", (2, 40), 3900, {"seat_wind": 0}),
    ("123m46m777p99p", "5m", (1, 70), 3400, {"melds": "closed kan 1111z", "seat_wind": 0, "round_wind": 1}),
    ("222m444p666s88s99m", "9m", (4, 50), 8000, {}),
    ("222m444p666s88s99m", "9m", 1, (8000, 16000), {"tsumo": True}),
    ("123m45m11z", "6m", (4, 30), 7700, {"melds": "pon 777z, chi 789m"}),
    ("2233445566778m", "8m", (11, 30), 24000, {}),
    ("2233445566778m", "8m", (16, 30), 32000, {"riichi": 1, "d": "1m", "ura": "6m"}),
    ("2233445566778m", "8m", (16, 30), 24000,
     {"riichi": 1, "d": "1m", "ura": "6m", "options": {"counted_yakuman": False}}),
    ("19m19p19s1234567z", "7z", 1, 32000, {}),
    ("19m19p19s1234567z", "7z", 2, 64000, {"options": {"double_yakuman": True}}),
    ("1112345678999m", "9m", 1, 32000, {}),
    ("1112345678999m", "9m", 2, 64000, {"options": {"double_yakuman": True}}),
    ("223344m667788p5s", "5s", (4, 40), 8000, {}),
    ("234m567m34p22s", "5p", (3, 40), (1300, 2600), {"melds": "closed kan 8888s", "tsumo": True, "after_kan": True}),
    ("123m456p789s11s78p", "9p", (3, 20), (700, 1300), {"tsumo": True, "last": True}),
    ("234m567m333p45s22s", "6s", (2, 40), 2600, {"riichi": 1}),
    ("234m567m33p456s22s", "3p", (2, 40), 2600, {"riichi": 1}),
    ("123m456p789p67s33z", "8s", (2, 30), 2000, {"riichi": 1}),
    ("123m456p789p67s22z", "8s", (3, 40), 5200, {"riichi": 1, "d": "1z"}),
    ("123m456p789p67s11z", "8s", (1, 40), 2000, {"riichi": 1, "seat_wind": 0}),
    ("123456789m22p67s", "8s", (3, 30), 3900, {}),
    ("456789m22p67s", "8s", (1, 30), 1000, {"melds": "chi 123m"}),
    ("23m456p77z", "4m", (5, 30), 8000, {"melds": "pon 555z, pon 666z", "d": "1m"}),
    ("23m55p", "4m", 1, 32000, {"melds": "pon 555z, pon 666z, pon 777z"}),
    ("11s99p", "9p", (6, None), 12000, {"melds": "pon 111z, pon 999m, pon 222z"}),
    ("5m234p", "5m", (3, 110), 8000,
     {"melds": "closed kan 9999p, closed kan 7777z, open kan 1111s", "seat_wind": 2}),
    ("123m456p789s1112z", "2z", 1, (16000, 16000), {"tsumo": True, "first_draw": True, "seat_wind": 0}),
)  # fmt: skip


@pytest.mark.parametrize(("hand", "tile", "size", "pay", "rest"), SCENARIOS)
def test_scenarios_of_the_rules(hand, tile, size, pay, rest):
    value = scored(hand, tile, **rest)
    if size is None:
        assert value is None
        return
    if isinstance(size, int):
        assert value.yakuman == size
    else:
        assert (value.han, value.fu if size[1] else None) == size
    assert pays(value, rest.get("tsumo"), rest.get("seat_wind") == 0) == pay


def test_tenpai():
    assert waits(faces("123m456p789s11z23s")) == {18, 21}
    assert not waits(faces("147m258p369s1234z"))
    assert not waits(faces("1111m234p567s999s"))
    assert not waits(faces("89m456p77s"), [("closed kan", faces("7777m")), ("pon", faces("111z"))])


@pytest.mark.parametrize(("hand", "kan"), [
    ("111222333m45p99s", False),  # could be three runs; riichienv allows this kan, as the waits stay
    ("222m456s789s45p99s", True),
    ("222m34m456s789s99s", False),  # 9s would be no wait any more
])  # fmt: skip
def test_closed_kan_in_riichi(hand, kan):
    """Ruling 14, with the fourth 2m drawn one go-round after the riichi."""
    wall, rest = faces(hand), full_set()
    for face in (*wall, *faces("1z2m")):
        rest.remove(face)
    random.Random(1).shuffle(rest)
    round_ = Round([*wall, *rest[:39], *faces("1z"), *rest[39:42], *faces("2m"), *rest[42:]])
    round_.apply(RIICHI + faces("1z")[0])
    while round_.current != 0 or round_.stage != "turn":
        round_.apply(PASS if PASS in round_.legal() else round_.drawn)
    assert round_.drawn == 1
    assert (CLOSED_KAN + 1 in round_.legal()) == kan


# -- against PyPI mahjong ------------------------------------------------------------------------------------------


def random_hand(chooser):
    """A complete hand, rich in rare shapes: (concealed kinds, melds, winning kind)."""
    pool = chooser.choice((
        range(34), range(34), range(9), [*range(9, 18), *range(27, 34)], sorted(ORPHANS), [19, 20, 21, 23, 25, 32],
        [1, 2, 3, 10, 11, 12, 19, 20, 21, 27], range(27, 34), [31, 32, 33, 3, 4, 5],
    ))  # fmt: skip
    shape = chooser.random()
    hand, melds = [], []
    if shape < 0.08 and len(pool) >= 7:
        hand = [kind for kind in chooser.sample(list(pool), 7) for _ in range(2)]
    elif shape < 0.1:
        hand = [*sorted(ORPHANS), chooser.choice(sorted(ORPHANS))]
    elif shape < 0.12:
        hand = [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, chooser.randrange(9)]
    else:
        pair = chooser.choice(pool)
        hand = [pair, pair]
        num_melds, is_closed, share = chooser.choice((0, 0, 0, 1, 2, 3, 4)), chooser.random() < 0.3, chooser.random()
        starts = [kind for kind in pool if kind < 27 and kind % 9 <= 6 and {kind + 1, kind + 2} <= set(pool)]
        for number in range(4):
            if starts and chooser.random() < share:
                first = chooser.choice(starts)
                tiles, sorts = [first, first + 1, first + 2], ["chi"]
            else:
                tiles, sorts = [chooser.choice(pool)] * 3, ["pon", "open kan", "added kan", "closed kan"]
            sorts = [sort for sort in sorts if not is_closed or sort == "closed kan"]
            if number < num_melds and sorts:
                sort = chooser.choice(sorts)
                melds.append((sort, tiles + tiles[:1] if sort in KANS else tiles))
            else:
                hand += tiles
    held = Counter(hand)
    for _, tiles in melds:
        held.update(tiles)
    return (hand, melds, chooser.choice(hand)) if max(held.values()) <= 4 else random_hand(chooser)


def paint(chooser, hand, melds):
    """Make some fives red, at most one in a suit."""
    rows = [hand, *(tiles for _, tiles in melds)]
    for red, five in RED_FIVES.items():
        spots = [(row, place) for row in rows for place, face in enumerate(row) if face == five]
        if spots and (len(spots) == 4 or chooser.random() < 0.5):
            row, place = chooser.choice(spots)
            row[place] = red


def take_ids(row, used):
    """The package's ids 0..135 of faces; 16, 52 and 88 are the red fives."""
    ids = []
    for face in row:
        choices = [{34: 16, 35: 52, 36: 88}[face]] if face in RED_FIVES else range(4 * face, 4 * face + 4)
        tile = next(each for each in choices if each not in used and (face in RED_FIVES or each not in (16, 52, 88)))
        used.add(tile)
        ids.append(tile)
    return ids


def random_win(chooser, hand, tile, melds):
    is_open = any(sort != "closed kan" for sort, _ in melds)
    win = Win(tsumo=chooser.random() < 0.5, seat_wind=chooser.randrange(4), round_wind=chooser.randrange(2))
    if not is_open:
        win.riichi = chooser.choice((0, 0, 1, 1, 2))
        win.ippatsu = win.riichi > 0 and chooser.random() < 0.3
    luck = chooser.random()
    if luck < 0.1:
        win.last, win.ippatsu = True, False
    elif luck < 0.2 and win.tsumo and any(sort in KANS for sort, _ in melds):
        win.after_kan, win.ippatsu = True, False
    elif luck < 0.25 and not win.tsumo and kind_of(tile) not in map(kind_of, hand):
        win.robbed = True
    elif luck < 0.3 and win.tsumo and not melds and not win.riichi:
        win.first_draw = True
    win.dora = tuple(chooser.randrange(34) for _ in range(chooser.randrange(1, 4)))
    win.ura = tuple(chooser.randrange(34) for _ in win.dora)
    return win


def package_worth(package, hand, melds, tile, win, options):
    from mahjong.constants import EAST
    from mahjong.hand_calculating.hand_config import HandConfig, OptionalRules
    from mahjong.meld import Meld

    used = set()
    ids = take_ids([*hand, tile], used)
    winning = ids[-1]
    sorts = {"chi": Meld.CHI, "pon": Meld.PON, "added kan": Meld.SHOUMINKAN}
    their_melds = []
    for sort, tiles in melds:
        row = sorted(take_ids(tiles, used))
        ids += row
        their_melds.append(Meld(meld_type=sorts.get(sort, Meld.KAN), tiles=row, opened=sort != "closed kan"))
    config = HandConfig(
        is_tsumo=win.tsumo, is_riichi=win.riichi > 0, is_daburu_riichi=win.riichi == 2, is_ippatsu=win.ippatsu,
        is_rinshan=win.after_kan, is_chankan=win.robbed, is_haitei=win.last and win.tsumo,
        is_houtei=win.last and not win.tsumo, is_tenhou=win.first_draw and win.seat_wind == 0,
        is_chiihou=win.first_draw and win.seat_wind > 0, player_wind=EAST + win.seat_wind,
        round_wind=EAST + win.round_wind,
        options=OptionalRules(
            has_open_tanyao=options["open_tanyao"], has_aka_dora=True, has_double_yakuman=options["double_yakuman"],
            kiriage=options["kiriage_mangan"],
            kazoe_limit=HandConfig.KAZOE_LIMITED if options["counted_yakuman"] else HandConfig.KAZOE_SANBAIMAN,
        ),
    )  # fmt: skip
    dora, ura = ([4 * kind + (kind in (4, 13, 22)) for kind in kinds] for kinds in (win.dora, win.ura))
    return package.estimate_hand_value(
        ids, winning, their_melds, dora, config, ura_dora_indicators=ura if win.riichi else None
    )


def compare_with_package(num_hands, seed):
    package = pytest.importorskip("mahjong.hand_calculating.hand").HandCalculator()
    chooser, met = random.Random(seed), Counter()
    for _ in range(num_hands):
        hand, melds, _ = random_hand(chooser)
        paint(chooser, hand, melds)
        tile = hand.pop(chooser.randrange(len(hand)))
        win = random_win(chooser, hand, tile, melds)
        names = ("open_tanyao", "kiriage_mangan", "double_yakuman", "counted_yakuman")
        options = {name: chooser.random() < 0.6 for name in names}
        mine, theirs = (
            worth(hand, melds, tile, win, options),
            package_worth(package, hand, melds, tile, win, options),
        )
        case = (hand, melds, tile, win, options, mine, theirs, theirs.yaku)
        assert (mine is None) == bool(theirs.error), case
        if mine is None:
            met["no yaku"] += 1
            continue
        met.update(mine.yaku)
        cost = (theirs.cost["additional"], theirs.cost["main"]) if win.tsumo else theirs.cost["main"]
        if win.tsumo and win.seat_wind == 0:
            cost = (cost[1], cost[1])
        assert pays(mine, win.tsumo, win.seat_wind == 0) == cost, case
        assert mine.han == theirs.han, case
        assert mine.yakuman or mine.fu == theirs.fu, case
    return met


def test_hands_are_worth_what_the_package_says():
    met = compare_with_package(1500, 1)
    assert len(met) > 35
    assert met["no yaku"] > 50


@pytest.mark.slow
def test_more_hands_are_worth_what_the_package_says():
    compare_with_package(40_000, 2)


# -- games ---------------------------------------------------------------------------------------------------------

CHOICES = {
    "starting_points": (25000, 30000, 2000), "red_fives": (True, False), "open_tanyao": (True, False),
    "kiriage_mangan": (True, False), "double_yakuman": (True, False), "counted_yakuman": (True, False),
    "multiple_ron": ("double", "triple", "head_bump"), "swap_calling": (True, False),
    "abortive_draws": (True, False), "nagashi": (True, False), "pao": (True, False), "ura_dora": (True, False),
    "kan_dora": (True, False), "ippatsu": (True, False), "double_wind_fu": (4, 2),
}  # fmt: skip


def check(round_, num_points):
    """Every tile is in one place, and points and sticks are what they were."""
    seen = [face for hand in round_.hands for face in hand]
    seen += [face for melds in round_.melds for meld in melds for face in meld.faces]
    seen += [discard.face for row in round_.discards for discard in row if not discard.called]
    seen += round_.wall[round_.next_draw : 122] + round_.wall[122 + round_.kans :]
    if round_.robbed_kan is not None:
        seen.append(round_.offered)
    assert sorted(seen) == full_set(round_.options["red_fives"])
    assert sum(round_.points) + 1000 * round_.sticks == num_points
    for player in range(4):
        size = len(round_.hands[player]) + 3 * len(round_.melds[player])
        has_turn = not round_.done and round_.stage == "turn" and player == round_.current
        assert size in ((14,) if has_turn else (13,)) or round_.robbed_kan is not None or round_.done


def play(seed, length, style):
    chooser = random.Random(seed)
    options = {name: chooser.choice(values) for name, values in CHOICES.items()} if seed else {}

    def next_wall():
        wall = full_set(options.get("red_fives", True))
        chooser.shuffle(wall)
        return wall

    match, met = Match(next_wall, length=length, **options), Counter()
    num_points = sum(match.points)
    while not match.done:
        round_, legal = match.round, match.legal()
        check(round_, num_points)
        assert legal == sorted(set(legal))
        met[round_.stage] += 1
        others = [action for action in legal if action >= RIICHI and action != PASS]
        wins = [action for action in legal if action in (RON, TSUMO)]
        if wins and chooser.random() < 0.9:
            action = wins[0]
        else:
            action = chooser.choice(others if others and chooser.random() < style else legal)
        match.apply(action)
        check(round_, num_points)
        met.update([round_.result.sort] if round_.done else [])
    assert sum(match.points) + 1000 * match.sticks == num_points
    assert length == "round" or match.sticks == 0
    return met


def test_random_games_keep_tiles_and_points():
    met = Counter()
    for seed in range(12):
        met += play(seed, ("round", "east")[seed % 12 == 5], (0.1, 0.5, 0.9)[seed % 3])
    assert met["exhaustive"]
    assert met["pon"]
    assert met["chi"]


@pytest.mark.slow
def test_many_random_games_keep_tiles_and_points():
    met = Counter()
    for seed in range(45):
        met += play(seed, ("round", "east", "half")[seed % 3], (0.1, 0.5, 0.9)[seed % 5 % 3])
    assert met["ron"]
    assert met["tsumo"]
