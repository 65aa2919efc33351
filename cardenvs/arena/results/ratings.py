"""Ratings: one number per agent on the Elo scale, from the games in which agents met.

`fit` is a batch fit of the Plackett-Luce model: at a table of agents with strengths exp(r), each agent takes first
place with a probability equal to its share of the total strength, second place goes to one of the others in the same
way, and so on. Between two agents this is the Bradley-Terry model. Strengths are maximum likelihood estimates, found by
Newton's method for all resamples at once. Every pair that met also gets one drawn game, so that an agent that always
wins has a finite rating. Intervals come from resampling deals, for each match separately. There are two kinds of
evidence:

    results   the difference between two agents' returns at one table. With mean d and standard deviation s of
              that difference, one agent is ahead after `games` games with a probability of about
              Phi(sqrt(games) d / s); the pair's games count as won with that probability. Ratings then agree
              with mean results: winning many small pots does not outweigh losing a few large ones
    places    only who finished ahead of whom in each game. Players with equal returns tie: all their orders
              have equal weight

400 points are odds of 10 to 1. Ratings are relative, so something must be fixed: anchors keep their given ratings,
which makes boards comparable; without anchors the mean is 1500.
"""

import abc
import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr

from cardenvs.arena.match import Match
from cardenvs.arena.records import GameRecord
from cardenvs.arena.results.statistics import FEWEST_FOR_BOOTSTRAP, DealResampler, expanded_tails, meetings
from cardenvs.core.errors import ArenaError

ELO = 400 / math.log(10)  # rating points for odds of e to 1
MIDDLE = 1500.0  # the mean rating without anchors
RATING_RESAMPLES = 500

_DRAW = 0.5  # wins added for each agent of every pair that met
_RIDGE = 1e-6  # regularises agents that no result connects with the others
_LARGEST_STEP = 2.0  # largest change of a strength in a Newton step
_TOLERANCE = 1e-6  # precision of strengths: 0.0002 points
_MOST_STEPS = 200
_MOST_NUMBERS = 1 << 21  # floats in memory at once while fitting

Choice = tuple[tuple[int, ...], int]  # (agents not placed yet, the one of them that takes the next place)


@dataclass(frozen=True)
class Rating:
    """The rating of one agent.

    Attributes:
        name: the agent's name.
        rating: rating on the Elo scale.
        low, high: bounds of its 95% interval; infinite if there are too few deals.
        games: number of games it is based on.
        anchored: whether it is fixed.
    """

    name: str
    rating: float
    low: float
    high: float
    games: int
    anchored: bool


@functools.lru_cache(maxsize=1 << 16)
def choices(seating: tuple[int, ...], places: tuple[int, ...]) -> tuple[tuple[Choice, float], ...]:
    """Return the choices that a game stands for, with their weights.

    Args:
        seating: the agents at the table.
        places: the place of each; agents that tied have equal places.
    """
    found: dict[Choice, float] = {}
    seats = range(len(seating))
    for place in sorted(set(places)):
        tied = [seat for seat in seats if places[seat] == place]
        behind = [seat for seat in seats if places[seat] > place]
        for gone in range(len(tied)):
            weight = 1 / math.comb(len(tied), gone) / (len(tied) - gone)
            for left in itertools.combinations(tied, len(tied) - gone):
                among = tuple(sorted(seating[seat] for seat in (*left, *behind)))
                if len(set(among)) == 1:
                    continue
                for seat in left:
                    key = (among, seating[seat])
                    found[key] = found.get(key, 0.0) + weight
    return tuple(found.items())


def places_of(returns: Sequence[float]) -> tuple[int, ...]:
    """Return the place of each player: 0 for the highest return, equal for equal returns."""
    return tuple(sum(other > mine for other in returns) for mine in returns)


@dataclass(frozen=True)
class RatingBasis:
    """What ratings are based on.

    Attributes:
        by: "results" or "places"; see the top of this module.
        games: games per session, for "results"; longer sessions give larger rating differences.
    """

    by: Literal["results", "places"] = "results"
    games: int = 1

    def description(self) -> str:
        """Return the basis in words."""
        if self.by == "places":
            return "who finishes ahead in a game"
        return "who is ahead after a game" if self.games == 1 else f"who is ahead after {self.games} games"


