"""From the games of an evaluation to scores."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cardenvs.arena.evaluation.protocol import AGENT, Protocol, Task
from cardenvs.arena.match import Match
from cardenvs.arena.results.statistics import Estimate, summarise, t_quantile
from cardenvs.arena.results.sums import DecisionSums
from cardenvs.arena.store import Store


@dataclass(frozen=True)
class GameScore:
    """The result of an agent in one game of a protocol.

    Attributes:
        task, match: the game, and the match that was played.
        result: mean result of a deal, in the unit of the game's results, with its 95% interval.
        score: the same on the scale of the protocol.
        decisions: number of decisions that the agent made.
        decision_seconds: mean time of a decision.
        failures: failed tries at a decision by class, and decisions "forced" or given up ("forfeit").
    """

    task: Task
    match: Match
    result: Estimate
    score: Estimate
    decisions: int
    decision_seconds: float
    failures: Counter[str]


@dataclass(frozen=True)
class Evaluation:
    """The scores of an agent.

    Attributes:
        protocol, size, agent: what was played, and by whom.
        games: scores by game, in the order of the protocol.
        not_played: by game of this size that the agent did not play, the reason.
    """

    protocol: Protocol
    size: str
    agent: str
    games: tuple[GameScore, ...]
    not_played: dict[str, str]

    @property
    def is_complete(self) -> bool:
        """Whether every game of the size was played to its last deal."""
        deals = all(game.result.deals == game.task.deals[self.size] for game in self.games)
        return deals and len(self.games) == len(self.protocol.chosen(self.size))

    @property
    def mean(self) -> Estimate:
        """The mean of the scores, each game with the same weight, and its 95% interval; `deals` are all deals."""
        return mean_of([game.score for game in self.games])


def evaluation_of(
    protocol: Protocol,
    size: str,
    agent: str,
    played: Sequence[tuple[Task, Match]],
    not_played: dict[str, str],
    store: Store,
) -> Evaluation:
    """Return the scores of the games in a store. Matches without a complete deal count as not played."""
    scores, missing = [], dict(not_played)
    for task, match in played:
        score = score_of(task, match, store)
        if score.result.deals:
            scores.append(score)
        else:
            missing[task.game] = "no deal is complete"
    return Evaluation(protocol, size, agent, tuple(scores), missing)


def score_of(task: Task, match: Match, store: Store) -> GameScore:
    """Return the score in one game from its games in a store."""
    result = summarise(match, store.results(match.id)).standings[0].mean
    sums = DecisionSums(match)
    for record in store.results(match.id):
        sums.add(record)
    seats = [number for number, name in enumerate(match.names) if name.partition(",")[0] == AGENT]
    decisions = sum(sums.decisions[number] for number in seats)
    failures = sum((sums.failures[number] + sums.outcomes[number] for number in seats), Counter[str]())
    seconds = sum(sums.seconds[number] for number in seats) / max(1, decisions)
    return GameScore(task, match, result, scaled(result, task), decisions, seconds, failures)


def scaled(result: Estimate, task: Task) -> Estimate:
    """Return a result on the scale of the protocol: 0 is random play, 100 the reference player."""
    mean, low, high = ((value - task.random) * 100 / (task.best - task.random) for value in _values(result))
    return Estimate(mean, low, high, result.deals)


def _values(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.mean, estimate.low, estimate.high


def mean_of(scores: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent estimates, each with the same weight, with its 95% interval.

    The degrees of freedom are those of B. L. Welch, "The Generalization of Student's Problem when Several Different
    Population Variances are Involved", Biometrika 34, 1947. The interval is infinite if one of the scores has a single
    deal or there is none.
    """
    deals = sum(score.deals for score in scores)
    if not scores:
        return Estimate(math.nan, -math.inf, math.inf, 0)
    mean = math.fsum(score.mean for score in scores) / len(scores)
    if any(math.isinf(score.high) for score in scores):
        return Estimate(mean, -math.inf, math.inf, deals)
    variances = [((score.high - score.mean) / t_quantile(score.deals - 1)) ** 2 for score in scores]
    total = math.fsum(variances)
    if total == 0:
        return Estimate(mean, mean, mean, deals)
    freedom = total**2 / math.fsum(
        variance**2 / (score.deals - 1) for variance, score in zip(variances, scores, strict=True)
    )
    half = t_quantile(max(1, math.floor(freedom))) * math.sqrt(total) / len(scores)
    return Estimate(mean, mean - half, mean + half, deals)
