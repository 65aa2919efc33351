"""The processes of agents: how they are started, and how they end."""

import contextlib
import os
import select
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from cardenvs.agents.guarded.forkserver import ForkServer, ended


# A process that asks to die with its parent dies with the parent's thread: so one thread, which stays, starts all.
def _new_spawner() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="cardenvs-spawn")


_spawner = _new_spawner()


def _new_thread() -> None:
    """In a forked process: the thread did not come along."""
    global _spawner
    _spawner = _new_spawner()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_thread)


def spawned(command: list[str], env: dict[str, str], **streams: Any) -> subprocess.Popen:
    """Start a command in a session of its own; `streams` as for Popen."""

    # The launcher checks that its parent is alive, so the process that forks must be this one.
    def start() -> subprocess.Popen:
        return subprocess.Popen(command, env=env, bufsize=0, start_new_session=True, close_fds=True, **streams)

    return _spawner.submit(start).result()


class Running(Protocol):
    """A process: this end of its standard streams, and how it is ended."""

    stdin: int
    stdout: int
    stderr: int

    def exit_code(self) -> int | None:
        """Of a process that has closed its standard output; None: it runs on, or nobody knows."""

    def end(self, grace: float) -> None:
        """End it and everything it has started, after `grace` seconds at most, and close the streams."""

    def kill(self) -> None:
        """End it without waiting; the streams stay open."""

    def leave(self) -> None:
        """Close the streams and let it run: another process, from which this one was forked, uses it."""

    def last_words(self) -> bytes:
        """Return what its server has written to standard error; a program has none."""


class Program:
    """A command that runs."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        self._process = spawned(command, env, stdin=pipe, stdout=pipe, stderr=pipe)
        self._streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self.stdin, self.stdout, self.stderr = (stream.fileno() for stream in self._streams if stream is not None)

    def exit_code(self) -> int | None:
        """See Running; waits up to a second."""
        try:
            return self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return None

    def end(self, grace: float) -> None:
        """See Running."""
        self._process.stdin.close()  # type: ignore[union-attr]
        ended(self._process, grace)
        self._close()

    def kill(self) -> None:
        """See Running."""
        self._process.terminate()  # the launcher ends what it has started

    def leave(self) -> None:
        """See Running."""
        self._process.returncode = 0  # no child of this process: there is nothing to wait for
        self._close()

    def last_words(self) -> bytes:
        """See Running."""
        return b""

    def _close(self) -> None:
        for stream in self._streams:
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]


class Forked:
    """A process that a server has forked."""

    def __init__(self, server: ForkServer) -> None:
        self._server = server
        (read, self.stdin), (self.stdout, write), (self.stderr, errors) = (os.pipe() for _ in range(3))
        try:
            server.start([read, write, errors])
        except OSError:
            self._close()
            raise
        finally:
            for descriptor in (read, write, errors):
                os.close(descriptor)
        self._code: int | None = None

    def exit_code(self) -> int | None:
        """See Running; ends the process."""
        if self._code is None:
            self._code = self._server.end()
        return self._code

    def end(self, grace: float) -> None:
        """See Running."""
        os.close(self.stdin)
        self.stdin = -1
        closed, deadline = select.poll(), time.monotonic() + grace
        closed.register(self.stdout, select.POLLIN)
        while grace and (left := deadline - time.monotonic()) > 0:
            if closed.poll(left * 1000) and not os.read(self.stdout, 1 << 16):
                break
        self.exit_code()
        self._close()

    def kill(self) -> None:
        """See Running."""
        self._server.process.terminate()  # its launcher ends what it has started

    def leave(self) -> None:
        """See Running."""
        self._close()

    def last_words(self) -> bytes:
        """See Running."""
        return self._server.last_words()

    def _close(self) -> None:
        for descriptor in (self.stdin, self.stdout, self.stderr):
            if descriptor >= 0:
                os.close(descriptor)
