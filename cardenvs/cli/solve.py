"""`cardenvs solve` and `cardenvs exploitability`."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from cardenvs.cli.options import read_options
from cardenvs.cli.progress import ProgressBar
from cardenvs.cli.runs import Out, Overwrite, Resume, check_resume, stopping
from cardenvs.cli.shared import MAX_COUNT, MAX_SEED, GameName, OptionTexts, finite
from cardenvs.core.errors import OptionError
from cardenvs.core.files import check_input, check_output_folder, locked_folder
from cardenvs.core.registry import get_game

if TYPE_CHECKING:
    import numpy as np

    from cardenvs.agents import Agent
    from cardenvs.training.cfr import Report, Run, Tree

_DEFAULT_ITERATIONS = 1000
_MOST_DRAWS = 10**9


def solve(
    game: Annotated[str | None, Argument(metavar="[GAME]", help="Game to solve; not with --resume.")] = None,
    method: Annotated[
        str | None, Option(help="cfr+, cfr, linear, discounted or mccfr; default: cfr+.", show_default=False)
    ] = None,
    iterations: Annotated[
        int | None, Option(min=1, max=MAX_COUNT, help="Stop after this many, earlier ones included; default: 1000.")
    ] = None,
    until: Annotated[float | None, Option(min=0, callback=finite, help="Stop once NashConv is at most this.")] = None,
    option: OptionTexts = None,
    seed: Annotated[int | None, Option(min=0, max=MAX_SEED, help="Seed of mccfr; default: 0.")] = None,
    out: Out = None,
    overwrite: Overwrite = False,
    resume: Resume = False,
    strategy: Annotated[bool, Option("--strategy", help="Print the policy at the end.")] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Solve a small game with CFR or a variant. The result plays as the agent tabular:FILE.

    Prints each player's expected return, and NashConv: what all players together could gain by best responses. `mccfr`
    also solves games that are too large to list, without NashConv.

    Examples:

    - `cardenvs solve kuhn_poker_v0 --strategy`
    - `cardenvs solve leduc_poker_v0 --until 0.001 --out runs/leduc`
    - `cardenvs solve leduc_poker_v0 -o num_players=3 --method mccfr --iterations 100000`
    - `cardenvs solve --out runs/leduc --resume --iterations 5000`
    """
    if resume and (game or option or method is not None or seed is not None):
        raise OptionError("--resume takes game, options, --method and --seed from the run in --out; leave them out")
    check_resume(resume, out, overwrite)
    if resume and out is not None:
        make, folder = _resumed_run(out), out
    else:
        make, folder = _new_run(game, option, method or "cfr+", seed or 0, out, overwrite)
    with locked_folder(folder):
        with ProgressBar("Listing positions", unit="histories", transient=True, hidden=quiet) as bar:
            run = make(bar.show)
        again = _again(folder, iterations, until)
        if iterations is None and until is None:
            iterations = _DEFAULT_ITERATIONS
        if iterations is not None and iterations <= run.solver.iterations:
            done = f"{run.solver.iterations:,}"
            raise OptionError(f"{run.path} has done {done} iterations; give --iterations a larger number")
        with stopping(again):
            _work(run, iterations, until, quiet)
    if strategy:
        _print_strategy(run)


def _again(folder: Path, iterations: int | None, until: float | None) -> str:
    """Return the command that goes on to the same end."""
    limits = {"--iterations": iterations, "--until": until}
    given = [word for name, value in limits.items() if value is not None for word in (name, str(value))]
    return shlex.join(["cardenvs", "solve", "--out", str(folder), "--resume", *given])


_MakeRun = Callable[[Callable[[int], None]], "Run"]  # from a function that shows the number of histories listed


def _new_run(
    game: str | None, option: list[str] | None, method: str, seed: int, out: Path | None, overwrite: bool
) -> tuple[_MakeRun, Path]:
    """Return a function that begins a run, and its folder."""
    from cardenvs.training.cfr import Run
    from cardenvs.training.folder import RunFolder

    if not game:
        raise OptionError("which game? name one, as in: cardenvs solve leduc_poker_v0")
    found = get_game(game)
    options = read_options(found, option).as_dict()
    folder = RunFolder.named(out, found.name).path
    if out is not None:
        check_output_folder(folder)
    return lambda show: Run.begin(found, options, method, folder, seed, overwrite, show), folder


def _resumed_run(folder: Path) -> _MakeRun:
    from cardenvs.training.cfr import Run
    from cardenvs.training.folder import POLICY_FILE

    file = folder / POLICY_FILE
    check_input(file)
    return lambda show: Run.resume(file, show)


def _work(run: "Run", iterations: int | None, until: float | None, quiet: bool) -> None:
    """Iterate, print reports, and save.

    Raises:
        KeyboardInterrupt: after Ctrl-C, once the policy is saved.
    """
    from cardenvs.training.cfr.run import is_round
    from cardenvs.training.interrupt import Interrupt

    if not quiet:
        _print_head(run)
    last = None
    note = "Stopping; press Ctrl-C again to stop at once, without saving."
    title = f"Solving {run.solver.game.title}"
    with (
        Interrupt(lambda: typer.echo(note, err=True)) as interrupt,
        ProgressBar(title, unit="iterations", total=iterations, transient=True, hidden=quiet) as bar,
    ):
        for report in run.go(iterations, until):
            if interrupt.requested:
                break
            bar.show(run.solver.iterations)
            if report is None:
                continue
            last = None if is_round(report.iterations) else report
            if last is None and not quiet:
                _print_report(report)
        run.save()
    if last is not None and not quiet:
        _print_report(last)
    if not quiet:
        typer.echo(f"policy: {run.path}, which plays as tabular:{run.path}")
    if interrupt.requested:
        raise KeyboardInterrupt


