"""Dealing to places that may not get some suits: every deal that fits is equally likely."""

import functools
import itertools
import math
import os
import random
from collections import Counter

import numpy as np
import pytest
from scipy.special import chdtrc

from cardenvs.core.kernel import COMPILED
from cardenvs.core.record import packed, takes_records
from cardenvs.kits.cards import SUIT_SETS
from cardenvs.kits.redeal import PLACES, THREE_HANDS, deal_to_places, deal_to_three, number_of_deals

DEAL, NUMBER, DEAL_TO_THREE = (
    takes_records(deal_to_places),
    takes_records(number_of_deals),
    takes_records(deal_to_three),
)
STREAM = packed([("rng", "u8", (4,))])
DRAWS_A_DEAL = 30 if COMPILED else 2
MOST_DEALS = 200


class Dealer:
    """Deals cards to places of (room, voids)."""

    def __init__(self, cards, places, seed, suits=SUIT_SETS):
        self.cards, self.suits = sorted(cards), suits
        self.stream = np.zeros(1, STREAM)[0]
        self.stream.rng[:] = np.random.default_rng(seed).integers(2**63, size=4)
        self.places = np.zeros(1, PLACES)[0]
        self.asked = places

    def ask(self):
        self.places.number = len(self.asked)
        for k, (room, voids) in enumerate(self.asked):
            self.places.room[k], self.places.voids[k] = room, voids

    def number(self):
        """Return the number of deals."""
        self.ask()
        return NUMBER(self.places, self.suits, np.array(self.cards, np.int8), 0, len(self.cards))

    def deal(self, order=None):
        """Return the cards of each place, in their order; deal from cards in the given order."""
        self.ask()
        deck = np.array([-1, *(order or self.cards), -1], np.int8)
        DEAL(self.stream, self.places, self.suits, deck, 1, len(deck) - 1)
        assert deck[0] == deck[-1] == -1
        assert sorted(deck[1:-1]) == self.cards
        starts = [int(first) for first in self.places.first[: len(self.asked)]]
        return tuple(
            tuple(int(card) for card in deck[first : first + room])
            for first, (room, _) in zip(starts, self.asked, strict=True)
        )


def all_deals(cards, places):
    """Return all deals that fit, as tuples of sets: card by card, with no regard to suits that are alike."""
    found = [tuple(frozenset() for _ in places)]
    for card in cards:
        found = [
            (*deal[:k], deal[k] | {card}, *deal[k + 1 :])
            for deal in found
            for k, (room, voids) in enumerate(places)
            if len(deal[k]) < room and not voids >> card // 13 & 1
        ]
    return found


def small_case(chooser):
    """Return cards and places with several voids and at most MOST_DEALS deals, and these."""
    while True:
        num_places = chooser.randint(2, 6)
        cards = sorted(chooser.sample(range(52), chooser.randint(num_places, 9)))
        cuts = sorted(chooser.choices(range(len(cards) + 1), k=num_places - 1))
        rooms = [b - a for a, b in itertools.pairwise([0, *cuts, len(cards)])]
        voids = [sum(1 << suit for suit in range(4) if chooser.random() < 0.35) for _ in rooms]
        places = list(zip(rooms, voids, strict=True))
        if sum(v > 0 and room > 0 for room, v in places) < 2:
            continue
        deals = all_deals(cards, places)
        if 2 <= len(deals) <= MOST_DEALS:
            return cards, places, deals


def chi_square(counts, number):
    """Return the p-value of counts among `number` results that should be equally likely."""
    draws = counts.total()
    expected = draws / number
    statistic = sum((count - expected) ** 2 / expected for count in counts.values())
    return float(chdtrc(number - 1, statistic + expected * (number - len(counts))))


def p_value(cards, places, deals, seed):
    dealer = Dealer(cards, places, seed)
    counts = Counter(tuple(map(frozenset, dealer.deal())) for _ in range(DRAWS_A_DEAL * len(deals)))
    assert set(counts) <= set(deals)
    return chi_square(counts, len(deals))


def test_several_voids_leave_every_deal_equally_likely():
    chooser = random.Random(4)
    values = [p_value(*small_case(chooser), seed) for seed in range(50 if COMPILED else 10)]
    print(f"{len(values)} positions, least p {min(values):.2g}")
    assert min(values) > 1e-4


@pytest.mark.slow
def test_several_voids_leave_every_deal_equally_likely_in_many_positions():
    seed = int(os.environ.get("CARDENVS_TEST_SEED", random.randrange(2**32)))
    print(f"CARDENVS_TEST_SEED={seed}")
    chooser = random.Random(seed)
    values = [p_value(*small_case(chooser), seed + k) for k in range(3000 if COMPILED else 30)]
    print(f"{len(values)} positions, least p {min(values):.2g}, {sum(p < 0.01 for p in values)} below 0.01")
    assert min(values) > 1e-8
    assert sum(p < 0.01 for p in values) < 0.01 * len(values) + 5 * math.sqrt(0.01 * len(values)) + 3


