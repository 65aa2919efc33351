"""Turns that look alike, found by hashing: the network sees each once, and learns from them as one."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import takes_records

_FREE = -1


def distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the first of each kind of row of `rows`, (N, D), and, (N,), the kind of each row.

    Both are int64. Rows are compared by a 64-bit hash, and kinds are in the order of their hashes.
    """
    seen = np.ascontiguousarray(rows).view(np.uint8)
    num_rows = len(seen)
    factors = np.random.default_rng(0).integers(1 << 63, size=seen.shape[1], dtype=np.uint64)
    slots = np.full(1 << max(2 * num_rows - 1, 1).bit_length(), _FREE, np.int32)
    hashes, first, kind = np.zeros(num_rows, np.uint64), np.zeros(num_rows, np.int64), np.zeros(num_rows, np.int64)
    count = _number_rows(seen, factors, slots, hashes, first, kind)
    order = np.argsort(hashes[:count])
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    return first[order], rank[kind]


@takes_records
@kernel(entry=True)
def _number_rows(rows, factors, slots, hashes, first, kind):
    """Number the kinds of `rows` in the order in which they first appear, and return how many there are.

    Args:
        rows: uint8 (N, D).
        factors: uint64 (D,); the hash of a row is its product with these.
        slots: int32, -1; the length is a power of two, at least 2 N.
        hashes, first, kind: (N,); of each kind its hash and first row, and of each row its kind, are written here.
    """
    last, count = slots.shape[0] - 1, 0
    for i in range(rows.shape[0]):
        key = np.uint64(0)
        for k in range(rows.shape[1]):
            key += np.uint64(rows[i, k]) * factors[k]
        slot = np.int64((key ^ (key >> np.uint64(32))) & np.uint64(last))
        while slots[slot] != _FREE and hashes[slots[slot]] != key:
            slot = (slot + 1) & last
        if slots[slot] == _FREE:
            slots[slot], hashes[count], first[count] = count, key, i
            count += 1
        kind[i] = slots[slot]
    return count


def merged(
    observation: np.ndarray, choice: np.ndarray, advantage: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Merge turns with the same observation and action.

    What a network learns from such turns depends only on their number and their mean advantage.

    If all turns counted equally, rare observations would hardly be learnt. Here an observation counts by the square
    root of its number of turns: rare ones count more, and means over many turns still count more than noise.

    Args:
        observation: (N, D); it determines the legal actions.
        choice: (N,) integers, the action taken, as an index into the legal actions.
        advantage: (N,).

    Returns:
        (M,) int64, the index of the last turn of each kind, and float32 (M,): its weight, its mean advantage, and the
        share of its action among the turns with its observation.
    """
    _, state = distinct(observation[::-1])
    last, kind = distinct(np.stack([state, choice[::-1].astype(np.int64)], 1))
    count = np.bincount(kind)
    mean = np.bincount(kind, advantage[::-1]) / count
    seen = np.bincount(state)[state[last]]
    weight, share = (count / np.sqrt(seen)).astype(np.float32), (count / seen).astype(np.float32)
    return len(choice) - 1 - last, weight, mean.astype(np.float32), share
