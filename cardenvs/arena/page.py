"""A summary as one HTML page that needs no other file and no network."""

import datetime
import io
import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from cardenvs.arena.report import as_json, interval_text, ranking_order
from cardenvs.arena.statistics import Estimate, Summary
from cardenvs.core.errors import ArenaError, require
from cardenvs.core.files import write_whole

_EXTRA = "report"
_TEXT, _GRID = "#010203", "#040506"  # stand for the page's own colours, which differ by day and night
_COLOURS = ("#2563eb", "#e4572e", "#17a673", "#a855f7", "#d99a0b", "#0ea5b7", "#db2777", "#64748b")
_MOST_POINTS = 300  # of a line
_SKIPPED_DEALS = 0.02  # of a line's start, which swings widely


def check_page_extra() -> None:
    """Raise MissingExtraError now, not after hours of play, if pages cannot be made."""
    require("matplotlib", _EXTRA)
    require("jinja2", _EXTRA)


def write_page(summary: Summary, path: str | Path) -> None:
    """Write the page; an existing file is replaced in one go.

    Raises:
        MissingExtraError: matplotlib or jinja2 is not installed.
        ArenaError: no deal is complete.
    """
    write_whole(path, page(summary))


def page(summary: Summary) -> str:
    """The page as text. See `write_page`."""
    if not summary.deals:
        raise ArenaError("there is no complete deal to make a page of")
    jinja2 = require("jinja2", _EXTRA)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    template = environment.from_string(Path(__file__).with_name("report.html").read_text(encoding="utf-8"))
    safe = require("markupsafe", _EXTRA).Markup
    match = summary.match
    return template.render(
        title=match.game.title,
        names=match.names,
        data=as_json(summary),
        ranking=[_ranking_row(standing) for standing in summary.ranking],
        heat=_heat(summary),
        intervals_svg=safe(_intervals_svg(summary)),
        running_svg=safe(_running_svg(summary)),
        seating="in every seating" if match.options.num_players <= 3 else "in every rotation of the seats",
        made=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _ranking_row(standing: Any) -> dict[str, str]:
    return {
        "name": standing.name,
        "mean": f"{standing.mean.mean:+.3f}",
        "interval": interval_text(standing.mean),
        "won": f"{100 * standing.won:.1f}%",
        "games": str(standing.games),
        "decision": f"{1000 * standing.decision_seconds:.2f}",
    }


def _heat(summary: Summary) -> dict[str, Any]:
    order, names = ranking_order(summary), summary.match.names
    most = max((abs(estimate.mean) for estimate in summary.differences.values()), default=0.0)
    rows = [
        {"name": names[row], "cells": [_heat_cell(summary.difference(row, column), most) for column in order]}
        for row in order
    ]
    return {"names": [names[agent] for agent in order], "rows": rows}


def _heat_cell(estimate: Estimate | None, most: float) -> dict[str, Any] | None:
    if estimate is None:
        return None
    is_clear = estimate.low > 0 or estimate.high < 0
    return {
        "mean": f"{estimate.mean:+.3f}",
        "interval": interval_text(estimate),
        "side": "good" if estimate.mean > 0 else "bad",
        "strength": f"{0.15 + 0.55 * abs(estimate.mean) / most:.2f}" if is_clear else "",
    }


# ---------------------------------------------------------------------------------------------------------------
# Plots


def _intervals_svg(summary: Summary) -> str:
    """A dot and a bar for each agent, the best on top."""
    ranking = summary.ranking
    figure, axes = _figure(height=0.9 + 0.5 * len(ranking))
    colours = _colour_of(summary)
    for place, standing in enumerate(ranking):
        estimate, colour = standing.mean, colours[standing.name]
        if not math.isinf(estimate.low):
            axes.plot([estimate.low, estimate.high], [place, place], color=colour, lw=7, alpha=0.35, zorder=2)
        axes.plot([estimate.mean], [place], "o", color=colour, ms=9, zorder=3)
    axes.axvline(0, color=_TEXT, lw=1, alpha=0.5, zorder=1)
    axes.set_yticks(range(len(ranking)), [_short(standing.name) for standing in ranking])
    axes.set_ylim(len(ranking) - 0.5, -0.5)
    axes.grid(axis="x", color=_GRID, lw=0.8)
    axes.set_xlabel(_unit(summary))
    return _svg(figure)


def _running_svg(summary: Summary) -> str:
    """The mean of each agent over the first deals."""
    figure, axes = _figure(height=3.6)
    colours = _colour_of(summary)
    deals = len(summary.deals)
    first = min(deals, max(1, round(deals * _SKIPPED_DEALS)))
    shown = np.unique(np.linspace(first, deals, _MOST_POINTS).round().astype(int))
    for standing in summary.ranking:
        means = np.cumsum(standing.by_deal)[shown - 1] / shown
        axes.plot(shown, means, color=colours[standing.name], lw=2, label=_short(standing.name))
    axes.axhline(0, color=_TEXT, lw=1, alpha=0.5)
    axes.grid(color=_GRID, lw=0.8)
    axes.set_xlabel("deals")
    axes.set_ylabel(_unit(summary))
    legend = axes.legend(frameon=False, labelcolor=_TEXT, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    for text in legend.get_texts():
        text.set_parse_math(False)
    return _svg(figure)


def _figure(height: float) -> tuple[Any, Any]:
    """A figure without pyplot, so without a display and without a trace in the process."""
    require("matplotlib", _EXTRA)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, height), layout="constrained")
    figure.patch.set_alpha(0)
    axes = figure.add_subplot()
    axes.patch.set_alpha(0)
    axes.tick_params(color=_GRID, labelcolor=_TEXT, length=0)
    axes.xaxis.label.set_color(_TEXT)
    axes.yaxis.label.set_color(_TEXT)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_axisbelow(True)
    return figure, axes


def _svg(figure: Any) -> str:
    """The figure as an <svg> element in the page's colours; its text is drawn as shapes, so nothing needs escaping."""
    import matplotlib

    for axes in figure.axes:
        for text in (*axes.get_xticklabels(), *axes.get_yticklabels()):
            text.set_parse_math(False)  # an agent's name may hold a dollar sign
    out = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "cardenvs", "axes.unicode_minus": True}):
        metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(out, format="svg", metadata=metadata)
    svg = out.getvalue()
    svg = re.sub(r"<!--.*?-->", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    return svg.replace(_TEXT, "currentColor").replace(_GRID, "var(--line)")


def _colour_of(summary: Summary) -> dict[str, str]:
    return {name: _COLOURS[agent % len(_COLOURS)] for agent, name in enumerate(summary.match.names)}


def _unit(summary: Summary) -> str:
    return summary.match.game.returns(summary.match.options).told_in


def _short(name: str, most: int = 34) -> str:
    return name if len(name) <= most else f"{name[: most // 2 - 1]}…{name[-most // 2 :]}"
