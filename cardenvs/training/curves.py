"""Pictures of learning curves, from the metrics.jsonl of runs."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from cardenvs.core.errors import FormatError, OptionError, require
from cardenvs.training.folder import METRICS_FILE

FORMATS = (".svg", ".png", ".pdf")
COLOURS = ("#2563eb", "#e4572e", "#17a673", "#a855f7", "#d99a0b", "#0ea5b7", "#db2777", "#64748b")
TEXT, GRID = "#374151", "#d1d5db"
_DARK = (  # colours on dark pages, by the styles that matplotlib writes
    "svg{fill:#e8edf0}"
    '[style*="fill: #ffffff"]{fill:#1d262c!important}'
    f'[style*="fill: {TEXT}"]{{fill:#c3ccd2!important}}'
    f'[style*="stroke: {TEXT}"]{{stroke:#c3ccd2!important}}'
    f'[style*="stroke: {GRID}"]{{stroke:#3c4850!important}}'
)
_MOST_BYTES = 1 << 30

Curve = dict[int, float]  # value by steps


def read_metric(run: Path, metric: str) -> Curve:
    """Return a metric of the run in a folder by steps; its name is as in `METRICS`, such as "eval/heuristic".

    Raises:
        OptionError: the folder holds no run, or the run lacks the metric; the message names the evaluations it has.
        FormatError: the file is damaged.
    """
    path = run / METRICS_FILE
    if not path.is_file():
        raise OptionError(f"{run} holds no run: it has no {METRICS_FILE}")
    if path.stat().st_size > _MOST_BYTES:
        raise FormatError(f"{path} is larger than a GiB")
    curve: Curve = {}
    names: set[str] = set()
    for number, line in enumerate(path.open(encoding="utf-8", errors="replace"), 1):
        row = _row(line, path, number)
        names |= row.keys()
        value = row.get(metric)
        if _is_number(value):
            curve[int(row["steps"])] = float(value)
    if not curve:
        known = sorted(name for name in names if name.startswith("eval/") and not name.endswith(("_half", "_chance")))
        raise OptionError(f"{run} has no metric {metric!r}; its evaluations are {', '.join(known) or 'not there yet'}")
    return curve


def _is_number(value: Any) -> TypeGuard[float]:
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False


def _row(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or not _is_number(row.get("steps")):
        if isinstance(row, dict) and "iterations" in row:
            raise FormatError(f"{path} is of a solver; curves are of runs of train, clone and exploit")
        raise FormatError(f"{path} is damaged in line {number}: a JSON object with steps is expected")
    return row


def folders_of(paths: Sequence[Path]) -> dict[str, list[Path]]:
    """Return the folders of runs by label: a folder of `seed-N` folders becomes one curve of several runs."""
    found = {}
    for path in paths:
        seeds = sorted(one for one in path.glob("seed-*") if (one / METRICS_FILE).is_file())
        found[str(path)] = seeds or [path]
    return found


def draw(runs: dict[str, list[Path]], metric: str, out: Path) -> None:
    """Draw a metric, named as in `METRICS`, of runs over steps. The ending of `out` selects the format.

    Several runs under one label become their mean, with a band from the lowest to the highest.

    Raises:
        OptionError: unknown ending, or as for `read_metric`.
        FormatError: as for `read_metric`.
        MissingExtraError: matplotlib is not installed.
    """
    _check_format(out)
    curves = {label: [read_metric(folder, metric) for folder in folders] for label, folders in runs.items()}
    draw_curves(curves, _label(metric), out)


def _check_format(out: Path) -> None:
    if out.suffix.lower() not in FORMATS:
        raise OptionError(f"{out} should end in {', '.join(FORMATS)}")


def _label(metric: str) -> str:
    if metric == "eval/nash_conv":
        return "NashConv"
    name = metric.removeprefix("eval/")
    return f"mean return per deal against {name}" if metric.startswith("eval/") else metric


def draw_curves(curves: dict[str, list[Curve]], label: str, out: Path) -> None:
    """Draw curves by label, each the mean of a group with a band from the lowest to the highest.

    The ending of `out` selects the format; `label` is that of the vertical axis.

    Raises:
        OptionError: unknown ending.
        MissingExtraError: matplotlib is not installed.
    """
    _check_format(out)
    require("matplotlib", "report")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained", dpi=150)
    axes = figure.add_subplot()
    for number, (name, group) in enumerate(curves.items()):
        steps, low, mean, high = _band(group)
        colour = COLOURS[number % len(COLOURS)]
        axes.plot(steps / 1e6, mean, color=colour, lw=2, label=name, marker="o" if len(steps) == 1 else None)
        if len(group) > 1:
            axes.fill_between(steps / 1e6, low, high, color=colour, alpha=0.18, lw=0)
    _finish(axes, label)
    save(figure, out)


def save(figure: Any, out: Path) -> None:
    """Write a matplotlib figure. An SVG has reproducible bytes, and follows the dark mode of the reader's system.

    Args:
        figure: white, with text and grid in TEXT and GRID, or black.
        out: picture to write; the ending selects the format.
    """
    import matplotlib

    is_svg = out.suffix.lower() == ".svg"
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "cardenvs"}):
        figure.savefig(out, metadata={"Date": None} if is_svg else None)
    if is_svg:
        out.write_text(_in_both_themes(out.read_text(encoding="utf-8")), encoding="utf-8")


def _in_both_themes(svg: str) -> str:
    """Return a chart by matplotlib with additional colours for systems that prefer dark pages."""
    return svg.replace("</style>", f"@media (prefers-color-scheme: dark) {{{_DARK}}}</style>", 1)


def _band(group: list[Curve]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the steps that all runs of a group have reached, and the lowest, mean and highest value there."""
    steps = np.array(sorted(set().union(*group)))
    first, last = max(min(curve) for curve in group), min(max(curve) for curve in group)
    steps = steps[(steps >= first) & (steps <= last)]
    values = np.array([np.interp(steps, sorted(curve), [curve[k] for k in sorted(curve)]) for curve in group])
    return steps, values.min(0), values.mean(0), values.max(0)


def _finish(axes: Any, label: str) -> None:
    if label.startswith("mean return"):
        axes.axhline(0, color=TEXT, lw=1, ls=(0, (4, 3)))
    axes.set_xlabel("million steps")
    axes.set_ylabel(label)
    axes.grid(color=GRID, lw=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(color=GRID, labelcolor=TEXT, length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for text in axes.legend(frameon=False).get_texts():
        text.set_parse_math(False)
