"""Training runs with several seeds, and a table of their results, which shows a method rather than one lucky run."""

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
from cardenvs.training.folder import RunFolder
from cardenvs.training.limits import Limits

_SEEDS = re.compile(r"(\d{1,18}):(\d{1,18})|\d{1,18}(?:,\d{1,18})*")
_MOST_SEEDS = 1000


def parse_seeds(text: str) -> list[int]:
    """Return the seeds in a text: `1:6` means 1 to 5, as in Python; `1,4,9` is a list.

    Raises:
        OptionError: the text is neither, or has no seed, a seed twice, or too many.
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
    """The run of one seed."""

    config: Config
    folder: RunFolder
    has_begun: bool  # whether the folder holds a checkpoint of the run
    is_over: bool  # whether the run has a final evaluation and was begun or resumed with the same limits


def seed_runs(
    config: Config, seeds: Sequence[int], out: Path, limits: Limits | None = None, overwrite: bool = False
) -> list[SeedRun]:
    """Return the runs of some seeds, in the folders `seed-N` of `out`; the seed of the config is ignored.

    Raises:
        OptionError: a folder holds a run with other settings, or one beyond the limits.
        FormatError: a checkpoint is damaged.
    """
    runs = []
    for seed in seeds:
        folder, wanted = RunFolder(out / f"seed-{seed}"), config.changed({"seed": seed})
        checkpoint = None if overwrite else _checkpoint_in(folder, wanted)
        is_over = False
        if checkpoint is not None:
            is_at_limits = _check_limits(checkpoint, folder, limits or Limits())
            is_over = _result_in(folder) is not None and is_at_limits
        runs.append(SeedRun(wanted, folder, checkpoint is not None, is_over))
    return runs


def results_of(runs: Sequence[SeedRun]) -> list[dict[str, Any]]:
    """Return the final evaluations of the runs that have one, as in their evaluation.json."""
    results = [_result_in(run.folder) for run in runs]
    return [result for result in results if result is not None]


def has_begun(folder: RunFolder, wanted: Config) -> bool:
    """Return whether the folder holds a checkpoint of a run with these settings.

    Raises:
        OptionError: it holds a checkpoint with other settings.
    """
    return _checkpoint_in(folder, wanted) is not None


def _checkpoint_in(folder: RunFolder, wanted: Config) -> dict[str, Any] | None:
    from cardenvs.agents.checkpoint_file import read_checkpoint

    path = folder.checkpoint
    if not path.exists():
        return None
    checkpoint = read_checkpoint(path)
    found = Config.make(checkpoint.get("config") or {}, str(path)).as_dict()
    differing = [name for name, value in wanted.as_dict().items() if found[name] != value]
    if differing:
        raise OptionError(
            f"{folder.path} holds a run with other settings ({', '.join(differing[:5])}); choose another folder"
        )
    return checkpoint


def _check_limits(checkpoint: dict[str, Any], folder: RunFolder, limits: Limits) -> bool:
    """Return whether a run was begun or resumed with these limits. Raises OptionError if it has gone beyond them."""
    from cardenvs.training.ppo.saved import checked_training

    _, training = checked_training(checkpoint, str(folder.path))
    if (training["total_steps"], training["total_seconds"]) == (limits.total_steps, limits.seconds):
        return True
    for unit, done, limit in (
        ("steps", checkpoint["steps"], limits.total_steps),
        ("seconds", training["seconds"], limits.seconds),
    ):
        if limit is not None and done > limit:
            raise OptionError(
                f"{folder.path} holds a run of {done:,.0f} {unit}, beyond the limit of {limit:,.0f}; raise the limit, "
                "choose another folder, or give --overwrite"
            )
    return False


def _result_in(folder: RunFolder) -> dict[str, Any] | None:
    if not folder.result.exists():
        return None
    try:
        result: dict[str, Any] = json.loads(folder.result.read_text(encoding="utf-8"))
    except ValueError:
        raise OptionError(f"{folder.result} is damaged; remove it, or overwrite the run") from None
    return result


def table(results: Sequence[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows of a table of results: one row per seed, then the mean with its 95% interval.

    The interval is Student's over the seeds, so it covers the differences between runs.
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
