"""Melds of Gin Rummy: the facts of rules.md, and every kernel against a plain exhaustive search.

The search below shares nothing with the kernels: a meld is what the definition says, and all families of melds
that share no card are tried.
"""

import itertools
import random

import numpy as np
import pytest

from cardenvs.core.kernel import COMPILED
from cardenvs.games.gin_rummy.melds import (
    MAX_MELDS,
    MELDS,
    arrangement,
    best_defence,
    best_melded,
    cards_up_to,
    hand_points,
    highest_points,
    is_set,
    knock_discards,
    knocker_arrangement,
    lay_off,
    layoffs,
    meld_outs,
    meldable,
    min_deadwood,
    min_deadwood_after_discard,
    next_layoffs,
    open_points,
    related,
)
from cardenvs.kits.cards import NUM_CARDS, bits_of, cards_of, parse_cards

SHARE = 1 if COMPILED else 50  # uncompiled, a sample will do
WHOLE_DECK = range(NUM_CARDS)
SIX_RANKS = [suit * 13 + rank for suit in range(4) for rank in range(3, 9)]  # sets and runs in each other's way
THREE_SUITS = [suit * 13 + rank for suit in range(3) for rank in range(9)]
TWO_SUITS = range(26)  # long runs, two of a suit with a gap between


def bits(text: str) -> np.int64:
    return bits_of(parse_cards(text))


def laid(lay, *args) -> list[int]:
    """The melds that an arrangement kernel lays; what it finds in the buffer must not matter."""
    out = np.full(MAX_MELDS, -1)
    num_melds = lay(*args, out)
    assert not out[num_melds:].any()
    assert out[:num_melds].all()
    return out[:num_melds].tolist()


def melds_of(*texts: str) -> list[int]:
    return [int(bits(text)) for text in texts]


def open_on(melds: list[int], seen: int) -> int:
    return open_points(np.array(melds, dtype=np.int64), len(melds), seen)


def defend(hand: int, melds: list[int]) -> tuple[int, list[int], list[int]]:
    """The defender's deadwood, the cards laid off on each of `melds`, and the defender's own melds."""
    laid_off, own_melds = np.full((2, MAX_MELDS), -1)
    padded = np.array(melds + [-1] * (MAX_MELDS - len(melds)))
    deadwood = best_defence(hand, padded, len(melds), laid_off, own_melds)
    assert not laid_off[len(melds) :].any()
    return deadwood, laid_off[: len(melds)].tolist(), [meld for meld in own_melds.tolist() if meld]


# ---------------------------------------------------------------------------------------------------------------
# The plain search


def points_of(hand: int) -> int:
    return sum(min(card % 13 + 1, 10) for card in cards_of(hand))


def melds_by_definition() -> list[int]:
    sets = [
        sum(1 << suit * 13 + rank for suit in suits)
        for rank in range(13)
        for size in (3, 4)
        for suits in itertools.combinations(range(4), size)
    ]
    runs = [
        sum(1 << suit * 13 + rank for rank in range(low, high + 1))
        for suit in range(4)
        for low in range(13)
        for high in range(low + 2, 13)
    ]
    return sets + runs


POINTS = {meld: points_of(meld) for meld in melds_by_definition()}  # also: what is a meld
UP_TO_FIVE = [meld for meld in POINTS if meld.bit_count() <= 5]  # longer runs are several of these
IDS = {int(meld): i for i, meld in enumerate(MELDS)}


def most_melded(melds: list[int]) -> int:
    """The most points in any of the `melds` that share no card."""
    most = 0
    for i, meld in enumerate(melds):
        most = max(most, POINTS[meld] + most_melded([other for other in melds[i + 1 :] if not other & meld]))
    return most


def searched_deadwood(hand: int) -> int:
    return points_of(hand) - most_melded([meld for meld in UP_TO_FIVE if meld & hand == meld])


