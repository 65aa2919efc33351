"""The commands of the arena: `cardenvs arena --help`, and `verify`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardenvs.cli_files import Outputs, finite, input_file
from cardenvs.core.errors import ArenaError

if TYPE_CHECKING:
    from rich.console import Console

    from cardenvs.arena.board import Board
    from cardenvs.arena.experiment import Experiment
    from cardenvs.arena.store import Store, StoredExperiment

_EXIT_MISMATCH, _EXIT_INTERRUPTED = 1, 130
_MOST = 10**15
_MOST_PROCESSES, _MOST_BATCH = 1024, 4096

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown",
    help="Experiments: several games, many agents, ratings, a leaderboard site.\n\n"
    "Example: `cardenvs arena run configs/arena/small_poker.yaml --html site`",
)  # fmt: skip
submit_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown",
    help="Submissions to a board.\n\n"
    "Example: `cardenvs submit check my_bundle.zip --board configs/arena/small_poker.yaml`",
)  # fmt: skip


def add_commands(main: typer.Typer) -> None:
    """Add the commands to the command line."""
    main.add_typer(app, name="arena")
    main.add_typer(submit_app, name="submit")
    main.command()(verify)


ExperimentPath = Annotated[Path, typer.Argument(metavar="FILE", callback=input_file, help="An experiment, in YAML.")]
StorePath = Annotated[Path, typer.Argument(metavar="STORE", callback=input_file, help="Finished games.")]
Processes = Annotated[int, typer.Option("--processes", "-p", min=1, max=_MOST_PROCESSES, help="Processes to work in.")]
Json = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the board as JSON.")]
Csv = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the results as CSV, a row a player and game.")]
Html = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Write a leaderboard site.")]


@app.command("run")
def run_command(
    file: ExperimentPath,
    store: Annotated[
        Path | None,
        typer.Option(metavar="STORE", help="SQLite file that keeps the games; default: FILE with .db."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what the store has games of.")] = False,
    processes: Processes = 1,
    backend: Annotated[str, typer.Option(metavar="local|ray", help="Where to play.")] = "local",
    batch: Annotated[
        int, typer.Option(min=1, max=_MOST_BATCH, help="Games side by side for agents that batch or wait.")
    ] = 64,
    json: Json = None,
    csv: Csv = None,
    html: Html = None,
) -> None:
    """Play an experiment and print its board. After Ctrl-C, a kill or the end of its time: the same with --resume.

    The results depend on the file alone, not on the number of processes or on the backend.

    Examples: `cardenvs arena run configs/arena/small_poker.yaml -p 2 --html site`,
    `cardenvs arena run my.yaml --store runs/my.db --resume --backend ray -p 16`
    """
    from cardenvs.arena.experiment import read_experiment
    from cardenvs.arena.store import Store

    if backend not in ("local", "ray"):
        raise ArenaError(f"--backend is local or ray; got {backend!r}")
    path = store or file.with_suffix(".db")
    if path == file:
        raise ArenaError(f"{file} would be its own store; give a --store")
    outputs = _outputs(json, csv, html, {"FILE": file, "--store": path})
    experiment = read_experiment(file)
    with Store(path) as opened:
        experiment = experiment.seeded(opened, resume)
        whole = _run_with_progress(experiment, opened, resume, processes, batch, backend)
        if whole or any(opened.count(match.id) for match in experiment.matches):
            _report(opened, experiment.stored, experiment.intervals, outputs, json, csv, html)
    if whole is None:
        typer.secho(
            f"Stopped before the end: finished games are in {path}; add --resume to go on.", fg="yellow", err=True
        )
        raise typer.Exit(_EXIT_INTERRUPTED)
    if not whole:
        typer.secho(f"Out of time: finished games are in {path}; add --resume to go on.", fg="yellow", err=True)
    outputs.close()


def _run_with_progress(
    experiment: "Experiment", store: "Store", resume: bool, processes: int, batch: int, backend: Any
) -> bool | None:
    """Play under a progress bar. Returns whether all is played; None: interrupted."""
    from rich.progress import MofNCompleteColumn, TextColumn

    with _bar(MofNCompleteColumn(), TextColumn("games"), TextColumn("{task.fields[rate]}")) as bar:
        task = bar.add_task(experiment.name, total=experiment.num_games, rate="")

        def show(done: int, total: int) -> None:
            speed = bar.tasks[task].speed
            bar.update(task, completed=done, total=total, rate="" if speed is None else f"{speed:,.0f}/s")

        try:
            return experiment.run(
                store, resume=resume, processes=processes, batch=batch, backend=backend, progress=show
            )
        except KeyboardInterrupt:
            return None


def _bar(*columns: Any) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    return Progress(
        TextColumn("[bold]{task.description}"), BarColumn(), *columns, TimeElapsedColumn(), TextColumn("left:"),
        TimeRemainingColumn(), console=Console(stderr=True),
    )  # fmt: skip


@app.command("plan")
def plan_command(
    file: ExperimentPath,
    half_width: Annotated[
        float | None,
        typer.Option(
            min=0,
            callback=finite,
            help="Wanted half-width of intervals, in the unit of each game; default: that of FILE's stop.",
        ),
    ] = None,
    of: Annotated[str, typer.Option(metavar="differences|means", help="Whose intervals.")] = "differences",
    pilot: Annotated[int, typer.Option(min=2, max=_MOST, help="Deals to play of each game to judge by.")] = 50,
    store: Annotated[
        Path | None, typer.Option(metavar="STORE", help="Judge by its games, and add those of the pilot to them.")
    ] = None,
    processes: Processes = 1,
) -> None:
    """Tell how many deals an experiment needs for intervals of a wanted width, judging by a pilot.

    Example: `cardenvs arena plan configs/arena/small_poker.yaml --half-width 0.05`
    """
    import dataclasses

    from cardenvs.arena.experiment import read_experiment
    from cardenvs.arena.plan import deals_needed
    from cardenvs.arena.statistics import Tally
    from cardenvs.arena.store import Store
    from cardenvs.arena.terminal import needs_table

    if of not in ("differences", "means"):
        raise ArenaError(f"--of is differences or means; got {of!r}")
    experiment = read_experiment(file)
    wanted = half_width or (experiment.stop and experiment.stop.half_width)
    if not wanted:
        raise ArenaError(f"{file} has no `stop`; say with --half-width how narrow intervals are to be")
    console = _console()
    with Store(store) as opened:
        experiment = experiment.seeded(opened, resume=True)
        matches = tuple(dataclasses.replace(match, deals=min(pilot, match.deals)) for match in experiment.matches)
        short = dataclasses.replace(experiment, matches=matches, stop=None)
        if _run_with_progress(short, opened, True, processes, 64, "local") is None:
            raise typer.Exit(_EXIT_INTERRUPTED)
        for title, match, small in zip(experiment.titles, experiment.matches, matches, strict=True):
            tally = Tally.of(match, opened.results(small.id))
            needs = deals_needed(tally, wanted, of)  # type: ignore[arg-type]
            unit = match.game.returns(match.options).result_unit_label
            most = needs[0].deals
            console.print(f"\n[bold]{title}[/bold], judging by {len(tally.deals)} deals")
            console.print(needs_table(needs, wanted, unit))
            console.print(
                f"{most} deals are {most * len(match.lineups)} games; the experiment plays at most {match.deals} deals."
            )


@app.command("report")
def report_command(
    store: StorePath,
    experiment: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which experiment of the store; default: the last one.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All matches of the store, whatever experiment.")] = False,
    intervals: Annotated[
        str, typer.Option(metavar="bootstrap|student", help="How to work out intervals.")
    ] = "bootstrap",
    ratings: Annotated[
        str | None, typer.Option(metavar="results|places", help="What ratings go by; default: see the experiment.")
    ] = None,
    json: Json = None,
    csv: Csv = None,
    html: Html = None,
) -> None:
    """Print the board of a store, or write it as files or as a site. Works on stores of `cardenvs match`, too.

    Examples: `cardenvs arena report small_poker.db`, `cardenvs arena report small_poker.db --html site --csv games.csv`
    """
    from cardenvs.arena.store import Store

    if intervals not in ("bootstrap", "student"):
        raise ArenaError(f"--intervals is bootstrap or student; got {intervals!r}")
    if ratings not in (None, "results", "places"):
        raise ArenaError(f"--ratings is results or places; got {ratings!r}")
    outputs = _outputs(json, csv, html, {"STORE": store})
    with Store(store, read_only=True) as opened:
        chosen = _chosen(opened, experiment, everything)
        _report(opened, chosen, intervals, outputs, json, csv, html, everything, ratings)
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


def _outputs(json: Path | None, csv: Path | None, html: Path | None, used: dict[str, Path | None]) -> Outputs:
    """Refuse before play what would fail after it."""
    outputs = Outputs({"--json": json, "--csv": csv}, {"--html": html}, used=used)
    if html is not None:
        from cardenvs.arena.site import check_folder

        check_folder(html)
    return outputs


def _report(
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
    from cardenvs.arena.board import board_of
    from cardenvs.arena.export import write_board_json, write_csv
    from cardenvs.arena.ratings import Rule
    from cardenvs.arena.terminal import print_board

    with _bar() as bar:
        task = bar.add_task("summing up", total=None)

        def show(what: str, done: int, total: int) -> None:
            bar.update(task, description=f"summing up: {what}", completed=done, total=total)

        rule = None if ratings is None else Rule(ratings)
        board = board_of(store, experiment, everything=everything, intervals=intervals, rule=rule, progress=show)
        bar.update(task, visible=False)
    print_board(board, _console())
    outputs.write("JSON", json, lambda path: write_board_json(board, path))
    outputs.write("CSV", csv, lambda path: write_csv(store, board, path))
    outputs.write("site", html, lambda folder: _write_site(store, board, folder))


def _write_site(store: "Store", board: "Board", folder: Path) -> Path:
    from cardenvs.arena.site import write_site

    return write_site(store, board, folder)


@app.command("list")
def list_command(store: StorePath) -> None:
    """List the experiments and matches of a store.

    Example: `cardenvs arena list small_poker.db`
    """
    from rich.markup import escape
    from rich.table import Table

    from cardenvs.arena.board import title_of
    from cardenvs.arena.store import Store

    console = _console()
    with Store(store, read_only=True) as opened:
        for experiment in opened.experiments():
            console.print(f"[bold]{escape(experiment.name)}[/bold], an experiment of {len(experiment.matches)} matches")
        table = Table(box=None, header_style="bold", pad_edge=False)
        for column in ("match", "game", "agents", "games"):
            table.add_column(column, overflow="fold")
        for match_id in opened.match_ids():
            match = opened.match(match_id)
            table.add_row(
                match_id, escape(title_of(match)), escape(", ".join(match.names)), str(opened.count(match_id))
            )
        console.print(table)
        console.print(f"[dim]digest {opened.digest()} (times aside)[/dim]")


@app.command("replay")
def replay_command(
    store: StorePath,
    match: Annotated[str, typer.Argument(metavar="MATCH", help="Id of a match, or how it begins.")],
    deal: Annotated[int, typer.Argument(min=0, max=_MOST, help="Number of the deal.")],
    lineup: Annotated[int, typer.Argument(min=0, max=_MOST, help="Number of the lineup.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the replay.")],
) -> None:
    """Write a game of a store as a replay, for `cardenvs replay`.

    Example: `cardenvs arena replay small_poker.db 3f2a 17 0 --out game.json`
    """
    from cardenvs.arena.store import Store
    from cardenvs.arena.verify import replay_of

    outputs = Outputs({"--out": out}, used={"STORE": store})
    with Store(store, read_only=True) as opened:
        ids = [match_id for match_id in opened.match_ids() if match_id.startswith(match)]
        if len(ids) != 1:
            raise ArenaError(
                f"{store} has {len(ids)} matches that begin with {match!r}; see `cardenvs arena list {store}`"
            )
        replay = replay_of(opened.match(ids[0]), opened.game(ids[0], deal, lineup))
    outputs.write("replay", out, replay.save)
    outputs.close()


@app.command("schema")
def schema_command(
    json: Annotated[bool, typer.Option("--json", help="Print a JSON schema, for editors.")] = False,
) -> None:
    """List all settings of an experiment's file.

    Example: `cardenvs arena schema`
    """
    from cardenvs.arena.experiment import ExperimentFile, settings

    if json:
        import json as json_module

        typer.echo(json_module.dumps(ExperimentFile.model_json_schema(), indent=1))
        return
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for number, column in enumerate(("setting", "takes", "default", "")):
        table.add_column(column, style="cyan" if number == 0 else "", overflow="fold")
    for row in settings():
        table.add_row(*map(escape, row))
    _console().print(table)


def verify(
    store: StorePath,
    sample: Annotated[
        int | None, typer.Option(min=1, max=_MOST, help="Play so many games again; default: all.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Of the sample.")] = 0,
    processes: Processes = 1,
) -> None:
    """Play the games of a store again and compare seats, seeds, actions, events and returns.

    Each game that differs is named, and the exit code is 1.

    Examples: `cardenvs verify small_poker.db`, `cardenvs verify gin.db --sample 500 -p 2`
    """
    from rich.progress import MofNCompleteColumn, TextColumn

    from cardenvs.arena.store import Store
    from cardenvs.arena.verify import verify as verify_store

    with Store(store, read_only=True) as opened:
        with _bar(MofNCompleteColumn(), TextColumn("games")) as bar:
            task = bar.add_task("playing again", total=None)
            done, mismatches = verify_store(
                opened, sample=sample, seed=seed, processes=processes,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )  # fmt: skip
        digest = opened.digest()
    for mismatch in mismatches:
        typer.secho(str(mismatch), fg="red")
    if mismatches:
        wrong = "1 row is" if len(mismatches) == 1 else f"{len(mismatches)} rows are"
        typer.secho(f"{done} games played again; {wrong} not what should be there", fg="red")
        raise typer.Exit(_EXIT_MISMATCH)
    typer.echo(f"{done} games played again; all are what is recorded. The store's digest is {digest[:16]}")


def _console() -> "Console":
    from rich.console import Console

    return Console(highlight=False)


@submit_app.callback()
def _submit() -> None:
    pass  # a group although it has one command: there may be more


@submit_app.command("check")
def submit_check(
    bundle: Annotated[
        str, typer.Argument(metavar="BUNDLE", help="An agent's spec, or a folder or zip file; see below.")
    ],
    board: Annotated[
        Path, typer.Option(metavar="FILE", callback=input_file, help="The board: an experiment with anchors.")
    ],
    name: Annotated[str | None, typer.Option(help="What to call the agent; default: what the bundle says.")] = None,
    deals: Annotated[
        int | None, typer.Option(min=1, max=_MOST, help="Deals of each game; default: those of the board.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(metavar="STORE", help="Keep the games, and go on where a check stopped.")
    ] = None,
    processes: Processes = 1,
    sandbox: Annotated[
        str, typer.Option(metavar="auto|require|none", help="A sandbox for the code of a bundle; see `docs/arena.md`.")
    ] = "auto",
    json: Json = None,
) -> None:
    """Play a submission against the anchors of a board, or play its replays again, and rate it.

    A bundle has a `submission.yaml` with the `name` and the `agent` (`python:MODULE:FACTORY` with MODULE in the bundle,
    `process:COMMAND` with {bundle} for its folder, `ppo:FILE`, `search` or a policy), or replays (*.json) of all games
    against the anchors. Its code runs in a process of its own, in a sandbox where the system has one. The exit code is
    1 if anything speaks against the submission.

    Examples: `cardenvs submit check python:my_bot:make --board configs/arena/small_poker.yaml --deals 100`,
    `cardenvs submit check my_bundle.zip --board configs/arena/small_poker.yaml --json result.json`
    """
    import dataclasses

    from cardenvs.agents.sandbox import chosen
    from cardenvs.arena.bundle import opened_bundle
    from cardenvs.arena.experiment import read_experiment
    from cardenvs.arena.export import write_board_json
    from cardenvs.arena.store import Store
    from cardenvs.arena.submit import check_submission
    from cardenvs.arena.terminal import print_board
    from cardenvs.core.text import printable

    chosen(sandbox)
    outputs = _outputs(json, None, None, {"BUNDLE": Path(bundle), "--board": board, "--store": store})
    experiment = read_experiment(board)
    if deals is not None:
        shorter = tuple(dataclasses.replace(m, deals=min(deals, m.deals)) for m in experiment.matches)
        experiment = dataclasses.replace(experiment, matches=shorter)
    with opened_bundle(bundle, name) as opened, Store(store) as kept, _bar() as bar:
        task = bar.add_task("checking", total=None)
        checked = check_submission(
            opened, experiment, store=kept, processes=processes, sandbox=sandbox,
            progress=lambda what, done, total: bar.update(task, description=what, completed=done, total=total),
        )  # fmt: skip
    print_board(checked.board, _console())
    outputs.write("JSON", json, lambda path: write_board_json(checked.board, path))
    for remark in checked.remarks:
        typer.secho(printable(remark), fg="yellow")
    for fault in checked.faults:
        typer.secho(printable(fault), fg="red")
    if checked.faults:
        typer.secho(f"{checked.name}: {len(checked.faults)} faults", fg="red")
        raise typer.Exit(_EXIT_MISMATCH)
    typer.secho(f"{checked.name}: no faults", fg="green")
    outputs.close()
