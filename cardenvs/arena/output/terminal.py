"""Print documents of matches and boards in the terminal."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cardenvs.arena.output import tables
from cardenvs.arena.plan import RequiredDeals
from cardenvs.arena.results.document import Document
from cardenvs.core.text import count


def print_summary(summary: Document, console: Console) -> None:
    """Print the leaderboard, the head-to-head table, and the number of deals, seed and match behind them."""
    if not summary["deals"]:
        console.print("No deal is complete yet.")
        return
    console.print(f"\n[bold]{summary['display']['title']}[/bold]: mean result in {summary['unit']}")
    console.print(_leaderboard(summary))
    console.print(interval_plot(summary))
    console.print(f"\n{escape(tables.story(summary))}")
    console.print()
    _print_meetings(summary, console)
    console.print(f"{_played(summary)} Intervals are 95%, over deals.")
    _print_unfinished(summary, console)


def print_board(board: Document, console: Console) -> None:
    """Print each game's leaderboard, ratings, head-to-head table, cycles and failures, and the overall ratings."""
    for game in board["games"]:
        _print_game(game, console)
    if len(board["games"]) > 1 and board["overall"]:
        console.print(f"\n[bold]Overall[/bold]: ratings from {len(board['games'])} matches, all with equal weight")
        console.print(_ratings(board["overall"]))
        console.print(tables.OVERALL_NOTE)
    if board["overall"]:
        console.print(escape(board["display"]["scale"]))
    for name in board["not_comparable"]:
        console.print(
            f"[yellow]No games connect {escape(name)} to the other agents, so its rating is not comparable.[/]"
        )
    for error in board["errors"]:
        console.print(f"[red]{escape(error)}[/red]")


def _print_game(game: Document, console: Console) -> None:
    summary = game["summary"]
    console.print(f"\n[bold]{escape(game['title'])}[/bold]: mean result in {summary['unit']}")
    console.print(_leaderboard(summary))
    console.print(escape(tables.story(summary)))
    if game["ratings"]:
        console.print(_ratings(game["ratings"]))
    _print_meetings(summary, console)
    for circle in game["circles"]:
        console.print(f"[magenta]A cycle, each ahead of the next: {escape(tables.circle_text(circle))}[/magenta]")
    if any(behaviour["failures"] or behaviour["outcomes"] for behaviour in game["behaviour"]):
        console.print(_failures(game["behaviour"]))
    console.print(_played(summary))
    _print_unfinished(summary, console)


def _print_meetings(summary: Document, console: Console) -> None:
    """Print who plays how well against whom or, in a cooperative game, with whom."""
    if "cross_play" in summary:
        console.print(f"[bold]Cross-play[/bold]: {tables.cross_play_note(summary)}")
        console.print(_by_pair(*tables.cross_play(summary)))
    else:
        console.print(f"[bold]Head to head[/bold]: {summary['display']['head_to_head']}")
        console.print(_by_pair(*tables.head_to_head(summary)))


def _played(summary: Document) -> str:
    return (
        f"{count(summary['deals'], 'deal')}, {count(summary['games'], 'game')} ({summary['games_per_deal']} a deal), "
        f"seed {summary['seed']}, match {summary['match']}."
    )


def _print_unfinished(summary: Document, console: Console) -> None:
    if summary["unfinished_games"]:
        console.print(f"[yellow]{summary['unfinished_games']} games of the match are not in these figures.[/yellow]")


def _leaderboard(summary: Document) -> Table:
    is_won = "cross_play" not in summary  # a cooperative game is won by nobody
    table = _ranked("mean", "95% interval", *["won"] * is_won, "games", "ms/decision")
    for row in tables.leaderboard_rows(summary):
        won = [row["won"]] * is_won
        table.add_row(
            row["rank"], escape(row["name"]), f"[bold]{row['mean']}[/bold]", row["interval"], *won, row["games"],
            row["decision"],
        )  # fmt: skip
    return table


def interval_plot(summary: Document, width: int = 40) -> Table:
    """Return a text plot of the leaderboard: a dot at each agent's mean on a line for its 95% interval."""
    means = [row["mean"] for row in summary["leaderboard"]]
    ends = [mean[end] for mean in means for end in ("low", "mean", "high") if mean[end] is not None]
    low, high = float(min(*ends, 0.0)), float(max(*ends, 0.0))

    def column(value: float) -> int:
        return round((value - low) / ((high - low) or 1.0) * (width - 1))

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    for row in summary["leaderboard"]:
        mean = row["mean"]
        cells = [" "] * width
        cells[column(0.0)] = "┊"
        for place in range(column(mean["low"]), column(mean["high"]) + 1) if mean["low"] is not None else ():
            cells[place] = "─"
        cells[column(mean["mean"])] = "●"
        table.add_row(escape(row["agent"]), "".join(cells))
    table.add_row("", _axis(low, high, column(0.0), width))
    return table


def _axis(low: float, high: float, zero: int, width: int) -> str:
    """Return the axis line below a plot: its ends, and 0 if there is room."""
    left, right = (f"{low:+.3g}" if low else "0"), (f"{high:+.3g}" if high else "0")
    line = list(left.ljust(width - len(right)) + right)
    if len(left) < zero < width - len(right) - 1:
        line[zero] = "0"
    return "".join(line)


def _by_pair(names: Sequence[str], rows: Sequence[Sequence[Document | None]]) -> Table:
    """Return the estimates for the row's agent and the column's; a dot where the two never met."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", overflow="fold")
    for name in names:
        table.add_column(escape(name), justify="right", overflow="fold")
    for name, row in zip(names, rows, strict=True):
        table.add_row(escape(name), *("·" if found is None else tables.estimate_text(found) for found in row))
    return table


def _ratings(ratings: Sequence[Document]) -> Table:
    table = _ranked("rating", "95% interval", "games")
    for row in tables.rating_rows(ratings):
        name = escape(row["name"]) + (" [dim](anchor)[/dim]" if row["anchored"] else "")
        table.add_row(row["rank"], name, f"[bold]{row['rating']}[/bold]", row["interval"], row["games"])
    return table


def _ranked(*columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", justify="right")
    table.add_column("agent", overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def numbers_table(first: str, *columns: str) -> Table:
    """Return an empty table with a column for names and others for numbers."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _failures(behaviours: Sequence[Document]) -> Table:
    classes, rows = tables.failure_rows(behaviours)
    table = numbers_table("failed tries", *classes, "forced", "forfeits", "decisions")
    for name, counts in rows:
        table.add_row(escape(name), *map(str, counts))
    return table


def needs_table(needs: Sequence[RequiredDeals], half_width: float, unit: str) -> Table:
    """Return a table of the deals needed for the half-width `half_width`."""
    table = numbers_table(f"± {half_width:g} {unit}", "spread per deal", "deals needed", "to be safe")
    for need in needs:
        table.add_row(escape(need.what), f"{need.spread:.3f}", str(need.deals), str(need.safe_deals))
    return table
