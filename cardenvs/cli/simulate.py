"""`cardenvs simulate`: many games at one table."""

import os
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

import cardenvs.cli.shared as shared
from cardenvs.cli.compiling import compile_for
from cardenvs.cli.exit_codes import EXIT_FAILED, EXIT_INTERRUPTED
from cardenvs.cli.files import Outputs
from cardenvs.cli.options import option_text, read_options
from cardenvs.cli.progress import ProgressBar
from cardenvs.core.errors import AgentError, ArenaError
from cardenvs.core.files import write_json
from cardenvs.core.registry import get_game
from cardenvs.core.text import count

if TYPE_CHECKING:
    from cardenvs.agents.guarded.limits import AgentLimits
    from cardenvs.agents.observers import Narrative
    from cardenvs.arena.match import Match
    from cardenvs.arena.records import GameRecord
    from cardenvs.arena.results.sums import GameSums
    from cardenvs.arena.store import Store

FORMAT = "cardenvs-simulation-2"
_GAMES = 100
_MOST_PLAYERS, _MOST_DIGITS = 1000, 15
_WIDTH_IN_FILES = 160
_LONGEST_ERROR = 120  # in the line of a game
_FAIL = "fail"
_TIME_LIMIT, _TRIES = 30.0, 3  # of agents


def simulate(
    game: shared.GameName,
    games: Annotated[
        int | None, Option(min=1, max=shared.MAX_COUNT, help=f"Number of games; default: {_GAMES}.")
    ] = None,
    players: Annotated[
        int | None, Option(min=1, max=_MOST_PLAYERS, help="Players at the table; default: the game's.")
    ] = None,
    agents: Annotated[
        str,
        Option(metavar="A,B,...", help="Agents by seat, as for `match`; fewer agents are repeated around the table."),
    ] = "random",
    seed: Annotated[
        str | None,
        Option("--seed", metavar="SEED", help="A number, or the seed that a simulation printed; default: drawn."),
    ] = None,
    only: Annotated[str | None, Option(metavar="A,B,...", help="Play only the games with these numbers.")] = None,
    processes: Annotated[
        int | None,
        Option(
            "--processes", "-p", min=1, max=shared.MAX_PROCESSES, help="Number of processes; default: one per core."
        ),
    ] = None,
    option: shared.OptionTexts = None,
    store: shared.GamesStore = None,
    resume: Annotated[bool, Option("--resume", help="Skip games that the store already has.")] = False,
    json: Annotated[Path | None, Option(metavar="FILE", help="Write all games and sums as JSON.")] = None,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print the summary only, without games and bar.")] = False,
    narrate: Annotated[
        bool, Option("--narrate", help="Narrate each game as a spectator sees it, in one process.")
    ] = False,
    on_failure: Annotated[
        str,
        Option(
            metavar="forfeit|forced_action|fail",
            help="After the last failed try at a decision: the player leaves the game, a safe action is played, or "
            "the game fails.",
        ),
    ] = "forfeit",
    time_limit: Annotated[
        float, Option(min=0, callback=shared.finite, help="Seconds for each try at a decision; 0: no limit.")
    ] = _TIME_LIMIT,
    tries: Annotated[int, Option(min=1, max=100, help="Tries at a decision.")] = _TRIES,
) -> None:
    """Play many games at one table: a line for each, then sums, coverage and failures.

    A simulation is a match with fixed seats, one game per deal, and stores of `match` can hold it. A game depends only
    on the seed and its number, not on the processes. An agent that answers too late, raises, or chooses an illegal
    action is asked again. After three failed tries it forfeits; if two others remain, they play on. A game fails if
    the rules raise, if returns or conserved quantities do not add up, or if a process dies; with --on-failure fail,
    also at an agent's first failure, with a traceback. Failures are reported with the command that repeats them. The
    other games are still played, and the exit code is 1, as after a forfeit. --store keeps finished games, and the same
    command with --resume plays the rest. To compare agents without the luck of the seat, use `cardenvs match`.

    Examples (the last one replays two games):

    - `cardenvs simulate wingspan --games 1000 --players 3`
    - `cardenvs simulate wingspan --games 1 --narrate`
    - `cardenvs simulate durak --agents python:my_agent:make,random --time-limit 2 --on-failure fail`
    - `cardenvs simulate leduc_poker --agents search:simulations=20,random --games 200 --seed 7 --json games.json`
    - `cardenvs simulate gin_rummy --agents heuristic,random -o match_target=100 --quiet -p 2`
    - `cardenvs simulate kuhn_poker --seed 7 --only 12,40`
    """
    from cardenvs.arena.results.sums import GameSums
    from cardenvs.arena.store import Store
    from cardenvs.arena.workers import usable_processes

    outputs = Outputs({"--json": json}, used={"--store": store})
    if resume and store is None:
        raise ArenaError("--resume needs the --store of the games to resume")
    if narrate and (quiet or (processes or 1) > 1):
        raise ArenaError(
            "--narrate narrates games while they are played, in one process: leave out --quiet and --processes"
        )
    numbers = _numbers(only, games, seed)
    guard = _guard(on_failure, time_limit, tries)
    match = table_match(game, players, agents, option, numbers[-1] + 1 if numbers else games or _GAMES, seed, guard)
    total = len(numbers) if numbers else match.deals
    interrupted, lost = False, None
    with Store(store) as opened:
        match = opened.seeded(match, resume)
        compile_for(match.game, match.options, match.specs)
        run = _Run(match, total, quiet, narrate)
        try:
            wanted = 1 if narrate else processes or usable_processes()
            interrupted = run.play(opened, min(wanted, total), resume, numbers)
        except ArenaError as error:  # such as a full disk under the store: report what was played
            if not run.games:
                raise
            lost = error
        failed = opened.failed(match.id)
        command = _command(match, numbers)
        sums = GameSums.of(match, opened.records(match.id))
        _print_summary(run, sums, failed, command)
        outputs.write("JSON", json, lambda path: _write_json(path, run, opened, sums, failed, command))
    if lost is not None:
        raise lost
    if interrupted:
        go_on = f"; they are in {store}, add --resume to play the rest" if store else ""
        typer.secho(f"Stopped after {run.games} of {total} games{go_on}.", fg="yellow", err=True)
        raise typer.Exit(EXIT_INTERRUPTED)
    outputs.close()
    if failed or sums.forfeits:
        raise typer.Exit(EXIT_FAILED)


