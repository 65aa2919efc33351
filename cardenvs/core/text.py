"""Text from strangers: what may be printed, what may be a name, and files that are read within bounds."""

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
_DEEPEST = 50  # collections inside of each other in a YAML file
_MOST_VALUES = 100_000  # of a YAML file, aliases written out
_MOST_ALIASES = 100  # of a YAML file: aliases of aliases grow without bound when they are walked

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # also in full width


def printable(text: str) -> str:
    """A text as it may be printed: control, bidirectional and invisible characters are written out, as in \\x1b.

    So is all that Unicode does not count as printable, and halves of characters. Line ends and tabs stay.
    """
    text = text.replace("\r\n", "\n")
    return "".join(one if one.isprintable() or one in "\n\t" else _written_out(one) for one in text)


def one_line(text: str, most: int = 300) -> str:
    """The same in one line of at most `most` characters."""
    text = printable(" ".join(text[: 20 * most].split()))
    return text if len(text) <= most else f"{text[: most - 3]}..."


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """A hint for an error about an unknown name: "did you mean 'NAME'? ", or nothing where none is close."""
    near = difflib.get_close_matches(str(name), list(known), 1)
    return f"did you mean {near[0]!r}? " if near else ""


def _written_out(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def check_name(name: str, what: str, error: type[CardenvsError] = FormatError) -> str:
    """`name`, if it may name something that others will read.

    Args:
        name: of an agent, an experiment, a player, ...
        what: what it names, for the message.
        error: the class of error to raise.

    Raises:
        error: it is empty, longer than LONGEST_NAME characters, or has characters that do not show as they are.
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
    """A cell of a CSV file. A text that a spreadsheet would take for a formula gets an apostrophe (OWASP)."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def read_text(path: str | os.PathLike[str], what: str, error: type[CardenvsError], most: int) -> str:
    """The text of a regular file of at most `most` bytes of UTF-8.

    Raises:
        error: it is missing, no regular file (a FIFO would be waited for), too large, or no UTF-8.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise error(f"{path} is no {what}: it is no regular file")
        with open(path, "rb") as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise error(f"{path} is no {what}: it is larger than {most >> 10} KiB")
        return data.decode("utf-8")
    except OSError as failure:
        raise error(f"{path} cannot be read: {failure.strerror or failure}") from None
    except UnicodeDecodeError as failure:
        raise error(f"{path} cannot be read: it is no UTF-8 ({failure.reason} at byte {failure.start})") from None


def read_yaml(path: str | os.PathLike[str], extra: str, error: type[CardenvsError]) -> Any:
    """The value of a YAML file of at most 256 KiB, without any Python objects.

    Raises:
        error: the file cannot be read, is no YAML, nests too deep, or repeats itself by too many aliases.
        MissingExtraError: pyyaml is not installed.
    """
    yaml = require("yaml", extra)
    text = read_text(path, "YAML file", error, _LARGEST_YAML)
    try:
        _check_yaml(yaml, text)
        return _without_loops(yaml.safe_load(text))
    except RecursionError:
        raise error(f"{path} cannot be read: it nests too deep, or holds itself") from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError) as failure:  # impossible dates and numbers
        raise error(f"{Path(path)} cannot be read: {one_line(str(failure))}") from None


def _check_yaml(yaml: Any, text: str) -> None:
    """Refuse what takes long to read: pyyaml's time grows with the square of the depth.

    Raises:
        RecursionError, ValueError
    """
    depth = aliases = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):  # piece by piece: what follows has not been looked at
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        aliases += isinstance(event, yaml.AliasEvent)
        if depth > _DEEPEST:
            raise RecursionError
        if aliases > _MOST_ALIASES:
            raise ValueError(f"it has more than {_MOST_ALIASES} aliases")


def _without_loops(value: Any) -> Any:
    """The value, walked once.

    Raises:
        RecursionError: it holds itself.
        ValueError: it has too many values once its aliases are written out.
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
    """The names, with #2, #3 ... where one is listed again."""
    seen: Counter[str] = Counter()
    distinct = []
    for name in names:
        seen[name] += 1
        distinct.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return tuple(distinct)
