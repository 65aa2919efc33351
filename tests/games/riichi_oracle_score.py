"""What a hand of riichi mahjong is worth, slow and obvious, from sections 5 to 7 of the rules.

Faces: 0..33 are 1-9m, 1-9p, 1-9s, E S W N, white, green, red; 34..36 are the red fives of m, p, s. A kind is a
face without its colour. Melds are pairs (sort, faces), sort one of "chi", "pon", "open kan", "added kan",
"closed kan"; the numbers 18 to 24 are those of the rulings in riichi_oracle.py.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

RED_FIVES = {34: 4, 35: 13, 36: 22}
TERMINALS = {0, 8, 9, 17, 18, 26}
WINDS = {27, 28, 29, 30}
DRAGONS = {31, 32, 33}
HONOURS = WINDS | DRAGONS
ORPHANS = TERMINALS | HONOURS
GREENS = {19, 20, 21, 23, 25, 32}  # 2 3 4 6 8 of bamboo and the green dragon
KANS = {"open kan", "added kan", "closed kan"}
DEFAULTS = {"open_tanyao": True, "kiriage_mangan": False, "double_yakuman": False, "counted_yakuman": True,
            "double_wind_fu": 4}  # fmt: skip


def kind_of(face):
    return RED_FIVES.get(face, face)


def next_kind(kind):
    """The dora an indicator points at."""
    for first, size in ((0, 9), (9, 9), (18, 9), (27, 4), (31, 3)):
        if first <= kind < first + size:
            return first + (kind - first + 1) % size
    raise ValueError(kind)


# -- shapes ------------------------------------------------------------------------------------------------------


@lru_cache(100_000)
def splits(kinds):
    """All ways to split sorted kinds (a tuple) into runs and triplets, each a sorted tuple of kinds."""
    if not kinds:
        return ((),)
    first, found = kinds[0], []
    if kinds[:3] == (first,) * 3:
        found += [((first,) * 3, *others) for others in splits(kinds[3:])]
    run = (first, first + 1, first + 2)
    if first < 27 and first % 9 <= 6 and run[1] in kinds and run[2] in kinds:
        left = list(kinds)
        for kind in run:
            left.remove(kind)
        found += [(run, *others) for others in splits(tuple(left))]
    return tuple(found)


@lru_cache(20_000)
def readings(kinds):
    """All readings of a complete concealed hand (sorted tuple) as (pair, sets); no seven pairs, no orphans."""
    # Sets are of three tiles in one group (a suit, or one honour): only the pair's group has two too many.
    sizes = Counter(group_of(kind) for kind in kinds)
    odd = {group: size % 3 for group, size in sizes.items() if size % 3}
    if list(odd.values()) != [2]:
        return ()
    found = []
    for pair in sorted(set(kinds)):
        if group_of(pair) in odd and kinds.count(pair) >= 2:
            left = list(kinds)
            left.remove(pair)
            left.remove(pair)
            found += [(pair, sets) for sets in splits(tuple(left))]
    return tuple(found)


def group_of(kind):
    return kind // 9 if kind < 27 else kind


def is_seven_pairs(kinds):
    return len(kinds) == 14 and len(set(kinds)) == 7 and all(kinds.count(kind) == 2 for kind in kinds)


def is_thirteen_orphans(kinds):
    return len(kinds) == 14 and set(kinds) == ORPHANS


def is_complete(kinds):
    return bool(is_seven_pairs(kinds) or is_thirteen_orphans(kinds) or readings(kinds))


@lru_cache(20_000)
def _shape_waits(kinds):
    return frozenset(kind for kind in range(34) if is_complete(tuple(sorted((*kinds, kind)))))


def waits(faces, melds=()):
    """The kinds that complete a hand of 13 - 3 * melds faces; none of which the player has all four (ruling 10)."""
    kinds = tuple(sorted(map(kind_of, faces)))
    held = Counter(kinds)
    held.update(kind_of(face) for _, tiles in melds for face in tiles)
    return {kind for kind in _shape_waits(kinds) if held[kind] < 4}


# -- the worth ---------------------------------------------------------------------------------------------------


@dataclass
class Win:
    """How a tile was won: all that a hand's worth depends on besides its tiles."""

    tsumo: bool = False
    riichi: int = 0  # 1 riichi, 2 double riichi
    ippatsu: bool = False
    last: bool = False  # last tile of the wall, or last discard
    after_kan: bool = False
    robbed: bool = False
    first_draw: bool = False  # on the first draw, no call before
    seat_wind: int = 1  # 0 east, the dealer
    round_wind: int = 0
    dora: tuple = ()  # indicators
    ura: tuple = ()


@dataclass
class Worth:
    han: int
    fu: int
    yakuman: int  # how many; 0 for a hand counted up to yakuman
    base: int
    yaku: dict = field(default_factory=dict)  # name: han, or number of yakuman


