"""Playing matches: in this process, in several, or on a Ray cluster; going on where an earlier run stopped.

The parent hands out games and is the only one to write. Who plays which games does not matter: a game depends on its
deal and lineup alone. A backend takes games from a Plan and yields them as they finish; the caller enters
each into the store and reports it to the plan, which may then open more deals.
"""

import contextlib
import functools
import itertools
import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, Literal

from cardenvs.arena.match import Match
from cardenvs.arena.plan import Plan, Stop
from cardenvs.arena.play import AgentPool, PlaySettings, play_games
from cardenvs.arena.records import GameRecord, Job
from cardenvs.arena.store import Store
from cardenvs.arena.workers import WorkerPool, chunk_size, prepare_worker
from cardenvs.core.errors import AgentError, ArenaError, CardenvsError, require

_LARGEST_REMOTE_CHUNK = 32  # games handed at once to a worker of a cluster, which returns them together
_REPORT_EVERY_S = 0.1

Backend = Literal["local", "ray"]
Finished = Generator[tuple[int, GameRecord], None, None]  # games with the number of their match
Progress = Callable[[int, int], None]
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
    backend: Backend = "local",
    keep_going: bool = False,
    statistics: bool = False,
    only: Sequence[int] | None = None,
    progress: Progress | None = None,
    each: EachGame | None = None,
) -> bool:
    """Play the games of `matches` that `store` has not yet.

    Args:
        matches: what to play; the games of the first come first.
        store: where finished games are kept.
        resume, processes, batch, keep_going, statistics, progress: see Match.run. On Ray, `processes` is the number of
            its workers, and with `keep_going` a worker that dies still ends the play.
        stop: end a match early once it meets this.
        seconds: begin no game after so long; what is missing is left to a later run.
        backend: "local", or "ray" for the Ray cluster of this environment (a local one if there is none).
        only: play these deals, in ascending order; None: all.
        each: called with each game as soon as it is over, failed ones included.

    Returns:
        Whether the matches are complete: False if time ran out.

    Raises:
        ArenaError: the store has games of a match and `resume` is not set, or cannot be used.
        AgentError: a game failed, and `keep_going` is not set. Finished games are kept.
        MissingExtraError: Ray is asked for and not installed.
    """
    if processes < 1:
        raise ArenaError(f"a match needs at least one process; got {processes}")
    settings = PlaySettings(batch, keep_going, statistics)
    matches = [store.seeded(match, resume) for match in matches]
    for match in matches:
        store.begin(match)
    matches = [store.seeded(match) for match in matches]  # another run may have entered them first
    plan = _plan(matches, store, resume, stop, seconds, only)
    if not plan.left:
        return True
    play = _play_on_ray if backend == "ray" else _play_here if processes == 1 else _play_apart
    finished = play(plan, matches, processes, settings)
    reporter = _ProgressReporter(plan, progress)
    try:
        with contextlib.closing(finished):
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


def _plan(
    matches: Sequence[Match],
    store: Store,
    resume: bool,
    stop: Stop | None,
    seconds: float | None,
    only: Sequence[int] | None,
) -> Plan:
    for match in matches:
        done = store.count(match.id)
        if done and not resume:
            raise ArenaError(
                f"the store already has {done} games of this match; resume it, or choose another store or seed"
            )
    return Plan(matches, [store.results(match.id) for match in matches], stop, seconds, only)


class _ProgressReporter:
    """Calls `progress` now and then."""

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


# ---------------------------------------------------------------------------------------------------------------
# In this process


def _play_here(plan: Plan, matches: Sequence[Match], processes: int, settings: PlaySettings) -> Finished:
    """Play all games here. Agents are made before the first game: one that cannot be made is known at once."""
    return _play_with([AgentPool(match, settings) for match in matches], plan)


def _play_with(crews: list[AgentPool], plan: Plan) -> Finished:
    with contextlib.ExitStack() as stack:
        for crew in crews:
            stack.callback(crew.close)
        while (taken := plan.jobs()) is not None:
            number, jobs = taken
            for record in play_games(crews[number], jobs):
                yield number, record


# ---------------------------------------------------------------------------------------------------------------
# Several processes


def _play_apart(plan: Plan, matches: Sequence[Match], processes: int, settings: PlaySettings) -> Finished:
    """Play a game of each match here, which compiles and shows whether the agents work; then start workers."""
    crews = [AgentPool(match, settings) for match in matches]
    return _play_rest_apart(crews, plan, matches, processes, settings)


