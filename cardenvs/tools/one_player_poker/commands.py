"""One-player poker: seeds and targets for the server's tiers of difficulty, scores of agents."""

import re
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from cardenvs.cli.progress import ProgressBar
from cardenvs.cli.shared import escaped, new_console, new_table
from cardenvs.core.errors import OptionError, require

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", pretty_exceptions_enable=False)


@app.callback()
def _group() -> None:
    """One-player poker."""


@app.command()
def calibrate(
    seeds: Annotated[str, Option(metavar="FIRST:END", help="Seeds to look at, END excluded.")],
    run_id: Annotated[str, Option(metavar="NAME", help="Name of the run and of its folder.")],
    out: Annotated[Path, Option(metavar="FOLDER", help="Where runs are kept.")] = Path("artifacts/pipeline"),
    pool: Annotated[
        int, Option(min=1, max=100_000, help="Seeds in each pool: a tier's practice, its challenge.")
    ] = 200,
    gate: Annotated[
        str, Option(metavar="POLICY", help="Policy that must pass a challenge: planner or heuristic.")
    ] = "planner",
    deck_key: Annotated[
        Path | None, Option(metavar="FILE", help="Secret of the server's decks; see `cardenvs serve --help`.")
    ] = None,
    workers: Annotated[int | None, Option(min=1, max=256, help="Processes. [default: one per core]")] = None,
) -> None:
    """Sort seeds into tiers of difficulty, set their targets, and fill the pools of the server.

    Repeat the command to resume a run that was stopped.

    Examples:

    - `cardenvs poker calibrate --seeds 0:100000 --run-id spring`
    - `cardenvs poker calibrate --seeds 0:20000 --run-id prizes --pool 500 --deck-key key.txt`
    """
    require("matplotlib", "report")
    require("pydantic", "server")
    from cardenvs.tools.one_player_poker.api.pools import read_key
    from cardenvs.tools.one_player_poker.calibration.pipeline import POLICIES, Parameters, Pipeline
    from cardenvs.tools.one_player_poker.calibration.report import write_report

    first, end = _range(seeds)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", run_id):
        raise OptionError("--run-id has up to 64 letters, digits, dots, dashes and underlines, such as spring-2")
    if gate not in POLICIES:
        raise OptionError(f"--gate is one of {', '.join(POLICIES)}; got {gate}")
    parameters = Parameters(first, end, pool, gate, run_id)
    pipeline = Pipeline(out / run_id, parameters, read_key(deck_key) if deck_key else b"", workers)
    with ProgressBar("") as bar:
        summary = pipeline.run(lambda done, total, title: bar.show(done, total, title=title, unit="seeds"))
    write_report(pipeline.folder, summary)
    table = new_table("tier", "seeds", "target", "heuristic", f"{gate} passes", "practice", "challenge")
    for name, tier in summary["tiers"].items():
        table.add_row(
            name, f"{tier['seeds']:,}", f"{tier['target_score']:,}", f"{tier['heuristic']['mean']:,.0f}",
            f"{100 * tier['pass_rates']['gate']:.0f}%", str(tier["pools"]["practice"]), str(tier["pools"]["challenge"]),
        )  # fmt: skip
    new_console().print(table)
    typer.echo(f"{pipeline.folder}: seed_manifest.json for the server, report.html to look at")


@app.command()
def scores(
    store: Annotated[Path, Argument(metavar="STORE", help="SQLite file of a match, from `cardenvs match --store`.")],
) -> None:
    """Show what the agents of a match score: mean, standard deviation, and how often they reach each tier's target.

    Examples:

    - `cardenvs match one_player_poker_v0 --agents planner,heuristic --deals 10000 --seed 0 --store games.db`
    - `cardenvs poker scores games.db`
    """
    require("pydantic", "server")
    from cardenvs.arena.store import Store
    from cardenvs.cli.files import input_file
    from cardenvs.tools.one_player_poker.scores import scores_of

    input_file(store)
    with Store(store, read_only=True) as opened:
        found = scores_of(opened)
    targets = list(found[0].success)
    table = new_table("agent", "deals", "mean", "95% interval", "sd", *(f"at least {target:,}" for target in targets))
    for one in found:
        table.add_row(
            escaped(one.name), f"{one.deals:,}", f"{one.mean:,.1f}", f"± {one.half:.1f}", f"{one.sd:,.1f}",
            *(f"{100 * share:.1f}%" for share in one.success.values()),
        )  # fmt: skip
    new_console().print(table)


def _range(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,16}):(\d{1,16})", text)
    if found is None or int(found[1]) >= int(found[2]):
        raise OptionError(f"--seeds is FIRST:END with FIRST below END, such as 0:100000; got {text[:60]!r}")
    return int(found[1]), int(found[2])
