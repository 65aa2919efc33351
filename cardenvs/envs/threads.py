"""Threads: `ThreadedCall`, a call over many environments, and `one_at_a_time` for methods."""

import functools
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from cardenvs.core.errors import ConcurrentUseError
from cardenvs.envs.arguments import positive

_WORTH_A_THREAD_S = 0.4e-3  # shorter calls run on one thread: starting work on another costs about 0.05 ms

S = TypeVar("S")
P = ParamSpec("P")
T = TypeVar("T")


class OneThread:
    """An object for one thread at a time, whose methods are marked by `one_at_a_time`."""

    _in_use = False

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes of a copy, which nobody uses yet."""
        return {name: value for name, value in self.__dict__.items() if name != "_in_use"}


def one_at_a_time(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Let a method of a OneThread raise ConcurrentUseError while another thread is in it, or in another such method.

    Such methods must not call each other.
    """

    @functools.wraps(method)
    def call(self: Any, *args: P.args, **kwargs: P.kwargs) -> T:
        # Python switches threads at calls and at the ends of loops only, so not between these two lines.
        if self._in_use:
            raise ConcurrentUseError.of(type(self).__name__)
        self._in_use = True
        try:
            return method(self, *args, **kwargs)
        finally:
            self._in_use = False

    return call


class ThreadedCall:
    """Runs a call over environments 0..n-1, on several threads if that is faster."""

    def __init__(self, num_threads: int | str, is_compiled: bool) -> None:
        """Set up calls on at most `num_threads` threads; "auto": as many as there are processors.

        Calls that do not run compiled kernels get one thread: they work on widened copies of all records, which are
        written back whole.
        """
        self._auto = num_threads == "auto"
        self._most = (os.cpu_count() or 1) if self._auto else positive("num_threads", num_threads)
        if not is_compiled:
            self._most = 1
        self._pool: ThreadPoolExecutor | None = None
        self._pool_pid = 0
        self._seconds: dict[str, float] = {}  # shortest time of each call on one thread, by name

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the thread pool; a copy starts its own."""
        return {**self.__dict__, "_pool": None}

    def run(self, name: str, n: int, call: Callable[[int, int], None]) -> None:
        """Run `call(start, stop)` over parts of range(n) that together cover it.

        "auto" chooses the number of threads by how long calls of this name take.
        """
        if self._most == 1:
            call(0, n)
            return
        threads = min(self._most, n)
        if self._auto and self._seconds.get(name, 0.0) < _WORTH_A_THREAD_S:
            threads = 1
        if threads == 1:
            started = time.perf_counter()
            call(0, n)
            # Keep the minimum, because the first call may have compiled.
            self._seconds[name] = min(self._seconds.get(name, np.inf), time.perf_counter() - started)
            return
        # A forked process inherits the pool, but not its threads.
        if self._pool is None or self._pool_pid != os.getpid():
            self._pool, self._pool_pid = ThreadPoolExecutor(self._most - 1, "cardenvs"), os.getpid()
        bounds = [n * k // threads for k in range(threads + 1)]
        others = [self._pool.submit(call, bounds[k], bounds[k + 1]) for k in range(1, threads)]
        call(bounds[0], bounds[1])
        for other in others:
            other.result()

    def close(self) -> None:
        """Stop the threads; a later `run` starts new ones."""
        if self._pool is not None and self._pool_pid == os.getpid():
            self._pool.shutdown()
        self._pool = None
