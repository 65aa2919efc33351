"""Contract Bridge: read and convert boards (PBN, LIN), solve deals double-dummy, annotate games, play duels."""

import contextlib
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from cardenvs.cli.exit_codes import EXIT_FAILED, EXIT_INTERRUPTED
from cardenvs.cli.files import Outputs, input_file
from cardenvs.cli.options import read_options
from cardenvs.cli.progress import ProgressBar
from cardenvs.cli.shared import MAX_SEED, GamesStore, OptionTexts, Processes, escaped, new_console, new_table
from cardenvs.core.errors import AgentError, ArenaError, FormatError, OptionError, require
from cardenvs.core.files import locked, write_whole
from cardenvs.core.registry import get_game
from cardenvs.core.text import count
from cardenvs.games.bridge.state import SEATS

if TYPE_CHECKING:
    import numpy as np

    from cardenvs.tools.bridge.annotate import Annotation
    from cardenvs.tools.bridge.boards import Board, BoardRecord
    from cardenvs.tools.bridge.duel import Result

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", pretty_exceptions_enable=False)

_MOST_DEALS = 1_000_000
_MOST_SHOWN = 20  # notes or errors of a file

Source = Annotated[
    Path, Argument(metavar="FILE", callback=input_file, help="Boards: .pbn, .lin, a replay (.json) or a store.")
]
BoardNumber = Annotated[
    int | None, Option(min=1, max=_MOST_DEALS, metavar="N", help="Only the N-th board, counted from 1.")
]
Strict = Annotated[bool, Option("--strict", help="Refuse what is otherwise read with a note.")]


@app.command()
def boards(
    file: Source,
    board: BoardNumber = None,
    out: Annotated[
        Path | None, Option(metavar="FILE", help="Write them: .pbn, .lin, or .json for the replay of one board.")
    ] = None,
    strict: Strict = False,
) -> None:
    """List the boards of a file, and convert them to another format.

    A recorded claim ends the play with its tricks; the replay of such a board ends there. What other programs write
    in their own way is read with a note. A board that cannot be read is named; the others are read, and the command
    exits with 1. With --strict, the first note or error stops it.

    Examples:

    - `cardenvs bridge boards club.pbn`
    - `cardenvs bridge boards match.lin --board 3 --out board3.json`
    - `cardenvs bridge boards games.db --out games.pbn`
    - `cardenvs bridge boards club.pbn --strict`
    """
    from cardenvs.tools.bridge.lin import losses

    outputs = Outputs({"--out": out}, used={"FILE": file})
    write = _writer_for(out)
    found, report = _read(file, board, strict)
    table = new_table("board", "dealer", "contract", "tricks", "NS", "north", "east", "south", "west")
    for one in found:
        tricks = "" if one.tricks is None else f"{one.tricks}{' claimed' if one.is_claimed else ''}"
        score = "" if one.score is None else f"{one.score:+d}" if one.score else "0"
        dealer = SEATS[int(one.state.record.dealer)]
        names = (escaped(name[:12]) for name in one.players)
        table.add_row(escaped(one.name[:12]), dealer, one.contract or "", tricks, score, *names)
    new_console().print(table)
    outputs.write("boards", out, lambda path: write(path, found))
    if out is not None and out.suffix.lower() == ".lin":
        lost = losses(found)
        if lost:
            typer.secho(f"note: LIN has no place for: {', '.join(lost)}", fg="yellow", err=True)
    outputs.close()
    report.close()


