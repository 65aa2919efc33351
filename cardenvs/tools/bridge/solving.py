"""Double-dummy tables of many deals, in several processes, kept on disk as they are found.

DDS has threads of its own, but a call cannot be interrupted, and its threads wait for the hardest board of each call.
Processes with one thread each are as fast or faster and can stop after any chunk.
"""

import hashlib
import json
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from cardenvs.core.checks import parsed
from cardenvs.core.errors import FormatError, require
from cardenvs.core.files import write_whole
from cardenvs.games.bridge.state import NUM_DENOMINATIONS, NUM_PLAYERS, NUM_TRICKS
from cardenvs.tools.bridge.double_dummy import EXTRA, dds, num_cores, tables

Line = dict[str, Any]
CHUNK = 8  # deals: a few seconds' work
_FORMAT = "cardenvs-double-dummy-part"

Progress = Callable[[int, int], None]


def solve(
    hands: np.ndarray, part: Path | None = None, processes: int | None = None,
    progress: Progress = lambda done, total: None,
) -> np.ndarray:  # fmt: skip
    """Return the double-dummy tables of deals, int64 (n, 4), as `double_dummy.tables` does: int8 (n, 5, 4).

    Every chunk is added to the file `part` once it is solved, and chunks in the file are not solved again. `processes`
    defaults to one per core. `progress` is called with the number of deals solved, and of all.

    Raises:
        MissingExtraError: endplay is not installed.
        FormatError: `part` is no such file, or belongs to other deals.
    """
    require("endplay", EXTRA)
    hands = np.ascontiguousarray(hands, np.int64)
    found = np.full((len(hands), NUM_DENOMINATIONS, NUM_PLAYERS), -1, np.int8)
    head = {"format": _FORMAT, "deals": len(hands), "hash": hashlib.sha256(hands.tobytes()).hexdigest()}
    kept = None if part is None else KeptLines(part, head, lambda line: _is_chunk(line, len(hands)))
    for line in kept.lines if kept else ():
        chunk = np.array(line["tricks"], np.int8).reshape(-1, NUM_DENOMINATIONS, NUM_PLAYERS)
        found[line["first"] : line["first"] + len(chunk)] = chunk
    missing = [start for start in range(0, len(hands), CHUNK) if found[start, 0, 0] < 0]
    done = int((found[:, 0, 0] >= 0).sum())
    progress(done, len(hands))
    for start, chunk in _solved(hands, missing, processes or num_cores()):
        if kept:
            kept.add({"first": start, "tricks": chunk.ravel().tolist()})
        found[start : start + len(chunk)] = chunk
        done += len(chunk)
        progress(done, len(hands))
    return found


def _solved(hands: np.ndarray, starts: list[int], processes: int) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (start, tables) of each chunk, in any order."""
    processes = min(processes, len(starts))
    if processes <= 1:
        for start in starts:
            yield start, tables(hands[start : start + CHUNK])
        return
    with ProcessPoolExecutor(processes, get_context("spawn"), _begin) as pool:
        try:
            waiting = {pool.submit(tables, hands[start : start + CHUNK]): start for start in starts}
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _begin() -> None:
    """Prepare a worker: one thread, and Ctrl-C is the parent's affair."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    dds(threads=1)


def _is_chunk(line: Line, num_deals: int) -> bool:
    """Whether a line of a part file has the tables of a chunk."""
    start, tricks = line.get("first"), line.get("tricks")
    if type(start) is not int or start not in range(0, num_deals, CHUNK):
        return False
    size = min(CHUNK, num_deals - start) * NUM_DENOMINATIONS * NUM_PLAYERS
    return (
        isinstance(tricks, list)
        and len(tricks) == size
        and all(type(n) is int and 0 <= n <= NUM_TRICKS for n in tricks)
    )


_MOST_TEXT = 256 * 1024 * 1024  # bytes of a file


class KeptLines:
    """A file of JSON lines: a head that says what the work is, then what has been done of it, in any order."""

    def __init__(self, path: Path, head: Line, check: Callable[[Line], bool]) -> None:
        """Open or create the file. `head` is what the results depend on, and `check` returns whether a line is sound.

        Raises:
            FormatError: the file is of other work, or damaged.
        """
        self._path = path
        self.lines = self._read(head, check) if path.exists() else []  # those that were in the file
        # Written whole, because the last line is incomplete if the process was killed.
        write_whole(path, "".join(json.dumps(line) + "\n" for line in (head, *self.lines)))

    def _read(self, head: Line, check: Callable[[Line], bool]) -> list[Line]:
        if self._path.stat().st_size > _MOST_TEXT:
            raise FormatError(f"{self._path} is too large for what this command keeps")
        text = self._path.read_bytes()
        lines = text[: text.rfind(b"\n") + 1].splitlines()
        if not lines or parsed(lines[0], f"line 1 of {self._path}") != json.loads(json.dumps(head)):
            raise FormatError(f"{self._path} belongs to other work; delete it, or choose another --out")
        found = []
        for number, text in enumerate(lines[1:], 2):
            line = parsed(text, f"line {number} of {self._path}")
            if not isinstance(line, dict) or not check(line):
                raise FormatError(f"line {number} of {self._path} is damaged; delete the file to begin again")
            found.append(line)
        return found

    def add(self, line: Line) -> None:
        """Add a line."""
        with self._path.open("a") as file:
            file.write(json.dumps(line) + "\n")
