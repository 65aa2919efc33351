"""Rummikub under every pair of options: rules, solver and steps against a slow and obvious oracle.

The oracle shares no code with the game. It divides the tiles of the table and some of the rack into sets in every way
there is, gives each joker every meaning, and reads rules.md 2 to 5 literally. A slot is (colour, value, is a joker), a
set is a sorted tuple of slots, a table a sorted tuple of sets.
"""

import random
from collections import Counter
from itertools import chain, combinations, permutations, product

import pytest
from rummikub_legality import IllegalMoveError, check_play
from test_rummikub_steps import position, reached

from cardenvs.core.kernel import COMPILED
from cardenvs.games.rummikub.actions import DRAW, PASS
from cardenvs.games.rummikub.melds import Meld, canonical_table
from cardenvs.games.rummikub.position import Position
from cardenvs.games.rummikub.ruleset import Ruleset
from cardenvs.games.rummikub.solve import has_play, solve_position
from cardenvs.games.rummikub.state import RummikubOptions
from cardenvs.games.rummikub.tiles import multiset, tile_label

COLOURS = "RBKO"
STEPPED = [  # options of engine and environment
    ("colors", 3),
    ("values", 4),
    ("copies", 1),
    ("jokers", 0),
    ("jokers", 1),
    ("initial_meld_min", 0),
    ("initial_meld_min", 12),
    ("initial_meld_allow_joker", False),
    ("joker_rule", "free"),
    ("joker_rule", "locked"),
    ("joker_group3_needs_both", True),
    ("allow_draw_when_play_possible", False),
    ("pass_rule", "no_play_only"),
    ("steps", "loose"),
]
HOUSE_RULES = [  # of the engine only
    ("initial_meld_hand_only", False),
    ("joker_set_locked", True),
    ("retrieved_joker_rack_tiles", 1),
    ("retrieved_joker_rack_tiles", 2),
    ("manipulate_after_opening", True),
    ("max_run", 3),
    ("max_run", 4),
]
DEFAULTS = {name: getattr(Ruleset.make(), name) for name in Ruleset.__dataclass_fields__}


# ---------------------------------------------------------------------------------------------------------------
# The oracle


def all_sets(rules, longest):
    """Every set as the tiles that it counts as (2.1, 2.2)."""
    colours, values = COLOURS[: rules["colors"]], range(1, rules["values"] + 1)
    for value in values:
        for size in (3, 4):
            for chosen in combinations(colours, size):
                yield tuple((colour, value) for colour in chosen)
    for colour in colours:
        for low in values:
            for high in range(low + 2, min(rules["values"], low + longest - 1) + 1):
                yield tuple((colour, value) for value in range(low, high + 1))


def tables(tiles, rules, longest):
    """Every table that is made of all of some tiles, "J" being a joker."""
    tiles = Counter(tiles)
    known = [laid for laid in all_sets(rules, longest) if sum(tile not in tiles for tile in laid) <= tiles["J"]]

    def divide(left):
        naturals = [tile for tile in left if tile != "J" and left[tile]]
        if not naturals:
            if not left["J"]:
                yield ()
            return  # two jokers alone are no set
        first = min(naturals)
        for meanings in known:
            if first not in meanings:
                continue
            for number in range(left["J"] + 1):
                for places in combinations([tile for tile in meanings if tile != first], number):
                    used = Counter("J" if tile in places else tile for tile in meanings)
                    if not used - left:
                        laid = tuple(sorted((*tile, tile in places) for tile in meanings))
                        for rest in divide(left - used):
                            yield (*rest, laid)

    return {tuple(sorted(table)) for table in divide(tiles)}


def faces(slots):
    """What lies there."""
    return Counter("J" if joker else (colour, value) for colour, value, joker in slots)


def jokers(table):
    """Each joker as (meaning, the set it is in)."""
    return [(slot[:2], laid) for laid in table for slot in laid if slot[2]]


def is_legal(rules, rack_part, table, opened, new):
    """Whether putting `rack_part` down, so that `table` becomes `new`, keeps 4 and 5."""
    return bool(rack_part) and (opened or opens(rules, rack_part, table, new)) and keeps_jokers(
        rules, rack_part, table, opened, new
    )  # fmt: skip


