"""Playing the games of a match in one process, many side by side."""

import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, cast

from cardenvs.agents.base import Agent, BatchAgent, Turn
from cardenvs.agents.specs import make_agent
from cardenvs.arena.match import Match
from cardenvs.arena.store import GameRecord
from cardenvs.core.engine import FORFEIT
from cardenvs.core.errors import AgentError, IllegalActionError
from cardenvs.core.state import State

Job = tuple[int, int]  # (deal, lineup)
Records = Generator[GameRecord, None, None]


def play_games(match: Match, jobs: Iterable[Job], batch: int) -> Records:
    """Play games and yield each when it is over.

    What a game comes to depends on its deal and lineup alone. An agent that fails ends the play: the last record has
    its `error` set.

    Args:
        match: whose games.
        jobs: which of them; taken as there is room.
        batch: how many to play side by side where an agent has `act_batch`; one after the other where none has.

    Raises:
        AgentError, PolicyNotFoundError, MissingExtraError: an agent cannot be made.
    """
    crew = _Crew(match)  # before the first game is asked for: an agent that cannot be made is known at once
    return _play(match, crew, iter(jobs), batch if crew.has_batches else 1)


def _play(match: Match, crew: "_Crew", jobs: Iterator[Job], room: int) -> Records:
    tables: list[_Table] = []
    while True:
        while len(tables) < room and (job := next(jobs, None)) is not None:
            tables.append(_Table(match, *job, crew))
        if not tables:
            return
        failed = next((table for table in tables if table.error), None) or _step(crew, tables)
        if failed is not None:
            yield failed.record()
            return
        over = [table for table in tables if table.state.is_terminal]
        tables = [table for table in tables if not table.state.is_terminal]
        for table in over:
            table.leave(crew)
            yield table.record()


class _Crew:
    """The agents of a match in this process: one of each that answers in batches, of the others one a table."""

    def __init__(self, match: Match) -> None:
        self._match = match
        self._free: list[list[Agent]] = [[self._make(agent)] for agent in range(len(match.agents))]
        self.batched = [isinstance(free[0], BatchAgent) for free in self._free]
        self.has_batches = any(self.batched)

    def _make(self, agent: int) -> Agent:
        return make_agent(self._match.agents[agent], self._match.game, self._match.options)

    def take(self, agent: int) -> Agent:
        if self.batched[agent]:
            return self._free[agent][0]
        return self._free[agent].pop() if self._free[agent] else self._make(agent)

    def give_back(self, agent: int, made: Agent) -> None:
        if not self.batched[agent]:
            self._free[agent].append(made)


class _Table:
    """One game in progress."""

    def __init__(self, match: Match, deal: int, lineup: int, crew: _Crew) -> None:
        self._match = match
        self.deal, self.lineup = deal, lineup
        self.seating = match.lineups[lineup]
        self.seeds = [match.agent_seed(deal, agent) for agent in self.seating]
        self.state = match.game.state_type(match.game, match.options, seed=match.deal_seed(deal))
        self.agents = [crew.take(agent) for agent in self.seating]
        self.decisions, self.seconds = [0] * len(self.seating), [0.0] * len(self.seating)
        self.error: str | None = None
        self._reset(crew)

    def _reset(self, crew: _Crew) -> None:
        for player, agent in enumerate(self.seating):
            if crew.batched[agent]:
                continue
            try:
                self.agents[player].reset(self.seeds[player])
            except Exception as error:  # whatever an agent raises is the agent's failure
                self.fail(player, error)
                return

    def leave(self, crew: _Crew) -> None:
        for agent, made in zip(self.seating, self.agents, strict=True):
            crew.give_back(agent, made)

    @property
    def to_act(self) -> int:
        """The number of the agent to act."""
        return self.seating[self.state.current_player]

    def turn(self) -> Turn:
        return Turn(self.state, self.seeds[self.state.current_player])

    def apply(self, action: Any, seconds: float) -> None:
        player = self.state.current_player
        self.decisions[player] += 1
        self.seconds[player] += seconds
        apply_choice(self.state, action)

    def fail(self, player: int, error: Exception) -> None:
        """Note whose failure it is, what went wrong and where: a line, then the traceback of what the agent raised."""
        names = [self._match.names[agent] for agent in self.seating]
        where = f"deal {self.deal} (seed {self.state.seed}), ply {self.state.ply}, as player_{player} of {names}"
        raised = not isinstance(error, AgentError)
        what = " ".join(f"{type(error).__name__}: {error}".split()) if raised else str(error)
        trace = "\n" + "".join(traceback.format_exception(error)).rstrip() if raised else ""
        self.error = f"agent {names[player]!r} failed in {where}: {what}{trace}"

    def record(self) -> GameRecord:
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
        )


def apply_choice(state: State, action: Any) -> None:
    """Apply what an agent chose.

    Raises:
        AgentError: the choice is not legal; the state is unchanged.
    """
    try:
        state.check_legal(action)
    except IllegalActionError as error:
        raise AgentError(f"it chose what is not legal: {error}") from None
    if action >= FORFEIT:
        raise AgentError(f"it chose the code {action}, which takes a player out of the game; agents may not")
    state.apply(action)


def _step(crew: _Crew, tables: list[_Table]) -> _Table | None:
    """One decision at every table. Returns the first table at which it failed, if any."""
    waiting: dict[int, list[_Table]] = {}
    for table in tables:
        waiting.setdefault(table.to_act, []).append(table)
    for agent, asking in waiting.items():
        choose = _choose_together if crew.batched[agent] else _choose_singly
        failed = choose(asking)
        if failed is not None:
            return failed
    return None


def _choose_singly(tables: list[_Table]) -> _Table | None:
    for table in tables:
        player = table.state.current_player
        try:
            action, seconds = _timed(table.agents[player].act, table.turn())
            table.apply(action, seconds)
        except Exception as error:  # whatever an agent raises is the agent's failure
            table.fail(player, error)
            return table
    return None


def _choose_together(tables: list[_Table]) -> _Table | None:
    first = tables[0]
    agent = cast(BatchAgent, first.agents[first.state.current_player])
    try:
        actions, seconds = _timed(agent.act_batch, [table.turn() for table in tables])
        if len(actions) != len(tables):
            raise AgentError(f"its act_batch was given {len(tables)} turns and returned {len(actions)} actions")
    except Exception as error:  # as above; which of the tables it was about cannot be known
        first.fail(first.state.current_player, error)
        return first
    for table, action in zip(tables, actions, strict=True):
        player = table.state.current_player
        try:
            table.apply(action, seconds / len(tables))
        except AgentError as error:
            table.fail(player, error)
            return table
    return None


def _timed(call: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    started = time.perf_counter()
    result = call(*arguments)
    return result, time.perf_counter() - started