def _read(file: Path, number: int | None, strict: bool = False) -> "tuple[list[Board], _Report]":
    """Return all boards of a file that can be read, or one of them, and a report on the others.

    Raises:
        FormatError: there is no such board, none can be read, or with `strict` one cannot.
    """
    from cardenvs.tools.bridge.board_files import read_records

    first, end = (0, _MOST_DEALS + 1) if number is None else (number - 1, number)
    records, found = [], []
    for record in itertools.islice(read_records(file, strict), first, end):
        records.append(record if record.board is None else replace(record, board=None))
        if record.board is not None:
            found.append(record.board)
        elif strict:
            break
    if len(records) > _MOST_DEALS:
        raise FormatError(f"{file} has more than {_MOST_DEALS:,} boards")
    if not records:
        raise FormatError(f"{file} has no board{'s' if number is None else f' {number}'}")
    bad = next((record for record in records if record.error), None)
    if bad is not None and (strict or not found):
        more = f" (none of its {len(records)} boards can be read)" if not found and len(records) > 1 else ""
        raise FormatError(f"{file}: board {bad.place}, {bad.error}{more}")
    return found, _Report(file, records)


@dataclass(frozen=True)
class _Report:
    """What is to be said about the boards of a file."""

    file: Path
    records: "list[BoardRecord]"

    def close(self) -> None:
        """Print notes and errors; exit with an error code if a board could not be read."""
        errors = [f"board {one.place}, {one.error}" for one in self.records if one.error]
        notes = [f"board {one.place}, {note}" for one in self.records for note in one.notes]
        for texts, what, colour in ((notes, "note", "yellow"), (errors, "Error", "red")):
            for text in texts[:_MOST_SHOWN]:
                typer.secho(f"{what}: {self.file}: {text}", fg=colour, err=True)
            if len(texts) > _MOST_SHOWN:
                typer.secho(f"and {len(texts) - _MOST_SHOWN} more", fg=colour, err=True)
        if notes or errors:
            noted = sum(bool(one.notes) and not one.error for one in self.records)
            said = f"{count(len(self.records), 'board')}: {noted} read with notes, {len(errors)} not read"
            typer.echo(said, err=True)
        if errors:
            raise typer.Exit(EXIT_FAILED)


def _writer_for(out: Path | None) -> "Callable[[Path, list[Board]], None]":
    """Return the function that writes boards to a file of that name."""
    from cardenvs.tools.bridge.lin import write_lin
    from cardenvs.tools.bridge.pbn import write_pbn

    def write_replay(path: Path, found: "list[Board]") -> None:
        if len(found) != 1:
            raise FormatError(f"a replay has one board; choose one of the {len(found)} with --board")
        found[0].replay().save(path)

    writers = {".pbn": write_pbn, ".lin": write_lin, ".json": write_replay}
    suffix = ".pbn" if out is None else out.suffix.lower()
    if suffix not in writers:
        raise OptionError(f"--out ends with .pbn, .lin or .json; got {out}")
    return writers[suffix]


# -- double-dummy tables ------------------------------------------------------------------------------------------


@app.command()
def solve(
    file: Annotated[
        Path | None, Argument(metavar="[FILE]", callback=input_file, help="Boards: .pbn, .lin, .json or a store.")
    ] = None,
    seeds: Annotated[
        str | None, Option(metavar="FIRST:END", help="Deals of these seeds, END excluded, instead of a file.")
    ] = None,
    board: BoardNumber = None,
    out: Annotated[Path | None, Option(metavar="FILE", help="Where to: .jsonl, .csv or .pbn.")] = None,
    processes: Annotated[
        int | None, Option("--processes", "-p", min=1, max=256, help="Processes. [default: one per core]")
    ] = None,
) -> None:
    """Solve deals double-dummy: the tricks of every declarer in every denomination.

    Tables are kept in OUT.part as they are found: repeat the command after a stop, and it resumes. A single deal is
    shown as a table, with its par.

    Examples:

    - `cardenvs bridge solve --seeds 7:8`
    - `cardenvs bridge solve --seeds 0:1000 --out tables.jsonl`
    - `cardenvs bridge solve club.pbn --out club-solved.pbn -p 2`
    """
    from cardenvs.tools.bridge import results
    from cardenvs.tools.bridge.double_dummy import EXTRA

    if out is not None and out.suffix.lower() not in results.FORMS:
        raise OptionError(f"--out ends with .jsonl, .csv or .pbn; got {out}")
    if (file is None) == (seeds is None):
        raise OptionError("give a file of boards or --seeds, one of the two")
    part = None if out is None else Path(f"{out}.part")
    outputs = Outputs({"--out": out, "OUT.part": part}, used={"FILE": file})
    require("endplay", EXTRA)
    found, report = _read(file, board) if file is not None else (_of_seeds(seeds or ""), None)
    hands = _hands(found)
    resume = f"repeat the command, and it resumes from {part}" if part else ""
    with locked(f"{out}.lock") if out is not None else contextlib.nullcontext():
        tables = _solve(hands, part, processes, resume)
        if len(found) == 1:
            _print_table(found[0], tables[0])
        elif out is None:
            _print_tables(found, tables)
        outputs.write("tables", out, lambda path: results.write_tables(path, found, tables))
        outputs.close()
        if part is not None:
            part.unlink(missing_ok=True)
        if report is not None:
            report.close()


