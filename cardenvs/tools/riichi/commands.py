"""Riichi mahjong: logs in the mjai notation, the worth of hands, waits."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer import Argument, Option

from cardenvs.cli.exit_codes import EXIT_FAILED
from cardenvs.cli.files import Outputs, input_file
from cardenvs.cli.options import read_options
from cardenvs.cli.shared import OptionTexts, new_console, new_table
from cardenvs.core.errors import ArenaError, FormatError
from cardenvs.core.files import write_whole
from cardenvs.core.text import count

if TYPE_CHECKING:
    from cardenvs.games.riichi.state import RiichiOptions
    from cardenvs.tools.riichi.hands import Draws, Worth
    from cardenvs.tools.riichi.log import Log
    from cardenvs.tools.riichi.reader import Report

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", pretty_exceptions_enable=False)

_MOST_SHOWN = 20  # notes or errors of a file
_MOST_COUNTERS = 100
_WIND = "east|south|west|north"

LogPath = Annotated[Path, Argument(metavar="LOG", callback=input_file, help="An mjai log that shows all hands.")]
AsJson = Annotated[bool, Option("--json", help="Print JSON.")]


# -- logs -----------------------------------------------------------------------------------------------------------


@app.command()
def export(
    file: Annotated[Path, Argument(metavar="GAME", callback=input_file, help="A replay (.json) of riichi_v0.")],
    seat: Annotated[
        int | None, Option(min=0, max=3, help="Write what this player saw, with ? for the rest; by default all.")
    ] = None,
    out: Annotated[Path | None, Option(metavar="FILE", help="File to write; by default the log is printed.")] = None,
) -> None:
    """Write a recorded game as an mjai log.

    Examples:

    - `cardenvs riichi export game.json --out game.mjai`
    - `cardenvs riichi export game.json --seat 2`
    """
    from cardenvs.core.events import OMNISCIENT
    from cardenvs.core.replay import Replay
    from cardenvs.tools.riichi.player import GAME
    from cardenvs.tools.riichi.writer import dumps

    outputs = Outputs({"--out": out}, used={"GAME": file})
    replay = Replay.load(file)
    if replay.game.name != GAME:
        raise FormatError(f"{file} is a game of {replay.game.name}; mjai logs have games of {GAME}")
    text = dumps(replay, OMNISCIENT if seat is None else seat)
    if out is None:
        typer.echo(text, nl=False)
    outputs.write("log", out, lambda path: write_whole(path, text))
    outputs.close()


@app.command("import")
def import_(
    file: LogPath,
    out: Annotated[Path, Option(metavar="FILE", help="Replay to write (.json).")],
    round_: Annotated[
        int, Option("--round", min=1, metavar="N", help="The N-th round of the log, counted from 1.")
    ] = 1,
    option: OptionTexts = None,
) -> None:
    """Read one round of an mjai log as a game of riichi_v0, and write its replay.

    A replay has one deal, so it holds a round that begins a match: east 1, without honba and sticks, with equal
    points. `check` reads all rounds.

    Examples:

    - `cardenvs riichi import game.mjai --out game.json`
    - `cardenvs riichi import game.mjai --out game.json -o red_fives=false`
    """
    from cardenvs.core.replay import Replay
    from cardenvs.tools.riichi.reader import read_game

    outputs = Outputs({"--out": out}, used={"LOG": file})
    options, log = _options(option), _log(file)
    if round_ > len(log.rounds):
        raise ArenaError(f"--round {round_} is out of range: {file} has {count(len(log.rounds), 'round')}")
    try:
        state, notes = read_game(log, round_ - 1, options)
    except FormatError as error:
        raise FormatError(f"{file}: {error}") from None
    _print_some(file, notes, "note", "yellow")
    outputs.write("replay", out, Replay.of(state, list(log.names)).save)
    outputs.close()


@app.command()
def check(file: LogPath, option: OptionTexts = None, as_json: AsJson = False) -> None:
    """Play every round of an mjai log by the rules, and compare all actions, points and indicators.

    Each round is played from the dealer, wind, honba, sticks and points that the log gives at its start. With
    `-o length=east` or `half`, the match should also end where the rules end it. Exits with 1 if something differs.

    Examples:

    - `cardenvs riichi check game.mjai`
    - `cardenvs riichi check game.mjai -o multiple_ron=triple --json`
    """
    from cardenvs.tools.riichi.reader import check_log, notes_as_drawn

    options, log = _options(option), _log(file)
    reports = list(check_log(log, options))
    errors = [error for report in reports for error in report.errors]
    if as_json:
        typer.echo(json.dumps([asdict(report) for report in reports], indent=1))
    else:
        _print_rounds(reports)
        notes = [note for report in reports for note in report.notes]
        as_drawn = [number for report in reports for number in report.as_drawn]
        _print_some(file, notes + notes_as_drawn(as_drawn), "note", "yellow")
    _print_some(file, errors, "Error", "red")
    if errors:
        raise typer.Exit(EXIT_FAILED)


def _print_rounds(reports: "list[Report]") -> None:
    from cardenvs.tools.riichi.reader import name_of_result

    table = new_table("round", "result", *map(str, range(4)), "hand")
    for column in table.columns[2:6]:
        column.justify = "right"
    for report in reports:
        texts, name = iter(report.texts), report.name
        for line in report.results:
            text = next(texts) if line["type"] == "hora" else ""
            table.add_row(name, name_of_result(line), *(f"{delta:+d}" for delta in line["deltas"]), text)
            name = ""
        if report.errors:
            table.add_row(name, "[red]the log differs[/red]")
    new_console().print(table)
    bad = sum(bool(report.errors) for report in reports)
    typer.echo(f"{count(len(reports), 'round')}: {len(reports) - bad} by the rules, {bad} not")


def _log(file: Path) -> "Log":
    from cardenvs.tools.riichi.log import read_log

    try:
        return read_log(file)
    except FormatError as error:
        text = str(error)
        raise FormatError(text if text.startswith(str(file)) else f"{file}: {text}") from None


def _options(texts: list[str] | None) -> "RiichiOptions":
    from cardenvs.core.registry import get_game
    from cardenvs.tools.riichi.player import GAME

    return cast("RiichiOptions", read_options(get_game(GAME), texts))


def _print_some(file: Path, texts: list[str], what: str, colour: str) -> None:
    for text in texts[:_MOST_SHOWN]:
        typer.secho(f"{what}: {file}: {text}", fg=colour, err=True)
    if len(texts) > _MOST_SHOWN:
        typer.secho(f"and {len(texts) - _MOST_SHOWN} more", fg=colour, err=True)


# -- hands ----------------------------------------------------------------------------------------------------------


@app.command()
def score(
    hand: Annotated[str, Argument(metavar="HAND", help="Tiles in hand without the one that wins, as in 123m055p77z.")],
    win: Annotated[str, Option(metavar="TILE", help="The tile that wins.")],
    meld: Annotated[
        list[str] | None, Option("--meld", metavar="MELD", help='"chi 345m" or "pon 7z". May be repeated.')
    ] = None,
    kan: Annotated[
        list[str] | None, Option("--kan", metavar="KAN", help='"open 1z" or "closed 5m". May be repeated.')
    ] = None,
    tsumo: Annotated[bool, Option("--tsumo", help="The tile was drawn; by default it was discarded.")] = False,
    riichi: Annotated[bool, Option("--riichi", help="The hand is in riichi.")] = False,
    double_riichi: Annotated[bool, Option("--double-riichi", help="The hand is in double riichi.")] = False,
    ippatsu: Annotated[bool, Option("--ippatsu", help="It wins within a go-round after riichi.")] = False,
    after_kan: Annotated[bool, Option("--after-kan", help="It wins on a replacement tile.")] = False,
    robbing: Annotated[bool, Option("--robbing", help="It robs a kan.")] = False,
    last_tile: Annotated[bool, Option("--last-tile", help="By the last draw or discard.")] = False,
    first_draw: Annotated[bool, Option("--first-draw", help="On the first draw, before any call.")] = False,
    dora: Annotated[str, Option(metavar="TILES", help="Indicators.")] = "",
    ura: Annotated[str, Option(metavar="TILES", help="Indicators below them.")] = "",
    seat: Annotated[str, Option(metavar=_WIND, help="Wind of the player; east is the dealer.")] = "south",
    round_: Annotated[str, Option("--round", metavar=_WIND, help="Wind of the round.")] = "east",
    honba: Annotated[int, Option(min=0, max=_MOST_COUNTERS, help="Honba counters.")] = 0,
    sticks: Annotated[int, Option(min=0, max=_MOST_COUNTERS, help="Riichi sticks on the table.")] = 0,
    option: OptionTexts = None,
    as_json: AsJson = False,
) -> None:
    """Print what a hand is worth that wins with a tile: its yaku, han and fu, and who pays what.

    Tiles are digits and a suit: m characters, p dots, s bamboo, z honours (east, south, west, north, white, green,
    red), 0 the red five. Options of the game, such as `kiriage_mangan`, are those of `cardenvs info riichi_v0`.

    Examples:

    - `cardenvs riichi score 234m567m345p67s22s --win 8s --riichi --dora 1s`
    - `cardenvs riichi score 123m46m777p99p --win 5m --kan "closed 1z" --seat east --round south`
    - `cardenvs riichi score 234m456p67s55s --win 8s --meld "chi 345m" --honba 2 --json`
    """
    from cardenvs.tools.riichi import hands

    flags = {
        "tsumo": tsumo, "riichi": riichi, "double_riichi": double_riichi, "ippatsu": ippatsu, "after_kan": after_kan,
        "robbing": robbing, "last_tile": last_tile, "first_draw": first_draw,
    }  # fmt: skip
    options, faces = _options(option), hands.tiles_of(win)
    if len(faces) != 1:
        raise ArenaError(f"--win takes one tile, as in --win 8s; got {len(faces)}")
    melds = [hands.parse_meld(text) for text in meld or ()]
    melds += [hands.parse_kan(text, options.red_fives) for text in kan or ()]
    worth = hands.score(
        hands.Win(
            tuple(hands.tiles_of(hand)), faces[0], tuple(melds), frozenset(name for name, has in flags.items() if has),
            tuple(hands.tiles_of(dora)), tuple(hands.tiles_of(ura)), _wind("--seat", seat), _wind("--round", round_),
            honba, sticks,
        ),
        options,
    )  # fmt: skip
    if as_json:
        typer.echo(json.dumps({**asdict(worth), "name": worth.name}))
    else:
        _print_worth(worth)


def _wind(name: str, text: str) -> int:
    from cardenvs.tools.riichi.hands import WINDS

    if text not in WINDS:
        raise ArenaError(f"{name} takes {', '.join(WINDS[:-1])} or {WINDS[-1]}; got {text[:40]!r}")
    return WINDS.index(text)


def _print_worth(worth: "Worth") -> None:
    if not worth.yaku:
        typer.echo("no win: the hand has no yaku" if worth.is_complete else "no win: the hand is not complete")
        return
    console = new_console()
    table = new_table("yaku", "han", right=1)
    for name, han in worth.yaku:
        table.add_row(name, "yakuman" if worth.yakuman and han == 13 else str(han))
    console.print(table)
    console.print(f"[bold]{worth.name}[/bold]")
    for payment in worth.payments:
        console.print(f"{payment.who} pays {payment.points:,}")
    console.print(f"the winner gets {worth.total:,}")


@app.command()
def waits(
    hand: Annotated[str, Argument(metavar="HAND", help="13 or 14 tiles, 3 less for each meld, as in 123m055p77z.")],
    as_json: AsJson = False,
) -> None:
    """Print what a hand waits for; or how many tiles it lacks to wait, and which of them bring it nearer.

    With 14 tiles, the best discards are listed. Tiles left are those that the hand itself does not hold.

    Examples:

    - `cardenvs riichi waits 234m567m345p67s22s`
    - `cardenvs riichi waits 147m258p369s1234z`
    - `cardenvs riichi waits 234m567m345p67s229s --json`
    """
    from cardenvs.games.riichi.tiles import LABELS
    from cardenvs.tools.riichi.hands import draws_of, tiles_of

    shanten, found = draws_of(tiles_of(hand))
    if as_json:
        rows = [_as_dict(draws, LABELS) for draws in found]
        typer.echo(json.dumps({"shanten": shanten, "draws": rows}))
        return
    console = new_console()
    if shanten < 0:
        console.print("The hand is complete. After a discard:")
    elif shanten == 0:
        console.print("The hand is tenpai." if found[0].discard is None else "The hand is tenpai after a discard:")
    else:
        console.print(f"The hand lacks {count(shanten, 'tile')} to be tenpai.")
    table = new_table("discard" if found[0].discard is not None else "", "left", "tiles")
    for draws in found:
        tiles = " ".join(f"{LABELS[kind]}:{left}" for kind, left in draws.tiles)
        table.add_row("" if draws.discard is None else LABELS[draws.discard], str(draws.total), tiles)
    console.print(table)


def _as_dict(draws: "Draws", labels: tuple[str, ...]) -> dict[str, Any]:
    return {
        "discard": None if draws.discard is None else labels[draws.discard],
        "shanten": draws.shanten,
        "tiles": {labels[kind]: left for kind, left in draws.tiles},
        "left": draws.total,
    }
