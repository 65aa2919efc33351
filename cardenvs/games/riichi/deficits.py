"""Tables of how many tiles a group of kinds lacks for some sets and a pair.

A group is a suit or the honours. It *lacks* the fewest tiles with which it would contain `s` sets and, with `p` = 1, a
pair: sum of max(0, wanted - held) over its kinds, where no kind is wanted more than four times. What the groups of a
hand lack adds up, so the distance of a hand is the least sum over all ways to share out four sets and a pair.

An automaton reads the counts of a group, kind by kind, and ends in a *profile*: what the group lacks for every (s, p).
There are 130 profiles of single groups, and 180 of two groups together; a profile is a row of DEFICITS.
"""

import itertools

import numpy as np

_SETS = 4  # sets of a hand
_TILES = 14  # no hand has more
_FAR = 15  # more than any group lacks


def _after(costs, count, may_start):
    """Return the costs after one more kind.

    Args:
        costs: int8 (states, 3, 3, 5, 2), the fewest tiles lacking so far, by the number of runs that began two kinds
            ago and one kind ago (three alike are three triplets), of sets, and of pairs.
        count: tiles held of the kind, 0..4.
        may_start: whether a run may begin here.
    """
    found = np.full_like(costs, _FAR)
    for before, last, runs, triplets, pairs in itertools.product(range(3), range(3), range(3), range(2), range(2)):
        wanted, sets = before + last + runs + 3 * triplets + 2 * pairs, runs + triplets
        if wanted > 4 or (runs and not may_start):
            continue
        reached = costs[:, before, last, : _SETS + 1 - sets, : 2 - pairs] + np.int8(max(0, wanted - count))
        into = found[:, last, runs, sets:, pairs:]
        np.minimum(into, reached, out=into)
    return found


def _levels(size, has_runs):
    """Return the steps of an automaton for a group of `size` kinds, and its profiles.

    Returns:
        a list with, for each kind, int64 (states, 5): the state of the next level by the count, or -1 if no hand has so
        many tiles; and int8 (states after the last kind, 5, 2), what is lacking by sets and pairs.
    """
    costs = np.full((1, 3, 3, _SETS + 1, 2), _FAR, np.int8)
    costs[0, 0, 0, 0, 0] = 0
    held, levels = np.zeros(1, np.int64), []  # held: fewest tiles that lead to a state
    for kind in range(size):
        after = np.stack([_after(costs, count, has_runs and kind < size - 2) for count in range(5)], axis=1)
        tiles = held[:, None] + np.arange(5)
        is_possible = tiles <= _TILES
        rows = np.ascontiguousarray(after[is_possible].reshape(-1, 3 * 3 * (_SETS + 1) * 2))
        _, first, number = np.unique(rows.view(f"V{rows.shape[1]}"), return_index=True, return_inverse=True)
        step = np.full(tiles.shape, -1)
        step[is_possible] = number.ravel()
        levels.append(step)
        costs, held = rows[first].reshape(-1, 3, 3, _SETS + 1, 2), np.full(len(first), _TILES)
        np.minimum.at(held, step[is_possible], tiles[is_possible])
    return levels, costs[:, 0, 0]


def _merged(levels, last, start):
    """Return the rows of a table from which an automaton without equal states is read.

    Args:
        levels: the steps of an automaton.
        last: int64, what each state after the last kind becomes.
        start: the number of rows that the table has before these.

    Returns:
        int64 (rows, 5), in which a state is the index of its row times 5 as numbered in the whole table, but after the
        last kind an entry of `last`; and the state in which to start.
    """
    rows, numbers = [], last
    for step in reversed(levels):
        rest, number = np.unique(np.where(step < 0, 0, numbers[step]), axis=0, return_inverse=True)
        rows.append(rest)
        numbers, start = 5 * (start + number.ravel()), start + len(rest)
    return np.concatenate(rows), int(numbers[0])


def _pairwise(profiles):
    """Return int8 (n, n, 5, 2): what any two of n groups lack together."""
    n = len(profiles)
    found = np.full((n, n, _SETS + 1, 2), _FAR, np.int8)
    for sets, pairs in itertools.product(range(_SETS + 1), range(2)):
        reached = profiles[:, None, sets, pairs, None, None] + profiles[None, :, : _SETS + 1 - sets, : 2 - pairs]
        into = found[:, :, sets:, pairs:]
        np.minimum(into, reached, out=into)
    return found


def _tables():
    suit_levels, suits = _levels(9, has_runs=True)
    honour_levels, honours = _levels(7, has_runs=False)
    profiles, number = np.unique(np.concatenate([suits, honours]), axis=0, return_inverse=True)
    suit_rows, suit_start = _merged(suit_levels, number.ravel()[: len(suits)], 0)
    honour_rows, honour_start = _merged(honour_levels, number.ravel()[len(suits) :], len(suit_rows))
    deficits, together = np.unique(_pairwise(profiles).reshape(-1, _SETS + 1, 2), axis=0, return_inverse=True)
    steps = np.concatenate([suit_rows, honour_rows]).astype(np.int16).ravel()
    return steps, suit_start, honour_start, together.astype(np.uint8).reshape(len(profiles), -1), deficits


# STEPS: int16, state + count -> state, and after the last kind the profile of the group.
# TOGETHER: uint8 (profiles, profiles), the profile of two groups as a row of DEFICITS: int8 (profiles of two, 5, 2).
STEPS, SUIT_START, HONOUR_START, TOGETHER, DEFICITS = _tables()
