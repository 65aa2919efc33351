"""Play the games of a match in one process, many side by side."""

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
from cardenvs.agents.observers import GameObserver, Watched
from cardenvs.agents.python import raised_text
from cardenvs.agents.seating import OK, Decision, Seat, checked_choice
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
    """How games are played, without effect on their results."""

    # games played side by side in a process if an agent has `act_batch` or is `io_bound`. Without such an agent, or
    # with `keep_going`, games are played one after another.
    batch: int = 64
    keep_going: bool = False  # record a game that fails with its error, and play the others
    statistics: bool = False  # record each game's statistics
    # makers of observers, which make one observer per game; must be picklable for other processes
    observers: tuple[Callable[[], GameObserver], ...] = ()

    def __post_init__(self) -> None:
        """Check the batch size."""
        if self.batch < 1:
            raise ArenaError(f"a batch needs at least one game; got {self.batch}")

    @property
    def side_by_side(self) -> int:
        """Games in progress at once: 1 with `keep_going`, so that a dying process can be blamed on its game."""
        return 1 if self.keep_going else self.batch


DEFAULT_SETTINGS = PlaySettings()


def play_games(pool: "AgentPool", jobs: Iterator[Job]) -> Records:
    """Play games and yield each as it ends; jobs are taken as tables become free.

    A game's result depends on its deal and lineup alone. Without `keep_going`, play ends at the first failed game: its
    record comes last, with `error` set.

    Raises:
        AgentError, PolicyNotFoundError, MissingExtraError: an agent cannot be made.
    """
    batch = pool.settings.side_by_side
    if pool.io_bound and batch > 1:
        return _play_in_threads(pool, jobs, batch)
    return _play(pool, jobs, batch if pool.has_batches else 1)


class _DealError(ArenaError):
    """The game's rules raised an error while dealing."""


def _play(pool: "AgentPool", jobs: Iterator[Job], room: int) -> Records:
    tables: list[_Table] = []
    while True:
        while len(tables) < room and (job := next(jobs, None)) is not None:
            try:
                tables.append(pool.table(*job))
            except _DealError as error:
                if not pool.settings.keep_going:
                    raise
                yield pool.lost(*job, str(error))
        if not tables:
            return
        failed = next((table for table in tables if table.error), None) or _step(pool, tables)
        if failed is not None:
            yield failed.record()
            if not pool.settings.keep_going:
                return
            failed.abandon()
            tables.remove(failed)
        over = [table for table in tables if table.state.is_terminal]
        tables = [table for table in tables if not table.state.is_terminal]
        for table in over:
            table.finish()
            yield table.record()
            if table.error:
                if not pool.settings.keep_going:
                    return
                table.abandon()


def _play_in_threads(pool: "AgentPool", jobs: Iterator[Job], room: int) -> Records:
    """Play each table in its own thread, so that agents wait for servers or processes in parallel."""
    stopped = threading.Event()
    playing: dict[Future[None], _Table] = {}
    with ThreadPoolExecutor(room) as executor:
        try:
            while True:
                while len(playing) < room and (job := next(jobs, None)) is not None:
                    table = pool.table(*job)
                    playing[executor.submit(_play_one, pool, table, stopped)] = table
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
            stopped.set()  # games in progress stop after their current decision


def _play_one(pool: "AgentPool", table: "_Table", stopped: threading.Event) -> None:
    while not (table.error or table.state.is_terminal or stopped.is_set()):
        _step(pool, [table])


