"""Boards: the results of a store's matches, game by game and overall, for reports."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cardenvs.arena.match import Entry, Match
from cardenvs.arena.records import GameRecord, StoredExperiment
from cardenvs.arena.results import statistics
from cardenvs.arena.results.ratings import BY_RESULTS, Evidence, Rating, RatingBasis, cycles, evidence_for, fit
from cardenvs.arena.results.sums import DecisionSums
from cardenvs.arena.store import Store
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import ArenaError

_SAMPLED_GAMES = 200  # games per match, replayed for the behaviours
_WORD = re.compile(r"[A-Za-z][A-Za-z-]+")


@dataclass(frozen=True)
class Behaviour:
    """How an agent played one match.

    Attributes:
        name: the agent's name.
        decisions: number of decisions in all games.
        decision_seconds: mean time of a decision.
        failures: failed tries by class.
        outcomes: number of "forced" and "forfeit" decisions.
        kinds: number of actions by the first word of their label, in the sampled games.
        choices: mean number of legal actions at a decision, in the sampled games.
        only_one: fraction of decisions with a single legal action, in the sampled games.
    """

    name: str
    decisions: int = 0
    decision_seconds: float = 0.0
    failures: dict[str, int] = field(default_factory=dict)
    outcomes: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)
    choices: float = 0.0
    only_one: float = 0.0


@dataclass(frozen=True)
class GameBoard:
    """Results of one match.

    Attributes:
        title: title in reports; different for each match of a board.
        summary: means and advantages.
        ratings: best first; empty for a cooperative game, in which nobody is ahead of another.
        circles: cycles of agent numbers, in which each clearly beats the next and the last the first.
        seats: mean result by (agent, player).
        behaviours: in the order of the match's agents.
        plies: mean number of actions in a game.
        sampled: number of games replayed for the behaviours.
    """

    title: str
    summary: statistics.Summary
    ratings: tuple[Rating, ...]
    circles: tuple[tuple[int, ...], ...]
    seats: dict[tuple[int, int], statistics.Estimate]
    behaviours: tuple[Behaviour, ...]
    plies: float
    sampled: int

    @property
    def match(self) -> Match:
        """The match that was played."""
        return self.summary.match


@dataclass(frozen=True)
class Board:
    """Results of the matches of an experiment or of a whole store.

    Attributes:
        name: name in reports.
        games: results of each match with a complete deal.
        overall: ratings from all matches with equal weight, best first.
        anchors: fixed ratings, by agent name.
        unconnected: agents that no chain of games connects to an anchor (or, without anchors, to the first
            agent); their ratings are not comparable.
        intervals: how intervals were computed.
        basis: what ratings are based on.
        failed: first lines of the errors of failed games.
    """

    name: str
    games: tuple[GameBoard, ...]
    overall: tuple[Rating, ...]
    anchors: dict[str, float]
    unconnected: tuple[str, ...]
    intervals: statistics.Intervals
    basis: RatingBasis = BY_RESULTS
    failed: tuple[str, ...] = ()

    @property
    def scale(self) -> str:
        """What the ratings are based on and relative to, in words."""
        kind = "bootstrap" if self.intervals == "bootstrap" else "Student's"
        held = ", ".join(f"{name} at {rating:g}" for name, rating in self.anchors.items())
        around = f"with {held}" if held else "around a mean of 1500"
        ratings = [*self.overall, *(rating for game in self.games for rating in game.ratings)]
        short = any(math.isinf(rating.low) for rating in ratings)
        needed = f" Ratings have intervals from {statistics.FEWEST_FOR_BOOTSTRAP} deals on." if short else ""
        return (
            f"Ratings are Elo points of {self.basis.description()}, {around}. "
            f"Intervals are 95%, over deals ({kind}).{needed}"
        )

    def game(self, title: str) -> GameBoard:
        """Return the results of the match with this title."""
        return next(game for game in self.games if game.title == title)


def board_of(
    store: Store,
    experiment: StoredExperiment | None = None,
    *,
    everything: bool = False,
    intervals: statistics.Intervals = "bootstrap",
    basis: RatingBasis | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Board:
    """Compute the board of an experiment or a whole store.

    Args:
        store: a store with finished games.
        experiment: one of store.experiments(); None: the last one, or all matches if there are no experiments.
        everything: include all matches of the store; used if `experiment` is None.
        intervals: "bootstrap" or "student", for means and advantages; ratings always use the bootstrap.
        basis: what ratings are based on; None: the experiment's setting.
        progress: called with (current task, matches done, total matches).

    Raises:
        ArenaError: no deal is complete, or a match was played with another version of its game.
    """
    if experiment is None and not everything:
        experiment = next(reversed(store.experiments()), None)
    titled = _titled(store, experiment)
    names = list(dict.fromkeys(name for _, match in titled if not match.is_cooperative for name in match.names))
    anchors = {} if experiment is None else experiment.anchors
    if basis is None:
        basis = RatingBasis(**({} if experiment is None else experiment.config.get("ratings", {})))
    tell = progress or (lambda what, done, total: None)
    games, evidence = [], []
    for number, (title, match) in enumerate(titled):
        tell(title, number, len(titled))
        of_match = evidence_for(match, match.names if match.is_cooperative else names, basis)
        counts = _MatchCounts(match, of_match, store.results(match.id))
        if counts.tally.deals:
            evidence += [] if match.is_cooperative else [counts.evidence]
            games.append(_game_board(store, title, counts, names, anchors, intervals))
    if not games:
        raise ArenaError(f"{store.path or 'the store'} has no complete deal to report")
    tell("ratings", len(titled), len(titled))
    overall = fit(evidence, names, anchors) if evidence else []
    shown = {match.id for _, match in titled}
    failed = tuple(error.split("\n")[0] for match_id, _, _, error in store.failed() if match_id in shown)
    name = experiment.name if experiment is not None else "Results"
    unconnected = _unconnected(evidence, names, anchors) if evidence else ()
    return Board(name, tuple(games), tuple(_best_first(overall)), dict(anchors), unconnected, intervals, basis, failed)


def _titled(store: Store, experiment: StoredExperiment | None) -> list[tuple[str, Match]]:
    """Return (title, match) for each match of an experiment or the store."""
    if experiment is not None:
        return [(title, store.match(match_id)) for match_id, title in experiment.matches]
    matches = _told_apart([store.match(match_id) for match_id in store.match_ids()])
    titles = [title_of(match) for match in matches]
    return [
        (title if titles.count(title) == 1 else f"{title}, match {match.id[:6]}", match)
        for title, match in zip(titles, matches, strict=True)
    ]


def _told_apart(matches: Sequence[Match]) -> list[Match]:
    """Return the matches with spec and file added to the names that several agents share."""
    agents: dict[str, set[tuple[str, str]]] = {}
    for entry in itertools.chain.from_iterable(match.entries for match in matches):
        agents.setdefault(entry.name, set()).add((entry.spec, entry.fingerprint))

    def named(entry: Entry) -> Entry:
        differs = [entry.spec if entry.spec != entry.name else "", entry.fingerprint[:6]]
        added = ", ".join(filter(None, differs))
        if len(agents[entry.name]) == 1 or not added:
            return entry
        return replace(entry, name=f"{entry.name} ({added})")

    return [replace(match, entries=tuple(map(named, match.entries))) for match in matches]


def title_of(match: Match) -> str:
    """Return the game's title with the options that differ from their defaults."""
    changed = ", ".join(f"{name}={_text(value)}" for name, value in match.options.changed().items())
    return f"{match.game.title} ({changed})" if changed else match.game.title


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


