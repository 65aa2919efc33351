"""HTML pages and plots. The page of a summary is self-contained: it needs no other file and no network."""

import datetime
import io
import math
import re
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from cardenvs.arena.output.report import (
    as_json,
    estimate_text,
    head_to_head_note,
    interval_text,
    ranking_order,
    story,
)
from cardenvs.arena.results.statistics import Estimate, Standing, Summary
from cardenvs.core.errors import ArenaError, MissingExtraError, require
from cardenvs.core.files import write_whole

_EXTRA = "report"
_TEXT, _GRID = "#010203", "#040506"  # placeholders for the page's colours, which depend on light or dark mode
_COLOURS = ("#2563eb", "#e4572e", "#17a673", "#a855f7", "#d99a0b", "#0ea5b7", "#db2777", "#64748b")
_MOST_POINTS = 300  # per line
_SKIPPED_DEALS = 0.02  # fraction of deals left out at a line's start, where the mean swings widely


def check_page_extra() -> None:
    """Check before play starts that pages can be made.

    Raises:
        MissingExtraError: matplotlib or jinja2 is not installed.
    """
    require("matplotlib", _EXTRA)
    require("jinja2", _EXTRA)


def write_page(summary: Summary, path: str | Path) -> None:
    """Write the page of a summary, replacing an existing file atomically.

    Raises:
        MissingExtraError: matplotlib or jinja2 is not installed.
        ArenaError: no deal is complete.
    """
    write_whole(path, page(summary))


def page(summary: Summary) -> str:
    """Return the page of a summary as text; see `write_page`."""
    if not summary.deals:
        raise ArenaError("no deal is complete yet, so there is nothing to show")
    return render("match.html", **match_context(summary))


def notebook_html(summary: Summary) -> str:
    """Return a match as a table, and as a plot if matplotlib is installed, for the output of a notebook cell."""
    unit = escape(_unit(summary))
    rows = "".join(
        f"<tr><td>{summary.rank(standing)}</td><td style='text-align:left'>{escape(standing.name)}</td>"
        f"<td>{estimate_text(standing.mean)}</td></tr>"
        for standing in summary.ranking
    )
    title = f"{escape(summary.match.game.title)}, {len(summary.deals)} deals, {summary.games} games"
    table = f"<table><thead><tr><th></th><th>{title}</th><th>{unit}</th></tr></thead><tbody>{rows}</tbody></table>"
    try:
        plot = _intervals_svg(summary)
    except MissingExtraError:
        return table
    return f"{table}<div style='max-width:760px'>{plot.replace('var(--line)', '#cfd6d0')}</div>"


def render(template: str, **context: Any) -> str:
    """Render a template of this package. All text is escaped, except context names that end in `_svg`."""
    jinja2 = require("jinja2", _EXTRA)
    safe = require("markupsafe", _EXTRA).Markup
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
    )  # fmt: skip
    marked = {name: safe(value) if name.endswith("_svg") else value for name, value in context.items()}
    return environment.get_template(template).render(**marked, made=_now())


def match_context(summary: Summary) -> dict[str, Any]:
    """Return the values for the templates of one match."""
    match = summary.match
    every_seating = len(match.lineups) == len({tuple(sorted(lineup)) for lineup in match.lineups}) * math.factorial(
        match.options.num_players
    )
    return {
        "title": match.game.title,
        "names": match.names,
        "data": as_json(summary),
        "ranking": [_ranking_row(summary, standing) for standing in summary.ranking],
        "story": story(summary),
        "head_to_head_note": head_to_head_note(summary),
        "heat": _heat(summary),
        "intervals_svg": _intervals_svg(summary),
        "running_svg": _running_svg(summary),
        "seating": "in every seating" if every_seating else "in every rotation of the seats",
    }


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


def _ranking_row(summary: Summary, standing: Standing) -> dict[str, str]:
    return {
        "rank": str(summary.rank(standing)),
        "name": standing.name,
        "mean": f"{standing.mean.mean:+.3f}",
        "interval": interval_text(standing.mean),
        "won": f"{100 * standing.won:.1f}%",
        "games": str(standing.games),
        "decision": f"{1000 * standing.decision_seconds:.2f}",
    }


def heat_cell(estimate: Estimate, most: float) -> dict[str, Any]:
    """Return a table cell, coloured if its interval excludes 0; the larger the mean, the stronger the colour."""
    is_clear = estimate.low > 0 or estimate.high < 0
    low, high = _short_number(estimate.low), _short_number(estimate.high)
    return {
        "mean": _short_number(estimate.mean),
        "interval": "-" if math.isinf(estimate.low) else f"{low} to {high}",
        "side": "good" if estimate.mean > 0 else "bad",
        "strength": f"{0.15 + 0.55 * min(1.0, abs(estimate.mean) / most):.2f}" if is_clear and most else "",
    }


