"""Pages of recorded games, drawn by processes of their own.

A long game takes seconds to draw and keeps Python busy all the while. So a few processes draw, with low priority, and
one that takes too long, or whose page nobody waits for any more, is killed.

A job is a line of JSON: {"text": replay, "notes": {ply: note}}, {"file": path}, or {"store": path, "match": id,
"deal": number, "lineup": number}. The answer is a line when the game is read and one with {"page": HTML}, or one line
with {"error": message}.
"""

import asyncio
import contextlib
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from pathlib import Path
from typing import Any

from cardenvs.core.errors import CardenvsError, FormatError
from cardenvs.core.replay import Replay
from cardenvs.server.rate import Rate
from cardenvs.server.settings import Limits
from cardenvs.server.table import RefusedError

_PAGE_BYTES = 1 << 26
_READ_SECONDS = 120.0  # with a cold cache, the game is compiled
_AT_ONCE = 4  # pages that one address may wait for
_NICE = 5


class Drawings:
    """Draws pages of recorded games, a few at a time."""

    def __init__(self, limits: Limits) -> None:
        """Processes start when they are first needed."""
        self._limits = limits
        self._rate = Rate(limits.drawings_per_minute)
        self._slots = asyncio.Semaphore(limits.drawings)
        self._idle: list[Process] = []
        self._busy: set[Process] = set()
        self._waiting: Counter[str] = Counter()  # pages by client

    async def page(self, job: dict[str, Any], client: str) -> str:
        """Return the page of a recorded game. If this is cancelled, the drawing ends.

        Args:
            job: see the top of this module.
            client: address of the client, whose pages are counted.

        Raises:
            FormatError: the game cannot be read, or drawing it takes too long.
            RefusedError: there are too many pages to draw.
        """
        self.count(client)
        if self._waiting[client] >= _AT_ONCE or self._waiting.total() >= self._limits.drawings_waiting:
            raise RefusedError("other recorded games are being drawn; try again in a moment")
        self._waiting[client] += 1
        try:
            async with self._slots:
                return await self._draw(job)
        finally:
            self._waiting[client] -= 1
            self._waiting += Counter()  # without those that are zero

    def count(self, client: str) -> None:
        """Count something that a client asks for.

        Raises:
            RefusedError: it is too much.
        """
        if not self._rate.allows(client):
            raise RefusedError(f"at most {self._limits.drawings_per_minute:g} recorded games a minute; wait a little")

    async def _draw(self, job: dict[str, Any]) -> str:
        process = self._idle.pop() if self._idle else await _started()
        self._busy.add(process)
        try:
            answer = await self._answer(process, job)
        except BaseException as error:
            await _ended(process)
            if isinstance(error, TimeoutError):
                seconds = self._limits.drawing_seconds
                raise FormatError(f"drawing this game takes more than {seconds:g} seconds; it is too long") from None
            raise
        finally:
            self._busy.discard(process)
        self._idle.append(process)
        if "error" in answer:
            raise FormatError(answer["error"])
        return answer["page"]

    async def _answer(self, process: Process, job: dict[str, Any]) -> dict[str, Any]:
        assert process.stdin is not None
        process.stdin.write(json.dumps(job).encode() + b"\n")
        answer: dict[str, Any] = {}
        for seconds in (_READ_SECONDS, self._limits.drawing_seconds):
            async with asyncio.timeout(seconds):
                answer = await _line(process)
            if answer:
                break
        return answer

    async def stop(self) -> None:
        """End all processes."""
        for process in (*self._idle, *self._busy):
            await _ended(process)
        self._idle.clear()


async def _started() -> Process:
    command = [sys.executable, "-m", "cardenvs.server.drawing"]
    # In a session of its own, or Ctrl-C would interrupt it with a traceback.
    return await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, limit=_PAGE_BYTES, start_new_session=True
    )


async def _ended(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()


async def _line(process: Process) -> dict[str, Any]:
    assert process.stdout is not None
    line = await process.stdout.readline()
    if not line:
        raise FormatError("this game cannot be drawn: the process that draws it has ended")
    return json.loads(line)


# ---------------------------------------------------------------------------------------------------------------
# The process


def _read(job: dict[str, Any]) -> tuple[Replay, dict[int, Any]]:
    """Return the replay of a job, and what agents noted."""
    if "text" in job:
        return Replay.parse(job["text"]), {int(ply): note for ply, note in job["notes"].items()}
    if "file" in job:
        return Replay.load(Path(job["file"])), {}
    from cardenvs.arena.store import Store
    from cardenvs.arena.verify import replay_of

    with Store(Path(job["store"]), read_only=True) as store:
        try:
            record = store.game(job["match"], job["deal"], job["lineup"])
            replay = replay_of(store.match(job["match"]), record)
        except CardenvsError:  # which names the file
            raise FormatError("the store does not have that game, or its record is damaged") from None
    return replay, {note["ply"]: note for note in record.notes}


def _main() -> None:
    """Answer jobs until the input ends."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else writes to standard output

    def answer(said: dict[str, Any]) -> None:
        out.write(json.dumps(said) + "\n")
        out.flush()

    for line in sys.stdin:
        try:
            replay, notes = _read(json.loads(line))
            answer({})
            answer({"page": replay.page(notes=notes)})
        except CardenvsError as error:
            answer({"error": str(error.args[0]) if error.args else str(error)})


if __name__ == "__main__":
    _main()
