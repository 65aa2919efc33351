"""Playing a match: in this process or in several, into a store, going on where an earlier run stopped.

The parent hands out games and is the only one to write. A worker asks for more games when it has room, sends each
finished one back, and ends when the parent is gone or has nothing left. Which worker plays which games does not
matter: a game depends on its deal and lineup alone.
"""

import contextlib
import itertools
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any, cast

from cardenvs.arena.match import Match
from cardenvs.arena.play import Job, Records, play_games
from cardenvs.arena.store import GameRecord, Store
from cardenvs.core.errors import AgentError, ArenaError, CardenvsError

_LARGEST_HANDFUL = 64  # games handed to a worker at once
_TELL_EVERY_S = 0.1
_MORE, _GAME, _ERROR, _DONE = "more", "game", "error", "done"  # what a worker says

Progress = Callable[[int, int], None]


def run(
    match: Match,
    store: Store,
    *,
    resume: bool = False,
    processes: int = 1,
    batch: int = 64,
    progress: Progress | None = None,
) -> None:
    """Play the games of `match` that `store` has not yet. See Match.run for the arguments and errors."""
    if processes < 1 or batch < 1:
        raise ArenaError(f"a match needs at least one process and a batch of one; got {processes} and {batch}")
    store.begin(match)
    jobs = _jobs_left(match, store, resume)
    if not jobs:
        return
    finished = play_games(match, jobs, batch) if processes == 1 else _play_apart(match, jobs, processes, batch)
    try:
        with contextlib.closing(finished):
            for record in _telling(finished, match.num_games, len(jobs), progress):
                store.add(match, record)
                if record.error:
                    store.write()
                    raise _failure(match, store, record)
    finally:
        store.write()


def _jobs_left(match: Match, store: Store, resume: bool) -> list[Job]:
    done = store.finished(match.id)
    if done and not resume:
        raise ArenaError(
            f"the store already has {len(done)} games of this match; resume it, or choose another store or seed"
        )
    jobs = itertools.product(range(match.deals), range(len(match.lineups)))
    return [job for job in jobs if job not in done]


def _telling(records: Iterable[GameRecord], total: int, left: int, progress: Progress | None) -> Iterator[GameRecord]:
    """The records as they come, with `progress` told now and then."""
    told = time.monotonic()
    done = total - left
    if progress is not None:
        progress(done, total)
    for record in records:
        yield record
        done += 1
        if progress is not None and (done == total or time.monotonic() - told >= _TELL_EVERY_S):
            told = time.monotonic()
            progress(done, total)


def _failure(match: Match, store: Store, record: GameRecord) -> AgentError:
    line, _, trace = (record.error or "").partition("\n")
    kept = f" ({len(store.finished(match.id))} finished games are kept in {store.path})" if store.path else ""
    error = AgentError(line + kept)
    if trace:
        error.add_note(trace)
    return error


# ---------------------------------------------------------------------------------------------------------------
# Several processes: the parent's side


def _play_apart(match: Match, jobs: list[Job], processes: int, batch: int) -> Records:
    """Play the first game here, which compiles what is needed and shows whether the agents work; then start workers."""
    first = play_games(match, jobs[:1], 1)
    return _play_rest_apart(match, first, jobs[1:], processes, batch)


def _play_rest_apart(match: Match, first: Records, rest: list[Job], processes: int, batch: int) -> Records:
    for record in first:
        yield record
        if record.error:
            return
    if rest:
        with _Workers(match, min(processes, len(rest)), batch) as workers:
            yield from workers.play(rest)


class _Workers:
    """Worker processes. A context manager: leaving it ends them, finished or not."""

    def __init__(self, match: Match, number: int, batch: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._running: dict[Connection, Any] = {}
        with _interrupts_held_back():  # children inherit it: Ctrl-C is for the parent alone
            for _ in range(number):
                ours, theirs = context.Pipe()
                process = context.Process(target=_work, args=(theirs, match, batch), daemon=True)
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

    def play(self, jobs: list[Job]) -> Iterator[GameRecord]:
        """Hand out the games and yield them as they finish, a failed one last."""
        number = len(self._running)
        handed = 0
        while self._running:
            for connection in cast("list[Connection]", wait(list(self._running))):
                kind, content = self._receive(connection)
                if kind == _GAME:
                    yield content
                    if content.error:
                        return
                elif kind == _ERROR:
                    raise content
                elif kind == _MORE:
                    # Smaller handfuls towards the end, so that all workers finish at about the same time.
                    size = min(_LARGEST_HANDFUL, max(1, (len(jobs) - handed) // (4 * number)))
                    connection.send(jobs[handed : handed + size])
                    handed += size
                else:
                    self._running.pop(connection).join()
                    connection.close()

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
def _interrupts_held_back() -> Iterator[None]:
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


def _work(connection: Connection, match: Match, batch: int) -> None:
    """Play what the parent hands out, until there is no more or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["CARDENVS_QUIET"] = "1"  # one progress bar, and nothing written across it
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the processes share the cores already
    try:
        for record in play_games(match, _asked_for(connection), batch):
            connection.send((_GAME, record))
        connection.send((_DONE, None))
    except CardenvsError as error:
        connection.send((_ERROR, error))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent is gone


def _asked_for(connection: Connection) -> Iterator[Job]:
    while True:
        connection.send((_MORE, None))
        jobs = connection.recv()
        if not jobs:
            return
        yield from jobs
