"""Pages of recorded games and of their reviews, made in separate processes.

Drawing a long game takes seconds of computation, and reviewing it a minute. A few processes with low priority do it. A
process is killed if it takes too long, or if the client that waits for its page leaves.

A job is a line of JSON: {"text": replay, "notes": {ply: note}}, {"file": path}, or {"store": path, "match": id,
"deal": number, "lineup": number}; with "review": number of worlds, the game is reviewed, too. A process answers with {}
once it has read the game and then with {"page": HTML}, or with {"error": message}.
"""

import asyncio
import contextlib
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter, OrderedDict
from dataclasses import replace
from pathlib import Path
from typing import Any

from cardenvs.core.errors import CardenvsError, FormatError
from cardenvs.core.replay import Replay
from cardenvs.server.rate import Rate
from cardenvs.server.settings import Limits
from cardenvs.server.table import RefusedError

_PAGE_BYTES = 1 << 26
_READ_SECONDS = 120.0  # reading a game may compile its code
_AT_ONCE = 4  # pages that a client address may wait for at once
_REVIEWS_WAITING, _REVIEWS_KEPT = 8, 16
_NICE = 5


class Drawings:
    """A pool of processes that draw pages of recorded games."""

    def __init__(self, limits: Limits, what: str = "recorded games") -> None:
        """Prepare the pool. Processes start on demand. `what` they make is named in refusals."""
        self._limits, self._what = limits, what
        self._rate = Rate(limits.drawings_per_minute)
        self._slots = asyncio.Semaphore(limits.drawings)
        self._idle: list[Process] = []
        self._busy: set[Process] = set()
        self._waiting: Counter[str] = Counter()  # pages that each client waits for

    async def page(self, job: dict[str, Any], client: str) -> str:
        """Draw the page of a recorded game as HTML; see the docstring of this module for jobs. Cancelling this stops
        the drawing.

        Raises:
            FormatError: the game cannot be read, or drawing it takes too long.
            RefusedError: the client asks for too many pages, or too many are waiting.
        """
        self.check_rate(client)
        if self._waiting[client] >= _AT_ONCE or self._waiting.total() >= self._limits.drawings_waiting:
            raise RefusedError(f"other {self._what} are waiting; try again in a moment")
        self._waiting[client] += 1
        try:
            async with self._slots:
                return await self._draw(job)
        finally:
            self._waiting[client] -= 1
            self._waiting += Counter()  # drops zeros

    def check_rate(self, client: str) -> None:
        """Count a request of a client. Raises RefusedError if the client sends too many."""
        if not self._rate.allows(client):
            raise RefusedError(f"at most {self._limits.drawings_per_minute:g} {self._what} a minute; wait a moment")

    async def _draw(self, job: dict[str, Any]) -> str:
        process = self._idle.pop() if self._idle else await _started()
        self._busy.add(process)
        try:
            answer = await self._answer(process, job)
        except BaseException as error:
            await _ended(process)
            if isinstance(error, TimeoutError):
                seconds = self._limits.drawing_seconds
                raise FormatError(f"the game is too long: this takes more than {seconds:g} seconds") from None
            raise
        finally:
            self._busy.discard(process)
        self._idle.append(process)
        if "error" in answer:
            raise FormatError(answer["error"])
        return str(answer["page"])

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
        """Kill all processes."""
        for process in (*self._idle, *self._busy):
            await _ended(process)
        self._idle.clear()


class Reviews:
    """Reviews of finished games, made one by one in a process of their own. The latest are kept."""

    def __init__(self, limits: Limits) -> None:
        """Prepare the process, which starts on demand."""
        self._worlds = limits.review_worlds
        limits = replace(
            limits, drawings=1, drawings_waiting=_REVIEWS_WAITING, drawings_per_minute=limits.reviews_per_minute,
            drawing_seconds=limits.review_seconds,
        )  # fmt: skip
        self._drawings = Drawings(limits, "reviews")
        self._kept: OrderedDict[str, str] = OrderedDict()

    async def page(self, replay: str, client: str) -> str:
        """Return the review of a replay, given as text, as HTML.

        Raises:
            FormatError: reviewing the game takes too long.
            RefusedError: the client asks for too many reviews, or too many are waiting.
        """
        if replay not in self._kept:
            job = {"text": replay, "notes": {}, "review": self._worlds}
            self._kept[replay] = await self._drawings.page(job, client)
            while len(self._kept) > _REVIEWS_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(replay)
        return self._kept[replay]

    async def stop(self) -> None:
        """Kill the process."""
        await self._drawings.stop()


async def _started() -> Process:
    command = [sys.executable, "-m", "cardenvs.server.drawing"]
    # A new session keeps Ctrl-C from the process, which would print a traceback.
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
        raise FormatError("this game cannot be drawn: the process that draws it crashed")
    answer: dict[str, Any] = json.loads(line)
    return answer


# -- the process --------------------------------------------------------------------------------------------------


def _read(job: dict[str, Any]) -> tuple[Replay, dict[int, Any]]:
    """Return the replay of a job and the agents' notes by ply."""
    if "text" in job:
        return Replay.parse(job["text"], only_registered=True), {int(ply): note for ply, note in job["notes"].items()}
    try:  # messages have the path of the file
        if "file" in job:
            return Replay.load(Path(job["file"])), {}
        return _from_store(job)
    except (CardenvsError, OSError) as error:
        print(error, file=sys.stderr)
        raise FormatError("this game is gone, or its record is damaged") from None


def _from_store(job: dict[str, Any]) -> tuple[Replay, dict[int, Any]]:
    from cardenvs.arena.store import Store
    from cardenvs.arena.verify import replay_of

    with Store(Path(job["store"]), read_only=True) as store:
        record = store.game(job["match"], job["deal"], job["lineup"])
        return replay_of(store.match(job["match"]), record), {note["ply"]: note for note in record.notes}


def _page(job: dict[str, Any], replay: Replay, notes: dict[int, Any]) -> str:
    if "review" not in job:
        return replay.page(notes=notes, back="/")
    from cardenvs.review import judge_of, review_game
    from cardenvs.review.page import page

    judge = judge_of("search", replay.game, replay.game.make_options(**replay.options))
    return page(review_game(replay, judge, worlds=job["review"]), back="/")


def _main() -> None:
    """Work on the jobs from standard input until it ends."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # anything else that is printed goes to standard error

    def answer(said: dict[str, Any]) -> None:
        out.write(json.dumps(said) + "\n")
        out.flush()

    for line in sys.stdin:
        try:
            job = json.loads(line)
            replay, notes = _read(job)
            answer({})
            answer({"page": _page(job, replay, notes)})
        except CardenvsError as error:
            answer({"error": str(error.args[0]) if error.args else str(error)})


if __name__ == "__main__":
    _main()
