"""Write charts.json: `python -m cardenvs.games.texas_holdem.make_charts`, about a minute.

Everything is derived from one table: the equity of each of the 169 kinds of starting hand against each other kind,
all-in before the flop, sampled with this game's evaluator.

* `order`: all kinds, best first, by the mean of the equity against any hand and the equity against the best quarter
  of this same order. The first measures how often a hand wins, the second whether it still does when others play.
* `equity_against_best`: the equity of each kind against the best 5, 10, ... 100 % of hands in that order.
* `jam_up_to`: by number of players behind, the depth in big blinds up to which a player goes all-in with this kind of
  hand after all before have folded. It is the equilibrium of a game with only these two moves, in which each player
  behind calls or folds and only the first call counts. It is computed by fictitious play: each side in turn plays a
  best response to the average of the other.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import random_below, seed_xoshiro
from cardenvs.games.texas_holdem.evaluator import rank_hands

NUM_RANKS = 13
NUM_HANDS = NUM_RANKS * NUM_RANKS
NUM_COMBINATIONS = 1326
MOST_BEHIND = 9
WIDTHS = [5 * k for k in range(1, 21)]  # percent of hands
DEPTHS = [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 11, 12, 13, 14, 15, 17, 20, 25]
_SAMPLES = 30_000  # for each pair of kinds: a standard error of 0.3 %
_ROUNDS = 400  # of fictitious play


# ---------------------------------------------------------------------------------------------------------------
# Kinds of starting hands: 13 * high + low if suited, else 13 * low + high; ranks are 0 (deuce) to 12 (ace)


def combinations(hand: int) -> list[tuple[int, int]]:
    """Return the pairs of card ids of a kind: 6 for a pair, 4 for a suited hand, 12 for an offsuit one."""
    one, other = divmod(hand, NUM_RANKS)
    cards = [[13 * suit + (strength + 1) % 13 for suit in range(4)] for strength in (one, other)]
    if one == other:
        return [(cards[0][a], cards[0][b]) for b in range(4) for a in range(b)]
    return [(cards[0][a], cards[1][b]) for a in range(4) for b in range(4) if (a == b) == (one > other)]


def pairs_left() -> np.ndarray:
    """Return the number of combinations of kind j that are left when one of kind i is held, [i, j], (169, 169)."""
    left = np.zeros((NUM_HANDS, NUM_HANDS))
    for i in range(NUM_HANDS):
        held = set(combinations(i)[0])
        left[i] = [sum(not held & set(pair) for pair in combinations(j)) for j in range(NUM_HANDS)]
    return left


@kernel
def _sample_equity(held, pairs, samples, rng, hands, ranks):
    """Sample the equity of two cards against `pairs` (n, 2); hands (2, 7) and ranks (2,) are scratch arrays."""
    halves = 0
    for _ in range(samples):
        pair = random_below(rng, pairs.shape[0])
        used = 1 << held[0] | 1 << held[1]
        for k in range(2):
            hands[0, k], hands[1, k] = held[k], pairs[pair, k]
            used |= 1 << pairs[pair, k]
        for k in range(2, 7):
            card = random_below(rng, 52)
            while used >> card & 1:
                card = random_below(rng, 52)
            used |= 1 << card
            hands[0, k], hands[1, k] = card, card
        rank_hands(hands, ranks)
        halves += 2 if ranks[0] > ranks[1] else 1 if ranks[0] == ranks[1] else 0
    return halves / (2.0 * samples)


def equities(samples: int = _SAMPLES, seed: int = 1) -> np.ndarray:
    """Return the equity of each kind of hand (row) against each other (column), (169, 169)."""
    equity = np.full((NUM_HANDS, NUM_HANDS), 0.5)
    rng, hands, ranks = np.zeros(4, np.uint64), np.zeros((2, 7), np.int64), np.zeros(2, np.int64)
    seed_xoshiro(rng, np.uint64(seed))
    for i in range(NUM_HANDS):
        held = combinations(i)[0]
        for j in range(i):
            pairs = np.array([pair for pair in combinations(j) if not set(held) & set(pair)])
            equity[i, j] = _sample_equity(np.array(held), pairs, samples, rng, hands, ranks)
            equity[j, i] = 1 - equity[i, j]
    return equity


def against(equity: np.ndarray, left: np.ndarray, played: np.ndarray) -> np.ndarray:
    """Return the equity of each kind against kinds that are played with probabilities `played` (169,)."""
    weights = left * played
    return (weights * equity).sum(1) / weights.sum(1).clip(1e-9)


# ---------------------------------------------------------------------------------------------------------------
# The order of hands


def best(order: np.ndarray, percent: float) -> np.ndarray:
    """Return the share of each kind, 0 to 1, that belongs to the best `percent` of hands; the last kind only partly."""
    number = np.array([len(combinations(hand)) for hand in order])
    wanted = percent / 100 * NUM_COMBINATIONS - (np.cumsum(number) - number)
    chance = np.zeros(NUM_HANDS)
    chance[order] = (wanted / number).clip(0, 1)
    return chance


def best_first(equity: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Return all kinds of hands, best first."""
    any_hand = against(equity, left, np.ones(NUM_HANDS))
    order = np.argsort(-any_hand, kind="stable")
    for _ in range(20):  # it converges after a few rounds
        order = np.argsort(-any_hand - against(equity, left, best(order, 25)), kind="stable")
    return order


