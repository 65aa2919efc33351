"""What several commands share: parameters, the console, tables."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from cardenvs.cli.exit_codes import EXIT_INTERRUPTED
from cardenvs.cli.files import input_file
from cardenvs.core.errors import ArenaError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from cardenvs.core.replay import Replay

MAX_SEED = 2**63 - 1
MAX_COUNT = 10**15  # of deals or games; a larger number is a mistake
MAX_PROCESSES = 1024
_MAX_BATCH = 4096
_MAX_DIGITS = 18  # of a typed number


def finite(value: float | None) -> float | None:
    """Refuse nan and infinity; a callback for parameters."""
    if value is not None and not abs(value) < float("inf"):
        raise typer.BadParameter(f"{value} is not a finite number.")
    return value


GameName = Annotated[str, Argument(metavar="GAME", help="Name of a game; without a version, the newest.")]
OptionTexts = Annotated[
    list[str] | None, Option("--option", "-o", metavar="NAME=VALUE", help="An option of the game. May be repeated.")
]
BatchSize = Annotated[int, Option(min=1, max=_MAX_BATCH, help="Parallel games for agents that batch or wait.")]
Processes = Annotated[int, Option("--processes", "-p", min=1, max=MAX_PROCESSES, help="Number of processes.")]
GamesStore = Annotated[Path | None, Option(metavar="FILE", help="SQLite file that keeps finished games.")]
StorePath = Annotated[Path, Argument(metavar="STORE", callback=input_file, help="Finished games.")]


def new_console() -> "Console":
    """Return a console on standard output."""
    from rich.console import Console

    return Console(highlight=False)


def escaped(text: str) -> str:
    """Return a text with its markup escaped for rich."""
    from rich.markup import escape

    return escape(text)


def new_table(*columns: str, right: int | None = None, key: bool = False) -> "Table":
    """Return a plain table; without headings if all are empty. Columns from number `right` on are right-aligned, for
    numbers.

    `key` colours the first column.
    """
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0), show_header=any(columns))
    for number, column in enumerate(columns):
        style = "cyan" if key and number == 0 else ""
        numeric = right is not None and number >= right
        table.add_column(column, style=style, justify="right" if numeric else "left", overflow="fold")
    return table


def check_player(replay: "Replay", player: int | None) -> None:
    """Check a --player of a replay; None: all players.

    Raises:
        ArenaError: the game has no such player.
    """
    if player is not None and player >= len(replay.players):
        raise ArenaError(f"--player {player} is out of range: this replay has players 0 to {len(replay.players) - 1}")


def step_through(show: Callable[[int], None], last: int) -> None:
    """Show positions 0 to `last` one at a time, as the user at the keyboard asks for them."""
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


RayAddress = Annotated[
    str | None, Option("--address", metavar="HOST:PORT", help="Ray cluster to use, or auto; default: a local one.")
]


def join_cluster(backend: str, address: str | None) -> None:
    """Use the Ray cluster at `address` in this process, if there is an address.

    Raises:
        ArenaError: the backend is not Ray.
    """
    if address is None:
        return

    if backend != "ray":
        raise ArenaError("--address is for --backend ray")
    os.environ["RAY_ADDRESS"] = address


def stopped_early(store: Path | None) -> typer.Exit:
    """Say that games were stopped by Ctrl-C and where they are, and return the exit to raise."""
    kept = f"finished games are in {store}; add --resume to play the rest" if store else "nothing was kept; use --store"
    typer.secho(f"Stopped before the end: {kept}.", fg="yellow", err=True)
    return typer.Exit(EXIT_INTERRUPTED)


@contextlib.contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Make SIGTERM stop the block like Ctrl-C, so that it can save its results."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
