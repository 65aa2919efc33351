"""Training runs on a Ray cluster, several at a time.

A task of the cluster trains for a while and returns the checkpoint, which the driver, in its own folders, writes down
and gives to the next task. So a task depends on nothing but its checkpoint: Ray repeats one whose worker or machine is
lost, and with `threads=1` the result is bit for bit that of a run on one machine.
"""

import contextlib
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardenvs.core.errors import CardenvsError, OptionError, require
from cardenvs.core.files import locked_folder, write_whole
from cardenvs.training.config import Config
from cardenvs.training.progress import EVALUATION_FILE, Logs

_RETRIES = 3  # of a task whose worker is lost
_CHECKPOINT = "latest.pt"


@dataclass(frozen=True)
class RemoteRun:
    """A run to begin, or to go on with.

    Attributes:
        game: its name.
        config: settings.
        folder: for the files of the run; a checkpoint in it is gone on from.
        total_steps, seconds: when it is over; both None: after config.total_steps, or as its checkpoint says.
    """

    game: str
    config: Config
    folder: Path
    total_steps: float | None = None
    seconds: float | None = None


def train_on_ray(runs: Sequence[RemoteRun], threads: int = 1, show: bool = True) -> None:
    """Train on the Ray cluster of this environment, or on a local one if there is none.

    Each task takes `threads` CPUs and trains for about config.checkpoint_interval seconds. After Ctrl-C or a kill, the
    same call goes on from the last checkpoints.

    Raises:
        OptionError: workers were lost too often.
        CardenvsError: a run raised it.
        MissingExtraError: Ray is not installed.
    """
    require("ray", "ray")
    import ray

    from cardenvs.arena.run import ray_cluster

    with contextlib.ExitStack() as stack:
        for run in runs:
            stack.enter_context(locked_folder(run.folder))
        stack.enter_context(ray_cluster(max(1, threads) * len(runs)))
        task = ray.remote(num_cpus=max(1, threads), max_retries=_RETRIES)(_train_for_a_while)
        for run in runs:
            (run.folder / EVALUATION_FILE).unlink(missing_ok=True)  # of fewer steps
        pending = {_start(task, run, threads): run for run in runs}
        while pending:
            (ready,), _ = ray.wait(list(pending), num_returns=1)
            run = pending.pop(ready)
            if not _write(run, _result_of(ray, ready), show):
                pending[_start(task, run, threads)] = run


def _start(task: Any, run: RemoteRun, threads: int) -> Any:
    path = run.folder / _CHECKPOINT
    checkpoint = path.read_bytes() if path.exists() else None
    return task.remote(checkpoint, run.game, run.config.as_dict(), run.total_steps, run.seconds, threads)


def _result_of(ray: Any, reference: Any) -> dict[str, Any]:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as failed:
        if isinstance(failed.cause, CardenvsError):
            raise failed.cause from None
        raise
    except ray.exceptions.RayError as lost:
        raise OptionError(
            f"workers of the cluster were lost {_RETRIES + 1} times ({type(lost).__name__}); the same command goes on"
        ) from lost


def _write(run: RemoteRun, result: dict[str, Any], show: bool) -> bool:
    """Write what a task returned to the run's folder. Returns whether the run is over."""
    run.folder.mkdir(parents=True, exist_ok=True)
    if result["metrics"]:
        # A driver that was killed may have written the metrics of these steps, and not the checkpoint.
        logs = Logs(run.folder, result["metrics"][0]["steps"] - run.config.num_envs * run.config.rollout_steps)
        for metrics in result["metrics"]:
            logs.write(metrics)
        logs.close()
    write_whole(run.folder / _CHECKPOINT, result["checkpoint"])
    if result["evaluation"] is not None:
        write_whole(run.folder / EVALUATION_FILE, json.dumps(result["evaluation"]) + "\n")
    if show and result["metrics"]:
        import sys

        sys.stderr.write(f"{run.folder}: {result['metrics'][-1]['steps']:,} steps\n")
    return result["is_over"]


def _train_for_a_while(
    checkpoint: bytes | None,
    game: str,
    settings: dict[str, Any],
    total_steps: float | None,
    seconds: float | None,
    threads: int,
) -> dict[str, Any]:
    """Train in a worker, from a checkpoint or from the beginning, and return what came of it."""
    from cardenvs.training.ppo import train

    config, rows, started = Config.make(settings), [], time.monotonic()

    def on_update(metrics: dict[str, float]) -> None:
        rows.append(metrics)
        if time.monotonic() - started > config.checkpoint_interval:
            raise KeyboardInterrupt

    how: dict[str, Any] = {"threads": threads, "show": False, "on_update": on_update}
    is_over = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / _CHECKPOINT
        try:
            if checkpoint is None:
                train(game, config, out=folder, total_steps=total_steps, seconds=seconds, **how)
            else:
                path.write_bytes(checkpoint)
                train(resume=path, total_steps=total_steps, seconds=seconds, **how)
        except KeyboardInterrupt:
            is_over = False
        evaluation = folder / EVALUATION_FILE
        return {
            "checkpoint": path.read_bytes(),
            "metrics": rows,
            "evaluation": json.loads(evaluation.read_text()) if evaluation.exists() else None,
            "is_over": is_over,
        }
