"""`cardenvs simulate`: many games at one table."""

import dataclasses
import os
import re
import secrets
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardenvs.cli.compiling import compile_for
from cardenvs.cli.exit_codes import EXIT_FAILED, EXIT_INTERRUPTED
from cardenvs.cli.files import Outputs
from cardenvs.cli.options import option_text, read_options
from cardenvs.cli.progress import ProgressBar
from cardenvs.cli.shared import (
    MAX_COUNT,
    MAX_PROCESSES,
    MAX_SEED,
    GameName,
    GamesStore,
    OptionTexts,
    escaped,
    new_console,
    new_table,
)
from cardenvs.core.errors import AgentError, ArenaError

if TYPE_CHECKING:
    from rich.console import Console

    from cardenvs.arena.simulate import PlayedGame, Simulation, Tally
    from cardenvs.core.game import Game

_GAMES = 100
_MOST_PLAYERS, _MOST_DIGITS = 1000, 19
_WIDTH_IN_FILES = 160
_MOST_FAILURES = 10  # printed in full
_MOST_NAMES = 12  # of a group of counts: the most frequent
_MOST_LEAST = 5  # ... and the least frequent
_MOST_NEVER = 60  # of a group of counts: names that never came up


def simulate(
    game: GameName,
    games: Annotated[
        int | None, typer.Option(min=1, max=MAX_COUNT, help=f"Number of games; default: {_GAMES}.")
    ] = None,
    players: Annotated[
        int | None, typer.Option(min=1, max=_MOST_PLAYERS, help="Players at the table; default: the game's.")
    ] = None,
    agents: Annotated[
        str, typer.Option(metavar="A,B,...", help="Agents by seat, as for `match`; fewer are repeated round the table.")
    ] = "random",
    seed: Annotated[
        int | None, typer.Option(min=0, max=MAX_SEED, help="Master seed of all games; default: drawn.")
    ] = None,
    seeds: Annotated[str | None, typer.Option(metavar="A,B,...", help="Play only the games with these seeds.")] = None,
    processes: Annotated[
        int | None,
        typer.Option("--processes", "-p", min=1, max=MAX_PROCESSES, help="Processes to play in; default: one a core."),
    ] = None,
    option: OptionTexts = None,
    store: GamesStore = None,
    resume: Annotated[bool, typer.Option("--resume", help="Skip games that the store already has.")] = False,
    guests_key: Annotated[
        str | None, typer.Option(metavar="HEX", help="To repeat games with your own agents or language models.")
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all games and sums as JSON.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the summary only: no games, no bar.")] = False,
) -> None:
    """Play many games at one table: a line for each, then sums, coverage, and what failed.

    A game depends on its seed alone, not on the processes. A game fails if an agent or the rules raise, returns or
    conserved quantities do not add up, or a process dies. Failures are reported with the command that repeats them;
    the other games go on, and the exit code is 1. --store keeps finished games, and the same command with --resume
    plays the rest. Agents keep their seats: use `cardenvs match` to compare them without the luck of the seat.

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
            compile_for(table.game, table.options, table.agents)
            prepare(table)
            interrupted = _play(tally, play(table, wanted, number, kept), len(wanted), quiet)
    except ArenaError as error:  # such as a full disk under the store: report what was played
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
        raise typer.Exit(EXIT_INTERRUPTED)
    outputs.close()
    if tally.failed:
        raise typer.Exit(EXIT_FAILED)


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
        if not text.strip().isdecimal() or len(text.strip()) > _MOST_DIGITS or int(text) > MAX_SEED:
            raise ArenaError(f"--seeds takes numbers from 0 to 2**63-1 separated by commas; got {_short(text, 40)!r}")
        wanted.append(int(text))
    return wanted


def _table(game: "Game", players: int | None, agents: str, option: list[str] | None, key: str | None) -> "Simulation":
    from cardenvs.agents.specs import split_specs
    from cardenvs.arena.simulate import Simulation

    options = read_options(game, option, players=players)
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
    """The command that repeats games: those of `seeds`, or `games` games from the master seed `seed`."""
    from cardenvs.agents.specs import is_guest

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

    hidden = quiet or not sys.stderr.isatty()  # the lines of the games say it
    width = len(str(total))
    with ProgressBar(tally.simulation.game.title, unit="games", total=total, hidden=hidden) as bar:
        try:
            with contextlib.closing(games):  # type: ignore[type-var]  # a generator: it ends its processes
                for game in games:
                    tally.add(game)
                    if not quiet:
                        print(_line(tally.simulation, len(tally.games), width, game))
                    bar.show(len(tally.games))
        except KeyboardInterrupt:
            return True
    return False


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
    console = new_console()
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
    console.print(f"\n[bold]{table.game.title}[/bold]{escaped(changed)}: {summary['games']} games", soft_wrap=True)
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
    table = new_table(
        "seat", "agent", "won", "shared", f"mean return ({unit}), 95%", "sd", "least", "most", right=2
    )  # fmt: skip
    for seat, row in rows:
        of = row["returns"]
        half = "" if of["low"] is None else f" ± {of['mean'] - of['low']:.3f}"
        table.add_row(
            seat, escaped(row["agent"]), str(row["won"]), str(row["shared"]), f"{of['mean']:+.3f}{half}",
            _number(of["sd"]), f"{of['min']:+g}", f"{of['max']:+g}",
        )  # fmt: skip
    console.print()
    console.print(table)


def _print_figures(console: "Console", rows: list[tuple[str, dict[str, Any]]]) -> None:
    """Mean and standard deviation of each figure, one a line."""
    names = list(rows[0][1]["figures"])
    if not names:
        return
    table = new_table("mean ± sd", *(f"{seat} {escaped(row['agent'])}" for seat, row in rows), right=1)
    for name in names:
        cells = [row["figures"][name] for _, row in rows]
        table.add_row(escaped(name), *(f"{cell['mean']:.2f} ± {_number(cell['sd'])}" for cell in cells))
    console.print()
    console.print(table)


def _print_counts(console: "Console", group: str, counts: dict[str, dict[str, int]]) -> None:
    """A group of counts: how much of it was reached, what never was, and what was most."""
    never = [name for name, count in counts.items() if not count["total"]]
    ranked = sorted((name for name in counts if counts[name]["total"]), key=lambda name: -counts[name]["total"])
    console.print(f"\n[bold]{escaped(group)}[/bold]: {len(ranked)} of {len(counts)} reached")
    if never:
        more = f" and {len(never) - _MOST_NEVER} more" if len(never) > _MOST_NEVER else ""
        console.print(f"[yellow]never[/yellow]: {escaped(', '.join(never[:_MOST_NEVER]))}{more}", soft_wrap=True)
    shown = ranked if len(counts) <= 2 * _MOST_NAMES + _MOST_NAMES // 2 else ranked[:_MOST_NAMES]
    table = new_table("most" if len(shown) < len(ranked) else "", "in all", "in games", right=1)
    for name in shown:
        table.add_row(escaped(name), f"{counts[name]['total']:,}", f"{counts[name]['games']:,}")
    if shown:
        console.print(table)
    if len(shown) < len(ranked):
        least = ", ".join(f"{name} {counts[name]['total']:,}" for name in ranked[: -_MOST_LEAST - 1 : -1])
        console.print(f"least: {escaped(least)}", soft_wrap=True)


def _print_failures(console: "Console", tally: "Tally") -> None:
    failed = tally.failed
    console.print(f"\n[bold red]{len(failed)} of {len(tally.games)} games failed[/bold red]")
    for game in failed[:_MOST_FAILURES]:
        failure = game.failure
        assert failure is not None
        who = "" if failure.player is None else f", player_{failure.player} {tally.simulation.agents[failure.player]}"
        where = "" if failure.ply is None else f" at ply {failure.ply}{who}"
        what = f"seed {game.seed}{where}: {failure.kind}: {failure.message}"
        console.print(escaped(what), soft_wrap=True)
        console.print(f"  [cyan]{escaped(_command(tally.simulation, [game.seed]))}[/cyan]", soft_wrap=True)
    if len(failed) > _MOST_FAILURES:
        console.print(f"and {len(failed) - _MOST_FAILURES} more; all of them again:")
        everything = _command(tally.simulation, [game.seed for game in failed])
        console.print(f"  [cyan]{escaped(everything)}[/cyan]", soft_wrap=True)
    first = failed[0].failure
    if first is not None and first.traceback:
        console.print(f"[dim]{escaped(first.traceback)}[/dim]", soft_wrap=True)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