def searched_arrangements(hand: int) -> list[list[int]]:
    """All arrangements of `hand` with the least deadwood, ids sorted; neighbouring cards of a suit as one run."""
    possible = [meld for meld in POINTS if meld & hand == meld]
    families = [[]]
    for meld in possible:
        families += [[*family, meld] for family in families if not any(meld & other for other in family)]
    most = max(sum(POINTS[meld] for meld in family) for family in families)
    best = [family for family in families if sum(POINTS[meld] for meld in family) == most]
    whole = [family for family in best if not any(a | b in POINTS for a, b in itertools.combinations(family, 2))]
    return [sorted(IDS[meld] for meld in family) for family in whole]


def searched_open_points(melds: list[int], seen: int) -> int:
    """Lay off one unseen card after the other; a meld with a card more must be a meld."""
    open_cards = 0
    for meld in melds:
        growing = True
        while growing:
            growing = [1 << c for c in WHOLE_DECK if not (seen | meld) >> c & 1 and meld | 1 << c in POINTS]
            for card in growing:
                meld |= card
                open_cards |= card
    return points_of(open_cards)


def searched_defence(hand: int, melds: list[int]) -> tuple[int, int]:
    """The least (deadwood, cards laid off) over all ways of laying off card by card."""
    best = {}
    todo, known = [(hand, tuple(melds))], set()
    while todo:
        rest, table = todo.pop()
        if rest not in best:
            best[rest] = (searched_deadwood(rest), hand ^ rest)
        for card, i in itertools.product(cards_of(rest), range(len(table))):
            grown = table[i] | 1 << card
            if grown in POINTS:
                following = rest ^ 1 << card, (*table[:i], grown, *table[i + 1 :])
                if following not in known:
                    known.add(following)
                    todo.append(following)
    return min(best.values())


