"""Play matches in this process, in several, or on a Ray cluster, continuing where an earlier run stopped.

The parent process hands out games, and only it writes to the store. It does not matter which process plays a game: a
result depends on the deal and lineup alone. A backend takes games from a Plan and yields them as they finish; `run`
adds each to the store and reports it to the plan, which may then release more deals.
"""

import contextlib
import functools
import os
import socket
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from cardenvs.agents.observers import GameObserver
from cardenvs.arena.match import Match
from cardenvs.arena.plan import Plan, Stop
from cardenvs.arena.play import AgentPool, PlaySettings, play_games
from cardenvs.arena.records import GameRecord, Job
from cardenvs.arena.results.statistics import Summary, summarise
from cardenvs.arena.store import Store
from cardenvs.arena.workers import WorkerPool, chunk_size, prepare_worker
from cardenvs.core.checks import short
from cardenvs.core.errors import AgentError, ArenaError, CardenvsError, require

_LARGEST_REMOTE_CHUNK = 32  # games handed at once to a Ray worker, which returns them together
_REPORT_EVERY_S = 0.1
_CONNECT_SECONDS = 5.0
_MOST_LOSSES = 3  # for each Ray worker, without a game in between

Backend = Literal["local", "ray"]
Finished = Generator[tuple[int, GameRecord], None, None]  # (number of the match, game)
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
    observers: Sequence[Callable[[], GameObserver]] = (),
) -> bool:
    """Play the games of `matches` that are missing from `store`.

    Args:
        matches: the matches, played in this order.
        store: where finished games are kept.
        resume, processes, batch, keep_going, statistics, progress: see Match.run. On Ray, `processes` is the number of
            workers; one that is lost is replaced and its games are played again, with `keep_going` or without.
        stop: rule that ends a match early.
        seconds: start no game after this many seconds; a later run plays the missing ones.
        backend: "local", or "ray" for the Ray cluster of this environment (a local one if there is none).
        only: play only these deals, in ascending order; None: all.
        each: called with each game as it ends, failed ones included.
        observers: makers of observers (cardenvs.agents.observers): each makes one a game, in the process that plays it.

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
    matches = [store.seeded(match) for match in matches]  # another run may have entered them meanwhile
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
    """Play a match with the store at path `store` and summarise it. See Match.run."""
    with Store(store) as opened:
        match = opened.seeded(match, resume)
        run(
            [match], opened, resume=resume, processes=processes, batch=batch, keep_going=keep_going,
            statistics=statistics, progress=progress,
        )  # fmt: skip
        return summarise(match, opened.records(match.id))


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


# ---------------------------------------------------------------------------------------------------------------
# In this process


def _play_here(plan: Plan, matches: Sequence[Match], processes: int, settings: PlaySettings) -> Finished:
    """Play all games in this process. Make the agents first, so that one that cannot be made fails at once."""
    return _play_with([AgentPool(match, settings) for match in matches], plan)


def _play_with(pools: list[AgentPool], plan: Plan) -> Finished:
    with contextlib.ExitStack() as stack:
        for pool in pools:
            stack.callback(pool.close)
        while (taken := plan.jobs()) is not None:
            number, jobs = taken
            for record in play_games(pools[number], jobs):
                yield number, record


# ---------------------------------------------------------------------------------------------------------------
# Several processes


def _play_apart(plan: Plan, matches: Sequence[Match], processes: int, settings: PlaySettings) -> Finished:
    """Play one game of each match here, which compiles the game and tests the agents; then start workers."""
    pools = [AgentPool(match, settings) for match in matches]
    return _play_rest_apart(pools, plan, matches, processes, settings)


def _play_rest_apart(
    pools: list[AgentPool], plan: Plan, matches: Sequence[Match], processes: int, settings: PlaySettings
) -> Finished:
    yield from _play_first_games(pools, plan)
    if not plan.is_over:
        make_player = functools.partial(_MatchPlayer, list(matches), settings)
        rescue = functools.partial(_rescued, plan, matches) if settings.keep_going else None
        with WorkerPool(min(processes, max(1, plan.left)), make_player, rescue) as workers:
            yield from workers.play(plan)


def _rescued(
    plan: Plan, matches: Sequence[Match], unfinished: list[tuple[int, Job]], exit_code: int | None
) -> Finished:
    """Yield the game on which a worker died as a failed one, and put its other games back."""
    if unfinished:
        (number, job), *others = unfinished
        plan.put_back(reversed(others))
        why = f"the process that played it ended (exit code {exit_code})"
        yield number, GameRecord.lost(matches[number], *job, why)


def _play_first_games(pools: list[AgentPool], plan: Plan) -> Finished:
    """Play one game of each match, then close its agents."""
    for number, pool in enumerate(pools):
        with contextlib.closing(pool):
            jobs = plan.take_of(number, 1)
            for record in play_games(pool, iter(jobs)):
                yield number, record


class _MatchPlayer:
    """Plays games of several matches, making each match's agents when first needed."""

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


# ---------------------------------------------------------------------------------------------------------------
# On a Ray cluster


def _play_on_ray(plan: Plan, matches: Sequence[Match], processes: int, settings: PlaySettings) -> Finished:
    require("ray", "ray")
    pools = [AgentPool(match, settings) for match in matches]
    return _play_rest_on_ray(pools, plan, matches, processes, settings)


