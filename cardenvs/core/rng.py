"""Randomness inside a state: xoshiro256** seeded through SplitMix64, one substream per chance event.

Rules never use a global generator. Each deal and each other chance source (dice, a reshuffle) starts its own substream
of (episode seed, source, index), so draws in one hand do not change the cards of the next. The same seed gives the same
numbers on every platform.

Sources: D. Blackman and S. Vigna, "Scrambled Linear Pseudorandom Number Generators" (2018); the tests compare with the
output of their reference code. D. Lemire, "Fast Random Integer Generation in an Interval" (2019), for unbiased bounded
draws.
"""

import hashlib

import numpy as np

from cardenvs.core.kernel import kernel

DEAL = 0  # chance source of the deal; a game numbers its other sources from 1
DETERMINIZE = 1 << 20  # chance source of `determinize`
VALUE = DETERMINIZE + 1  # random numbers of a value function

SEED_MASK = (1 << 63) - 1  # seeds are non-negative int64

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_U1, _U5, _U7, _U9, _U11 = np.uint64(1), np.uint64(5), np.uint64(7), np.uint64(9), np.uint64(11)
_U17, _U19, _U27, _U30, _U31 = np.uint64(17), np.uint64(19), np.uint64(27), np.uint64(30), np.uint64(31)
_U32, _U45, _U57 = np.uint64(32), np.uint64(45), np.uint64(57)
_LOW_32 = np.uint64(0xFFFFFFFF)
_TWO_32 = np.uint64(1 << 32)


@kernel(inline=True)
def mix64(x):
    """SplitMix64's output function: uint64 to uint64, a bijection that spreads every input bit."""
    x = (x ^ (x >> _U30)) * _MIX_1
    x = (x ^ (x >> _U27)) * _MIX_2
    return x ^ (x >> _U31)


@kernel(inline=True)
def seed_xoshiro(rng, seed):
    """Fill `rng` (uint64, shape (4,)) with the first four SplitMix64 outputs after `seed` (uint64)."""
    x = seed
    for k in range(4):
        x = x + _GOLDEN
        rng[k] = mix64(x)


@kernel(inline=True)
def _next(s0, s1, s2, s3):
    """Return the next output of xoshiro256** and the four words of its state after it."""
    scaled = s1 * _U5
    result = ((scaled << _U7) | (scaled >> _U57)) * _U9
    t = s1 << _U17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    s3 = (s3 << _U45) | (s3 >> _U19)
    return result, s0, s1, s2, s3


@kernel(inline=True)
def _next_below(s0, s1, s2, s3, n):
    """Return an unbiased int64 in 0..n-1 and the state after it, for 1 <= n < 2**31.

    Lemire 2019, section 4, on 32-bit words.
    """
    bound = np.uint64(n)
    word, s0, s1, s2, s3 = _next(s0, s1, s2, s3)
    product = (word >> _U32) * bound
    low = product & _LOW_32
    if low < bound:
        threshold = (_TWO_32 - bound) % bound
        while low < threshold:
            word, s0, s1, s2, s3 = _next(s0, s1, s2, s3)
            product = (word >> _U32) * bound
            low = product & _LOW_32
    return np.int64(product >> _U32), s0, s1, s2, s3


@kernel(inline=True)
def next_uint64(rng):
    """Advance `rng` (uint64, shape (4,)) in place and return the next output of xoshiro256**."""
    result, rng[0], rng[1], rng[2], rng[3] = _next(rng[0], rng[1], rng[2], rng[3])
    return result


@kernel(inline=True)
def random_below(rng, n):
    """Return an unbiased int64 in 0..n-1, for 1 <= n < 2**31, and advance `rng` in place."""
    value, rng[0], rng[1], rng[2], rng[3] = _next_below(rng[0], rng[1], rng[2], rng[3], n)
    return value


@kernel(inline=True)
def get_words(rng):
    """Return the four words of `rng`, for several draws with `next_below`: the compiler keeps them in registers."""
    return rng[0], rng[1], rng[2], rng[3]


@kernel(inline=True)
def next_below(words, n):
    """Return an unbiased int64 in 0..n-1, for 1 <= n < 2**31, and the words after it."""
    value, s0, s1, s2, s3 = _next_below(words[0], words[1], words[2], words[3], n)
    return value, (s0, s1, s2, s3)


@kernel(inline=True)
def set_words(rng, words):
    """Set the four words of `rng` after draws with `next_below`."""
    rng[0], rng[1], rng[2], rng[3] = words


@kernel(inline=True)
def random_unit(rng):
    """Return a float64 in [0, 1), a multiple of 2**-53, and advance `rng` in place."""
    return np.float64(next_uint64(rng) >> _U11) * 2.0**-53


@kernel(inline=True)
def substream_seed(seed, source, index):
    """Return the uint64 seed of the substream (seed, source, index), all non-negative integers."""
    x = mix64(np.uint64(seed) + np.uint64(source) * _GOLDEN + _MIX_1)
    return mix64(x + np.uint64(index) * _GOLDEN)


@kernel(inline=True)
def start_stream(s, source, index):
    """Set `s.rng` to the start of the substream (s.seed, source, index)."""
    seed_xoshiro(s.rng, substream_seed(s.seed, source, index))


@kernel(inline=True)
def episode_seed(seed, env, episode):
    """Return the int64 seed of episode number `episode` of environment `env` in a batch seeded with `seed`."""
    return np.int64(substream_seed(seed, env, episode) >> _U1)


def derived_seed(seed: int, *purpose: int | str) -> int:
    """Return a seed, 0..2**63-1, derived from `seed` for `purpose`. For Python code.

    Unlike `substream_seed` it is one-way (SHA-256), so an agent cannot compute the deal's seed from its own.
    """
    digest = hashlib.sha256(repr((seed, *purpose)).encode()).digest()
    return int.from_bytes(digest[:8], "little") & SEED_MASK


@kernel(inline=True)
def shuffle_rest(s, deck, n, given):
    """Put deck[0:n] in dealing order: the `given` tokens first, then the others shuffled from `s.rng`.

    Args:
        s: record; its `rng` is advanced.
        deck: integer array whose first `n` entries are the tokens in any order, rearranged in place.
        n: number of tokens.
        given: integer array of tokens, a sub-multiset of deck[0:n] (checked by the caller), usually empty.
    """
    for k in range(given.shape[0]):  # usually none
        j = k
        while deck[j] != given[k]:
            j += 1
        deck[k], deck[j] = deck[j], deck[k]
    shuffle(s, deck, given.shape[0], n)


@kernel(inline=True)
def shuffle(s, deck, start, stop):
    """Shuffle deck[start:stop] in place from `s.rng` (Fisher-Yates, front to back)."""
    s0, s1, s2, s3 = s.rng[0], s.rng[1], s.rng[2], s.rng[3]  # in registers, not in memory, during the loop
    for k in range(start, stop - 1):
        step, s0, s1, s2, s3 = _next_below(s0, s1, s2, s3, stop - k)
        deck[k], deck[k + step] = deck[k + step], deck[k]
    s.rng[0], s.rng[1], s.rng[2], s.rng[3] = s0, s1, s2, s3


@kernel
def canonical_shuffle(s, deck, start, stop):
    """Sort deck[start:stop], then shuffle it from `s.rng`, so that the result does not depend on the old order.

    `determinize` uses this, because anyone who knows the seed could undo a shuffle of the true order.
    """
    for k in range(start + 1, stop):
        token = deck[k]
        j = k
        while j > start and deck[j - 1] > token:
            deck[j] = deck[j - 1]
            j -= 1
        deck[j] = token
    shuffle(s, deck, start, stop)
