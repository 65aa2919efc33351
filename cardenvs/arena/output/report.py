"""A summary for the terminal and as JSON."""

import json
import math
import platform
import shlex
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cardenvs.arena.match import Match
from cardenvs.arena.results.statistics import Estimate, Summary
from cardenvs.arena.store import agents_json
from cardenvs.core.files import write_whole

FORMAT = "cardenvs-match"
FORMAT_VERSION = 2
TOO_FEW = "too few deals"
"""What is shown instead of an interval that more deals would give."""


def print_summary(summary: Summary, console: Console) -> None:
    """Print the leaderboard, the head-to-head table, and the number of deals, seed and match behind them."""
    match = summary.match
    if not summary.deals:
        console.print("No deal is complete yet.")
        return
    unit = match.game.returns(match.options).result_unit_label
    console.print(f"\n[bold]{match.game.title}[/bold]: mean result in {unit}")
    console.print(leaderboard(summary))
    console.print(interval_plot(summary))
    console.print(f"\n{escape(story(summary))}")
    console.print(f"\n[bold]Head to head[/bold]: {head_to_head_note(summary)}")
    console.print(head_to_head(summary))
    console.print(
        f"{len(summary.deals)} deals, {summary.games} games ({len(match.lineups)} a deal), seed {match.seed_text}, "
        f"match {match.id}. Intervals are 95%, over deals."
    )
    if summary.unfinished:
        console.print(f"[yellow]{summary.unfinished} games of the match are not in these figures.[/yellow]")


def leaderboard(summary: Summary) -> Table:
    """Return the agents by mean result, with the ranks of `Summary.rank`."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", justify="right")
    table.add_column("agent", overflow="fold")
    for column in ("mean", "95% interval", "won", "games", "ms/decision"):
        table.add_column(column, justify="right", no_wrap=True)
    for standing in summary.ranking:
        table.add_row(
            str(summary.rank(standing)),
            escape(standing.name),
            f"[bold]{standing.mean.mean:+.3f}[/bold]",
            interval_text(standing.mean),
            f"{100 * standing.won:.1f}%",
            str(standing.games),
            f"{1000 * standing.decision_seconds:.2f}",
        )
    return table


def story(summary: Summary) -> str:
    """Return the leaderboard in a sentence: who leads, who is level, who is last."""
    unit = summary.match.game.returns(summary.match.options).result_unit_label
    best, *others = summary.ranking
    level = [other.name for other in others if summary.rank(other) == 1]
    if len(level) == len(others):
        return f"No agent is clearly ahead of another: after {len(summary.deals):,} deals all intervals overlap."
    lead = f"{best.name} leads with {best.mean.mean:+.3g} {unit}"
    if level:
        lead += f", level with {_listed(level)} (their intervals overlap)"
    last = others[-1]
    between = [other.name for other in others if other.name not in level and other is not last]
    follow = f"; {_listed(between)} {'follow' if len(between) > 1 else 'follows'}" if between else ""
    return f"{lead}{follow}; {last.name} comes last with {last.mean.mean:+.3g}."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def interval_plot(summary: Summary, width: int = 40) -> Table:
    """Return a text plot of the leaderboard: a dot at each agent's mean on a line for its 95% interval."""
    shown = summary.ranking
    ends = [end for standing in shown for end in (standing.mean.low, standing.mean.mean, standing.mean.high)]
    finite = [end for end in ends if not math.isinf(end)]
    low, high = min(*finite, 0.0), max(*finite, 0.0)

    def column(value: float) -> int:
        return round((min(max(value, low), high) - low) / ((high - low) or 1.0) * (width - 1))

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    for standing in shown:
        mean = standing.mean
        cells = [" "] * width
        cells[column(0.0)] = "┊"
        for place in range(column(mean.low), column(mean.high) + 1) if not math.isinf(mean.low) else ():
            cells[place] = "─"
        cells[column(mean.mean)] = "●"
        table.add_row(escape(standing.name), "".join(cells))
    table.add_row("", _scale(low, high, column(0.0), width))
    return table


def _scale(low: float, high: float, zero: int, width: int) -> str:
    """Return the axis line below a plot: its ends, and 0 if there is room."""
    left, right = (f"{low:+.3g}" if low else "0"), (f"{high:+.3g}" if high else "0")
    line = list(left.ljust(width - len(right)) + right)
    if len(left) < zero < width - len(right) - 1:
        line[zero] = "0"
    return "".join(line)