def _play_rest_on_ray(
    pools: list[AgentPool], plan: Plan, matches: Sequence[Match], processes: int, settings: PlaySettings
) -> Finished:
    yield from _play_first_games(pools, plan)
    if plan.is_over:
        return
    import ray

    with ray_cluster(processes):
        most = max(
            _LARGEST_REMOTE_CHUNK, settings.batch if any(pool.io_bound or pool.has_batches for pool in pools) else 0
        )
        with contextlib.closing(_RemotePlayers(ray, matches, settings, processes)) as players:
            yield from players.play(plan, most)


class _RemotePlayers:
    """Actors of a cluster that play games. One that is lost is replaced, and its games are played by another."""

    def __init__(self, ray: Any, matches: Sequence[Match], settings: PlaySettings, number: int) -> None:
        self._ray, self._settings, self._number = ray, settings, number
        self._class = ray.remote(num_cpus=1)(_RemotePlayer)
        self._matches = ray.put(list(matches))
        self._starting: dict[Any, Any] = {}  # actors by what becomes ready when they do
        self._playing: dict[Any, tuple[Any, tuple[int, list[Job]]]] = {}  # by their results: actors, and their games
        self._free: list[Any] = []
        self._losses = 0  # since games came in
        for _ in range(number):
            self._start()

    def close(self) -> None:
        """End the actors."""
        for actor in (*self._free, *self._starting.values(), *(actor for actor, _ in self._playing.values())):
            self._ray.kill(actor)

    def play(self, plan: Plan, most: int) -> Finished:
        """Play the games of a plan, up to `most` in one call of an actor."""
        while True:
            while self._free and (taken := plan.take(chunk_size(plan, self._number, most))) is not None:
                actor = self._free.pop()
                self._playing[actor.play.remote(*taken)] = actor, taken
            if not self._playing and (self._free or plan.check_time() or not plan.left):
                return
            (ready,), _ = self._ray.wait([*self._playing, *self._starting], num_returns=1)
            yield from self._hear(ready, plan)

    def _start(self) -> None:
        # A cluster that has lost a machine may have no room: only actors that run get games, never one that waits.
        actor = self._class.remote(self._matches, self._settings)
        self._starting[actor.is_ready.remote()] = actor

    def _hear(self, ready: Any, plan: Plan) -> Finished:
        """Take in that an actor is ready, has played its games, or is lost."""
        if ready in self._starting:
            actor, taken = self._starting.pop(ready), None
        else:
            actor, taken = self._playing.pop(ready)
        try:
            results, error = self._ray.get(ready)
        except self._ray.exceptions.RayError as lost:
            if taken is not None:
                number, jobs = taken
                plan.put_back((number, job) for job in reversed(jobs))
            self._note_loss(lost)
            self._start()
            return
        self._free.append(actor)
        if taken is not None:
            self._losses = 0
        yield from results
        if error is not None:
            raise error

    def _note_loss(self, lost: Exception) -> None:
        self._losses += 1
        if isinstance(lost, self._ray.exceptions.RayTaskError) or self._losses > _MOST_LOSSES * self._number:
            raise ArenaError(
                f"Ray workers are lost again and again ({type(lost).__name__}: {' '.join(str(lost).split())[:300]}); "
                "finished games are kept, resume to play the missing ones"
            ) from lost


@contextlib.contextmanager
def ray_cluster(processes: int) -> Iterator[None]:
    """Use the cluster this process has joined or RAY_ADDRESS names, else start a local one for the block.

    Raises:
        ArenaError: nothing listens at RAY_ADDRESS.
    """
    import ray

    if ray.is_initialized():
        yield
        return
    if address := os.environ.get("RAY_ADDRESS"):
        _check_listens(address)
        ray.init(log_to_driver=False)
    else:
        ray.init(num_cpus=processes, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        yield
    finally:
        ray.shutdown()


def _check_listens(address: str) -> None:
    """Refuse a HOST:PORT where nothing listens, for which Ray would wait for minutes.

    Raises:
        ArenaError: says so.
    """
    plain = address.removeprefix("ray://")
    if address in ("auto", "local") or "://" in plain:
        return
    host, _, port = plain.rpartition(":")
    try:
        if not port.isdecimal():
            raise ValueError("HOST:PORT is expected")
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
    except (OSError, OverflowError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArenaError(
            f"no Ray cluster at {short(address)}: {reason}; start one with `ray start --head`, or leave the "
            "address out to use this machine alone"
        ) from None


class _RemotePlayer:
    """Plays chunks of games in a worker of the cluster."""

    def __init__(self, matches: list[Match], settings: PlaySettings) -> None:
        prepare_worker()
        self._player = _MatchPlayer(matches, settings)

    def is_ready(self) -> tuple[list[tuple[int, GameRecord]], None]:
        """Return no results, once the actor runs."""
        return [], None

    def play(self, number: int, jobs: list[Job]) -> tuple[list[tuple[int, GameRecord]], CardenvsError | None]:
        """Play games of match `number`. Return those that ended, and the error that stopped play, if any."""
        results: list[tuple[int, GameRecord]] = []
        try:
            results.extend((number, record) for record in self._player.play(number, iter(jobs)))
        except CardenvsError as error:
            return results, error
        return results, None