def worth(hand, melds, tile, win, options=None):
    """The best worth (ruling 22) of `hand` (without the winning `tile`), or None without a yaku."""
    options = DEFAULTS | (options or {})
    kinds = tuple(sorted(map(kind_of, (*hand, tile))))
    found = []
    if not melds and is_thirteen_orphans(kinds):
        found.append(_yakuman({"thirteen orphans": 1 + (options["double_yakuman"] and len(set(hand)) == 13)}, win))
    if not melds and is_seven_pairs(kinds):
        found.append(_seven_pairs(kinds, win, options))
    for pair, sets in readings(kinds):
        for place in {*sets, (pair, pair)}:  # the part of the hand that the winning tile completes
            if kind_of(tile) in place:
                found.append(_reading(pair, sets, place, kind_of(tile), melds, win, options))
    bonus = _bonus(hand, melds, tile, win)
    worths = [_count(yaku, fu, yakuman, bonus, options) for yaku, fu, yakuman in found if yaku or yakuman]
    return max(worths, key=lambda each: (each.base, each.yakuman, each.han, each.fu), default=None)


def _count(yaku, fu, yakuman, bonus, options):
    if yakuman:
        units = sum(yakuman.values())
        return Worth(13 * units, 0, units, 8000 * units, yakuman)
    yaku = yaku | bonus
    han = sum(yaku.values())
    return Worth(han, fu, 0, base_points(han, fu, options), yaku)


def base_points(han, fu, options):
    if han >= 13:
        return 8000 if options["counted_yakuman"] else 6000
    if han >= 11:
        return 6000
    if han >= 8:
        return 4000
    if han >= 6:
        return 3000
    if han == 5 or (options["kiriage_mangan"] and (han, fu) in ((4, 30), (3, 60))):
        return 2000
    return min(2000, fu * 2 ** (2 + han))


def _bonus(hand, melds, tile, win):
    faces = [*hand, tile, *(face for _, tiles in melds for face in tiles)]
    kinds = [kind_of(face) for face in faces]
    bonus = {
        "dora": sum(kinds.count(next_kind(kind_of(face))) for face in win.dora),
        "red fives": sum(face in RED_FIVES for face in faces),
        "ura dora": sum(kinds.count(next_kind(kind_of(face))) for face in win.ura) if win.riichi else 0,
    }
    return {name: han for name, han in bonus.items() if han}


def _luck(win, closed):
    """The yaku of how the tile came, whatever the hand."""
    return {
        "riichi": win.riichi == 1,
        "double riichi": 2 * (win.riichi == 2),
        "ippatsu": win.ippatsu and win.riichi > 0,
        "tsumo": win.tsumo and closed,
        "last tile": win.last and win.tsumo and not win.after_kan,
        "last discard": win.last and not win.tsumo,
        "after a kan": win.after_kan and win.tsumo,
        "robbing a kan": win.robbed,
    }


def _real(yaku):
    return {name: int(han) for name, han in yaku.items() if han}


def _yakuman(names, win):
    names = dict(names)
    if win.first_draw and win.tsumo:
        names["dealt hand" if win.seat_wind == 0 else "first draw"] = 1
    return {}, 0, _real(names)


def _seven_pairs(kinds, win, options):
    yakuman = {"all honours": set(kinds) <= HONOURS}
    _, _, yakuman = _yakuman(yakuman, win)
    yaku = _luck(win, True) | {"seven pairs": 2} | _colours(kinds, 0)
    yaku["all simples"] = not ORPHANS & set(kinds)
    yaku["all terminals and honours"] = 2 * (set(kinds) <= ORPHANS)
    return _real(yaku), 25, yakuman


