"""Training runs on a Ray cluster, several at a time.

A task of the cluster trains for a while and returns the checkpoint. The driver writes it to its own folders and gives
it to the next task. So a task depends on nothing but its checkpoint: Ray repeats one whose worker or machine is lost,
and with `threads=1` the result is bit for bit that of a run on one machine.
"""

import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cardenvs.core.errors import CardenvsError, OptionError, require
from cardenvs.core.files import write_whole
from cardenvs.training.config import Config
from cardenvs.training.folder import Logs, RunFolder
from cardenvs.training.limits import Limits

_RETRIES = 3  # of a task whose worker is lost


@dataclass(frozen=True)
class RemoteRun:
    """A run to begin or to resume."""

    game: str  # its name
    config: Config
    folder: RunFolder  # for the files of the run; if it has a checkpoint, training resumes from it
    # when the run ends; without one, after config.total_steps, or as its checkpoint says
    limits: Limits = field(default_factory=Limits)


def train_on_ray(runs: Sequence[RemoteRun], threads: int = 1, show: bool = True) -> None:
    """Train on the Ray cluster of this environment, or on a local one if there is none.

    Each task takes `threads` CPUs and trains for about config.checkpoint_interval seconds. After Ctrl-C or a kill, the
    same call resumes from the last checkpoints.

    Raises:
        OptionError: workers were lost too often.
        CardenvsError: a run raised it.
        MissingExtraError: Ray is not installed.
    """
    require("ray", "ray")
    import ray

    from cardenvs.arena.ray import ray_cluster

    with contextlib.ExitStack() as stack:
        for run in runs:
            stack.enter_context(run.folder.locked())
        stack.enter_context(ray_cluster(max(1, threads) * len(runs)))
        task = ray.remote(num_cpus=max(1, threads), max_retries=_RETRIES)(_train_for_a_while)
        for run in runs:
            run.folder.result.unlink(missing_ok=True)  # it is that of an earlier policy
        pending = {_start(task, run, threads): run for run in runs}
        while pending:
            (ready,), _ = ray.wait(list(pending), num_returns=1)
            run = pending.pop(ready)
            if not _write(run, _result_of(ray, ready), show):
                pending[_start(task, run, threads)] = run


def _start(task: Any, run: RemoteRun, threads: int) -> Any:
    path = run.folder.checkpoint
    checkpoint = path.read_bytes() if path.exists() else None
    return task.remote(checkpoint, run.game, run.config.as_dict(), run.limits, threads)


def _result_of(ray: Any, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as failed:
        if isinstance(failed.cause, CardenvsError):
            raise failed.cause from None
        raise
    except ray.exceptions.RayError as lost:
        raise OptionError(
            f"workers of the cluster were lost {_RETRIES + 1} times ({type(lost).__name__}); the same command resumes"
        ) from lost


def _write(run: RemoteRun, result: dict[str, Any], show: bool) -> bool:
    """Write what a task returned to the run's folder. Returns whether the run is over."""
    run.folder.path.mkdir(parents=True, exist_ok=True)
    if result["metrics"]:
        # A driver that was killed may have written the metrics of these steps, but not the checkpoint.
        before = result["metrics"][0]["steps"] - run.config.num_envs * run.config.rollout_steps
        logs = Logs(run.folder.path, before)
        for metrics in result["metrics"]:
            logs.write(metrics)
        logs.close()
    write_whole(run.folder.checkpoint, result["checkpoint"])
    if result["evaluation"] is not None:
        run.folder.write_result(result["evaluation"])
    if show and result["metrics"]:
        sys.stderr.write(f"{run.folder.path}: {result['metrics'][-1]['steps']:,} steps\n")
    return bool(result["is_over"])


def _train_for_a_while(
    checkpoint: bytes | None, game: str, settings: dict[str, Any], limits: Limits, threads: int
) -> dict[str, Any]:
    """Train in a worker, from a checkpoint or from the beginning; return the checkpoint and metrics."""
    from cardenvs.training.ppo import resume, train

    config, rows, started = Config.make(settings), [], time.monotonic()

    def on_update(metrics: dict[str, float]) -> None:
        rows.append(metrics)
        if time.monotonic() - started > config.checkpoint_interval:
            raise KeyboardInterrupt

    how: dict[str, Any] = {**vars(limits), "threads": threads, "show": False, "on_update": on_update}
    is_over = True
    with tempfile.TemporaryDirectory() as name:
        folder = RunFolder(Path(name))
        try:
            if checkpoint is None:
                train(game, config, out=folder.path, **how)
            else:
                folder.checkpoint.write_bytes(checkpoint)
                resume(folder.checkpoint, **how)
        except KeyboardInterrupt:
            is_over = False
        return {
            "checkpoint": folder.checkpoint.read_bytes(),
            "metrics": rows,
            "evaluation": json.loads(folder.result.read_text()) if folder.result.exists() else None,
            "is_over": is_over,
        }
