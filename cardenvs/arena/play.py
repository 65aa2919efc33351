"""Playing the games of a match in one process, many side by side."""

import contextlib
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from cardenvs.agents.base import Agent, BatchAgent, Turn
from cardenvs.agents.seating import OK, Decision, Seat, checked_choice
from cardenvs.agents.specs import make_agent
from cardenvs.arena.match import Match
from cardenvs.arena.records import GameRecord, Job
from cardenvs.core.errors import AgentError, ArenaError
from cardenvs.core.replay import Replay
from cardenvs.core.results import ResultCheck
from cardenvs.core.state import State
from cardenvs.core.view import GameStatistics

if TYPE_CHECKING:
    from cardenvs.agents.guarded.proxy import AgentProxy

Records = Generator[GameRecord, None, None]


@dataclass(frozen=True)
class PlaySettings:
    """How games are played. Their results do not depend on it.

    Attributes:
        batch: games played side by side in a process where an agent has `act_batch` or is `io_bound`. Without such
            an agent, and with `keep_going`, games are played one after another.
        keep_going: a game that fails is recorded with its error, and the others go on.
        statistics: record each game's statistics.
    """

    batch: int = 64
    keep_going: bool = False
    statistics: bool = False

    def __post_init__(self) -> None:
        """Refuse an empty batch."""
        if self.batch < 1:
            raise ArenaError(f"a batch has at least one game; got {self.batch}")

    @property
    def side_by_side(self) -> int:
        """Games in progress at once: one with `keep_going`, so that a process that dies shows which game ended it."""
        return 1 if self.keep_going else self.batch


DEFAULT_SETTINGS = PlaySettings()


def play_games(crew: "AgentPool", jobs: Iterator[Job]) -> Records:
    """Play games and yield each when it is over.

    A game's result depends on its deal and lineup alone. Unless the settings say to keep going, a failed game ends
    the play: the last record has its `error` set.

    Args:
        crew: the agents of the match.
        jobs: which of its games; taken as there is room.

    Raises:
        AgentError, PolicyNotFoundError, MissingExtraError: an agent cannot be made.
    """
    batch = crew.settings.side_by_side
    if crew.io_bound and batch > 1:
        return _play_in_threads(crew, jobs, batch)
    return _play(crew, jobs, batch if crew.has_batches else 1)


class _DealError(ArenaError):
    """The rules raised in a deal."""


def _play(crew: "AgentPool", jobs: Iterator[Job], room: int) -> Records:
    tables: list[_Table] = []
    while True:
        while len(tables) < room and (job := next(jobs, None)) is not None:
            try:
                tables.append(crew.table(*job))
            except _DealError as error:
                if not crew.settings.keep_going:
                    raise
                yield GameRecord.lost(crew.match, *job, str(error))
        if not tables:
            return
        failed = next((table for table in tables if table.error), None) or _step(crew, tables)
        if failed is not None:
            yield failed.record()
            if not crew.settings.keep_going:
                return
            failed.abandon()
            tables.remove(failed)
        over = [table for table in tables if table.state.is_terminal]
        tables = [table for table in tables if not table.state.is_terminal]
        for table in over:
            table.finish()
            yield table.record()
            if table.error:
                if not crew.settings.keep_going:
                    return
                table.abandon()


def _play_in_threads(crew: "AgentPool", jobs: Iterator[Job], room: int) -> Records:
    """A thread a table: agents that wait (for a server, for another process) wait side by side."""
    stopped = threading.Event()
    playing: dict[Future[None], _Table] = {}
    with ThreadPoolExecutor(room) as pool:
        try:
            while True:
                while len(playing) < room and (job := next(jobs, None)) is not None:
                    table = crew.table(*job)
                    playing[pool.submit(_play_one, crew, table, stopped)] = table
                if not playing:
                    return
                for future in wait(playing, return_when=FIRST_COMPLETED).done:
                    table = playing.pop(future)
                    future.result()
                    if not table.error:
                        table.finish()
                    yield table.record()
                    if table.error:
                        return
        finally:
            stopped.set()  # games under way are broken off after the decision that they are at


