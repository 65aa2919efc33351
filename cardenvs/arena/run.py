"""Playing matches: in this process, in several, or on a Ray cluster; going on where an earlier run stopped.

The parent hands out games and is the only one to write. Who plays which games does not matter: a game depends on its
deal and lineup alone. A backend takes games from a Plan and yields them as they finish; whoever runs it enters each
into the store and tells the plan, which may then open more deals.
"""

import contextlib
import itertools
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, Literal, cast

from cardenvs.arena.match import Match
from cardenvs.arena.plan import Plan, Stop
from cardenvs.arena.play import AgentPool, play_games
from cardenvs.arena.records import GameRecord, Job
from cardenvs.arena.store import Store
from cardenvs.core.errors import AgentError, ArenaError, CardenvsError, require

_LARGEST_HANDFUL = 64  # games handed to a worker at once
_LARGEST_REMOTE_HANDFUL = 32  # the same on a cluster, which gives them back together
_HANDFUL_S = 1.0  # about so much play is handed out at once
_TELL_EVERY_S = 0.1
_MORE, _GAME, _ERROR, _DONE = "more", "game", "error", "done"  # what a worker says

Backend = Literal["local", "ray"]
Finished = Generator[tuple[int, GameRecord], None, None]  # games with the number of their match
Progress = Callable[[int, int], None]


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
    progress: Progress | None = None,
) -> bool:
    """Play the games of `matches` that `store` has not yet.

    Args:
        matches: what to play; the games of the first come first.
        store: where finished games are kept.
        resume, processes, batch, progress: see Match.run. On Ray, `processes` is the number of its workers.
        stop: end a match early once it meets this.
        seconds: begin no game after so long; what is missing is left to a later run.
        backend: "local", or "ray" for the Ray cluster of this environment (a local one where there is none).

    Returns:
        Whether the matches are complete: False if time ran out.

    Raises:
        ArenaError: the store has games of a match and `resume` is not set, or cannot be used.
        AgentError: an agent failed in a match that ends with a failure. Finished games are kept.
        MissingExtraError: Ray is asked for and not installed.
    """
    if processes < 1 or batch < 1:
        raise ArenaError(f"a match needs at least one process and a batch of one; got {processes} and {batch}")
    matches = [store.seeded(match, resume) for match in matches]
    for match in matches:
        store.begin(match)
    matches = [store.seeded(match) for match in matches]  # another run may have entered them first
    plan = _plan(matches, store, resume, stop, seconds)
    if not plan.left:
        return True
    play = _play_on_ray if backend == "ray" else _play_here if processes == 1 else _play_apart
    finished = play(plan, matches, processes, batch)
    told = _ProgressReporter(plan, progress)
    try:
        with contextlib.closing(finished):
            for number, record in finished:
                store.add(matches[number], record)
                if record.error:
                    store.write()
                    raise _failure(matches[number], store, record)
                plan.finished(number, record)
                told.tell()
    finally:
        store.write()
    return not plan.out_of_time


def _plan(matches: Sequence[Match], store: Store, resume: bool, stop: Stop | None, seconds: float | None) -> Plan:
    for match in matches:
        done = store.count(match.id)
        if done and not resume:
            raise ArenaError(
                f"the store already has {done} games of this match; resume it, or choose another store or seed"
            )
    return Plan(matches, [store.results(match.id) for match in matches], stop, seconds)


class _ProgressReporter:
    """Tells `progress` now and then."""

    def __init__(self, plan: Plan, progress: Progress | None) -> None:
        self._plan, self._progress = plan, progress
        self._told = -1.0
        self.tell()

    def tell(self) -> None:
        now = time.monotonic()
        is_over = self._plan.games_done == self._plan.num_games
        if self._progress is not None and (is_over or now - self._told >= _TELL_EVERY_S):
            self._told = now
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


def _play_here(plan: Plan, matches: Sequence[Match], processes: int, batch: int) -> Finished:
    """Play all games here. Agents are made before the first game: one that cannot be made is known at once."""
    crews = [AgentPool(match) for match in matches]
    return _play_with(crews, plan, batch)


def _play_with(crews: list[AgentPool], plan: Plan, batch: int) -> Finished:
    with contextlib.ExitStack() as stack:
        for crew in crews:
            stack.callback(crew.close)
        while (taken := plan.jobs()) is not None:
            number, jobs = taken
            for record in play_games(crews[number], jobs, batch):
                yield number, record


# ---------------------------------------------------------------------------------------------------------------
# Several processes: the parent's side


def _play_apart(plan: Plan, matches: Sequence[Match], processes: int, batch: int) -> Finished:
    """Play a game of each match here, which compiles and shows whether the agents work; then start workers."""
    crews = [AgentPool(match) for match in matches]
    return _play_rest_apart(crews, plan, matches, processes, batch)


def _play_rest_apart(
    crews: list[AgentPool], plan: Plan, matches: Sequence[Match], processes: int, batch: int
) -> Finished:
    yield from _play_first_games(crews, plan)
    if not plan.is_over:
        with _Workers(matches, min(processes, max(1, plan.left)), batch) as workers:
            yield from workers.play(plan)


def _play_first_games(crews: list[AgentPool], plan: Plan) -> Finished:
    """A game of each match. The agents made for it are let go again."""
    for number, crew in enumerate(crews):
        with contextlib.closing(crew):
            jobs = plan.take_of(number, 1)
            for record in play_games(crew, iter(jobs), 1):
                yield number, record


