"""Tables of the 169 kinds of starting hands: their order, their equities, and up to which depth to go all-in.

The tables are read from charts.json, which make_charts.py writes and explains. A width counts hands in thousandths of
all 1326 pairs of cards: a width of 200 means the best fifth of the hands.
"""

import json
from pathlib import Path

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.kits.cards import NUM_CARDS

NUM_RANKS = 13
NUM_HANDS = NUM_RANKS * NUM_RANKS
NUM_PAIRS = 1326
ALL_HANDS = 1000
_WIDTH_STEP = 50  # the equity table has a column for each 5 % of hands
_DEPTH_STEPS = 2  # per big blind
_DEEPEST = 25  # big blinds, in the table of jams


def hand_of(one: int, other: int) -> int:
    """Return the kind of a pair of cards: 13 * high + low if suited, else 13 * low + high; ranks 0 (deuce) to 12."""
    low, high = sorted((card % 13 + 12) % 13 for card in (one, other))
    return NUM_RANKS * high + low if one // 13 == other // 13 else NUM_RANKS * low + high


def hand_name(hand: int) -> str:
    """Return the name of a kind, such as "AKs", "AKo" or "AA"."""
    one, other = divmod(hand, NUM_RANKS)
    high, low = ("23456789TJQKA"[max(one, other)], "23456789TJQKA"[min(one, other)])
    return high + low + ("" if one == other else "s" if one > other else "o")


def _pairs_best_first(order: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of cards (1326, 2), best first, and the kind of each (1326,)."""
    place = np.argsort(order)
    one, other = np.triu_indices(NUM_CARDS, 1)
    hands = np.array([hand_of(a, b) for a, b in zip(one.tolist(), other.tolist(), strict=True)])
    by_place = np.argsort(place[hands], kind="stable")
    return np.stack([one, other], 1)[by_place].astype(np.int8), hands[by_place]


def _hand_table(pairs: np.ndarray, hands: np.ndarray) -> np.ndarray:
    table = np.zeros((NUM_CARDS, NUM_CARDS), np.uint8)
    table[pairs[:, 0], pairs[:, 1]] = table[pairs[:, 1], pairs[:, 0]] = hands
    return table


def _jam_widths(limits: np.ndarray, combinations: np.ndarray) -> np.ndarray:
    """Return the width with which a player goes all-in, by players behind and depth in half big blinds."""
    depths = np.arange(_DEEPEST * _DEPTH_STEPS + 1) / _DEPTH_STEPS
    jams = limits[:, None, :] >= depths[:, None]
    return np.rint((jams * combinations).sum(2) * ALL_HANDS / NUM_PAIRS).astype(np.int64)


_CHARTS = json.loads(Path(__file__).with_name("charts.json").read_text())
PAIRS, _HANDS = _pairs_best_first(_CHARTS["order"])
"""All pairs of cards, best first, (1326, 2)."""
_HAND = _hand_table(PAIRS, _HANDS)
_COMBINATIONS = np.bincount(_HANDS, minlength=NUM_HANDS)
_STANDING = np.zeros(NUM_HANDS, np.int64)
_STANDING[_CHARTS["order"]] = np.cumsum(_COMBINATIONS[_CHARTS["order"]]) * ALL_HANDS // NUM_PAIRS
_EQUITY = np.array(_CHARTS["equity_against_best"]) / 1000
_JAM_LIMIT = np.array(_CHARTS["jam_up_to"], np.float64)
_JAM_WIDTH = _jam_widths(_JAM_LIMIT, _COMBINATIONS)
_MOST_BEHIND = len(_JAM_LIMIT)


@kernel(inline=True)
def starting_hand(one, other):
    """Return the kind of a pair of cards, 0..168."""
    return np.int64(_HAND[one, other])


@kernel(inline=True)
def standing(hand):
    """Return the width of the hands that are at least as good as this kind: 4 for aces, 1000 for the worst."""
    return _STANDING[hand]


@kernel(inline=True)
def equity_against_best(hand, width):
    """Return the equity of a kind of hand, all-in before the flop against one hand of the best `width`, 1..1000."""
    return _EQUITY[hand, (width - 1) // _WIDTH_STEP]


@kernel(inline=True)
def jams(hand, behind, depth):
    """Return whether to go all-in rather than fold with `depth` big blinds and `behind` >= 1 players still to act."""
    return _JAM_LIMIT[min(behind, _MOST_BEHIND) - 1, hand] >= min(depth, _DEEPEST)


@kernel(inline=True)
def jam_width(behind, depth):
    """Return the width of the hands for which `jams` is true."""
    return _JAM_WIDTH[min(behind, _MOST_BEHIND) - 1, np.int64(_DEPTH_STEPS * min(depth, _DEEPEST))]
