"""`cardenvs arena run`."""

from pathlib import Path
from typing import Annotated

import typer

from cardenvs.cli.arena.board import Csv, ExperimentPath, Html, Json, board_outputs, report_board, run_with_progress
from cardenvs.cli.exit_codes import EXIT_INTERRUPTED
from cardenvs.cli.shared import BatchSize, Processes, RayAddress, join_cluster
from cardenvs.core.errors import ArenaError


def run_command(
    file: ExperimentPath,
    store: Annotated[
        Path | None,
        typer.Option(metavar="STORE", help="SQLite file that keeps the games; default: FILE with .db."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the games that the store has.")] = False,
    processes: Processes = 1,
    backend: Annotated[str, typer.Option(metavar="local|ray", help="Where to play.")] = "local",
    address: RayAddress = None,
    batch: BatchSize = 64,
    json: Json = None,
    csv: Csv = None,
    html: Html = None,
) -> None:
    """Play an experiment and print its board. After Ctrl-C, a kill or a time limit, add --resume to continue.

    The results depend on the file alone, not on the number of processes or on the backend.

    Examples:

    - `cardenvs arena run configs/arena/small_poker.yaml -p 2 --html site`
    - `cardenvs arena run my.yaml --store runs/my.db --resume --backend ray -p 16`
    """
    from cardenvs.arena.experiment import read_experiment
    from cardenvs.arena.store import Store

    if backend not in ("local", "ray"):
        raise ArenaError(f"--backend is local or ray; got {backend!r}")
    join_cluster(backend, address)
    path = store or file.with_suffix(".db")
    if path == file:
        raise ArenaError(f"{file} would be its own store; give a --store")
    outputs = board_outputs(json, csv, html, {"FILE": file, "--store": path})
    experiment = read_experiment(file)
    with Store(path) as opened:
        experiment = experiment.seeded(opened, resume)
        whole = run_with_progress(experiment, opened, resume, processes, batch, backend)
        if whole or any(opened.count(match.id) for match in experiment.matches):
            report_board(opened, experiment.stored, experiment.intervals, outputs, json, csv, html)
    if whole is None:
        typer.secho(
            f"Stopped before the end: finished games are in {path}; add --resume to go on.", fg="yellow", err=True
        )
        raise typer.Exit(EXIT_INTERRUPTED)
    if not whole:
        typer.secho(f"Out of time: finished games are in {path}; add --resume to go on.", fg="yellow", err=True)
    outputs.close()
