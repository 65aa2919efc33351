"""Untrusted text: printing it safely, checking names, and reading files within limits."""

import difflib
import os
import stat
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cardenvs.core.errors import CardenvsError, FormatError, require

LONGEST_NAME = 100  # characters
_LARGEST_YAML = 256 << 10  # bytes; files that people write
_DEEPEST = 50  # levels of nesting in a YAML file
_MOST_VALUES = 100_000  # values in a YAML file, with aliases expanded
_MOST_ALIASES = 100  # aliases in a YAML file; aliases of aliases grow exponentially when expanded

_UNCOUNTED = ("fish", "food")
_PLURALS = {"die": "dice"}
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # including full-width forms


def printable(text: str) -> str:
    """Return a text that is safe to print: unprintable characters are escaped, as in \\x1b.

    These include control, bidirectional and invisible characters and lone surrogates. Line ends and tabs are kept.
    """
    text = text.replace("\r\n", "\n")
    return "".join(one if one.isprintable() or one in "\n\t" else _written_out(one) for one in text)


def one_line(text: str, most: int = 300) -> str:
    """Return a printable form of a text on one line, at most `most` characters long."""
    text = printable(" ".join(text[: 20 * most].split()))
    return text if len(text) <= most else f"{text[: most - 3]}..."


def count(number: float | None, noun: str, form: str = "") -> str:
    """Return a number with its noun, such as "1 card", "2 cards", "2 dice", or "? cards" for None; fish stay fish.

    `form` is Python's format specification of the number.
    """
    is_one = number is not None and abs(number) == 1
    written = "?" if number is None else format(number, form)
    return f"{written} {noun if is_one or noun in _UNCOUNTED else _PLURALS.get(noun, f'{noun}s')}"


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return a hint for an unknown name, "did you mean 'NAME'? ", or an empty string if no known name is close."""
    near = difflib.get_close_matches(str(name), list(known), 1)
    return f"did you mean {near[0]!r}? " if near else ""


def _written_out(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def check_name(name: str, what: str, error: type[CardenvsError] = FormatError) -> str:
    """Return `name` if it is safe to show to others; `what` says what it names in errors.

    Raises:
        error: the name is empty, longer than LONGEST_NAME characters, or has unprintable characters.
    """
    if not name.strip():
        raise error(f"{what} needs a name")
    if len(name) > LONGEST_NAME:
        raise error(f"{what} is called {one_line(name, 40)!r}; a name has at most {LONGEST_NAME} characters")
    if not name.isprintable():
        shown = "".join(one if one.isprintable() else _written_out(one) for one in name)
        raise error(f"{what} is called '{shown}'; a name has no control, bidirectional or invisible characters")
    return name


def csv_cell(value: Any) -> Any:
    """Return a value for a CSV cell. A text that a spreadsheet would run as a formula gets an apostrophe (OWASP)."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def read_text(path: str | os.PathLike[str], what: str, error: type[CardenvsError], most: int) -> str:
    """Return the text of a regular file of at most `most` bytes of UTF-8; `what` is the kind of file in errors.

    Raises:
        error: the file is missing, not a regular file (reading a FIFO would block), too large, or not UTF-8.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise error(f"{path} is not a {what}: it is not a regular file")
        with open(path, "rb") as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise error(f"{path} is not a {what}: it is larger than {most >> 10} KiB")
        return data.decode("utf-8")
    except OSError as failure:
        raise error(f"{path} cannot be read: {failure.strerror or failure}") from None
    except UnicodeDecodeError as failure:
        raise error(f"{path} cannot be read: it is not UTF-8 ({failure.reason} at byte {failure.start})") from None


def read_yaml(path: str | os.PathLike[str], extra: str, error: type[CardenvsError]) -> Any:
    """Return the value of a YAML file of at most 256 KiB. Tags for Python objects are rejected.

    Raises:
        error: the file cannot be read, is not YAML, is nested too deeply, or has too many aliases.
        MissingExtraError: pyyaml, which `extra` installs, is not there.
    """
    yaml = require("yaml", extra)
    text = read_text(path, "YAML file", error, _LARGEST_YAML)
    try:
        _check_yaml(yaml, text)
        return _without_loops(yaml.load(text, Loader=yaml_loader(yaml)))
    except RecursionError:
        raise error(f"{path} cannot be read: it is nested too deeply, or contains itself") from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError) as failure:  # impossible dates and numbers
        raise error(f"{Path(path)} cannot be read: {one_line(str(failure))}") from None


def yaml_loader(yaml: Any) -> Any:
    """Return the loader of pyyaml for plain values, in C where pyyaml has it: ten times as fast."""
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _check_yaml(yaml: Any, text: str) -> None:
    """Reject files that are slow to load: pyyaml's time grows with the square of the depth.

    Raises:
        RecursionError: the file is nested too deeply.
        ValueError: it has too many aliases.
    """
    depth = aliases = 0
    for event in yaml.parse(text, Loader=yaml_loader(yaml)):  # lazily, so that it stops at the limits
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        aliases += isinstance(event, yaml.AliasEvent)
        if depth > _DEEPEST:
            raise RecursionError
        if aliases > _MOST_ALIASES:
            raise ValueError(f"it has more than {_MOST_ALIASES} aliases")


def _without_loops(value: Any) -> Any:
    """Return `value` unchanged if it is finite and not too large.

    Raises:
        RecursionError: it contains itself.
        ValueError: it has too many values with its aliases expanded.
    """
    count = 0

    def walk(one: Any, depth: int) -> None:
        nonlocal count
        count += 1
        if depth > 2 * _DEEPEST:
            raise RecursionError
        if count > _MOST_VALUES:
            raise ValueError(f"it has more than {_MOST_VALUES} values")
        if isinstance(one, dict):
            for key, inner in one.items():
                walk(key, depth + 1)
                walk(inner, depth + 1)
        elif isinstance(one, list | tuple | set):
            for inner in one:
                walk(inner, depth + 1)

    walk(value, 0)
    return value


def numbered(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names, with #2, #3, ... appended to repeated ones."""
    seen: Counter[str] = Counter()
    distinct = []
    for name in names:
        seen[name] += 1
        distinct.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return tuple(distinct)


_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be", b"\xef\xbb\xbf": "utf-8"}  # byte-order marks


def encoding_of(start: bytes) -> str:
    """Return the encoding that a byte-order mark at the start of a file names, or "" if there is none."""
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), "")


def decoded(raw: bytes) -> tuple[str, str]:
    """Return the text of a file of another program, and its encoding: by its byte-order mark, UTF-8, or Latin-1.

    Raises:
        FormatError: the bytes do not fit the byte-order mark.
    """
    encoding = encoding_of(raw)
    try:
        return raw.decode(encoding or "utf-8").removeprefix("\ufeff"), encoding or "utf-8"
    except UnicodeDecodeError as error:
        if encoding:
            raise FormatError(f"this is not {encoding.upper()}, as its byte-order mark says ({error.reason})") from None
        return raw.decode("latin-1"), "latin-1"