class AgentPool:
    """The agents of a match in this process: one instance of each batched agent, one per table of the others."""

    def __init__(self, match: Match, settings: PlaySettings = DEFAULT_SETTINGS) -> None:
        """Make each agent once.

        Raises:
            AgentError, PolicyNotFoundError, MissingExtraError: an agent cannot be made.
        """
        self.match = match
        self.settings = settings  # how its games are played
        self._free: list[list[Any]] = [[self._make(agent)] for agent in range(len(match.entries))]
        first = [_inner(free[0]) for free in self._free]
        # whether any agent spends its time waiting, so that games are played side by side in threads
        self.io_bound = any(getattr(agent, "io_bound", False) for agent in first)
        # by agent, whether it answers in batches
        self.batched = [isinstance(agent, BatchAgent) and not self.io_bound for agent in first]

    @property
    def has_batches(self) -> bool:
        """Whether any agent answers in batches."""
        return any(self.batched)

    def _make(self, agent: int) -> "Agent | AgentProxy":
        match = self.match
        if match.guard is None:
            return match.entries[agent].make(match.game, match.options)
        from cardenvs.agents.guarded.proxy import AgentProxy

        spec, name = match.specs[agent], match.names[agent]
        guest = match.guest if match.guest is not None and match.guest.name == name else None
        return AgentProxy.of(spec, match.game, match.options, match.guard, name, guest)

    def table(self, deal: int, lineup: int) -> "_Table":
        """Return a table at which a game begins."""
        seated = _Table if self.match.guard is None else _GuardedTable
        return seated(self, deal, lineup)

    def lost(self, deal: int, lineup: int, why: str) -> GameRecord:
        """Return the record of a game that could not begin."""
        return GameRecord.lost(deal, lineup, self.match.deal_seed(deal), self.match.lineups[lineup], why)

    def take(self, agent: int) -> Any:
        """Return an instance of an agent for one seat."""
        if self.batched[agent]:
            return self._free[agent][0]
        return self._free[agent].pop() if self._free[agent] else self._make(agent)

    def give_back(self, agent: int, made: Any) -> None:
        """Return an instance to the pool after its game."""
        if not self.batched[agent]:
            self._free[agent].append(made)

    def drop(self, agent: int, made: Any) -> None:
        """Close an instance after a failed game, or keep it if it starts a new process for each game."""
        if self.batched[agent] or getattr(made, "is_isolated", False):
            self.give_back(agent, made)
            return
        with contextlib.suppress(Exception):  # a failed agent may also fail to close
            close_agent(made)

    def close(self) -> None:
        """Close all agents."""
        for made in (made for free in self._free for made in free):
            close_agent(made)
        self._free = [[] for _ in self._free]


def close_agent(made: Any) -> None:
    """Close an agent, if it can be closed."""
    close = getattr(made, "close", None)
    if callable(close):
        close()


def _inner(made: Any) -> Any:
    """Return the agent behind a proxy, or the agent itself."""
    from cardenvs.agents.guarded.proxy import AgentProxy

    return made.agent if isinstance(made, AgentProxy) else made