# -- arguments ----------------------------------------------------------------------------------------------------


def _numbers(only: str | None, games: int | None, seed: str | None) -> list[int] | None:
    """Return the numbers of --only, in order."""
    if only is None:
        return None
    if games is not None or seed is None:
        raise ArenaError("--only lists games of a simulation: give its --seed, and leave out --games")
    wanted = set()
    for text in only.split(","):
        if not text.strip().isdecimal() or len(text.strip()) > _MOST_DIGITS:
            short = text if len(text) <= 40 else f"{text[:37]}..."
            raise ArenaError(f"--only takes numbers of games, from 0, separated by commas; got {short!r}")
        wanted.add(int(text))
    return sorted(wanted)


def _guard(on_failure: str, time_limit: float, tries: int) -> "AgentLimits | None":
    from cardenvs.agents.guarded.limits import ON_FAILURE, AgentLimits

    if on_failure == _FAIL:
        return None
    if on_failure not in ON_FAILURE:
        raise ArenaError(f"--on-failure is {', '.join(ON_FAILURE)} or {_FAIL}; got {on_failure!r}")
    return AgentLimits(time_limit=time_limit or None, tries=tries, on_failure=on_failure)


def table_match(
    name: str,
    players: int | None,
    agents: str,
    option: list[str] | None,
    games: int,
    seed: str | None,
    guard: "AgentLimits | None" = None,
) -> "Match":
    """Return the match of games at one table.

    `agents` are specs by seat, repeated around the table. By default, the game sets the number of players, and the seed
    is drawn.

    Raises:
        CardenvsError: an argument is not valid.
    """
    from cardenvs.agents.specs import split_specs
    from cardenvs.arena.match import Match
    from cardenvs.arena.schedule import FIXED

    game = get_game(name)
    options = read_options(game, option, players=players)
    specs = split_specs(agents)
    if len(specs) > options.num_players:
        raise AgentError(
            f"{len(specs)} agents for {options.num_players} players of {game.name}; add --players {len(specs)}"
        )
    seated = [specs[p % len(specs)] for p in range(options.num_players)]
    return Match.make(game, options, seated, games, seed, schedule=FIXED, guard=guard)


def _command(match: "Match", numbers: list[int] | None) -> str:
    """Return the command that plays the same games, or the games with some numbers."""
    words = ["cardenvs", "simulate", match.game.name, "--seed", match.seed_text]
    words += ["--only", ",".join(map(str, numbers))] if numbers else ["--games", str(match.deals)]
    words += ["--players", str(match.options.num_players), "--agents", ",".join(match.specs)]
    for name in match.options.changed():
        if name != "num_players":
            words += ["-o", f"{name}={option_text(getattr(match.options, name))}"]
    words += _guard_words(match.guard)
    return shlex.join(words)


def _guard_words(guard: "AgentLimits | None") -> list[str]:
    """Return the arguments for limits that differ from the defaults."""
    if guard is None:
        return ["--on-failure", _FAIL]
    words = [] if guard.on_failure == "forfeit" else ["--on-failure", guard.on_failure]
    words += [] if guard.time_limit == _TIME_LIMIT else ["--time-limit", f"{guard.time_limit or 0:g}"]
    return words + ([] if guard.tries == _TRIES else ["--tries", str(guard.tries)])


# -- playing ------------------------------------------------------------------------------------------------------


