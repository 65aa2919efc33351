"""Means and intervals over deals.

Games of one deal share their cards, so deals are the independent samples, not games. An agent's returns are first
averaged over its games in a deal (all seatings, all opponents), which cancels most of the luck of the cards; the
interval is computed over these averages. A deal counts once all its games are finished.

The advantage of one agent over another is half the difference of their returns in a game, averaged over the deal in the
same way. In a two-player zero-sum game it is the agent's mean return per deal, so head-to-head results and means are on
the same scale. In a game for one player, agents meet on the deal rather than at the table: an agent's advantage is the
whole difference of their returns in a deal, and it wins the deals in which nobody has a higher return.

In a cooperative game nobody has an advantage. Instead, cross-play is the mean result of each two agents at one table,
and of each agent with copies of itself only.

Intervals are Student's t intervals, or come from a bootstrap that draws whole deals with replacement.
"""

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Self

import numpy as np
from scipy.special import ndtr, stdtrit

from cardenvs.arena.match import Match
from cardenvs.arena.records import GameRecord
from cardenvs.core.errors import ArenaError

LEVEL = 0.95
RESAMPLES = 2000
FEWEST_FOR_BOOTSTRAP = 15  # deals; fewer say too little about the tails and get Student's interval

_TOLERANCE = 1e-6  # how much returns may exceed a game's bounds
_MOST_UNITS = 4096  # units drawn per resample
_MOST_DRAWS = 1 << 21  # draws in memory at once

Intervals = Literal["student", "bootstrap"]


@dataclass(frozen=True)
class Estimate:
    """A mean over deals with its interval.

    Attributes:
        mean: mean over deals.
        low, high: bounds of the 95% interval; infinite with fewer than two deals.
        deals: number of deals.
    """

    mean: float
    low: float
    high: float
    deals: int


