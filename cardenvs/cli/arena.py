"""`cardenvs arena`: experiments, and what other commands with boards share."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

import cardenvs.cli.shared as shared
from cardenvs.cli.compiling import compile_for
from cardenvs.cli.exit_codes import EXIT_INTERRUPTED
from cardenvs.cli.files import Outputs, input_file
from cardenvs.cli.progress import ProgressBar
from cardenvs.core.errors import ArenaError

if TYPE_CHECKING:
    from cardenvs.arena.experiment import Experiment
    from cardenvs.arena.records import StoredExperiment
    from cardenvs.arena.store import Store

arena_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown",
    help="Experiments: several games, many agents, ratings, a leaderboard site.\n\n"
    "Example: `cardenvs arena run configs/arena/small_poker.yaml --html leaderboard`",
)  # fmt: skip

ExperimentPath = Annotated[Path, Argument(metavar="FILE", callback=input_file, help="An experiment, in YAML.")]
Json = Annotated[Path | None, Option(metavar="FILE", help="Write the board as JSON.")]
Csv = Annotated[Path | None, Option(metavar="FILE", help="Write the results as CSV, one row per player and game.")]
Html = Annotated[Path | None, Option(metavar="FOLDER", help="Write a leaderboard site.")]


def run_with_progress(
    experiment: "Experiment", store: "Store", resume: bool, processes: int, batch: int, backend: Any
) -> bool | None:
    """Play under a progress bar. Returns whether all games are played; None: interrupted."""
    for match in experiment.matches:
        compile_for(match.game, match.options, match.specs)
    with ProgressBar(experiment.name, unit="games", total=experiment.num_games) as bar:
        try:
            return experiment.run(
                store, resume=resume, processes=processes, batch=batch, backend=backend, progress=bar.show
            )
        except KeyboardInterrupt:
            return None


def board_outputs(json: Path | None, csv: Path | None, html: Path | None, used: dict[str, Path | None]) -> Outputs:
    """Return the files and the site that a command writes, after checking that they can be written."""
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
    """Print the board of an experiment, or of the whole store, and write the wanted files."""
    from cardenvs.arena.output.files import write_board_json, write_csv
    from cardenvs.arena.output.terminal import print_board
    from cardenvs.arena.results.board import board_of
    from cardenvs.arena.results.document import board_document
    from cardenvs.arena.results.ratings import RatingBasis

    with ProgressBar("summing up", transient=True) as bar:

        def show(what: str, done: int, total: int) -> None:
            bar.show(done, total, title=f"summing up: {what}")

        basis = None if ratings is None else RatingBasis(ratings)
        board = board_of(store, experiment, everything=everything, intervals=intervals, basis=basis, progress=show)
    document = board_document(board)
    print_board(document, shared.new_console())
    outputs.write("JSON", json, lambda path: write_board_json(document, path))
    outputs.write("CSV", csv, lambda path: write_csv(store, document, path))
    if html is not None:
        from cardenvs.arena.output.site import write_site

        outputs.write("site", html, lambda folder: write_site(store, document, folder))


@arena_app.command("run")
def run_command(
    file: ExperimentPath,
    store: Annotated[
        Path | None,
        Option("--store", metavar="STORE", help="SQLite file that keeps the games; default: FILE with .db."),
    ] = None,
    resume: Annotated[bool, Option("--resume", help="Play only the games that the store lacks.")] = False,
    processes: shared.Processes = 1,
    backend: Annotated[str, Option(metavar="local|ray", help="Where to play.")] = "local",
    address: shared.RayAddress = None,
    batch: shared.BatchSize = 64,
    json: Json = None,
    csv: Csv = None,
    html: Html = None,
) -> None:
    """Play an experiment and print its board. After Ctrl-C, a kill or a time limit, add --resume to play the rest.

    The results depend only on the file, not on the number of processes or the backend.

    Examples:

    - `cardenvs arena run configs/arena/small_poker.yaml -p 2 --html leaderboard`
    - `cardenvs arena run my.yaml --store runs/my.db --resume --backend ray -p 16`
    """
    from cardenvs.arena.experiment import read_experiment
    from cardenvs.arena.store import Store

    if backend not in ("local", "ray"):
        raise ArenaError(f"--backend is local or ray; got {backend!r}")
    shared.join_cluster(backend, address)
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
            f"Stopped before the end: finished games are in {path}; add --resume to play the rest.",
            fg="yellow",
            err=True,
        )
        raise typer.Exit(EXIT_INTERRUPTED)
    if not whole:
        typer.secho(f"Out of time: finished games are in {path}; add --resume to play the rest.", fg="yellow", err=True)
    outputs.close()


@arena_app.command("plan")
def plan_command(
    file: ExperimentPath,
    half_width: Annotated[
        float | None,
        Option(
            min=0,
            callback=shared.finite,
            help="Target half-width of intervals, in the unit of each game; default: that of `stop` in FILE.",
        ),
    ] = None,
    of: Annotated[str, Option(metavar="pairs|means", help="Figures whose intervals count.")] = "pairs",
    pilot: Annotated[int, Option(min=2, max=shared.MAX_COUNT, help="Deals of each game to play as the pilot.")] = 50,
    store: Annotated[
        Path | None, Option("--store", metavar="STORE", help="Use the games of this store, and add those of the pilot.")
    ] = None,
    processes: shared.Processes = 1,
) -> None:
    """Estimate how many deals an experiment needs for intervals of a given width, from a pilot.

    Example: `cardenvs arena plan configs/arena/small_poker.yaml --half-width 0.05`
    """
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
    console = shared.new_console()
    with Store(store) as opened:
        experiment = experiment.seeded(opened, resume=True)
        matches = tuple(match.changed(deals=min(pilot, match.deals)) for match in experiment.matches)
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


@arena_app.command("report")
def report_command(
    store: shared.StorePath,
    experiment: Annotated[
        str | None, Option(metavar="NAME", help="Name of an experiment in the store; default: the last one.")
    ] = None,
    everything: Annotated[bool, Option("--all", help="Show all matches of the store, of any experiment.")] = False,
    intervals: Annotated[str, Option(metavar="bootstrap|student", help="How to compute intervals.")] = "bootstrap",
    ratings: Annotated[
        str | None, Option(metavar="results|places", help="What ratings are based on; default: the experiment's.")
    ] = None,
    json: Json = None,
    csv: Csv = None,
    html: Html = None,
) -> None:
    """Print the board of a store, or write it as files or as a site. Also works on stores of `cardenvs match`.

    Examples:

    - `cardenvs arena report small_poker.db`
    - `cardenvs arena report small_poker.db --html leaderboard --csv games.csv`
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


