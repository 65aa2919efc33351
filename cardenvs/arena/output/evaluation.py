"""Show the card of an evaluation in the terminal and as a page."""

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cardenvs.arena.output.page import colour_of, dots_svg, render
from cardenvs.arena.results.document import Document
from cardenvs.core.files import FilePath, write_whole
from cardenvs.core.text import count

_UNIT = "score: 0 is random play, 100 the reference player"


def print_evaluation(card: Document, console: Console) -> None:
    """Print the scores by game, their mean, and what was not played."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("game")
    for heading in ("score", "deals", "ms a decision", "failed tries"):
        table.add_column(heading, justify="right")
    for row in _rows(card):
        table.add_row(*(escape(row[name]) for name in ("title", "score", "deals", "decision", "failures")))
    console.print(f"\n[bold]{escape(card['agent'])}[/bold]: protocol {card['protocol']}, {card['size']}")
    if card["games"]:
        console.print(table)
        console.print(f"\n[bold]{escape(mean_text(card))}[/bold]")
        console.print("0 is random play, 100 the reference player. Intervals are 95%, over deals.")
    for game, reason in card["not_played"].items():
        console.print(f"[yellow]not played: {game}: {escape(reason)}[/yellow]")


def mean_text(card: Document) -> str:
    """Return the mean score in words."""
    games = len(card["games"])
    whole = "" if card["is_complete"] else "; not the whole protocol, so compare single games only"
    return f"mean of {count(games, 'game')}: {_score_text(card['score'])}{whole}"


def write_evaluation_page(card: Document, path: FilePath) -> None:
    """Write the page of an evaluation, replacing an existing file atomically.

    Raises:
        MissingExtraError: matplotlib or jinja2 is not installed.
    """
    dots = [
        (game["title"], *(game["score"][name] for name in ("mean", "low", "high")), colour_of(0))
        for game in card["games"]
    ]
    text = render(
        "evaluation.html", card=card, rows=_rows(card), mean=mean_text(card), scores_svg=dots_svg(dots, _UNIT, zero=0.0)
    )
    write_whole(path, text)


def _rows(card: Document) -> list[dict[str, str]]:
    return [
        {
            "title": game["title"],
            "score": _score_text(game["score"]),
            "deals": f"{game['score']['deals']:,}",
            "decision": f"{game['decision_ms']:.3g}",
            "failures": _failures_text(game["failures"]),
            "result": f"{game['result']['mean']:+.4g} {game['unit']}",
            "reference": game["reference"],
        }
        for game in card["games"]
    ]


def _score_text(score: dict[str, Any]) -> str:
    if score["low"] is None:
        return f"{score['mean']:.1f}"
    return f"{score['mean']:.1f} ± {(score['high'] - score['low']) / 2:.1f}"


def _failures_text(failures: dict[str, int]) -> str:
    forfeits = failures.get("forfeit", 0)
    tries = sum(number for kind, number in failures.items() if kind not in ("forfeit", "forced"))
    if not tries and not forfeits:
        return "-"
    return f"{tries:,}" + (f", {count(forfeits, 'forfeit')}" if forfeits else "")
