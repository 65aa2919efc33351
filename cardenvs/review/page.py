"""A review as a page: a chart, the turning points, the mistakes, and the game with what each play was worth."""

from typing import Any

from cardenvs.arena.output.page import colour_of, lines_svg, render
from cardenvs.core.events import OMNISCIENT
from cardenvs.pictures.player import in_notebook
from cardenvs.review.decisions import Review
from cardenvs.review.story import basis, player_name, player_row, turning_points


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
        title=replay.game.title,
        basis=basis(review.judge.spec, review.judge.sees_all, review.worlds),
        seed=replay.setup["seed"],
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
