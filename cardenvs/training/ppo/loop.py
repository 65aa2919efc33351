"""The loop of a run, and what begins it."""

import dataclasses
import functools
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch

from cardenvs.agents.ppo import check_fits, read_checkpoint
from cardenvs.core.checks import short
from cardenvs.core.errors import OptionError
from cardenvs.core.files import locked_folder, write_whole
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.core.text import one_line
from cardenvs.training.config import NETWORK_SETTINGS, Config, config_for
from cardenvs.training.interrupt import Interrupt
from cardenvs.training.ppo.opponents import Opponent
from cardenvs.training.ppo.processes import Processes, joined
from cardenvs.training.ppo.report import meaning, warning
from cardenvs.training.ppo.run import CHECKPOINT, MOST_THREADS, TITLES, Run
from cardenvs.training.progress import EVALUATION_FILE, METRICS_FILE, Logs, Progress, split_text
from cardenvs.training.torchrun import local_rank, local_size

_WARN_FROM = 0.2  # of a run: earlier, policies are often worse than random play
_ENOUGH_WARNINGS = 2


def train(
    game: str | Game | None = None,
    config: Config | None = None,
    *,
    out: str | Path | None = None,
    seconds: float | None = None,
    total_steps: float | None = None,
    resume: str | Path | None = None,
    overwrite: bool = False,
    device: str = "auto",
    threads: int = 0,
    show: bool = True,
    on_update: Callable[[dict[str, float]], None] | None = None,
    opponent: Opponent | None = None,
    resume_with: str = "",
    init: str | Path | None = None,
) -> Path:
    """Train a policy, or go on training one.

    In processes that torchrun started, each does its share, and only the first one prints and writes files.

    Args:
        game: its name or the Game; not with `resume`.
        config: settings; by default those of the game in `configs/`. Not with `resume`.
        out: folder for the checkpoint, metrics and TensorBoard events; by default a new one in `runs/`.
        seconds: how long to train, instead of config.total_steps. Schedules then follow the clock, so the same
            seed does not give the same numbers.
        total_steps: how many steps to train for, instead of config.total_steps.
        resume: a checkpoint to go on from, to the numbers that an uninterrupted run would have given. Its limits stay,
            unless `seconds` or `total_steps` is given.
        overwrite: replace a run that `out` already holds.
        device: "cpu", "cuda", or "auto".
        threads: of torch and of the games; 0: one a core, up to MOST_THREADS, shared among the processes of a machine.
        show: print progress to stderr.
        on_update: called with the metrics of each update. A KeyboardInterrupt that it raises ends the run like Ctrl-C.
        opponent: who plays all seats but the learner's; the config names it as `opponent`.
        resume_with: the command that resumes the run, to be shown after Ctrl-C; by default `cardenvs train --resume`.
        init: a checkpoint or weights to begin with; the network has their shape, whatever the config says.

    Returns:
        the path of the checkpoint.

    Raises:
        KeyboardInterrupt: after Ctrl-C, once the update in progress is finished and the checkpoint written. A second
            Ctrl-C ends at once, as does one during the final evaluation, which resuming repeats.
        GameNotFoundError, OptionError, FormatError: what was asked for cannot be done.
        FileError: another process trains in the folder.
    """
    for name, limit in (("seconds", seconds), ("total_steps", total_steps)):
        if limit is not None and not limit > 0:
            raise OptionError(f"{name} must be above 0; got {limit:g}")
    device = _device(device)
    new: Callable[[Processes], Run]
    if resume is None:
        game, config = _game_and_config(game, config)
        if seconds is None and total_steps is None:
            total_steps = config.total_steps
        new = functools.partial(_new_run, game, config, device, total_steps, seconds, opponent, init)
        folder = Path("runs") / time.strftime(f"{game.name}-%Y%m%d-%H%M%S") if out is None else Path(out)
    elif game is not None or config is not None or init is not None:
        raise OptionError("resuming takes game, settings and weights from the checkpoint; give none of them")
    else:
        os.stat(resume)  # raises OSError before a folder is made
        new = functools.partial(Run.restore, Path(resume), device, opponent)
        folder = Path(resume).parent if out is None else Path(out)
    path = folder / CHECKPOINT
    goes_on = resume is not None and path.exists() and path.samefile(resume)
    with (
        torch_threads(threads),
        joined(device) as processes,
        locked_folder(folder) if processes.is_first else nullcontext(),
    ):
        if path.exists() and not overwrite and not goes_on:
            raise OptionError(f"{folder} holds a run; resume it, choose another folder or overwrite it")
        run = _compiled(functools.partial(new, processes), processes)
        if resume is not None and (seconds is not None or total_steps is not None):
            run.total_seconds, run.total_steps = seconds, total_steps
        if processes.is_first:
            if not goes_on:
                clear(folder)
            elif run.fraction() < 1:
                (folder / EVALUATION_FILE).unlink(missing_ok=True)  # of the policy before
        return _Loop(run, folder, show and processes.is_first, on_update, resume_with).go()


