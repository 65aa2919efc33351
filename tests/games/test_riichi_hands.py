"""Tests of riichi's hands: complete hands, waits, distances, and tiles as text."""

import functools
import random

import numpy as np
import pytest

from cardenvs.core.errors import DeckError
from cardenvs.core.kernel import COMPILED
from cardenvs.games.riichi.hands import count_ukeire, is_complete, riichi_discards, shanten, ukeire, waits
from cardenvs.games.riichi.notation import count_tiles, format_counts, format_tiles, kinds_of_faces, parse_tiles
from cardenvs.games.riichi.tiles import LABELS, NUM_KINDS, ORPHANS

SHARE = 1 if COMPILED else 20
ALL_KINDS = list(range(NUM_KINDS))
ORPHAN_KINDS = [kind for kind in ALL_KINDS if ORPHANS >> kind & 1]
FOUR_EACH = np.full(NUM_KINDS, 4, np.int8)


def counts_of(text):
    return kinds_of_faces(count_tiles(text))


def kinds(found):
    return [kind for kind in ALL_KINDS if int(found) >> kind & 1]


def labels(found):
    return " ".join(LABELS[kind] for kind in kinds(found))


def without(counts, kind):
    return with_tile(counts, kind, -1)


def with_tile(counts, kind, number=1):
    changed = counts.copy()
    changed[kind] += number
    return changed


# ---------------------------------------------------------------------------------------------------------------
# A second opinion, slow and plain


@functools.cache
def is_sets(tiles):
    """Whether a sorted tuple of kinds is made of sets."""
    if not tiles:
        return True
    first = tiles[0]
    forms = [(first,) * 3]
    if first < 27 and first % 9 <= 6:
        forms.append((first, first + 1, first + 2))
    return any(is_sets(less(tiles, form)) for form in forms if all(tiles.count(k) >= form.count(k) for k in form))


def less(tiles, taken):
    left = list(tiles)
    for kind in taken:
        left.remove(kind)
    return tuple(left)


def is_complete_slowly(counts, num_melds):
    tiles = tuple(kind for kind in ALL_KINDS for _ in range(counts[kind]))
    if num_melds == 0:
        if sorted(tiles.count(kind) for kind in set(tiles)) == [2] * 7:
            return True
        if set(tiles) == set(ORPHAN_KINDS):
            return True
    return any(is_sets(less(tiles, (pair, pair))) for pair in set(tiles) if tiles.count(pair) >= 2)


def waits_slowly(counts, num_melds):
    return [kind for kind in ALL_KINDS if counts[kind] < 4 and is_complete_slowly(with_tile(counts, kind), num_melds)]


def random_tiles(rng, size):
    """Random counts: from all tiles, one or two suits, a few kinds, or orphans."""
    pool = rng.choice([ALL_KINDS, ALL_KINDS[:9], ALL_KINDS[18:], rng.sample(ALL_KINDS, 7), ORPHAN_KINDS])
    drawn = rng.sample([kind for kind in pool for _ in range(4)], size)
    return np.bincount(drawn, minlength=NUM_KINDS).astype(np.int8)


def random_complete(rng):
    """Random complete counts and a number of melds."""
    while True:
        num_melds = rng.choice([0, 0, 0, 1, 2, 3, 4])
        pool = rng.choice([ALL_KINDS, ALL_KINDS, ALL_KINDS[:9], ALL_KINDS[20:], ORPHAN_KINDS])
        form, tiles = rng.random(), []
        if num_melds == 0 and form < 0.1:
            tiles = [kind for kind in rng.sample(pool, 7) for _ in range(2)]
        elif num_melds == 0 and form < 0.2:
            tiles = [*ORPHAN_KINDS, rng.choice(ORPHAN_KINDS)]
        else:
            for _ in range(4 - num_melds):
                kind = rng.choice(pool)
                is_run = kind < 27 and kind % 9 <= 6 and rng.random() < 0.6
                tiles += [kind, kind + 1, kind + 2] if is_run else [kind] * 3
            tiles += [rng.choice(pool)] * 2
        counts = np.bincount(tiles, minlength=NUM_KINDS).astype(np.int8)
        if counts.max() <= 4:
            return counts, num_melds


