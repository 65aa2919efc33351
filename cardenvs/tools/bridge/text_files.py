"""Lines of PBN and LIN files, which may be hostile: bounded, decoded, with their numbers."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from cardenvs.core.errors import FormatError
from cardenvs.core.files import check_input
from cardenvs.core.text import decoded, encoding_of

MOST_LINE = 20_000  # bytes, or characters in UTF-16
MOST_LINES = 5_000  # of one board
MOST_NOTES = 100  # of one board; more say nothing new


@dataclass
class Notes:
    """What was read in another way than it is written; with `strict`, such a thing raises a FormatError instead."""

    strict: bool = False
    texts: list[str] = field(default_factory=list)

    def add(self, line: int, what: str, text: object) -> None:
        """Add a note on a line and a tag or key, "" for none.

        Raises:
            FormatError: with `strict`.
        """
        said = f"line {line}{', ' if what else ''}{what}: {text}"
        if self.strict:
            raise FormatError(said)
        if len(self.texts) < MOST_NOTES and said not in self.texts:
            self.texts.append(said)


def note_encoding(path: Path, notes: Notes) -> None:
    """Note an encoding that PBN and LIN do not have.

    Raises:
        FormatError: as `Notes.add`.
        FileError: the file cannot be read.
    """
    check_input(path)
    with path.open("rb") as file:
        encoding = encoding_of(file.read(3))
    if encoding.startswith("utf-16"):
        notes.add(1, "", "the file is in UTF-16")


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of every line without its end: in UTF-8, in UTF-16 with a byte-order mark, or else in
    Latin-1, which PBN prescribes.

    Raises:
        FormatError: a line is too long, or is not what the byte-order mark says.
        FileError: the file cannot be read.
    """
    check_input(path)
    number = 0
    with path.open("rb") as file:
        encoding = encoding_of(file.read(3))
        file.seek(0)
        is_wide = encoding.startswith("utf-16")
        while raw := _line(file, is_wide):
            number += 1
            if len(raw) > (1 + is_wide) * MOST_LINE:
                raise FormatError(f"{path}, line {number}: a line has at most {MOST_LINE:,} bytes")
            if is_wide:
                text = raw.decode(encoding, "replace")
            else:
                text, _ = decoded(raw)
            yield number, text.removeprefix("\ufeff").rstrip("\r\n")


def _line(file: IO[bytes], is_wide: bool) -> bytes:
    """Return the next line with its end, or a part that is too long; in UTF-16 its end has two bytes."""
    if not is_wide:
        return file.readline(MOST_LINE + 1)
    raw = b""
    while part := file.readline(2 * MOST_LINE + 2):
        raw += part
        if len(raw) > 2 * MOST_LINE:
            break
        if len(raw) % 2:  # little-endian: the second byte of the line feed follows
            raw += file.read(1)
        if raw.endswith((b"\n\0", b"\0\n")):
            break
    return raw