def _play_one(crew: "AgentPool", table: "_Table", stopped: threading.Event) -> None:
    while not (table.error or table.state.is_terminal or stopped.is_set()):
        _step(crew, [table])


class AgentPool:
    """The agents of a match in this process: one of each that answers in batches, of the others one a table.

    Attributes:
        match: whose agents.
        settings: how its games are played.
        batched: by agent, whether it answers in batches.
        io_bound: whether an agent spends its time waiting, so that games should be played side by side in threads.
    """

    def __init__(self, match: Match, settings: PlaySettings = DEFAULT_SETTINGS) -> None:
        """Make each agent once.

        Raises:
            AgentError, PolicyNotFoundError, MissingExtraError: an agent cannot be made.
        """
        self.match, self.settings = match, settings
        self._free: list[list[Any]] = [[self._make(agent)] for agent in range(len(match.agents))]
        first = [_inner(free[0]) for free in self._free]
        self.io_bound = any(getattr(agent, "io_bound", False) for agent in first)
        self.batched = [isinstance(agent, BatchAgent) and not self.io_bound for agent in first]

    @property
    def has_batches(self) -> bool:
        """Whether any agent answers in batches."""
        return any(self.batched)

    def _make(self, agent: int) -> "Agent | AgentProxy":
        match = self.match
        if match.guard is None:
            return make_agent(match.agents[agent], match.game, match.options)
        from cardenvs.agents.guarded.proxy import AgentProxy

        spec, name = match.agents[agent], match.names[agent]
        guest = match.guest if match.guest is not None and match.guest.name == name else None
        return AgentProxy.of(spec, match.game, match.options, match.guard, name, guest)

    def table(self, deal: int, lineup: int) -> "_Table":
        """A table at which a game begins."""
        seated = _Table if self.match.guard is None else _GuardedTable
        return seated(self, deal, lineup)

    def take(self, agent: int) -> Any:
        """An agent for one seat."""
        if self.batched[agent]:
            return self._free[agent][0]
        return self._free[agent].pop() if self._free[agent] else self._make(agent)

    def give_back(self, agent: int, made: Any) -> None:
        """The seat is free again."""
        if not self.batched[agent]:
            self._free[agent].append(made)

    def drop(self, agent: int, made: Any) -> None:
        """The seat is free again after a failed game: close its agent, unless each game has a new process of it."""
        if self.batched[agent] or getattr(made, "is_isolated", False):
            self.give_back(agent, made)
            return
        with contextlib.suppress(Exception):  # an agent that has failed may fail once more
            _close(made)

    def close(self) -> None:
        """No more games: end what agents have running."""
        for made in (made for free in self._free for made in free):
            _close(made)
        self._free = [[] for _ in self._free]


def _close(made: Any) -> None:
    close = getattr(made, "close", None)
    if callable(close):
        close()


def _inner(made: Any) -> Any:
    """The agent behind a proxy."""
    return getattr(made, "agent", made)


