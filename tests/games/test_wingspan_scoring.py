"""Scoring in Wingspan: every goal and bonus card with values calculated by hand, places, and the final score.

Beside the kernels stands `recomputed` of the kit, the score in plain Python from the cards' words, which shares nothing
with them.
"""

import json

import numpy as np
import pytest
from wingspan import Player, lay_out, recomputed

from cardenvs.core.kernel import COMPILED
from cardenvs.core.record import widen
from cardenvs.games.wingspan import cards, scoring
from cardenvs.games.wingspan.cards import BIRD_NAMES, BONUS_NAMES, GOAL_NAMES
from cardenvs.games.wingspan.state import BLUE, GREEN, STATE


def table(*players, blue=False, **things):
    """Return a position as kernels read it: a record with a valid header."""
    states = np.zeros(1, STATE)
    states["rules"]["num_players"] = len(players)
    states["rules"]["goals"] = BLUE if blue else GREEN
    states["active"][0, : len(players)] = 1
    lay_out(states, players, **things)
    return (states if COMPILED else widen(states))[0]


def goal(name):
    return GOAL_NAMES.index(name)


def bonus(name):
    return BONUS_NAMES.index(name)


# ---------------------------------------------------------------------------------------------------------------
# 9.1 What goals count

# Nests: Barn Owl star, Blue Jay bowl, Acorn Woodpecker cavity, Mallard ground, Osprey platform, Bronzed Cowbird none,
# Killdeer ground, Mourning Dove platform, Bobolink ground, American Robin bowl.
MAT = Player(
    "forest: Blue Jay (2 eggs), Acorn Woodpecker (3 eggs), American Robin;"
    "grassland: Killdeer (1 egg), Mourning Dove (4 eggs), Bronzed Cowbird, Bobolink (3 eggs);"
    "wetland: Mallard (2 eggs), Black Tern (1 egg, 2 cached, 5 tucked)",
    hand="Osprey, Bald Eagle, Dickcissel",
    food="3 seed",
)
# Black Tern has a star nest: it is in every count of nests.
COUNTS = {
    "Birds in forest": 3,
    "Eggs in forest": 5,
    "Birds in grassland": 4,
    "Eggs in grassland": 8,
    "Birds in wetland": 2,
    "Eggs in wetland": 3,
    "Bowl-nest birds with eggs": 2,  # Blue Jay, Black Tern; the robin has none
    "Eggs in bowl nests": 2 + 1,
    "Cavity-nest birds with eggs": 2,  # Acorn Woodpecker, Black Tern
    "Eggs in cavity nests": 3 + 1,
    "Ground-nest birds with eggs": 4,  # Killdeer, Bobolink, Mallard, Black Tern
    "Eggs in ground nests": 1 + 3 + 2 + 1,
    "Platform-nest birds with eggs": 2,  # Mourning Dove, Black Tern
    "Eggs in platform nests": 4 + 1,
    "Sets of eggs across habitats": 3,
    "Total birds": 9,
}


@pytest.mark.parametrize("name", GOAL_NAMES)
def test_9_1_what_a_goal_counts(name):
    assert scoring.goal_count(table(MAT, Player()), 0, goal(name)) == COUNTS[name]


@pytest.mark.parametrize("name", GOAL_NAMES)
def test_9_1_an_empty_mat_counts_nothing(name):
    assert scoring.goal_count(table(MAT, Player(hand="Wood Duck")), 1, goal(name)) == 0


def test_9_1_hands_cached_food_and_tucked_cards_do_not_count():
    bare = table(Player("wetland: Black Tern"), Player())
    laden = table(Player("wetland: Black Tern (9 cached, 9 tucked)", hand="Mallard, Osprey", food="9 fish"), Player())
    for number in range(cards.NUM_GOALS):
        assert scoring.goal_count(laden, 0, number) == scoring.goal_count(bare, 0, number)


def test_9_1_a_set_needs_an_egg_in_each_habitat():
    two_rows = Player("forest: Blue Jay (2 eggs); wetland: Mallard (3 eggs); grassland: Bobolink")
    assert scoring.goal_count(table(two_rows, Player()), 0, goal("Sets of eggs across habitats")) == 0


