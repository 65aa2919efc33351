"""Starting and ending the processes of agents."""

import contextlib
import os
import select
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from cardenvs.agents.guarded.forkserver import ForkServer, ended


# A process that asks to die with its parent dies with the parent's thread, so one lasting thread starts them all.
def _new_spawner() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="cardenvs-spawn")


_spawner = _new_spawner()


def _new_thread() -> None:
    """Make a new thread in a forked process, which has lost it."""
    global _spawner
    _spawner = _new_spawner()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_thread)


def spawned(command: list[str], env: dict[str, str], **streams: Any) -> subprocess.Popen[bytes]:
    """Start a command in a new session; `streams` as for Popen."""

    # The launcher checks that its parent is alive, so this process itself must start it.
    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, env=env, bufsize=0, start_new_session=True, close_fds=True, **streams)

    return _spawner.submit(start).result()


class Running(Protocol):
    """A running process, with this end of its standard streams."""

    stdin: int
    stdout: int
    stderr: int

    def exit_code(self) -> int | None:
        """Return the exit code after standard output was closed; None if it still runs or the code is unknown."""

    def end(self, grace: float) -> None:
        """End it and everything it has started, after at most `grace` seconds, and close the streams."""

    def kill(self) -> None:
        """End it without waiting; the streams stay open."""

    def leave(self) -> None:
        """Close the streams without ending it, because the process that this one was forked from uses it."""

    def last_words(self) -> bytes:
        """Return the standard error of its server; empty for a program."""


class Program:
    """A running command."""

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
        self._process.terminate()  # the launcher ends everything it has started

    def leave(self) -> None:
        """See Running."""
        self._process.returncode = 0  # not a child of this process, so there is nothing to wait for
        self._close()

    def last_words(self) -> bytes:
        """See Running."""
        return b""

    def _close(self) -> None:
        for stream in self._streams:
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]


class Forked:
    """A process forked by a server."""

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
        self._server.process.terminate()  # its launcher ends everything it has started

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