def _compiled(make: Callable[[], Run], processes: Processes) -> Run:
    """Make a run and compile its game: first in one process of each machine, for the others to load the result."""
    if local_rank():
        processes.wait()
    try:
        run = make()
        run.compile()
    finally:  # what is wrong with one is wrong with all: nobody waits in vain
        if not local_rank():
            processes.wait()
    return run


def _game_and_config(game: str | Game | None, config: Config | None) -> tuple[Game, Config]:
    """Return the game and the settings of a new run."""
    if game is None:
        if config is None or not config.game:
            raise OptionError("which game? name one, or give a config that does")
        game = config.game
    game = get_game(game) if isinstance(game, str) else game
    config = config_for(game.name) if config is None else config
    if config.game not in ("", game.name):
        raise OptionError(f"these settings are for {config.game}, not for {game.name}")
    return game, config


def _new_run(
    game: Game,
    config: Config,
    device: str,
    total_steps: float | None,
    seconds: float | None,
    opponent: Opponent | None,
    init: str | Path | None,
    processes: Processes,
) -> Run:
    start = None
    if init is not None:
        start = read_checkpoint(init)
        check_fits(start, init, game, game.make_options(**config.options))
        config = shaped_like(config, start)
    return Run(game, config, device, total_steps, seconds, opponent, start, processes)


def shaped_like(config: Config, checkpoint: dict[str, Any]) -> Config:
    """Return settings for a network of the shape of a checkpoint's."""
    shape = {name: checkpoint["shape"][name] for name in NETWORK_SETTINGS}
    return config.changed(shape | {"action_features": shape["action_features"] > 0})


def clear(folder: Path) -> None:
    """Remove what an earlier run left in its folder."""
    for pattern in (CHECKPOINT, METRICS_FILE, EVALUATION_FILE, "events.out.tfevents.*"):
        for path in folder.glob(pattern):
            path.unlink()


_STOPPING = "Stopping after this update; press Ctrl-C again to stop at once."


