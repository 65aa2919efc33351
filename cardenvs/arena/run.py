"""Play matches in this process, in several, or on a Ray cluster, continuing where an earlier run stopped.

Only the parent process hands out games and writes to the store. A game's result depends on its deal and lineup alone,
not on the process that plays it. A backend (cardenvs.arena.backends) takes games from a Plan and yields them as they
finish; `run` adds each to the store and reports it to the plan, which may then release more deals.
"""

import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from cardenvs.agents.observers import GameObserver
from cardenvs.arena.backends import Backend, ProcessBackend
from cardenvs.arena.match import Match
from cardenvs.arena.plan import Plan, Stop
from cardenvs.arena.play import PlaySettings
from cardenvs.arena.records import GameRecord
from cardenvs.arena.results.statistics import Summary, summarise
from cardenvs.arena.store import Store
from cardenvs.core.errors import AgentError, ArenaError

_REPORT_EVERY_S = 0.1

BackendName = Literal["local", "ray"]
Progress = Callable[[int, int], None]  # called with (games done, total games)
EachGame = Callable[[Match, GameRecord], None]


def run(
    matches: Sequence[Match],
    store: Store,
    *,
    resume: bool = False,
    processes: int = 1,
    batch: int = 64,
    stop: Stop | None = None,
    seconds: float | None = None,
    backend: BackendName = "local",
    keep_going: bool = False,
    statistics: bool = False,
    only: Sequence[int] | None = None,
    progress: Progress | None = None,
    each: EachGame | None = None,
    observers: Sequence[Callable[[], GameObserver]] = (),
) -> bool:
    """Play the games of `matches` that are missing from `store`.

    Args:
        matches: the matches, played in this order.
        store: where finished games are kept.
        resume, batch, keep_going, statistics, progress: see `run_match`.
        processes: number of processes; on Ray, of workers. A Ray worker that is lost is replaced and its games are
            played again, with or without `keep_going`.
        stop: rule that ends a match early.
        seconds: start no game after this many seconds; a later run plays the missing ones.
        backend: "local", or "ray" for the Ray cluster of this environment (a local one if there is none).
        only: play only these deals, in ascending order; None: all.
        each: called with each game as it ends, failed ones included.
        observers: makers of observers (cardenvs.agents.observers): each makes one per game, in the process that plays.

    Returns:
        True if the matches are complete, False if time ran out.

    Raises:
        ArenaError: the store cannot be used, or has games of a match and `resume` is not set.
        AgentError: a game failed, and `keep_going` is not set. Finished games are kept.
        MissingExtraError: backend "ray" without Ray installed.
    """
    if processes < 1:
        raise ArenaError(f"a match needs at least one process; got {processes}")
    settings = PlaySettings(batch, keep_going, statistics, tuple(observers))
    matches = [store.seeded(match, resume) for match in matches]
    for match in matches:
        store.begin(match)
    matches = [store.seeded(match) for match in matches]  # another run may have added them meanwhile
    for match in matches:
        _check_resumed(store, match, resume)
    plan = Plan(matches, [store.results(match.id) for match in matches], stop, seconds, only)
    if not plan.left:
        return True
    try:
        with (
            _backend_class(backend, processes)(matches, settings, processes) as playing,
            contextlib.closing(playing.play(plan)) as finished,
        ):
            reporter = _ProgressReporter(plan, progress)  # once all agents are made
            for number, record in finished:
                store.add(matches[number], record)
                if record.error and not keep_going:
                    store.write()
                    raise _failure(matches[number], store, record)
                plan.finished(number, record)
                if each is not None:
                    each(matches[number], record)
                reporter.report()
    finally:
        store.write()
    return not plan.out_of_time


def run_match(
    match: Match,
    store: str | Path | None = None,
    *,
    resume: bool = False,
    processes: int = 1,
    batch: int = 64,
    keep_going: bool = False,
    statistics: bool = False,
    progress: Progress | None = None,
) -> Summary:
    """Play the games of a match that are missing from its store, and summarise the match.

    Args:
        match: the match.
        store: path of an SQLite file that keeps finished games; None keeps them in memory.
        resume: continue a match that the store already has games of.
        processes: number of processes. A script that uses more than one needs the usual `if __name__ == "__main__":`.
        batch: games played side by side in a process if an agent has `act_batch`.
        keep_going: record a game that fails with its error, and play the others. Deals with a failed game are not in
            the summary.
        statistics: record each game's statistics; see View.statistics.
        progress: called regularly with (games done, total games).

    Raises:
        ArenaError: the store cannot be used, or has games of this match and `resume` is not set.
        AgentError: an agent failed, and `keep_going` is not set. Finished games are kept.
    """
    with Store(store) as opened:
        match = opened.seeded(match, resume)
        run(
            [match], opened, resume=resume, processes=processes, batch=batch, keep_going=keep_going,
            statistics=statistics, progress=progress,
        )  # fmt: skip
        return summarise(match, opened.records(match.id))


def _check_resumed(store: Store, match: Match, resume: bool) -> None:
    done = store.count(match.id)
    if done and not resume:
        raise ArenaError(
            f"the store already has {done} games of this match; resume it, or choose another store or seed"
        )


def _backend_class(name: BackendName, processes: int) -> type[Backend]:
    if name == "ray":
        from cardenvs.arena.ray import RayBackend

        return RayBackend
    return Backend if processes == 1 else ProcessBackend


class _ProgressReporter:
    """Calls `progress` at most every _REPORT_EVERY_S seconds, and at the end."""

    def __init__(self, plan: Plan, progress: Progress | None) -> None:
        self._plan, self._progress = plan, progress
        self._reported = -1.0
        self.report()

    def report(self) -> None:
        now = time.monotonic()
        is_over = self._plan.games_done == self._plan.num_games
        if self._progress is not None and (is_over or now - self._reported >= _REPORT_EVERY_S):
            self._reported = now
            self._progress(self._plan.games_done, self._plan.num_games)


def _failure(match: Match, store: Store, record: GameRecord) -> AgentError:
    line, _, trace = (record.error or "").partition("\n")
    kept = f" ({store.count(match.id)} finished games are kept in {store.path})" if store.path else ""
    error = AgentError(line + kept)
    if trace:
        error.add_note(trace)
    return error
