"""The display of a training run: its metrics, a live table or plain lines, and a breakdown of its time."""

import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

METRICS = {
    "steps": "decisions so far, of all players in all games",
    "seconds": "time spent training so far, evaluations included",
    "updates": "updates so far",
    "speed/steps_per_second": "steps of this update per second, learning included, evaluations not",
    "speed/network_share": "share of that time in forward and backward passes and the optimiser",
    "games/length": "steps per game that ended",
    "games/return_vs_past_self": "mean return of the learner against past selves, in the game's unit",
    "games/exploiter_return": "mean return of the exploiter against the network, with `exploiter_share`",
    "games/return_vs_rules": "mean return of the learner against rule policies, in the game's unit",
    "eval/NAME": "how much more the network gets per duplicate deal than policy NAME in its place, in the game's unit",
    "eval/NAME_half": "half of its 95% interval",
    "eval/NAME_chance": "the same of random play in place of the network, on the same deals",
    "eval/nash_conv": "what all players together could gain by best responses to the policy, with `nash_conv`",
    "loss/policy": "policy loss, mean over the minibatches of the update, as in the following rows",
    "loss/value": "half the mean squared error of the values, in scaled reward; with `dmc`, those of actions",
    "loss/gradient_norm": "norm of the gradient before it is scaled down",
    "policy/entropy": "mean entropy of the policy over legal actions, in nats",
    "policy/kl": "estimated KL divergence from the policy that played, mean of (r - 1) - log r",
    "policy/clipped": "share of ratios r that differ from 1 by more than `clip`",
    "policy/kl_to_magnet": "mean KL divergence of the policy from the magnet's, with `magnet`",
    "value/explained_variance": "1 - Var(target - value) / Var(target), before the update",
    "schedule/lr": "learning rate",
    "schedule/mirror_step": "step of mirror descent, with policy_loss mirror",
    "schedule/entropy": "weight of the entropy bonus",
    "schedule/magnet": "weight of the divergence from the magnet",
    "schedule/teacher": "weight of imitating the teacher",
    "schedule/reward_scale": "factor from the game's unit to scaled reward",
    "transitions": "transitions used in the update",
    "minibatches": "optimiser steps in the update; fewer than planned if `target_kl` stopped it early",
    "time/PART": "seconds of the update in each part",
}
"""All logged metrics, with their meanings."""

NETWORK_PARTS = ("forward", "learn", "optimise")
_LINE_SECONDS, _REDRAW_SECONDS = 5.0, 0.1


class Stopwatch:
    """Adds up the seconds spent in named parts of a program.

    It does not wait for a GPU: work that is still running there counts in the part that first needs its result.
    """

    def __init__(self) -> None:
        """Start at zero."""
        self.seconds: dict[str, float] = defaultdict(float)  # by name of the part

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        """Count the time of the block for `part`."""
        started = time.perf_counter()
        yield
        self.seconds[part] += time.perf_counter() - started


def split_text(seconds: dict[str, float], total: float, steps: int) -> str:
    """Return a breakdown of the time of a run, in a few lines: seconds by part, from a Stopwatch, of `total` seconds
    without evaluations, for a number of steps.
    """
    network = sum(seconds.get(part, 0.0) for part in NETWORK_PARTS)
    rest = {part: value for part, value in seconds.items() if part not in NETWORK_PARTS}
    rest["other"] = max(0.0, total - network - sum(rest.values()))

    def shares(parts: dict[str, float]) -> str:
        return ", ".join(f"{part} {value / total:.1%}" for part, value in parts.items())

    return (
        f"{steps / total:,.0f} steps/s, learning included; the network alone would allow {steps / network:,.0f} "
        f"({network / total:.1%} of that reached)\n"
        f"  network     {shares({part: seconds.get(part, 0.0) for part in NETWORK_PARTS})}\n"
        f"  all else    {shares(rest)}"
    )