def _of_seeds(text: str) -> "list[Board]":
    from cardenvs.tools.bridge.boards import Board
    from cardenvs.tools.bridge.deals import GAME

    found = re.fullmatch(r"([0-9]{1,19}):([0-9]{1,19})", text)
    if found is None or not int(found[1]) < int(found[2]) <= MAX_SEED + 1:
        raise OptionError(f"--seeds is FIRST:END with FIRST below END, such as 0:1000; got {text[:60]!r}")
    first, end = int(found[1]), int(found[2])
    if end - first > _MOST_DEALS:
        raise OptionError(f"--seeds takes at most {_MOST_DEALS:,} deals; got {end - first:,}")
    game = get_game(GAME)
    return [Board.of(game.new_state(seed=seed), number=seed - first + 1) for seed in range(first, end)]


def _hands(found: "list[Board]") -> "np.ndarray":
    import numpy as np

    from cardenvs.tools.bridge.deals import dealt_hands

    return np.array([dealt_hands(one.state) for one in found], np.int64)


def _solve(hands: "np.ndarray", part: Path | None, processes: int | None, resume: str) -> "np.ndarray":
    """Solve under a progress bar; exit after Ctrl-C."""
    from cardenvs.tools.bridge import solving

    try:
        with ProgressBar("double-dummy", unit="deals", total=len(hands), hidden=len(hands) == 1) as bar:
            return solving.solve(hands, part, processes, bar.show)
    except KeyboardInterrupt:
        typer.secho(f"Stopped before the end: {resume or 'nothing was kept; use --out'}.", fg="yellow", err=True)
        raise typer.Exit(EXIT_INTERRUPTED) from None


def _print_table(board: "Board", table: "np.ndarray") -> None:
    from cardenvs.tools.bridge.deals import dealt_hands
    from cardenvs.tools.bridge.par import par_of
    from cardenvs.tools.bridge.results import diagram_lines, table_lines

    s = board.state.record
    lines = [*diagram_lines(dealt_hands(board.state)), "", *table_lines(table), ""]
    typer.echo("\n".join([*lines, f"par: {par_of(table, int(s.dealer), int(s.vulnerable))}"]))


def _print_tables(found: "list[Board]", tables: "np.ndarray") -> None:
    shown = new_table("board", *(f"{seat} {name}" for seat in "NS" for name in ("NT", "S", "H", "D", "C")), "par NS")
    from cardenvs.tools.bridge.par import par_of

    for board, table in zip(found, tables, strict=True):
        s = board.state.record
        cells = [str(int(table[k, p])) for p in (0, 2) for k in (4, 3, 2, 1, 0)]
        score = par_of(table, int(s.dealer), int(s.vulnerable)).score
        shown.add_row(escaped(board.name), *cells, f"{score:+d}")
    new_console().print(shown)


