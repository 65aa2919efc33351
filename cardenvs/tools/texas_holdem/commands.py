"""Texas hold'em: play recorded matches, show timelines, convert hands from and to PHH."""

from dataclasses import dataclass
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
from cardenvs.core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from cardenvs.games.texas_holdem.play import TexasHoldemState
    from cardenvs.tools.texas_holdem.phh import HandRecord
    from cardenvs.tools.texas_holdem.recorded import RecordedHand
    from cardenvs.tools.texas_holdem.records import MatchResult
    from cardenvs.tools.texas_holdem.timeline import Timeline

_PHH = (".phh", ".phhs")
_MOST_SHOWN = 20  # notes or errors of a file
_MOST_DEALS = 10**6
_MOST_LISTED = 10  # numbers of hands in an error

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", pretty_exceptions_enable=False)

Strict = Annotated[bool, Option("--strict", help="Refuse what is otherwise read with a note.")]
Source = Annotated[
    Path, Argument(metavar="FILE", exists=True, help="Folder of a match, timeline (.jsonl), replay (.json) or PHH.")
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
        list[Path], Argument(metavar="FILE...", exists=True, help="Folders of matches, timelines, replays or PHH.")
    ],
    json: Annotated[Path | None, Option(metavar="FILE", help="Write all figures as JSON.")] = None,
) -> None:
    """Show statistics of players over one or more matches: VPIP, PFR, aggression, showdowns, chips by position.

    Examples:

    - `cardenvs texas_holdem stats match`
    - `cardenvs texas_holdem stats matches/* --json figures.json`
    - `cardenvs texas_holdem stats site.phhs`
    """
    import json as as_json

    from cardenvs.tools.texas_holdem.aggregates import aggregate

    outputs = Outputs({"--json": json}, used={f"FILE {file}": file for file in files})
    timelines = [timeline for path in files for timeline in _timelines(path)]
    by_name = aggregate(timelines)
    table = new_table("player", "hands", "VPIP", "PFR", "AF", "WTSD", "W$SD", "chips", "BB/100", "by position")
    for name, figures in by_name.items():
        per_100 = figures["big_blinds_per_100"]
        positions = (f"{where} {tally['chips']:+}" for where, tally in figures["by_position"].items())
        table.add_row(
            escaped(name), str(figures["hands"]), *_figures(figures), f"{figures['chips']:+}",
            "-" if per_100 is None else f"{per_100:+.1f}", "  ".join(positions),
        )  # fmt: skip
    new_console().print(table)
    for unit in sorted({timeline.words.unit for timeline in timelines if timeline.words} - {1}):
        typer.echo(f"note: files with decimals count chips of 1/{unit} of their unit")
    text = as_json.dumps(by_name, indent=1, ensure_ascii=False) + "\n"
    outputs.write("JSON", json, lambda path: write_whole(path, text))
    outputs.close()


@app.command()
def exploit(
    agent: Annotated[str, Option(metavar="SPEC", help="A policy of the game, or an agent of the kinds ppo and zoo.")],
    option: OptionTexts = None,
    deals: Annotated[int, Option(min=2, max=_MOST_DEALS, help="Deals, each played from both seats.")] = 1000,
    seed: Annotated[int, Option(min=0, max=MAX_SEED, help="Seed of the deals and of all choices.")] = 1,
    json: Annotated[Path | None, Option(metavar="FILE", help="Write the result as JSON.")] = None,
    quiet: Annotated[bool, Option("--quiet", help="Print the result only.")] = False,
) -> None:
    """Play a local best response against an agent: a lower bound of what it loses to a best response, without training.

    The response looks one action ahead: it folds, calls, or raises by half the pot, the pot or all its chips, against
    the hands that the agent would have played like this. It plays single hands of two. `cardenvs exploit` trains a
    response instead.

    Examples:

    - `cardenvs texas_holdem exploit --agent zoo:texas_holdem_v0/heads_up --deals 5000`
    - `cardenvs texas_holdem exploit --agent tight_aggressive -o betting=limit --deals 200 --json bound.json`
    """
    from dataclasses import asdict

    from cardenvs.agents.specs import make_agent
    from cardenvs.core.files import write_json
    from cardenvs.games.texas_holdem import GAME
    from cardenvs.games.texas_holdem.state import TexasHoldemOptions
    from cardenvs.tools.texas_holdem import local_best_response as lbr

    outputs = Outputs({"--json": json})
    options = read_options(GAME, ["format=cash", *(option or [])], default_players=2)
    assert isinstance(options, TexasHoldemOptions)
    lbr.check_options(options)
    player = make_agent(agent, GAME, options)
    lbr.range_policy(player, options)
    if not quiet:
        compile_for(GAME, options, ["random", agent])
    with ProgressBar("Playing", unit="deals", transient=True, hidden=quiet) as bar:
        bound = lbr.measure(player, options, deals, seed, bar.show)
    console = new_console()
    console.print(
        f"A local best response wins {bound.mean:+.0f} ± {bound.half:.0f} big blinds per 100 hands from {agent} "
        f"({deals:,} deals, each from both seats; 95% interval)",
        markup=False,
    )
    console.print(lbr.verdict(bound), markup=False)
    result = {
        "format": "cardenvs-lbr-1", "game": GAME.name, "options": options.as_dict(), "agent": agent, "seed": seed,
        "unit": "bb/100", **asdict(bound), "low": bound.low,
    }  # fmt: skip
    outputs.write("JSON", json, lambda target: write_json(target, result))
    outputs.close()


