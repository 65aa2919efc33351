"""This side of cardenvs.agents.guarded.worker: a process that forks a new process of an agent for each game."""

import contextlib
import os
import socket
import subprocess
import tempfile
from collections.abc import Callable

from cardenvs.core.errors import AgentError

READY, START, END = b"r", b"s", b"e"
_KEPT_STDERR = 2000  # bytes
_END_SECONDS = 10.0  # in which the processes of a game should be gone
_LAST_SECONDS = 3.0  # in which a server that has ended should be gone with its launcher


class ForkServer:
    """A running server, which serves one process at a time.

    Attributes:
        process: the launcher of the server.
    """

    def __init__(self, start: Callable[..., subprocess.Popen], limit: float) -> None:
        """Start a server and wait until it is ready.

        Args:
            start: starts the server's command with the standard input and error that it is given.
            limit: seconds that it may take.

        Raises:
            AgentError: it does not become ready; quotes what it wrote to standard error.
        """
        self._socket, theirs = socket.socketpair()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed with the server
        with theirs:
            self.process = start(stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=self._errors)
        self._socket.settimeout(limit)
        try:
            ready = self._socket.recv(1)
        except TimeoutError:
            self.close()
            raise AgentError(f"its process was not ready within {limit:g} seconds") from None
        if ready != READY:
            self.process.wait()
            words = self.last_words().decode(errors="replace").strip().splitlines()
            self.close()
            said = f"; it wrote: {' | '.join(words[-3:])}" if words else ""
            raise AgentError(f"its process ended before it was ready{said}")
        self._socket.settimeout(_END_SECONDS)

    def start(self, streams: list[int]) -> None:
        """Fork a process with these descriptors as its standard streams.

        Raises:
            OSError: the server is gone.
        """
        socket.send_fds(self._socket, [START], streams)

    def end(self) -> int | None:
        """End the process and everything it has started. Returns its exit code; if the server is gone, that of it."""
        try:
            self._socket.sendall(END)
            answer = b""
            while not answer.endswith(b"\n"):
                more = self._socket.recv(16)
                if not more:
                    raise ConnectionResetError
                answer += more
            code, _, last = answer.partition(b" ")
            if last:  # the server ends, too: the agent has left something behind
                self._socket.close()
            return int(code)
        except OSError:
            self._socket.close()  # the next start finds out
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(_LAST_SECONDS)
        return None

    def close(self) -> None:
        """End the server."""
        self._socket.close()
        self._errors.close()

    def leave(self) -> None:
        """Close this end in a process forked from the server's parent; the server serves that one."""
        self.process.returncode = 0  # no child of this process: there is nothing to wait for
        self.close()

    def last_words(self) -> bytes:
        """Return the last of what the server, not the agent, has written to standard error."""
        self._errors.seek(max(0, os.fstat(self._errors.fileno()).st_size - _KEPT_STDERR))
        return self._errors.read()


def ended(process: subprocess.Popen, grace: float = 0.0) -> None:
    """End a launched process and everything it has started, after `grace` seconds at most."""
    if grace:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace)
    with contextlib.suppress(OSError):
        process.terminate()  # the launcher ends what it has started
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5.0)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, 9)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5.0)
