"""Texas hold'em: play recorded matches, show timelines, convert hands from and to PHH."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from cardenvs.cli.compiling import compile_for
from cardenvs.cli.exit_codes import EXIT_FAILED, EXIT_INTERRUPTED
from cardenvs.cli.files import Outputs, input_file
from cardenvs.cli.options import read_options
from cardenvs.cli.progress import ProgressBar
from cardenvs.cli.shared import MAX_SEED, OptionTexts, escaped, new_console, new_table, step_through, stopped_by_sigterm
from cardenvs.core.errors import ArenaError, FormatError
from cardenvs.core.files import write_whole

if TYPE_CHECKING:
    from rich.console import Console

    from cardenvs.games.texas_holdem.play import TexasHoldemState
    from cardenvs.tools.texas_holdem.records import MatchResult
    from cardenvs.tools.texas_holdem.timeline import Timeline

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", pretty_exceptions_enable=False)

Source = Annotated[
    Path, Argument(metavar="FILE", exists=True, help="Folder of a match, timeline (.jsonl) or replay (.json).")
]


@app.command()
def play_match(
    agents: Annotated[str, Option(metavar="A,B,...", help="One agent per seat; see `cardenvs match --help`.")],
    out: Annotated[Path, Option(metavar="FOLDER", help="New folder for the records.")],
    seed: Annotated[
        int | None, Option(min=0, max=MAX_SEED, help="Seed of cards and agents; random by default.")
    ] = None,
    option: OptionTexts = None,
    resume: Annotated[bool, Option("--resume", help="Resume the stopped or failed match in FOLDER.")] = False,
    on_failure: Annotated[
        str,
        Option(
            metavar="forced_action|forfeit|stop",
            help="What follows a failed decision: check or fold, leave the match, or fail the match.",
        ),
    ] = "forced_action",
    failure_limit: Annotated[
        int, Option(min=1, help="Failed decisions in a row of one agent that fail the match.")
    ] = 10,
    hand_limit: Annotated[int, Option(min=1, help="Hands after which an unfinished tournament fails.")] = 1000,
) -> None:
    """Play one match and write its records: standings, timeline, decisions, figures, replay.

    The folder is kept up to date while the match runs. Resume a match that stopped or failed with --resume and the
    same agents and options; models are not asked again for what they have answered.

    Examples:

    - `cardenvs texas_holdem play-match --agents random,random,search --out match`
    - `cardenvs texas_holdem play-match --agents random,random -o format=cash -o num_hands=50 --seed 7 --out cash`
    - `cardenvs texas_holdem play-match --agents llm:mini,llm:maxi,search --out llms --resume`
    """
    from cardenvs.agents.specs import split_specs
    from cardenvs.games.texas_holdem import GAME
    from cardenvs.tools.texas_holdem import records

    specs = split_specs(agents)
    options = read_options(GAME, option, default_players=len(specs))
    limits = records.MatchLimits(on_failure, failure_limit, hand_limit)
    Outputs({}, {} if resume else {"--out": out})
    compile_for(GAME, options, specs)
    try:
        with ProgressBar("") as bar, stopped_by_sigterm():
            result = records.play_match(
                specs, seed=seed, out=out, resume=resume, limits=limits,
                progress=lambda state: _show_progress(bar, state), **options.as_dict(),
            )  # fmt: skip
    except records.MatchFailedError as error:
        typer.secho(f"Error: {error}", fg="red", err=True)
        raise typer.Exit(EXIT_FAILED) from None
    except KeyboardInterrupt:
        typer.secho(f"Stopped; all that was played is in {out}. Add --resume to continue.", fg="yellow", err=True)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    _print_result(new_console(), result)
    typer.echo(f"records: {out}")


def _show_progress(bar: ProgressBar, state: "TexasHoldemState") -> None:
    """Show the number of hands played, or of players out if the number of hands is open."""
    s, options = state.record, state.options
    by_hands = options.format == "cash" or options.max_hands is not None
    bar.show(
        int(s.hand_number) - (not state.is_terminal) if by_hands else state.num_players - int(s.live).bit_count(),
        options.most_hands() if by_hands else state.num_players - 1,
        title=f"hand {s.hand_number}, blinds {s.small_blind}/{s.big_blind}",
        unit="hands" if by_hands else "players out",
    )


def _print_result(console: "Console", result: "MatchResult") -> None:
    table = new_table("place", "player", "chips", "return", "VPIP", "PFR", "AF", "WTSD", "W$SD")
    for row in result.standings:
        table.add_row(
            str(row["place"]), escaped(row["name"]), str(row["chips"]), f"{row['return']:+g}",
            *_figures(result.aggregates[row["name"]]),
        )  # fmt: skip
    console.print(f"[bold]{int(result.state.record.hand_number)} hands, {len(result.state.actions)} actions[/bold]")
    console.print(table)


def _figures(figures: dict[str, Any]) -> list[str]:
    """Return VPIP, PFR, aggression factor, WTSD and W$SD as texts."""
    factor = figures["aggression_factor"]
    shares = [figures[name] for name in ("vpip", "pfr", "wtsd", "wsd")]
    texts = ["-" if share is None else f"{100 * share:.0f}%" for share in shares]
    return [*texts[:2], "-" if factor is None else f"{factor:.2f}", *texts[2:]]


@app.command()
def stats(
    files: Annotated[
        list[Path], Argument(metavar="FILE...", exists=True, help="Folders of matches, timelines or replays.")
    ],
    json: Annotated[Path | None, Option(metavar="FILE", help="Write all figures as JSON.")] = None,
) -> None:
    """Show statistics of players over one or more matches: VPIP, PFR, aggression, showdowns, chips by position.

    Examples:

    - `cardenvs texas_holdem stats match`
    - `cardenvs texas_holdem stats matches/* --json figures.json`
    """
    import json as as_json

    from cardenvs.tools.texas_holdem.aggregates import aggregate

    outputs = Outputs({"--json": json}, used={"FILE": files[0]})
    by_name = aggregate([_timeline(path) for path in files])
    table = new_table("player", "hands", "VPIP", "PFR", "AF", "WTSD", "W$SD", "chips", "BB/100", "by position")
    for name, figures in by_name.items():
        per_100 = figures["big_blinds_per_100"]
        positions = (f"{where} {tally['chips']:+}" for where, tally in figures["by_position"].items())
        table.add_row(
            escaped(name), str(figures["hands"]), *_figures(figures), f"{figures['chips']:+}",
            "-" if per_100 is None else f"{per_100:+.1f}", "  ".join(positions),
        )  # fmt: skip
    new_console().print(table)
    text = as_json.dumps(by_name, indent=1, ensure_ascii=False) + "\n"
    outputs.write("JSON", json, lambda path: write_whole(path, text))
    outputs.close()


# -- timelines ----------------------------------------------------------------------------------------------------


@app.command()
def show(
    file: Source,
    player: Annotated[int | None, Option(min=0, help="Show what this player saw; by default everything.")] = None,
    public: Annotated[bool, Option("--public", help="Show what everybody saw.")] = False,
    hand: Annotated[int | None, Option(min=1, help="Only show this hand.")] = None,
    at: Annotated[int | None, Option(metavar="I", help="Only show the table before entry I.")] = None,
    step: Annotated[bool, Option("--step", help="Step through the entries with the keyboard.")] = False,
    verify: Annotated[bool, Option("--verify", help="Only replay the match and compare.")] = False,
) -> None:
    """Show a timeline, or the table at one moment, as one viewer saw it.

    Examples:

    - `cardenvs texas_holdem show match --hand 3`
    - `cardenvs texas_holdem show match --player 0 --step`
    - `cardenvs texas_holdem show match/timeline.jsonl --public --at 120`
    """
    from cardenvs.core.events import OMNISCIENT, SPECTATOR

    timeline = _timeline(file)
    if verify:
        timeline.verify()
        typer.echo(f"{file}: {len(timeline)} entries, {len(timeline.actions)} actions; the replay is identical")
        return
    if player is not None and (public or player >= len(timeline.players)):
        raise ArenaError(f"--player takes a seat from 0 to {len(timeline.players) - 1}, without --public")
    viewer = player if player is not None else SPECTATOR if public else OMNISCIENT
    console = new_console()
    if at is not None:
        if not 0 <= at <= len(timeline):
            raise ArenaError(f"--at {at} is out of range: {file} has entries 0 to {len(timeline)}")
        _print_table(console, timeline, at, viewer)
    elif step:
        _step_through(console, timeline, viewer)
    else:
        _print_entries(console, timeline, viewer, hand)


def _print_entries(console: "Console", timeline: "Timeline", viewer: int, hand: int | None) -> None:
    chosen = [entry for entry in timeline.entries if hand in (None, entry.hand)]
    if not chosen:
        raise ArenaError(f"--hand {hand} is out of range: this match has {timeline.entries[-1].hand} hands")
    for entry in chosen:
        console.print(f"[dim]{entry.index:>6}[/dim] {escaped(timeline.sentence(entry.index, viewer))}")
    _print_table(console, timeline, chosen[-1].index + 1, viewer)


def _print_table(console: "Console", timeline: "Timeline", i: int, viewer: int) -> None:
    """Print the table before entry `i`."""
    view = timeline.view(i, viewer)["table"]
    piles, counters = view["piles"], view["counters"]
    table = new_table("", "player", "cards", "stack", "bet", "")
    for p, name in enumerate(timeline.players):
        notes = [word for word in ("folded", "out") if counters[word][p]]
        table.add_row(
            "D" if counters["button"] == p else "", f"{p} {escaped(name)}", " ".join(piles["hand"][p]),
            str(counters["stack"][p]), str(counters["bet"][p] or ""), ", ".join(notes),
        )  # fmt: skip
    console.print(
        f"[bold]before entry {i} of {len(timeline)}: hand {counters['hand_number']}[/bold], "
        f"blinds {counters['small_blind']}/{counters['big_blind']}, board {' '.join(piles['board']) or '-'}, "
        f"pot {counters['pot']}"
    )
    console.print(table)


def _step_through(console: "Console", timeline: "Timeline", viewer: int) -> None:
    def show(i: int) -> None:
        _print_table(console, timeline, i, viewer)
        if i:
            console.print(f"[dim]{escaped(timeline.sentence(i - 1, viewer))}[/dim]")

    step_through(show, len(timeline))


# -- PHH ----------------------------------------------------------------------------------------------------------


@app.command()
def export_phh(
    file: Source,
    out: Annotated[Path, Option(metavar="FILE", help="File to write: .phh for one hand, .phhs for all hands.")],
    hand: Annotated[int | None, Option(min=1, help="Only write this hand.")] = None,
) -> None:
    """Write hands in PHH, the open hand-history format that PokerKit reads.

    Examples:

    - `cardenvs texas_holdem export-phh match --out match.phhs`
    - `cardenvs texas_holdem export-phh match --hand 3 --out hand3.phh`
    """
    from cardenvs.tools.texas_holdem import phh

    outputs = Outputs({"--out": out}, used={"FILE": file})
    timeline = _timeline(file)
    one = hand is not None or out.suffix != ".phhs"
    text = phh.dumps(timeline, hand) if one else phh.dumps_all(timeline)
    outputs.write("one hand" if one else "all hands", out, lambda path: write_whole(path, text))
    outputs.close()


@app.command()
def replay_phh(
    file: Annotated[Path, Argument(metavar="FILE", callback=input_file, help="A .phh or .phhs file.")],
    quiet: Annotated[bool, Option("--quiet", help="Only print the stacks.")] = False,
    chips_per_unit: Annotated[int, Option(min=1, help="Chips per unit in the file, such as 100 for cents.")] = 1,
) -> None:
    """Play the hands of a PHH file by the rules of this game; fail if one ends differently from its record.

    Examples:

    - `cardenvs texas_holdem replay-phh hand3.phh`
    - `cardenvs texas_holdem replay-phh match.phhs --quiet`
    """
    from cardenvs.core.events import OMNISCIENT
    from cardenvs.tools.texas_holdem import phh

    try:
        text = file.read_text(encoding="utf-8")
        several = file.suffix == ".phhs"
        states = phh.loads_all(text, chips_per_unit) if several else [phh.loads(text, chips_per_unit)]
    except (UnicodeDecodeError, FormatError) as error:
        raise FormatError(f"{file}: {error}") from None
    console = new_console()
    for number, state in enumerate(states, 1):
        if not quiet:
            for sentence in state.recap(OMNISCIENT):
                console.print(escaped(sentence))
        console.print(f"[bold]hand {number}[/bold]: stacks {escaped(str(state.stacks))}")


# -- helpers ------------------------------------------------------------------------------------------------------


def _timeline(path: Path) -> "Timeline":
    from cardenvs.core.replay import Replay
    from cardenvs.tools.texas_holdem.timeline import Timeline, timeline_of

    if path.is_dir():
        path /= "timeline.jsonl"
        if not path.is_file():
            raise ArenaError(f"{path.parent} is not the folder of a match: it has no {path.name}")
    input_file(path)
    if path.suffix == ".jsonl":
        return Timeline.load(path)
    return timeline_of(Replay.load(path))
