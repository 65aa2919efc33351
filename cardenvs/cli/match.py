"""`cardenvs match`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from cardenvs.cli.compiling import compile_for
from cardenvs.cli.exit_codes import EXIT_FAILED
from cardenvs.cli.files import Outputs
from cardenvs.cli.options import read_options
from cardenvs.cli.progress import ProgressBar
from cardenvs.cli.shared import (
    MAX_COUNT,
    BatchSize,
    GameName,
    GamesStore,
    OptionTexts,
    Processes,
    new_console,
    stopped_early,
)
from cardenvs.core.errors import ArenaError
from cardenvs.core.registry import get_game

if TYPE_CHECKING:
    from cardenvs.agents.guarded.limits import AgentLimits
    from cardenvs.arena.luck.adjust import Adjustment
    from cardenvs.arena.match import Match
    from cardenvs.arena.results.statistics import Summary
    from cardenvs.arena.results.sums import GameSums


def match(
    game: GameName,
    agents: Annotated[str, Option(metavar="A,B,...", help="Agents to compare; see the examples.")],
    deals: Annotated[int, Option(min=1, max=MAX_COUNT, help="Duplicate deals.")] = 1000,
    seed: Annotated[
        str | None, Option("--seed", metavar="SEED", help="A number, or the seed that a match printed; default: drawn.")
    ] = None,
    processes: Processes = 1,
    option: OptionTexts = None,
    store: GamesStore = None,
    field: Annotated[
        bool, Option("--field", help="Only the first agent meets the others, who do not meet one another.")
    ] = False,
    resume: Annotated[bool, Option("--resume", help="Play the rest of a match that the store has games of.")] = False,
    json: Annotated[Path | None, Option(metavar="FILE", help="Write the result as JSON.")] = None,
    html: Annotated[Path | None, Option(metavar="FILE", help="Write the result as one HTML page.")] = None,
    batch: BatchSize = 64,
    on_failure: Annotated[
        str, Option(metavar="stop|forfeit|forced_action", help="What happens when an agent fails.")
    ] = "stop",
    keep_going: Annotated[
        bool,
        Option("--keep-going", help="Record games that fail and play the others; a failed game's deal does not count."),
    ] = False,
    statistics: Annotated[
        bool, Option("--statistics", help="Record the games' own figures and coverage, and print their sums.")
    ] = False,
    adjust: Annotated[
        bool, Option("--adjust", help="Also print results corrected for luck; see `cardenvs arena adjust`.")
    ] = False,
    keep_env: Annotated[
        list[str] | None,
        Option("--keep-env", metavar="NAME", help="Pass a variable to agents in processes. May be repeated."),
    ] = None,
) -> None:
    """Compare agents on duplicate deals and print a leaderboard with intervals.

    Every deal is played in every seating (with more than three players: every rotation) with the same cards. The result
    depends only on the seed, not on the number of processes. Without --seed, a seed is drawn and printed at the end.
    With --keep-going, failed games are listed at the end, and the exit code is 1.

    Agents: random, heuristic (where the game has it), search, search:simulations=1000,playout=random, ppo:PATH,
    tabular:PATH, python:MODULE:NAME.

    After Ctrl-C, add --resume to a command with --store to play the rest.

    Examples:

    - `cardenvs match leduc_poker_v0 --agents random,search --deals 500`
    - `cardenvs match durak_v0 --agents ppo:runs/durak/latest.pt,heuristic,zoo:durak_v0/ppo --field`
    - `cardenvs match gin_rummy_v0 --agents ppo:runs/gin/latest.pt,heuristic,random -p 2 --store gin.db --html gin.html`
    """
    from cardenvs.agents.specs import split_specs
    from cardenvs.arena.match import Match
    from cardenvs.arena.results.statistics import summarise
    from cardenvs.arena.results.sums import GameSums
    from cardenvs.arena.schedule import FIRST_AGAINST_FIELD, ROUND_ROBIN
    from cardenvs.arena.store import Store

    outputs = Outputs({"--json": json, "--html": html}, used={"--store": store})
    if html is not None:
        from cardenvs.arena.output.page import check_page_extra

        check_page_extra()
    if resume and store is None:
        raise ArenaError("--resume needs the --store of the games to resume")
    found = get_game(game)
    guard = _guard(on_failure, keep_env or ())
    options = read_options(found, option)
    schedule, specs = FIRST_AGAINST_FIELD if field else ROUND_ROBIN, split_specs(agents)
    if field and len(specs) == 1:
        raise ArenaError("--field needs other agents after the first, as in --agents search,heuristic,random")
    wanted = Match.make(found, options, specs, deals, seed, schedule=schedule, guard=guard)
    with Store(store) as opened:
        wanted = opened.seeded(wanted, resume)
        compile_for(found, options, wanted.specs)
        how = {"resume": resume, "processes": processes, "batch": batch, "keep_going": keep_going}
        interrupted = _run_with_progress(wanted, opened, {**how, "statistics": statistics})
        summary = summarise(wanted, opened.records(wanted.id))
        sums = GameSums.of(wanted, opened.records(wanted.id)) if statistics or guard else None
        failed = opened.failed(wanted.id)
        adjusted = _adjusted(wanted, opened) if adjust and not interrupted else None
    _report(summary, sums, adjusted, failed, outputs, json, html)
    if interrupted:
        raise stopped_early(store)
    outputs.close()
    if failed:
        raise typer.Exit(EXIT_FAILED)


def _guard(on_failure: str, keep_env: Sequence[str]) -> "AgentLimits | None":
    unknown = [name for name in keep_env if name not in os.environ]
    if unknown:
        raise ArenaError(f"--keep-env {unknown[0]}: no such environment variable is set")
    if on_failure == "stop":
        if keep_env:
            raise ArenaError("--keep-env needs --on-failure forfeit or forced_action")
        return None
    from cardenvs.agents.guarded.limits import ON_FAILURE, AgentLimits

    if on_failure not in ON_FAILURE:
        raise ArenaError(f"--on-failure is stop, {' or '.join(ON_FAILURE)}; got {on_failure!r}")
    return AgentLimits(on_failure=on_failure, keep_env=tuple(keep_env))


def _run_with_progress(match: "Match", store: Any, how: dict[str, Any]) -> bool:
    """Play the match under a progress bar. Returns whether it was interrupted."""
    from cardenvs.arena.run import run

    with ProgressBar(match.game.title, unit="games", total=match.num_games) as bar:
        try:
            run([match], store, progress=bar.show, **how)
        except KeyboardInterrupt:
            return True
    return False


def _adjusted(match: "Match", store: Any) -> "Adjustment":
    """Correct the games of a store for luck, under a progress bar."""
    from cardenvs.arena.luck.adjust import Adjuster, adjust

    with ProgressBar("correcting", unit="games", total=match.num_games) as bar:
        return adjust(Adjuster(match), store.records(match.id), bar.show)


def _report(
    summary: "Summary",
    sums: "GameSums | None",
    adjusted: "Adjustment | None",
    failed: list[tuple[str, int, int, str]],
    outputs: Outputs,
    json: Path | None,
    html: Path | None,
) -> None:
    from cardenvs.arena.output.files import write_summary_json
    from cardenvs.arena.output.page import write_page
    from cardenvs.arena.output.sums import (
        failures_json,
        print_failed_tries,
        print_failures,
        print_statistics,
    )
    from cardenvs.arena.output.terminal import print_summary
    from cardenvs.arena.results.document import summary_document

    console = new_console()
    document = summary_document(summary)
    print_summary(document, console)
    more: dict[str, Any] = {}
    if sums is not None:
        more["statistics"] = sums.as_dict()
        print_statistics(more["statistics"], console)
        print_failed_tries(more["statistics"], {}, console)
    if adjusted is not None:
        from cardenvs.arena.output.adjusted import adjustment_document, print_adjustment

        more["adjusted"] = adjustment_document(adjusted)
        print_adjustment(adjusted, console)
    if failed:
        print_failures([error for *_, error in failed], summary.games + summary.unfinished, console)
        more["failures"] = failures_json(failed)
    outputs.write("JSON", json, lambda path: write_summary_json(document, path, more))
    if summary.deals:
        outputs.write("page", html, lambda path: write_page(document, path))