class _Table:
    """One game in progress."""

    def __init__(self, crew: AgentPool, deal: int, lineup: int) -> None:
        self.crew, self.match = crew, crew.match
        self.deal, self.lineup = deal, lineup
        self.seating = self.match.lineups[lineup]
        self.seeds = self.match.seat_seeds(deal, lineup)
        self.state = self._dealt()
        self.decisions, self.seconds = [0] * len(self.seating), [0.0] * len(self.seating)
        self.error: str | None = None
        self.statistics: GameStatistics | None = None
        self._check, self._most_plies = ResultCheck(self.state), self.match.game.max_length(self.match.options)
        self.agents = [crew.take(agent) for agent in self.seating]
        self.players: list[Seat | AgentProxy] = []
        self._begin()
        self._observers = [(player, seat) for player, seat in enumerate(self.players) if seat.is_observer]

    def _dealt(self) -> State:
        game, seed = self.match.game, self.match.deal_seed(self.deal)
        try:
            return game.state_type(game, self.match.options, seed=seed)
        except Exception as error:  # whatever is raised is the game's failure
            raise _DealError(f"{game.name} cannot deal seed {seed}: {type(error).__name__}: {error}") from error

    def _begin(self) -> None:
        self.players = [Seat(made, p, self.seeds[p]) for p, made in enumerate(self.agents)]
        for player, agent in enumerate(self.seating):
            if not self.crew.batched[agent] and not self._safely(player, self.players[player].begin, self.state):
                return

    def _safely(self, player: int, call: Callable[..., Any], *arguments: Any) -> bool:
        """Call an agent. Returns whether it did not fail; if it did, the failure is noted."""
        try:
            call(*arguments)
        except Exception as error:  # whatever an agent raises is the agent's failure
            self.fail(player, error)
            return False
        return True

    def finish(self) -> None:
        """The game is over: tell the agents, refuse a result that the game rules out, and free the seats."""
        for player, seat in enumerate(self.players):
            if not self._safely(player, seat.end, self.state):
                return
        fault = self._check.fault(self.state)
        if fault is not None:
            self._blame_game(f"cannot end so: {fault}")
            return
        if self.crew.settings.statistics:
            try:
                self.statistics = self.match.game.view.statistics(self.state)
            except Exception as error:  # whatever is raised is the game's failure
                self._blame_game(f"has no statistics: {type(error).__name__}: {error}")
                return
        for agent, made in zip(self.seating, self.agents, strict=True):
            self.crew.give_back(agent, made)

    def _blame_game(self, what: str) -> None:
        """Note that the game is at fault, not an agent."""
        self.error = f"deal {self.deal} (seed {self.state.seed}), lineup {self.lineup}, {what}"

    def abandon(self) -> None:
        """The game has failed: free the seats."""
        for agent, made in zip(self.seating, self.agents, strict=True):
            self.crew.drop(agent, made)

    @property
    def to_act(self) -> int:
        """The number of the agent to act."""
        return self.seating[self.state.current_player]

    def turn(self) -> Turn:
        """The turn of the player to act."""
        return self.players[self.state.current_player].turn(self.state)

    def choose(self) -> None:
        """Ask the agent to act, and apply what it chooses."""
        player = self.state.current_player
        self._safely(player, lambda: self._apply(self.players[player].decide(self.state)))

    def answered(self, turn: Turn, action: Any, seconds: float) -> None:
        """Apply what was chosen in a batch."""
        player = self.state.current_player
        self._safely(player, lambda: self._apply(self.players[player].accept(self.state, turn, action, seconds)))

    def _apply(self, decision: Decision) -> None:
        self.decisions[decision.player] += 1
        self.seconds[decision.player] += decision.seconds
        self.state.apply(decision.action)
        for player, seat in self._observers:
            if not self._safely(player, seat.observe, self.state):
                return
        if self.state.ply >= self._most_plies and not self.state.is_terminal:
            self._blame_game(
                f"is not over after {self._most_plies} actions, the most that {self.match.game.name} can have"
            )

    def fail(self, player: int, error: Exception) -> None:
        """Note whose failure it is, what went wrong and where: a line, then the traceback of what the agent raised."""
        names = [self.match.names[agent] for agent in self.seating]
        where = f"deal {self.deal} (seed {self.state.seed}), ply {self.state.ply}, as player_{player} of {names}"
        raised = not isinstance(error, AgentError)
        what = " ".join(f"{type(error).__name__}: {error}".split()) if raised else " ".join(str(error).split())
        notes = getattr(error, "__notes__", ())  # of an agent in a process: the traceback there
        trace = "\n".join(["", *notes]) if not raised else "\n" + "".join(traceback.format_exception(error)).rstrip()
        self.error = f"agent {names[player]!r} failed in {where}: {what}{trace}"

    def record(self) -> GameRecord:
        """What the store keeps of the game."""
        return GameRecord(
            self.deal,
            self.lineup,
            self.state.seed,
            self.seating,
            () if self.error else tuple(self.state.returns),
            tuple(self.state.actions),
            tuple(self.decisions),
            tuple(self.seconds),
            self.error,
            digest=None if self.error else Replay.of(self.state).digest,
            statistics=self.statistics,
            **self._noted(),
        )

    def _noted(self) -> dict[str, Any]:
        return {}