# -- timelines ----------------------------------------------------------------------------------------------------


@app.command()
def show(
    file: Source,
    player: Annotated[int | None, Option(min=0, help="Show what this player saw; by default everything.")] = None,
    public: Annotated[bool, Option("--public", help="Show what everybody saw.")] = False,
    hand: Annotated[
        int | None, Option(min=1, help="Only show this hand, by its number; in PHH, that of the file.")
    ] = None,
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

    timeline = _timeline(file, hand)
    if timeline.phh is not None:
        hand = None  # it is the one that was asked for
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
    chips = _amounts(timeline)
    for p, name in enumerate(timeline.players):
        notes = [word for word in ("folded", "out") if counters[word][p]]
        table.add_row(
            "D" if counters["button"] == p else "", f"{p} {escaped(name)}", " ".join(piles["hand"][p]),
            chips(counters["stack"][p]), chips(counters["bet"][p]) if counters["bet"][p] else "", ", ".join(notes),
        )  # fmt: skip
    number = counters["hand_number"] if timeline.words is None else timeline.words.number
    console.print(
        f"[bold]before entry {i} of {len(timeline)}: hand {escaped(str(number))}[/bold], "
        f"blinds {chips(counters['small_blind'])}/{chips(counters['big_blind'])}, "
        f"board {' '.join(piles['board']) or '-'}, pot {chips(counters['pot'])}"
    )
    console.print(table)


def _amounts(timeline: "Timeline") -> "Callable[[int | None], str]":
    """Return how chips are written: as in the file from which the hand is; unknown ones as ?."""
    words = timeline.words
    return lambda chips: "?" if chips is None else str(chips if words is None else words.amount(chips))


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
    hand: Annotated[
        int | None, Option(min=1, help="Only write this hand, by its number; in PHH, that of the file.")
    ] = None,
) -> None:
    """Write hands in PHH, the open hand-history format that PokerKit reads.

    Examples:

    - `cardenvs texas_holdem export-phh match --out match.phhs`
    - `cardenvs texas_holdem export-phh match --hand 3 --out hand3.phh`
    """
    from cardenvs.tools.texas_holdem import phh

    outputs = Outputs({"--out": out}, used={"FILE": file})
    one = hand is not None or out.suffix != ".phhs"
    if file.suffix.lower() in _PHH:
        hands = _hands(file)
        text = _chosen(hands, hand).text if one else phh.dumps_records(hands.read)
        outputs.write("one hand" if one else "all hands", out, lambda path: write_whole(path, text))
        outputs.close()
        hands.close()
        return
    timeline = _timeline(file)
    text = phh.dumps(timeline, hand) if one else phh.dumps_all(timeline)
    outputs.write("one hand" if one else "all hands", out, lambda path: write_whole(path, text))
    outputs.close()


@app.command()
def replay_phh(
    file: Annotated[Path, Argument(metavar="FILE", callback=input_file, help="A .phh or .phhs file.")],
    quiet: Annotated[bool, Option("--quiet", help="Only print the stacks.")] = False,
    chips_per_unit: Annotated[
        int | None, Option(min=1, max=1_000_000, help="Chips per unit in the file, such as 100. [default: as needed]")
    ] = None,
    strict: Strict = False,
) -> None:
    """Play the hands of a PHH file by the rules of this game; say which of them cannot be played, and why.

    Unknown cards (????) stay unknown. Exits with 1 if a hand cannot be read while others can.

    Examples:

    - `cardenvs texas_holdem replay-phh hand3.phh`
    - `cardenvs texas_holdem replay-phh match.phhs --quiet`
    - `cardenvs texas_holdem replay-phh match.phhs --strict`
    """
    from cardenvs.core.events import OMNISCIENT

    console = new_console()
    hands = _hands(file, chips_per_unit, strict)
    for hand in hands.read:
        if not quiet:
            for sentence in hand.sentences(OMNISCIENT):
                console.print(escaped(sentence))
        stacks = ", ".join(f"{name} {chips}" for name, chips in hand.stacks_on_record())
        title = f" [{one_line(hand.title, 60)}]" if hand.title not in ("", hand.number) else ""
        console.print(f"[bold]{escaped(f'hand {hand.number}{title}')}[/bold]: {escaped(stacks)}")
    hands.close()


