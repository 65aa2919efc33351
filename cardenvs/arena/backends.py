"""Where the games of a plan are played: in this process, or in worker processes. The Ray backend is in arena/ray.py.

A backend is a context manager. Entering it makes the agents of every match, so that one that cannot be made fails at
once; `play` takes games from a Plan and yields them as they finish; leaving it ends everything that it started.
"""

import contextlib
import functools
from collections.abc import Generator, Iterator, Sequence
from typing import Self

from cardenvs.arena.match import Match
from cardenvs.arena.plan import Plan
from cardenvs.arena.play import AgentPool, PlaySettings, play_games
from cardenvs.arena.records import GameRecord, Job
from cardenvs.arena.workers import WorkerPool

Finished = Generator[tuple[int, GameRecord], None, None]  # (number of the match, game)


class Backend:
    """Plays all games in this process."""

    def __init__(self, matches: Sequence[Match], settings: PlaySettings, processes: int = 1) -> None:
        """Prepare to play the matches of a plan, in its order. Only subclasses take more than one process."""
        self._matches, self._settings, self._processes = list(matches), settings, processes
        self._pools: list[AgentPool] = []
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Make the agents. Raises AgentError, PolicyNotFoundError or MissingExtraError if an agent cannot be made."""
        with contextlib.ExitStack() as stack:
            for match in self._matches:
                self._pools.append(AgentPool(match, self._settings))
                stack.callback(self._pools[-1].close)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def play(self, plan: Plan) -> Finished:
        """Play the games of a plan and yield each as it ends."""
        while (taken := plan.jobs()) is not None:
            number, jobs = taken
            for record in play_games(self._pools[number], jobs):
                yield number, record

    def _play_first_games(self, plan: Plan) -> Finished:
        """Play one game of each match here, which compiles the game and tests the agents; then close the agents."""
        for number, pool in enumerate(self._pools):
            for record in play_games(pool, iter(plan.take_of(number, 1))):
                yield number, record
        self._stack.close()


class ProcessBackend(Backend):
    """Plays the first game of each match in this process, and the others in worker processes."""

    def play(self, plan: Plan) -> Finished:
        """Play the games of a plan and yield each as it ends."""
        yield from self._play_first_games(plan)
        if plan.is_over:
            return
        make_player = functools.partial(MatchPlayer, self._matches, self._settings)
        rescue = functools.partial(self._rescued, plan) if self._settings.keep_going else None
        with WorkerPool(min(self._processes, max(1, plan.left)), make_player, rescue) as workers:
            yield from workers.play(plan)

    def _rescued(self, plan: Plan, unfinished: list[tuple[int, Job]], exit_code: int | None) -> Finished:
        """Yield the game on which a worker died as a failed one, and put its other games back."""
        if unfinished:
            (number, (deal, lineup)), *others = unfinished
            plan.put_back(reversed(others))
            match = self._matches[number]
            why = f"the process that played it ended (exit code {exit_code})"
            yield number, GameRecord.lost(deal, lineup, match.deal_seed(deal), match.lineups[lineup], why)


class MatchPlayer:
    """Plays games of several matches in a worker, making each match's agents when first needed."""

    def __init__(self, matches: Sequence[Match], settings: PlaySettings) -> None:
        self._matches, self._settings = matches, settings
        self._pools: dict[int, AgentPool] = {}

    def play(self, number: int, jobs: Iterator[Job]) -> Iterator[GameRecord]:
        """Play games of match `number` and yield them as they end."""
        if number not in self._pools:
            self._pools[number] = AgentPool(self._matches[number], self._settings)
        yield from play_games(self._pools[number], jobs)

    def close(self) -> None:
        """Close all agents."""
        for pool in self._pools.values():
            pool.close()
