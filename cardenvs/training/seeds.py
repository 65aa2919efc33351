"""One training run a seed, and their results in a table: what a method gives, rather than what one run happened to."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

from cardenvs.core.errors import OptionError
from cardenvs.training.config import Config
from cardenvs.training.progress import EVALUATION_FILE

_SEEDS = re.compile(r"(\d{1,18}):(\d{1,18})|\d{1,18}(?:,\d{1,18})*")
_MOST_SEEDS = 1000


def parse_seeds(text: str) -> list[int]:
    """Return the seeds in a text: `1:6` is 1 to 5, as in Python; `1,4,9` is a list.

    Raises:
        OptionError: any other text, no seed, the same one twice, or too many.
    """
    match = _SEEDS.fullmatch(text)
    if not match:
        raise OptionError(f"seeds are a range as in 1:6 (1 to 5) or a list as in 1,4,9; got {text!r}")
    first, end = match.groups()
    number = int(end) - int(first) if first else text.count(",") + 1
    if not 1 <= number <= _MOST_SEEDS:
        raise OptionError(f"{text} is {number} seeds; 1 to {_MOST_SEEDS} are possible")
    seeds = list(range(int(first), int(end))) if first else [int(one) for one in text.split(",")]
    if len(set(seeds)) != len(seeds):
        raise OptionError(f"{text} has a seed twice")
    return seeds


@dataclass(frozen=True)
class SeedRun:
    """The run of one seed.

    Attributes:
        config: its settings.
        folder: of its files.
        has_begun: whether the folder holds a checkpoint of it.
        is_over: whether it has a final evaluation, within the limits it was asked for with.
    """

    config: Config
    folder: Path
    has_begun: bool
    is_over: bool


def seed_runs(
    config: Config,
    seeds: Sequence[int],
    out: Path,
    total_steps: float | None = None,
    seconds: float | None = None,
    overwrite: bool = False,
) -> list[SeedRun]:
    """Return the runs of some seeds, in the folders `seed-N` of `out`.

    Args:
        config: its seed does not matter.
        seeds: which.
        out: the folder.
        total_steps, seconds: limits of each run. A run that ended at lower ones is not over.
        overwrite: begin all of them again.

    Raises:
        OptionError: a folder holds a run with other settings, or one that has gone beyond the limits.
        FormatError: a checkpoint is damaged.
    """
    runs = []
    for seed in seeds:
        folder, wanted = out / f"seed-{seed}", config.changed({"seed": seed})
        checkpoint = None if overwrite else _checkpoint_of(folder, wanted)
        is_over = False
        if checkpoint is not None:
            is_at_limits = _check_limits(checkpoint, folder, total_steps, seconds)
            is_over = _read(folder / EVALUATION_FILE) is not None and is_at_limits
        runs.append(SeedRun(wanted, folder, checkpoint is not None, is_over))
    return runs


def results_of(runs: Sequence[SeedRun]) -> list[dict[str, Any]]:
    """Return the final evaluations of runs, as in their evaluation.json, without those that have none."""
    results = [_read(run.folder / EVALUATION_FILE) for run in runs]
    return [result for result in results if result is not None]


def has_begun(folder: Path, wanted: Config) -> bool:
    """Return whether the folder holds a checkpoint of a run with these settings.

    Raises:
        OptionError: it holds one with other settings.
    """
    return _checkpoint_of(folder, wanted) is not None


def _checkpoint_of(folder: Path, wanted: Config) -> dict[str, Any] | None:
    from cardenvs.agents.ppo import read_checkpoint
    from cardenvs.training.ppo.run import CHECKPOINT

    path = folder / CHECKPOINT
    if not path.exists():
        return None
    checkpoint = read_checkpoint(path)
    found = Config.make(checkpoint.get("config") or {}, str(path)).as_dict()
    differing = [name for name, value in wanted.as_dict().items() if found[name] != value]
    if differing:
        raise OptionError(
            f"{folder} holds a run with other settings ({', '.join(differing[:5])}); choose another folder"
        )
    return checkpoint


def _check_limits(checkpoint: dict[str, Any], folder: Path, total_steps: float | None, seconds: float | None) -> bool:
    """Return whether a run was begun or resumed with these limits.

    Raises:
        OptionError: it has gone beyond them.
    """
    from cardenvs.training.ppo.saved import checked_training

    _, training = checked_training(checkpoint, str(folder))
    if (training["total_steps"], training["total_seconds"]) == (total_steps, seconds):
        return True
    for unit, done, limit in (
        ("steps", checkpoint["steps"], total_steps),
        ("seconds", training["seconds"], seconds),
    ):
        if limit is not None and done > limit:
            raise OptionError(
                f"{folder} holds a run that has gone on for {done:,.0f} {unit}, beyond {limit:,.0f}; raise the limit, "
                "choose another folder, or give --overwrite"
            )
    return False


def _read(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise OptionError(f"{path} is damaged; remove it, or overwrite the run") from None


def table(results: Sequence[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return the headings and rows of a table of results: a row a seed, then mean and 95% interval over the seeds.

    The interval is Student's over the seeds, so it includes what differs between runs.
    """
    columns: dict[str, list[float]] = {"steps": [result["steps"] for result in results]}
    columns["seconds"] = [result["seconds"] for result in results]
    for name in results[0]["scores"]:
        columns[f"against {name}"] = [result["scores"][name]["mean"] for result in results]
    if results[0].get("nash_conv") is not None:
        columns["NashConv"] = [result["nash_conv"] for result in results]
    rows = [
        [str(result["seed"]), *(_number(name, values[k]) for name, values in columns.items())]
        for k, result in enumerate(results)
    ]
    if len(results) > 1:
        rows.append(["mean", *(_mean(name, values) for name, values in columns.items())])
    return ["seed", *columns], rows


def _number(column: str, value: float) -> str:
    if column in ("steps", "seconds"):
        return f"{value:,.0f}"
    return f"{value:.4f}" if column == "NashConv" else f"{value:+.2f}"


def _mean(column: str, values: list[float]) -> str:
    mean, spread = np.mean(values), np.std(values, ddof=1)
    half = stdtrit(len(values) - 1, 0.975) * spread / math.sqrt(len(values))
    shown = _number(column, float(mean))
    return shown if column in ("steps", "seconds") else f"{shown} ± {_number(column, float(half)).lstrip('+')}"
