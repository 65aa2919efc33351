"""The generator: published vectors, fair draws and shuffles, independent substreams, the same numbers uncompiled."""

import os
import subprocess
import sys
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy.special import chdtrc

from cardenvs.core.kernel import kernel
from cardenvs.core.record import Record
from cardenvs.core.rng import (
    SEED_MASK,
    derived_seed,
    episode_seed,
    mix64,
    next_uint64,
    random_below,
    seed_xoshiro,
    shuffle,
    shuffle_rest,
    start_stream,
    substream_seed,
)

UNLIKELY = 1e-6  # a fair generator fails such a test once in a million seeds; ours is fixed

# The example of the SplitMix64 page of Rosetta Code, and the first outputs of Blackman and Vigna's reference code.
SPLITMIX64_1234567 = [
    6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
]  # fmt: skip
XOSHIRO_1234 = [
    11520, 0, 1509978240, 1215971899390074240, 1216172134540287360, 607988272756665600, 16172922978634559625,
    8476171486693032832, 10595114339597558777, 2904607092377533576,
]  # fmt: skip

# Not in the order of a game's record, or Numba would take the one for a kind of the other and share their code.
STREAM = np.dtype([("seed", "i8"), ("rng", "u8", (4,))])


@kernel
def draws(states, source, index, n, out):
    """Fill `out` with draws below `n` from the substream (seed, source, index) of states[0]."""
    s = states[0]
    start_stream(s, source, index)
    for k in range(out.shape[0]):
        out[k] = random_below(s.rng, n)


@kernel
def shuffles(states, start, stop, n, decks):
    """Shuffle start..stop-1 of each row of `decks`, n cards long, one after the other."""
    s = states[0]
    start_stream(s, 0, 0)
    for k in range(decks.shape[0]):
        for card in range(n):
            decks[k, card] = card
        shuffle(s, decks[k], start, stop)


@kernel
def arranged(states, deck, given):
    s = states[0]
    start_stream(s, 0, 0)
    shuffle_rest(s, deck, deck.shape[0], given)


@pytest.fixture(autouse=True)
def _modulo():
    """Uncompiled, the generator's arithmetic is NumPy's; called outside an engine it would warn of overflow."""
    with np.errstate(over="ignore"):
        yield


def stream(seed=0):
    states = np.zeros(1, np.dtype((Record, STREAM)))
    states["seed"] = seed
    return states


def below(n, count, seed=0, source=0, index=0):
    out = np.zeros(count, np.int64)
    draws(stream(seed), source, index, n, out)
    return out


def chi_square(counts, expected):
    return float(chdtrc(np.size(counts) - 1, ((counts - expected) ** 2 / expected).sum()))


def test_splitmix64_gives_the_published_numbers():
    golden = np.uint64(0x9E3779B97F4A7C15)
    state, found = np.uint64(1234567), []
    for _ in SPLITMIX64_1234567:
        state += golden
        found.append(int(mix64(state)))
    assert found == SPLITMIX64_1234567


def test_xoshiro256starstar_gives_the_published_numbers():
    rng = np.array([1, 2, 3, 4], np.uint64)
    assert [int(next_uint64(rng)) for _ in XOSHIRO_1234] == XOSHIRO_1234


def test_the_generator_is_seeded_through_splitmix64():
    rng = np.zeros(4, np.uint64)
    seed_xoshiro(rng, np.uint64(1234567))
    assert rng.tolist() == SPLITMIX64_1234567[:4]


@pytest.mark.parametrize("n", [1, 2, 3, 7, 52])
def test_bounded_draws_are_even(n):
    counts = np.bincount(below(n, 40_000), minlength=n)
    assert len(counts) == n
    assert n == 1 or chi_square(counts, 40_000 / n) > UNLIKELY


