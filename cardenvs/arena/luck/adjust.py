"""A match with less noise: its results, corrected for luck, beside the plain ones.

The luck of a game (see `chance` and `aivat`) has several parts, each with a mean of exactly 0. An agent's corrected
result on a deal is its plain one less a combination of its luck there. The coefficients are fitted on the other deals
alone, by least squares, drawn towards 1 as if by a few more deals: so they do not depend on the luck that they
multiply, and the corrected mean estimates the same as the plain one, without bias. One more deal, with luck as large as
results are, keeps coefficients near 1 where other deals have next to no luck of a kind, and tell nothing about a deal
that has. A value function that is no good gets a coefficient near 0. Fitting the value on other deals than those that
it corrects is cross-fitting; least squares is what White and Bowling (2009, section 4) solve for a value that is linear
in its features.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cardenvs.arena.luck.aivat import AivatLuck
from cardenvs.arena.luck.chance import ChanceLuck
from cardenvs.arena.luck.values import Value, value_of
from cardenvs.arena.match import Match
from cardenvs.arena.records import GameRecord
from cardenvs.arena.results.statistics import Estimate, complete_deals, estimate
from cardenvs.core.errors import ArenaError

_FOLDS = 10
_PRIOR_DEALS = 10  # weight of the coefficient 1, in deals
_FEWEST_DEALS = 2

METHODS = ("auto", "chance", "aivat")
DEFAULT_HANDS = 24

Progress = Callable[[int, int], None]  # called with (games done, total games)


@dataclass(frozen=True)
class Corrected:
    """A result without and with correction.

    Attributes:
        plain, corrected: both estimates, from the same deals.
    """

    plain: Estimate
    corrected: Estimate

    @property
    def narrower(self) -> float:
        """How many times narrower the corrected interval is."""
        width = self.corrected.high - self.corrected.low
        return (self.plain.high - self.plain.low) / width if width > 0 else math.inf

    @property
    def deals_saved_by(self) -> float:
        """The number of deals that plain results need for an interval as narrow as the corrected one."""
        return self.plain.deals * self.narrower**2


@dataclass(frozen=True)
class Adjustment:
    """The results of a match, corrected for luck.

    Attributes:
        match: the match.
        method: "chance" or "aivat".
        parts: names of the parts of the luck.
        means: for each agent its mean result.
        advantages: for each pair (i, j), i < j, that met: the advantage of agent i over agent j.
        coefficients: for each agent the mean coefficients, float64 (parts,).
        luck: for each agent its mean luck by part, float64 (parts,), in units of results.
    """

    match: Match
    method: str
    parts: tuple[str, ...]
    means: tuple[Corrected, ...]
    advantages: dict[tuple[int, int], Corrected]
    coefficients: tuple[np.ndarray, ...]
    luck: tuple[np.ndarray, ...]


class Adjuster:
    """Corrects the games of a match, one at a time.

    Attributes:
        method: "chance" or "aivat".
        parts: names of the parts of the luck.
    """

    def __init__(
        self, match: Match, method: str = "auto", value: str = "auto", hands: int = DEFAULT_HANDS, seed: int = 0
    ) -> None:
        """Choose how to correct.

        Args:
            match: the match.
            method: "chance" corrects the draws; "aivat" also the actions and hands of agents whose policy is known, in
                games for two with hands dealt once and open cards after that; "auto" takes aivat where it applies.
            value: spec of the value function, see `values.value_of`.
            hands: for aivat, most hands that a player might hold.
            seed: of everything that is drawn here.

        Raises:
            ArenaError: an argument is invalid, or does not fit the match.
            AgentError, PolicyNotFoundError, MissingExtraError: an agent or the value cannot be made.
        """
        if method not in METHODS:
            raise ArenaError(f"a correction is {', '.join(METHODS[:-1])} or {METHODS[-1]}; got {method!r}")
        self.match = match
        found = value_of(value, match)
        self._luck: AivatLuck | ChanceLuck = self._choose(method, found, hands, seed)
        self.method = "aivat" if isinstance(self._luck, AivatLuck) else "chance"
        self.parts = self._luck.parts

    def _choose(self, method: str, value: Value, hands: int, seed: int) -> AivatLuck | ChanceLuck:
        if method == "aivat":
            return AivatLuck(self.match, [value], hands, seed)
        if method == "auto" and self.match.options.num_players == 2:
            found = AivatLuck(self.match, [value], hands, seed)
            if found.knows_somebody and found.fits():
                return found
        return ChanceLuck(self.match, value, seed)

    def of(self, record: GameRecord) -> np.ndarray:
        """Return the luck of each player in a game, float64 (parts, players)."""
        return self._luck.of(record)


def adjust(adjuster: Adjuster, records: Iterable[GameRecord], progress: Progress | None = None) -> Adjustment:
    """Correct the finished games of a match, ordered by deal. As in a summary, complete deals alone count.

    Args:
        adjuster: of the match.
        records: its games, with their actions.
        progress: called regularly with (games done, total games).

    Raises:
        ArenaError: there are fewer than two complete deals, or a game does not fit the match.
    """
    match, tally = adjuster.match, _Tally(adjuster.match, len(adjuster.parts))
    total = match.num_games
    for games in complete_deals(match, records):
        tally.add(games, [adjuster.of(game) for game in games])
        if progress is not None:
            progress(tally.games, total)
    if tally.deals < _FEWEST_DEALS:
        raise ArenaError(f"a correction needs at least {_FEWEST_DEALS} complete deals; the match has {tally.deals}")
    return tally.adjustment(adjuster)


class _Tally:
    """Results and luck by deal."""

    def __init__(self, match: Match, parts: int) -> None:
        self._match, self._parts = match, parts
        self._factor = match.game.returns(match.options).result_factor
        self._shares = min(2, match.options.num_players)  # an advantage at a table is half a difference
        # by agent or pair, for each deal the result and the luck
        self._rows: dict[int | tuple[int, int], list[np.ndarray]] = {}
        self.deals = self.games = 0

    def add(self, games: Sequence[GameRecord], luck: Sequence[np.ndarray]) -> None:
        """Add all games of one deal, with the luck of each, float64 (parts, players)."""
        self.deals += 1
        self.games += len(games)
        found: dict[int | tuple[int, int], list[np.ndarray]] = {}
        for game, parts in zip(games, luck, strict=True):
            rows = np.concatenate([[game.returns], parts]).T * self._factor  # (players, 1 + parts)
            for player, agent in enumerate(game.seating):
                found.setdefault(agent, []).append(rows[player])
                for other, rival in enumerate(game.seating):
                    if agent < rival and not self._match.is_cooperative:
                        found.setdefault((agent, rival), []).append((rows[player] - rows[other]) / self._shares)
        for key, values in found.items():
            self._rows.setdefault(key, []).append(np.mean(values, axis=0))

    def adjustment(self, adjuster: Adjuster) -> Adjustment:
        """Return the results."""
        rows = {key: np.array(values) for key, values in self._rows.items()}
        agents = [rows[agent] for agent in range(len(self._match.entries))]
        pairs = sorted(key for key in rows if isinstance(key, tuple))
        fitted = [coefficients(agent[:, 0], agent[:, 1:]) for agent in agents]
        return Adjustment(
            self._match,
            adjuster.method,
            adjuster.parts,
            tuple(map(_corrected, agents)),
            {pair: _corrected(rows[pair]) for pair in pairs},
            tuple(found.mean(0) for found in fitted),
            tuple(agent[:, 1:].mean(0) for agent in agents),
        )


def _corrected(rows: np.ndarray) -> Corrected:
    results, luck = rows[:, 0], rows[:, 1:]
    left = results - (coefficients(results, luck) * luck).sum(1)
    return Corrected(estimate(results.tolist()), estimate(left.tolist()))


def coefficients(results: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Return the coefficients of each deal's luck, float64 (deals, parts), fitted on other deals.

    Args:
        results: float64 (deals,).
        luck: float64 (deals, parts).
    """
    deals, parts = luck.shape
    folds = np.arange(deals) % min(_FOLDS, deals)
    found = np.ones((deals, parts))
    for fold in np.unique(folds):
        others = folds != fold
        found[folds == fold] = _fitted(results[others], luck[others])
    return found


def _fitted(results: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Return least-squares coefficients, drawn towards 1."""
    # Luck has a mean of 0, which is known, so only the results are centred.
    spread = (luck**2).mean(0)
    used = spread > 0
    found = np.ones(luck.shape[1])
    if used.any():
        some = luck[:, used]
        prior = np.diag(spread[used] * _PRIOR_DEALS + results.var())
        left = results - results.mean() - some.sum(1)
        found[used] += np.linalg.solve(some.T @ some + prior, some.T @ left)
    return found