@arena_app.command("list")
def list_command(store: shared.StorePath) -> None:
    """List the experiments and matches of a store.

    Example: `cardenvs arena list small_poker.db`
    """
    from cardenvs.arena.results.board import title_of
    from cardenvs.arena.store import Store

    console = shared.new_console()
    with Store(store, read_only=True) as opened:
        for experiment in opened.experiments():
            name = shared.escaped(experiment.name)
            console.print(f"[bold]{name}[/bold], an experiment of {len(experiment.matches)} matches")
        table = shared.new_table("match", "game", "agents", "games", right=3)
        for match_id in opened.match_ids():
            match = opened.match(match_id)
            table.add_row(
                match_id,
                shared.escaped(title_of(match)),
                shared.escaped(", ".join(match.names)),
                str(opened.count(match_id)),
            )
        console.print(table)
        console.print(f"[dim]digest {opened.digest()} (times aside)[/dim]")


@arena_app.command("replay")
def replay_command(
    store: shared.StorePath,
    match: Annotated[str, Argument(metavar="MATCH", help="Id of a match, or its first characters.")],
    deal: Annotated[int, Argument(min=0, max=shared.MAX_COUNT, help="Number of the deal.")],
    lineup: Annotated[int, Argument(min=0, max=shared.MAX_COUNT, help="Number of the lineup.")],
    out: Annotated[Path, Option(metavar="FILE", help="Where to write the replay.")],
) -> None:
    """Write a game of a store as a replay, for `cardenvs replay`.

    Example: `cardenvs arena replay small_poker.db 3f2a 17 0 --out game.json`
    """
    from cardenvs.arena.store import Store
    from cardenvs.arena.verify import replay_of

    outputs = Outputs({"--out": out}, used={"STORE": store})
    with Store(store, read_only=True) as opened:
        found = _match_id(opened, match)
        replay = replay_of(opened.match(found), opened.game(found, deal, lineup))
    outputs.write("replay", out, replay.save)
    outputs.close()