BY_RESULTS = RatingBasis()


class Evidence(abc.ABC):
    """Evidence of one match about the strengths of its agents, to which deals are added one at a time.

    Attributes:
        games: float64 (agents,), number of games of each agent.
    """

    def __init__(self, match: Match, agents: Sequence[str]) -> None:
        """Create evidence without games.

        Args:
            match: the match that was played.
            agents: names of all agents to rate, including those of the match.
        """
        self._match, self._numbers = match, [agents.index(name) for name in match.names]
        self.games = np.zeros(len(agents))
        self._columns: dict[Any, int] = {}
        self._rows: list[dict[int, float]] = []  # by deal: value by column

    def add(self, games: Sequence[GameRecord]) -> None:
        """Add all games of one deal."""
        row: dict[int, float] = {}
        for agents_met, returns in meetings(self._match, games):
            seating = tuple(self._numbers[agent] for agent in agents_met)
            for agent in seating:
                self.games[agent] += 1
            for key, value in self._evidence(seating, returns):
                column = self._columns.setdefault(key, len(self._columns))
                row[column] = row.get(column, 0.0) + value
        self._rows.append(row)

    @property
    def deals(self) -> int:
        """Number of deals."""
        return len(self._rows)

    @property
    @abc.abstractmethod
    def choices(self) -> list[Choice]:
        """The choices that `counts` counts."""

    @abc.abstractmethod
    def _evidence(self, seating: tuple[int, ...], returns: tuple[float, ...]) -> Iterable[tuple[Any, float]]:
        """Yield (key of a column, value to add) for everything that a game contributes."""

    @abc.abstractmethod
    def _counted(self, sums: np.ndarray) -> np.ndarray:
        """Return how often each choice was made, (n, choices), from sums over deals, (n, columns)."""

    def _by_unit(self) -> tuple[DealResampler, np.ndarray]:
        """Return a resampler of the deals, and the sums over each of its units, (units, columns)."""
        by_deal = np.zeros((self.deals, len(self._columns)))
        for number, row in enumerate(self._rows):
            by_deal[number, list(row)] = list(row.values())
        pool = DealResampler(self.deals)
        return pool, pool.pooled(by_deal)

    @functools.cached_property
    def counts(self) -> np.ndarray:
        """float64 (1, choices): how often each choice was made, over all deals. Read it after the last `add`."""
        if not self._rows:
            return np.zeros((1, len(self.choices)))
        return self._counted(self._by_unit()[1].sum(axis=0, keepdims=True))

    def resampled(self, resamples: int, seed: int) -> np.ndarray:
        """Return float64 (resamples, choices): `counts` for resampled deals."""
        if not self._rows:
            return np.zeros((resamples, len(self.choices)))
        pool, by_unit = self._by_unit()
        return self._counted(np.concatenate([weights @ by_unit for weights in pool.resampled(resamples, seed)]))


class Places(Evidence):
    """Evidence of the kind "places"."""

    @property
    def choices(self) -> list[Choice]:
        """The choices that `counts` counts."""
        return list(self._columns)

    def _evidence(self, seating: tuple[int, ...], returns: tuple[float, ...]) -> Iterable[tuple[Any, float]]:
        return choices(seating, places_of(returns))

    def _counted(self, sums: np.ndarray) -> np.ndarray:
        return sums