def test_bounded_draws_have_no_modulo_bias():
    # 2**32 words over n values are 8/3 words a value. A product of word and n, without rejection, gives values that
    # are 2 modulo 3 two words and the others three; a remainder gives the last third of the values fewer.
    n = 3 << 29
    values = below(n, 30_000)
    assert chi_square(np.bincount(values % 3, minlength=3), 10_000) > UNLIKELY
    assert chi_square(np.bincount(values // (1 << 29), minlength=3), 10_000) > UNLIKELY
    words = np.random.default_rng(0).integers(1 << 32, size=30_000, dtype=np.uint64)
    assert chi_square(np.bincount(((words * np.uint64(n)) >> np.uint64(32)) % 3), 10_000) < UNLIKELY
    assert chi_square(np.bincount(words % np.uint64(n) // np.uint64(1 << 29)), 10_000) < UNLIKELY


def test_all_seeds_and_substreams_differ():
    firsts = Counter(
        int(substream_seed(seed, source, index)) for seed in range(20) for source in range(20) for index in range(20)
    )
    assert len(firsts) == 20**3


@pytest.mark.parametrize("other", [{"seed": 1}, {"source": 1}, {"index": 1}])
def test_substreams_are_independent_of_one_another(other):
    pairs = np.zeros((6, 6), int)
    np.add.at(pairs, (below(6, 36_000), below(6, 36_000, **other)), 1)
    assert chi_square(pairs, 1000) > UNLIKELY


def test_a_substream_does_not_depend_on_what_was_drawn_before():
    states, first, later = stream(5), np.zeros(8, np.int64), np.zeros(8, np.int64)
    draws(states, 0, 1, 52, first)
    for used in (1, 100):
        draws(states, 0, 0, 52, np.zeros(used, np.int64))
        draws(states, 0, 1, 52, later)
        assert later.tolist() == first.tolist()


def test_every_order_of_a_shuffle_is_as_frequent():
    decks = np.zeros((24_000, 4), np.int8)
    shuffles(stream(), 0, 4, 4, decks)
    counts = Counter(map(tuple, decks.tolist()))
    assert set(counts) == set(permutations(range(4)))
    assert chi_square(np.array(list(counts.values())), 1000) > UNLIKELY


def test_each_card_of_a_full_deck_is_as_often_in_each_place():
    decks = np.zeros((5200, 52), np.int8)
    shuffles(stream(3), 0, 52, 52, decks)
    places = np.zeros((52, 52), int)
    np.add.at(places, (np.tile(np.arange(52), 5200), decks.ravel()), 1)
    assert chi_square(places, 100) > UNLIKELY


def test_a_shuffle_leaves_what_is_outside_its_bounds():
    decks = np.zeros((50, 10), np.int8)
    shuffles(stream(), 3, 7, 10, decks)
    assert (decks[:, [0, 1, 2, 7, 8, 9]] == [0, 1, 2, 7, 8, 9]).all()
    assert len({tuple(row) for row in decks[:, 3:7].tolist()}) > 10
    assert (np.sort(decks, axis=1) == np.arange(10)).all()


def test_arrange_puts_the_given_cards_first_and_shuffles_the_rest():
    given = np.array([7, 3, 3], np.int16)
    seen = set()
    for seed in range(40):
        deck = np.array([1, 3, 3, 5, 7, 9], np.int8)
        arranged(stream(seed), deck, given)
        assert deck[:3].tolist() == [7, 3, 3]
        assert sorted(deck[3:].tolist()) == [1, 5, 9]
        seen.add(tuple(deck[3:].tolist()))
    assert len(seen) == 6


def test_episode_seeds_are_seeds_and_differ():
    seeds = {int(episode_seed(seed, env, k)) for seed in range(5) for env in range(30) for k in range(30)}
    assert len(seeds) == 5 * 30 * 30
    assert all(0 <= seed <= SEED_MASK for seed in seeds)


def test_derived_seeds_depend_on_every_part_of_their_purpose():
    seeds = [
        derived_seed(0), derived_seed(1), derived_seed(0, "a"), derived_seed(0, "b"), derived_seed(0, "a", 1),
        derived_seed(0, 1, "a"),
    ]  # fmt: skip
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed <= SEED_MASK for seed in seeds)
    assert derived_seed(0, "a") == seeds[2]


SAMPLE = """
import numpy as np
from cardenvs.core.kernel import COMPILED
from cardenvs.core.rng import episode_seed, random_below, seed_xoshiro, substream_seed
rng = np.zeros(4, np.uint64)
with np.errstate(over="ignore"):
    seed_xoshiro(rng, np.uint64(2**64 - 1))
    numbers = [int(random_below(rng, n)) for n in (2, 3, 52, 10**9, 2**31 - 1) for _ in range(200)]
    numbers += [int(substream_seed(2**63 - 1, 3, k)) for k in range(5)] + [int(episode_seed(7, 8, 9))]
print(COMPILED, numbers)
"""


def test_compiled_and_uncompiled_give_the_same_numbers():
    def run(compiled):
        done = subprocess.run(
            [sys.executable, "-c", SAMPLE],
            env={**os.environ, "CARDENVS_COMPILE": compiled, "CARDENVS_QUIET": "1"},
            capture_output=True, text=True, check=True, timeout=120,
        )  # fmt: skip
        return done.stdout.split(" ", 1)

    compiled, plain = run("1"), run("0")
    assert (compiled[0], plain[0]) == ("True", "False")
    assert compiled[1] == plain[1]