@arena_app.command("adjust")
def adjust_command(
    store: shared.StorePath,
    match: Annotated[
        str | None, Argument(metavar="[MATCH]", help="Id of a match, or its first characters; default: the last one.")
    ] = None,
    method: Annotated[str, Option(metavar="auto|chance|aivat", help="What to correct.")] = "auto",
    value: Annotated[
        str,
        Option("--value", metavar="VALUE", help="auto, worth, agents, playouts:POLICY, or a network as zoo:GAME/NAME."),
    ] = "auto",
    hands: Annotated[int, Option(min=1, max=10_000, help="aivat: hands that a player might hold.")] = 24,
    deals: Annotated[
        int | None, Option(min=2, max=shared.MAX_COUNT, help="Only the first deals; default: all.")
    ] = None,
    seed: Annotated[int, Option(min=0, max=shared.MAX_SEED, help="Seed of what the correction draws.")] = 0,
    json: Annotated[Path | None, Option(metavar="FILE", help="Write the result as JSON.")] = None,
) -> None:
    """Correct a stored match for luck, without bias, and print both intervals.

    The store is only read. Plain results need as many deals as the last column says for intervals as narrow.

    Examples:

    - `cardenvs arena adjust holdem.db`
    - `cardenvs arena adjust gin.db 438a --value agents`
    """
    from cardenvs.arena.luck.adjust import Adjuster, adjust
    from cardenvs.arena.output.adjusted import adjustment_document, print_adjustment
    from cardenvs.arena.store import Store
    from cardenvs.core.files import write_json

    outputs = Outputs({"--json": json}, used={"STORE": store})
    with Store(store, read_only=True) as opened:
        found = opened.match(_match_id(opened, match or ""))
        compile_for(found.game, found.options, found.specs)
        chosen = found if deals is None else dataclasses.replace(found, deals=min(deals, found.deals))
        adjuster = Adjuster(chosen, method, value, hands, seed)
        with ProgressBar("correcting", unit="games", total=chosen.num_games) as bar:
            result = adjust(adjuster, opened.records(found.id), bar.show)
    print_adjustment(result, shared.new_console())
    outputs.write("JSON", json, lambda path: write_json(path, adjustment_document(result)))
    outputs.close()


def _match_id(store: "Store", begins: str) -> str:
    """Return the id of the match that begins with a text; the last match for an empty one."""
    ids = [match_id for match_id in store.match_ids() if match_id.startswith(begins)]
    if not ids or (begins and len(ids) > 1):
        what = f"{len(ids)} matches that begin with {begins!r}" if begins else "no match"
        raise ArenaError(f"{store.path} has {what}; see `cardenvs arena list {store.path}`")
    return ids[-1]


@arena_app.command("schema")
def schema_command(json: Annotated[bool, Option("--json", help="Print a JSON schema, for editors.")] = False) -> None:
    """List all settings of an experiment file.

    Example: `cardenvs arena schema`
    """
    from cardenvs.arena.experiment import ExperimentFile, settings

    if json:
        import json as json_module

        typer.echo(json_module.dumps(ExperimentFile.model_json_schema(), indent=1))
        return
    table = shared.new_table("setting", "takes", "default", "", key=True)
    for row in settings():
        table.add_row(*map(shared.escaped, row))
    shared.new_console().print(table)