def random_hands(seed: int, count: int, size: int, deck=WHOLE_DECK) -> list[int]:
    rng = random.Random(seed)
    return [sum(1 << card for card in rng.sample(deck, size)) for _ in range(count // SHARE)]


def random_deals(seed: int, count: int, deck=WHOLE_DECK) -> list[tuple[int, int]]:
    """Ten cards each for the knocker and the defender."""
    rng = random.Random(seed)
    dealt = [rng.sample(deck, 20) for _ in range(count // SHARE)]
    return [(int(bits_of(cards[:10])), int(bits_of(cards[10:]))) for cards in dealt]


# ---------------------------------------------------------------------------------------------------------------
# rules.md 1: cards, melds, deadwood


def test_points_of_the_highest_card_and_cards_up_to_some_points():
    draw = random.Random(3)
    points = [int(hand_points(1 << card)) for card in range(NUM_CARDS)]
    for _ in range(200):
        cards = draw.sample(WHOLE_DECK, draw.randrange(12))
        assert highest_points(bits_of(cards)) == max((points[card] for card in cards), default=0)
    for most in range(-3, 12):
        assert cards_of(cards_up_to(most)) == [card for card in range(NUM_CARDS) if points[card] <= most]


def test_1_1_points():
    assert [hand_points(np.int64(1) << 13 + rank) for rank in range(13)] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]
    assert hand_points(bits("As Tc Kd 9h")) == 30
    assert hand_points(0) == 0
    assert hand_points((1 << NUM_CARDS) - 1) == 340


def test_1_2_melds_are_those_of_the_definition():
    assert sorted(MELDS.tolist()) == sorted(POINTS)
    assert len(MELDS) == 13 + 52 + 4 * sum(range(1, 12))
    assert MELDS[3 * 5 : 4 * 5].tolist() == melds_of("4c 4d 4h", "4s 4d 4h", "4s 4c 4h", "4s 4c 4d", "4s 4c 4d 4h")
    assert MELDS[[65, 75, 76, 109, 185]].tolist() == melds_of(
        "As 2s 3s", "Js Qs Ks", "Ac 2c 3c", "As 2s 3s 4s", "As 2s 3s 4s 5s 6s"
    )
    assert [bool(is_set(meld)) for meld in MELDS] == [True] * 65 + [False] * 264


def test_1_2_the_ace_is_low():
    assert min_deadwood(bits("As 2s 3s")) == 0
    assert min_deadwood(bits("Qs Ks As")) == 21
    assert min_deadwood(bits("Ks As 2s")) == 13
    assert min_deadwood(bits("Qs Ks Ac")) == 21  # neighbours as ids only
    assert min_deadwood(bits("Ks Ac 2c")) == 13


@pytest.mark.parametrize(
    ("hand", "deadwood"),
    [
        ("4h 5h 6h 6s 6d Ks Qd 9c 2c As", 41),  # scenario 1
        ("4h 5h 6h 9s 9d 9c Ks Qs Js Ts", 0),  # scenario 2
        ("3s 3h 3d 3c 4c 5c 6c Kd Kh Ks", 0),
        ("7s 7h 7d 7c 5c 6c 8c 9c Kd Qh", 20),
        ("Qs Ks As 2h 5d 9c 9d 9h Jc Td", 48),  # scenario 3
        ("Ks Kc Qd Qh Js Jc Td Th 9s 9c", 98),
        ("4h 5h 6h 9s 9d 9c Ks Kh Kd Kc 7h", 0),  # scenario 13
        ("", 0),
        ("7d", 7),
    ],
)
def test_1_4_deadwood(hand, deadwood):
    assert min_deadwood(bits(hand)) == deadwood
    assert hand_points(bits(hand) ^ best_melded(bits(hand))) == deadwood


def test_scenario_2_the_run_of_five_goes_with_the_set_of_three():
    assert laid(arrangement, bits("7s 7h 7d 7c 5c 6c 8c 9c Kd Qh")) == melds_of("7s 7d 7h", "5c 6c 7c 8c 9c")


@pytest.mark.parametrize("deck", [WHOLE_DECK, SIX_RANKS], ids=["whole deck", "six ranks"])
@pytest.mark.parametrize("size", [10, 11])
def test_deadwood_is_that_of_a_search(size, deck):
    for hand in random_hands(size, 25_000, size, deck):
        assert min_deadwood(hand) == searched_deadwood(hand), cards_of(hand)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14])
def test_deadwood_of_hands_of_other_sizes(size):
    for hand in random_hands(size, 200, size, SIX_RANKS):
        assert min_deadwood(hand) == searched_deadwood(hand), cards_of(hand)


def test_melds_and_deadwood_are_those_of_open_spiel():
    utils = pytest.importorskip("pyspiel").gin_rummy.GinRummyUtils(13, 4, 10)
    assert [cards_of(meld) for meld in MELDS[:185]] == [utils.int_to_meld[i] for i in range(185)]
    for hand in random_hands(3, 3_000, 10) + random_hands(4, 3_000, 10, SIX_RANKS):
        assert min_deadwood(hand) == utils.min_deadwood(cards_of(hand)), cards_of(hand)


def test_eleven_cards_for_which_open_spiel_finds_only_11():
    hand = bits("6d 3s 4s 6s 6h 5h 4h Ah 2c 4d 5d")
    assert min_deadwood_after_discard(hand) == 10
    assert knock_discards(hand, 10, 0) != 0
    assert knock_discards(hand, 9, 0) == 0


@pytest.mark.parametrize("deck", [WHOLE_DECK, SIX_RANKS], ids=["whole deck", "six ranks"])
def test_meldable_is_any_card_of_any_meld(deck):
    for hand in random_hands(5, 5_000, 11, deck):
        expected = 0
        for meld in POINTS:
            expected |= meld if meld & hand == meld else 0
        assert meldable(hand) == expected, cards_of(hand)


@pytest.mark.parametrize("deck", [WHOLE_DECK, SIX_RANKS], ids=["whole deck", "six ranks"])
def test_meld_outs_are_the_cards_that_would_be_in_a_meld(deck):
    for hand in random_hands(6, 5_000 // SHARE, 10, deck):
        outs = [card for card in WHOLE_DECK if not hand >> card & 1 and meldable(hand | 1 << card) >> card & 1]
        assert cards_of(meld_outs(hand)) == outs, cards_of(hand)


def test_related_cards_share_a_rank_or_are_neighbours():
    assert related(bits("5h")) == bits("4h 5h 6h 5s 5c 5d")
    assert related(bits("As Kc")) == bits("As Ac Ad Ah 2s Ks Kc Kd Kh Qc")
    assert related(0) == 0


# ---------------------------------------------------------------------------------------------------------------
# rules.md 4.1: knocking


def test_scenario_13_all_eleven_melded_and_the_discards_that_leave_gin():
    hand = bits("4h 5h 6h 9s 9d 9c Ks Kh Kd Kc 7h")
    assert knock_discards(hand, 0, 0) == bits("7h 4h Ks Kh Kd Kc")
    assert min_deadwood_after_discard(hand) == 0


def test_scenario_12_a_forbidden_card_is_no_discard_but_the_others_are():
    hand = bits("4h 5h 6h 9s 9d 9c Ks Kh 2c Ac Kd")
    assert knock_discards(hand, 10, bits("Kd")) == bits("Ac 2c")
    assert knock_discards(hand, 10, bits("Ac 2c")) == 0
    assert knock_discards(hand, 1, 0) == bits("2c")


@pytest.mark.parametrize("deck", [WHOLE_DECK, SIX_RANKS, THREE_SUITS], ids=["whole deck", "six ranks", "three suits"])
def test_knock_discards_are_those_of_the_definition(deck):
    rng = random.Random(6)
    knocks = 0
    for hand in random_hands(7, 5_000, 11, deck):
        left = {1 << card: searched_deadwood(hand ^ 1 << card) for card in cards_of(hand)}
        assert min_deadwood_after_discard(hand) == min(left.values()), cards_of(hand)
        forbidden = 1 << rng.choice(cards_of(hand)) | 1 << rng.randrange(NUM_CARDS)
        for limit in (0, 5, 10, 40):
            expected = sum(card for card in left if left[card] <= limit and not card & forbidden)
            assert knock_discards(hand, limit, forbidden) == expected, cards_of(hand)
            knocks += expected != 0
    assert knocks


# ---------------------------------------------------------------------------------------------------------------
# rules.md 4.4: the knocker's arrangement

NINE_OF_THREE = "3s 4s 5s 3h 4h 5h 3d 4d 5d 2c"


def test_4_the_knocker_lays_sets_where_runs_would_be_open():
    hand, defender = bits(NINE_OF_THREE), bits("6s 7s 6h 7h Kc Qd Js Ah 9c 9h")
    runs, sets = melds_of("3s 4s 5s", "3d 4d 5d", "3h 4h 5h"), melds_of("3s 3d 3h", "4s 4d 4h", "5s 5d 5h")
    assert laid(knocker_arrangement, hand, hand) == sets
    assert defend(defender, runs)[0] - min_deadwood(hand) == 47
    assert defend(defender, sets)[0] - min_deadwood(hand) == 73
    assert open_on(sets, hand) == 3 + 4 + 5
    assert open_on(runs, hand) == 3 * (340 // 4 - 3 - 4 - 5)


def test_4_cards_the_knocker_has_seen_close_the_runs():
    hand = bits(NINE_OF_THREE)
    seen = hand | bits("2s 6s 2h 6h 2d 6d")
    assert open_on(melds_of("3s 4s 5s"), seen) == 0
    assert open_on(melds_of("3s 4s 5s"), seen ^ bits("2s")) == 2 + 1
    assert laid(knocker_arrangement, hand, seen) == melds_of("3s 4s 5s", "3d 4d 5d", "3h 4h 5h")


def test_4_of_arrangements_as_good_the_one_of_the_lowest_ids():
    seen = (1 << NUM_CARDS) - 1
    assert laid(knocker_arrangement, bits(NINE_OF_THREE), seen) == melds_of("3s 3d 3h", "4s 4d 4h", "5s 5d 5h")
    assert laid(arrangement, bits(NINE_OF_THREE)) == melds_of("3s 3d 3h", "4s 4d 4h", "5s 5d 5h")
    hand = bits("9s 9c 9d 9h Tc Jc Qc")  # three nines and a run of four, or four nines and a run of three
    assert laid(arrangement, hand) == melds_of("9s 9d 9h", "9c Tc Jc Qc")
    assert laid(knocker_arrangement, hand, hand) == melds_of("9s 9c 9d 9h", "Tc Jc Qc")


def test_4_a_long_run_is_one_meld():
    assert laid(arrangement, bits("4h 5h 6h 7h 8h 9h Th 2s 3c Kd")) == melds_of("4h 5h 6h 7h 8h 9h Th")
    assert laid(arrangement, bits("Js Qs Ks Ac 2c 3c")) == melds_of("Js Qs Ks", "Ac 2c 3c")


@pytest.mark.parametrize("deck", [WHOLE_DECK, SIX_RANKS, THREE_SUITS], ids=["whole deck", "six ranks", "three suits"])
def test_arrangements_are_those_of_a_search(deck):
    rng = random.Random(8)
    for hand in random_hands(9, 10_000, 10, deck):
        best = searched_arrangements(hand)
        assert sorted(IDS[meld] for meld in laid(arrangement, hand)) == min(best), cards_of(hand)
        assert best_melded(hand) == sum(MELDS[min(best)])
        seen = hand | sum(1 << card for card in rng.sample(WHOLE_DECK, rng.randrange(40)) if not hand >> card & 1)
        expected = min((searched_open_points(MELDS[ids].tolist(), seen), ids) for ids in best)
        melds = laid(knocker_arrangement, hand, seen)
        assert (open_on(melds, seen), sorted(IDS[meld] for meld in melds)) == expected, cards_of(hand)
        assert melds == sorted(melds, key=lambda meld: (IDS[meld] // 5 if is_set(meld) else 13, meld & -meld))


# ---------------------------------------------------------------------------------------------------------------
# rules.md 4.6: lay-offs

KNOCKER = "4h 5h 6h 9s 9d 9c Ks Kh Kd"  # of the scenarios; their order as laid:
NINES, KINGS, HEARTS = range(3)


def scenario(defender: str) -> tuple[int, list[int], list[int]]:
    melds = laid(arrangement, bits(KNOCKER))
    assert melds == melds_of("9s 9c 9d", "Ks Kd Kh", "4h 5h 6h")
    return defend(bits(defender), melds)


def test_scenario_4_three_cards_are_laid_off_on_the_hearts():
    assert min_deadwood(bits(KNOCKER + " 2c Ac") ^ bits("2c")) == 1
    deadwood, laid_off, own = scenario("7h 8h 3h 2s 3s 4s Qd Qh Jc Td")
    assert deadwood == 40
    assert [laid_off[meld] for meld in (NINES, KINGS, HEARTS)] == [0, 0, bits("3h 7h 8h")]
    assert own == melds_of("2s 3s 4s")
    assert min_deadwood(bits("7h 8h 3h 2s 3s 4s Qd Qh Jc Td")) == 58  # a score of 57 against the knocker's 1


def test_scenario_5_a_seven_is_all_that_is_left():
    deadwood, laid_off, own = scenario("7h 8h 9h 2s 3s 4s Qd Qh Qc 7d")
    assert deadwood == 7
    assert not any(laid_off)  # the hearts could be laid off too, which would not help
    assert own == melds_of("Qc Qd Qh", "2s 3s 4s", "7h 8h 9h")


def test_scenario_6_eight_against_eight():
    assert scenario("7h 8h 9h 2s 3s 4s Qd Qh Qc 8s")[0] == 8 == min_deadwood(bits(KNOCKER + " 8d"))


def test_scenario_7_lay_offs_down_to_nothing():
    deadwood, laid_off, _ = scenario("7h 8h 3h 2h 2s 3s 4s Qd Qh Qc")
    assert deadwood == 0
    assert laid_off[HEARTS] == bits("2h 3h 7h 8h")


def test_scenarios_8_and_9_no_lay_off_against_gin():
    assert defend(bits("7h 8h 3h 2s 3s 4s Qd Qh Jc Td"), []) == (58, [], melds_of("2s 3s 4s"))
    assert defend(bits("7h 8h 9h Th 2s 3s 4s Qd Qh Qc"), [])[0] == 0


def test_4_the_fourth_card_goes_on_a_set_and_no_fifth():
    deadwood, laid_off, _ = scenario("9h Kc Ts 2c")
    assert (deadwood, laid_off[NINES], laid_off[KINGS]) == (12, bits("9h"), bits("Kc"))
    assert next_layoffs(bits("9s 9c 9d 9h")) == 0


def test_4_a_card_that_fits_a_set_and_a_run_is_placed_where_it_helps():
    melds = melds_of("7s 7c 7d", "4h 5h 6h")
    assert defend(bits("7h 8h Ks 2c"), melds) == (12, [0, bits("7h 8h")], [])  # OpenSpiel would leave the 8h
    assert defend(bits("7h 8h 9h Ks"), melds) == (10, [0, 0], melds_of("7h 8h 9h"))


def test_4_a_card_that_could_be_melded_is_laid_off_only_if_that_helps():
    deadwood, laid_off, own = defend(bits("7h 7s 7c 8h 9h"), melds_of("4h 5h 6h"))
    assert (deadwood, laid_off, own) == (14, [0], melds_of("7h 8h 9h"))
    deadwood, laid_off, own = defend(bits("7h 7s 7c 7d 8h 9h"), melds_of("4h 5h 6h"))
    assert (deadwood, laid_off, own) == (0, [0], melds_of("7s 7c 7d", "7h 8h 9h"))
    deadwood, laid_off, own = defend(bits("7h 7s 7c 7d 8h"), melds_of("4h 5h 6h"))
    assert (deadwood, laid_off, own) == (0, [bits("7h 8h")], melds_of("7s 7c 7d"))


def test_4_runs_end_at_ace_and_king():
    assert next_layoffs(bits("As 2s 3s")) == bits("4s")
    assert next_layoffs(bits("Jc Qc Kc")) == bits("Tc")
    assert layoffs(bits("As 2s 3s"), bits("4s 5s 7s Ks Kh")) == bits("4s 5s")
    assert layoffs(bits("Tc Jc Qc"), bits("Kc Ad 9c 7c")) == bits("9c Kc")


def test_4_what_does_not_fit_is_returned():
    laid_off = np.zeros(MAX_MELDS, np.int64)
    melds = np.array(melds_of("7s 7c 7d", "4h 5h 6h"))
    assert lay_off(bits("7h 9h 3h"), melds, 2, laid_off) == bits("9h")
    assert laid_off.tolist() == [0, bits("3h 7h"), 0]


@pytest.mark.parametrize(
    "deck", [WHOLE_DECK, SIX_RANKS, THREE_SUITS, TWO_SUITS], ids=["whole deck", "six ranks", "three suits", "two suits"]
)
def test_best_defence_is_that_of_a_search(deck):
    knocks = laid_off_at_all = 0
    for knocker, hand in random_deals(10, 6_000, deck):
        melds = laid(knocker_arrangement, knocker, knocker)
        deadwood, laid_off, own = defend(hand, melds)
        assert (deadwood, sum(laid_off)) == searched_defence(hand, melds)
        # and these lay-offs and melds can lie on the table, and leave that deadwood
        assert all(meld | cards in POINTS for meld, cards in zip(melds, laid_off, strict=True))
        assert all(meld in POINTS for meld in own)
        used = [*laid_off, *own]
        assert sum(cards.bit_count() for cards in used) == (sum(used) & hand).bit_count()
        assert points_of(hand ^ sum(used)) == deadwood
        knocks += bool(melds)
        laid_off_at_all += any(laid_off)
    assert (knocks and laid_off_at_all) or not COMPILED