@app.command()
def bank(
    out: Annotated[Path, Option(metavar="FILE", help="File to write, such as deals.npy.")],
    deals: Annotated[int, Option(min=1, max=_MOST_DEALS, help="Number of deals.")] = 20_000,
    first: Annotated[
        int | None, Option(min=0, max=MAX_SEED - _MOST_DEALS, help="Seed of the first deal. [default: 10**9]")
    ] = None,
    processes: Annotated[
        int | None, Option("--processes", "-p", min=1, max=256, help="Processes. [default: one per core]")
    ] = None,
) -> None:
    """Make a bank of solved deals for `phase="auction"`, which is paid by double-dummy results.

    The k-th deal is that of seed FIRST + k, so the same command makes the same bytes. Name the file in the variable
    CARDENVS_BRIDGE_BANK to deal from it. Repeat the command after a stop, and it resumes.

    Examples:

    - `cardenvs bridge bank --out deals.npy`
    - `cardenvs bridge bank --deals 500 --first 77000 --out mine.npy`
    """
    from cardenvs.tools.bridge import results
    from cardenvs.tools.bridge.double_dummy import EXTRA

    part = Path(f"{out}.part")
    outputs = Outputs({"--out": out, "OUT.part": part})
    require("endplay", EXTRA)
    hands = results.bank_hands(deals, results.BANK_SEED if first is None else first)
    with locked(f"{out}.lock"):
        tables = _solve(hands, part, processes, resume=f"repeat the command, and it resumes from {part}")
        outputs.write("bank", out, lambda path: write_whole(path, results.bank_bytes(hands, tables)))
        outputs.close()
        part.unlink(missing_ok=True)


# -- annotated games ----------------------------------------------------------------------------------------------


@app.command()
def annotate(
    file: Source,
    board: BoardNumber = None,
    json: Annotated[Path | None, Option(metavar="FILE", help="Write the annotation as JSON.")] = None,
    html: Annotated[
        Path | None, Option(metavar="FILE", help="Write one page that plays the board with its costs.")
    ] = None,
) -> None:
    """Show what each card of a board cost double-dummy, and what its contract was worth beside par.

    A file with several boards needs --board. The cost of a card is the number of tricks that its side loses by it if
    all four players continue without a mistake.

    Examples:

    - `cardenvs bridge annotate game.json`
    - `cardenvs bridge annotate club.pbn --board 3 --json board3.json --html board3.html`
    """
    import json as as_json

    from cardenvs.tools.bridge.annotate import annotate as annotated
    from cardenvs.tools.bridge.double_dummy import EXTRA

    outputs = Outputs({"--json": json, "--html": html}, used={"FILE": file})
    require("endplay", EXTRA)
    found, report = _read(file, board)
    if len(found) > 1:
        raise OptionError(f"{file} has {len(found)} boards; choose one with --board, from 1 to {len(found)}")
    result = annotated(found[0])
    _print_annotation(result)
    text = as_json.dumps(result.as_dict(), indent=1, ensure_ascii=False) + "\n"
    outputs.write("JSON", json, lambda path: write_whole(path, text))
    outputs.write("page", html, lambda path: write_whole(path, result.page()))
    outputs.close()
    report.close()


def _print_annotation(result: "Annotation") -> None:
    from cardenvs.tools.bridge.deals import card_text, dealt_hands
    from cardenvs.tools.bridge.results import diagram_lines, table_lines

    console, board = new_console(), result.board
    tables = table_lines(result.table)
    for line in [*diagram_lines(dealt_hands(board.state)), "", *tables, ""]:
        console.print(escaped(line))
    console.print(f"par: {result.par}")
    if result.contract_score is not None:
        worth = "" if result.expected is None else f"{result.expected} tricks double-dummy, "
        console.print(
            f"contract: {board.contract}, {worth}{result.contract_score:+d}; "
            f"{result.bidding_cost:+d} IMPs for NS beside par"
        )
    if board.score is not None and board.tricks is not None:
        claimed = ", claimed" if board.is_claimed else ""
        console.print(f"result: {board.tricks} tricks{claimed}, {board.score:+d}")
    if not result.cards:
        return
    console.print()
    for number, cards in itertools.groupby(result.cards, key=lambda one: one.trick):
        trick = list(cards)
        cells = (
            f"{SEATS[one.player]} {card_text(one.card)}" + (f"[red]-{one.cost}[/red]" if one.cost else "  ")
            for one in trick
        )
        console.print(f"{number:>2}   {'   '.join(cells)}   declarer makes {trick[-1].tricks}")
    lost = "  ".join(f"{seat} {result.lost(p)}" for p, seat in enumerate(SEATS))
    console.print(f"\ntricks lost by cards, dummy's counted as declarer's: {lost}")