@dataclass(frozen=True)
class Standing:
    """Results of one agent.

    Attributes:
        name: the agent's name.
        mean: its return per deal, times the game's `result_factor`.
        won: fraction of its games in which nobody had a higher return; a tie of n winners counts as 1/n. In games for
            one player, nobody on the same deal. 0 in cooperative games.
        games: number of games it played.
        decision_seconds: mean time of a decision in a game, median over its games.
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
    """Results of a match.

    Attributes:
        match: the match that was played.
        deals: complete deals, in order; the summary covers these.
        games: number of games in them.
        unfinished: number of games of the match that are not in the summary.
        standings: in the order of Match.entries.
        advantages: for each pair (i, j), i < j, that met: the advantage of agent i over agent j. Empty in a cooperative
            game.
        intervals: how intervals were computed.
        cross_play: in a cooperative game, for each pair (i, j), i <= j, that played together: their mean result; (i, i)
            is agent i with itself alone. Empty in other games.
    """

    match: Match
    deals: tuple[int, ...]
    games: int
    unfinished: int
    standings: tuple[Standing, ...]
    advantages: dict[tuple[int, int], Estimate]
    intervals: Intervals = "student"
    cross_play: dict[tuple[int, int], Estimate] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        """Return the table and the plot that a notebook shows."""
        from cardenvs.arena.output.page import notebook_html
        from cardenvs.arena.results.document import summary_document

        return notebook_html(summary_document(self))

    @property
    def ranking(self) -> list[Standing]:
        """The standings, best mean first; equal ones in the order of Match.entries."""
        return sorted(self.standings, key=lambda standing: -standing.mean.mean)

    def rank(self, standing: Standing) -> int:
        """Return 1 plus the number of agents that are clearly better: whose intervals lie above that of `standing`."""
        return 1 + sum(other.mean.low > standing.mean.high for other in self.standings)

    def advantage(self, first: int, second: int) -> Estimate | None:
        """Return the advantage of agent `first` over agent `second`, or None if they never met."""
        if (first, second) in self.advantages:
            return self.advantages[first, second]
        found = self.advantages.get((second, first))
        return None if found is None else Estimate(0.0 - found.mean, 0.0 - found.high, 0.0 - found.low, found.deals)


def summarise(match: Match, records: Iterable[GameRecord], intervals: Intervals = "student") -> Summary:
    """Summarise the finished games of a match, ordered by deal. Incomplete deals and deals beyond match.deals do not
    count.

    Intervals are "student" or "bootstrap", both over deals.
    """
    return Tally.of(match, records).summary(intervals)


class Tally:
    """Sums over the deals of a match, added one deal at a time.

    Attributes:
        match: the match.
        deals: numbers of the deals added so far.
    """

    def __init__(self, match: Match) -> None:
        self.match = match
        self.deals: list[int] = []
        agents = len(match.entries)
        self._factor = match.game.returns(match.options).result_factor
        self._shares = min(2, match.options.num_players)  # an advantage at a table is half a difference
        self._returns: list[list[float]] = [[] for _ in range(agents)]  # by agent, its mean in each deal
        self._pairs: dict[tuple[int, int], list[float]] = {}  # by pair, the advantage in each deal
        self._together: dict[tuple[int, int], list[float]] = {}  # by pair, in each deal, in a cooperative game
        self._won, self._games = np.zeros(agents), np.zeros(agents, int)
        self._seconds: list[list[float]] = [[] for _ in range(agents)]  # by agent, mean time of a decision in each game

    @classmethod
    def of(cls, match: Match, records: Iterable[GameRecord]) -> Self:
        """Return the tally of the complete deals in `records`, which are ordered by deal."""
        tally = cls(match)
        for games in complete_deals(match, records):
            tally.add(games)
        return tally

    def add(self, games: list[GameRecord]) -> None:
        """Add all games of one deal."""
        self.deals.append(games[0].deal)
        returns: dict[int, list[float]] = {}
        pairs: dict[tuple[int, int], list[float]] = {}
        for game in games:
            for player, agent in enumerate(game.seating):
                returns.setdefault(agent, []).append(game.returns[player])
                is_copy = self.match.is_cooperative and agent in game.seating[:player]
                self._games[agent] += not is_copy
                if game.decisions[player]:
                    self._seconds[agent].append(game.seconds[player] / game.decisions[player])
        if self.match.is_cooperative:
            self._add_together(games)
        for agents, results in [] if self.match.is_cooperative else meetings(self.match, games):
            for (p, first), (q, second) in itertools.permutations(enumerate(agents), 2):
                if first < second:
                    pairs.setdefault((first, second), []).append((results[p] - results[q]) / self._shares)
            self._share_win(agents, results)
        for agent, values in returns.items():
            self._returns[agent].append(self._factor * math.fsum(values) / len(values))
        for pair, values in pairs.items():
            self._pairs.setdefault(pair, []).append(self._factor * math.fsum(values) / len(values))

    def _add_together(self, games: list[GameRecord]) -> None:
        found: dict[tuple[int, int], list[float]] = {}
        for game in games:
            agents = sorted(set(game.seating))
            pairs = itertools.combinations(agents, 2) if len(agents) > 1 else [(agents[0], agents[0])]
            for pair in pairs:
                found.setdefault(pair, []).append(game.returns[0])
        for pair, values in found.items():
            self._together.setdefault(pair, []).append(self._factor * math.fsum(values) / len(values))

    def _share_win(self, agents: tuple[int, ...], returns: tuple[float, ...]) -> None:
        best = max(returns)
        winners = [agent for agent, result in zip(agents, returns, strict=True) if result == best]
        for agent in winners:
            self._won[agent] += 1 / len(winners)

    def summary(self, intervals: Intervals = "student") -> Summary:
        """Return the results of all deals added so far."""
        games = len(self.deals) * len(self.match.lineups)
        return Summary(
            self.match, tuple(self.deals), games, self.match.num_games - games, self.standings(intervals),
            self.advantages(intervals), intervals, self.cross_play(intervals),
        )  # fmt: skip

    def means_by_deal(self) -> dict[int, np.ndarray]:
        """Return by agent: float64 (deals,), its mean return in each deal."""
        return {agent: np.array(values) for agent, values in enumerate(self._returns)}

    def advantages_by_deal(self) -> dict[tuple[int, int], np.ndarray]:
        """Return by pair (i, j), i < j, that met: float64 (deals,), the advantage of i over j in each deal."""
        return {pair: np.array(values) for pair, values in sorted(self._pairs.items())}

    def standings(self, intervals: Intervals = "student") -> tuple[Standing, ...]:
        """Return the results of each agent."""
        means = estimates(self._returns, intervals)
        return tuple(
            Standing(
                name,
                means[agent],
                float(self._won[agent] / max(1, self._games[agent])),
                int(self._games[agent]),
                float(np.median(self._seconds[agent] or [0.0])),
                np.array(self._returns[agent]),
            )
            for agent, name in enumerate(self.match.names)
        )

    def advantages(self, intervals: Intervals = "student") -> dict[tuple[int, int], Estimate]:
        """Return for each pair that met the advantage of the first over the second."""
        pairs = sorted(self._pairs)
        return dict(zip(pairs, estimates([self._pairs[pair] for pair in pairs], intervals), strict=True))

    def cross_play(self, intervals: Intervals = "student") -> dict[tuple[int, int], Estimate]:
        """Return for each pair that played together its mean result; empty unless the game is cooperative."""
        pairs = sorted(self._together)
        return dict(zip(pairs, estimates([self._together[pair] for pair in pairs], intervals), strict=True))


def meetings(match: Match, games: Sequence[GameRecord]) -> list[tuple[tuple[int, ...], tuple[float, ...]]]:
    """Return (agents, returns) of all who are compared with each other: at a table or, in games for one, on a deal."""
    if match.options.num_players > 1:
        return [(game.seating, game.returns) for game in games]
    return [(tuple(game.seating[0] for game in games), tuple(game.returns[0] for game in games))]


def complete_deals(match: Match, records: Iterable[GameRecord]) -> Iterator[list[GameRecord]]:
    """Yield the records of each complete deal below match.deals. `records` must be ordered by deal.

    Raises:
        ArenaError: a record does not belong to the match.
    """
    for deal, group in itertools.groupby(records, key=lambda record: record.deal):
        games = list(group)
        for game in games:
            _check_fits(match, game)
        if len(games) == len(match.lineups) and deal < match.deals:
            yield games


def _check_fits(match: Match, game: GameRecord) -> None:
    promised = match.game.returns(match.options)
    what = None
    if not game.lineup < len(match.lineups):
        what = f"the match has only lineups 0 to {len(match.lineups) - 1}"
    elif game.seating != match.lineups[game.lineup]:
        what = f"its seating is {list(game.seating)}, but the lineup's is {list(match.lineups[game.lineup])}"
    elif not all(promised.low - _TOLERANCE <= value <= promised.high + _TOLERANCE for value in game.returns):
        what = f"it returns {list(game.returns)}, outside {promised.low:g} to {promised.high:g}"
    if what is not None:
        raise ArenaError(
            f"game {game.deal}.{game.lineup} of match {match.id} is damaged: {what}. `cardenvs verify` names all such "
            "rows; delete them and continue with --resume, which plays their games again"
        )


def estimates(columns: Sequence[list[float]], intervals: Intervals) -> list[Estimate]:
    """Return the mean of each column of values by deal, with its 95% interval."""
    found = {number: estimate(values) for number, values in enumerate(columns)}
    if intervals == "bootstrap":
        by_length: dict[int, list[int]] = {}
        for number, values in enumerate(columns):
            if len(values) >= FEWEST_FOR_BOOTSTRAP:
                by_length.setdefault(len(values), []).append(number)
        for numbers in by_length.values():
            drawn = bootstrap_estimates(np.array([columns[number] for number in numbers]).T)
            found.update(zip(numbers, drawn, strict=True))
    return [found[number] for number in range(len(columns))]


def bootstrap_estimates(by_deal: np.ndarray) -> list[Estimate]:
    """Return the means of the columns of an array (deals, columns), with their 95% bootstrap intervals.

    The interval covers the middle of the resampled means, a little more than 95% of them, because plain percentiles are
    too narrow for few deals (the expanded percentile interval: T. Hesterberg, "What Teachers Should Know About the
    Bootstrap", The American Statistician 69, 2015, section 4.5).
    """
    deals = len(by_deal)
    pool = DealResampler(deals)
    sums = pool.pooled(by_deal)
    means = np.concatenate([weights @ sums / (weights @ pool.sizes)[:, None] for weights in pool.resampled()])
    low, high = np.quantile(means, expanded_tails(deals), axis=0)
    return [
        Estimate(math.fsum(by_deal[:, column]) / deals, float(low[column]), float(high[column]), deals)
        for column in range(by_deal.shape[1])
    ]


def expanded_tails(deals: int) -> tuple[float, float]:
    """Return the quantiles of resampled means that bound the 95% interval of `deals` >= 2 deals."""
    wide = math.sqrt(deals / (deals - 1)) * t_quantile(min(deals, 10_000) - 1)
    tail = float(ndtr(-wide))
    return tail, 1 - tail


class DealResampler:
    """Resamples deals. If there are very many, neighbouring deals form units that are drawn together.

    Attributes:
        sizes: float64 (units,), number of deals in each unit.
    """

    def __init__(self, deals: int) -> None:
        """Divide `deals` deals into units."""
        self._starts = np.unique(np.linspace(0, deals, min(deals, _MOST_UNITS) + 1).astype(int)[:-1])
        self.sizes = np.diff(np.append(self._starts, deals)).astype(float)

    def pooled(self, by_deal: np.ndarray) -> np.ndarray:
        """Return the sums over each unit's deals of an array (deals, columns)."""
        return np.add.reduceat(by_deal, self._starts, axis=0)

    def resampled(self, resamples: int = RESAMPLES, seed: int = 0) -> Iterator[np.ndarray]:
        """Yield float64 arrays (some resamples, units) of how often each unit is drawn; depends on `seed` only."""
        generator = np.random.default_rng(seed)
        units = len(self.sizes)
        size = max(1, _MOST_DRAWS // units)
        for first in range(0, resamples, size):
            rows = min(size, resamples - first)
            drawn = generator.integers(0, units, (rows, units)) + np.arange(rows)[:, None] * units
            yield np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units).astype(float)


def estimate(values: list[float]) -> Estimate:
    """Return the mean of `values`, one per deal, with its 95% Student t interval."""
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
    """Return the t with P(|T| <= t) = `level` for Student's distribution with `freedom` >= 1 degrees of freedom."""
    return float(stdtrit(freedom, (1 + level) / 2))
