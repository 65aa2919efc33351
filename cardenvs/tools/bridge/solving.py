"""Double-dummy tables of many deals, in several processes, kept on disk as they are found.

DDS has threads of its own, but a call cannot be interrupted, and its threads wait for the hardest board of each call.
Processes with one thread each are as fast or faster and can stop after any chunk.
"""

import hashlib
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from cardenvs.core.errors import require
from cardenvs.games.bridge.state import NUM_DENOMINATIONS, NUM_PLAYERS, NUM_TRICKS
from cardenvs.tools.bridge.double_dummy import EXTRA, dds, num_cores, tables
from cardenvs.tools.bridge.kept import KeptLines, Line

CHUNK = 8  # deals: a few seconds' work
_FORMAT = "cardenvs-double-dummy-part"

Progress = Callable[[int, int], None]


def solve(
    hands: np.ndarray, part: Path | None = None, processes: int | None = None,
    progress: Progress = lambda done, total: None,
) -> np.ndarray:  # fmt: skip
    """Return the double-dummy tables of deals, int8 (n, 5, 4) as `double_dummy.tables` does.

    Args:
        hands: int64 (n, 4).
        part: file to which every chunk is added once it is solved. If it exists, its chunks are not solved again.
        processes: how many; None: one per core.
        progress: called with the number of deals solved, and of all.

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
