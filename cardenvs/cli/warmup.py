"""`cardenvs warmup`."""

import os
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument

from cardenvs.cli.shared import new_console
from cardenvs.core.errors import CardenvsError
from cardenvs.core.registry import get_game, list_games

if TYPE_CHECKING:
    from rich.console import Console

    from cardenvs.core.game import Game


def warmup(game: Annotated[str | None, Argument(metavar="[GAME]", help="A game; default: all.")] = None) -> None:
    """Compile a game, or all games, ahead of use. Later runs use the compiled code.

    Examples:

    - `cardenvs warmup`
    - `cardenvs warmup gin_rummy_v0`
    """
    from cardenvs.core.cache import cache_folder, is_saving
    from cardenvs.core.kernel import COMPILED

    if not COMPILED:
        typer.echo("The compiler is off (CARDENVS_COMPILE=0 or NUMBA_DISABLE_JIT=1), or numba is not installed.")
        return
    os.environ["CARDENVS_QUIET"] = "1"  # the lines below replace the messages
    console = new_console()
    found = [get_game(game)] if game else [get_game(name) for name in list_games()]
    compiled = sum([_warm_up_loudly(console, one) for one in found])
    if compiled and not is_saving():
        raise CardenvsError(f"nothing was kept: compiled code cannot be saved in {cache_folder()}")
    console.print(f"[dim]kept in {cache_folder()}[/dim]")


def _warm_up_loudly(console: "Console", game: "Game") -> int:
    """Compile a game, print the time of each step, and return the number of kernels compiled."""
    from cardenvs.core.warmup import warm_up
    from cardenvs.envs.warmup import batch_steps
    from cardenvs.training.cfr.solvers import solver_steps

    console.print(f"[bold]{game.name}[/bold]")
    seconds, compiled = 0.0, 0
    for warmed in warm_up(game, game.make_options(), [*batch_steps(game), *solver_steps(game)]):
        how = f"{warmed.compiled} compiled" if warmed.compiled else "from the cache"
        console.print(f"  {warmed.what:<28} {warmed.seconds:6.2f} s  [dim]{how}[/dim]")
        seconds += warmed.seconds
        compiled += warmed.compiled
    console.print(f"  {'total':<28} {seconds:6.2f} s")
    return compiled
