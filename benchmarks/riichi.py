"""Riichi: complete hands scored a second, beside `mahjong`.

Hands are closed, four random sets and a pair, won by ron in riichi with one indicator, so that all have a yaku.
"""

from typing import Any

import numpy as np

from benchmarks.timing import Contestant, repeat_for

NUM_HANDS = 20_000


def hands(number: int = NUM_HANDS) -> tuple[np.ndarray, np.ndarray]:
    """Return complete hands by kind, int8 (number, 34), and the kind that completes each, int64 (number,)."""
    rng = np.random.default_rng(0)
    found: list[np.ndarray] = []
    wins: list[int] = []
    while len(found) < number:
        counts = np.zeros(34, np.int8)
        counts[rng.integers(34)] += 2
        for _ in range(4):
            kind = int(rng.integers(34))
            if kind < 27 and rng.random() < 0.8:
                low = kind // 9 * 9 + min(kind % 9, 6)
                counts[low : low + 3] += 1
            else:
                counts[kind] += 3
        if counts.max() <= 4:
            found.append(counts)
            wins.append(int(rng.choice(np.flatnonzero(counts))))
    return np.stack(found), np.array(wins)


def own() -> Contestant:
    """`score_win` and `base_points` in a loop of a kernel."""
    from cardenvs.core.kernel import kernel
    from cardenvs.games.riichi.scoring import base_points, score_win
    from cardenvs.games.riichi.yaku import RIICHI

    no_melds, east = np.zeros(4, np.int8), 27

    @kernel(entry=True)
    def score_all(counts, wins, kinds, types):
        total = np.int64(0)
        for k in range(counts.shape[0]):
            han, fu, yakuman, _ = score_win(counts[k], kinds, types, np.int64(0), wins[k], np.int64(RIICHI),
                                            np.int64(east), np.int64(east), np.int64(0), True, False, False, True,
                                            np.int64(4))  # fmt: skip
            total += base_points(han, fu, yakuman, False, True)
        return total

    counts, wins = hands()

    def run() -> int:
        score_all(counts, wins, no_melds, no_melds)
        return NUM_HANDS

    return Contestant("cardenvs score_win", lambda seconds: repeat_for(seconds, run))


def peer() -> Contestant:
    """`HandCalculator.estimate_hand_value` of mahjong."""
    from mahjong.hand_calculating.hand import HandCalculator
    from mahjong.hand_calculating.hand_config import HandConfig

    config = HandConfig(is_riichi=True)
    dealt: list[tuple[list[int], int]] = []
    for counts, win in zip(*hands(1_000), strict=True):
        tiles = [4 * kind + copy for kind in range(34) for copy in range(int(counts[kind]))]
        dealt.append((tiles, 4 * int(win)))
    calculator: Any = HandCalculator()

    def run() -> int:
        for tiles, win in dealt:
            calculator.estimate_hand_value(tiles, win, config=config)
        return len(dealt)

    return Contestant("mahjong", lambda seconds: repeat_for(seconds, run))