class Progress:
    """Shows the progress of a run: a live table on a terminal, a plain line every few seconds elsewhere."""

    def __init__(self, title: str, show: bool = True) -> None:
        """Create a display; with show=False it prints nothing."""
        self._title, self._show = title, show
        self._scores: dict[str, tuple[str, str]] = {}
        self._live: Any = None
        self._table_shown: RenderableType | None = None
        self._last_line = -_LINE_SECONDS
        self._console = _console() if show else None

    def __enter__(self) -> "Progress":
        """Start the live table, on a terminal."""
        self._start()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the live table, and leave its last state on the terminal."""
        self._stop()

    def _start(self, transient: bool = False) -> None:
        if self._console is not None and self._console.is_terminal:
            from rich.live import Live

            self._live = Live(console=self._console, auto_refresh=False, transient=transient)
            self._live.start()

    def _stop(self) -> None:
        if self._live is not None:
            self._live.stop()
        self._live = self._table_shown = None

    @contextmanager
    def counting(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """Show the progress of an evaluation: a bar on a terminal, a line every few seconds elsewhere.

        Yields:
            a function to call with the number of games that have ended, and their total.
        """
        is_below_table = self._live is not None
        if not is_below_table:
            self._start(transient=True)
        started = shown = time.monotonic()
        interval = _LINE_SECONDS if self._live is None else _REDRAW_SECONDS

        def show(done: int, total: int) -> None:
            nonlocal shown
            now = time.monotonic()
            if now - shown < interval:
                return
            shown, fraction = now, done / total
            left = (now - started) * (1 - fraction) / fraction if fraction > 0 else math.inf
            if self._live is None:
                self.note(f"{title}: {done:,} of {total:,} games  {_left(left)}".rstrip())
            else:
                self._draw(f"{title} {fraction:.0%}", fraction, left)

        try:
            yield show
        finally:
            if not is_below_table:
                self._stop()

    def score(self, name: str, value: str, meaning: str) -> None:
        """Set a score to show from the next `update` on."""
        self._scores[name] = value, meaning

    def note(self, text: str) -> None:
        """Print a line above the live table."""
        if self._console is not None:
            self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def update(self, metrics: dict[str, float], fraction: float) -> None:
        """Show an update: metrics as in METRICS, and the share of the run that is done, 0 to 1."""
        if self._console is None:
            return
        left = metrics["seconds"] * (1 - fraction) / fraction if fraction > 0 else 0.0
        if self._live is not None:
            self._table_shown = self._table(metrics, fraction, left)
            self._draw()
        elif time.monotonic() - self._last_line >= _LINE_SECONDS or fraction >= 1:
            self._last_line = time.monotonic()
            self.note(self._line(metrics, fraction, left))

    def _draw(self, title: str = "", fraction: float = 0.0, left: float = 0.0) -> None:
        """Draw the table, and below it a bar if there is a title."""
        from rich.console import Group

        parts = [] if self._table_shown is None else [self._table_shown]
        if title:
            parts.append(_bar(title, fraction, left))
        self._live.update(Group(*parts), refresh=True)

    def _line(self, metrics: dict[str, float], fraction: float, left: float) -> str:
        scores = "".join(f"  {name.removeprefix('against ')} {value}" for name, (value, _) in self._scores.items())
        policy = (
            f"entropy {metrics['policy/entropy']:.3f}  kl {metrics['policy/kl']:.4f}  "
            if "policy/entropy" in metrics
            else ""
        )
        return (
            f"{fraction:4.0%}  {metrics['steps']:,} steps  {metrics['speed/steps_per_second']:,.0f}/s{scores}  {policy}"
            f"explained {metrics['value/explained_variance']:.2f}  {_left(left)}"
        )

    def _table(self, metrics: dict[str, float], fraction: float, left: float) -> "RenderableType":
        from rich.panel import Panel

        grid = _bar(f"{fraction:.0%}", fraction, left)
        for name, value, further in (
            ("steps", f"{metrics['steps']:,}", f"{metrics['speed/steps_per_second']:,.0f} per second"),
            *((name, value, meaning) for name, (value, meaning) in self._scores.items()),
            *(
                [("entropy", f"{metrics['policy/entropy']:.3f}", f"KL {metrics['policy/kl']:.4f}")]
                if "policy/entropy" in metrics
                else []
            ),
            ("explained", f"{metrics['value/explained_variance']:.2f}", "of the variance of returns"),
            ("game length", f"{metrics['games/length']:.1f}", f"learning rate {metrics['schedule/lr']:.1e}"),
        ):
            grid.add_row(f"[dim]{name}[/dim]", f"[bold]{value}[/bold]", f"[dim]{further}[/dim]")
        return Panel(grid, title=self._title, title_align="left", expand=False)


def _bar(title: str, fraction: float, left: float) -> "Table":
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_row(title, ProgressBar(total=1.0, completed=fraction, width=40), _left(left))
    return grid


def _console() -> "Console":
    from rich.console import Console

    return Console(file=sys.stderr)


def _left(seconds: float) -> str:
    """Return the time left as in "left 1:23", or "" if it is unknown."""
    return f"left {_clock(seconds)}" if math.isfinite(seconds) else ""


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
