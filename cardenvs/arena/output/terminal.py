"""Print boards in the terminal."""

import math
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cardenvs.arena.output.report import TOO_FEW, head_to_head, head_to_head_note, leaderboard, story
from cardenvs.arena.plan import RequiredDeals
from cardenvs.arena.results.board import Board, GameBoard
from cardenvs.arena.results.ratings import Rating, ranks
from cardenvs.arena.results.statistics import FEWEST_FOR_BOOTSTRAP

OVERALL_NOTE = (
    "Overall ratings are fitted from all matches at once, a game's own ratings from its games alone: "
    "an overall rating is not the mean of an agent's ratings by game."
)


def print_board(board: Board, console: Console) -> None:
    """Print each game's leaderboard, ratings, head-to-head table, cycles and failures, and the overall ratings."""
    for game in board.games:
        _print_game(game, console)
    if len(board.games) > 1:
        console.print(f"\n[bold]Overall[/bold]: ratings from {len(board.games)} matches, all with equal weight")
        console.print(ratings_table(board.overall))
        console.print(OVERALL_NOTE)
    console.print(held_text(board))
    for name in board.unconnected:
        console.print(
            f"[yellow]No games connect {escape(name)} to the other agents, so its rating is not comparable.[/]"
        )
    for error in board.failed:
        console.print(f"[red]{escape(error)}[/red]")


def held_text(board: Board) -> str:
    """Return a sentence on what the ratings are based on and relative to."""
    kind = "bootstrap" if board.intervals == "bootstrap" else "Student's"
    held = ", ".join(f"{escape(name)} at {rating:g}" for name, rating in board.anchors.items())
    around = f"with {held}" if held else "around a mean of 1500"
    ratings = [*board.overall, *(rating for game in board.games for rating in game.ratings)]
    short = any(math.isinf(rating.low) for rating in ratings)
    needed = f" Ratings have intervals from {FEWEST_FOR_BOOTSTRAP} deals on." if short else ""
    return (
        f"Ratings are Elo points of {board.basis.description()}, {around}. "
        f"Intervals are 95%, over deals ({kind}).{needed}"
    )


def _print_game(game: GameBoard, console: Console) -> None:
    summary, match = game.summary, game.match
    unit = match.game.returns(match.options).result_unit_label
    console.print(f"\n[bold]{escape(game.title)}[/bold]: mean result in {unit}")
    console.print(leaderboard(summary))
    console.print(escape(story(summary)))
    console.print(ratings_table(game.ratings))
    console.print(f"[bold]Head to head[/bold]: {head_to_head_note(summary)}")
    console.print(head_to_head(summary))
    for circle in game.circles:
        console.print(f"[magenta]A cycle, each ahead of the next: {escape(circle_text(game, circle))}[/magenta]")
    if any(behaviour.failures or behaviour.outcomes for behaviour in game.behaviours):
        console.print(failures_table([game]))
    console.print(
        f"{len(summary.deals)} deals, {summary.games} games ({len(match.lineups)} a deal), seed {match.seed_text}, "
        f"match {match.id}."
    )
    if summary.unfinished:
        console.print(f"[yellow]{summary.unfinished} games of the match are not in these figures.[/yellow]")


def circle_text(game: GameBoard, circle: Sequence[int]) -> str:
    """Return the agents of a cycle as text, ending with the first one again."""
    names = [game.match.names[agent] for agent in (*circle, circle[0])]
    return " > ".join(names)


def ratings_table(ratings: Sequence[Rating]) -> Table:
    """Return a table of agents by rating."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", justify="right")
    table.add_column("agent", overflow="fold")
    for column in ("rating", "95% interval", "games"):
        table.add_column(column, justify="right", no_wrap=True)
    for rank, rating in zip(ranks(ratings), ratings, strict=True):
        table.add_row(
            str(rank),
            escape(rating.name) + (" [dim](anchor)[/dim]" if rating.anchored else ""),
            f"[bold]{rating.rating:.0f}[/bold]",
            rating_interval(rating),
            str(rating.games),
        )
    return table


def rating_interval(rating: Rating) -> str:
    """Return the interval of a rating as text."""
    if rating.anchored:
        return "fixed"
    return TOO_FEW if math.isinf(rating.low) else f"{rating.low:.0f} to {rating.high:.0f}"


def failures_table(games: Sequence[GameBoard]) -> Table:
    """Return a table of failed tries by class, forced actions and forfeits, by agent."""
    behaviours = [behaviour for game in games for behaviour in game.behaviours]
    classes = sorted({kind for behaviour in behaviours for kind in behaviour.failures})
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("failed tries", overflow="fold")
    for column in (*classes, "forced", "forfeits", "decisions"):
        table.add_column(column, justify="right")
    for behaviour in behaviours:
        if behaviour.failures or behaviour.outcomes:
            counts = [behaviour.failures.get(kind, 0) for kind in classes]
            counts += [behaviour.outcomes.get(kind, 0) for kind in ("forced", "forfeit")]
            table.add_row(escape(behaviour.name), *map(str, counts), str(behaviour.decisions))
    return table


def needs_table(needs: Sequence[RequiredDeals], half_width: float, unit: str) -> Table:
    """Return a table of the deals needed for the half-width `half_width`."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(f"± {half_width:g} {unit}", overflow="fold")
    for column in ("spread per deal", "deals needed", "to be safe"):
        table.add_column(column, justify="right")
    for need in needs:
        table.add_row(escape(need.what), f"{need.spread:.3f}", str(need.deals), str(need.safe_deals))
    return table
