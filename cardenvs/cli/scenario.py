"""`cardenvs scenario`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from cardenvs.cli.compiling import compile_for
from cardenvs.cli.exit_codes import EXIT_FAILED
from cardenvs.cli.shared import escaped, new_console
from cardenvs.core.errors import CardenvsError

if TYPE_CHECKING:
    from rich.console import Console

    from cardenvs.core.state import State
    from cardenvs.testing.scenarios import PlayedStep, Scenario

scenario_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown",
    help="Scenario files: games played step by step, with expectations after each step; see `docs/scenarios.md`.\n\n"
    "Examples:\n\n- `cardenvs scenario run tests/scenarios`\n- `cardenvs scenario inspect my_game.yaml --name trump`",
)  # fmt: skip

NamePart = Annotated[
    str | None, Option(metavar="TEXT", help="Only scenarios whose names contain this text; case is ignored.")
]


@scenario_app.command("run")
def scenario_run(
    paths: Annotated[list[Path], Argument(metavar="FILE...", help="Scenario files, or folders with *.yaml files.")],
    name: NamePart = None,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print failures and the summary only.")] = False,
) -> None:
    """Play scenarios and check what they expect. The exit code is 1 if an expectation does not hold.

    Examples:

    - `cardenvs scenario run tests/scenarios/leduc_poker/source.yaml`
    - `cardenvs scenario run tests/scenarios -q`
    - `cardenvs scenario run my_game.yaml --name "last trick"`
    """
    console, failed, passed, num_failed = new_console(), 0, 0, 0
    chosen = _chosen(paths, name)
    for scenario in chosen:
        _compile(scenario)
        failures = 0
        if not quiet:
            console.print(f"[bold]{escaped(str(scenario))}[/bold]", soft_wrap=True)
        for step in scenario.play():
            failures += len(step.failures)
            passed += len(step.checks) - len(step.failures)
            _print_checks(console, scenario, step, quiet)
        failed += failures
        num_failed += failures > 0
    summary = f"{len(chosen)} scenarios, {passed + failed} expectations"
    if failed:
        typer.secho(f"{summary}: {failed} failed, in {num_failed} scenarios", fg="red")
        raise typer.Exit(EXIT_FAILED)
    typer.secho(f"{summary}: all hold", fg="green")


@scenario_app.command("inspect")
def scenario_inspect(
    file: Annotated[Path, Argument(metavar="FILE", help="A scenario file.")],
    name: NamePart = None,
    player: Annotated[int | None, Option(min=0, help="Show what this player sees; default: all cards face up.")] = None,
) -> None:
    """Print the position and the legal actions after each step of a scenario.

    Helps to write scenarios: start with a deck and a step, look at the labels, add the next step.

    Examples:

    - `cardenvs scenario inspect tests/scenarios/leduc_poker/source.yaml --name 4`
    - `cardenvs scenario inspect my_game.yaml --player 1`
    """
    console = new_console()
    for scenario in _chosen([file], name):
        _compile(scenario)
        start = scenario.start()
        if player is not None and player >= start.num_players:
            raise CardenvsError(
                f"--player {player} is out of range: {scenario.name!r} has players 0 to {start.num_players - 1}"
            )
        console.rule(f"[bold]{escaped(str(scenario))}[/bold]", align="left")
        _print_position(console, start, player, "the deal")
        shown = 0 if player is None else len(start.recap(player))
        for step in scenario.play():
            happened = step.actions if player is None else step.state.recap(player)[shown:]
            shown += len(happened)
            for sentence in happened:
                console.print(f"[dim]·[/dim] {escaped(sentence)}", soft_wrap=True)
            if happened:
                _print_position(console, step.state, player, f"step {step.number}, line {step.line}")
            if player is None:
                _print_checks(console, scenario, step, quiet=False)


def _chosen(paths: list[Path], name: str | None) -> "list[Scenario]":
    from cardenvs.testing.scenarios import read_scenarios

    found = read_scenarios(*paths)
    chosen = [scenario for scenario in found if name is None or name.lower() in scenario.name.lower()]
    if not chosen:
        names = ", ".join(repr(scenario.name) for scenario in found[:10])
        raise CardenvsError(f"no scenario has {name!r} in its name; names are: {names}{', ...' * (len(found) > 10)}")
    return chosen


def _compile(scenario: "Scenario") -> None:
    policies = [step.auto.policy for step in scenario.steps if step.auto is not None and step.auto.policy is not None]
    compile_for(scenario.game, scenario.game.make_options(**scenario.options), policies)


def _print_checks(console: "Console", scenario: "Scenario", step: "PlayedStep", quiet: bool) -> None:
    from cardenvs.testing.scenarios.scenario import failure_text

    for check in step.checks:
        if check.problem:
            where = f"{scenario.where}:{step.line}: step {step.number}"
            console.print(f"[red]fail[/red]  {escaped(where)}: {escaped(failure_text(check))}", soft_wrap=True)
        elif not quiet:
            text = f"step {step.number}: {check.what} {check.expected}"
            console.print(f"[green]ok[/green]    {escaped(text)}", soft_wrap=True)


def _print_position(console: "Console", state: "State", player: int | None, title: str) -> None:
    from rich.panel import Panel
    from rich.text import Text

    from cardenvs.core.events import OMNISCIENT
    from cardenvs.testing.scenarios.expectations import labels

    viewer = OMNISCIENT if player is None else player
    turn = f"returns {state.returns}" if state.is_terminal else f"player_{state.current_player} to act"
    shown = Text.from_ansi(state.render(viewer, colour=True))
    console.print(Panel(shown, title=escaped(f"{title}: {state.phase}, {turn}"), title_align="left"))
    if not state.is_terminal and player in (None, state.current_player):
        console.print(f"[bold]{escaped(state.game.view.prompt(state.record))}[/bold]", soft_wrap=True)
        numbered = zip(state.legal_actions(), labels(state), strict=True)
        console.print("   ".join(f"{escaped(label)} [dim]({action})[/dim]" for action, label in numbered))
