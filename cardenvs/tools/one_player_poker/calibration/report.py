"""A page about a calibration run: points by tier, targets, and where the policies disagree."""

import html
import io
from pathlib import Path
from typing import Any

import numpy as np

from cardenvs.core.errors import require
from cardenvs.core.files import write_whole
from cardenvs.tools.one_player_poker.calibration.pipeline import read_rows

_COLOURS = {"easy": "#00795a", "medium": "#0068a8", "hard": "#c8452a"}
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Calibration {run}</title>
<style>body{{font:15px/1.5 system-ui,sans-serif;max-width:860px;margin:2em auto;padding:0 16px;color:#1b2430}}
table{{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}}td,th{{padding:4px 8px;text-align:right;
border-bottom:1px solid #cfd6d0}}td:first-child,th:first-child{{text-align:left}}svg{{width:100%;height:auto}}</style>
<h1>Calibration {run}</h1>
<p>{seeds:,} decks of one-player poker, model points (a straight flush counts as a flush). Engine {engine}.</p>
<h2>Tiers</h2>
<p>Thirds of the decks by the rule agent's points; decks within {near:.0%} of a boundary are split by the best total
that their order allows. The target is the stated quantile of the points of {gate} on challenges of the tier.</p>
<table><tr><th>tier<th>decks<th>target<th>quantile<th>rule agent, mean (sd)<th>best total, mean (sd)
<th>rule agent passes<th>{gate} passes<th>best total passes</tr>{rows}</table>
<h2>Points by tier</h2><p>Filled: the rule agent. Outline: the best total. Dashed: the target.</p>{histograms}
<h2>Where the policies disagree</h2><p>Decks tried as challenges: the rule agent against
{gate}. In the upper left only {gate} passes, in the lower right only the rule agent.</p>{scatter}
</html>
"""


def write_report(folder: Path, summary: dict[str, Any]) -> Path:
    """Write report.html about a finished run from its summary.json, and return its path.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    rows = list(read_rows(folder / "calibration_results.jsonl"))
    gated = {
        tier: [row for path in (folder / "parts").glob(f"gate-{tier}-*.jsonl") for row in read_rows(path)]
        for tier in summary["tiers"]
    }
    page = _PAGE.format(
        run=html.escape(summary["run_id"]), seeds=summary["seeds"], engine=html.escape(summary["engine_version"]),
        gate=html.escape(summary["gate"]), near=summary["near"], rows="".join(map(_row, summary["tiers"].items())),
        histograms=_histograms(rows, summary), scatter=_scatter(gated, summary),
    )  # fmt: skip
    path = folder / "report.html"
    write_whole(path, page)
    return path


def _row(of: tuple[str, dict[str, Any]]) -> str:
    name, tier = of
    passes = tier["pass_rates"]
    cells = (
        f"{tier['seeds']:,}", f"{tier['target_score']:,}", f"{tier['target_quantile']:g}", _spread(tier["heuristic"]),
        _spread(tier["optimum"]), f"{passes['heuristic']:.0%}", f"{passes['gate']:.0%}", f"{passes['optimum']:.0%}",
    )  # fmt: skip
    return f"<tr><td>{name}{''.join(f'<td>{cell}' for cell in cells)}</tr>"


def _spread(figures: dict[str, float]) -> str:
    return f"{figures['mean']:,.0f} ({figures['sd']:,.0f})"


def _histograms(rows: list[dict[str, Any]], summary: dict[str, Any]) -> str:
    tiers = summary["tiers"]
    figure, plots = _figure(len(tiers), 1, 1.9 * len(tiers))
    most = max(row["optimum"] for row in rows)
    bins = np.linspace(0, most + 20, 60)
    for axes, (name, tier) in zip(plots.flat, tiers.items(), strict=True):
        of = [row for row in rows if row["tier"] == name]
        axes.hist([row["heuristic"] for row in of], bins, color=_COLOURS[name], alpha=0.75)
        axes.hist([row["optimum"] for row in of], bins, histtype="step", color="#55606a")
        axes.axvline(tier["target_score"], color="#1b2430", ls="--", lw=1.2)
        axes.set_ylabel(name)
        axes.set_yticks([])
    plots.flat[-1].set_xlabel("points")
    return _svg(figure)


def _scatter(gated: dict[str, list[dict[str, Any]]], summary: dict[str, Any]) -> str:
    figure, plots = _figure(1, len(gated), 3.4)
    most = max(max(row["heuristic"], row["gate"]) for rows in gated.values() for row in rows) + 50
    for axes, (name, rows) in zip(plots.flat, gated.items(), strict=True):
        target = summary["tiers"][name]["target_score"]
        axes.plot([row["heuristic"] for row in rows], [row["gate"] for row in rows], ".", color=_COLOURS[name], ms=4)
        axes.axvline(target, color="#1b2430", ls="--", lw=1)
        axes.axhline(target, color="#1b2430", ls="--", lw=1)
        axes.set(xlim=(150, most), ylim=(150, most), title=name, xlabel="rule agent", aspect="equal")
    plots.flat[0].set_ylabel(summary["gate"])
    return _svg(figure)


def _figure(rows: int, columns: int, height: float) -> tuple[Any, Any]:
    require("matplotlib", "report")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, height), layout="constrained")
    plots = figure.subplots(rows, columns, squeeze=False, sharex=True)
    for axes in plots.flat:
        axes.spines[["top", "right"]].set_visible(False)
    return figure, plots


def _svg(figure: Any) -> str:
    out = io.StringIO()
    figure.savefig(out, format="svg")
    text = out.getvalue()
    return text[text.index("<svg") :]