class _Table:
    """One game in progress."""

    def __init__(self, pool: AgentPool, deal: int, lineup: int) -> None:
        self.pool, self.match = pool, pool.match
        self.deal, self.lineup = deal, lineup
        self.seating = self.match.lineups[lineup]
        self.seeds = self.match.seat_seeds(deal, lineup)
        self.state = self._dealt()
        self.decisions, self.seconds = [0] * len(self.seating), [0.0] * len(self.seating)
        self.error: str | None = None
        self.statistics: GameStatistics | None = None
        self._check, self._most_plies = ResultCheck(self.state), self.match.game.max_length(self.match.options)
        self.agents = [pool.take(agent) for agent in self.seating]
        self.players: list[Seat | AgentProxy] = []
        makers = pool.settings.observers
        self._watched = Watched(self.state, [make() for make in makers]) if makers else None
        self._begin()
        self._observers = [(player, seat) for player, seat in enumerate(self.players) if seat.is_observer]

    def _dealt(self) -> State:
        game, seed = self.match.game, self.match.deal_seed(self.deal)
        try:
            return game.state_type(game, self.match.options, seed=seed)
        except Exception as error:  # any exception is the game's failure
            raise _DealError(f"{game.name} cannot deal seed {seed}: {type(error).__name__}: {error}") from error

    def _begin(self) -> None:
        guests = [self.match.entries[agent].is_guest for agent in self.seating]
        self.players = [Seat(made, p, self.seeds[p], guests[p]) for p, made in enumerate(self.agents)]
        for player, agent in enumerate(self.seating):
            if not self.pool.batched[agent] and not self._safely(player, self.players[player].begin, self.state):
                return

    def _safely(self, player: int, call: Callable[..., Any], *arguments: Any) -> bool:
        """Call an agent. Return True, or record the failure and return False."""
        try:
            call(*arguments)
        except Exception as error:  # any exception is the agent's failure
            self.fail(player, error)
            return False
        return True

    def finish(self) -> None:
        """End the game: notify the agents, check the result against the game's bounds, and free the seats."""
        for player, seat in enumerate(self.players):
            if not self._safely(player, seat.end, self.state):
                return
        if self._watched is not None:
            self._watched.ended(self.state)
        fault = self._check.fault(self.state)
        if fault is not None:
            self._blame_game(f"cannot end like this: {fault}")
            return
        if self.pool.settings.statistics:
            try:
                self.statistics = self.match.game.view.statistics(self.state)
            except Exception as error:  # any exception is the game's failure
                self._blame_game(f"has no statistics: {type(error).__name__}: {error}")
                return
        for agent, made in zip(self.seating, self.agents, strict=True):
            self.pool.give_back(agent, made)

    def _blame_game(self, what: str) -> None:
        """Record a failure that is the game's fault, not an agent's."""
        self.error = f"deal {self.deal} (seed {self.state.seed}), lineup {self.lineup}, {what}"

    def abandon(self) -> None:
        """Free the seats after a failed game."""
        for agent, made in zip(self.seating, self.agents, strict=True):
            self.pool.drop(agent, made)

    @property
    def to_act(self) -> int:
        """The number of the agent to act."""
        return self.seating[self.state.current_player]

    def ask(self) -> None:
        """Tell the observers that the player to act is about to be asked."""
        if self._watched is not None:
            self._watched.asks(self.state)

    def turn(self) -> Turn:
        """Return the turn of the player to act."""
        return self.players[self.state.current_player].turn(self.state)

    def choose(self) -> None:
        """Ask the agent to act and apply its action."""
        player = self.state.current_player
        self._safely(player, lambda: self._apply(self.players[player].decide(self.state)))

    def answered(self, turn: Turn, action: Any, seconds: float) -> None:
        """Apply an action that was chosen in a batch."""
        player = self.state.current_player
        self._safely(player, lambda: self._apply(self.players[player].accept(self.state, turn, action, seconds)))

    def _apply(self, decision: Decision) -> None:
        self.decisions[decision.player] += 1
        self.seconds[decision.player] += decision.seconds
        if self._watched is not None:
            self._watched.acts(self.state, decision)
        self.state.apply(decision.action)
        if self._watched is not None:
            self._watched.happened(self.state)
        for player, seat in self._observers:
            if not self._safely(player, seat.observe, self.state):
                return
        if self.state.ply >= self._most_plies and not self.state.is_terminal:
            self._blame_game(
                f"is not over after {self._most_plies} actions, the most that {self.match.game.name} allows"
            )

    def fail(self, player: int, error: Exception) -> None:
        """Record an agent's failure: one line with agent, place and cause, then the agent's traceback."""
        names = [self.match.names[agent] for agent in self.seating]
        where = f"deal {self.deal} (seed {self.state.seed}), ply {self.state.ply}, as player_{player} of {names}"
        raised = not isinstance(error, AgentError)
        what = raised_text(error) if raised else " ".join(str(error).split())
        notes = getattr(error, "__notes__", ())  # a process agent adds its traceback as a note
        trace = "\n".join(["", *notes]) if not raised else "\n" + "".join(traceback.format_exception(error)).rstrip()
        self.error = f"agent {names[player]!r} failed in {where}: {what}{trace}"

    def record(self) -> GameRecord:
        """Return the record of the game for the store."""
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
    """One game in progress between agent proxies, which can fail without ending it."""

    def _begin(self) -> None:
        from cardenvs.agents.guarded.proxy import AgentProxy

        self._log: list[Decision] = []
        for player, agent in enumerate(self.seating):
            if self.pool.batched[agent]:  # tables share the agent, but each seat counts its own failures
                shared = self.agents[player]
                self.agents[player] = AgentProxy(_inner(shared), self.match.guard, shared.name, shared.guest)
        self.players = list(self.agents)
        self._failures_before = [Counter(proxy.failures) for proxy in self.agents]
        for player, proxy in enumerate(self.agents):
            proxy.begin(self.state, player, self.seeds[player])

    def answered(self, turn: Turn, action: Any, seconds: float) -> None:
        try:
            checked_choice(self.state, action)
        except AgentError:  # asked again alone, with all its tries
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


def _step(pool: AgentPool, tables: list[_Table]) -> _Table | None:
    """Make one decision at every table. Return the first table where it failed, or None."""
    waiting: dict[int, list[_Table]] = {}
    for table in tables:
        table.ask()
        waiting.setdefault(table.to_act, []).append(table)
    for agent, asking in waiting.items():
        if pool.batched[agent]:
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
    except Exception as error:  # the exception does not say which table is at fault
        if first.match.guard is None:
            first.fail(first.state.current_player, error)
            return
        for table in tables:  # asked alone, only the tables at fault fail
            table.choose()
        return
    for table, turn, action in zip(tables, turns, actions, strict=True):
        table.answered(turn, action, seconds / len(tables))


def _timed(call: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    started = time.perf_counter()
    result = call(*arguments)
    return result, time.perf_counter() - started