# ---------------------------------------------------------------------------------------------------------------
# All-in or fold


def jams(equity: np.ndarray, left: np.ndarray, behind: int, depth: float) -> np.ndarray:
    """Return the probability of going all-in with each kind in equilibrium, for all stacks of `depth` big blinds."""
    posted = [0.0] * (behind - 1) + [1.0]  # the last player behind is the big blind
    if behind >= 2:
        posted[-2] = 0.5
    own_posted = 0.5 if behind == 1 else 0.0
    share = left / left.sum(1)[0]  # of each kind in the hands of another player
    calls = [np.full(NUM_HANDS, 0.5) for _ in posted]
    jam, tried = np.full(NUM_HANDS, 0.5), np.zeros(NUM_HANDS)
    for k in range(1, _ROUNDS + 1):
        answer = _worth_of_jam(equity, share, calls, posted, own_posted, depth) > 0
        jam += (answer - jam) / (k + 1)
        tried += answer if k > _ROUNDS // 2 else 0
        won = against(equity, left, jam)
        for p, blind in enumerate(posted):
            pot = depth + depth + 1.5 - own_posted - blind  # if called; the stacks include the blinds of these two
            calls[p] += ((won * pot > depth - blind) - calls[p]) / (k + 1)
    return tried / (_ROUNDS - _ROUNDS // 2)


def _worth_of_jam(
    equity: np.ndarray, share: np.ndarray, calls: list[np.ndarray], posted: list[float], own_posted: float, depth: float
) -> np.ndarray:
    """Return the gain of going all-in over folding for each kind, in big blinds."""
    nobody_yet = np.ones(NUM_HANDS)
    worth = np.zeros(NUM_HANDS)
    for call, blind in zip(calls, posted, strict=True):
        called = (share * call).sum(1)
        won = (share * call * equity).sum(1)  # probability of a call times the equity when called
        pot = depth + depth + 1.5 - own_posted - blind
        worth += nobody_yet * (won * pot - called * (depth - own_posted))
        nobody_yet *= 1 - called
    return worth + nobody_yet * 1.5


def jam_limits(equity: np.ndarray, left: np.ndarray, behind: int) -> np.ndarray:
    """Return the largest depth for each kind at which it goes all-in, as at all smaller depths, (169,)."""
    limit, still = np.zeros(NUM_HANDS), np.full(NUM_HANDS, True)
    for depth in DEPTHS:
        still &= jams(equity, left, behind, depth) > 0.5
        limit[still] = depth
    return limit


# ---------------------------------------------------------------------------------------------------------------


def make(samples: int = _SAMPLES) -> dict[str, list]:
    """Return the charts: equities in thousandths, depths in big blinds."""
    equity, left = equities(samples), pairs_left()
    order = best_first(equity, left)
    on_best = np.stack([against(equity, left, best(order, percent)) for percent in WIDTHS], 1)
    limits = [jam_limits(equity, left, behind) for behind in range(1, MOST_BEHIND + 1)]
    return {
        "order": order.tolist(),
        "equity_against_best": np.rint(on_best * 1000).astype(int).tolist(),
        "jam_up_to": np.stack(limits).tolist(),
    }


def _lines(charts: dict[str, list]) -> Iterator[str]:
    """Yield the charts as JSON with one row per line."""
    for k, (name, rows) in enumerate(charts.items()):
        nested = isinstance(rows[0], list)
        text = ",\n".join(json.dumps(row) for row in rows) if nested else json.dumps(rows)[1:-1]
        yield f'"{name}": [\n{text}\n]' + ("," if k < len(charts) - 1 else "")


if __name__ == "__main__":
    text = "\n".join(_lines(make())).replace(".0", "")
    Path(__file__).with_name("charts.json").write_text(f"{{\n{text}\n}}\n")