def _play_rest_apart(
    crews: list[AgentPool], plan: Plan, matches: Sequence[Match], processes: int, settings: PlaySettings
) -> Finished:
    yield from _play_first_games(crews, plan)
    if not plan.is_over:
        make_player = functools.partial(_MatchPlayer, list(matches), settings)
        rescue = functools.partial(_rescued, plan, matches) if settings.keep_going else None
        with WorkerPool(min(processes, max(1, plan.left)), make_player, rescue) as workers:
            yield from workers.play(plan)


def _rescued(
    plan: Plan, matches: Sequence[Match], unfinished: list[tuple[int, Job]], exit_code: int | None
) -> Finished:
    """The failed game of a worker that has died. Its other games are played by others."""
    if unfinished:
        (number, job), *others = unfinished
        plan.put_back(reversed(others))
        why = f"the process that played it ended (exit code {exit_code})"
        yield number, GameRecord.lost(matches[number], *job, why)


def _play_first_games(crews: list[AgentPool], plan: Plan) -> Finished:
    """A game of each match. The agents made for it are let go again."""
    for number, crew in enumerate(crews):
        with contextlib.closing(crew):
            jobs = plan.take_of(number, 1)
            for record in play_games(crew, iter(jobs)):
                yield number, record


class _MatchPlayer:
    """Plays games of some matches, whose agents it makes as they are needed."""

    def __init__(self, matches: Sequence[Match], settings: PlaySettings) -> None:
        self._matches, self._settings = matches, settings
        self._crews: dict[int, AgentPool] = {}

    def play(self, number: int, jobs: Iterator[Job]) -> Iterator[GameRecord]:
        """The games of match `number`."""
        if number not in self._crews:
            self._crews[number] = AgentPool(self._matches[number], self._settings)
        yield from play_games(self._crews[number], jobs)

    def close(self) -> None:
        """End what agents have running."""
        for crew in self._crews.values():
            crew.close()


# ---------------------------------------------------------------------------------------------------------------
# On a Ray cluster


def _play_on_ray(plan: Plan, matches: Sequence[Match], processes: int, settings: PlaySettings) -> Finished:
    require("ray", "ray")
    crews = [AgentPool(match, settings) for match in matches]
    return _play_rest_on_ray(crews, plan, matches, processes, settings)


def _play_rest_on_ray(
    crews: list[AgentPool], plan: Plan, matches: Sequence[Match], processes: int, settings: PlaySettings
) -> Finished:
    yield from _play_first_games(crews, plan)
    if plan.is_over:
        return
    import ray

    with _ray_cluster(processes):
        player = ray.remote(num_cpus=1)(_RemotePlayer)
        shared = ray.put(list(matches))
        free: list[Any] = [player.remote(shared, settings) for _ in range(processes)]
        playing: dict[Any, Any] = {}
        most = max(
            _LARGEST_REMOTE_CHUNK, settings.batch if any(crew.io_bound or crew.has_batches for crew in crews) else 0
        )
        try:
            while True:
                while free and (taken := plan.take(chunk_size(plan, processes, most))) is not None:
                    actor = free.pop()
                    playing[actor.play.remote(*taken)] = actor
                if not playing:
                    return
                (ready,), _ = ray.wait(list(playing), num_returns=1)
                free.append(playing.pop(ready))
                yield from _results_of(ray, ready)
        finally:
            for actor in itertools.chain(free, playing.values()):
                ray.kill(actor)


def _results_of(ray: Any, reference: Any) -> Finished:
    try:
        results, error = ray.get(reference)
    except ray.exceptions.RayError as lost:
        raise ArenaError(
            f"a Ray worker was lost ({type(lost).__name__}: {' '.join(str(lost).split())[:300]}); finished games are "
            "kept, resume to play the others"
        ) from lost
    yield from results
    if error is not None:
        raise error


@contextlib.contextmanager
def _ray_cluster(processes: int) -> Iterator[None]:
    """The cluster that RAY_ADDRESS names or this process has joined, else one of this machine for as long as needed."""
    import ray

    if ray.is_initialized():
        yield
        return
    if os.environ.get("RAY_ADDRESS"):
        ray.init(log_to_driver=False)
    else:
        ray.init(num_cpus=processes, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        yield
    finally:
        ray.shutdown()


class _RemotePlayer:
    """Plays handfuls of games in a process of the cluster."""

    def __init__(self, matches: list[Match], settings: PlaySettings) -> None:
        prepare_worker()
        self._player = _MatchPlayer(matches, settings)

    def play(self, number: int, jobs: list[Job]) -> tuple[list[tuple[int, GameRecord]], CardenvsError | None]:
        """The games of match `number`, and what was refused, if anything."""
        results: list[tuple[int, GameRecord]] = []
        try:
            results.extend((number, record) for record in self._player.play(number, iter(jobs)))
        except CardenvsError as error:
            return results, error
        return results, None