def test_10_6_no_nest_counts_for_no_nest_goal():
    none, star = cards.NESTS.index("none"), cards.NESTS.index("star")
    for nest in range(1, star):
        matching = {name for k, name in enumerate(BIRD_NAMES) if scoring.has_nest(k, nest)}
        assert matching == {name for k, name in enumerate(BIRD_NAMES) if cards.BIRD_NEST[k] in (nest, star)}
        assert len(matching) == 54
    assert not any(scoring.has_nest(k, none) for k in range(cards.NUM_BIRDS) if cards.BIRD_NEST[k] == star)


# ---------------------------------------------------------------------------------------------------------------
# 9.2 to 9.4 What they pay

SPECIES = [name for k, name in enumerate(BIRD_NAMES) if cards.BIRD_HABITATS[k] & 1]


def counted(*counts):
    """Return players with these numbers of birds in the forest, no bird twice."""
    names = iter(SPECIES)
    return [Player("forest: " + ", ".join(next(names) for _ in range(n)) if n else "") for n in counts]


def points(counts, round_number, blue=False):
    s = table(*counted(*counts), blue=blue)
    number = goal("Birds in forest")
    return [scoring.goal_points(s, p, number, round_number - 1, int(blue)) for p in range(len(counts))]


@pytest.mark.parametrize(
    ("round_number", "counts", "paid"),
    [
        (2, (3, 3, 1), (3, 3, 1)),
        (4, (2, 0, 0, 0), (7, 0, 0, 0)),
        (4, (5, 4, 3, 2, 1), (7, 4, 3, 0, 0)),
        (1, (2, 2), (2, 2)),
        (1, (4, 2, 2), (4, 0, 0)),
        (3, (1, 1, 1), (3, 3, 3)),
        (4, (2, 2, 2, 2, 1), (3, 3, 3, 3, 0)),
    ],
)
def test_9_3_the_worked_examples(round_number, counts, paid):
    assert points(counts, round_number) == list(paid)


@pytest.mark.parametrize(
    ("round_number", "paid"),
    [(1, [4, 1, 0, 0]), (2, [5, 2, 1, 0]), (3, [6, 3, 2, 0]), (4, [7, 4, 3, 0])],
)
def test_9_2_places_in_each_round_whatever_the_order_of_the_players(round_number, paid):
    assert points((4, 3, 2, 1), round_number) == paid
    assert points((1, 2, 3, 4), round_number) == paid[::-1]
    assert points((2, 4, 1, 3), round_number) == [paid[2], paid[0], paid[3], paid[1]]


@pytest.mark.parametrize(
    ("round_number", "counts", "paid"),
    [
        (4, (3, 2, 2, 1), (7, 3, 3, 0)),  # second and third shared: (4 + 3) / 2, rounded down
        (3, (3, 2, 2, 2), (6, 1, 1, 1)),  # second, third and a fourth that is worth nothing: 5 / 3
        (4, (3, 2, 1, 1), (7, 4, 1, 1)),  # third and fourth: 3 / 2
        (4, (3, 3, 2, 2), (5, 5, 1, 1)),  # (7 + 4) / 2; then third and fourth
        (4, (3, 3, 3, 2), (4, 4, 4, 0)),  # (7 + 4 + 3) / 3; the next is fourth
        (1, (1, 1, 1, 1, 1), (1, 1, 1, 1, 1)),  # 5 / 5
        (3, (1, 1, 1, 1, 1), (2, 2, 2, 2, 2)),  # 11 / 5
        (1, (0, 0), (0, 0)),
        (2, (0, 1, 0, 1, 0), (0, 3, 0, 3, 0)),
    ],
)
def test_9_3_ties_share_their_places(round_number, counts, paid):
    assert points(counts, round_number) == list(paid)


def by_places(counts, round_number):
    """Return the points by assigning places to groups, from the highest count down."""
    worth = [*[(4, 1, 0), (5, 2, 1), (6, 3, 2), (7, 4, 3)][round_number - 1], 0, 0, 0, 0, 0]
    paid, place = {0: 0}, 0
    for count in sorted({c for c in counts if c}, reverse=True):
        tied = counts.count(count)
        paid[count] = sum(worth[place : place + tied]) // tied
        place += tied
    return [paid[count] for count in counts]