class Results(Evidence):
    """Evidence of the kind "results"."""

    def __init__(self, match: Match, agents: Sequence[str], session: int = 1) -> None:
        """Create evidence without games; see Evidence.

        Args:
            match, agents: as in Evidence.
            session: games per session.
        """
        super().__init__(match, agents)
        self._session = session

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return sorted({pair for pair, _ in self._columns})

    @property
    def choices(self) -> list[Choice]:
        """The choices that `counts` counts."""
        return [(pair, agent) for pair in self._pairs for agent in pair]

    def _evidence(self, seating: tuple[int, ...], returns: tuple[float, ...]) -> Iterable[tuple[Any, float]]:
        for (first, mine), (second, other) in itertools.permutations(zip(seating, returns, strict=True), 2):
            if first < second:
                difference = mine - other
                for power, value in enumerate((1.0, difference, difference * difference)):
                    yield ((first, second), power), value

    def _counted(self, sums: np.ndarray) -> np.ndarray:
        columns = np.array([[self._columns[pair, power] for power in range(3)] for pair in self._pairs], int)
        games, total, squares = (sums[:, column] for column in columns.reshape(-1, 3).T)
        played = np.maximum(games, 1e-300)
        mean = total / played
        spread = np.sqrt(np.maximum(squares / played - mean * mean, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            ahead = np.where(mean == 0, 0.5, ndtr(math.sqrt(self._session) * mean / spread))
        return np.stack([games * ahead, games * (1 - ahead)], axis=2).reshape(len(sums), -1)


def evidence_for(match: Match, agents: Sequence[str], basis: RatingBasis) -> Evidence:
    """Return evidence without games, for a basis of ratings; see Evidence."""
    return Places(match, agents) if basis.by == "places" else Results(match, agents, basis.games)


def fit(
    evidence: Sequence[Evidence],
    agents: Sequence[str],
    anchors: Mapping[str, float] | None = None,
    resamples: int = RATING_RESAMPLES,
) -> list[Rating]:
    """Fit ratings of `agents` to the evidence of one or more matches, which have equal weight.

    Args:
        evidence: evidence of each match, counted for these agents.
        agents: names of the agents.
        anchors: fixed ratings, by name; names not in `agents` are ignored.
        resamples: number of resamples for the intervals.

    Returns:
        A rating for each agent, in the order of `agents`.

    Raises:
        ArenaError: the fit did not converge.
    """
    held = {agents.index(name): rating for name, rating in (anchors or {}).items() if name in agents}
    model = _Model([choice for part in evidence for choice in part.choices], len(agents), held)
    scales = _scales(evidence)
    found = model.strengths(np.hstack([scale * part.counts for scale, part in zip(scales, evidence, strict=True)]))[0]
    deals = min((part.deals for part in evidence), default=0)
    low, high = np.full(len(agents), -np.inf), np.full(len(agents), np.inf)
    if deals >= FEWEST_FOR_BOOTSTRAP:
        parts = [
            scale * part.resampled(resamples, seed)
            for seed, (scale, part) in enumerate(zip(scales, evidence, strict=True))
        ]
        spread = model.strengths(np.hstack(parts), start=found)
        low, high = np.quantile(spread, expanded_tails(deals), axis=0)
    games = np.sum([part.games for part in evidence], axis=0)
    return [
        Rating(
            name, _elo(found[agent]), _elo(low[agent]), _elo(high[agent]), int(games[agent]), agent in held,
        )
        for agent, name in enumerate(agents)
    ]  # fmt: skip


def _scales(evidence: Sequence[Evidence]) -> list[float]:
    """Return factors that give all matches equal weight without changing their total weight."""
    weights = [float(part.counts.sum()) for part in evidence]
    positive = [weight for weight in weights if weight]
    mean = sum(positive) / len(positive) if positive else 0.0
    return [mean / weight if weight else 0.0 for weight in weights]


def _elo(strength: float) -> float:
    return MIDDLE + ELO * float(strength)


class _Model:
    """The likelihood of a set of choices."""

    def __init__(self, found: list[Choice], agents: int, held: dict[int, float]) -> None:
        self._agents = agents
        pairs = {(min(pair), max(pair)) for among, _ in found for pair in itertools.combinations(set(among), 2)}
        draws = [(pair, agent) for pair in sorted(pairs) for agent in pair]
        sets = sorted({among for among, _ in (*found, *draws)})
        index = {among: number for number, among in enumerate(sets)}
        self._members = np.zeros((len(sets), agents))  # how often each agent is in a set
        for number, among in enumerate(sets):
            for agent in among:
                self._members[number, agent] += 1
        self._set_of = np.zeros((len(found), len(sets)))  # one-hot: the set of each choice
        self._chosen = np.zeros((len(found), agents))  # one-hot: the agent chosen
        for number, (among, agent) in enumerate(found):
            self._set_of[number, index[among]] = 1
            self._chosen[number, agent] = 1
        self._draw_sets, self._draws = np.zeros(len(sets)), np.zeros(agents)
        for among, agent in draws:
            self._draw_sets[index[among]] += _DRAW
            self._draws[agent] += _DRAW
        self._fixed = np.array([agent in held for agent in range(agents)])
        self._start = np.array([(held[agent] - MIDDLE) / ELO if agent in held else 0.0 for agent in range(agents)])
        self._free = np.flatnonzero(~self._fixed)
        if held:  # agents unconnected to an anchor stay near the anchors
            self._start[self._free] = self._start[self._fixed].mean()
        self._middle = self._start.copy()

    def strengths(self, counts: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """Return float64 (rows, agents): the likeliest strengths for each row of `counts` (rows, choices)."""
        size = max(1, _MOST_NUMBERS // max(1, self._members.size))
        parts = [self._some_strengths(counts[k : k + size], start) for k in range(0, len(counts), size)]
        return np.concatenate(parts)

    def _some_strengths(self, counts: np.ndarray, start: np.ndarray | None) -> np.ndarray:
        wins = counts @ self._chosen + self._draws
        set_counts = counts @ self._set_of + self._draw_sets
        strengths = np.tile(self._start if start is None else start, (len(counts), 1))
        if not len(self._free):
            return strengths
        ridge = _RIDGE * max(1.0, float(wins.mean()))
        for _ in range(_MOST_STEPS):
            shares = self._shares(strengths)
            gradient = wins - np.einsum("bs,bsi->bi", set_counts, shares) - ridge * (strengths - self._middle)
            inner = shares[:, :, self._free]
            hessian = -np.einsum("bs,bsi,bsj->bij", set_counts, inner, inner, optimize=True)  # of minus log-likelihood
            diagonal = np.einsum("bs,bsi->bi", set_counts, inner)
            hessian[:, range(len(self._free)), range(len(self._free))] += diagonal
            hessian += ridge * np.eye(len(self._free))
            step = np.linalg.solve(hessian, gradient[:, self._free, None])[:, :, 0]
            strengths[:, self._free] += np.clip(step, -_LARGEST_STEP, _LARGEST_STEP)
            if np.abs(step).max(initial=0.0) < _TOLERANCE:
                return strengths
        raise ArenaError(f"the ratings did not converge in {_MOST_STEPS} steps; please report this match")

    def _shares(self, strengths: np.ndarray) -> np.ndarray:
        """Return float64 (rows, sets, agents): the probability that each agent is chosen from each set."""
        powers = np.exp(strengths - strengths.max(axis=1, keepdims=True))
        weights = self._members[None, :, :] * powers[:, None, :]
        shares: np.ndarray = weights / weights.sum(axis=2, keepdims=True)
        return shares


# -- cycles -------------------------------------------------------------------------------------------------------


def cycles(beats: Iterable[tuple[int, int]], longest: int = 4) -> list[tuple[int, ...]]:
    """Return cycles of agents, in which each beats the next and the last beats the first; shortest first.

    Args:
        beats: pairs (winner, loser).
        longest: most agents in a cycle.
    """
    ahead: dict[int, list[int]] = {}
    for winner, loser in sorted(set(beats)):
        ahead.setdefault(winner, []).append(loser)
    found = []

    def follow(path: list[int]) -> None:
        for following in ahead.get(path[-1], ()):
            if following == path[0] and len(path) > 2:
                found.append(tuple(path))
            elif following > path[0] and following not in path and len(path) < longest:
                follow([*path, following])

    for first in sorted(ahead):
        follow([first])
    return sorted(found, key=lambda circle: (len(circle), circle))
