"""Turns that look alike, found by hashing: the network sees each once, and learns from them as one."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import takes_records
from cardenvs.training.cfr.numbering import Numbering


def distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the first of each kind of row of `rows`, (N, D), and, (N,), the kind of each row.

    Both are int64. Rows are compared by a 64-bit hash, and kinds are in the order of their hashes.
    """
    seen = np.ascontiguousarray(rows).view(np.uint8)
    factors = np.random.default_rng(0).integers(1 << 63, size=seen.shape[1], dtype=np.uint64)
    keys = np.zeros((len(seen), 2), np.uint64)
    _hash_rows(seen, factors, keys)
    numbering = Numbering(len(seen))
    number = numbering.number(keys)
    order = np.argsort(numbering.keys[:, 0])
    first, rank = np.zeros(len(order), np.int64), np.zeros(len(order), np.int64)
    first[number[::-1]] = np.arange(len(seen))[::-1]  # of equal indices the last counts
    rank[order] = np.arange(len(order))
    return first[order], rank[number]


@takes_records
@kernel(entry=True)
def _hash_rows(rows, factors, keys):
    """Write the product of each row, uint8 (N, D), with `factors`, uint64 (D,), to keys[:, 0]."""
    for i in range(rows.shape[0]):
        key = np.uint64(0)
        for k in range(rows.shape[1]):
            key += np.uint64(rows[i, k]) * factors[k]
        keys[i, 0] = key


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
