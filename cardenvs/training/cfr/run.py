"""A run of a solver: evaluations, metrics, and a file to resume from."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from cardenvs.agents.tabular import TabularPolicy
from cardenvs.core.checks import short
from cardenvs.core.errors import FormatError, OptionError, SolvingError
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.training.cfr.sampling import Sampler
from cardenvs.training.cfr.size import Size, check_size, estimated_size
from cardenvs.training.cfr.solvers import METHODS, Solver
from cardenvs.training.cfr.tree import Tree
from cardenvs.training.folder import POLICY_FILE, RunFolder, append_metrics, cut_metrics

MCCFR = "mccfr"
_GROWTH = 1.1  # factor of the iterations from one evaluation to the next
_CALL_SECONDS = 0.1  # length of a kernel call, which cannot be interrupted
_SAVE_SECONDS = 60.0
_MOST_EVALUATED = 2_000_000  # histories of a tree that serves only to evaluate


@dataclass(frozen=True)
class Report:
    """How good the average policy is after some iterations."""

    iterations: int  # done so far
    seconds: float  # spent in iterations so far, evaluations excluded
    infosets: int  # information states visited so far
    values: list[float] | None  # each player's expected return; None if the game is too large to evaluate
    nash_conv: float | None  # what all players together could gain by best responses; None if the game is too large


class Run:
    """A solver at work."""

    def __init__(self, solver: Solver | Sampler, tree: Tree | None, folder: RunFolder, seconds: float = 0.0) -> None:
        """Create a run; see `begin` and `resume`."""
        self.solver = solver  # a Solver on a tree, or a Sampler
        self.tree = tree  # the tree of the game; None where a Sampler solves a game too large for one
        self.folder = folder  # holds latest.policy and metrics.jsonl
        self.seconds = seconds  # spent in iterations so far
        self._speed = 10.0  # iterations per second, a guess at first

    @classmethod
    def begin(
        cls, game: Game, options: dict[str, Any], method: str, folder: Path, seed: int = 0, overwrite: bool = False,
        on_progress: Callable[[int], None] = lambda done: None,
    ) -> Self:  # fmt: skip
        """Begin in a folder, which is created. `on_progress` gets the number of histories listed so far.

        Raises:
            OptionError: unknown method or option, or the folder holds a run that must not be overwritten.
            SolvingError: the game is too large.
        """
        if method not in (*METHODS, MCCFR):
            raise OptionError(f"there is no method {short(method)}; methods are {', '.join((*METHODS, MCCFR))}")
        own = RunFolder(folder, checkpoint=POLICY_FILE)
        own.check_free(overwrite)
        solver, tree = _new_solver(game, options, method, seed, on_progress)
        own.path.mkdir(parents=True, exist_ok=True)
        own.clear()
        own.metrics.touch()
        return cls(solver, tree, own)

    @classmethod
    def resume(cls, path: Path, on_progress: Callable[[int], None] = lambda done: None) -> Self:
        """Resume from a file of an earlier run, to the numbers that an uninterrupted run would have given.

        Raises:
            FormatError: the file is damaged, of another version, or cannot be resumed.
        """
        saved = TabularPolicy.load(path)
        if saved.regrets is None or saved.method not in (*METHODS, MCCFR):
            raise FormatError(f"{path} is a policy without the regrets of a solver; it cannot be resumed")
        game = get_game(saved.game)
        seed, seconds = saved.notes.get("seed", 0), saved.notes.get("seconds", 0.0)
        if type(seed) is not int or not 0 <= seed < 2**63 or not isinstance(seconds, float) or not seconds >= 0:
            raise FormatError(f"{path} is damaged: its seed or time is not a valid number")
        if set(saved.options) != set(game.options().as_dict()):
            raise FormatError(f"{path} is of another version of {game.name}: it has other options")
        solver, tree = _new_solver(game, saved.options, saved.method, seed, on_progress)
        solver.restore(saved)
        folder = RunFolder(path.parent, checkpoint=POLICY_FILE)
        cut_metrics(folder.metrics, "iterations", saved.iterations)
        return cls(solver, tree, folder, seconds)

    @property
    def size(self) -> Size | None:
        """An estimate of the game's size, where it is too large to list."""
        return self.solver.size if isinstance(self.solver, Sampler) else None

    @property
    def path(self) -> Path:
        """The file that `save` writes, which the agent `tabular:PATH` plays."""
        return self.folder.checkpoint

    def go(self, iterations: int | None, until: float | None = None) -> Iterator[Report | None]:
        """Iterate. Yields a report after 1, 2, 3, ... iterations, more and more rarely, and None in between.

        Ends after `iterations`, earlier ones included, or once NashConv is at most `until`. To stop early, leave the
        loop and `save`.

        Raises:
            SolvingError: the game is too large to solve, or with `until`, to evaluate.
        """
        if until is not None and self.tree is None:
            raise SolvingError("this game is too large to compute NashConv; give a number of iterations instead")
        self.solver.compile()
        saved = time.monotonic()
        while iterations is None or self.solver.iterations < iterations:
            due = _next_evaluation(self.solver.iterations)
            due = due if iterations is None else min(due, iterations)
            while self.solver.iterations < due:
                yield None
                self._iterate(due - self.solver.iterations)
                if time.monotonic() - saved > _SAVE_SECONDS:
                    self.save()
                    saved = time.monotonic()
            report = self.report()
            self._log(report)
            yield report
            if until is not None and report.nash_conv is not None and report.nash_conv <= until:
                return

    def _iterate(self, most: int) -> None:
        count = max(1, min(most, int(self._speed * _CALL_SECONDS)))
        started = time.perf_counter()
        self.solver.run(count)
        spent = time.perf_counter() - started
        self.seconds += spent
        self._speed = count / spent

    def report(self) -> Report:
        """Evaluate the average policy."""
        done, infosets = self.solver.iterations, self.solver.num_infosets
        if self.tree is None:
            return Report(done, self.seconds, infosets, None, None)
        solver = self.solver
        policy = solver.average_policy() if isinstance(solver, Solver) else self.tree.tabular(solver.saved())
        return Report(done, self.seconds, infosets, self.tree.values(policy).tolist(), self.tree.nash_conv(policy))

    def _log(self, report: Report) -> None:
        line: dict[str, float] = {"iterations": report.iterations, "seconds": report.seconds}
        line["infosets"] = report.infosets
        if report.nash_conv is not None and report.values is not None:
            line["nash_conv"] = report.nash_conv
            line["exploitability"] = report.nash_conv / len(report.values)
            line |= {f"value/player_{player}": value for player, value in enumerate(report.values)}
        append_metrics(self.folder.metrics, line)

    def save(self) -> None:
        """Write the policy, with everything needed to resume. Raises OSError if the file cannot be written."""
        saved = self.solver.saved()
        saved.notes["seconds"] = self.seconds
        saved.save(self.path)


def _new_solver(
    game: Game, options: dict[str, Any], method: str, seed: int, on_progress: Callable[[int], None]
) -> tuple[Solver | Sampler, Tree | None]:
    if method != MCCFR:
        tree = Tree(game, on_progress=on_progress, **options)
        return Solver(tree, method), tree
    made = game.make_options(**options)
    try:
        tree = Tree(game, most_histories=_MOST_EVALUATED, on_progress=on_progress, **options)
    except SolvingError:
        size = estimated_size(game, made, seed)
        check_size(game, size)
        return Sampler(game, made, seed, size), None
    return Sampler(game, made, seed), tree


def is_round(iterations: int) -> bool:
    """Return whether a number is 1, 2, 5, 10, 20, 50, ..."""
    return str(iterations).rstrip("0") in ("1", "2", "5")


def _next_evaluation(done: int) -> int:
    """Return the number of iterations after which to evaluate next. It depends on `done` alone."""
    due = 1
    while due <= done:
        due = max(due + 1, int(due * _GROWTH))
    scale = int(10 ** (len(str(done)) - 1))
    return min(due, *(factor * scale for factor in (1, 2, 5, 10) if factor * scale > done))
