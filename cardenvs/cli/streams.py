"""Standard streams that may be closed, full or cut off, and arguments that may not be UTF-8."""

import errno
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import typer

from cardenvs.cli.exit_codes import EXIT_BROKEN_PIPE, EXIT_REFUSED
from cardenvs.core.errors import CardenvsError
from cardenvs.core.text import printable


@contextmanager
def clean_errors() -> Iterator[None]:
    """Report errors of cardenvs and of the system in one line on stderr, with exit code 2 and no traceback."""
    try:
        yield
    except CardenvsError as error:
        _refuse(str(error))
    except BrokenPipeError:
        raise  # the reader has left, which is no error
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        _refuse(f"{where}{error.strerror or error}")
    except RecursionError:
        _refuse("the input is nested too deeply")
    except MemoryError:
        _refuse("there is not enough memory")
    except UnicodeEncodeError as error:
        _refuse(f"{error.object!r} cannot be written as UTF-8")


def _refuse(text: str) -> NoReturn:
    from cardenvs.training.torchrun import let_the_first_speak

    let_the_first_speak()
    typer.secho(f"Error: {_on_one_line(text)}", fg="red", err=True)
    raise typer.Exit(EXIT_REFUSED) from None


def _on_one_line(text: str) -> str:
    """Return a message in one line, without control characters that it may quote."""
    return printable(text.strip()).replace("\n", " ").replace("\t", "\\t")


def check_arguments(words: Sequence[str]) -> None:
    """Check that arguments are text. Raises CardenvsError if an argument is not UTF-8, or has control characters."""
    for word in words:
        kinds = {unicodedata.category(char) for char in word if char not in "\n\t"}
        if "Cs" in kinds:  # Python's form of bytes that are not UTF-8
            raise CardenvsError(f"{word!a} is not UTF-8; arguments and file names must be")
        if "Cc" in kinds:
            raise CardenvsError(f"{word!a} has control characters, which arguments and file names must not have")


def run_safely(command: Callable[[], Any]) -> Any:
    """Run a command. Streams that are closed, full or cut off end it with SystemExit, never with a traceback."""
    _open_streams()
    ended, result = None, None
    try:
        result = command()
    except SystemExit as error:
        ended = error
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except OSError as error:
        _silence()
        if error.errno == errno.EPIPE:
            sys.exit(EXIT_BROKEN_PIPE)
        if ended is None or not ended.code:
            print(f"Error: the output cannot be written: {error.strerror or error}", file=sys.stderr)
            sys.exit(EXIT_REFUSED)
    if ended is not None:
        raise ended
    return result


def _open_streams() -> None:
    """Open closed streams to the null device, and let no byte in or out raise an error."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  for as long as the process runs
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _silence() -> None:
    """Discard buffered output: nobody reads it, and the interpreter would complain when it exits."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):  # a stream without a file
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