# ---------------------------------------------------------------------------------------------------------------
# Whole packs, with exact probabilities instead of a list of deals


def chances(cards, places):
    """Return the exact probability that a card of a suit goes to a place, by integers and card by card."""
    cards = sorted(cards)

    @functools.cache
    def completions(k, rooms):
        if k == len(cards):
            return 1
        return sum(
            completions(k + 1, (*rooms[:place], rooms[place] - 1, *rooms[place + 1 :]))
            for place, (_, voids) in enumerate(places)
            if rooms[place] and not voids >> cards[k] // 13 & 1
        )

    rooms = tuple(room for room, _ in places)
    found = {}
    for suit in {card // 13 for card in cards}:
        cards.sort(key=lambda card: (card // 13 != suit, card))  # the first card is of this suit
        completions.cache_clear()
        total = completions(0, rooms)
        for place, (room, voids) in enumerate(places):
            fits = room and not voids >> suit & 1
            after = (*rooms[:place], room - 1, *rooms[place + 1 :])
            found[suit, place] = completions(1, after) / total if fits else 0.0
    return found


LARGE = (
    (range(52), [(10, 0b0001), (10, 0b0010), (10, 0b0100), (22, 0)]),
    (range(52), [(13, 0b0001), (13, 0b0010), (13, 0b0100), (13, 0b1000)]),
    (range(0, 52, 2), [(4, 0b0011), (4, 0b0101), (4, 0b1001), (4, 0b1000), (4, 0b0100), (6, 0)]),
    (range(3, 45, 2), [(4, 0b0110), (3, 0b0001), (4, 0b0001), (3, 0b1000), (4, 0b0010), (3, 0b1100)]),
    (range(0, 52, 2), [(4, 0b0111), (3, 0b1011), (5, 0b0010), (2, 0), (12, 0)]),
)


@pytest.mark.skipif(not COMPILED, reason="takes a minute")
@pytest.mark.parametrize("case", range(len(LARGE)))
def test_shares_of_suits_are_exact_in_whole_packs(case):
    cards, places = LARGE[case]
    wanted, draws = chances(cards, places), 8000
    got, dealer = Counter(), Dealer(cards, places, case)
    for _ in range(draws):
        for place, dealt in enumerate(dealer.deal()):
            got.update((card // 13, place) for card in dealt)
    sizes = Counter(card // 13 for card in cards)
    for (suit, place), chance in wanted.items():
        number = got[suit, place] / draws
        if chance in (0.0, 1.0):
            assert number == chance * sizes[suit]
        # Cards of a suit go together, so that the variance may be up to `size` times that of independent cards.
        deviation = sizes[suit] * math.sqrt(chance * (1 - chance) / draws)
        assert abs(number - chance * sizes[suit]) <= 4.5 * deviation, (suit, place)


# ---------------------------------------------------------------------------------------------------------------
# What callers rely on


def test_the_order_within_a_place_is_random():
    cards, places = (0, 1, 13, 26), [(1, 0b0010), (2, 0b0010), (1, 0)]
    dealer = Dealer(cards, places, 7)
    counts = Counter(dealer.deal() for _ in range(200 * DRAWS_A_DEAL))
    deals = {
        (order[:1], order[1:3], order[3:])
        for order in itertools.permutations(cards)
        if 13 not in order[:3]
    }  # fmt: skip
    assert set(counts) <= deals
    assert chi_square(counts, len(deals)) > 1e-4


def test_the_order_before_does_not_matter():
    chooser = random.Random(1)
    for seed in range(40):
        cards, places, _ = small_case(chooser)
        assert Dealer(cards, places, seed).deal() == Dealer(cards, places, seed).deal(chooser.sample(cards, len(cards)))


def test_places_are_found_whenever_the_cards_just_fit():
    """Each place takes one suit only, and the last one takes what nobody else may have."""
    cards = [*range(3), *range(13, 15), *range(26, 30), 39]
    places = [(3, 0b1110), (2, 0b1101), (5, 0)]
    for seed in range(50):
        assert [set(dealt) for dealt in Dealer(cards, places, seed).deal()] == [{0, 1, 2}, {13, 14}, {*cards[5:]}]


def test_other_suits_than_the_usual_four():
    """Euchre: the jack of the other black suit is a club if clubs are trumps."""
    jack_of_spades = 10
    suits = SUIT_SETS & ~(1 << jack_of_spades)
    suits[1] |= 1 << jack_of_spades
    dealer = Dealer((0, jack_of_spades, 14, 27), [(2, 0b0010), (2, 0)], 3, suits)
    for _ in range(20):
        assert set(dealer.deal()[0]) == {0, 27}


def test_the_number_of_deals():
    chooser = random.Random(8)
    for _ in range(60 if COMPILED else 10):
        cards, places, deals = small_case(chooser)
        assert Dealer(cards, places, 0).number() == len(deals)


@pytest.mark.parametrize(
    ("cards", "places", "number"),
    [
        ([0, 1, 2], [(1, 0), (2, 0)], 3),
        ([0, 1, 2], [(3, 0b0001)], 0),  # spades, and nobody may get them
        ([0, 1, 13], [(1, 0b0001), (2, 0b0010)], 1),
        ([0, 13, 14], [(1, 0b0010), (2, 0b0010)], 0),
        ([], [], 1),
    ],
)
def test_the_number_of_deals_of_a_few_cards(cards, places, number):
    assert Dealer(cards, places, 0).number() == number


# ---------------------------------------------------------------------------------------------------------------
# Three hands that may not get some cards


def three_hands(chooser, most_cards):
    """Return cards, and rooms and barred cards of three hands into which they fit."""
    cards = sorted(chooser.sample(range(52), chooser.randint(2, most_cards)))
    dealt = [chooser.randrange(chooser.choice([2, 3])) for _ in cards]
    rooms = [dealt.count(k) for k in range(3)]
    share = chooser.choice([0.1, 0.3, 0.6])
    barred = [[c for c, to in zip(cards, dealt, strict=True) if to != k and chooser.random() < share] for k in range(3)]
    return cards, rooms, [sum(1 << card for card in some) for some in barred]


def deal_three(stream, cards, rooms, barred):
    """Return the cards of each hand, as bit sets."""
    hands = np.zeros(1, THREE_HANDS)[0]
    hands.room[:], hands.barred[:] = rooms, barred
    DEAL_TO_THREE(stream, hands, np.int64(sum(1 << card for card in cards)))
    return tuple(int(dealt) for dealt in hands.cards)


def ways_to_deal(cards, rooms, barred):
    """Return all deals that fit, as tuples of bit sets, card by card."""
    found = [(0, 0, 0)]
    for card in cards:
        found = [
            (*deal[:k], deal[k] | 1 << card, *deal[k + 1 :])
            for deal in found
            for k in range(3)
            if deal[k].bit_count() < rooms[k] and not barred[k] >> card & 1
        ]
    return found


def new_stream(seed):
    stream = np.zeros(1, STREAM)[0]
    stream.rng[:] = np.random.default_rng(seed).integers(2**63, size=4)
    return stream


def test_three_hands_that_may_not_get_some_cards():
    chooser, stream, values = random.Random(6), new_stream(6), []
    while len(values) < (60 if COMPILED else 8):
        case = three_hands(chooser, 9)
        deals = ways_to_deal(*case)
        if 2 <= len(deals) <= MOST_DEALS:
            counts = Counter(deal_three(stream, *case) for _ in range(DRAWS_A_DEAL * len(deals)))
            assert set(counts) <= set(deals)
            values.append(chi_square(counts, len(deals)))
    print(f"{len(values)} positions, least p {min(values):.2g}")
    assert min(values) > 1e-4


def test_three_large_hands_get_each_card_as_often_as_they_should():
    """39 cards: chances by counting deals, exactly, by how many cards of each class are left."""
    chooser, stream = random.Random(7), new_stream(7)
    for _ in range(4 if COMPILED else 1):
        cards = list(range(39))
        dealt = chooser.sample([0] * 13 + [1] * 13 + [2] * 13, 39)
        barred = [sum(1 << c for c in cards if dealt[c] != k and chooser.random() < 0.25) for k in range(3)]

        @functools.cache
        def ways(k, zero, one, barred=tuple(barred)):
            if min(zero, one, 39 - k - zero - one) < 0:
                return 0
            if k == 39:
                return 1
            may = [not of >> k & 1 for of in barred]
            return (
                may[0] * ways(k + 1, zero - 1, one)
                + may[1] * ways(k + 1, zero, one - 1)
                + may[2] * ways(k + 1, zero, one)
            )

        first = [
            not of & 1 and ways(1, *rest) / ways(0, 13, 13)
            for of, rest in zip(barred, [(12, 13), (13, 12), (13, 13)], strict=True)
        ]
        draws = 2000 if COMPILED else 20
        worlds = [deal_three(stream, cards, (13, 13, 13), barred) for _ in range(draws)]
        for k, chance in enumerate(first):
            number = sum(world[k] & 1 for world in worlds)
            assert abs(number - draws * chance) <= 5 * math.sqrt(draws * chance * (1 - chance)) + 1e-9
