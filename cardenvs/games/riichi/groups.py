"""Groups: a suit, or the honours, as a number with one octal digit for each kind, the lowest kind lowest.

One operation on such a number counts, compares or changes all of its kinds at once. In names, *ones* are numbers whose
digits are 0 or 1. Paragraph numbers are those of rules.md.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.riichi.tiles import HONOURS, NUM_KINDS
from cardenvs.kits.cards import count_bits

ONES = 0o111111111  # a one in each digit of a suit
_MIDDLE, _HIGH = 0o010010010, 0o100100100  # ones of the ranks that are 1 or 2 modulo 3
_MODULO_3 = 0o444  # 2 bits for each count 0..4: the count modulo 3
NOT_SETS = -1


@kernel(inline=True)
def suit_group(counts, first):
    """Return the group of the suit whose lowest kind is `first`: 0, 9 or 18."""
    group = np.int64(0)
    for rank in range(9):
        group |= np.int64(counts[first + rank]) << 3 * rank
    return group


@kernel(inline=True)
def honour_group(counts):
    """Return the group of the honours."""
    group = np.int64(0)
    for k in range(NUM_KINDS - HONOURS):
        group |= np.int64(counts[HONOURS + k]) << 3 * k
    return group


@kernel(inline=True)
def one_of(rank):
    """Return a group of one tile, given its place in the group."""
    return np.int64(1) << 3 * rank


@kernel(inline=True)
def count_of(group, rank):
    """Return how many tiles of a rank a group has."""
    return group >> 3 * rank & 7


@kernel(inline=True)
def ranks_of(ones):
    """Return ones as a set, bit k for digit k."""
    triples = (ones | ones >> 2 | ones >> 4) & 0o007007007
    return (triples | triples >> 6 | triples >> 12) & 0o777


@kernel(inline=True)
def held(group):
    """Return ones where there is a tile."""
    return (group | group >> 1 | group >> 2) & ONES


@kernel(inline=True)
def in_twos(group):
    """Return ones where there are at least two tiles."""
    return (group >> 1 | group >> 2) & ONES


@kernel(inline=True)
def in_threes(group):
    """Return ones where there are at least three tiles."""
    return (group & group >> 1 | group >> 2) & ONES


@kernel(inline=True)
def exactly_two(group):
    """Return ones where there are two tiles: of honours, the pairs."""
    return group >> 1 & ~group & ONES


@kernel(inline=True)
def strays(honours):
    """Return ones where there are one or four honours: not all of them are in triplets and pairs."""
    return (honours & ~(honours >> 1) | honours >> 2) & ONES


@kernel(inline=True)
def sum_modulo_3(group):
    """Return the number of tiles of a group, modulo 3."""
    return (count_bits(group & 5 * ONES) + 2 * count_bits(group & 2 * ONES)) % 3


@kernel(inline=True)
def ranks_modulo_3(group):
    """Return the sum of the ranks, from 0, of the tiles of a group, modulo 3. Of sets it is 0."""
    middle = count_bits(group & 5 * _MIDDLE) + 2 * count_bits(group & 2 * _MIDDLE)
    high = count_bits(group & 5 * _HIGH) + 2 * count_bits(group & 2 * _HIGH)
    return (middle + 2 * high) % 3


@kernel
def read_sets(group, rank_of_runs):
    """Return how a suit is divided into sets, or NOT_SETS (5.1).

    From the lowest rank up, the tiles of a rank that lower runs have left begin runs or are a triplet. Their number
    modulo 3 is that of runs. Three more runs are possible instead of a triplet, but in a hand of four sets only once.

    Args:
        group: the suit.
        rank_of_runs: where three runs are preferred to a triplet, 0..6, or -1.

    Returns:
        triplets + 512 * runs: a set of ranks, and three bits for each rank, how many runs begin there.
    """
    triplets, runs = np.int64(0), np.int64(0)
    here, after = np.int64(0), np.int64(0)  # tiles of this rank and of the next that belong to runs
    for rank in range(9):
        count = count_of(group, rank) - here
        if count < 0:
            return np.int64(NOT_SETS)
        begun = count if rank == rank_of_runs else _MODULO_3 >> 2 * count & 3
        triplets |= (np.int64(1) << rank) if count - begun == 3 else 0
        runs |= begun << 3 * rank
        here, after = after + begun, begun
    return triplets + 512 * runs if here == 0 and after == 0 else np.int64(NOT_SETS)


@kernel
def is_sets(group):
    """Return whether a suit consists of sets."""
    here, after = np.int64(0), np.int64(0)  # as in read_sets
    for _ in range(9):
        count = (group & 7) - here
        if count < 0:
            return False
        begun = _MODULO_3 >> 2 * count & 3
        here, after = after + begun, begun
        group >>= 3
    return here == 0 and after == 0


@kernel(inline=True)
def lowest_pair(group):
    """Return the lowest rank that can be the pair in a suit of sets and a pair. The others are 3 and 6 higher."""
    return 2 * ranks_modulo_3(group) % 3  # without the pair, whose ranks add up to 2 * rank, the sum must be 0


@kernel
def is_sets_and_pair(group):
    """Return whether a suit consists of sets and one pair."""
    rank = lowest_pair(group)
    while rank < 9:
        if count_of(group, rank) >= 2 and is_sets(group - 2 * one_of(rank)):
            return True
        rank += 3
    return False


@kernel
def waits_beside_pair(group):
    """Return the ranks, as a set, that complete sets and a pair in a suit with 1 tile modulo 3."""
    ranks = np.int64(0)
    for rank in range(9):
        if count_of(group, rank) < 4 and is_sets_and_pair(group + one_of(rank)):
            ranks |= np.int64(1) << rank
    return ranks


@kernel
def waits_for_sets(group):
    """Return the ranks, as a set, that complete sets in a suit with 2 tiles modulo 3."""
    ranks, rank = np.int64(0), (3 - ranks_modulo_3(group)) % 3
    while rank < 9:
        if count_of(group, rank) < 4 and is_sets(group + one_of(rank)):
            ranks |= np.int64(1) << rank
        rank += 3
    return ranks
