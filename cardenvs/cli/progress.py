"""The progress bar of commands."""

import sys
from typing import Self


class ProgressBar:
    """A progress bar on standard error, drawn from the first report on, for use in a `with` statement."""

    def __init__(
        self, title: str, *, unit: str = "", total: int | None = None, transient: bool = False, hidden: bool = False
    ) -> None:
        """Prepare the bar. With a unit, as in "games", it shows the rate per second.

        `transient` removes the bar at the end; `hidden` draws nothing.
        """
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns = (
            TextColumn("[bold]{task.description}"), BarColumn(), MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}"), TextColumn("{task.fields[rate]}"), TimeElapsedColumn(),
            TextColumn("left:"), TimeRemainingColumn(),
        )  # fmt: skip
        # Lines on stdout go above the bar only if both are on the terminal.
        self._progress = Progress(
            *columns, console=Console(stderr=True), transient=transient, disable=hidden,
            redirect_stdout=sys.stdout.isatty(),
        )  # fmt: skip
        self._task = self._progress.add_task(title, total=total, unit=unit, rate="")
        self._unit = unit

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._progress.live.is_started:  # for a bar that was never drawn, rich would print an empty line
            self._progress.stop()

    def show(self, done: int, total: int | None = None, *, title: str | None = None, unit: str | None = None) -> None:
        """Report progress. None: as before."""
        self._progress.start()  # not earlier: a command that is refused at once needs no bar
        self._unit = self._unit if unit is None else unit
        speed = self._progress.tasks[0].speed if self._unit else None
        self._progress.update(
            self._task, completed=done, total=total, description=title, unit=self._unit,
            rate="" if speed is None else f"{speed:,.0f}/s",
        )  # fmt: skip
