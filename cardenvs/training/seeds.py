"""One training run a seed, and their results in a table: what a method gives, rather than what one run happened to."""

import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

from cardenvs.core.errors import OptionError
from cardenvs.training.config import Config
from cardenvs.training.progress import EVALUATION_FILE

_SEEDS = re.compile(r"(\d{1,18}):(\d{1,18})|\d{1,18}(?:,\d{1,18})*")
_MOST_SEEDS = 1000

Train = Callable[[Config, Path, bool], Any]  # of a config and a folder; whether to go on with the run in it


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


def train_seeds(
    config: Config, seeds: Sequence[int], out: Path, train: Train, overwrite: bool = False
) -> list[dict[str, Any]]:
    """Train one policy a seed, in the folders `seed-N` of `out`. Finished runs are kept, begun ones go on.

    Args:
        config: its seed does not matter.
        seeds: which.
        out: the folder.
        train: trains one.
        overwrite: begin all of them again.

    Returns:
        the final evaluation of each, as in its evaluation.json.

    Raises:
        OptionError: a folder holds a run with other settings.
    """
    results = []
    for seed in seeds:
        folder, wanted = out / f"seed-{seed}", config.changed({"seed": seed})
        goes_on = not overwrite and has_begun(folder, wanted)
        finished = _read(folder / EVALUATION_FILE) if goes_on else None
        if finished is None:
            train(wanted, folder, goes_on)
            finished = _read(folder / EVALUATION_FILE)
        if finished is not None:  # None: the config wants no final evaluation
            results.append(finished)
    return results


def unfinished(config: Config, seeds: Sequence[int], out: Path, overwrite: bool = False) -> list[tuple[Config, Path]]:
    """Return settings and folder of the runs that `train_seeds` would train; with `overwrite`, clear the folders.

    Raises:
        OptionError: a folder holds a run with other settings.
    """
    from cardenvs.training.ppo.loop import clear

    found = []
    for seed in seeds:
        folder, wanted = out / f"seed-{seed}", config.changed({"seed": seed})
        if overwrite and folder.exists():
            clear(folder)
        if not has_begun(folder, wanted) or not (folder / EVALUATION_FILE).exists():
            found.append((wanted, folder))
    return found


def has_begun(folder: Path, wanted: Config) -> bool:
    """Return whether the folder holds a checkpoint of a run with these settings.

    Raises:
        OptionError: it holds one with other settings.
    """
    from cardenvs.agents.ppo import read_checkpoint
    from cardenvs.training.ppo.run import CHECKPOINT

    path = folder / CHECKPOINT
    if not path.exists():
        return False
    found = Config.make(read_checkpoint(path).get("config") or {}, str(path)).as_dict()
    differing = [name for name, value in wanted.as_dict().items() if found[name] != value]
    if differing:
        raise OptionError(
            f"{folder} holds a run with other settings ({', '.join(differing[:5])}); choose another folder"
        )
    return True


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