def _colours(kinds, is_open):
    suits = {kind // 9 for kind in kinds if kind < 27}
    return {
        "half flush": (3 - is_open) * (len(suits) == 1 and bool(HONOURS & set(kinds))),
        "full flush": (6 - is_open) * (len(suits) == 1 and not HONOURS & set(kinds)),
    }


def _reading(pair, sets, place, tile, melds, win, options):
    """One reading of a hand with the winning tile in one place: (yaku, fu, yakuman)."""
    called = [(sort, tuple(sorted(map(kind_of, tiles)))) for sort, tiles in melds]
    is_open = any(sort != "closed kan" for sort, _ in called)
    closed = not is_open
    double = bool(options["double_yakuman"])
    everything = [*sets, *(tiles for _, tiles in called)]
    kinds = [pair, pair, *(kind for tiles in everything for kind in tiles)]
    runs = [tiles for tiles in everything if tiles[0] != tiles[1]]
    same = {tiles[0] for tiles in everything if tiles[0] == tiles[1]}
    kans = sum(sort in KANS for sort, _ in called)
    # A triplet that ron completes counts as open.
    hidden = {tiles[0] for tiles in sets if tiles[0] == tiles[1]}
    if not win.tsumo and place[0] == place[-1] and place != (pair, pair):
        hidden.remove(tile)
    hidden |= {tiles[0] for sort, tiles in called if sort == "closed kan"}
    seat, prevailing = 27 + win.seat_wind, 27 + win.round_wind

    yakuman = {
        "four concealed triplets": (len(hidden) == 4) * (1 + (double and place == (pair, pair))),
        "nine gates": _nine_gates(kinds, tile, double) if not melds else 0,
        "big dragons": same >= DRAGONS,
        "little winds": len(same & WINDS) == 3 and pair in WINDS,
        "big winds": (same >= WINDS) * (1 + double),
        "all honours": set(kinds) <= HONOURS,
        "all terminals": set(kinds) <= TERMINALS,
        "all green": set(kinds) <= GREENS,
        "four kans": kans == 4,
    }
    _, _, yakuman = _yakuman(yakuman, win)

    two_sided = (
        place in runs
        and tile != place[1]
        and not (tile == place[2] and tile % 9 == 2)
        and not (tile == place[0] and tile % 9 == 6)
    )
    pair_fu = 2 * (pair in DRAGONS or pair in (seat, prevailing))
    if pair == seat == prevailing:
        pair_fu = options["double_wind_fu"]
    pinfu = closed and len(runs) == 4 and pair_fu == 0 and two_sided
    if pinfu and win.tsumo:
        fu = 20
    else:
        fu = 20 + (10 if closed and not win.tsumo else 0) + (2 if win.tsumo else 0) + pair_fu
        fu += 0 if two_sided or (place not in runs and place != (pair, pair)) else 2
        for tiles in sets:
            if tiles[0] == tiles[1]:
                fu += 2 * (2 if tiles[0] in hidden else 1) * (2 if tiles[0] in ORPHANS else 1)
        for sort, tiles in called:
            if tiles[0] == tiles[1]:
                size = 4 if sort in KANS else 1
                fu += 2 * (2 if sort == "closed kan" else 1) * (2 if tiles[0] in ORPHANS else 1) * size
        fu = -(-fu // 10) * 10
        if is_open and fu == 20:
            fu = 30

    own_runs = Counter(runs)
    doubled = sum(count // 2 for count in own_runs.values()) if closed else 0
    ends = all(ORPHANS & set(tiles) for tiles in everything) and pair in ORPHANS and bool(runs)
    pure = ends and not HONOURS & set(kinds)
    yaku = _luck(win, closed) | _colours(kinds, is_open)
    yaku |= {
        "pinfu": pinfu,
        "double run": doubled == 1,
        "two double runs": 3 * (doubled == 2),
        "all simples": not ORPHANS & set(kinds) and (closed or options["open_tanyao"]),
        "white": 31 in same,
        "green": 32 in same,
        "red": 33 in same,
        "seat wind": seat in same,
        "round wind": prevailing in same,
        "three-colour run": (2 - is_open) * any(_in_three_suits(tiles, runs) for tiles in runs),
        "straight": (2 - is_open) * any(_is_straight(first, runs) for first in (0, 9, 18)),
        "terminals or honours": (2 - is_open) * (ends and not pure),
        "terminals in every set": (3 - is_open) * pure,
        "three-colour triplets": 2 * any({rank, rank + 9, rank + 18} <= same for rank in range(9)),
        "all triplets": 2 * (not runs),
        "three concealed triplets": 2 * (len(hidden) == 3),
        "three kans": 2 * (kans == 3),
        "little dragons": 2 * (len(same & DRAGONS) == 2 and pair in DRAGONS),
        "all terminals and honours": 2 * (set(kinds) <= ORPHANS),
    }
    return _real(yaku), fu, yakuman


def _nine_gates(kinds, tile, double):
    if len({kind // 9 for kind in kinds}) != 1 or kinds[0] >= 27:
        return 0
    left = Counter(kind % 9 + 1 for kind in kinds)
    left.subtract([1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9])
    if min(left.values()) < 0:
        return 0
    return 1 + (double and left[tile % 9 + 1] == 1)


def _in_three_suits(run, runs):
    return all((run[0] % 9 + suit, run[1] % 9 + suit, run[2] % 9 + suit) in runs for suit in (0, 9, 18))


def _is_straight(first, runs):
    return all((first + low, first + low + 1, first + low + 2) in runs for low in (0, 3, 6))


# -- payment (section 7) -----------------------------------------------------------------------------------------


def hundreds(points):
    return -(-points // 100) * 100


def ron_pay(base, winner_is_dealer):
    return hundreds(base * (6 if winner_is_dealer else 4))


def tsumo_pay(base, winner_is_dealer, payer_is_dealer):
    return hundreds(base * (2 if winner_is_dealer or payer_is_dealer else 1))
