"""The parent's side of cardenvs.agents.guarded.worker, which forks a new process of an agent for each game."""

import contextlib
import os
import socket
import subprocess
import tempfile
from collections.abc import Callable

from cardenvs.core.errors import AgentError

READY, START, END = b"r", b"s", b"e"
_KEPT_STDERR = 2000  # bytes
_END_SECONDS = 10.0  # time for the processes of a game to end
_LAST_SECONDS = 3.0  # time for an ended server's launcher to end


class ForkServer:
    """A running server, which serves one process at a time."""

    def __init__(self, start: Callable[..., subprocess.Popen[bytes]], limit: float) -> None:
        """Start a server with `start`, which takes its standard streams, and wait up to `limit` seconds until it is
        ready.

        Raises:
            AgentError: it does not become ready; the message quotes its standard error.
        """
        self._socket, theirs = socket.socketpair()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed with the server
        with theirs:
            # the server's launcher
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
        """Fork a process with these descriptors as its standard streams. Raises OSError if the server is gone."""
        socket.send_fds(self._socket, [START], streams)

    def end(self) -> int | None:
        """End the process and everything it has started. Return its exit code, or the server's if that is gone."""
        try:
            self._socket.sendall(END)
            answer = b""
            while not answer.endswith(b"\n"):
                more = self._socket.recv(16)
                if not more:
                    raise ConnectionResetError
                answer += more
            code, _, last = answer.partition(b" ")
            if last:  # the server ends as well, because the agent has changed what later processes inherit
                self._socket.close()
            return int(code)
        except OSError:
            self._socket.close()  # the next start will fail
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(_LAST_SECONDS)
        return None

    def close(self) -> None:
        """End the server."""
        self._socket.close()
        self._errors.close()

    def leave(self) -> None:
        """Close this end in a forked process; the server keeps serving the parent."""
        self.process.returncode = 0  # not a child of this process, so there is nothing to wait for
        self.close()

    def last_words(self) -> bytes:
        """Return the end of the standard error of the server (not of the agent)."""
        self._errors.seek(max(0, os.fstat(self._errors.fileno()).st_size - _KEPT_STDERR))
        return self._errors.read()


def ended(process: subprocess.Popen[bytes], grace: float = 0.0) -> None:
    """End a launched process and everything it has started, after at most `grace` seconds."""
    if grace:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace)
    with contextlib.suppress(OSError):
        process.terminate()  # the launcher ends everything it has started
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5.0)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, 9)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5.0)
