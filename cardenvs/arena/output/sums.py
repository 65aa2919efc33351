"""Print sums of games: results by agent, figures, coverage and failures."""

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cardenvs.agents.seating import FORCED, FORFEITED
from cardenvs.arena.results.sums import GameSums
from cardenvs.core.text import one_line

_MOST_NAMES = 12  # most frequent names shown of a group of counts
_MOST_LEAST = 5  # least frequent names shown
_MOST_NEVER = 60  # names shown that never occurred
_MOST_FAILURES = 10  # printed in full

_OUTCOMES = {FORCED: "decisions made for it", FORFEITED: "games forfeited"}


def print_results(sums: GameSums, console: Console) -> None:
    """Print wins and returns by agent."""
    unit = sums.match.game.returns(sums.match.options).unit
    table = _table("agent", "won", "shared", f"mean return ({unit}), 95%", "sd", "least", "most")
    for name, agents in sums.rows:
        row = sums.of_agents(agents)
        of = row["returns"]
        half = "" if of["low"] is None else f" ± {of['mean'] - of['low']:.3f}"
        table.add_row(
            escape(name), str(row["won"]), str(row["shared"]), f"{of['mean']:+.3f}{half}",
            _number(of["sd"]), f"{of['min']:+g}", f"{of['max']:+g}",
        )  # fmt: skip
    console.print()
    console.print(table)


def print_statistics(sums: GameSums, console: Console) -> None:
    """Print the games' figures by agent, and the coverage of each group of counts."""
    if sums.figures:
        rows = [(name, sums.of_agents(agents)["figures"]) for name, agents in sums.rows]
        table = _table("mean ± sd", *(escape(name) for name, _ in rows))
        for figure in sums.figures:
            cells = [figures[figure] for _, figures in rows]
            table.add_row(
                escape(figure),
                *("-" if cell is None else f"{cell['mean']:.2f} ± {_number(cell['sd'])}" for cell in cells),
            )
        console.print()
        console.print(table)
    for group, counts in sums.counts.items():
        _print_counts(group, counts, console)


def _print_counts(group: str, counts: dict[str, list[int]], console: Console) -> None:
    never = [name for name, (total, _) in counts.items() if not total]
    ranked = sorted((name for name in counts if counts[name][0]), key=lambda name: -counts[name][0])
    console.print(f"\n[bold]{escape(group)}[/bold]: {len(ranked)} of {len(counts)} reached")
    if never:
        more = f" and {len(never) - _MOST_NEVER} more" if len(never) > _MOST_NEVER else ""
        console.print(f"[yellow]never[/yellow]: {escape(', '.join(never[:_MOST_NEVER]))}{more}", soft_wrap=True)
    shown = ranked if len(counts) <= 2 * _MOST_NAMES + _MOST_NAMES // 2 else ranked[:_MOST_NAMES]
    table = _table("most" if len(shown) < len(ranked) else "", "in all", "in games")
    for name in shown:
        total, games = counts[name]
        table.add_row(escape(name), f"{total:,}", f"{games:,}")
    if shown:
        console.print(table)
    if len(shown) < len(ranked):
        least = ", ".join(f"{name} {counts[name][0]:,}" for name in ranked[: -_MOST_LEAST - 1 : -1])
        console.print(f"least: {escape(least)}", soft_wrap=True)


def print_failed_tries(sums: GameSums, console: Console) -> None:
    """Print how often the decisions of each agent failed, and what came of it; nothing if none did."""
    for name, agents in sums.rows[: len(sums.match.names)]:
        row = sums.of_agents(agents)
        if row["failures"] or row["outcomes"]:
            tries = ", ".join(f"{kind} {number:,}" for kind, number in row["failures"].items()) or "none"
            ends = "".join(f"; {_OUTCOMES[kind]}: {number:,}" for kind, number in row["outcomes"].items())
            console.print(f"[yellow]failed tries of {escape(name)}[/yellow]: {escape(tries)}{ends}", soft_wrap=True)
            first = sums.first_failures.get(agents[0])
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


def _table(first: str, *columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