class _Run:
    """Plays games under a progress bar and prints a line for each."""

    def __init__(self, match: "Match", total: int, quiet: bool, narrate: bool) -> None:
        self.match, self.total, self._quiet, self._narrate = match, total, quiet, narrate
        self.games = self.plies = 0
        self.seconds = 0.0

    def play(self, store: "Store", processes: int, resume: bool, numbers: list[int] | None) -> bool:
        """Play. Returns whether it was interrupted."""
        from cardenvs.arena.run import run

        hidden = self._quiet or not sys.stderr.isatty()  # the lines of the games show the progress
        started = time.perf_counter()
        with ProgressBar(self.match.game.title, unit="games", total=self.total, hidden=hidden) as bar:
            try:
                run(
                    [self.match], store, resume=resume, processes=processes, keep_going=True, statistics=True,
                    only=numbers, progress=bar.show, each=self._note, observers=[_printer()] if self._narrate else [],
                )  # fmt: skip
            except KeyboardInterrupt:
                return True
            finally:
                self.seconds = time.perf_counter() - started
        return False

    def _note(self, match: "Match", game: "GameRecord") -> None:
        self.games += 1
        self.plies += len(game.actions)
        if not self._quiet:
            print(self._line(game))

    def _line(self, game: "GameRecord") -> str:
        """Return a game in one line: number, seed, winners, score, returns, plies."""
        start = f"{game.deal:>{len(str(self.match.deals - 1))}}  seed {game.seed:<19}"
        if game.error is not None:
            error = game.error.partition("\n")[0]
            return f"{start}  FAILED  {error if len(error) <= _LONGEST_ERROR else f'{error[: _LONGEST_ERROR - 3]}...'}"
        winners = " and ".join(f"player_{p} {self.match.specs[p]}" for p in game.winners) or "nobody"
        returns = " ".join(f"{value:+g}" for value in game.returns)
        figures = game.statistics.figures if game.statistics is not None else {}
        scores = [f"{name} {' '.join(f'{v:g}' for v in values)}" for name, values in figures.items()]
        return "  ".join([start, f"won by {winners}", *scores[:1], f"returns {returns}", f"{len(game.actions)} plies"])


def _printer() -> "type[Narrative]":
    from cardenvs.agents.observers import Narrative

    class Printed(Narrative):
        def tell(self, line: str) -> None:
            print(line, flush=True)

    return Printed


# -- results ------------------------------------------------------------------------------------------------------


def _print_summary(run: _Run, sums: "GameSums", failed: list[tuple[str, int, int, str]], command: str) -> None:
    from cardenvs.arena.output.sums import print_failed_tries, print_failures, print_results, print_statistics

    console = shared.new_console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH_IN_FILES
    match, document = run.match, sums.as_dict()
    changed = "".join(f" {name}={value}" for name, value in match.options.changed().items())
    games = sums.games + len(failed)
    console.print(f"\n[bold]{match.game.title}[/bold]{shared.escaped(changed)}: {count(games, 'game')}", soft_wrap=True)
    seconds = max(run.seconds, 1e-9)
    console.print(f"{run.seconds:.1f} s, {run.games / seconds:,.1f} games/s, {run.plies / seconds:,.0f} actions/s")
    if sums.games:
        plies = document["plies"]
        console.print(f"plies per game: {plies['mean']:.1f} ({plies['min']:.0f} to {plies['max']:.0f})")
        print_results(document, match.game.returns(match.options).unit, console)
        print_statistics(document, console)
        print_failed_tries(document, sums.first_failures, console)
    print_failures([error for *_, error in failed], games, console)
    if failed:
        again = _command(match, sorted({deal for _, deal, _, _ in failed}))
        console.print(f"To repeat all of them:\n  [cyan]{shared.escaped(again)}[/cyan]", soft_wrap=True)
    typer.secho(command, dim=True, err=True)


def _write_json(
    path: Path, run: _Run, store: "Store", sums: "GameSums", failed: list[tuple[str, int, int, str]], command: str
) -> None:
    from cardenvs.arena.output.sums import failures_json

    match, seconds = run.match, max(run.seconds, 1e-9)
    written = {
        "format": FORMAT,
        "game": match.game.name,
        "options": match.options.as_dict(),
        "agents": list(match.specs),
        "seed": match.seed_text,
        "command": command,
        "seconds": run.seconds,
        "games_per_second": run.games / seconds,
        "actions_per_second": run.plies / seconds,
        "summary": sums.as_dict(),
        "failures": failures_json(failed),
        "games": [_game_json(game) for game in store.records(match.id)],
    }
    write_json(path, written)


def _game_json(game: "GameRecord") -> dict[str, Any]:
    return {
        "number": game.deal,
        "seed": game.seed,
        "plies": len(game.actions),
        "returns": list(game.returns),
        "winners": list(game.winners),
        "figures": {} if game.statistics is None else game.statistics.figures,
    }
