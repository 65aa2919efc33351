"""The folder of a recorded match, from its first decision to its last.

    match.json        status, configuration, seed, agents, players, standings so far, elimination order
    timeline.jsonl    the timeline (timeline.py)
    actions.jsonl     a line per decision: player, action, outcome, failures, time, and the agent's `turn.notes`
    aggregates.json   statistics of all players (aggregates.py)
    replay.json       the replay file of the suite
    failure.json, state.bin    only if the match failed: the error, and the state at that moment
    answers.jsonl     only while a decision is under way: what models have answered so far

A decision is appended to actions.jsonl as soon as it is made, and reaches the disk at once if it took long. The other
files, each written atomically, follow while the match runs, about once a second. So a match that is killed leaves all
that happened, and can be taken up again where it stopped.
"""

import contextlib
import json
import os
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from cardenvs.core.errors import ArenaError, FormatError
from cardenvs.core.files import locked_folder, write_whole
from cardenvs.core.replay import Replay
from cardenvs.tools.texas_holdem.entries import json_object
from cardenvs.tools.texas_holdem.timeline import Timeline

FINISHED, FAILED, INTERRUPTED, RUNNING = "finished", "failed", "interrupted", "running"
MATCH, ACTIONS, ANSWERS = "match.json", "actions.jsonl", "answers.jsonl"

_REFRESH_S = 1.0  # between two writes of the other files, at least
_REFRESH_SHARE = 20  # that many times as long as the last write took
_SLOW_S = 0.05  # a decision that took longer may have cost money: it must outlive a power failure


class MatchFolder:
    """The folder of a match; with no path it writes nothing. A context manager: it is locked until the end."""

    def __init__(self, path: str | os.PathLike[str] | None, resume: bool = False) -> None:
        """Name a folder, if any, whose match may be resumed. Nothing is read or written yet."""
        self._path = None if path is None else Path(path)
        self._resume = resume
        self._closing = contextlib.ExitStack()
        self._lines: IO[str] | None = None
        self._written, self._cost = 0.0, 0.0  # when the other files were, and seconds that took
        self._answers: list[tuple[str, list[dict[str, Any]]]] = []  # to be repeated
        self._has_answers = False
        self.head: dict[str, Any] | None = None  # of match.json as the folder had it, or None: a new folder
        self.decisions: list[dict[str, Any]] = []  # the lines of actions.jsonl so far, JSON values

    def __enter__(self) -> Self:
        """Lock the folder and read what it has; nothing in it is changed.

        Raises:
            ArenaError: the folder has files and `resume` is False, or it has no match and `resume` is True.
            FormatError: a file is not what it should be.
            FileError: another process plays this match.
        """
        if self._path is None:
            return self
        taken = self._path.exists() and (not self._path.is_dir() or any(self._path.iterdir()))
        if taken and not self._resume:
            raise ArenaError(
                f"cannot write a match to {self._path}: it is there already; name a new folder, or resume it"
            )
        if self._resume and not (self._path / MATCH).is_file():
            raise ArenaError(f"cannot resume {self._path}: it has no match; start one without resume")
        with contextlib.ExitStack() as closing:
            closing.enter_context(locked_folder(self._path))
            if self._resume:
                self._read(self._path)
            self._closing = closing.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the folder."""
        self._closing.close()

    # -- what is there ------------------------------------------------------------------------------------------

    def _read(self, path: Path) -> None:
        self.head = _object(path / MATCH, (path / MATCH).read_text(encoding="utf-8"))
        self.decisions = _whole_lines(path / ACTIONS)
        if self.decisions and self.decisions[-1].get("action") is None:
            self.decisions.pop()  # of an agent that failed; it is asked again
        self._answers = [_answer(path / ANSWERS, entry) for entry in _whole_lines(path / ANSWERS)]
        self._has_answers = bool(self._answers)

    def start(self) -> None:
        """Get ready for decisions."""
        if self._path is None:
            return
        write_whole(self._path / ACTIONS, "".join(map(_line, self.decisions)))
        self._lines = self._closing.enter_context((self._path / ACTIONS).open("a", encoding="utf-8"))

    def recall(self, key: str) -> list[dict[str, Any]] | None:
        """Return what was answered to the question `key` of the decision under way, once for each time it was."""
        for number, (asked, calls) in enumerate(self._answers):
            if asked == key:
                del self._answers[number]
                return calls
        return None

    # -- what happens -------------------------------------------------------------------------------------------

    def keep(self, key: str, calls: list[dict[str, Any]]) -> None:
        """Keep an answer on the disk until its decision is made."""
        if self._path is None:
            return
        with (self._path / ANSWERS).open("a", encoding="utf-8") as file:
            file.write(_line({"key": key, "calls": calls}))
            _sync(file)
        self._has_answers = True

    def add_decision(self, decision: dict[str, Any]) -> None:
        """Add a line to actions.jsonl."""
        self.decisions.append(decision)
        if self._path is None or self._lines is None:
            return
        self._lines.write(_line(decision))
        if decision["seconds"] >= _SLOW_S or self._has_answers:
            _sync(self._lines)
        else:
            self._lines.flush()
        if self._has_answers:
            self._answers, self._has_answers = [], False
            (self._path / ANSWERS).unlink(missing_ok=True)

    @property
    def is_due(self) -> bool:
        """Whether the other files should be written again while the match runs."""
        wait = max(_REFRESH_S, _REFRESH_SHARE * self._cost)
        return self._path is not None and time.monotonic() - self._written >= wait

    def write_failure(self, failure: dict[str, Any], state: bytes) -> None:
        """Write failure.json and the state at that moment."""
        if self._path is not None:
            self._write_json("failure.json", failure)
            write_whole(self._path / "state.bin", state)

    def write(self, head: dict[str, Any], timeline: Timeline, aggregates: dict[str, Any], replay: Replay) -> None:
        """Write all other files, match.json last. What an earlier failure has left is removed with its status."""
        if self._path is None:
            return
        started = time.monotonic()
        timeline.save(self._path / "timeline.jsonl")
        self._write_json("aggregates.json", aggregates)
        replay.save(self._path / "replay.json")
        self._write_json(MATCH, head)
        if head["status"] != FAILED:
            for name in ("failure.json", "state.bin"):
                (self._path / name).unlink(missing_ok=True)
        self._written = time.monotonic()
        self._cost = self._written - started

    def _write_json(self, name: str, data: Any) -> None:
        if self._path is not None:
            write_whole(self._path / name, json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _line(value: Any) -> str:
    return json.dumps(value, allow_nan=False) + "\n"  # ASCII, as a broken answer may contain half a character


def _sync(file: IO[str]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _whole_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file to which lines were added until the process died: a last line cut short is left."""
    if not path.is_file():
        return []
    *lines, _ = path.read_text(encoding="utf-8").split("\n")
    return [_object(path, line, number) for number, line in enumerate(lines, 1)]


def _object(path: Path, text: str, line: int = 1) -> dict[str, Any]:
    try:
        return json_object(text, line)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None


def _answer(path: Path, entry: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    key, calls = entry.get("key"), entry.get("calls")
    if not isinstance(key, str) or not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        raise FormatError(f"{path}: each line should be an object with a key and a list of calls")
    return key, calls