def _print_head(run: "Run") -> None:
    name, tree = run.solver.game.name, run.tree
    if tree is None:
        typer.echo(f"{name} is too large to list: it has {run.size}.")
        typer.echo("Information states are counted as they are visited.")
        typer.echo(f"{'iterations':>12}  {'information states':>18}  {'seconds':>8}")
        return
    typer.echo(
        f"{name}: {tree.num_infosets:,} information states, {tree.num_decisions:,} decisions, "
        f"{tree.num_terminals:,} ends"
    )
    players = "".join(f"{f'player_{p}':>11}" for p in range(min(tree.num_players, _MOST_SHOWN)))
    typer.echo(f"{'iterations':>12}{players}  {'NashConv':>11}  {'exploitability':>14}  {'seconds':>8}")


_MOST_SHOWN = 3  # players whose values fit on a line


def _print_report(report: "Report") -> None:
    if report.values is None or report.nash_conv is None:
        typer.echo(f"{report.iterations:>12,}  {report.infosets:>18,}  {report.seconds:>8.2f}")
        return
    values = "".join(f"{value:>+11.6f}" for value in report.values[:_MOST_SHOWN])
    exploitability = report.nash_conv / len(report.values)
    typer.echo(
        f"{report.iterations:>12,}{values}  {report.nash_conv:>11.8f}  {exploitability:>14.8f}  {report.seconds:>8.2f}"
    )


def _print_strategy(run: "Run") -> None:
    tree = run.tree
    if tree is None:
        typer.echo("The game is too large to print its policy.", err=True)
        return
    policy = tree.tabular(run.solver.saved())
    for infoset in range(tree.num_infosets):
        state = tree.state(infoset)
        player = state.current_player
        labels = [state.action_label(action) for action in state.legal_actions()]
        shown = zip(labels, tree.probabilities(policy, infoset), strict=True)
        typer.echo(f"player_{player}: {' '.join(state.recap(player))}")
        typer.echo("    " + "  ".join(f"{label} {probability:.4f}" for label, probability in shown))


def exploitability(
    game: GameName,
    agent: Annotated[str, Option(metavar="SPEC", help="Agent in every seat, as in tabular:PATH.")] = "random",
    option: OptionTexts = None,
    draws: Annotated[
        int, Option(min=1, max=_MOST_DRAWS, help="Choices per information state, for agents that only act.")
    ] = 1000,
    seed: Annotated[int, Option(min=0, max=MAX_SEED, help="Seed of these choices.")] = 0,
    quiet: Annotated[bool, Option("--quiet", help="Draw no progress bar.")] = False,
) -> None:
    """Compute exactly what best responses gain against an agent, in a game small enough to list.

    The agent sits in all seats, and each player in turn switches to the best of all policies. Agents of the kinds
    tabular and ppo state their policies. Other agents act many times in every information state, and the result is for
    the observed frequencies.

    Examples:

    - `cardenvs exploitability kuhn_poker_v0 --agent random`
    - `cardenvs exploitability leduc_poker_v0 --agent tabular:runs/leduc/latest.policy`
    - `cardenvs exploitability leduc_poker_v0 --agent ppo:runs/best/latest.pt,sample=true`
    """
    from cardenvs.agents.specs import make_agent
    from cardenvs.training.cfr import Tree, agent_policy

    found = get_game(game)
    options = read_options(found, option)
    made = make_agent(agent, found, options)
    try:
        with ProgressBar("Listing positions", unit="histories", transient=True, hidden=quiet) as bar:
            tree = Tree(found, on_progress=bar.show, **options.as_dict())
        with ProgressBar("Asking the agent", total=tree.num_infosets, transient=True, hidden=quiet) as bar:
            policy, exact = agent_policy(tree, made, draws=draws, seed=seed, on_progress=bar.show)
    finally:
        if hasattr(made, "close"):
            made.close()
    _print_gains(tree, policy)
    typer.echo(f"Measured: {_what_was_measured(agent, made, draws if not exact else 0)}.")


def _what_was_measured(spec: str, agent: "Agent", draws: int) -> str:
    if draws:
        return f"{spec}, estimated from {draws:,} choices in each information state"
    if not hasattr(agent, "sample"):
        return f"the probabilities of {spec}"
    if agent.sample:
        return f"the probabilities of {spec} (sample=true)"
    return f"the most likely action of {spec} in each information state (sample=false)"


def _print_gains(tree: "Tree", policy: "np.ndarray") -> None:
    values, best = tree.values(policy), tree.best_response_values(policy)
    unit = tree.game.returns(tree.options).unit
    typer.echo(f"{'':<12}{'value':>12}{'best response':>15}{'gain':>12}  in {unit} a deal")
    for player, (value, reply) in enumerate(zip(values, best, strict=True)):
        typer.echo(f"{f'player_{player}':<12}{value:>+12.6f}{reply:>+15.6f}{reply - value:>12.6f}")
    gain = float((best - values).sum())
    typer.echo(f"NashConv {gain:.6f}, exploitability {gain / tree.num_players:.6f}")
