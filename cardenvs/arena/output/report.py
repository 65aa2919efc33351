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
FORMAT_VERSION = 1


def print_summary(summary: Summary, console: Console) -> None:
    """Print the leaderboard, the head-to-head table and what they are based on."""
    match = summary.match
    if not summary.deals:
        console.print("No deal is complete yet.")
        return
    unit = match.game.returns(match.options).result_unit_label
    console.print(f"\n[bold]{match.game.title}[/bold]: mean result in {unit}")
    console.print(leaderboard(summary))
    console.print(f"\n[bold]Head to head[/bold]: the row's result less the column's where both play, in {unit}")
    console.print(head_to_head(summary))
    console.print(
        f"{len(summary.deals)} deals, {summary.games} games ({len(match.lineups)} a deal), seed {match.seed_text}, "
        f"match {match.id}. Intervals are 95%, over deals."
    )
    if summary.unfinished:
        console.print(f"[yellow]{summary.unfinished} games of the match are not in these figures.[/yellow]")


def leaderboard(summary: Summary) -> Table:
    """Agents by mean result."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", justify="right")
    table.add_column("agent", overflow="fold")
    for column in ("mean", "95% interval", "won", "games", "ms/decision"):
        table.add_column(column, justify="right", no_wrap=True)
    for place, standing in enumerate(summary.ranking, 1):
        table.add_row(
            str(place),
            escape(standing.name),
            f"[bold]{standing.mean.mean:+.3f}[/bold]",
            interval_text(standing.mean),
            f"{100 * standing.won:.1f}%",
            str(standing.games),
            f"{1000 * standing.decision_seconds:.2f}",
        )
    return table


def head_to_head(summary: Summary) -> Table:
    """The result of the row's agent less that of the column's, where they sat at one table."""
    order = ranking_order(summary)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", overflow="fold")
    for agent in order:
        table.add_column(escape(summary.match.names[agent]), justify="right", overflow="fold")
    for row in order:
        cells = [difference_text(summary.difference(row, column)) for column in order]
        table.add_row(escape(summary.match.names[row]), *cells)
    return table


def ranking_order(summary: Summary) -> list[int]:
    """The numbers of the agents, best mean first."""
    names = summary.match.names
    return [names.index(standing.name) for standing in summary.ranking]


def interval_text(estimate: Estimate) -> str:
    """The interval of an estimate; a dash where one deal gives none."""
    return "-" if math.isinf(estimate.low) else f"{estimate.low:+.3f} to {estimate.high:+.3f}"


def difference_text(estimate: Estimate | None) -> str:
    """A difference with half its interval; a dot where the two never met."""
    if estimate is None:
        return "·"
    if math.isinf(estimate.low):
        return f"{estimate.mean:+.3f}"
    return f"{estimate.mean:+.3f} ± {(estimate.high - estimate.low) / 2:.3f}"


def command_line(match: Match) -> str | None:
    """The command that plays the match again; None: it takes the file of an experiment."""
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
    """What the figures were made with."""
    packages = {name: version(name) for name in ("cardenvs", "numpy", "numba")}
    return {**packages, "python": platform.python_version(), "platform": platform.platform()}


def as_json(summary: Summary) -> dict[str, Any]:
    """The summary as JSON values. An interval that one deal cannot give is null."""
    match = summary.match
    pairs = [
        {"agents": [match.names[first], match.names[second]], "difference": estimate_json(estimate)}
        for (first, second), estimate in summary.differences.items()
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
    """Write the summary, and `more` entries, as JSON; an existing file is replaced in one go."""
    write_whole(path, json.dumps({**as_json(summary), **(more or {})}, indent=1, allow_nan=False) + "\n")


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """An estimate as JSON values; a bound that one deal cannot give is null."""
    low, high = (None if math.isinf(bound) else bound for bound in (estimate.low, estimate.high))
    return {"mean": estimate.mean, "low": low, "high": high, "deals": estimate.deals}
