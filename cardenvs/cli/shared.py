"""What several commands share: types of their parameters, the console, tables."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cardenvs.cli.files import input_file

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MAX_SEED = 2**63 - 1
MAX_COUNT = 10**15  # of deals or games: a larger number is a mistake
MAX_PROCESSES = 1024
_MAX_BATCH = 4096
_MAX_DIGITS = 18  # of a number that a person types


def finite(value: float | None) -> float | None:
    """Check a number: a callback that refuses nan and infinity."""
    if value is not None and not abs(value) < float("inf"):
        raise typer.BadParameter(f"{value} is not a finite number.")
    return value


GameName = Annotated[str, typer.Argument(metavar="GAME", help="Name of a game; without its version, the newest one.")]
OptionTexts = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the game. May be repeated."),
]
BatchSize = Annotated[
    int, typer.Option(min=1, max=_MAX_BATCH, help="Games side by side for agents that batch or wait.")
]
Processes = Annotated[int, typer.Option("--processes", "-p", min=1, max=MAX_PROCESSES, help="Processes to work in.")]
GamesStore = Annotated[Path | None, typer.Option(metavar="FILE", help="SQLite file that keeps finished games.")]
ConfigFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="YAML file of settings; default: that of the game.")
]
Changes = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting. May be repeated.")
]
Seconds = Annotated[
    float | None, typer.Option(min=0, callback=finite, help="Train for this long, instead of total_steps.")
]
TotalSteps = Annotated[float | None, typer.Option(min=1, callback=finite, help="Train for this many steps.")]
InitFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", callback=input_file, help="Begin with the weights of this checkpoint or safetensors."),
]
Device = Annotated[str, typer.Option(help="cpu, cuda or auto.")]
Threads = Annotated[int, typer.Option(min=0, max=MAX_PROCESSES, help="Threads; 0: one per core.")]
StorePath = Annotated[Path, typer.Argument(metavar="STORE", callback=input_file, help="Finished games.")]


def new_console() -> "Console":
    """Return a console on standard output."""
    from rich.console import Console

    return Console(highlight=False)


def escaped(text: str) -> str:
    """Return a text as rich prints it, without any markup of its own."""
    from rich.markup import escape

    return escape(text)


def new_table(*columns: str, right: int | None = None, key: bool = False) -> "Table":
    """Return a plain table.

    Args:
        columns: the headings; where all are empty, no heading is shown.
        right: the first of the columns of numbers, which are right-aligned; None: no such columns.
        key: whether the first column is coloured.
    """
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0), show_header=any(columns))
    for number, column in enumerate(columns):
        style = "cyan" if key and number == 0 else ""
        numeric = right is not None and number >= right
        table.add_column(column, style=style, justify="right" if numeric else "left", overflow="fold")
    return table


def step_through(show: Callable[[int], None], last: int) -> None:
    """Show positions 0 to `last` one by one, as a person at the keyboard asks for them."""
    k = 0
    while True:
        show(k)
        try:
            text = input("Enter: next, b: back, a number: go there, q: quit > ").strip().lower()
        except (EOFError, KeyboardInterrupt):
            return
        if text == "q":
            return
        number = min(int(text[:_MAX_DIGITS]), last) if text.isdecimal() else None
        wanted = number if number is not None else k - 1 if text == "b" else k + 1
        k = min(last, max(0, wanted))


def same_command(folder: Path, *, is_named: bool, overwrite: bool, flag: str = "") -> str:
    """Return words for the command that goes on with the run in a folder.

    Args:
        folder: of the run.
        is_named: whether the command was given it.
        overwrite: whether it was given --overwrite.
        flag: what goes on.
    """
    more = " ".join(filter(None, ["" if is_named else f"--out {folder}", flag]))
    return f"the same command{more and f' with {more}'}{', without --overwrite' if overwrite else ''}"


RayAddress = Annotated[
    str | None,
    typer.Option("--address", metavar="HOST:PORT", help="Ray cluster to use, or auto; default: a local one."),
]


def join_cluster(backend: str, address: str | None) -> None:
    """Make `address` the Ray cluster of this process.

    Raises:
        ArenaError: the backend is not Ray.
    """
    if address is None:
        return
    from cardenvs.core.errors import ArenaError

    if backend != "ray":
        raise ArenaError("--address is for --backend ray")
    os.environ["RAY_ADDRESS"] = address


@contextlib.contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Make SIGTERM stop the block as Ctrl-C would, so that it can keep what it has."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
