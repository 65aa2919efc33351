"""`cardenvs trajectories`."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from cardenvs.cli.compiling import compile_for
from cardenvs.cli.exit_codes import EXIT_INTERRUPTED
from cardenvs.cli.files import Outputs, input_file
from cardenvs.cli.progress import ProgressBar
from cardenvs.cli.shared import MAX_COUNT, OptionTexts, Processes
from cardenvs.core.errors import ArenaError
from cardenvs.core.registry import get_game

if TYPE_CHECKING:
    from cardenvs.arena.store import Store
    from cardenvs.arena.trajectories import Episode, Games

_GAMES = 100


def trajectories(
    store: Annotated[
        Path | None, Argument(metavar="[STORE]", callback=input_file, help="Finished games; or give --game.")
    ] = None,
    out: Annotated[Path | None, Option(metavar="FILE", help="Write the decisions as Parquet (.parquet).")] = None,
    minari: Annotated[
        str | None, Option(metavar="NAME", help="Write Minari datasets NAME/seat-0-v0, NAME/seat-1-v0, ...")
    ] = None,
    game: Annotated[
        str | None,
        Option("--game", metavar="GAME", help="Game to export from the store; without a store, game to play."),
    ] = None,
    agent: Annotated[
        list[str] | None, Option("--agent", metavar="NAME", help="Only decisions of this agent. May be repeated.")
    ] = None,
    games: Annotated[
        int | None, Option(min=1, max=MAX_COUNT, help=f"Games to play without a store; default: {_GAMES}.")
    ] = None,
    agents: Annotated[
        str | None,
        Option(metavar="A,B,...", help="Agents for these games by seat, as for `simulate`; default: random."),
    ] = None,
    seed: Annotated[str | None, Option("--seed", metavar="SEED", help="Seed of these games; default: drawn.")] = None,
    option: OptionTexts = None,
    processes: Processes = 1,
    with_seeds: Annotated[
        bool, Option("--with-seeds", help="Write the seeds of the deals as well, which reveal all cards.")
    ] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Draw no progress bar.")] = False,
) -> None:
    """Export games as trajectories: one row per decision, with what the player saw, did and got.

    The games come from a store of `match`, `simulate` or `arena run`, or with --game are played first. Every game is
    replayed, and refused if it differs from its record. A row has what its player could know, the reward up to the
    player's next decision, and the return up to the end. Deals are numbered; their seeds are left out unless
    --with-seeds is given.

    Examples:

    - `cardenvs trajectories gin.db --out gin.parquet`
    - `cardenvs trajectories gin.db --agent heuristic --minari gin/heuristic`
    - `cardenvs trajectories --game leduc_poker_v0 --agents random --games 1000 --seed 7 --out leduc.parquet`
    """
    from cardenvs.arena.trajectories import Games

    if out is None and minari is None:
        raise ArenaError("give --out FILE.parquet or --minari NAME to write to")
    if out is not None and out.suffix.lower() != ".parquet":
        raise ArenaError(f"--out writes Parquet; {out} should end in .parquet")
    outputs = Outputs({"--out": out}, used={"STORE": store})
    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(_source(store, game, games, agents, seed, option, processes, quiet))
        found = Games(opened, None if game is None else _full_name(game))
        _check_agents(found, agent)
        compile_for(found.game, found.options)
        try:
            _export(found, agent, outputs, out, minari, with_seeds, quiet)
        except KeyboardInterrupt:
            raise typer.Exit(EXIT_INTERRUPTED) from None
    outputs.close()


def _full_name(game: str) -> str:
    return get_game(game).name


@contextlib.contextmanager
def _source(
    store: Path | None, game: str | None, games: int | None, agents: str | None, seed: str | None,
    option: list[str] | None, processes: int, quiet: bool,
) -> Iterator["Store"]:  # fmt: skip
    """Yield the store to export: the named one, or a temporary one with games played now."""
    from cardenvs.arena.run import run
    from cardenvs.arena.store import Store
    from cardenvs.cli.simulate import table_match

    if store is not None:
        if games or agents or seed or option:
            raise ArenaError("--games, --agents, --seed and --option are for games to play; leave out the store")
        with Store(store, read_only=True) as opened:
            yield opened
        return
    if game is None:
        raise ArenaError("which games? name a store, or a game to play with --game")
    match = table_match(game, None, agents or "random", option, games or _GAMES, seed)
    compile_for(match.game, match.options, match.specs)
    with tempfile.TemporaryDirectory(prefix="cardenvs-") as folder, Store(Path(folder) / "games.db") as opened:
        with ProgressBar("Playing", unit="games", total=match.deals, transient=True, hidden=quiet) as bar:
            try:
                run([match], opened, processes=processes, progress=bar.show)
            except KeyboardInterrupt:
                raise typer.Exit(EXIT_INTERRUPTED) from None
        yield opened


def _check_agents(games: "Games", agents: list[str] | None) -> None:
    known = sorted({name for _, match in games.matches for name in match.names})
    for name in agents or ():
        if name not in known:
            raise ArenaError(f"no agent {name!r} played these games; their agents are {', '.join(known)}")


def _export(
    games: "Games", agents: list[str] | None, outputs: Outputs, out: Path | None, minari: str | None,
    with_seeds: bool, quiet: bool,
) -> None:  # fmt: skip
    def episodes() -> Iterator["Episode"]:
        with ProgressBar("Exporting", unit="games", total=games.total, transient=True, hidden=quiet) as bar:
            yield from games.episodes(agents, bar.show)

    if minari is not None:
        from cardenvs.arena.output.minari_datasets import MinariWriter

        writer = MinariWriter(minari, games.game, games.options, with_seeds=with_seeds)
        writer.write(episodes())
        for name, number in writer.counts.items():
            typer.echo(f"dataset {name}: {number:,} episodes")
    if out is not None:
        from cardenvs.arena.output.parquet import write_parquet

        def write(path: Path) -> str:
            rows = write_parquet(path, episodes(), games.game, games.options, with_seeds=with_seeds)
            return f"{rows:,} decisions in {path}"

        outputs.write("trajectories", out, write)
