"""`cardenvs arena report`."""

from typing import TYPE_CHECKING, Annotated

import typer

from cardenvs.cli.arena.board import Csv, Html, Json, board_outputs, report_board
from cardenvs.cli.shared import StorePath
from cardenvs.core.errors import ArenaError

if TYPE_CHECKING:
    from cardenvs.arena.records import StoredExperiment
    from cardenvs.arena.store import Store


def report_command(
    store: StorePath,
    experiment: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which experiment of the store; default: the last one.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All matches of the store, of any experiment.")] = False,
    intervals: Annotated[
        str, typer.Option(metavar="bootstrap|student", help="How to compute intervals.")
    ] = "bootstrap",
    ratings: Annotated[
        str | None,
        typer.Option(metavar="results|places", help="What ratings are based on; default: the experiment's."),
    ] = None,
    json: Json = None,
    csv: Csv = None,
    html: Html = None,
) -> None:
    """Print the board of a store, or write it as files or as a site. Also works on stores of `cardenvs match`.

    Examples:

    - `cardenvs arena report small_poker.db`
    - `cardenvs arena report small_poker.db --html site --csv games.csv`
    """
    from cardenvs.arena.store import Store

    if intervals not in ("bootstrap", "student"):
        raise ArenaError(f"--intervals is bootstrap or student; got {intervals!r}")
    if ratings not in (None, "results", "places"):
        raise ArenaError(f"--ratings is results or places; got {ratings!r}")
    outputs = board_outputs(json, csv, html, {"STORE": store})
    with Store(store, read_only=True) as opened:
        chosen = _chosen(opened, experiment, everything)
        report_board(opened, chosen, intervals, outputs, json, csv, html, everything, ratings)
    outputs.close()


def _chosen(store: "Store", name: str | None, everything: bool) -> "StoredExperiment | None":
    found = store.experiments()
    if name is None:
        return None if everything or not found else found[-1]
    for experiment in reversed(found):
        if experiment.name == name:
            return experiment
    there = ", ".join(dict.fromkeys(experiment.name for experiment in found)) or "none"
    raise ArenaError(f"{store.path} has no experiment {name!r}; there are: {there}")
