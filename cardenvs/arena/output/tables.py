"""The cells of tables and the sentences about results, the same in the terminal and on pages.

Everything here reads documents (cardenvs.arena.results.document).
"""

from collections.abc import Sequence
from typing import Any

from cardenvs.arena.results.document import Document
from cardenvs.core.text import count

TOO_FEW = "too few deals"
"""Shown instead of an interval that needs more deals."""
OVERALL_NOTE = (
    "Overall ratings are fitted from all matches at once, a game's own ratings from its games alone: "
    "an overall rating is not the mean of an agent's ratings by game."
)


def leaderboard_rows(summary: Document) -> list[dict[str, str]]:
    """Return the rows of a leaderboard, best mean first."""
    return [
        {
            "rank": str(row["rank"]),
            "name": row["agent"],
            "mean": f"{row['mean']['mean']:+.3f}",
            "interval": interval_text(row["mean"]),
            "won": f"{100 * row['won']:.1f}%",
            "games": str(row["games"]),
            "decision": f"{row['decision_ms']:.2f}",
        }
        for row in summary["leaderboard"]
    ]


def head_to_head(summary: Document) -> tuple[list[str], list[list[Document | None]]]:
    """Return the agents, best mean first, and for each the estimates of its advantage over each; None: never met."""
    found: dict[tuple[str, str], Document] = {}
    for pair in summary["head_to_head"]:
        (first, second), advantage = pair["agents"], pair["advantage"]
        found[first, second] = advantage
        found[second, first] = _negative(advantage)
    names = [row["agent"] for row in summary["leaderboard"]]
    return names, [[found.get((row, column)) for column in names] for row in names]


def cross_play(summary: Document) -> tuple[list[str], list[list[Document | None]]]:
    """Return the agents, best mean first, and for each the estimates of its results with each; None: never together."""
    found: dict[tuple[str, str], Document] = {}
    for pair in summary["cross_play"]:
        first, second = pair["agents"]
        found[first, second] = found[second, first] = pair["result"]
    names = [row["agent"] for row in summary["leaderboard"]]
    return names, [[found.get((row, column)) for column in names] for row in names]


def cross_play_note(summary: Document) -> str:
    """Return what the cells of a cross-play table show."""
    return f"the mean result of games of both, in {summary['unit']}; on the diagonal, of an agent with itself alone"


def _negative(estimate: Document) -> Document:
    low, high = (None if bound is None else 0.0 - bound for bound in (estimate["low"], estimate["high"]))
    return {**estimate, "mean": 0.0 - estimate["mean"], "low": high, "high": low}


def interval_text(estimate: Document) -> str:
    """Return the interval of an estimate as text."""
    return TOO_FEW if estimate["low"] is None else f"{estimate['low']:+.3f} to {estimate['high']:+.3f}"


def estimate_text(estimate: Document) -> str:
    """Return a mean with half its interval, or alone if there is only one deal."""
    if estimate["low"] is None:
        return f"{estimate['mean']:+.3f}"
    return f"{estimate['mean']:+.3f} ± {(estimate['high'] - estimate['low']) / 2:.3f}"


def story(summary: Document) -> str:
    """Return the leaderboard in a sentence: who leads, who is level with the leader, who is last."""
    best, *others = summary["leaderboard"]
    if not others:
        return f"{best['agent']} gets {best['mean']['mean']:+.3g} {summary['unit']}."
    level = [row["agent"] for row in others if row["rank"] == 1]
    if len(level) == len(others):
        return (
            f"No agent is clearly ahead of another: after {count(summary['deals'], 'deal', ',')} all intervals overlap."
        )
    lead = f"{best['agent']} leads with {best['mean']['mean']:+.3g} {summary['unit']}"
    if level:
        lead += f", level with {_listed(level)} (their intervals overlap)"
    last = others[-1]
    between = [row["agent"] for row in others if row["agent"] not in level and row is not last]
    follow = f"; {_listed(between)} {'follow' if len(between) > 1 else 'follows'}" if between else ""
    return f"{lead}{follow}; {last['agent']} comes last with {last['mean']['mean']:+.3g}."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def rating_rows(ratings: Sequence[Document]) -> list[dict[str, Any]]:
    """Return the rows of a table of ratings. A rank is 1 plus the number of agents whose intervals lie above."""
    bounds = [_rating_bounds(rating) for rating in ratings]
    return [
        {
            "rank": str(1 + sum(low > high for low, _ in bounds)),
            "name": rating["agent"],
            "anchored": rating["anchored"],
            "rating": f"{rating['rating']:.0f}",
            "interval": _rating_interval(rating),
            "games": str(rating["games"]),
        }
        for rating, (_, high) in zip(ratings, bounds, strict=True)
    ]


def _rating_bounds(rating: Document) -> tuple[float, float]:
    if rating["anchored"]:
        return rating["rating"], rating["rating"]
    low, high = rating["low"], rating["high"]
    return float("-inf") if low is None else low, float("inf") if high is None else high


def _rating_interval(rating: Document) -> str:
    if rating["anchored"]:
        return "fixed"
    return TOO_FEW if rating["low"] is None else f"{rating['low']:.0f} to {rating['high']:.0f}"


def failure_rows(behaviours: Sequence[Document]) -> tuple[list[str], list[tuple[str, list[int]]]]:
    """Return the classes of failed tries, and for each agent with failures its counts.

    The counts are of each class, of forced actions, of forfeits, and of all decisions.
    """
    classes = sorted({kind for behaviour in behaviours for kind in behaviour["failures"]})
    rows = []
    for name in dict.fromkeys(behaviour["agent"] for behaviour in behaviours):
        mine = [behaviour for behaviour in behaviours if behaviour["agent"] == name]
        counts = [sum(each["failures"].get(kind, 0) for each in mine) for kind in classes]
        counts += [sum(each["outcomes"].get(kind, 0) for each in mine) for kind in ("forced", "forfeit")]
        if any(counts):
            rows.append((name, [*counts, sum(each["decisions"] for each in mine)]))
    return classes, rows


def circle_text(circle: Sequence[str]) -> str:
    """Return the agents of a cycle as text, ending with the first one again."""
    return " > ".join([*circle, circle[0]])