def head_to_head_note(summary: Summary) -> str:
    """Return what the cells of a head-to-head table show."""
    promised, num_players = summary.match.game.returns(summary.match.options), summary.match.options.num_players
    unit = promised.result_unit_label
    if num_players == 1:
        return f"the row's mean result less the column's on the same deals, in {unit}"
    if num_players == 2 and promised.total == 0:
        return f"the row's mean result against the column, in {unit}"
    return f"half the difference between the row's and the column's results where both play, in {unit}"


def head_to_head(summary: Summary) -> Table:
    """Return the advantage of the row's agent over the column's; a dot where the two never met."""
    order = ranking_order(summary)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", overflow="fold")
    for agent in order:
        table.add_column(escape(summary.match.names[agent]), justify="right", overflow="fold")
    for row in order:
        found = [summary.advantage(row, column) for column in order]
        cells = ["·" if estimate is None else estimate_text(estimate) for estimate in found]
        table.add_row(escape(summary.match.names[row]), *cells)
    return table


def ranking_order(summary: Summary) -> list[int]:
    """Return the agent numbers, best mean first."""
    names = summary.match.names
    return [names.index(standing.name) for standing in summary.ranking]


def interval_text(estimate: Estimate) -> str:
    """Return the interval of an estimate as text."""
    return TOO_FEW if math.isinf(estimate.low) else f"{estimate.low:+.3f} to {estimate.high:+.3f}"


def estimate_text(estimate: Estimate) -> str:
    """Return a mean with half its interval, or alone if there is only one deal."""
    if math.isinf(estimate.low):
        return f"{estimate.mean:+.3f}"
    return f"{estimate.mean:+.3f} ± {(estimate.high - estimate.low) / 2:.3f}"


def command_line(match: Match) -> str | None:
    """Return the command that plays the match again, or None if only an experiment file can express it."""
    if not match.has_command:
        return None
    words = ["cardenvs", "match", match.game.name, "--agents", ",".join(match.agents)]
    words += ["--deals", str(match.deals), "--seed", match.seed_text]
    for name, value in match.options.changed().items():
        words += ["--option", f"{name}={','.join(map(str, value)) if isinstance(value, list) else value}"]
    if match.guard is not None:
        words += ["--on-failure", match.guard.on_failure]
        words += [word for name in match.guard.keep_env for word in ("--keep-env", name)]
    return shlex.join(words)


def versions() -> dict[str, str]:
    """Return the versions of cardenvs, its main dependencies, Python and the platform."""
    packages = {name: version(name) for name in ("cardenvs", "numpy", "numba")}
    return {**packages, "python": platform.python_version(), "platform": platform.platform()}


def as_json(summary: Summary) -> dict[str, Any]:
    """Return the summary as JSON values. Intervals are null if there is only one deal."""
    match = summary.match
    pairs = [
        {"agents": [match.names[first], match.names[second]], "advantage": estimate_json(estimate)}
        for (first, second), estimate in summary.advantages.items()
    ]
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "match": match.id,
        "game": match.game.name,
        "options": match.options.as_dict(),
        "seed": match.seed_text,
        "deals": len(summary.deals),
        "deals_asked": match.deals,
        "games": summary.games,
        "unfinished_games": summary.unfinished,
        "games_per_deal": len(match.lineups),
        "unit": match.game.returns(match.options).result_unit_label,
        "interval": f"95% {'Student t' if summary.intervals == 'student' else 'bootstrap'} over deals",
        "leaderboard": [
            {
                "rank": summary.rank(standing),
                "agent": standing.name,
                "mean": estimate_json(standing.mean),
                "won": standing.won,
                "games": standing.games,
                "decision_ms": 1000 * standing.decision_seconds,
            }
            for standing in (summary.ranking if summary.deals else ())
        ],
        "head_to_head": pairs,
        "agents": agents_json(match),
        "command": command_line(match),
        "versions": versions(),
    }


def write_json(summary: Summary, path: str | Path, more: dict[str, Any] | None = None) -> None:
    """Write the summary with the entries of `more` as JSON, replacing an existing file atomically."""
    write_whole(path, json.dumps({**as_json(summary), **(more or {})}, indent=1, allow_nan=False) + "\n")


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON values. Bounds are null if there is only one deal."""
    low, high = (None if math.isinf(bound) else bound for bound in (estimate.low, estimate.high))
    return {"mean": estimate.mean, "low": low, "high": high, "deals": estimate.deals}