def samples(seed, number):
    """Hands of 14 and numbers of melds: a third complete, a third with a tile changed, a third random."""
    rng = random.Random(seed)
    for k in range(number // SHARE):
        counts, num_melds = random_complete(rng)
        if k % 3 == 1:
            counts = without(counts, rng.choice(np.flatnonzero(counts)))
            counts = with_tile(counts, rng.choice(np.flatnonzero(counts < 4)))
        elif k % 3 == 2:
            counts = random_tiles(rng, 14 - 3 * num_melds)
        yield counts, num_melds, rng


# ---------------------------------------------------------------------------------------------------------------
# Complete hands and waits


def test_5_1_complete_hands():
    found = []
    for counts, num_melds, _ in samples(1, 3_000):
        found.append(is_complete_slowly(counts, num_melds))
        assert is_complete(counts, num_melds) == found[-1], (format_counts(counts), num_melds)
    assert 0.3 < np.mean(found) < 0.7


def test_5_1_waits():
    found = []
    for counts, num_melds, rng in samples(2, 900):
        hand = without(counts, rng.choice(np.flatnonzero(counts)))
        found.append(len(waits_slowly(hand, num_melds)))
        assert kinds(waits(hand, num_melds)) == waits_slowly(hand, num_melds), (format_counts(hand), num_melds)
    assert {0, 1, 2, 4} <= set(found)


@pytest.mark.parametrize(
    ("hand", "melds", "expected"),
    [
        ("123m456p789s11z23s", 0, "1s 4s"),
        ("147m258p369s1234z", 0, ""),
        ("1112345678999m", 0, "1m 2m 3m 4m 5m 6m 7m 8m 9m"),
        ("19m19p19s1234567z", 0, "1m 9m 1p 9p 1s 9s 1z 2z 3z 4z 5z 6z 7z"),
        ("19m19p19s1234566z", 0, "7z"),
        ("1199m2288p5577s3z", 0, "3z"),
        ("1199m2288p555577s", 0, ""),  # four of a kind are not two pairs
        ("2233445566778m", 0, "2m 5m 8m"),
        ("1111m", 3, ""),  # 8.1: it would wait for a fifth
        ("1111234m", 2, "4m"),  # 111 234 1 waits for a fifth; 11 + 1 2 3 4 does not
        ("3z", 4, "3z"),
        ("1122z", 3, "1z 2z"),
        ("2344m", 3, "1m 4m"),
    ],
)
def test_5_1_waits_of_examples(hand, melds, expected):
    assert waits_slowly(counts_of(hand), melds) == kinds(waits(counts_of(hand), melds))
    assert labels(waits(counts_of(hand), melds)) == expected


def test_4_1_riichi_discards_leave_waits():
    found = 0
    for counts, num_melds, _ in samples(3, 1_500):
        expected = [kind for kind in ALL_KINDS if counts[kind] and waits(without(counts, kind), num_melds)]
        found += expected != []
        assert kinds(riichi_discards(counts, num_melds)) == expected, (format_counts(counts), num_melds)
    assert found > 900 // SHARE


# ---------------------------------------------------------------------------------------------------------------
# Distances


def test_shanten_is_that_of_mahjong():
    theirs = pytest.importorskip("mahjong.shanten").Shanten.calculate_shanten
    found = set()
    for counts, num_melds, rng in samples(4, 3_000):
        for _ in range(rng.randrange(4)):
            counts = without(counts, rng.choice(np.flatnonzero(counts)))
            counts = with_tile(counts, rng.choice(np.flatnonzero(counts < 4)))
        for hand in (counts, without(counts, rng.choice(np.flatnonzero(counts)))):
            found.add(shanten(hand, num_melds))
            assert shanten(hand, num_melds) == theirs(hand.tolist()), (format_counts(hand), num_melds)
    assert found >= {-1, 0, 1, 2, 3, 4, 5}


def test_shanten_agrees_with_complete_hands_and_waits():
    for counts, num_melds, rng in samples(5, 3_000):
        assert (shanten(counts, num_melds) == -1) == is_complete(counts, num_melds)
        hand = without(counts, rng.choice(np.flatnonzero(counts)))
        assert (shanten(hand, num_melds) == 0) == (waits(hand, num_melds) != 0), (format_counts(hand), num_melds)


@pytest.mark.parametrize(
    ("hand", "melds", "expected"),
    [
        ("1111m", 3, 1), ("1111234m", 2, 0), ("147m258p369s1234z", 0, 6), ("159m159p159s1234z", 0, 3),
        ("1111222233334m", 0, 0), ("11112222333344z", 0, 2), ("1111z", 3, 1), ("19m19p19s1234567z", 0, 0),
    ],
)  # fmt: skip
def test_shanten_of_examples(hand, melds, expected):
    assert shanten(counts_of(hand), melds) == expected


def test_ukeire_lowers_the_shanten():
    for counts, num_melds, rng in samples(6, 600):
        hand = without(counts, rng.choice(np.flatnonzero(counts)))
        unseen = np.array([rng.randrange(5 - number) for number in hand], np.int8)
        expected = [
            kind
            for kind in ALL_KINDS
            if unseen[kind] and shanten(with_tile(hand, kind), num_melds) < shanten(hand, num_melds)
        ]
        assert kinds(ukeire(hand, num_melds, unseen)) == expected
        assert count_ukeire(hand, num_melds, unseen) == sum(unseen[expected])


def test_ukeire_of_a_waiting_hand_is_its_waits():
    hand = counts_of("234m567m345p67s22s")
    assert labels(ukeire(hand, 0, FOUR_EACH - hand)) == labels(waits(hand, 0)) == "5s 8s"
    assert count_ukeire(hand, 0, FOUR_EACH - hand) == 8


# ---------------------------------------------------------------------------------------------------------------
# Tiles as text


def test_1_2_tiles_as_text():
    assert format_counts(count_tiles("77z 055p 321m")) == "123m055p77z"
    assert format_tiles(parse_tiles("9m5m1m0m4m")) == "14059m"
    assert [LABELS[face] for face in parse_tiles("30s7z")] == ["3s", "0s", "7z"]
    assert kinds_of_faces(count_tiles("055p"))[13] == 3
    assert parse_tiles("") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("12x", "'x' in '12x' is not a suit; the suits are m, p, s, and z"),
        ("12", "'12' at the end of '12' has no suit; tiles are digits followed by their suit"),
        ("12mp", "'p' in '12mp' has no digits before it"),
        ("8z", "8z in '8z' is not a tile; the honours are 1z to 7z"),
        ("0z", "0z in '0z' is not a tile"),
        ("05555m", "'05555m' has 5 tiles 5m; there are four of each kind"),
        ("00m", "'00m' has 2 tiles 0m; there is one red five in each suit"),
    ],
)
def test_1_2_texts_that_are_not_tiles(text, message):
    with pytest.raises(DeckError, match="^" + message):
        count_tiles(text)