class _MatchCounts:
    """Everything that a board counts, in one pass over the complete deals of a match."""

    def __init__(self, match: Match, evidence: Evidence, records: Iterable[GameRecord]) -> None:
        self.match, self.evidence = match, evidence
        self.tally, self.decisions = statistics.Tally(match), DecisionSums(match)
        self._factor = match.game.returns(match.options).result_factor
        self._by_seat: dict[tuple[int, int], list[float]] = {}  # by (agent, player), the mean result of each deal
        for games in statistics.complete_deals(match, records):
            self.tally.add(games)
            self.evidence.add(games)
            for game in games:
                self.decisions.add(game)
            self._add_seats(games)

    def _add_seats(self, games: Sequence[GameRecord]) -> None:
        of_deal: dict[tuple[int, int], list[float]] = {}
        for game in games:
            for player, agent in enumerate(game.seating):
                of_deal.setdefault((agent, player), []).append(game.returns[player])
        for place, returns in of_deal.items():
            self._by_seat.setdefault(place, []).append(self._factor * sum(returns) / len(returns))

    def seats(self, intervals: statistics.Intervals) -> dict[tuple[int, int], statistics.Estimate]:
        """Return the mean result of each (agent, player), with an interval over deals."""
        return dict(zip(self._by_seat, statistics.estimates(list(self._by_seat.values()), intervals), strict=True))


