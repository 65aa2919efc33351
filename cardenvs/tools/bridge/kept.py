"""Work kept on disk line by line, so that a long command can be stopped and goes on where it was."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cardenvs.core.checks import parsed
from cardenvs.core.errors import FormatError
from cardenvs.core.files import write_whole

_MOST_TEXT = 256 * 1024 * 1024  # bytes of a file

Line = dict[str, Any]


class KeptLines:
    """A file of JSON lines: a head that says what the work is, then what has been done of it, in any order.

    Attributes:
        lines: those that were in the file.
    """

    def __init__(self, path: Path, head: Line, check: Callable[[Line], bool]) -> None:
        """Open or create the file.

        Args:
            path: of the file.
            head: what the results depend on.
            check: returns whether a line is sound.

        Raises:
            FormatError: the file is of other work, or damaged.
        """
        self._path = path
        self.lines = self._read(head, check) if path.exists() else []
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
