"""HTML pages and plots. The page of a summary is self-contained: it needs no other file and no network."""

import datetime
import io
import re
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from cardenvs.arena.output.tables import (
    cross_play,
    cross_play_note,
    estimate_text,
    head_to_head,
    leaderboard_rows,
    story,
)
from cardenvs.arena.results.document import Document
from cardenvs.core.errors import ArenaError, MissingExtraError, require
from cardenvs.core.files import FilePath, write_whole
from cardenvs.core.text import count

_EXTRA = "report"
_TEXT, _GRID = "#010203", "#040506"  # placeholders for the page's colours, which depend on light or dark mode
_COLOURS = ("#2563eb", "#e4572e", "#17a673", "#a855f7", "#d99a0b", "#0ea5b7", "#db2777", "#64748b")
_MOST_POINTS = 300  # points per line
_SKIPPED_DEALS = 0.02  # fraction of deals left out at a line's start, where the mean swings widely


def check_page_extra() -> None:
    """Check before play starts that pages can be made.

    Raises:
        MissingExtraError: matplotlib or jinja2 is not installed.
    """
    require("matplotlib", _EXTRA)
    require("jinja2", _EXTRA)


def write_page(summary: Document, path: FilePath) -> None:
    """Write the page of a summary, replacing an existing file atomically.

    Raises:
        MissingExtraError: matplotlib or jinja2 is not installed.
        ArenaError: no deal is complete.
    """
    write_whole(path, page(summary))


def page(summary: Document) -> str:
    """Return the page of a summary as text; see `write_page`."""
    if not summary["deals"]:
        raise ArenaError("no deal is complete yet, so there is nothing to show")
    return render("match.html", **match_context(summary))


def notebook_html(summary: Document) -> str:
    """Return a match as a table, and as a plot if matplotlib is installed, for the output of a notebook cell."""
    unit = escape(summary["unit"])
    rows = "".join(
        f"<tr><td>{row['rank']}</td><td style='text-align:left'>{escape(row['agent'])}</td>"
        f"<td>{estimate_text(row['mean'])}</td></tr>"
        for row in summary["leaderboard"]
    )
    title = (
        f"{escape(summary['display']['title'])}, {count(summary['deals'], 'deal')}, {count(summary['games'], 'game')}"
    )
    table = f"<table><thead><tr><th></th><th>{title}</th><th>{unit}</th></tr></thead><tbody>{rows}</tbody></table>"
    try:
        plot = _intervals_svg(summary)
    except MissingExtraError:
        return table
    return f"{table}<div style='max-width:760px'>{plot.replace('var(--line)', '#cfd6d0')}</div>"


def render(template: str, **context: Any) -> str:
    """Render a template of this package. All text is escaped, except context names that end in `_svg` or `_html`."""
    jinja2 = require("jinja2", _EXTRA)
    safe = require("markupsafe", _EXTRA).Markup
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
    )  # fmt: skip
    marked = {name: safe(value) if name.endswith(("_svg", "_html")) else value for name, value in context.items()}
    made = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    return str(environment.get_template(template).render(**marked, made=made))


def match_context(summary: Document) -> dict[str, Any]:
    """Return the values for the templates of one match."""
    return {
        "title": summary["display"]["title"],
        "names": _names(summary),
        "data": summary,
        "ranking": leaderboard_rows(summary),
        "story": story(summary),
        "is_cooperative": "cross_play" in summary,
        "pairs_note": cross_play_note(summary) if "cross_play" in summary else summary["display"]["head_to_head"],
        "heat": _heat(summary),
        "intervals_svg": _intervals_svg(summary),
        "running_svg": _running_svg(summary),
        "seating": summary["display"]["seating"],
    }


def _names(summary: Document) -> list[str]:
    return [agent["name"] for agent in summary["agents"]]


def heat_cell(estimate: Document | None, most: float) -> dict[str, Any] | None:
    """Return a table cell, coloured if its interval excludes 0; the larger the mean, the stronger the colour."""
    if estimate is None:
        return None
    mean, low, high = estimate["mean"], estimate["low"], estimate["high"]
    is_clear = low is not None and (low > 0 or high < 0)
    return {
        "mean": _short_number(mean),
        "interval": "-" if low is None else f"{_short_number(low)} to {_short_number(high)}",
        "side": "good" if mean > 0 else "bad",
        "strength": f"{0.15 + 0.55 * min(1.0, abs(mean) / most):.2f}" if is_clear and most else "",
    }


def _short_number(value: float) -> str:
    """Return a number with three decimals, or fewer if it is large."""
    decimals = 3 if abs(value) < 100 else 1 if abs(value) < 1000 else 0
    return f"{value:+.{decimals}f}"


def _heat(summary: Document) -> dict[str, Any]:
    names, rows = cross_play(summary) if "cross_play" in summary else head_to_head(summary)
    most = max((abs(found["mean"]) for row in rows for found in row if found), default=0.0)
    cells = [[heat_cell(found, most) for found in row] for row in rows]
    return {"names": names, "rows": [{"name": name, "cells": row} for name, row in zip(names, cells, strict=True)]}


# -- plots --------------------------------------------------------------------------------------------------------


def _intervals_svg(summary: Document) -> str:
    """Return a plot with a dot and a bar for each agent, the best on top."""
    colours = _colours(summary)
    rows = [
        (row["agent"], row["mean"]["mean"], row["mean"]["low"], row["mean"]["high"], colours[row["agent"]])
        for row in summary["leaderboard"]
    ]
    return dots_svg(rows, summary["unit"], zero=0.0)


def dots_svg(
    rows: list[tuple[str, float, float | None, float | None, str]], unit: str, zero: float | None = None
) -> str:
    """Return a plot with a dot and a bar for each row (name, value, low, high, colour), the first on top."""
    figure, axes = _figure(height=0.9 + 0.5 * len(rows))
    for place, (_, value, low, high, colour) in enumerate(rows):
        if low is not None:
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


def _running_svg(summary: Document) -> str:
    """Return a plot of each agent's running mean over the deals."""
    colours, deals = _colours(summary), summary["deals"]
    first = min(deals, max(1, round(deals * _SKIPPED_DEALS)))
    shown = np.unique(np.linspace(first, deals, _MOST_POINTS).round().astype(int))
    lines = []
    for row in summary["leaderboard"]:
        name = row["agent"]
        means = np.cumsum(summary["display"]["by_deal"][name])[shown - 1] / shown
        lines.append((name, shown, means, colours[name]))
    return lines_svg(lines, "deals", summary["unit"])


def lines_svg(
    lines: list[tuple[str, Any, Any, str]],
    across: str,
    upwards: str,
    dots: list[tuple[float, float, str]] | None = None,
) -> str:
    """Return a plot of lines (name, x, y, colour) over the line at 0, with dots (x, y, colour) on them."""
    figure, axes = _figure(height=3.6)
    for name, x, y, colour in lines:
        axes.plot(x, y, color=colour, lw=2, label=_short(name))
    for x, y, colour in dots or ():
        axes.plot([x], [y], "o", color=colour, ms=8, zorder=3)
    axes.axhline(0, color=_TEXT, lw=1, alpha=0.5)
    axes.grid(color=_GRID, lw=0.8)
    axes.set_xlabel(across)
    axes.set_ylabel(upwards)
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


def _colours(summary: Document) -> dict[str, str]:
    return {name: colour_of(agent) for agent, name in enumerate(_names(summary))}


def _short(name: str, most: int = 34) -> str:
    return name if len(name) <= most else f"{name[: most // 2 - 1]}…{name[-most // 2 :]}"
