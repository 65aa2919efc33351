"""Lines of PBN and LIN files, which may be hostile: bounded, decoded, with their numbers."""

from collections.abc import Iterator
from pathlib import Path

from cardenvs.core.errors import FormatError
from cardenvs.core.files import check_input

MOST_LINE = 20_000  # bytes
MOST_LINES = 5_000  # of one board


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of every line without its end: UTF-8, or else Latin-1, which PBN prescribes.

    Raises:
        FormatError: a line is too long.
        FileError: the file cannot be read.
    """
    check_input(path)
    number = 0
    with path.open("rb") as file:
        while raw := file.readline(MOST_LINE + 1):
            number += 1
            if len(raw) > MOST_LINE:
                raise FormatError(f"{path}, line {number}: a line has at most {MOST_LINE:,} bytes")
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                text = raw.decode("latin-1")
            yield number, text.rstrip("\r\n")