def test_9_3_all_counts_of_two_to_five_players_agree_with_handing_out_places():
    for num_players in range(2, 6):
        for number in range(4**num_players):
            counts = [number // 4**k % 4 for k in range(num_players)]
            for round_number in (1, 2, 3, 4):
                expected = by_places(counts, round_number)
                for p, own in enumerate(counts):
                    num_better = sum(c > own for c in counts)
                    if own:
                        paid = scoring.green_points(round_number - 1, num_better, counts.count(own))
                        assert paid == expected[p], (counts, round_number)


def test_9_4_the_blue_side_pays_each_thing_up_to_five():
    for round_number in (1, 2, 3, 4):
        assert points((5, 4, 4, 0), round_number, blue=True) == [5, 4, 4, 0]
    laden = table(Player("forest: Blue Jay (2 eggs), Acorn Woodpecker (4 eggs)"), Player(), blue=True)
    assert scoring.goal_points(laden, 0, goal("Eggs in forest"), 0, 1) == 5


@pytest.mark.parametrize("blue", [False, True])
def test_15_2_who_has_left_has_no_part_in_goals(blue):
    s = table(*counted(3, 2, 1), blue=blue)
    s.active[0] = 0
    paid = [scoring.goal_points(s, p, goal("Birds in forest"), 0, int(blue)) for p in range(3)]
    assert paid == ([0, 2, 1] if blue else [0, 4, 1])


# ---------------------------------------------------------------------------------------------------------------
# 13.3 Bonus cards


def count_of(name, mat, hand=""):
    return scoring.bonus_count(table(Player(mat, hand=hand), Player()), 0, bonus(name))


FIVE_EACH = (
    "forest: Blue Jay (2 eggs), Acorn Woodpecker (4 eggs), Barred Owl (1 egg), Downy Woodpecker, House Wren (5 eggs);"
    "grassland: Killdeer (3 eggs), Bobolink, Turkey Vulture (1 egg), Cassin's Sparrow, American Kestrel;"
    "wetland: Mallard (4 eggs), Bald Eagle (1 egg), Osprey, Snowy Egret"
)
# What the mat above has, by hand: the birds that each card counts.
BY_HAND = {
    "Anatomist": [],
    "Backyard Birder": [  # fewer than 4 points
        "Barred Owl", "Downy Woodpecker", "House Wren", "Killdeer", "Turkey Vulture", "Cassin's Sparrow", "Mallard",
        "Blue Jay",
    ],
    "Bird Counter": [],
    "Bird Feeder": [
        "Blue Jay", "Acorn Woodpecker", "Downy Woodpecker", "Killdeer", "Bobolink", "Cassin's Sparrow", "Mallard",
    ],
    "Cartographer": ["American Kestrel"],
    "Enclosure Builder": ["Killdeer", "Bobolink", "Cassin's Sparrow", "Mallard"],
    "Falconer": ["Barred Owl", "American Kestrel", "Snowy Egret"],
    "Fishery Manager": ["Bald Eagle", "Osprey", "Snowy Egret"],
    "Food Web Expert": ["House Wren"],
    "Forester": ["Blue Jay", "Acorn Woodpecker", "Barred Owl", "Downy Woodpecker"],
    "Historian": ["Cassin's Sparrow"],
    "Large Bird Specialist": ["Barred Owl", "Turkey Vulture", "Mallard", "Bald Eagle", "Osprey", "Snowy Egret"],
    "Nest Box Builder": [
        "Acorn Woodpecker", "Barred Owl", "Downy Woodpecker", "House Wren", "Turkey Vulture", "American Kestrel",
    ],
    "Omnivore Specialist": ["Blue Jay"],
    "Passerine Specialist": ["Downy Woodpecker", "House Wren", "Bobolink", "Cassin's Sparrow"],
    "Photographer": ["Blue Jay", "Snowy Egret"],
    "Platform Builder": ["Bald Eagle", "Osprey", "Snowy Egret"],
    "Prairie Manager": ["Bobolink", "Cassin's Sparrow", "American Kestrel"],
    "Rodentologist": ["Barred Owl", "Bald Eagle", "American Kestrel"],
    "Viticulturalist": ["Downy Woodpecker"],
    "Wetland Scientist": ["Mallard", "Bald Eagle", "Osprey", "Snowy Egret"],
    "Wildlife Gardener": ["Blue Jay"],
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_13_3_cards_that_count_birds_by_what_is_printed_on_them(name):
    s = table(Player(FIVE_EACH), Player())
    counted_birds = [
        BIRD_NAMES[number] for number in s.birds[0] if number >= 0 and cards.BIRD_BONUS[number] >> bonus(name) & 1
    ]
    assert sorted(counted_birds) == sorted(BY_HAND[name])
    assert scoring.bonus_count(s, 0, bonus(name)) == len(BY_HAND[name])
    assert scoring.bonus_count(s, 1, bonus(name)) == 0


def test_13_3_cards_that_count_birds_with_eggs():
    assert count_of("Breeding Manager", FIVE_EACH) == 3  # the woodpecker, the wren, the mallard; three eggs are too few
    assert count_of("Oologist", FIVE_EACH) == 8
    assert count_of("Oologist", "forest: Blue Jay; wetland: Mallard (1 egg)") == 1


def test_13_3_the_ecologist_counts_the_smallest_row():
    assert count_of("Ecologist", FIVE_EACH) == 4
    assert count_of("Ecologist", "forest: Blue Jay, Barred Owl; grassland: Killdeer; wetland: Mallard") == 1
    assert count_of("Ecologist", "forest: Blue Jay, Barred Owl; wetland: Mallard") == 0


def test_13_3_the_visionary_leader_counts_cards_in_hand():
    assert count_of("Visionary Leader", FIVE_EACH) == 0
    assert count_of("Visionary Leader", "forest: Blue Jay", hand="Mallard, Osprey, Killdeer") == 3


# For each card what it pays for 0, 1, 2, ... of what it counts.
PAYS = {
    "Anatomist": (0, 0, 3, 3, 7, 7),
    "Backyard Birder": (0, 0, 0, 0, 0, 3, 3, 6, 6),
    "Bird Counter": (0, 2, 4, 6),
    "Bird Feeder": (0, 0, 0, 0, 0, 3, 3, 3, 7, 7),
    "Breeding Manager": (0, 1, 2, 3),
    "Cartographer": (0, 0, 3, 3, 7, 7),
    "Ecologist": (0, 2, 4, 6, 8, 10),
    "Enclosure Builder": (0, 0, 0, 0, 4, 4, 7, 7),
    "Falconer": (0, 2, 4, 6),
    "Fishery Manager": (0, 0, 3, 3, 8, 8),
    "Food Web Expert": (0, 2, 4, 6),
    "Forester": (0, 0, 0, 4, 4, 8, 8),
    "Historian": (0, 2, 4, 6),
    "Large Bird Specialist": (0, 0, 0, 0, 3, 3, 6, 6),
    "Nest Box Builder": (0, 0, 0, 0, 4, 4, 7, 7),
    "Omnivore Specialist": (0, 2, 4, 6),
    "Oologist": (0, 0, 0, 0, 0, 0, 0, 3, 3, 6, 6),
    "Passerine Specialist": (0, 0, 0, 0, 3, 3, 6, 6),
    "Photographer": (0, 0, 0, 0, 3, 3, 6, 6),
    "Platform Builder": (0, 0, 0, 0, 4, 4, 7, 7),
    "Prairie Manager": (0, 0, 3, 3, 8, 8),
    "Rodentologist": (0, 2, 4, 6),
    "Visionary Leader": (0, 0, 0, 0, 0, 4, 4, 4, 7, 7),
    "Viticulturalist": (0, 0, 3, 3, 7, 7),
    "Wetland Scientist": (0, 0, 0, 3, 3, 7, 7),
    "Wildlife Gardener": (0, 0, 0, 0, 4, 4, 7, 7),
}


@pytest.mark.parametrize("name", BONUS_NAMES)
def test_13_3_what_a_bonus_card_pays(name):
    assert tuple(scoring.bonus_points(bonus(name), n) for n in range(len(PAYS[name]))) == PAYS[name]


# ---------------------------------------------------------------------------------------------------------------
# 13.1 The final score

FINAL = Player(
    FIVE_EACH.replace("Blue Jay (2 eggs)", "Blue Jay (2 eggs, 3 cached, 1 tucked)").replace(
        "Osprey", "Osprey (2 cached, 4 tucked)"
    ),
    hand="Dickcissel, Bushtit",
    food="3 seed, fish",
    bonus="Forester, Ecologist, Falconer, Historian",
)
# Forest 3+5+3+3+1, grassland 1+4+1+3+5, wetland 0+9+5+4; Forester 4, Ecologist 2*4, Falconer 2*3, Historian 2*1.
PARTS = (47, 20, 9, 21, 5, 5)


def final_table():
    s = table(FINAL, Player())
    s.goal_points[:, 0] = (4, 0, 3, 2)
    return s


def test_13_1_the_parts_of_a_score():
    s = final_table()
    assert tuple(scoring.score_part(s, 0, part) for part in range(scoring.NUM_PARTS)) == PARTS
    assert scoring.score(s, 0) == sum(PARTS)
    assert scoring.score(s, 1) == 0


def test_13_1_hands_and_food_are_worth_nothing():
    bare = table(Player("wetland: Mallard"), Player())
    rich = table(Player("wetland: Mallard", hand="Bald Eagle, Osprey", food="9 fish, 9 seed"), Player())
    assert scoring.score(rich, 0) == scoring.score(bare, 0) == 0
    assert scoring.unused_food(rich, 0) == 18
    assert scoring.unused_food(bare, 0) == 0


def test_13_2_cached_food_is_not_unused_food():
    s = table(Player("forest: Blue Jay (5 cached)", food="seed"), Player())
    assert scoring.unused_food(s, 0) == 1


@pytest.mark.parametrize(
    ("one", "other", "result"),
    [
        ((80, 0), (79, 9), 1),
        ((79, 9), (80, 0), -1),
        ((80, 3), (80, 2), 1),
        ((80, 2), (80, 3), -1),
        ((80, 2), (80, 2), 0),
    ],
)
def test_13_2_points_then_unused_food_then_nothing(one, other, result):
    assert scoring.compare(*one, *other) == result


def test_13_1_a_score_recomputed():
    assert tuple(recomputed(final_table(), 0)) == PARTS


def random_table(rng):
    """Return random birds, eggs, food, cards and bonus cards on two mats."""
    order = rng.permutation(cards.NUM_BIRDS).tolist()
    bonuses = rng.permutation(cards.NUM_BONUSES).tolist()
    players = []
    for _ in range(2):
        mat = []
        for habitat in cards.HABITATS:
            laid = []
            for _ in range(rng.integers(6)):
                number = order.pop()
                eggs = rng.integers(cards.BIRD_EGG_LIMIT[number] + 1)
                laid.append(f"{BIRD_NAMES[number]} ({eggs} eggs, {rng.integers(4)} cached, {rng.integers(3)} tucked)")
            if laid:
                mat.append(f"{habitat}: {', '.join(laid)}")
        hand = ", ".join(BIRD_NAMES[order.pop()] for _ in range(rng.integers(10)))
        held = ", ".join(BONUS_NAMES[bonuses.pop()] for _ in range(rng.integers(1, 8)))
        players.append(Player("; ".join(mat), hand=hand, bonus=held))
    s = table(*players)
    s.goal_points[...] = rng.integers(0, 8, s.goal_points.shape)
    return s


def test_13_1_scores_of_any_mats_recomputed():
    rng = np.random.default_rng(1)
    for _ in range(100):
        s = random_table(rng)
        for p in range(2):
            parts = [int(scoring.score_part(s, p, part)) for part in range(scoring.NUM_PARTS)]
            assert parts == recomputed(s, p)
            assert scoring.score(s, p) == sum(parts)


def recounted(s, player, number):
    """Return the count of a goal, calculated from its text in the data."""
    facts = json.loads((cards.DATA_FOLDER / "birds.json").read_text())["birds"]
    rule = json.loads((cards.DATA_FOLDER / "goals.json").read_text())["goals"][number]
    mat = [
        (facts[int(k)], cards.HABITATS[slot // 5], int(s.eggs[player, slot]))
        for slot, k in enumerate(s.birds[player])
        if k >= 0
    ]
    if rule["counts"] == "total_birds":
        return len(mat)
    if rule["counts"] == "egg_sets":
        return min(sum(eggs for _, row, eggs in mat if row == habitat) for habitat in cards.HABITATS)
    if "habitat" in rule:
        here = [eggs for _, row, eggs in mat if row == rule["habitat"]]
        return len(here) if rule["counts"].startswith("birds") else sum(here)
    nests = [eggs for fact, _, eggs in mat if fact["nest"] in (rule["nest"], "star") and eggs]
    return len(nests) if rule["counts"].startswith("birds") else sum(nests)


def test_9_1_goals_of_any_mats_recounted():
    rng = np.random.default_rng(2)
    for _ in range(40):
        s = random_table(rng)
        for number in range(cards.NUM_GOALS):
            assert scoring.goal_count(s, 0, number) == recounted(s, 0, number)
