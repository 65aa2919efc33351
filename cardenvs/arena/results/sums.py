"""Sums over games: decisions and failures by agent, figures by agent, and counts of everything that occurred."""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Self

from cardenvs.agents.seating import FORFEITED
from cardenvs.arena.match import Match
from cardenvs.arena.records import GameRecord
from cardenvs.arena.results.statistics import estimate

Values = list[tuple[int, float]]  # (deal, value)


class DecisionSums:
    """How the agents of a match decided, summed over games."""

    def __init__(self, match: Match) -> None:
        agents = range(len(match.entries))
        # by agent, the number of decisions and the time they took
        self.decisions, self.seconds = [0 for _ in agents], [0.0 for _ in agents]
        self.failures: list[Counter[str]] = [Counter() for _ in agents]  # by agent, the number of failed tries by class
        # by agent, the number of "forced" and "forfeit" decisions
        self.outcomes: list[Counter[str]] = [Counter() for _ in agents]

    def add(self, game: GameRecord) -> None:
        """Add a finished game."""
        for player, agent in enumerate(game.seating):
            self.decisions[agent] += game.decisions[player]
            self.seconds[agent] += game.seconds[player]
            if game.failures:  # empty if agents played without a proxy
                self.failures[agent].update(game.failures[player])
                self.outcomes[agent].update(game.outcomes[player])


class GameSums:
    """Sums over the finished games of a match."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.games = 0  # number of games added so far
        # by group and name: [total count, number of games in which it occurred]
        self.counts: dict[str, dict[str, list[int]]] = {}
        self.figures: list[str] = []  # names of the games' figures
        agents = range(len(match.entries))
        self._plies: Values = []
        self._returns: list[Values] = [[] for _ in agents]
        self._figures: list[dict[str, Values]] = [{} for _ in agents]
        self._won, self._shared = [0 for _ in agents], [0 for _ in agents]
        self._decisions = DecisionSums(match)
        self.first_failures: dict[int, str] = {}  # by agent, the first failed try at a decision in words

    @classmethod
    def of(cls, match: Match, records: Iterable[GameRecord]) -> Self:
        """Return the sums over finished games."""
        sums = cls(match)
        for record in records:
            sums.add(record)
        return sums

    def add(self, game: GameRecord) -> None:
        """Add a finished game."""
        self.games += 1
        self._plies.append((game.deal, len(game.actions)))
        winners = game.winners
        for player, agent in enumerate(game.seating):
            self._returns[agent].append((game.deal, game.returns[player]))
            self._won[agent] += winners == (player,)
            self._shared[agent] += len(winners) > 1 and player in winners
        self._decisions.add(game)
        for player, failures in enumerate(game.failures):
            if failures:
                self.first_failures.setdefault(game.seating[player], _first_failure(game, player))
        if game.statistics is None:
            return
        for name, values in game.statistics.figures.items():
            if name not in self.figures:
                self.figures.append(name)
            for player, agent in enumerate(game.seating):
                self._figures[agent].setdefault(name, []).append((game.deal, values[player]))
        for group, counts in game.statistics.counts.items():
            sums = self.counts.setdefault(group, {})
            for name, count in counts.items():
                both = sums.setdefault(name, [0, 0])
                both[0] += count
                both[1] += count > 0

    @property
    def _rows(self) -> list[tuple[str, list[int]]]:
        """(name, agent numbers) of each agent, and of all agents with the same spec if there are several."""
        specs = self.match.specs
        rows = [(name, [agent]) for agent, name in enumerate(self.match.names)]
        together = {spec: [agent for agent, other in enumerate(specs) if other == spec] for spec in specs}
        return rows + [(f"all {spec}", agents) for spec, agents in together.items() if len(agents) > 1]

    def _of_agents(self, agents: Sequence[int]) -> dict[str, Any]:
        """Return the combined results of some agents as JSON values.

        Each figure has its mean with a 95% Student t interval over deals, standard deviation, minimum and maximum.
        `failures` counts failed tries by class, and `outcomes` decisions that were "forced" or "forfeit".
        """
        return {
            "won": sum(self._won[agent] for agent in agents),
            "shared": sum(self._shared[agent] for agent in agents),
            "returns": _spread([pair for agent in agents for pair in self._returns[agent]]),
            "figures": {
                name: _spread([pair for agent in agents for pair in self._figures[agent].get(name, ())])
                for name in self.figures
            },
            "failures": _total(self._decisions.failures, agents),
            "outcomes": _total(self._decisions.outcomes, agents),
        }

    @property
    def forfeits(self) -> int:
        """Number of forfeits of all agents."""
        return sum(outcomes[FORFEITED] for outcomes in self._decisions.outcomes)

    def as_dict(self) -> dict[str, Any]:
        """Return all sums as JSON values."""
        rows = self._rows if self.games else []
        return {
            "games": self.games,
            "plies": _spread(self._plies),
            "agents": [{"agent": name, "numbers": agents, **self._of_agents(agents)} for name, agents in rows],
            "counts": {
                group: {name: {"total": total, "games": games} for name, (total, games) in counts.items()}
                for group, counts in self.counts.items()
            },
        }


def _first_failure(game: GameRecord, player: int) -> str:
    """Return a player's first failed try, as the notes of the game tell it; stores may come from anybody."""
    for note in game.notes:
        failures = note.get("failures")
        if note.get("player") == player and isinstance(failures, list) and failures:
            first = failures[0] if isinstance(failures[0], dict) else {}
            return f"game {game.deal}, ply {note.get('ply')}: {first.get('message')}"
    return f"game {game.deal}"


def _total(counts: Sequence[Counter[str]], agents: Sequence[int]) -> dict[str, int]:
    return dict(sorted(sum((counts[agent] for agent in agents), Counter()).items()))


def _spread(values: Values) -> dict[str, float | None] | None:
    if not values:
        return None
    by_deal: dict[int, list[float]] = {}
    for deal, value in values:
        by_deal.setdefault(deal, []).append(value)
    mean = estimate([statistics.fmean(each) for each in by_deal.values()])
    low, high = (None if math.isinf(bound) else bound for bound in (mean.low, mean.high))
    plain = [value for _, value in values]
    deviation = statistics.stdev(plain) if len(plain) > 1 else None
    return {"mean": mean.mean, "low": low, "high": high, "sd": deviation, "min": min(plain), "max": max(plain)}
