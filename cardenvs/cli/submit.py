"""`cardenvs submit`."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from cardenvs.cli.arena import Json, board_outputs
from cardenvs.cli.exit_codes import EXIT_FAILED
from cardenvs.cli.files import input_file
from cardenvs.cli.progress import ProgressBar
from cardenvs.cli.shared import MAX_COUNT, Processes, new_console
from cardenvs.core.text import printable

submit_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown",
    help="Submissions to a board.\n\n"
    "Example: `cardenvs submit check my_bundle.zip --board configs/arena/small_poker.yaml`",
)  # fmt: skip


@submit_app.command("check")
def submit_check(
    bundle: Annotated[str, Argument(metavar="BUNDLE", help="An agent's spec, or a folder or zip file; see below.")],
    board: Annotated[Path, Option(metavar="FILE", callback=input_file, help="The board: an experiment with anchors.")],
    name: Annotated[str | None, Option(help="Name of the agent; default: the one in the bundle.")] = None,
    deals: Annotated[
        int | None, Option(min=1, max=MAX_COUNT, help="Deals of each game; default: those of the board.")
    ] = None,
    store: Annotated[
        Path | None,
        Option("--store", metavar="STORE", help="Keep the games here, and resume a check that was stopped."),
    ] = None,
    processes: Processes = 1,
    sandbox: Annotated[
        str, Option(metavar="auto|require|none", help="A sandbox for the code of a bundle; see `docs/submissions.md`.")
    ] = "auto",
    json: Json = None,
) -> None:
    """Play a submission against the anchors of a board, or replay its recorded games, and rate it.

    A bundle has a `submission.yaml` with the `name` and the `agent` (`python:MODULE:NAME` with MODULE in the bundle,
    `process:COMMAND` with {bundle} for its folder, `ppo:FILE`, `search` or a policy), or replays (*.json) of all games
    against the anchors. Its code runs in its own process, in a sandbox where the system has one. The exit code is 1 if
    the submission has faults.

    Examples:

    - `cardenvs submit check python:my_bot:make --board configs/arena/small_poker.yaml --deals 100`
    - `cardenvs submit check my_bundle.zip --board configs/arena/small_poker.yaml --json result.json`
    """
    import dataclasses

    from cardenvs.agents.guarded.sandbox import chosen
    from cardenvs.arena.bundle import opened_bundle
    from cardenvs.arena.experiment import read_experiment
    from cardenvs.arena.output.files import write_board_json
    from cardenvs.arena.output.terminal import print_board
    from cardenvs.arena.results.document import board_document
    from cardenvs.arena.store import Store
    from cardenvs.arena.submit import check_submission

    chosen(sandbox)
    outputs = board_outputs(json, None, None, {"BUNDLE": Path(bundle), "--board": board, "--store": store})
    experiment = read_experiment(board)
    if deals is not None:
        shorter = tuple(m.changed(deals=min(deals, m.deals)) for m in experiment.matches)
        experiment = dataclasses.replace(experiment, matches=shorter)
    with opened_bundle(bundle, name) as opened, Store(store) as kept, ProgressBar("checking") as bar:
        checked = check_submission(
            opened, experiment, store=kept, processes=processes, sandbox=sandbox,
            progress=lambda what, done, total: bar.show(done, total, title=what),
        )  # fmt: skip
    document = board_document(checked.board)
    print_board(document, new_console())
    outputs.write("JSON", json, lambda path: write_board_json(document, path))
    for remark in checked.remarks:
        typer.secho(printable(remark), fg="yellow")
    for fault in checked.faults:
        typer.secho(printable(fault), fg="red")
    if checked.faults:
        typer.secho(f"{checked.name}: {len(checked.faults)} faults", fg="red")
        raise typer.Exit(EXIT_FAILED)
    typer.secho(f"{checked.name}: no faults", fg="green")
    outputs.close()
