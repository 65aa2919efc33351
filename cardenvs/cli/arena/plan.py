"""`cardenvs arena plan`."""

from pathlib import Path
from typing import Annotated

import typer

from cardenvs.cli.arena.board import ExperimentPath, run_with_progress
from cardenvs.cli.exit_codes import EXIT_INTERRUPTED
from cardenvs.cli.shared import MAX_COUNT, Processes, finite, new_console
from cardenvs.core.errors import ArenaError


def plan_command(
    file: ExperimentPath,
    half_width: Annotated[
        float | None,
        typer.Option(
            min=0,
            callback=finite,
            help="Target half-width of intervals, in the unit of each game; default: that of `stop` in FILE.",
        ),
    ] = None,
    of: Annotated[str, typer.Option(metavar="pairs|means", help="Intervals of which figures.")] = "pairs",
    pilot: Annotated[int, typer.Option(min=2, max=MAX_COUNT, help="Deals of each game to play as the pilot.")] = 50,
    store: Annotated[
        Path | None, typer.Option(metavar="STORE", help="Use its games, and add those of the pilot to them.")
    ] = None,
    processes: Processes = 1,
) -> None:
    """Estimate how many deals an experiment needs for intervals of a given width, from a pilot.

    Example: `cardenvs arena plan configs/arena/small_poker.yaml --half-width 0.05`
    """
    import dataclasses

    from cardenvs.arena.experiment import read_experiment
    from cardenvs.arena.output.terminal import needs_table
    from cardenvs.arena.plan import deals_needed
    from cardenvs.arena.results.statistics import Tally
    from cardenvs.arena.store import Store

    if of not in ("pairs", "means"):
        raise ArenaError(f"--of is pairs or means; got {of!r}")
    experiment = read_experiment(file)
    wanted = half_width or (experiment.stop and experiment.stop.half_width)
    if not wanted:
        raise ArenaError(f"{file} has no `stop`; give the --half-width of the intervals you want")
    console = new_console()
    with Store(store) as opened:
        experiment = experiment.seeded(opened, resume=True)
        matches = tuple(dataclasses.replace(match, deals=min(pilot, match.deals)) for match in experiment.matches)
        short = dataclasses.replace(experiment, matches=matches, stop=None)
        if run_with_progress(short, opened, True, processes, 64, "local") is None:
            raise typer.Exit(EXIT_INTERRUPTED)
        for title, match, small in zip(experiment.titles, experiment.matches, matches, strict=True):
            tally = Tally.of(match, opened.results(small.id))
            needs = deals_needed(tally, wanted, of)  # type: ignore[arg-type]
            unit = match.game.returns(match.options).result_unit_label
            most = needs[0].deals
            console.print(f"\n[bold]{title}[/bold], from {len(tally.deals)} deals")
            console.print(needs_table(needs, wanted, unit))
            console.print(
                f"{most} deals are {most * len(match.lineups)} games; the experiment plays at most {match.deals} deals."
            )