def _chunk_size(plan: Plan, workers: int, most: int) -> int:
    """How many games to hand out at once: about a second of play, and fewer towards the end, when others have none."""
    return max(1, min(most, plan.left // (4 * workers), int(_HANDFUL_S * plan.pace / workers)))


class _Workers:
    """Worker processes. A context manager: leaving it ends them, finished or not."""

    def __init__(self, matches: Sequence[Match], number: int, batch: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._running: dict[Connection, Any] = {}
        self._number = number
        with interrupts_held_back():  # children inherit it: Ctrl-C is for the parent alone
            for _ in range(number):
                ours, theirs = context.Pipe()
                process = context.Process(target=_work, args=(theirs, list(matches), batch), daemon=True)
                process.start()
                theirs.close()
                self._running[ours] = process

    def __enter__(self) -> "_Workers":
        return self

    def __exit__(self, *_: object) -> None:
        for connection, process in self._running.items():
            process.terminate()
            process.join()
            connection.close()

    def play(self, plan: Plan) -> Finished:
        """Hand out the games and yield them as they finish, a failed one last."""
        idle: list[Connection] = []  # who has nothing to do until the plan opens more games
        while self._running:
            for connection in cast("list[Connection]", wait(list(self._running))):
                kind, content = self._receive(connection)
                if kind == _GAME:
                    yield content
                    idle = [waiting for waiting in idle if not self._serve(waiting, plan, is_idle=True)]
                elif kind == _ERROR:
                    raise content
                elif kind == _MORE:
                    if not self._serve(connection, plan, is_idle=content):
                        idle.append(connection)
                else:
                    self._running.pop(connection).join()
                    connection.close()

    def _serve(self, connection: Connection, plan: Plan, is_idle: bool) -> bool:
        """Send games; or None, the end for an idle worker, and nothing now for another. False: it has to wait."""
        taken = plan.take(_chunk_size(plan, self._number, _LARGEST_HANDFUL))
        if taken is None and is_idle and not plan.is_over:
            return False
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it died: noticed when it is next heard
            connection.send(taken)
        return True

    def _receive(self, connection: Connection) -> tuple[str, Any]:
        try:
            return connection.recv()
        except (EOFError, ConnectionResetError):
            process = self._running[connection]
            process.join()
            raise ArenaError(
                f"a worker process ended unexpectedly (exit code {process.exitcode}); finished games are kept, "
                "resume the match to play the others"
            ) from None


@contextlib.contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Ignore Ctrl-C inside the block (where it can be asked for: signals belong to the main thread)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# ---------------------------------------------------------------------------------------------------------------
# The worker's side


def _work(connection: Connection, matches: list[Match], batch: int) -> None:
    """Play what the parent hands out, until there is no more or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prepare_worker()
    crews: dict[int, AgentPool] = {}
    asking = _JobClient(connection)
    try:
        while (number := asking.next_match()) is not None:
            if number not in crews:
                crews[number] = AgentPool(matches[number])
            for record in play_games(crews[number], asking.jobs(number), batch):
                connection.send((_GAME, (number, record)))
        connection.send((_DONE, None))
    except CardenvsError as error:
        connection.send((_ERROR, error))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent is gone
    finally:
        for crew in crews.values():
            crew.close()


def prepare_worker() -> None:
    """Set up a process that plays for another."""
    os.environ["CARDENVS_QUIET"] = "1"  # one progress bar, and nothing written across it
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the processes share the cores already


class _JobClient:
    """Requests jobs from the parent: one match at a time, while there is room for more of it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ahead: tuple[int, list[Job]] | None = None  # received, not yet begun

    def next_match(self) -> int | None:
        """The number of the match to play games of next, once there are any; None: all is played."""
        if self._ahead is None:
            self._ahead = self._ask(is_idle=True)
        return None if self._ahead is None else self._ahead[0]

    def jobs(self, number: int) -> Iterator[Job]:
        """Games of match `number`, as long as the parent has any at hand."""
        while self._ahead is not None and self._ahead[0] == number:
            jobs, self._ahead = self._ahead[1], None
            yield from jobs
            self._ahead = self._ask(is_idle=False)

    def _ask(self, is_idle: bool) -> tuple[int, list[Job]] | None:
        self._connection.send((_MORE, is_idle))
        return self._connection.recv()


# ---------------------------------------------------------------------------------------------------------------
# On a Ray cluster


def _play_on_ray(plan: Plan, matches: Sequence[Match], processes: int, batch: int) -> Finished:
    require("ray", "ray")
    return _play_rest_on_ray([AgentPool(match) for match in matches], plan, matches, processes, batch)


def _play_rest_on_ray(
    crews: list[AgentPool], plan: Plan, matches: Sequence[Match], processes: int, batch: int
) -> Finished:
    yield from _play_first_games(crews, plan)
    if plan.is_over:
        return
    import ray

    with _ray_cluster(processes):
        player = ray.remote(num_cpus=1)(_RemotePlayer)
        shared = ray.put(list(matches))
        free: list[Any] = [player.remote(shared, batch) for _ in range(processes)]
        playing: dict[Any, Any] = {}
        most = max(_LARGEST_REMOTE_HANDFUL, batch if any(crew.io_bound or crew.has_batches for crew in crews) else 0)
        try:
            while True:
                while free and (taken := plan.take(_chunk_size(plan, processes, most))) is not None:
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

    def __init__(self, matches: list[Match], batch: int) -> None:
        prepare_worker()
        self._matches, self._batch = matches, batch
        self._crews: dict[int, AgentPool] = {}

    def play(self, number: int, jobs: list[Job]) -> tuple[list[tuple[int, GameRecord]], CardenvsError | None]:
        """The games of match `number`, and what was refused, if anything."""
        results = []
        try:
            if number not in self._crews:
                self._crews[number] = AgentPool(self._matches[number])
            for record in play_games(self._crews[number], iter(jobs), self._batch):
                results.append((number, record))
        except CardenvsError as error:
            return results, error
        return results, None
