"""Turns that look alike, as one: tiny games have few kinds, however many are played."""

import numpy as np


def merged(
    observation: np.ndarray, choice: np.ndarray, advantage: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Merge turns with the same observation and action.

    What a network learns from such turns depends on their number and their mean advantage only.

    With each turn counting alike, rare observations would hardly be learnt about. Here an observation counts by the
    square root of its number of turns: rare ones count more, and means over many turns still count more than noise.

    Args:
        observation: (N, D), with which the legal actions are the same.
        choice: (N,) integers, the action taken, as an index into the legal ones.
        advantage: (N,).

    Returns:
        (M,) int64, an index of each kind of turn, the last one, and float32 (M,): its weight, its mean advantage, and
        the share of its action among the turns with its observation.
    """
    rows = np.ascontiguousarray(observation[::-1]).view(np.uint8)
    factors = np.random.default_rng(0).integers(1 << 63, size=rows.shape[1], dtype=np.uint64)
    _, state = np.unique(rows @ factors, return_inverse=True)  # hashes: sorting numbers is faster than sorting rows
    kind = state * (int(choice.max()) + 1) + choice[::-1]
    _, last, number, count = np.unique(kind, return_index=True, return_inverse=True, return_counts=True)
    mean = np.bincount(number, advantage[::-1]) / count
    seen = np.bincount(state)[state[last]]
    weight, share = (count / np.sqrt(seen)).astype(np.float32), (count / seen).astype(np.float32)
    return len(choice) - 1 - last, weight, mean.astype(np.float32), share