def _short_number(value: float) -> str:
    """Return a number with three decimals, or fewer if it is large."""
    decimals = 3 if abs(value) < 100 else 1 if abs(value) < 1000 else 0
    return f"{value:+.{decimals}f}"


def _heat(summary: Summary) -> dict[str, Any]:
    order, names = ranking_order(summary), summary.match.names
    most = max((abs(estimate.mean) for estimate in summary.advantages.values()), default=0.0)
    rows = [
        {"name": names[row], "cells": [_cell(summary.advantage(row, column), most) for column in order]}
        for row in order
    ]
    return {"names": [names[agent] for agent in order], "rows": rows}


def _cell(estimate: Estimate | None, most: float) -> dict[str, Any] | None:
    return None if estimate is None else heat_cell(estimate, most)


# ---------------------------------------------------------------------------------------------------------------
# Plots


def _intervals_svg(summary: Summary) -> str:
    """Return a plot with a dot and a bar for each agent, the best on top."""
    colours = _colour_of(summary)
    rows = [(s.name, s.mean.mean, s.mean.low, s.mean.high, colours[s.name]) for s in summary.ranking]
    return dots_svg(rows, _unit(summary), zero=0.0)


def dots_svg(rows: list[tuple[str, float, float, float, str]], unit: str, zero: float | None = None) -> str:
    """Return a plot with a dot and a bar for each row (name, value, low, high, colour), the first on top."""
    figure, axes = _figure(height=0.9 + 0.5 * len(rows))
    for place, (_, value, low, high, colour) in enumerate(rows):
        if not math.isinf(low):
            axes.plot([low, high], [place, place], color=colour, lw=7, alpha=0.35, zorder=2, solid_capstyle="butt")
        axes.plot([value], [place], "o", color=colour, ms=9, zorder=3)
    if zero is not None:
        axes.axvline(zero, color=_TEXT, lw=1, alpha=0.5, zorder=1)
    axes.set_yticks(range(len(rows)), [_short(name) for name, *_ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="x", color=_GRID, lw=0.8)
    axes.set_xlabel(unit)
    return _svg(figure)


def shares_svg(rows: list[tuple[str, dict[str, float]]]) -> str:
    """Return a plot with a stacked bar for each row (name, {part: share}); a part has the same colour in all bars."""
    parts = list(dict.fromkeys(part for _, shares in rows for part in shares))
    figure, axes = _figure(height=1.1 + 0.5 * len(rows))
    starts = [0.0] * len(rows)
    for number, part in enumerate(parts):
        widths = [100 * shares.get(part, 0.0) for _, shares in rows]
        axes.barh(range(len(rows)), widths, left=starts, color=colour_of(number), height=0.62, label=_short(part))
        starts = [start + width for start, width in zip(starts, widths, strict=True)]
    axes.set_yticks(range(len(rows)), [_short(name) for name, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of decisions")
    _legend(axes)
    return _svg(figure)


def _legend(axes: Any) -> None:
    legend = axes.legend(frameon=False, labelcolor=_TEXT, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    for text in legend.get_texts():
        text.set_parse_math(False)


def colour_of(number: int) -> str:
    """Return the colour of an agent or a part by its number."""
    return _COLOURS[number % len(_COLOURS)]


def _running_svg(summary: Summary) -> str:
    """Return a plot of each agent's running mean over the deals."""
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
    _legend(axes)
    return _svg(figure)


def _figure(height: float) -> tuple[Any, Any]:
    """Return a new figure and its axes. Avoids pyplot, which needs a display and keeps global state."""
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
    """Return the figure as an <svg> element in the page's colours. Text becomes shapes, so it needs no escaping."""
    import matplotlib

    for axes in figure.axes:
        for text in (*axes.get_xticklabels(), *axes.get_yticklabels()):
            text.set_parse_math(False)  # an agent's name may contain a dollar sign
    out = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "cardenvs", "axes.unicode_minus": True}):
        metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(out, format="svg", metadata=metadata)
    svg = out.getvalue()
    svg = re.sub(r"<!--.*?-->", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    return svg.replace(_TEXT, "currentColor").replace(_GRID, "var(--line)")


def _colour_of(summary: Summary) -> dict[str, str]:
    return {name: colour_of(agent) for agent, name in enumerate(summary.match.names)}


def _unit(summary: Summary) -> str:
    return summary.match.game.returns(summary.match.options).result_unit_label


def _short(name: str, most: int = 34) -> str:
    return name if len(name) <= most else f"{name[: most // 2 - 1]}…{name[-most // 2 :]}"
