"""A review as a page: a chart, the turning points, the mistakes, and the game with what each play was worth."""

import math
from typing import Any

from cardenvs.arena.output.page import colour_of, lines_svg, render
from cardenvs.core.events import OMNISCIENT
from cardenvs.pictures.player import in_notebook
from cardenvs.review.decisions import Review
from cardenvs.review.story import turning_points


def page(review: Review, back: str = "") -> str:
    """Return a self-contained page. The game in it is shown as the reviewed player saw it, or whole if several were
    reviewed. `back` is the address of the list of tables, if the page has a link to it.

    Raises:
        MissingExtraError: matplotlib or jinja2 is not installed.
    """
    replay = review.replay
    viewer = review.players[0] if len(review.players) == 1 else OMNISCIENT
    return render(
        "review.html",
        title=f"{replay.game.title}, seed {replay.setup['seed']}",
        basis=basis(review),
        back=back,
        players=[player_row(review, player) for player in review.players],
        chart_svg=_chart(review),
        points=[
            {
                "ply": point.ply, "change": f"{point.change:+.3g}", "text": point.text,
                "name": player_name(review, point.player),
            }
            for point in turning_points(review)
        ],
        mistakes=[
            {
                "ply": one.ply, "name": player_name(review, one.player), "played": one.played, "best": one.best,
                "loss": f"{one.loss:.3g}",
            }
            for one in review.mistakes
        ],
        game_html=in_notebook(replay.page(viewer, _notes(review))),
    )  # fmt: skip


def basis(review: Review) -> str:
    """Return by whom and from which knowledge a game was judged, in a sentence."""
    known = "the cards as they lay" if review.judge.sees_all else "worlds that fit what the player knew"
    return f"Judged by {review.judge.spec} in {review.worlds} playouts of each play in question, in {known}."


def player_name(review: Review, player: int) -> str:
    """Return a player's number and name."""
    name = review.replay.players[player]
    return name if name == f"player_{player}" else f"player_{player} {name}"


def player_row(review: Review, player: int) -> dict[str, Any]:
    """Return what a table of players shows of one, as text."""
    decisions, accuracy = review.of(player), review.accuracy(player)
    mistakes = sum(one.is_mistake for one in decisions)
    return {
        "name": player_name(review, player),
        "returns": f"{review.replay.returns[player]:.4g}",
        "accuracy": "-" if math.isnan(accuracy) else f"{accuracy:.0f}%",
        "mistakes": f"{mistakes} of {len(decisions)}",
        "loss": f"{review.loss(player):.3g}",
        "fortune": f"{review.fortune(player):+.3g}",
    }


def _chart(review: Review) -> str:
    lines = []
    dots: list[tuple[float, float, str]] = []
    for player in review.players:
        x: list[float] = []
        y: list[float] = []
        for one in review.of(player):
            x += [one.ply, one.ply + one.actions]
            y += [one.best_value, one.value]
            if one.is_mistake:
                dots.append((one.ply + one.actions, one.value, colour_of(player)))
        if review.is_over:
            x.append(len(review.replay.actions))
            y.append(review.replay.returns[player])
        lines.append((player_name(review, player), x, y, colour_of(player)))
    return lines_svg(lines, "actions", "expected return", dots)


def _notes(review: Review) -> dict[int, Any]:
    """Return the values of the plays for the positions in which they were compared."""
    return {
        one.ply: {
            "search": {"worlds": review.worlds, "values": [list(pair) for pair in one.values]},
            "played": one.played,
            **({"better": one.best, "cost": round(one.loss, 3)} if one.is_mistake else {}),
        }
        for one in review.decisions
    }
