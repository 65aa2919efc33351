"""What the commands with boards share: their parameters, playing under a bar, printing and writing a board."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardenvs.cli.compiling import compile_for
from cardenvs.cli.files import Outputs, input_file
from cardenvs.cli.progress import ProgressBar
from cardenvs.cli.shared import new_console

if TYPE_CHECKING:
    from cardenvs.arena.experiment import Experiment
    from cardenvs.arena.records import StoredExperiment
    from cardenvs.arena.results.board import Board
    from cardenvs.arena.store import Store

ExperimentPath = Annotated[Path, typer.Argument(metavar="FILE", callback=input_file, help="An experiment, in YAML.")]
Json = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the board as JSON.")]
Csv = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the results as CSV, a row a player and game.")]
Html = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Write a leaderboard site.")]


def run_with_progress(
    experiment: "Experiment", store: "Store", resume: bool, processes: int, batch: int, backend: Any
) -> bool | None:
    """Play under a progress bar. Returns whether all is played; None: interrupted."""
    for match in experiment.matches:
        compile_for(match.game, match.options, match.agents)
    with ProgressBar(experiment.name, unit="games", total=experiment.num_games) as bar:
        try:
            return experiment.run(
                store, resume=resume, processes=processes, batch=batch, backend=backend, progress=bar.show
            )
        except KeyboardInterrupt:
            return None


def board_outputs(json: Path | None, csv: Path | None, html: Path | None, used: dict[str, Path | None]) -> Outputs:
    """Return the files and the site that a command writes; what cannot be written is refused before play."""
    outputs = Outputs({"--json": json, "--csv": csv}, {"--html": html}, used=used)
    if html is not None:
        from cardenvs.arena.output.site import check_folder

        check_folder(html)
    return outputs


def report_board(
    store: "Store",
    experiment: "StoredExperiment | None",
    intervals: Any,
    outputs: Outputs,
    json: Path | None,
    csv: Path | None,
    html: Path | None,
    everything: bool = False,
    ratings: Any = None,
) -> None:
    """Print the board of an experiment, or of the whole store, and write it where it was asked for."""
    from cardenvs.arena.output.export import write_board_json, write_csv
    from cardenvs.arena.output.terminal import print_board
    from cardenvs.arena.results.board import board_of
    from cardenvs.arena.results.ratings import RatingBasis

    with ProgressBar("summing up", transient=True) as bar:

        def show(what: str, done: int, total: int) -> None:
            bar.show(done, total, title=f"summing up: {what}")

        basis = None if ratings is None else RatingBasis(ratings)
        board = board_of(store, experiment, everything=everything, intervals=intervals, basis=basis, progress=show)
    print_board(board, new_console())
    outputs.write("JSON", json, lambda path: write_board_json(board, path))
    outputs.write("CSV", csv, lambda path: write_csv(store, board, path))
    outputs.write("site", html, lambda folder: _write_site(store, board, folder))


def _write_site(store: "Store", board: "Board", folder: Path) -> Path:
    from cardenvs.arena.output.site import write_site

    return write_site(store, board, folder)
