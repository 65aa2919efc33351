"""Transcripts: every call of language models, as JSON lines.

A line is one object. "type" says what:

    system    {"id", "text"}: a system message, once before the calls that name it
    call      one request: "time" (UTC), "agent", "model", "game", "game_seed" (the agent's seed of the
              game), "player", "decision", "attempt" (of the decision, from 1), "request" (of the attempt,
              from 1), "system" (its id), "messages" (the others), "reply", "outcome", "reason", "seconds",
              "finish_reason", "tokens", "candidate" and "actions" (what was chosen, where the outcome is
              "ok")

A file may be added to by many threads and processes: each line is written in one piece.
"""

import datetime
import hashlib
import json
import os
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cardenvs.core.errors import ArenaError, FormatError


class Transcript:
    """A file to which calls are added."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Create a transcript; the file is made with the first call.

        Raises:
            ArenaError: there is no such folder.
        """
        self._path = Path(path)
        if not self._path.parent.is_dir():
            raise ArenaError(f"cannot write {self._path}: there is no folder {self._path.parent}")
        self._known: set[str] = set()

    def add(self, system: str, call: dict[str, Any]) -> None:
        """Add a call; `system` is the system message it was made with."""
        name = system_id(system)
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        lines = [{"type": "call", "time": now, "system": name, **call}]
        with _lock:
            if name not in self._known:
                lines.insert(0, {"type": "system", "id": name, "text": system})
                self._known.add(name)
            data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                while data:
                    data = data[os.write(file, data) :]
            finally:
                os.close(file)


_lock = threading.Lock()
if hasattr(os, "register_at_fork"):  # a forked process has the lock, but not the thread that would release it
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_open: dict[str, Transcript] = {}


def transcript_of(path: str) -> Transcript:
    """Return the transcript of a file: one for all agents of this process."""
    with _lock:
        path = os.path.abspath(path)
        return _open.setdefault(path, Transcript(path))


def system_id(text: str) -> str:
    """Return the id of a system message."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_calls(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """Yield the calls of a file, each with the text of its system message under "system_text".

    Raises:
        FormatError: a line that does not belong to a transcript. A last line that was cut short is skipped.
    """
    systems: dict[str, str] = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                if not line.endswith("\n"):
                    return
                entry = None
            if not _is_entry(entry):
                raise FormatError(f"{path}: line {number} does not belong to a transcript")
            if entry["type"] == "system":
                systems[entry["id"]] = entry["text"]
            elif entry["type"] == "call":
                yield {**entry, "system_text": systems.get(entry.get("system", ""), "")}


def _is_entry(entry: Any) -> bool:
    """Return whether a line has the fields that readers compute with, of the right types."""
    if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
        return False
    if entry["type"] == "system":
        return isinstance(entry.get("id"), str) and isinstance(entry.get("text"), str)
    tokens = entry.get("tokens") or {}
    return (
        isinstance(entry.get("system", ""), str)
        and isinstance(entry.get("seconds"), int | float | None)
        and isinstance(tokens, dict)
        and all(isinstance(count, int | None) for count in tokens.values())
    )


def count_outcomes(path: str | os.PathLike[str]) -> dict[str, Counter[str]]:
    """Calls by agent and outcome."""
    counts: dict[str, Counter[str]] = {}
    for call in read_calls(path):
        counts.setdefault(str(call.get("agent")), Counter())[str(call.get("outcome"))] += 1
    return counts
