"""Worker processes that play games for a parent.

The parent takes games from a Source and hands them out. A worker asks for games when it has room for more, so that it
never waits for other workers, plays them with its own JobPlayer, and sends back a record of each.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Protocol, cast

from cardenvs.arena.records import GameRecord, Job
from cardenvs.core.errors import ArenaError, CardenvsError

_LARGEST_CHUNK = 64  # games handed to a worker at once
_CHUNK_S = 1.0  # a chunk takes about this many seconds to play
_MORE, _RESULT, _ERROR, _DONE = "more", "result", "error", "done"  # kinds of messages from a worker

Chunk = tuple[int, list[Job]]
Results = Generator[tuple[int, GameRecord], None, None]  # (number of the match, game)


class Source(Protocol):
    """The games to play; a Plan."""

    @property
    def left(self) -> int:
        """Number of games that can be taken now."""

    @property
    def is_over(self) -> bool:
        """Whether no more games will be handed out."""

    @property
    def pace(self) -> float:
        """Games finished per second so far."""

    def take(self, most: int) -> Chunk | None:
        """Take up to `most` games of one match. Return (number of the match, games), or None if there are none now."""


class JobPlayer(Protocol):
    """Plays games in a worker."""

    def play(self, number: int, jobs: Iterator[Job]) -> Iterable[GameRecord]:
        """Play games of match `number` as they arrive, and yield their records."""

    def close(self) -> None:
        """Close the agents."""


def chunk_size(source: Source, workers: int, most: int = _LARGEST_CHUNK) -> int:
    """Return how many games to hand out at once: about a second of play, fewer near the end to keep all busy."""
    return max(1, min(most, source.left // (4 * workers), int(_CHUNK_S * source.pace / workers)))


class WorkerPool:
    """Worker processes. A context manager: leaving it ends them, even if they are busy."""

    def __init__(
        self,
        number: int,
        make_player: Callable[[], JobPlayer],
        rescue: Callable[[list[tuple[int, Job]], int | None], Results] | None = None,
    ) -> None:
        """Start `number` processes, each with a player of its own; `make_player` must be picklable.

        `rescue` is called when a process dies, with its unfinished games as (number of the match, game) and its exit
        code. It yields records to report for them, and the process is replaced; players must play games in order.
        Without `rescue`, a process that dies ends play.
        """
        self._make_player, self._rescue, self._number = make_player, rescue, number
        self._running: dict[Connection, _Worker] = {}
        self._idle: list[Connection] = []  # workers waiting for the source to have games
        for _ in range(number):
            self._start()

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(self, *_: object) -> None:
        for connection, worker in self._running.items():
            worker.process.terminate()
            worker.process.join()
            connection.close()

    def play(self, source: Source) -> Results:
        """Hand out the games and yield their records as they arrive.

        Raises:
            ArenaError: a process died and there is no `rescue`, or a process died before its first message.
            CardenvsError: a player raised it.
        """
        while self._running:
            for connection in cast("list[Connection]", wait(list(self._running))):
                yield from self._hear(connection, source)

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        with interrupts_held_back():  # inherited by children, so that Ctrl-C reaches only the parent
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, self._make_player), daemon=True)
            process.start()
            theirs.close()
        self._running[ours] = _Worker(process)

    def _hear(self, connection: Connection, source: Source) -> Results:
        worker = self._running[connection]
        try:
            kind, content = connection.recv()
        except (EOFError, ConnectionResetError):
            yield from self._lost(connection)
            return
        worker.has_begun = True
        if kind == _RESULT:
            if self._rescue is not None:
                worker.jobs.popleft()
            yield content
            self._idle = [idle for idle in self._idle if not self._serve(idle, source, is_idle=True)]
        elif kind == _ERROR:
            raise content
        elif kind == _MORE:
            if not self._serve(connection, source, is_idle=content):
                self._idle.append(connection)
        else:
            self._let_go(connection)

    def _serve(self, connection: Connection, source: Source, is_idle: bool) -> bool:
        """Answer a request with games, or with None: a worker then ends once it has finished its games.

        Returns:
            False if the worker has to wait because the source may still get games.
        """
        taken = source.take(chunk_size(source, self._number))
        if taken is None and is_idle and not source.is_over:
            return False
        if taken is not None and self._rescue is not None:
            self._running[connection].jobs.extend((taken[0], job) for job in taken[1])
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the worker died, which _hear will notice
            connection.send(taken)
        return True

    def _let_go(self, connection: Connection) -> int | None:
        """Wait for a worker to end, remove it, and return its exit code."""
        worker = self._running.pop(connection)
        worker.process.join()
        connection.close()
        return worker.process.exitcode

    def _lost(self, connection: Connection) -> Results:
        worker = self._running[connection]
        code = self._let_go(connection)
        if not worker.has_begun:
            raise ArenaError(f"a worker process could not start (exit code {code})")
        if self._rescue is None:
            raise ArenaError(
                f"a worker process ended unexpectedly (exit code {code}); finished games are kept, "
                "resume the match to play the missing ones"
            )
        yield from self._rescue(list(worker.jobs), code)
        self._start()


class _Worker:
    def __init__(self, process: SpawnProcess) -> None:
        self.process = process
        self.jobs: deque[tuple[int, Job]] = (
            deque()
        )  # unfinished games with the numbers of their matches, in order; only if there is a rescue
        self.has_begun = False


def usable_processes() -> int:
    """Return how many processes can run at once on this machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Ignore Ctrl-C in the block. Has no effect outside the main thread, which alone may set signal handlers."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# -- the worker's side --------------------------------------------------------------------------------------------


def _work(connection: Connection, make_player: Callable[[], JobPlayer]) -> None:
    """Play games from the parent until there are no more or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prepare_worker()
    asking = _JobClient(connection)
    try:
        with contextlib.closing(make_player()) as player:
            while (number := asking.next_match()) is not None:
                for result in player.play(number, asking.jobs(number)):
                    connection.send((_RESULT, (number, result)))
            connection.send((_DONE, None))
    except CardenvsError as error:
        connection.send((_ERROR, error))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the parent is gone


def prepare_worker() -> None:
    """Set up a process that plays for a parent."""
    os.environ["CARDENVS_QUIET"] = "1"  # the parent shows the only progress bar
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the processes already use all cores


class _JobClient:
    """Requests games from the parent, of one match at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ahead: Chunk | None = None  # games received but not started

    def next_match(self) -> int | None:
        """Wait for games and return the number of their match, or None if no more will come."""
        if self._ahead is None:
            self._ahead = self._ask(is_idle=True)
        return None if self._ahead is None else self._ahead[0]

    def jobs(self, number: int) -> Iterator[Job]:
        """Yield games of match `number` until the parent has no more of them now."""
        while self._ahead is not None and self._ahead[0] == number:
            jobs, self._ahead = self._ahead[1], None
            yield from jobs
            self._ahead = self._ask(is_idle=False)

    def _ask(self, is_idle: bool) -> Chunk | None:
        self._connection.send((_MORE, is_idle))
        chunk: Chunk | None = self._connection.recv()
        return chunk
