"""Means and intervals over deals.

Games of one deal share their cards, so they are no independent samples; deals are. First an agent's returns are
averaged over its games in a deal (all seatings, all opponents), which cancels the luck of the cards; then a Student t
interval is taken over the deals. The difference of two agents is taken inside each game they play together, averaged
over the deal in the same way. A deal counts once all its games are finished.
"""

import functools
import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from cardenvs.arena.match import Match
from cardenvs.arena.store import GameRecord

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean over deals with its interval.

    Attributes:
        mean: over deals.
        low, high: of the 95% interval; infinite with one deal, which says nothing of the spread.
        deals: how many deals.
    """

    mean: float
    low: float
    high: float
    deals: int


@dataclass(frozen=True)
class Standing:
    """How one agent did.

    Attributes:
        name: the agent's.
        mean: its return per deal, times the game's `result_factor`.
        won: share of its games in which nobody had a higher return; a tie counts as a fraction.
        games: how many it played in.
        decision_seconds: time of a decision: the median over its games of their mean.
        by_deal: float64 (deals,), its mean return in each deal.
    """

    name: str
    mean: Estimate
    won: float
    games: int
    decision_seconds: float
    by_deal: np.ndarray


@dataclass(frozen=True)
class Summary:
    """What a match came to.

    Attributes:
        match: what was played.
        deals: complete deals, in order; the summary is over these.
        games: finished games in them.
        unfinished: games of the match that are not in the summary.
        standings: in the order of Match.agents.
        differences: for each pair (i, j), i < j, who met: the return of agent i less that of agent j at one table.
    """

    match: Match
    deals: tuple[int, ...]
    games: int
    unfinished: int
    standings: tuple[Standing, ...]
    differences: dict[tuple[int, int], Estimate]

    @property
    def ranking(self) -> list[Standing]:
        """Best mean first; equal ones in the order of Match.agents."""
        return sorted(self.standings, key=lambda standing: -standing.mean.mean)

    def difference(self, first: int, second: int) -> Estimate | None:
        """The return of agent `first` less that of agent `second`, or None where they never met."""
        if (first, second) in self.differences:
            return self.differences[first, second]
        found = self.differences.get((second, first))
        return None if found is None else Estimate(-found.mean, -found.high, -found.low, found.deals)


def summarise(match: Match, records: Iterable[GameRecord]) -> Summary:
    """Sum up the finished games of a match.

    Args:
        match: what was played.
        records: finished games by deal. Those of incomplete deals, and of deals beyond match.deals, do not count.
    """
    tally = _Tally(match)
    deals = []
    for deal, group in itertools.groupby(records, key=lambda record: record.deal):
        of_deal = list(group)
        if len(of_deal) == len(match.lineups) and deal < match.deals:
            deals.append(deal)
            tally.add(of_deal)
    games = len(deals) * len(match.lineups)
    return Summary(match, tuple(deals), games, match.num_games - games, tally.standings(), tally.differences())


class _Tally:
    """Sums that grow deal by deal."""

    def __init__(self, match: Match) -> None:
        self._match = match
        agents = len(match.agents)
        self._factor = match.game.returns(match.options).result_factor
        self._returns: list[list[float]] = [[] for _ in range(agents)]  # by agent, a mean a deal
        self._pairs: dict[tuple[int, int], list[float]] = {}  # likewise, of the differences
        self._won, self._games = np.zeros(agents), np.zeros(agents, int)
        self._seconds: list[list[float]] = [[] for _ in range(agents)]  # by agent, a decision's mean in each game

    def add(self, games: list[GameRecord]) -> None:
        returns: dict[int, list[float]] = {}
        pairs: dict[tuple[int, int], list[float]] = {}
        for game in games:
            places = list(enumerate(game.seating))
            for player, agent in places:
                returns.setdefault(agent, []).append(game.returns[player])
                self._games[agent] += 1
                if game.decisions[player]:
                    self._seconds[agent].append(game.seconds[player] / game.decisions[player])
            for (p, first), (q, second) in itertools.permutations(places, 2):
                if first < second:
                    pairs.setdefault((first, second), []).append(game.returns[p] - game.returns[q])
            self._share_win(game)
        for agent, values in returns.items():
            self._returns[agent].append(self._factor * math.fsum(values) / len(values))
        for pair, values in pairs.items():
            self._pairs.setdefault(pair, []).append(self._factor * math.fsum(values) / len(values))

    def _share_win(self, game: GameRecord) -> None:
        best = max(game.returns)
        winners = [agent for agent, result in zip(game.seating, game.returns, strict=True) if result == best]
        for agent in winners:
            self._won[agent] += 1 / len(winners)

    def standings(self) -> tuple[Standing, ...]:
        return tuple(
            Standing(
                name,
                estimate(self._returns[agent]),
                float(self._won[agent] / max(1, self._games[agent])),
                int(self._games[agent]),
                float(np.median(self._seconds[agent] or [0.0])),
                np.array(self._returns[agent]),
            )
            for agent, name in enumerate(self._match.names)
        )

    def differences(self) -> dict[tuple[int, int], Estimate]:
        return {pair: estimate(values) for pair, values in sorted(self._pairs.items())}


def estimate(values: list[float]) -> Estimate:
    """The mean of `values`, one a deal, with its 95% Student t interval."""
    count = len(values)
    if count == 0:
        return Estimate(math.nan, -math.inf, math.inf, 0)
    mean = math.fsum(values) / count
    if count == 1:
        return Estimate(mean, -math.inf, math.inf, 1)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    half = t_quantile(count - 1) * spread / math.sqrt(count)
    return Estimate(mean, mean - half, mean + half, count)


@functools.cache
def t_quantile(freedom: int, level: float = LEVEL) -> float:
    """The t with P(|T| <= t) = `level` for Student's distribution with `freedom` >= 1 degrees of freedom.

    By bisection on the exact distribution function, Abramowitz and Stegun 26.7.3 and 26.7.4, in which t is
    sqrt(freedom) * tan(angle).
    """
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        if _t_inside(angle, freedom) < level:
            low = angle
        else:
            high = angle
    return math.sqrt(freedom) * math.tan(low)


def _t_inside(angle: float, freedom: int) -> float:
    """P(|T| <= sqrt(freedom) * tan(angle))."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(1, (freedom - odd) // 2):
        term *= cosine * cosine * (2 * k - 1 + odd) / (2 * k + odd)
        total += term
        if term < 1e-17 * total:
            break
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