def opens(rules, rack_part, table, new):
    """Whether a play is an opening (4)."""
    if "J" in rack_part and not rules["initial_meld_allow_joker"]:
        return False
    if not rules["initial_meld_hand_only"]:  # 4.5
        new_meanings = Counter(meaning for meaning, _ in jokers(new)) - Counter(m for m, _ in jokers(table))
        best = sorted((value for _, value in new_meanings.elements()), reverse=True)[: rack_part.count("J")]
        points = sum(tile[1] for tile in rack_part if tile != "J") + sum(best)
    elif rules["manipulate_after_opening"]:  # 4.6
        parts = chain.from_iterable(combinations(rack_part, size) for size in range(len(rack_part) + 1))
        points = max(worth(sets) for part in set(parts) for sets in tables(part, rules, 13))
    else:
        if Counter(table) - Counter(new):
            return False
        points = worth((Counter(new) - Counter(table)).elements())
    return points >= rules["initial_meld_min"]


def worth(sets):
    """What sets count (2.5)."""
    return sum(value for laid in sets for _, value, _ in laid)


def keeps_jokers(rules, rack_part, table, opened, new):
    """Whether some way to find the jokers of the table again keeps 5."""
    old, found = jokers(table), jokers(new)
    ways = list(permutations(found, len(old)))
    changed = [[a for a, b in zip(old, way, strict=True) if a[0] != b[0]] for way in ways]
    fewest = min(len(one) for one in changed)  # jokers that change places have not changed (5.2)
    return any(
        len(moved) == fewest
        and keeps_in_one_way(rules, rack_part, table, opened, new, list(zip(old, way, strict=True)))
        for way, moved in zip(ways, changed, strict=True)
    )


def keeps_in_one_way(rules, rack_part, table, opened, new, pairs):
    moved = [(old, now) for old, now in pairs if old[0] != now[0]]
    if moved and (rules["joker_rule"] == "locked" or not opened):  # 5.4, 5.6, 5.7
        return False
    if rules["joker_rule"] == "retrieve" and not are_replaced(rules, [old for old, _ in moved], new):
        return False
    if rules["joker_set_locked"] and not are_whole(table, [old for old, _ in moved], new):
        return False
    return have_rack_tiles(rules, rack_part, [now[1] for _, now in moved], new)


def are_replaced(rules, moved, new):
    """Whether a natural tile, or two, lies on the table for each joker that has moved (5.2, 5.3)."""
    lying = faces(slot for laid in new for slot in laid)
    for needs in product(*(replacements(rules, *one) for one in moved)):
        if not Counter(chain.from_iterable(needs)) - lying:
            return True
    return False


def replacements(rules, meaning, laid):
    colours = {colour for colour, _, _ in laid}
    if len(laid) != 3 or len(colours) == 1 or sum(joker for *_, joker in laid) != 1:
        return [[meaning]]
    natural = {colour for colour, _, joker in laid if not joker}
    missing = [(colour, meaning[1]) for colour in COLOURS[: rules["colors"]] if colour not in natural]
    return [missing] if rules["joker_group3_needs_both"] else [[tile] for tile in missing]


def are_whole(table, moved, new):
    """Whether each set with a joker is still part of a set of its own, but those whose jokers all moved (5.8)."""
    locked = [laid for laid in table if jokers([laid])]
    freed = list(moved)
    kept = []
    for laid in locked:
        own = jokers([laid])
        if all(freed.count(one) >= own.count(one) for one in own):
            for one in own:
                freed.remove(one)
        else:
            kept.append(laid)
    if freed:
        return False
    return any(
        all(set(old) <= set(now) for old, now in zip(kept, chosen, strict=True))
        for chosen in permutations(new, len(kept))
    )