# -- duels --------------------------------------------------------------------------------------------------------


@app.command()
def duel(
    agents: Annotated[str, Option(metavar="A,B", help="Two agents; see `cardenvs match --help`.")],
    boards: Annotated[int, Option(min=1, max=_MOST_DEALS, help="Deals, each played at two tables.")] = 100,
    seed: Annotated[
        str | None, Option("--seed", metavar="SEED", help="A number, or the seed that a duel printed; default: drawn.")
    ] = None,
    processes: Processes = 1,
    option: OptionTexts = None,
    store: GamesStore = None,
    resume: Annotated[bool, Option("--resume", help="Continue a duel that the store has games of.")] = False,
    out: Annotated[Path | None, Option(metavar="FILE", help="Write all boards: .pbn or .lin.")] = None,
) -> None:
    """Play two agents against each other as teams do, and print the IMPs a board with their 95% interval.

    At the first table A plays North and South and B East and West, at the second they change places, with the same
    cards. The difference of the two scores is converted to IMPs.

    After Ctrl-C, add --resume to a command with --store to continue. Examples:

    - `cardenvs bridge duel --agents pimc,heuristic --boards 200 --seed 1`
    - `cardenvs bridge duel --agents pimc:worlds=50,pimc -o phase=play --store duel.db -p 2`
    """
    from cardenvs.agents.specs import split_specs
    from cardenvs.arena.store import Store
    from cardenvs.cli.compiling import compile_for
    from cardenvs.tools.bridge import duel as duels
    from cardenvs.tools.bridge.deals import GAME

    outputs = Outputs({"--out": out}, used={"--store": store})
    write = _writer_for(out)
    if resume and store is None:
        raise ArenaError("--resume needs the --store of the match to resume")
    specs = split_specs(agents)
    if len(specs) != 2:
        raise AgentError(f"a duel has two agents; got {len(specs)}")
    game = get_game(GAME)
    options = read_options(game, option)
    interrupted = False
    with Store(store) as opened:
        tables = duels.tables_of((specs[0], specs[1]), options, boards, seed)
        tables = duels.seeded(tables, opened, resume)
        compile_for(game, options, specs)
        with ProgressBar("duel", unit="games", total=2 * boards) as bar:
            try:
                duels.play(tables, opened, resume, processes, bar.show)
            except KeyboardInterrupt:
                interrupted = True
        result = duels.result_of(tables, opened)
        played = duels.boards_of(tables, opened) if out is not None else []
    _print_duel(result, boards)
    outputs.write("boards", out, lambda path: write(path, played))
    if interrupted:
        kept = f"finished games are in {store}; add --resume to continue" if store else "nothing was kept; use --store"
        typer.secho(f"Stopped before the end: {kept}.", fg="yellow", err=True)
        raise typer.Exit(EXIT_INTERRUPTED)
    outputs.close()


def _print_duel(result: "Result", boards: int) -> None:
    console, mean = new_console(), result.mean
    first, second = (escaped(name) for name in result.agents)
    console.print(f"[bold]{first}[/bold] against {second}, seed {result.seed}: {len(result.imps)} of {boards} boards")
    if mean is None:
        return
    won, lost = int((result.imps > 0).sum()), int((result.imps < 0).sum())
    console.print(f"{mean.mean:+.2f} IMPs a board, 95% interval {mean.low:+.2f} to {mean.high:+.2f}")
    console.print(f"boards won {won}, lost {lost}, level {len(result.imps) - won - lost}")