def _game_board(
    store: Store, title: str, counts: _MatchCounts, names: Sequence[str], anchors: dict[str, float],
    intervals: statistics.Intervals,
) -> GameBoard:  # fmt: skip
    match, summary = counts.match, counts.tally.summary(intervals)
    near = {name: rating for name, rating in anchors.items() if name in match.names}
    rated = [] if match.is_cooperative else fit([counts.evidence], names, near)
    ratings = [rating for rating in rated if rating.name in match.names]
    clear = [
        (pair if found.low > 0 else pair[::-1])
        for pair, found in summary.advantages.items()
        if found.low > 0 or found.high < 0
    ]
    sample = _sampled(store, match, summary.deals)
    return GameBoard(
        title, summary, tuple(_best_first(ratings)), tuple(cycles(clear)), counts.seats(intervals),
        _behaviours(counts, sample), float(np.mean([len(game.actions) for game in sample])), len(sample),
    )  # fmt: skip


def _best_first(ratings: Sequence[Rating]) -> list[Rating]:
    return sorted(ratings, key=lambda rating: -rating.rating)


def _unconnected(evidence: Sequence[Evidence], names: Sequence[str], anchors: dict[str, float]) -> tuple[str, ...]:
    """Return the agents that no chain of games connects to an anchor or, without anchors, to the first agent."""
    met: dict[int, set[int]] = {agent: set() for agent in range(len(names))}
    for among in {among for part in evidence for among, _ in part.choices}:
        for pair in itertools.permutations(set(among), 2):
            met[pair[0]].add(pair[1])
    reached = {names.index(name) for name in anchors if name in names} or {0}
    new = set(reached)
    while new:
        new = set.union(*(met[agent] for agent in new)) - reached
        reached |= new
    return tuple(name for agent, name in enumerate(names) if agent not in reached)


# -- how agents behave --------------------------------------------------------------------------------------------


def _behaviours(counts: _MatchCounts, sample: Sequence[GameRecord]) -> tuple[Behaviour, ...]:
    match, sums = counts.match, counts.decisions
    habits = [_Habits() for _ in match.entries]
    for game in sample:
        _watch(match, game, habits)
    return tuple(
        Behaviour(
            name, sums.decisions[agent], sums.seconds[agent] / max(1, sums.decisions[agent]),
            dict(sums.failures[agent].most_common()), dict(sums.outcomes[agent].most_common()),
            dict(habits[agent].kinds.most_common()), habits[agent].choices / max(1, habits[agent].decisions),
            habits[agent].only_one / max(1, habits[agent].decisions),
        )
        for agent, name in enumerate(match.names)
    )  # fmt: skip


def _sampled(store: Store, match: Match, deals: Sequence[int]) -> list[GameRecord]:
    """Return about _SAMPLED_GAMES games from evenly spaced deals."""
    wanted = max(1, min(len(deals), _SAMPLED_GAMES // len(match.lineups)))
    chosen = [deals[k * len(deals) // wanted] for k in range(wanted)]
    games = [store.game(match.id, deal, lineup) for deal in chosen for lineup in range(len(match.lineups))]
    return games[:: max(1, len(games) // _SAMPLED_GAMES)]


@dataclass
class _Habits:
    kinds: Counter[str] = field(default_factory=Counter)
    decisions: int = 0
    choices: int = 0
    only_one: int = 0


def _watch(match: Match, game: GameRecord, habits: list[_Habits]) -> None:
    state = match.game.state_type(match.game, match.options, seed=game.seed)
    for action in game.actions:
        if action < FORFEIT:
            mine = habits[game.seating[state.current_player]]
            legal = len(state.legal_actions())
            mine.decisions += 1
            mine.choices += legal
            mine.only_one += legal == 1
            mine.kinds[_kind(state.action_label(action))] += 1
        state.apply(action)


def _kind(label: str) -> str:
    word = _WORD.match(label)
    return word.group().lower() if word else "other"
