"""The command line: `cardenvs --help`.

Commands import what they need when they run, so that help is instant.
"""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardenvs import cli_arena, cli_llm, cli_simulate
from cardenvs.cli_files import Outputs, finite, input_file
from cardenvs.cli_streams import check_arguments, clean_errors, run_safely
from cardenvs.core.errors import AgentError, ArenaError, CardenvsError, OptionError

if TYPE_CHECKING:
    from rich.console import Console

    from cardenvs.agents.base import Agent
    from cardenvs.agents.proxy import AgentLimits
    from cardenvs.arena.match import Match
    from cardenvs.arena.statistics import Summary
    from cardenvs.core.game import Game
    from cardenvs.core.options import Options
    from cardenvs.core.replay import Replay
    from cardenvs.core.state import State

_MAX_SEED = 2**63 - 1
_EXIT_INTERRUPTED = 130
_MOST_PROCESSES, _MOST_BATCH = 1024, 4096
_MOST_DIGITS = 18  # of a number that a person types


class _Commands(typer.core.TyperGroup):
    """The commands below, then those that single games bring (`cli.py` in their folders)."""

    def main(self, *args: Any, **options: Any) -> Any:
        return run_safely(lambda: super(_Commands, self).main(*args, **options))

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        with clean_errors():
            check_arguments(args)
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        with clean_errors():
            return super().invoke(ctx)

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        return [*own, *(name for name in _game_commands() if name not in own)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        own = super().get_command(ctx, cmd_name)
        found = _game_commands()
        return _CommandsOfAGame(cmd_name, *found[cmd_name]) if own is None and cmd_name in found else own


class _CommandsOfAGame(typer.core.TyperGroup):
    """The commands that a game brings. They are loaded when one is asked for; before, only the file's first line is."""

    def __init__(self, name: str, module: str, file: Path) -> None:
        import ast

        first, *_ = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").split("\n")
        super().__init__(
            name=name, help=first, no_args_is_help=True, rich_markup_mode="markdown", rich_help_panel="Single games"
        )
        self._module = module

    def _loaded(self) -> Any:
        import importlib

        return typer.main.get_group(importlib.import_module(self._module).app)

    def list_commands(self, ctx: Any) -> list[str]:
        return self._loaded().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return self._loaded().get_command(ctx, cmd_name)


def _game_commands() -> dict[str, tuple[str, Path]]:
    from cardenvs.core.registry import game_commands

    return game_commands()


app = typer.Typer(
    cls=_Commands, no_args_is_help=True, rich_markup_mode="markdown", pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Card games for reinforcement learning: play them, compare agents on the same deals, train, replay.",
)  # fmt: skip

GameName = Annotated[str, typer.Argument(metavar="GAME", help="Name of a game; without its version, the newest one.")]
OptionTexts = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the game. May be repeated."),
]
SeedOption = Annotated[int, typer.Option(min=0, max=_MAX_SEED, help="Seed of all cards and agents.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"cardenvs {version('cardenvs')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Options before any command."""


# ---------------------------------------------------------------------------------------------------------------
# Games


@app.command()
def games() -> None:
    """List the games.

    Example: `cardenvs games`
    """
    from rich.table import Table

    from cardenvs.core.registry import list_games

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("game", "", "players", "actions", "observation", "longest"):
        table.add_column(column, justify="left" if column in ("game", "") else "right", no_wrap=True)
    failures = []
    for name in list_games():
        try:
            table.add_row(f"[cyan]{name}[/cyan]", *_game_row(name))
        except (ImportError, AttributeError) as error:  # a game of another package, perhaps: list the others still
            failures.append(f"{name} cannot be loaded: {error}")
    _console().print(table)
    for failure in failures:
        typer.secho(failure, fg="red", err=True)


def _game_row(name: str) -> tuple[str, ...]:
    game = _game(name)
    options = game.make_options()
    sizes = (game.num_actions(options), game.layout(options).size, game.max_length(options))
    return (game.title, _players_text(game), *map(str, sizes))


@app.command()
def info(
    game: GameName,
    option: OptionTexts = None,
    rules: Annotated[bool, typer.Option("--rules", help="Print the rules instead.")] = False,
) -> None:
    """Show a game's numbers, options and observation.

    Example: `cardenvs info leduc_poker_v0 -o num_players=3`
    """
    found = _game(game)
    options = read_options(found, option)
    console = _console()
    if rules:
        from rich.markdown import Markdown

        console.print(Markdown(found.rules_text))
        return
    console.print(f"[bold]{found.title}[/bold]  [cyan]{found.name}[/cyan]\n")
    for table in (_numbers_table(found, options), _options_table(found, options), _sections_table(found, options)):
        console.print(table)
        console.print()


def _numbers_table(game: "Game", options: "Options") -> Any:
    returns, layout = game.returns(options), game.layout(options)
    total = "they vary in sum" if returns.total is None else f"they add up to {returns.total:g}"
    rows = {
        "players": f"{options.num_players} ({_players_text(game)} possible)",
        "actions": f"{game.num_actions(options)}, at most {game.max_legal(options)} legal at once",
        "observation": f"{layout.size} x {layout.dtype}, layout {layout.hash}",
        "returns": f"{returns.low:g} to {returns.high:g} {returns.unit}; {total}",
        "length": f"at most {game.max_length(options)} actions",
        "phases": ", ".join(phase.replace("_", " ") for phase in game.phases),
        "hiding": ", ".join(phase.replace("_", " ") for phase in game.hidden_phases) or "nothing is hidden",
        "agents": ", ".join(
            [*game.engine.policy_names(), "search", "ppo:PATH", "llm:NAME", "python:MODULE:FACTORY", "process:COMMAND"]
        ),
    }
    return _plain_table(("", ""), rows.items())


def _options_table(game: "Game", options: "Options") -> Any:
    import dataclasses

    rows = []
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        rows.append((field.name, option_text(value), _allowed_text(field), field.metadata["doc"]))
    return _plain_table(("option", "value", "allowed", ""), rows)


def option_text(value: Any) -> str:
    """The value of an option as it is written on the command line."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value).lower()


def _allowed_text(field: Any) -> str:
    meta = field.metadata
    if meta["choices"]:
        text = " or ".join(meta["choices"])
    elif isinstance(field.default, bool):
        text = "true or false"
    else:
        low, high = meta["low"], meta["high"]
        text = "" if low is None else str(low) if low == high else f"{low} to {'' if high is None else high}"
        text = f"up to {meta['length']} of {text}" if meta["length"] else text
    return f"{text} or none" if meta["optional"] else text


def _sections_table(game: "Game", options: "Options") -> Any:
    layout = game.layout(options)
    rows = [
        (section.name, f"{start}..{start + section.size - 1}", f"{section.low:g} to {section.high:g}", section.doc)
        for section, start in zip(layout.sections, layout.starts, strict=True)
    ]
    return _plain_table(("observation", "at", "values", ""), rows)


def _plain_table(columns: tuple[str, ...], rows: Any) -> Any:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0), show_header=any(columns))
    for number, column in enumerate(columns):
        table.add_column(column, style="cyan" if number == 0 else "", overflow="fold")
    for row in rows:
        table.add_row(*(escape(str(cell)) for cell in row))
    return table


def _players_text(game: "Game") -> str:
    import dataclasses

    (field,) = (field for field in dataclasses.fields(game.options) if field.name == "num_players")
    low, high = field.metadata["low"], field.metadata["high"]
    return str(low) if low == high else f"{low} to {high}"


# ---------------------------------------------------------------------------------------------------------------
# Playing


@app.command()
def play(
    game: GameName,
    against: Annotated[
        str | None, typer.Option(metavar="AGENTS", help="The other players: one agent for all, or one for each seat.")
    ] = None,
    seat: Annotated[int, typer.Option(min=0, help="Your player, from 0.")] = 0,
    seed: Annotated[
        str | None, typer.Option(metavar="SEED", help="Of deal and chance: a number, or what `play` printed; drawn.")
    ] = None,
    option: OptionTexts = None,
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a replay when you stop.")] = None,
) -> None:
    """Play a game in the terminal. You see what your seat may know.

    Examples: `cardenvs play leduc_poker_v0 --against search`,
    `cardenvs play kuhn_poker_v0 --against random,search -o num_players=3 --seat 1 --save game.json`
    """
    import secrets
    import shlex

    from cardenvs.agents.seeds import MatchSeed
    from cardenvs.agents.specs import is_guest

    found = _game(game)
    options = read_options(found, option)
    if seat >= options.num_players:
        raise ArenaError(f"{found.name} has players 0 to {options.num_players - 1} here; --seat {seat} is none of them")
    outputs = Outputs({"--save": save})
    specs = _opponents(found, options, against)
    drawn = MatchSeed.of(secrets.randbits(63) if seed is None else seed)
    if drawn.secret > _MAX_SEED:
        raise ArenaError(f"--seed {seed} is that of a match; a single game has a number from 0 to 2**63-1")
    state = found.state_type(found, options, seed=drawn.secret)
    names = [*specs[:seat], "you", *specs[seat:]]
    _play_in_terminal(state, seat, names, drawn.guests_key)
    if save is not None:
        from cardenvs.core.replay import Replay

        outputs.write("replay", save, Replay.of(state, names).save)
    repeated = drawn.token if any(map(is_guest, specs)) else drawn.text
    again = ["cardenvs", "play", found.name, "--seed", repeated, "--seat", str(seat)]
    again += ["--against", ",".join(specs), *(word for text in option or () for word in ("-o", text))]
    typer.secho(shlex.join(again), dim=True)
    outputs.close()


def _opponents(game: "Game", options: "Options", against: str | None) -> list[str]:
    from cardenvs.agents.specs import split_specs

    specs = split_specs(against) if against else ["heuristic" if "heuristic" in game.policies else "random"]
    others = options.num_players - 1
    if len(specs) not in (1, others):
        raise AgentError(f"--against takes one agent, or one for each of the {others} other players; got {len(specs)}")
    return specs * others if len(specs) == 1 else specs


def _play_in_terminal(state: "State", seat: int, names: list[str], guests_key: str) -> None:
    from cardenvs.agents.python import raised_text
    from cardenvs.agents.seating import Seat
    from cardenvs.agents.seeds import guest_seed
    from cardenvs.agents.specs import is_guest
    from cardenvs.agents.terminal import QuitGame, TerminalAgent
    from cardenvs.arena.play import check_choice
    from cardenvs.core.results import ResultCheck
    from cardenvs.core.rng import derived_seed

    console = _console()
    you = TerminalAgent(console)
    agents: list[Agent] = [you if p == seat else _made(names[p], state) for p in range(state.num_players)]
    seeds = [
        guest_seed(guests_key, state.seed, p) if is_guest(names[p]) else derived_seed(state.seed, "player", p)
        for p in range(state.num_players)
    ]
    seats = [Seat(agent, p, seeds[p]) for p, agent in enumerate(agents)]
    for each in seats:
        each.agent.reset(each.seed)
    check = ResultCheck(state)
    others = ", ".join(f"player_{p} is {name}" for p, name in enumerate(names) if p != seat)
    console.print(f"[bold]{state.game.title}[/bold]: you are player_{seat}, {others}. Type help for help.", markup=True)
    try:
        while not state.is_terminal:
            player = state.current_player
            to_act = seats[player]
            try:
                action = to_act.agent.act(to_act.turn(state))
            except (CardenvsError, QuitGame):
                raise
            except Exception as error:  # whatever an agent raises is the agent's failure
                raise AgentError(f"player_{player}, {names[player]}, failed: {raised_text(error)}") from error
            check_choice(state, action)
            to_act.decided(state)
            state.apply(action)
    except (QuitGame, KeyboardInterrupt):
        console.print("\nYou leave the game.")
        return
    finally:
        for agent in agents:
            if hasattr(agent, "close"):
                agent.close()
    fault = check.fault(state)
    if fault is not None:
        raise ArenaError(fault)
    you.tell(state.recap(seat))
    _print_result(console, state, seat)


def _made(spec: str, state: "State") -> "Agent":
    from cardenvs.agents.specs import make_agent

    return make_agent(spec, state.game, state.options)


def _print_result(console: "Console", state: "State", seat: int) -> None:
    unit = state.game.returns(state.options).unit
    mine = state.returns[seat]
    colour = "green" if mine > 0 else "red" if mine < 0 else "yellow"
    everyone = ", ".join(f"player_{p} {value:+g}" for p, value in enumerate(state.returns))
    console.print(f"[bold {colour}]The game is over: {mine:+g} {unit} for you.[/bold {colour}] ({everyone})")


# ---------------------------------------------------------------------------------------------------------------
# Comparing agents


@app.command()
def match(
    game: GameName,
    agents: Annotated[str, typer.Option(metavar="A,B,...", help="Agents to compare; see the examples.")],
    deals: Annotated[int, typer.Option(min=1, max=10**15, help="Duplicate deals.")] = 1000,
    seed: Annotated[
        str | None,
        typer.Option(metavar="SEED", help="A number, or what a match printed as its seed; drawn if not given."),
    ] = None,
    processes: Annotated[
        int, typer.Option("--processes", "-p", min=1, max=_MOST_PROCESSES, help="Processes to play in.")
    ] = 1,
    option: OptionTexts = None,
    store: Annotated[Path | None, typer.Option(metavar="FILE", help="SQLite file that keeps finished games.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a match that the store has games of.")] = False,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the result as JSON.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the result as one HTML page.")] = None,
    batch: Annotated[
        int, typer.Option(min=1, max=_MOST_BATCH, help="Games side by side for agents that batch or wait.")
    ] = 64,
    on_failure: Annotated[
        str, typer.Option(metavar="stop|forfeit|forced_action", help="What follows when an agent fails.")
    ] = "stop",
    keep_env: Annotated[
        list[str] | None,
        typer.Option("--keep-env", metavar="NAME", help="Pass a variable to agents in processes. May be repeated."),
    ] = None,
) -> None:
    """Compare agents on duplicate deals and print a leaderboard with intervals.

    Every deal is played in every seating (above three players: every rotation) with the same cards. The result
    depends on the seed alone, not on the number of processes; the seed is drawn, and printed at the end, unless you
    give one.

    Agents: random, heuristic (where the game has it), search, search:simulations=1000,playout=random, ppo:PATH,
    python:MODULE:FACTORY.

    Examples: `cardenvs match leduc_poker_v0 --agents random,search --deals 500`,
    `cardenvs match gin_rummy_v0 --agents ppo:runs/gin/latest.pt,heuristic,random -p 2 --store gin.db --html gin.html`,
    and after Ctrl-C the same with `--resume`
    """
    from cardenvs.agents.seeds import MatchSeed
    from cardenvs.agents.specs import split_specs
    from cardenvs.arena.match import Match
    from cardenvs.arena.statistics import summarise
    from cardenvs.arena.store import Store

    outputs = Outputs({"--json": json, "--html": html}, used={"--store": store})
    if html is not None:
        from cardenvs.arena.page import check_page_extra

        check_page_extra()
    if resume and store is None:
        raise ArenaError("--resume needs the --store to go on with")
    found = _game(game)
    guard = _guard(on_failure, keep_env or ())
    options = read_options(found, option)
    wanted = Match(found, options, tuple(split_specs(agents)), deals, MatchSeed.of(seed), guard=guard)
    with Store(store) as opened:
        wanted = opened.seeded(wanted, resume)
        interrupted = _run_with_progress(wanted, opened, resume, processes, batch)
        summary = summarise(wanted, opened.records(wanted.id))
    _report(summary, outputs, json, html)
    if interrupted:
        kept = f"finished games are in {store}; add --resume to go on" if store else "nothing was kept; use --store"
        typer.secho(f"Stopped before the end: {kept}.", fg="yellow", err=True)
        raise typer.Exit(_EXIT_INTERRUPTED)
    outputs.close()


def _guard(on_failure: str, keep_env: Sequence[str]) -> "AgentLimits | None":
    unknown = [name for name in keep_env if name not in os.environ]
    if unknown:
        raise ArenaError(f"--keep-env {unknown[0]}: there is no such environment variable")
    if on_failure == "stop":
        if keep_env:
            raise ArenaError("--keep-env needs --on-failure forfeit or forced_action")
        return None
    from cardenvs.agents.proxy import ON_FAILURE, AgentLimits

    if on_failure not in ON_FAILURE:
        raise ArenaError(f"--on-failure is stop, {' or '.join(ON_FAILURE)}; got {on_failure!r}")
    return AgentLimits(on_failure=on_failure, keep_env=tuple(keep_env))


def _run_with_progress(match: "Match", store: Any, resume: bool, processes: int, batch: int) -> bool:
    """Play the match under a progress bar. Returns whether it was interrupted."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from cardenvs.arena.run import run

    columns = (
        TextColumn("[bold]{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("games"),
        TextColumn("{task.fields[rate]}"), TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn(),
    )  # fmt: skip
    bar = Progress(*columns, console=Console(stderr=True))
    task = bar.add_task(match.game.title, total=match.num_games, rate="")

    def show(done: int, total: int) -> None:
        bar.start()  # not before: what is refused at once needs no bar
        speed = bar.tasks[task].speed
        bar.update(task, completed=done, rate="" if speed is None else f"{speed:,.0f}/s")

    try:
        run([match], store, resume=resume, processes=processes, batch=batch, progress=show)
    except KeyboardInterrupt:
        return True
    finally:
        bar.stop()
    return False


def _report(summary: "Summary", outputs: Outputs, json: Path | None, html: Path | None) -> None:
    from cardenvs.arena.page import write_page
    from cardenvs.arena.report import print_summary, write_json

    print_summary(summary, _console())
    outputs.write("JSON", json, lambda path: write_json(summary, path))
    if summary.deals:
        outputs.write("page", html, lambda path: write_page(summary, path))


cli_arena.add_commands(app)
cli_simulate.add_commands(app)


# ---------------------------------------------------------------------------------------------------------------
# Training and benchmarks, which live beside this package


@app.command()
def train(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="What to train on; not with --resume.")] = None,
    config: Annotated[str | None, typer.Option(metavar="FILE", help="YAML settings; default: the game's own.")] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting. May be repeated.")
    ] = None,
    option: OptionTexts = None,
    seconds: Annotated[
        float | None, typer.Option(min=0, callback=finite, help="Train for so long, rather than for total_steps.")
    ] = None,
    total_steps: Annotated[float | None, typer.Option(min=1, callback=finite, help="Train for so many steps.")] = None,
    out: Annotated[str | None, typer.Option(metavar="FOLDER", help="Of the run; default: a new one in runs/.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run that the folder holds.")] = False,
    resume: Annotated[str | None, typer.Option(metavar="CHECKPOINT", help="Go on from here.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda or auto (the default).")] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, max=_MOST_PROCESSES, help="Threads; default: one a core.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    settings: Annotated[bool, typer.Option("--settings", help="List all settings and exit.")] = False,
) -> None:
    """Train a policy by self-play (masked PPO). The result plays as the agent ppo:CHECKPOINT.

    Examples: `cardenvs train gin_rummy_v0 --seconds 90 --out runs/gin`,
    `cardenvs train leduc_poker_v0 --config configs/leduc.yaml --set lr=3e-4 --set hidden=128,128`,
    `cardenvs train --resume runs/gin/latest.pt --seconds 300`
    """
    import training  # noqa: F401  before torch is loaded: it says how torch's threads wait
    from cardenvs.core.errors import require

    require("torch", "train")
    from training.ppo import main as train_main

    repeated = {"--set": changes, "--option": option}
    single = {
        "--config": config, "--seconds": seconds, "--total-steps": total_steps, "--out": out, "--resume": resume,
        "--device": device, "--threads": threads,
    }  # fmt: skip
    flags = {"--overwrite": overwrite, "--quiet": quiet, "--settings": settings}
    words = [] if game is None else [game]
    words += [word for name, texts in repeated.items() for text in texts or () for word in (name, text)]
    words += [word for name, value in single.items() if value is not None for word in (name, str(value))]
    words += [name for name, given in flags.items() if given]
    raise typer.Exit(train_main(words))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def bench(context: typer.Context) -> None:
    """Measure this suite and its peers side by side. Needs a checkout of the repository; arguments are passed on.

    Example: `cardenvs bench`
    """
    root = Path(__file__).resolve().parent.parent
    if not (root / "benchmarks" / "run.py").is_file():
        raise CardenvsError(f"bench runs from a checkout of the repository; there is no folder {root / 'benchmarks'}")
    sys.path.insert(0, str(root))
    import importlib

    raise typer.Exit(importlib.import_module("benchmarks.run").main(context.args))


# ---------------------------------------------------------------------------------------------------------------
# Replays


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(callback=input_file, help="A replay.")],
    player: Annotated[int | None, typer.Option(min=0, help="Show what this player saw; by default everything.")] = None,
    at: Annotated[int | None, typer.Option(metavar="K", help="Show the position after K actions only.")] = None,
    step: Annotated[bool, typer.Option("--step", help="Step through, a key at a time.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Only check that it plays to what it records.")] = False,
) -> None:
    """Show a recorded game. It is played again first; a damaged or edited file is refused.

    Examples: `cardenvs replay game.json`, `cardenvs replay game.json --player 0 --step`,
    `cardenvs replay game.json --verify`
    """
    from cardenvs.core.replay import Replay

    loaded = Replay.load(file)
    if verify:
        typer.echo(
            f"{file}: {len(loaded.actions)} actions of {loaded.game.name} play to the recorded events and returns"
        )
        return
    shown = _Shown(_console(), loaded, player)
    shown.heading()
    if at is not None:
        if not 0 <= at <= len(loaded.actions):
            raise ArenaError(f"{file} has positions 0 to {len(loaded.actions)}; --at {at} is none of them")
        shown.position(at)
    elif step:
        step_through(shown.position, len(loaded.actions))
    else:
        shown.events()
        shown.position(len(loaded.actions))


class _Shown:
    """A replay on a console, as one viewer saw it."""

    def __init__(self, console: "Console", replay: "Replay", player: int | None) -> None:
        from cardenvs.core.events import OMNISCIENT

        self._console, self._replay = console, replay
        if player is not None and player >= len(replay.players):
            raise ArenaError(
                f"this replay has players 0 to {len(replay.players) - 1}; --player {player} is none of them"
            )
        self._viewer = OMNISCIENT if player is None else player

    def heading(self) -> None:
        from rich.markup import escape

        replay = self._replay
        names = ", ".join(f"player_{p} {escape(name)}" for p, name in enumerate(replay.players))
        options = replay.game.make_options(**replay.options).changed()
        changed = "".join(f" {name}={value}" for name, value in options.items())
        self._console.print(f"[bold]{replay.game.title}[/bold]{escape(changed)}, seed {replay.setup['seed']}: {names}")

    def events(self) -> None:
        """What happened, with the number of the action before what followed from it."""
        from rich.markup import escape

        state, told = self._replay.state_at(0), 0
        for ply in range(len(self._replay.actions) + 1):
            if ply:
                state.apply(self._replay.actions[ply - 1])
            recap = state.recap(self._viewer)
            for number, sentence in enumerate(recap[told:]):
                self._console.print(f"[dim]{ply if number == 0 else '':>4}[/dim] {escape(sentence)}")
            told = len(recap)

    def position(self, k: int) -> None:
        """The table after `k` actions."""
        from rich.markup import escape
        from rich.panel import Panel
        from rich.text import Text

        state = self._replay.state_at(k)
        last = state.recap(self._viewer)[-1:]
        turn = f"returns {state.returns}" if state.is_terminal else f"player_{state.current_player} to act"
        title = f"{k} of {len(self._replay.actions)} actions, {turn}"
        self._console.print(
            Panel(Text.from_ansi(state.render(self._viewer, colour=True)), title=title, title_align="left")
        )
        for sentence in last:
            self._console.print(f"[dim]{escape(sentence)}[/dim]")


def step_through(show: Callable[[int], None], last: int) -> None:
    """Show positions 0 to `last` one by one, as a person at the keyboard asks for them."""
    k = 0
    while True:
        show(k)
        try:
            text = input("Enter: next, b: back, a number: go there, q: quit > ").strip().lower()
        except (EOFError, KeyboardInterrupt):
            return
        if text == "q":
            return
        number = min(int(text[:_MOST_DIGITS]), last) if text.isdecimal() else None
        wanted = number if number is not None else k - 1 if text == "b" else k + 1
        k = min(last, max(0, wanted))


# ---------------------------------------------------------------------------------------------------------------
# Language models

cli_llm.add_commands(app)


# ---------------------------------------------------------------------------------------------------------------
# Compiling ahead


@app.command()
def warmup(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="A game; all if left out.")] = None,
) -> None:
    """Compile a game, or all of them, ahead of use. Compiled code is kept for later runs.

    Examples: `cardenvs warmup`, `cardenvs warmup gin_rummy_v0`
    """
    from cardenvs.core.cache import cache_folder, is_saving
    from cardenvs.core.kernel import COMPILED
    from cardenvs.core.registry import get_game, list_games

    if not COMPILED:
        typer.echo("The compiler is off (CARDENVS_COMPILE=0 or NUMBA_DISABLE_JIT=1), or numba is not installed.")
        return
    os.environ["CARDENVS_QUIET"] = "1"  # the lines below say it all
    console = _console()
    found = [_game(game)] if game else [get_game(name) for name in list_games()]
    compiled = sum([_warm_up_loudly(console, one) for one in found])
    if compiled and not is_saving():
        raise CardenvsError(f"nothing was kept: compiled code cannot be saved in {cache_folder()}")
    console.print(f"[dim]kept in {cache_folder()}[/dim]")


def _warm_up_loudly(console: "Console", game: "Game") -> int:
    """Compile a game, print what each step took, and return how many kernels were compiled."""
    from cardenvs.core.warmup import warm_up

    console.print(f"[bold]{game.name}[/bold]")
    seconds, compiled = 0.0, 0
    for warmed in warm_up(game, game.make_options(), [("batches", lambda: _step_batch(game))]):
        how = f"{warmed.compiled} compiled" if warmed.compiled else "from the cache"
        console.print(f"  {warmed.what:<28} {warmed.seconds:6.2f} s  [dim]{how}[/dim]")
        seconds += warmed.seconds
        compiled += warmed.compiled
    console.print(f"  {'together':<28} {seconds:6.2f} s")
    return compiled


def _step_batch(game: "Game") -> None:
    from cardenvs.envs.vector import VectorEnv

    batch = VectorEnv(game, num_envs=2, num_threads=1)
    batch.reset()
    batch.step(batch.sample_actions())
    batch.observe(0)


# ---------------------------------------------------------------------------------------------------------------
# Helpers


def _console() -> "Console":
    from rich.console import Console

    return Console(highlight=False)


def _game(name: str) -> "Game":
    from cardenvs.core.registry import get_game

    return get_game(name)


def read_options(game: "Game", texts: list[str] | None) -> "Options":
    """The options of a game from texts such as "ante=2"."""
    values = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise OptionError(f"--option takes NAME=VALUE, as in --option num_players=2; got {text!r}")
        values[name.strip()] = value
    try:
        return game.options.parse(values)
    except OptionError as error:
        raise OptionError(f"{game.name}: {error}") from None


if __name__ == "__main__":
    sys.exit(app())
