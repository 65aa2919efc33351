"""Messages to and from an agent's process, and the end of its standard error."""

import json
import os
import select
import signal
import time
from typing import Any

from cardenvs.agents.guarded.programs import Running
from cardenvs.agents.guarded.protocol import LONGEST_LINE, BadLineError, read_message, shown

_MOST_UNSENT = 64 << 20  # bytes that an agent may leave unread
_KEPT_STDERR = 2000  # bytes kept


class LostProcessError(Exception):
    """The process has ended, or does not read its messages."""

    def __init__(self, message: str, memory: bool = False) -> None:
        super().__init__(message)
        self.memory = memory


class Pipe:
    """The messages to and from a running process. No call waits longer than its limit."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._in, self._out, self._err = running.stdin, running.stdout, running.stderr
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        self._unsent, self._received, self._stderr = bytearray(), bytearray(), bytearray()
        self._open = {self._in, self._out, self._err}

    def send(self, message: dict[str, Any]) -> None:
        """Write as much of a message as the process reads now; later calls write the rest."""
        self._unsent += json.dumps(message, separators=(",", ":")).encode() + b"\n"
        if len(self._unsent) > _MOST_UNSENT:
            raise LostProcessError("it does not read its messages")
        self._pump(0.0)

    def ask(self, message: dict[str, Any], limit: float | None) -> dict[str, Any]:
        """Write a message and wait for the next one from the process.

        Raises:
            TimeoutError: no answer came within the limit.
            LostProcessError: the process has ended, or does not read its messages.
            BadLineError: the answer is not a message, or the process wrote without being asked.
        """
        deadline = None if limit is None else time.monotonic() + limit
        if self._received:  # left over from an earlier answer
            raise BadLineError(f"it wrote {shown(bytes(self._received[:200]))} without being asked")
        self.send(message)
        while True:
            end = self._received.find(b"\n")
            if end >= 0:
                line = bytes(self._received[:end])
                del self._received[: end + 1]
                return read_message(line)
            if len(self._received) > LONGEST_LINE:
                raise BadLineError(f"its answer is longer than {LONGEST_LINE >> 20} MiB")
            if self._out not in self._open:
                raise self._gone()
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise TimeoutError
            self._pump(left)

    def _pump(self, seconds: float | None) -> None:
        """Transfer bytes in both directions, waiting up to `seconds` for the first ones."""
        poll = select.poll()
        for descriptor in self._open - {self._in}:
            poll.register(descriptor, select.POLLIN)
        if self._unsent and self._in in self._open:
            poll.register(self._in, select.POLLOUT)
        for descriptor, _ in poll.poll(None if seconds is None else max(0, int(seconds * 1000 + 1) if seconds else 0)):
            if descriptor == self._in:
                self._write()
            elif descriptor == self._out:
                self._read_into(descriptor, self._received)
            else:
                self._read_into(descriptor, self._stderr)
                del self._stderr[:-_KEPT_STDERR]

    def _write(self) -> None:
        try:
            written = os.write(self._in, self._unsent[: 1 << 16])
            del self._unsent[:written]
        except BlockingIOError:
            return
        except OSError:  # it has closed its input or ended; what it wrote before still counts
            self._open.discard(self._in)
            self._unsent.clear()

    def _read_into(self, descriptor: int, buffer: bytearray) -> None:
        try:
            data = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            buffer += data
        else:
            self._open.discard(descriptor)

    def _gone(self) -> LostProcessError:
        code = self._running.exit_code()
        if code is None:
            return LostProcessError("it has closed its standard output")
        if self._err in self._open:
            self._pump(0.0)
        words = (self._stderr + self._running.last_words()).decode(errors="replace").strip().splitlines()
        said = f"; it wrote: {' | '.join(words[-3:])}" if words else ""
        how = f"was ended by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
        memory = any(word in line for line in words for word in ("MemoryError", "bad_alloc", "Cannot allocate memory"))
        return LostProcessError(f"its process {how}{said}", memory)

    def leave(self) -> None:
        """Close this process's ends without ending the agent's process."""
        self._running.leave()

    def kill(self) -> None:
        """End the process without waiting for it; the streams stay open."""
        self._running.kill()

    def close(self, grace: float) -> None:
        """End the process and everything it has started, after at most `grace` seconds."""
        self._running.end(grace)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"