@dataclass(frozen=True)
class _Hands:
    """The hands of a PHH file, and what is to be said about them."""

    file: Path
    records: "list[HandRecord]"

    @property
    def read(self) -> "list[RecordedHand]":
        """The hands that could be read."""
        return [record.hand for record in self.records if record.hand is not None]

    def close(self) -> None:
        """Print notes and errors; exit with an error code if a hand could not be read."""
        errors = [record.error for record in self.records if record.error]
        notes = [note for record in self.records for note in record.notes]
        _print_some(self.file, notes, "note", "yellow")
        _print_some(self.file, errors, "Error", "red")
        if len(self.records) > 1 and (notes or errors):
            noted = sum(bool(record.notes) for record in self.records)
            typer.echo(f"{len(self.records)} hands: {noted} read with notes, {len(errors)} not read", err=True)
        if errors:
            raise typer.Exit(EXIT_FAILED)


def _print_some(file: Path, texts: list[str], what: str, colour: str) -> None:
    for text in texts[:_MOST_SHOWN]:
        typer.secho(f"{what}: {file}: {text}", fg=colour, err=True)
    if len(texts) > _MOST_SHOWN:
        typer.secho(f"and {len(texts) - _MOST_SHOWN} more", fg=colour, err=True)


def _hands(file: Path, chips_per_unit: int | None = None, strict: bool = False) -> _Hands:
    """Read a PHH file.

    Raises:
        FormatError: no hand can be read.
    """
    from cardenvs.tools.texas_holdem import phh

    found = phh.read_file(file, chips_per_unit, strict)
    if not any(record.hand for record in found):
        more = f" (none of its {len(found)} hands can be read)" if len(found) > 1 else ""
        raise FormatError(f"{file}: {found[0].error}{more}")
    return _Hands(file, found)


# -- helpers ------------------------------------------------------------------------------------------------------


def _timeline(path: Path, hand: int | None = None) -> "Timeline":
    """Return the timeline of a match, or of a hand of a PHH file, by its number."""
    from cardenvs.tools.texas_holdem.timeline import Timeline

    if path.suffix.lower() in _PHH and not path.is_dir():
        input_file(path)
        return Timeline.of(_chosen(_hands(path), hand))
    (found,) = _timelines(path)
    return found


def _chosen(hands: _Hands, number: int | None) -> "RecordedHand":
    """Return the hand of a file with this number, or else under this title; None stands for the only hand.

    Raises:
        ArenaError: there is no such hand, or several have the number.
        FormatError: the hand cannot be read.
    """
    if number is None and len(hands.records) == 1:
        return hands.read[0]
    read = hands.read
    for found in (
        [hand for hand in read if hand.number == str(number)],
        [hand for hand in read if hand.title == str(number)],
    ):
        if len(found) == 1:
            return found[0]
    for record in hands.records:
        if record.title == str(number) and record.error:
            raise FormatError(f"{hands.file}: {record.error}")
    numbers = [hand.number for hand in read]
    some = ", ".join(numbers[:_MOST_LISTED]) + (", ..." if len(numbers) > _MOST_LISTED else "")
    what = "choose one with --hand" if number is None else f"--hand {number} is none of them, or several"
    raise ArenaError(f"{hands.file} has {len(read)} hands that can be read, numbered {some}; {what}")


def _timelines(path: Path) -> "list[Timeline]":
    """Return the timeline of a match, or those of all hands of a PHH file that can be read."""
    from cardenvs.core.replay import Replay
    from cardenvs.tools.texas_holdem.timeline import Timeline, timeline_of

    if path.is_dir():
        path /= "timeline.jsonl"
        if not path.is_file():
            raise ArenaError(f"{path.parent} is not the folder of a match: it has no {path.name}")
    input_file(path)
    if path.suffix == ".jsonl":
        return [Timeline.load(path)]
    if path.suffix.lower() in _PHH:
        hands = _hands(path)
        unread = sum(record.hand is None for record in hands.records)
        if unread:
            typer.secho(f"note: {path}: {unread} hands are left out; replay-phh says why", fg="yellow", err=True)
        return [Timeline.of(hand) for hand in hands.read]
    return [timeline_of(Replay.load(path))]