def have_rack_tiles(rules, rack_part, takers, new):
    """Whether the sets that take moved jokers can hold so many natural tiles from the rack (5.9)."""
    wanted = {new.index(taker): taker for taker in takers}
    least = rules["retrieved_joker_rack_tiles"]
    ways = (combinations([slot[:2] for slot in taker if not slot[2]], least) for taker in wanted.values())
    return any(not Counter(chain.from_iterable(way)) - Counter(rack_part) for way in product(*ways))


def plays(rules, rack, table, opened, longest):
    """Every (rack tiles put down, new table) that conserves the tiles, and whether it is legal."""
    lying = list(faces(slot for laid in table for slot in laid).elements())
    for part in {tuple(part) for size in range(len(rack) + 1) for part in combinations(rack, size)}:
        for new in tables(lying + list(part), rules, longest):
            yield part, new, is_legal(rules, part, table, opened, new)


# ---------------------------------------------------------------------------------------------------------------
# Positions, and the game's own answers


def random_position(rules, chooser, most_tiles):
    """A rack and a table of sets that lie near each other, jokers among them."""
    left = Counter({(c, v): rules["copies"] for c in COLOURS[: rules["colors"]] for v in range(1, rules["values"] + 1)})
    left["R", 1] -= 1  # the other player's
    left["J"] = rules["jokers"]
    low = chooser.randrange(1, max(2, rules["values"] - 3))
    near = [laid for laid in all_sets(rules, 5) if all(low <= value <= low + 3 for _, value in laid)]
    table = []
    for _ in range(12):
        meanings = chooser.choice(near)
        masks = [chooser.random() < 0.25 for _ in meanings]
        laid = tuple(sorted((*tile, joker) for tile, joker in zip(meanings, masks, strict=True)))
        size = sum(len(other) for other in table) + len(laid)
        if size <= most_tiles and not faces(laid) - left and chooser.random() < 0.8:
            table.append(laid)
            left -= faces(laid)
    rest = [tile for tile in left.elements() if tile == "J" or low <= tile[1] <= low + 3]
    rack = sorted(chooser.sample(rest, min(len(rest), chooser.randrange(2, 5))), key=str)
    return rack, tuple(sorted(table))


def label(slot):
    colour, value, joker = slot
    return f"J({colour}{value})" if joker else f"{colour}{value}"


def game_meld(laid):
    return Meld.of(" ".join(label(slot) for slot in laid))


def game_tiles(tiles):
    return multiset(" ".join(tile if tile == "J" else f"{tile[0]}{tile[1]}" for tile in tiles) if tiles else [])


def own_table(melds):
    """A table of the game in the oracle's words."""
    return tuple(
        sorted(tuple(sorted((COLOURS[s.colour], s.value, s.tile == 52) for s in meld.slots)) for meld in melds)
    )


def check_engine(rules, rack, table, opened):
    """`check_play` says of every play what the oracle says; returns how many it allows and refuses."""
    judge = Position(Ruleset.make(**rules), game_tiles(rack), canonical_table(map(game_meld, table)), opened)
    found = Counter()
    for part, new, legal in plays(rules, rack, table, opened, rules["max_run"]):
        try:
            check_play(judge, game_tiles(part), tuple(map(game_meld, new)))
            answer = True
        except IllegalMoveError:
            answer = False
        assert answer == legal, (rules, rack, table, opened, part, new, answer)
        found[legal] += 1
    return found


def check_steps(rules, rack, table, opened, **environment):
    """Steps, solver, and whether one may draw or pass are what the oracle's legal plays make them."""
    wanted = {new: len(part) for part, new, legal in plays(rules, rack, table, opened, 5) if legal}
    what = (rules, rack, table, opened, environment)
    judge = Position(Ruleset.make(**rules), game_tiles(rack), canonical_table(map(game_meld, table)), opened)
    assert has_play(judge) == bool(wanted), what
    assert solve_position(judge).num_tiles == max(wanted.values(), default=0), what
    shared = {name: value for name, value in rules.items() if name in RummikubOptions.__dataclass_fields__}
    shared |= environment | {"initial_hand_size": 1, "num_players": 2}
    for pool in (None, []):
        start = position(list(game_labels(rack)), judge.table, opened=opened, pool=pool, other="R1", **shared)
        idle_is_free = rules["allow_draw_when_play_possible"] if pool is None else rules["pass_rule"] == "empty_pool"
        idle = DRAW if start.record.num_dealt < start.record.num_tiles else PASS
        assert (idle in start.legal_actions()) == (idle_is_free or not wanted), what
    found = reached(start)
    assert {own_table(melds) for melds in found} == set(wanted), what
    assert all(times == 1 for times in found.values()), what