class _Loop:
    """Updates, evaluations, logs and checkpoints until the run is over or somebody stops it."""

    def __init__(
        self,
        run: Run,
        folder: Path,
        show: bool,
        on_update: Callable[[dict[str, float]], None] | None,
        resume_with: str,
    ) -> None:
        self._run, self._folder, self._on_update = run, folder, on_update
        self._path = folder / CHECKPOINT
        self._resume_with = resume_with or f"cardenvs train --resume {self._path}"
        limit = f"{run.total_seconds:g} seconds" if run.total_seconds else f"{run.total_steps:,.0f} steps"
        against = f" against {short(run.config.opponent)}" if run.config.opponent else ""
        title = f"{run.game.title}: {TITLES[run.config.method]}{against}"
        self._progress = Progress(f"{title} for {limit}, in {folder}", show)
        self._logs = Logs(folder, run.steps) if run.processes.is_first else None
        self._first_step, self._trained_seconds = run.steps, 0.0
        self._warnings = 0
        self._saved = time.monotonic()
        self._began = self._saved - run.seconds

    def go(self) -> Path:
        is_stopped = self._train()
        if not is_stopped:
            try:
                self._finish()
            except KeyboardInterrupt:
                is_stopped = True
        if self._logs is not None:
            self._logs.close()
        self._report_time()
        with Interrupt(lambda: None):  # the others wait here for the first one, which stops for all
            is_stopped = any(self._run.processes.gather(is_stopped))
        if is_stopped:
            self._progress.note(f"Stopped. To go on: {self._resume_with}")
            raise KeyboardInterrupt
        return self._path

    def _train(self) -> bool:
        """Update until the run is over. Returns whether somebody stopped it before."""
        run, progress = self._run, self._progress
        is_stopped = False
        with progress, Interrupt(lambda: progress.note(_STOPPING)) as interrupt:
            if run.unlogged is not None:
                self._log(self._evaluated(run.unlogged))
            while run.fraction() < 1 and not is_stopped:
                metrics = self._log(self._update())
                progress.update(metrics, run.fraction())
                self._tell(metrics, interrupt)
                is_due, is_stopped = self._agree(time.monotonic() - self._saved, interrupt.requested)
                if is_due and not is_stopped:
                    self._save()
            self._save()
        return is_stopped

    def _save(self) -> None:
        self._run.save(self._path)
        self._saved = time.monotonic()

    def _agree(self, unsaved_seconds: float, is_interrupted: bool) -> tuple[bool, bool]:
        """Whether to save, and whether to stop: the first process's clock counts, and Ctrl-C in any."""
        run = self._run
        said = run.processes.gather((run.seconds, unsaved_seconds > run.config.checkpoint_interval, is_interrupted))
        run.seconds, is_due, _ = said[0]
        return is_due, any(interrupted for *_, interrupted in said)

    def _update(self) -> dict[str, float]:
        """One update, and an evaluation if it is time."""
        started = time.monotonic()
        run = self._run
        metrics = run.advance()
        self._trained_seconds += time.monotonic() - started
        metrics |= {"steps": run.steps, "updates": run.updates}
        interval = run.config.eval_interval
        if interval and run.updates % interval == 0:
            run.seconds = time.monotonic() - self._began
            run.unlogged = {name: value if isinstance(value, int) else float(value) for name, value in metrics.items()}
            self._save()  # an evaluation may take long, or fail; whoever resumes the run repeats it
            metrics = self._evaluated(metrics)
        return metrics

    def _evaluated(self, metrics: dict[str, float]) -> dict[str, float]:
        """Return the metrics of the last update with those of an evaluation, which the first process makes."""
        return metrics | self._evaluate() if self._run.processes.is_first else metrics

    def _log(self, metrics: dict[str, float]) -> dict[str, float]:
        """Write the metrics of the last update. Returns them with the time spent so far."""
        run = self._run
        run.unlogged, run.seconds = None, time.monotonic() - self._began
        metrics = metrics | {"seconds": run.seconds}
        if self._logs is not None:
            self._logs.write(metrics)
        return metrics

    def _evaluate(self) -> dict[str, float]:
        """Evaluate the policy, show the scores, and warn once if nothing is learnt. Returns metrics."""
        run = self._run
        metrics: dict[str, float] = {}
        with self._progress.counting("evaluation") as count:
            scores = dict(run.evaluate(run.config.eval_deals, on_games=count))
        for name, score in scores.items():
            metrics |= {
                f"eval/{name}": score.mean,
                f"eval/{name}_half": score.half,
                f"eval/{name}_chance": score.chance,
            }
            self._progress.score(f"against {name}", str(score), "mean return a deal")
        exploitability = run.nash_conv()
        if exploitability is not None:
            metrics["eval/nash_conv"] = exploitability
            self._progress.score("NashConv", f"{exploitability:.3f}", f"of the policy, {_played(run)}")
        self._warn(warning(scores) if run.fraction() >= _WARN_FROM else None)
        return metrics

    def _warn(self, text: str | None) -> None:
        """Show a warning once, when two evaluations one after the other gave one: a single one may be bad luck."""
        if self._warnings < _ENOUGH_WARNINGS:
            self._warnings = self._warnings + 1 if text else 0
            if text and self._warnings == _ENOUGH_WARNINGS:
                self._progress.note(text)

    def _tell(self, metrics: dict[str, float], interrupt: Interrupt) -> None:
        try:
            if self._on_update is not None:
                self._on_update(metrics)
        except KeyboardInterrupt:
            interrupt.requested = True

    def _finish(self) -> None:
        """Evaluate the final policy on separate deals, print the result and write it to the folder."""
        run = self._run
        if not run.config.final_deals or not run.processes.is_first:
            return
        purpose, unit = "final evaluation", run.game.returns(run.options).unit
        scores = {}
        with self._progress.counting(purpose) as count:
            for name, score in run.evaluate(run.config.final_deals, purpose, count):
                scores[name] = score
                self._progress.note(f"against {name}: {score} {unit} a deal over {score.deals:,} duplicate deals")
        if scores:
            self._progress.note(meaning(scores, unit, run.options.num_players))
        if text := warning(scores):
            self._progress.note(text)
        exploitability = run.nash_conv()
        if exploitability is not None:
            self._progress.note(f"NashConv of the policy, {_played(run)}: {exploitability:.4f} {unit}")
        result = {
            "game": run.game.name,
            "steps": run.steps,
            "seconds": run.seconds,
            "seed": run.config.seed,
            "scores": {name: dataclasses.asdict(score) for name, score in scores.items()},
            "nash_conv": exploitability,
        }
        write_whole(self._folder / EVALUATION_FILE, json.dumps(result, allow_nan=False) + "\n")

    def _report_time(self) -> None:
        steps = self._run.steps - self._first_step
        if steps:
            self._progress.note(split_text(self._run.watch.seconds, self._trained_seconds, steps))
        self._progress.note(f"checkpoint: {self._path}")


def _played(run: Run) -> str:
    return "greedy" if run.config.method == "dmc" else "sampled"


def _device(name: str) -> str:
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        if name == "cuda" and local_size() > 1:  # a GPU for each process of this machine
            name = f"cuda:{local_rank()}"
            torch.cuda.set_device(name)
        torch.zeros(1, device=name).item()  # which the device "meta" has no values for
    except (RuntimeError, AssertionError, NotImplementedError, ImportError) as error:
        reason = one_line((str(error).strip() or type(error).__name__).splitlines()[0], 200)
        raise OptionError(f"device {name!r} cannot be used here: {reason}; choose cpu, cuda or auto") from error
    return name


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Limit torch to this many threads inside the block; 0: one per core and process, up to MOST_THREADS."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    before = torch.get_num_threads()
    torch.set_num_threads(threads or max(1, min(cores // local_size(), MOST_THREADS)))
    try:
        yield
    finally:
        torch.set_num_threads(before)
