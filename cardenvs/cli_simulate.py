"""The command for many games at one table: simulate."""

import dataclasses
import os
import re
import secrets
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardenvs.cli_files import Outputs
from cardenvs.core.errors import AgentError, ArenaError, OptionError

if TYPE_CHECKING:
    from rich.console import Console

    from cardenvs.arena.simulate import PlayedGame, Simulation, Tally
    from cardenvs.core.game import Game

_MAX_SEED = 2**63 - 1
_GAMES = 100
_MOST_GAMES, _MOST_PLAYERS, _MOST_DIGITS = 10**15, 1000, 19
_WIDTH_IN_FILES = 160
_EXIT_FAILED, _EXIT_INTERRUPTED = 1, 130
_MOST_FAILURES = 10  # told in full
_MOST_NAMES = 12  # of a group of counts: the most frequent
_MOST_LEAST = 5  # ... and the least frequent
_MOST_NEVER = 60  # of a group of counts: names that never came up


def add_commands(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(simulate)


def simulate(
    game: Annotated[str, typer.Argument(metavar="GAME", help="Name of a game; without its version, the newest one.")],
    games: Annotated[int | None, typer.Option(min=1, max=_MOST_GAMES, help=f"How many; {_GAMES} if not given.")] = None,
    players: Annotated[
        int | None, typer.Option(min=1, max=_MOST_PLAYERS, help="Players at the table; default: the game's.")
    ] = None,
    agents: Annotated[
        str, typer.Option(metavar="A,B,...", help="Agents by seat, as for `match`; fewer are repeated round the table.")
    ] = "random",
    seed: Annotated[int | None, typer.Option(min=0, max=_MAX_SEED, help="Of all games; drawn if not given.")] = None,
    seeds: Annotated[str | None, typer.Option(metavar="A,B,...", help="Play just the games of these seeds.")] = None,
    processes: Annotated[
        int | None,
        typer.Option("--processes", "-p", min=1, max=1024, help="Processes to play in; default: one a core."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the game. May be repeated."),
    ] = None,
    store: Annotated[Path | None, typer.Option(metavar="FILE", help="SQLite file that keeps finished games.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Take from the store the games that it has.")] = False,
    guests_key: Annotated[
        str | None, typer.Option(metavar="HEX", help="To repeat games with your own agents or language models.")
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all games and sums as JSON.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the summary only: no games, no bar.")] = False,
) -> None:
    """Play many games at one table: a line for each, then sums, coverage, and what failed.

    A game depends on its seed alone, not on the processes. One that fails (an agent or the rules raise, returns or
    what is conserved do not add up, a process dies) is told with the command that plays it again; the others go on,
    and the exit code is 1. With --store finished games are kept as they end, and the same command with --resume plays
    the others. Agents keep their seats: use `cardenvs match` to compare them without the luck of the seat.

    Examples: `cardenvs simulate wingspan --games 1000 --players 3`,
    `cardenvs simulate leduc_poker --agents search:simulations=20,random --games 200 --seed 7 --json games.json`,
    `cardenvs simulate gin_rummy --agents heuristic,random -o reward=score --quiet -p 2`,
    and one game again: `cardenvs simulate kuhn_poker --seeds 12,7`
    """
    from cardenvs.arena.simulate import Tally, prepare, usable_processes
    from cardenvs.arena.simulate import simulate as play
    from cardenvs.core.registry import get_game

    outputs = Outputs({"--json": json}, used={"--store": store})
    if resume and store is None:
        raise ArenaError("--resume needs the --store to go on with")
    table = _table(get_game(game), players, agents, option, guests_key)
    if resume and (begun := _begun(store, table)) is not None:
        before, key = begun
        if guests_key not in (None, key):
            raise ArenaError(f"the games of {store} have --guests-key {key}; leave it out to go on with them")
        table = dataclasses.replace(table, guests_key=key)
        seed = before if seed is None and seeds is None else seed
    if seed is None and seeds is None:
        seed = secrets.randbits(63)
    wanted = _wanted_seeds(games, seed, seeds)
    number = min(processes or usable_processes(), len(wanted))
    tally = Tally(table)
    interrupted, lost = False, None
    try:
        with _opened(store, table, resume) as kept:
            prepare(table)
            interrupted = _play(tally, play(table, wanted, number, kept), len(wanted), quiet)
    except ArenaError as error:  # the store, perhaps, whose disk is full: what was played is told all the same
        if not tally.games:
            raise
        lost = error
    _print_summary(tally)
    command = _command(table, wanted) if seeds else _command(table, [], len(wanted), seed or 0)
    typer.secho(command, dim=True, err=True)
    outputs.write("JSON", json, lambda path: tally.write(path, command))
    if lost is not None:
        raise lost
    if interrupted:
        go_on = f"; they are in {store}, add --resume to go on" if store else ""
        typer.secho(f"Stopped after {len(tally.games)} of {len(wanted)} games{go_on}.", fg="yellow", err=True)
        raise typer.Exit(_EXIT_INTERRUPTED)
    outputs.close()
    if tally.failed:
        raise typer.Exit(_EXIT_FAILED)


# ---------------------------------------------------------------------------------------------------------------
# What is asked for


def _begun(path: Path | None, table: "Simulation") -> tuple[int | None, str] | None:
    """The seed and the guests' key with which the store at `path` was begun, if it has games of this table."""
    if path is None or not path.exists():
        return None
    from cardenvs.arena.simulations import SimulationStore

    with SimulationStore(path, read_only=True) as opened:
        return opened.begun(table)


def _opened(path: Path | None, table: "Simulation", resume: bool) -> Any:
    """The store of simulations at `path`, or nothing, as a context."""
    import contextlib

    if path is None:
        return contextlib.nullcontext()
    from cardenvs.arena.simulations import SimulationStore

    store = SimulationStore(path)
    try:
        done = 0 if resume else len(store.finished(table))
        if done:
            raise ArenaError(f"{path} already has {done} games of this table; add --resume, or choose another store")
    except BaseException:
        store.close()
        raise
    return store


def _wanted_seeds(games: int | None, seed: int | None, seeds: str | None) -> Sequence[int]:
    from cardenvs.arena.simulate import GameSeeds

    if seeds is None:
        return GameSeeds(seed or 0, games or _GAMES)
    if games is not None or seed is not None:
        raise ArenaError("--seeds lists the games to play; leave out --games and --seed")
    wanted = []
    for text in seeds.split(","):
        if not text.strip().isdecimal() or len(text.strip()) > _MOST_DIGITS or int(text) > _MAX_SEED:
            raise ArenaError(f"--seeds takes numbers from 0 to 2**63-1 separated by commas; got {_short(text, 40)!r}")
        wanted.append(int(text))
    return wanted


def _table(game: "Game", players: int | None, agents: str, option: list[str] | None, key: str | None) -> "Simulation":
    from cardenvs.agents.specs import split_specs
    from cardenvs.arena.simulate import Simulation
    from cardenvs.cli import read_options

    texts = list(option or ())
    if players is not None:
        if any(text.partition("=")[0].strip() == "num_players" for text in texts):
            raise OptionError("--players and -o num_players=... say the same; give one of them")
        texts.append(f"num_players={players}")
    options = read_options(game, texts)
    specs = split_specs(agents)
    if len(specs) > options.num_players:
        raise AgentError(
            f"{len(specs)} agents for {options.num_players} players of {game.name}; add --players {len(specs)}"
        )
    seated = tuple(specs[p % len(specs)] for p in range(options.num_players))
    if key is None:
        return Simulation(game, options, seated)
    if not re.fullmatch("[0-9a-f]{32}", key):
        raise ArenaError(f"--guests-key takes 32 hex digits, as a command that was printed has them; got {key!r}")
    return Simulation(game, options, seated, key)


def _command(table: "Simulation", seeds: Sequence[int], games: int = 0, seed: int = 0) -> str:
    """The command that plays games again: those of `seeds`, or else so many from one seed."""
    from cardenvs.agents.specs import is_guest
    from cardenvs.cli import option_text

    words = ["cardenvs", "simulate", table.game.name]
    words += ["--seeds", ",".join(map(str, seeds))] if seeds else ["--games", str(games), "--seed", str(seed)]
    words += ["--players", str(table.options.num_players), "--agents", ",".join(table.agents)]
    if any(map(is_guest, table.agents)):
        words += ["--guests-key", table.guests_key]
    for name in table.options.changed():
        if name != "num_players":
            words += ["-o", f"{name}={option_text(getattr(table.options, name))}"]
    return shlex.join(words)


# ---------------------------------------------------------------------------------------------------------------
# While games are played


def _play(tally: "Tally", games: Iterator["PlayedGame"], total: int, quiet: bool) -> bool:
    """Play the games under a progress bar. Returns whether it was interrupted."""
    import contextlib

    bar = _Bar(tally.simulation.game.title, total, hidden=quiet)
    width = len(str(total))
    try:
        with contextlib.closing(games):  # type: ignore[type-var]  # a generator: it ends its processes
            for game in games:
                tally.add(game)
                if not quiet:
                    print(_line(tally.simulation, len(tally.games), width, game))
                bar.show(len(tally.games))
    except KeyboardInterrupt:
        return True
    finally:
        bar.stop()
    return False


class _Bar:
    """A progress bar on stderr, drawn only where that is a terminal."""

    def __init__(self, title: str, total: int, hidden: bool) -> None:
        import sys

        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        columns = (
            TextColumn("[bold]{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("games"),
            TextColumn("{task.fields[rate]}"), TextColumn("left:"), TimeRemainingColumn(),
        )  # fmt: skip
        disable = hidden or not console.is_terminal
        # Lines on stdout go above the bar if both are on the terminal, and where they should if they are not.
        self._progress = Progress(*columns, console=console, disable=disable, redirect_stdout=sys.stdout.isatty())
        self._task = self._progress.add_task(title, total=total, rate="")

    def show(self, done: int) -> None:
        self._progress.start()  # not before: what is refused at once needs no bar
        speed = self._progress.tasks[0].speed
        self._progress.update(self._task, completed=done, rate="" if speed is None else f"{speed:,.0f}/s")

    def stop(self) -> None:
        self._progress.stop()


def _line(table: "Simulation", number: int, width: int, game: "PlayedGame") -> str:
    """One game in a line: number, seed, who has won, score or returns, plies, time."""
    start = f"{number:>{width}}  seed {game.seed:<19}"
    end = f"{game.plies} plies  {game.ms:.1f} ms"
    if game.failure is not None:
        return f"{start}  FAILED  {game.failure.kind}: {_short(game.failure.message, 80)}  {end}"
    winners = " and ".join(f"player_{p} {table.agents[p]}" for p in game.winners) or "nobody"
    returns = " ".join(f"{value:+g}" for value in game.returns)
    figures = [f"{name} {' '.join(f'{v:g}' for v in values)}" for name, values in game.statistics.figures.items()]
    return "  ".join([start, f"won by {winners}", *figures[:1], f"returns {returns}", end])


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


# ---------------------------------------------------------------------------------------------------------------
# Afterwards


def _print_summary(tally: "Tally") -> None:
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH_IN_FILES
    summary = tally.summary()
    unit = tally.simulation.game.returns(tally.simulation.options).unit
    _print_heading(console, tally.simulation, summary)
    if summary["seats"]:
        rows = [(f"player_{row['seat']}", row) for row in summary["seats"]]
        rows += [("all seats", row) for row in summary["agents"] if len(row["seats"]) > 1]
        _print_returns(console, rows, unit)
        _print_figures(console, rows)
    for group, counts in summary["counts"].items():
        _print_counts(console, group, counts)
    if tally.failed:
        _print_failures(console, tally)


def _print_heading(console: "Console", table: "Simulation", summary: dict[str, Any]) -> None:
    changed = "".join(f" {name}={value}" for name, value in table.options.changed().items())
    console.print(f"\n[bold]{table.game.title}[/bold]{_safe(changed)}: {summary['games']} games", soft_wrap=True)
    if summary["failed"]:
        console.print(f"[bold red]{summary['failed']} failed[/bold red]")
    rates = f"{summary['seconds']:.1f} s, {summary['games_per_second']:,.1f} games/s"
    lines = [f"{rates}, {summary['actions_per_second']:,.0f} actions/s"]
    for name, what in (("plies", "plies a game"), ("ms", "ms a game")):
        if (spread := summary[name]) is not None:
            lines.append(f"{what}: {spread['mean']:.1f} ({spread['min']:.4g} to {spread['max']:.4g})")
    for line in lines:
        console.print(line)


def _print_returns(console: "Console", rows: list[tuple[str, dict[str, Any]]], unit: str) -> None:
    table = _new_table("seat", "agent", "won", "shared", f"mean return ({unit}), 95%", "sd", "least", "most")
    for seat, row in rows:
        of = row["returns"]
        half = "" if of["low"] is None else f" ± {of['mean'] - of['low']:.3f}"
        table.add_row(
            seat, _safe(row["agent"]), str(row["won"]), str(row["shared"]), f"{of['mean']:+.3f}{half}",
            _number(of["sd"]), f"{of['min']:+g}", f"{of['max']:+g}",
        )  # fmt: skip
    console.print()
    console.print(table)


def _print_figures(console: "Console", rows: list[tuple[str, dict[str, Any]]]) -> None:
    """Mean and standard deviation of each figure, one a line."""
    names = list(rows[0][1]["figures"])
    if not names:
        return
    table = _new_table("mean ± sd", *(f"{seat} {_safe(row['agent'])}" for seat, row in rows), right=1)
    for name in names:
        cells = [row["figures"][name] for _, row in rows]
        table.add_row(_safe(name), *(f"{cell['mean']:.2f} ± {_number(cell['sd'])}" for cell in cells))
    console.print()
    console.print(table)


def _print_counts(console: "Console", group: str, counts: dict[str, dict[str, int]]) -> None:
    """A group of counts: how much of it was reached, what never was, and what was most."""
    never = [name for name, count in counts.items() if not count["total"]]
    ranked = sorted((name for name in counts if counts[name]["total"]), key=lambda name: -counts[name]["total"])
    console.print(f"\n[bold]{_safe(group)}[/bold]: {len(ranked)} of {len(counts)} reached")
    if never:
        more = f" and {len(never) - _MOST_NEVER} more" if len(never) > _MOST_NEVER else ""
        console.print(f"[yellow]never[/yellow]: {_safe(', '.join(never[:_MOST_NEVER]))}{more}", soft_wrap=True)
    shown = ranked if len(counts) <= 2 * _MOST_NAMES + _MOST_NAMES // 2 else ranked[:_MOST_NAMES]
    table = _new_table("most" if len(shown) < len(ranked) else "", "in all", "in games", right=1)
    for name in shown:
        table.add_row(_safe(name), f"{counts[name]['total']:,}", f"{counts[name]['games']:,}")
    if shown:
        console.print(table)
    if len(shown) < len(ranked):
        least = ", ".join(f"{name} {counts[name]['total']:,}" for name in ranked[: -_MOST_LEAST - 1 : -1])
        console.print(f"least: {_safe(least)}", soft_wrap=True)


def _print_failures(console: "Console", tally: "Tally") -> None:
    failed = tally.failed
    console.print(f"\n[bold red]{len(failed)} of {len(tally.games)} games failed[/bold red]")
    for game in failed[:_MOST_FAILURES]:
        failure = game.failure
        assert failure is not None
        who = "" if failure.player is None else f", player_{failure.player} {tally.simulation.agents[failure.player]}"
        where = "" if failure.ply is None else f" at ply {failure.ply}{who}"
        console.print(f"seed {game.seed}{_safe(where)}: {_safe(f'{failure.kind}: {failure.message}')}", soft_wrap=True)
        console.print(f"  [cyan]{_safe(_command(tally.simulation, [game.seed]))}[/cyan]", soft_wrap=True)
    if len(failed) > _MOST_FAILURES:
        console.print(f"and {len(failed) - _MOST_FAILURES} more; all of them again:")
        everything = _command(tally.simulation, [game.seed for game in failed])
        console.print(f"  [cyan]{_safe(everything)}[/cyan]", soft_wrap=True)
    first = failed[0].failure
    if first is not None and first.traceback:
        console.print(f"[dim]{_safe(first.traceback)}[/dim]", soft_wrap=True)


def _new_table(*columns: str, right: int = 2) -> Any:
    """A plain table, whose columns from `right` on are numbers."""
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number >= right else "left")
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _safe(text: str) -> str:
    from rich.markup import escape

    return escape(text)