def game_labels(tiles):
    return (tile if tile == "J" else f"{tile[0]}{tile[1]}" for tile in tiles)


def pairs(settings):
    return [dict(pair) for pair in combinations(settings, 2) if pair[0][0] != pair[1][0]]


def blocks(number):
    """Short by default, the rest when slow tests are run."""
    return [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, number))]


@pytest.mark.parametrize("block", blocks(20))
def test_check_play_agrees_with_the_oracle_under_all_pairs_of_options(block):
    chooser, found = random.Random(block), Counter()
    settings = [one for one in STEPPED if one[0] != "steps"] + HOUSE_RULES
    for chosen in pairs(settings):
        rules = DEFAULTS | {"initial_hand_size": 1, "num_players": 2} | chosen
        rack, table = random_position(rules, chooser, most_tiles=7)
        found += check_engine(rules, rack, table, opened=chooser.random() < 0.7)
    assert min(found[True], found[False]) > 100


@pytest.mark.parametrize("block", blocks(40))
def test_steps_and_solver_agree_with_the_oracle_under_all_pairs_of_options(block):
    chooser = random.Random(1000 + block)
    everything = pairs(STEPPED)
    for chosen in everything if COMPILED else chooser.sample(everything, 5):
        environment = {"steps": chosen.pop("steps")} if "steps" in chosen else {}
        rules = DEFAULTS | {"initial_hand_size": 1, "num_players": 2} | chosen
        rack, table = random_position(rules, chooser, most_tiles=6 if environment else 7)
        check_steps(rules, rack, table, opened=chooser.random() < 0.7, **environment)


@pytest.mark.parametrize("needs_both", [False, True])
def test_5_3_with_three_colours_one_colour_is_missing(needs_both):
    rules = DEFAULTS | {"initial_hand_size": 1, "num_players": 2, "colors": 3, "joker_group3_needs_both": needs_both}
    rack = [("B", 1), "J", ("K", 4)]
    table = (((("B", 1, True)), ("K", 1, False), ("R", 1, False)),)
    new = tuple(sorted([(("B", 1, False), ("K", 1, False), ("R", 1, False)),
                        (("K", 3, True), ("K", 4, False), ("K", 5, True))]))  # fmt: skip
    assert (tuple(rack), new, True) in {
        (part, after, legal) for part, after, legal in plays(rules, rack, table, True, 5)
    }
    check_engine(rules, rack, table, True)
    check_steps(rules, rack, table, True)


def test_5_6_a_player_who_has_not_opened_gives_no_joker_a_new_meaning():
    rules = Ruleset.make(joker_rule="free", initial_meld_hand_only=False, initial_meld_min=8)
    new = tuple(Meld.of(meld) for meld in ("R5 R6 R7", "K9 K10 J(K11)"))
    judge = Position(rules, multiset("K9 K10"), (Meld.of("J(R4) R5 R6 R7"),), False)
    with pytest.raises(IllegalMoveError, match=r"5\.6"):
        check_play(judge, multiset("K9 K10"), new)
    check_play(Position(rules, judge.rack, judge.table, True), multiset("K9 K10"), new)


def test_the_oracle_on_a_scenario():
    rules = DEFAULTS | {"initial_hand_size": 1, "num_players": 2}
    legal = {new for _, new, ok in plays(rules, [("R", 5)], ((("R", 3, False), ("R", 4, False), ("R", 5, False),
             ("R", 6, False), ("R", 7, False)),), True, 13) if ok}  # fmt: skip
    assert [[len(laid) for laid in new] for new in legal] == [[3, 3]]
    assert tile_label(4) == "R5"
