"""Print sums of games (GameSums.as_dict): results by agent, figures, coverage and failures."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape

from cardenvs.agents.seating import FORCED, FORFEITED
from cardenvs.arena.output.terminal import numbers_table
from cardenvs.arena.results.document import Document
from cardenvs.core.text import one_line

_MOST_NAMES = 12  # most frequent names shown of a group of counts
_MOST_LEAST = 5  # least frequent names shown
_MOST_NEVER = 60  # names shown that never occurred
_MOST_FAILURES = 10  # failures printed in full

_OUTCOMES = {FORCED: "decisions made for it", FORFEITED: "games forfeited"}


def print_results(sums: Document, unit: str, console: Console) -> None:
    """Print wins and returns by agent; returns are in `unit`."""
    table = numbers_table("agent", "won", "shared", f"mean return ({unit}), 95%", "sd", "least", "most")
    for row in sums["agents"]:
        of = row["returns"]
        half = "" if of["low"] is None else f" ± {of['mean'] - of['low']:.3f}"
        table.add_row(
            escape(row["agent"]), str(row["won"]), str(row["shared"]), f"{of['mean']:+.3f}{half}",
            _number(of["sd"]), f"{of['min']:+g}", f"{of['max']:+g}",
        )  # fmt: skip
    console.print()
    console.print(table)


def print_statistics(sums: Document, console: Console) -> None:
    """Print the games' figures by agent, and the coverage of each group of counts."""
    agents = sums["agents"]
    if agents and agents[0]["figures"]:
        table = numbers_table("mean ± sd", *(escape(row["agent"]) for row in agents))
        for figure in agents[0]["figures"]:
            cells = [row["figures"][figure] for row in agents]
            table.add_row(
                escape(figure),
                *("-" if cell is None else f"{cell['mean']:.2f} ± {_number(cell['sd'])}" for cell in cells),
            )
        console.print()
        console.print(table)
    for group, counts in sums["counts"].items():
        _print_counts(group, counts, console)


def _print_counts(group: str, counts: Mapping[str, dict[str, int]], console: Console) -> None:
    totals = {name: count["total"] for name, count in counts.items()}
    never = [name for name, total in totals.items() if not total]
    ranked = sorted((name for name in totals if totals[name]), key=lambda name: -totals[name])
    console.print(f"\n[bold]{escape(group)}[/bold]: {len(ranked)} of {len(counts)} reached")
    if never:
        more = f" and {len(never) - _MOST_NEVER} more" if len(never) > _MOST_NEVER else ""
        console.print(f"[yellow]never[/yellow]: {escape(', '.join(never[:_MOST_NEVER]))}{more}", soft_wrap=True)
    shown = ranked if len(counts) <= 2 * _MOST_NAMES + _MOST_NAMES // 2 else ranked[:_MOST_NAMES]
    table = numbers_table("most" if len(shown) < len(ranked) else "", "in all", "in games")
    for name in shown:
        table.add_row(escape(name), f"{totals[name]:,}", f"{counts[name]['games']:,}")
    if shown:
        console.print(table)
    if len(shown) < len(ranked):
        least = ", ".join(f"{name} {totals[name]:,}" for name in ranked[: -_MOST_LEAST - 1 : -1])
        console.print(f"least: {escape(least)}", soft_wrap=True)


def print_failed_tries(sums: Document, first_failures: Mapping[int, str], console: Console) -> None:
    """Print how often the decisions of each agent failed, what happened then, and the first failure by agent."""
    for row in sums["agents"]:
        if len(row["numbers"]) > 1 or not (row["failures"] or row["outcomes"]):
            continue
        tries = ", ".join(f"{kind} {number:,}" for kind, number in row["failures"].items()) or "none"
        ends = "".join(f"; {_OUTCOMES[kind]}: {number:,}" for kind, number in row["outcomes"].items())
        console.print(f"[yellow]failed tries of {escape(row['agent'])}[/yellow]: {escape(tries)}{ends}", soft_wrap=True)
        first = first_failures.get(row["numbers"][0])
        if first is not None:
            console.print(f"  the first in {escape(one_line(first))}", soft_wrap=True)


def print_failures(errors: list[str], games: int, console: Console) -> None:
    """Print a line for each failed game among `games`, then the traceback of the first."""
    if not errors:
        return
    console.print(f"\n[bold red]{len(errors)} of {games} games failed[/bold red]")
    for error in errors[:_MOST_FAILURES]:
        console.print(escape(error.partition("\n")[0]), soft_wrap=True)
    if len(errors) > _MOST_FAILURES:
        console.print(f"and {len(errors) - _MOST_FAILURES} more")
    trace = errors[0].partition("\n")[2]
    if trace:
        console.print(f"[dim]{escape(trace)}[/dim]", soft_wrap=True)


def failures_json(failed: list[tuple[str, int, int, str]]) -> list[dict[str, Any]]:
    """Return failed games, given as (match id, deal, lineup, error), as JSON values."""
    return [
        {"deal": deal, "lineup": lineup, "error": error.partition("\n")[0], "traceback": error.partition("\n")[2]}
        for _, deal, lineup, error in failed
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