class _GuardedTable(_Table):
    """One game in progress between proxies, whose agents can fail without ending it."""

    def _begin(self) -> None:
        from cardenvs.agents.guarded.proxy import AgentProxy

        self._log: list[Decision] = []
        for player, agent in enumerate(self.seating):
            if self.crew.batched[agent]:  # it is one agent for all tables, but each seat has failures of its own
                shared = self.agents[player]
                self.agents[player] = AgentProxy(_inner(shared), self.match.guard, shared.name)
        self.players = list(self.agents)
        self._failures_before = [Counter(proxy.failures) for proxy in self.agents]
        for player, proxy in enumerate(self.agents):
            proxy.begin(self.state, player, self.seeds[player])

    def answered(self, turn: Turn, action: Any, seconds: float) -> None:
        try:
            checked_choice(self.state, action)
        except AgentError:  # asked alone, it has its tries
            self.choose()
        else:
            super().answered(turn, int(action), seconds)

    def _apply(self, decision: Decision) -> None:
        if decision.notes or decision.failures or decision.outcome != OK:
            self._log.append(decision)
        super()._apply(decision)

    def _noted(self) -> dict[str, Any]:
        pairs = zip(self.agents, self._failures_before, strict=True)
        return {
            "failures": tuple(dict(sorted((proxy.failures - before).items())) for proxy, before in pairs),
            "outcomes": tuple(
                dict(Counter(d.outcome for d in self._log if d.player == player and d.outcome != OK))
                for player in range(len(self.seating))
            ),
            "notes": tuple(_as_json(decision) for decision in self._log),
        }


def _as_json(decision: "Decision") -> dict[str, Any]:
    return {
        "ply": decision.ply,
        "player": decision.player,
        "outcome": decision.outcome,
        "seconds": decision.seconds,
        "failures": [{"kind": failure.kind, "message": failure.message} for failure in decision.failures],
        "notes": decision.notes,
    }


def _step(crew: AgentPool, tables: list[_Table]) -> _Table | None:
    """One decision at every table. Returns the first table at which it failed, if any."""
    waiting: dict[int, list[_Table]] = {}
    for table in tables:
        waiting.setdefault(table.to_act, []).append(table)
    for agent, asking in waiting.items():
        if crew.batched[agent]:
            _choose_together(asking)
        else:
            for table in asking:
                table.choose()
                if table.error:
                    break
        failed = next((table for table in asking if table.error), None)
        if failed is not None:
            return failed
    return None


def _choose_together(tables: list[_Table]) -> None:
    first = tables[0]
    agent = cast(BatchAgent, _inner(first.agents[first.state.current_player]))
    turns = [table.turn() for table in tables]
    try:
        actions, seconds = _timed(agent.act_batch, turns)
        if len(actions) != len(tables):
            raise AgentError(f"its act_batch was given {len(tables)} turns and returned {len(actions)} actions")
    except Exception as error:  # as above; which of the tables it was about cannot be known
        if first.match.guard is None:
            first.fail(first.state.current_player, error)
            return
        for table in tables:  # one by one: only those that it is about fail
            table.choose()
        return
    for table, turn, action in zip(tables, turns, actions, strict=True):
        table.answered(turn, action, seconds / len(tables))


def _timed(call: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    started = time.perf_counter()
    result = call(*arguments)
    return result, time.perf_counter() - started
