"""The loop of a run: updates, evaluations, logs and checkpoints."""

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path

from cardenvs.core.checks import short
from cardenvs.training.folder import Logs, RunFolder
from cardenvs.training.interrupt import Interrupt
from cardenvs.training.ppo.devices import device_name
from cardenvs.training.ppo.evaluate import Score, meaning, warning
from cardenvs.training.ppo.run import Run
from cardenvs.training.progress import Progress, split_text

OnUpdate = Callable[[dict[str, float]], None]

_WARN_FROM = 0.2  # share of the run; before it, policies are often worse than random play
_ENOUGH_WARNINGS = 2
_STOPPING = "Stopping after this update; press Ctrl-C again to stop at once."


class Loop:
    """Works on a run until it is over or somebody stops it."""

    def __init__(self, run: Run, folder: RunFolder, show: bool, on_update: OnUpdate | None) -> None:
        """Prepare to work on `run` in `folder`; for `show` and `on_update`, see `train`."""
        self._run, self._folder, self._on_update = run, folder, on_update
        against = f" against {short(run.config.opponent)}" if run.config.opponent else ""
        title = f"{run.game.title}: {run.config.method_title}{against}"
        self._progress = Progress(f"{title} for {run.limits}, in {folder.path}", show)
        # An update that waits for its evaluation is logged after it, even if it was logged before a kill.
        logged = run.steps if run.unlogged is None else run.steps - 1
        self._logs = Logs(folder.path, logged) if run.processes.is_first else None
        self._first_step, self._trained_seconds = run.steps, 0.0
        self._warnings = 0
        self._saved = time.monotonic()
        self._began = self._saved - run.seconds

    def run(self) -> Path:
        """Train, evaluate the final policy and return the path of the checkpoint.

        Raises:
            KeyboardInterrupt: somebody stopped the run, in any of its processes.
        """
        is_stopped = self._train()
        if not is_stopped:
            try:
                self._evaluate_at_the_end()
            except KeyboardInterrupt:
                is_stopped = True
        if self._logs is not None:
            self._logs.close()
        self._report_time()
        with Interrupt(lambda: None):  # the other processes wait here for the first one, which stops for all
            is_stopped = any(self._run.processes.gather(is_stopped))
        if is_stopped:
            raise KeyboardInterrupt
        return self._folder.checkpoint

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
                self._report_update(metrics, interrupt)
                is_due, is_stopped = self._agree(time.monotonic() - self._saved, interrupt.requested)
                if is_due and not is_stopped:
                    self._save()
            self._save()
        return is_stopped

    def _save(self) -> None:
        self._run.save(self._folder.checkpoint)
        self._saved = time.monotonic()

    def _agree(self, unsaved_seconds: float, is_interrupted: bool) -> tuple[bool, bool]:
        """Return whether to save, by the first process's clock, and whether to stop, after Ctrl-C in any process."""
        run = self._run
        said = run.processes.gather((run.seconds, unsaved_seconds > run.config.checkpoint_interval, is_interrupted))
        run.seconds, is_due, _ = said[0]
        return is_due, any(interrupted for *_, interrupted in said)

    def _update(self) -> dict[str, float]:
        """Return the metrics of one update, and of an evaluation if it is time."""
        started = time.monotonic()
        run = self._run
        metrics = run.advance()
        self._trained_seconds += time.monotonic() - started
        metrics |= {"steps": run.steps, "updates": run.updates}
        interval = run.config.eval_interval
        if interval and run.updates % interval == 0:
            run.seconds = time.monotonic() - self._began
            run.unlogged = {name: value if isinstance(value, int) else float(value) for name, value in metrics.items()}
            self._save()  # an evaluation may take long, or fail; a resumed run repeats it
            metrics = self._evaluated(metrics)
        return metrics

    def _evaluated(self, metrics: dict[str, float]) -> dict[str, float]:
        """Return the metrics of the last update with those of an evaluation by the first process."""
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
        """Evaluate the policy, show the scores, and warn once if it has learnt nothing. Returns metrics."""
        run = self._run
        metrics: dict[str, float] = {}
        with self._progress.counting("evaluation") as count:
            scores = dict(run.evaluator.scores(run.policy, run.config.eval_deals, on_games=count))
        for name, score in scores.items():
            metrics |= {
                f"eval/{name}": score.mean,
                f"eval/{name}_half": score.half,
                f"eval/{name}_chance": score.chance,
            }
            self._progress.score(f"against {name}", str(score), "mean return per deal")
        exploitability = run.evaluator.nash_conv(run.policy)
        if exploitability is not None:
            metrics["eval/nash_conv"] = exploitability
            self._progress.score("NashConv", f"{exploitability:.3f}", f"of the policy, {_played(run)}")
        self._warn(warning(scores) if run.fraction() >= _WARN_FROM else None)
        return metrics

    def _warn(self, text: str | None) -> None:
        """Show a warning once, after two evaluations in a row that gave one: a single one may be bad luck."""
        if self._warnings < _ENOUGH_WARNINGS:
            self._warnings = self._warnings + 1 if text else 0
            if text and self._warnings == _ENOUGH_WARNINGS:
                self._progress.note(text)

    def _report_update(self, metrics: dict[str, float], interrupt: Interrupt) -> None:
        try:
            if self._on_update is not None:
                self._on_update(metrics)
        except KeyboardInterrupt:
            interrupt.requested = True

    def _evaluate_at_the_end(self) -> None:
        """Evaluate the final policy on separate deals, print the result and write it to the folder."""
        run = self._run
        if not run.config.final_deals or not run.processes.is_first:
            return
        scores = self._final_scores()
        exploitability = run.evaluator.nash_conv(run.policy)
        if exploitability is not None:
            unit = run.game.returns(run.options).unit
            self._progress.note(f"NashConv of the policy, {_played(run)}: {exploitability:.4f} {unit}")
        self._folder.write_result(
            {
                "game": run.game.name,
                "steps": run.steps,
                "seconds": run.seconds,
                "device": device_name(next(run.network.parameters()).device),
                "seed": run.config.seed,
                "scores": {name: dataclasses.asdict(score) for name, score in scores.items()},
                "nash_conv": exploitability,
            }
        )

    def _final_scores(self) -> dict[str, Score]:
        """Score the final policy, and print the scores and what they mean."""
        run = self._run
        scores: dict[str, Score] = {}
        returns = run.game.returns(run.options)
        with self._progress.counting("final evaluation") as count:
            for name, score in run.evaluator.scores(run.policy, run.config.final_deals, "final evaluation", count):
                scores[name] = score
                self._progress.note(
                    f"against {name}: {score} {returns.unit} per deal over {score.deals:,} duplicate deals"
                )
        if scores:
            self._progress.note(meaning(scores, returns))
        if text := warning(scores):
            self._progress.note(text)
        return scores

    def _report_time(self) -> None:
        steps = self._run.steps - self._first_step
        if steps:
            self._progress.note(split_text(self._run.watch.seconds, self._trained_seconds, steps))
        self._progress.note(f"checkpoint: {self._folder.checkpoint}")


def _played(run: Run) -> str:
    return "greedy" if run.config.method == "dmc" else "sampled"
