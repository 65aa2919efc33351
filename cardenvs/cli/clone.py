"""`cardenvs clone`."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cardenvs.cli.compiling import compile_for
from cardenvs.cli.exit_codes import EXIT_INTERRUPTED
from cardenvs.cli.files import Outputs, input_file
from cardenvs.cli.progress import ProgressBar
from cardenvs.cli.shared import MAX_SEED, Changes, ConfigFile, GameName, Threads, finite, same_command

if TYPE_CHECKING:
    from cardenvs.core.game import Game
    from cardenvs.training.cloning import Agreement, CloneSettings, Progress
    from cardenvs.training.config import Config
    from cardenvs.training.decisions import Decisions

_MOST = 1_000_000
_MOST_NUMBER = 10**9


def clone(
    game: GameName,
    agent: Annotated[
        list[str], typer.Option("--agent", metavar="NAME", help="Whose decisions to learn. May be repeated.")
    ],
    store: Annotated[
        Path | None, typer.Option(metavar="FILE", callback=input_file, help="Store of finished games.")
    ] = None,
    parquet: Annotated[
        Path | None, typer.Option(metavar="FILE", callback=input_file, help="File of `cardenvs trajectories`.")
    ] = None,
    most: Annotated[
        int, typer.Option(min=1, max=_MOST_NUMBER, help="Learn from that many decisions at most, the first ones.")
    ] = _MOST,
    config: ConfigFile = None,
    changes: Changes = None,
    epochs: Annotated[int, typer.Option(min=1, max=_MOST_NUMBER, help="Passes over the data at most.")] = 100,
    patience: Annotated[
        int, typer.Option(min=1, max=_MOST_NUMBER, help="Stop after that many epochs without progress.")
    ] = 5,
    batch: Annotated[int, typer.Option(min=1, max=1 << 20, help="Decisions in a step of the optimiser.")] = 512,
    lr: Annotated[float, typer.Option(min=0, max=1, callback=finite, help="Learning rate of Adam.")] = 1e-3,
    held_out: Annotated[
        float,
        typer.Option(min=0, max=0.4, callback=finite, help="Share of the deals for stopping; as many for the report."),
    ] = 0.1,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED // 2, help="Of the weights, the split and the order.")] = 1,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder of the run; default: a new one in runs/.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run that the folder holds.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run that the folder holds.")] = False,
    threads: Threads = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result only.")] = False,
) -> None:
    """Learn to play like an agent from its recorded games. The result plays as the agent ppo:CHECKPOINT.

    Behaviour cloning: a network learns, by cross-entropy over the legal actions, what the agent did. The deals are
    split in three: for learning, for deciding when to stop, and for the agreement that is printed at the end. The
    network also learns the returns that followed, so PPO can go on from it (`cardenvs train --init`).

    Examples:

    - `cardenvs match gin_rummy_v0 --agents heuristic,random --deals 5000 --store gin.db`
    - `cardenvs clone gin_rummy_v0 --store gin.db --agent heuristic --out runs/clone`
    - `cardenvs clone gin_rummy_v0 --parquet gin.parquet --agent heuristic --set hidden=64,64`
    - `cardenvs train gin_rummy_v0 --init runs/clone/latest.pt --out runs/from-clone`
    """
    from cardenvs.core.errors import OptionError, require
    from cardenvs.core.registry import get_game
    from cardenvs.training.config import chosen_config

    if (store is None) == (parquet is None):
        raise OptionError("give --store or --parquet, one of them")
    if resume and (out is None or overwrite):
        raise OptionError("--resume goes on with the run in --out; give that, without --overwrite")
    Outputs({}, {"--out": out}, used={"--store": store, "--parquet": parquet})
    found = get_game(game)
    chosen = chosen_config(found.name, config, changes or (), ()).changed({"seed": seed})
    require("torch", "train")
    from cardenvs.training.cloning import CloneSettings

    settings = CloneSettings(epochs, patience, batch, lr, held_out)
    folder = Path("runs") / time.strftime(f"{found.name}-clone-%Y%m%d-%H%M%S") if out is None else out
    try:
        decisions = _read(found, store, parquet, agent, most, quiet)
        path, agreement = _clone(decisions, chosen, folder, settings, resume, overwrite, threads, quiet)
    except KeyboardInterrupt:
        go_on = same_command(folder, is_named=out is not None, overwrite=overwrite, flag="" if resume else "--resume")
        typer.echo(f"Stopped. To go on: {go_on}", err=True)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    typer.echo(f"{agreement.decisions:,} decisions on deals that were held out: {agreement}")
    typer.echo(f"policy: {path}, which plays as ppo:{path}")


def _read(
    game: "Game", store: Path | None, parquet: Path | None, agents: list[str], most: int, quiet: bool
) -> "Decisions":
    from cardenvs.training.decisions import Decisions

    compile_for(game, game.make_options())
    with ProgressBar("Reading", unit="games" if store else "decisions", transient=True, hidden=quiet) as bar:
        if store is not None:
            decisions = Decisions.of_store(store, game, agents, most, bar.show)
        else:
            assert parquet is not None
            decisions = Decisions.of_parquet(parquet, game, agents, most, bar.show)
    if not quiet:
        typer.echo(f"{len(decisions):,} decisions of {' and '.join(agents)} to learn from", err=True)
    return decisions


def _clone(
    decisions: "Decisions", config: "Config", folder: Path, settings: "CloneSettings", resume: bool, overwrite: bool,
    threads: int, quiet: bool,
) -> tuple[Path, "Agreement"]:  # fmt: skip
    from cardenvs.training.cloning import clone as clone_agent
    from cardenvs.training.interrupt import Interrupt
    from cardenvs.training.ppo.loop import torch_threads

    note = "Stopping after this epoch; press Ctrl-C again to stop at once."
    with (
        torch_threads(threads),
        Interrupt(lambda: typer.echo(note, err=True)) as interrupt,
        ProgressBar("Learning", unit="decisions", transient=True, hidden=quiet) as bar,
    ):

        def tell(progress: "Progress") -> bool:
            if not quiet:
                typer.echo(
                    f"epoch {progress.epoch:>3}  loss {progress.loss:.4f}  held out: {progress.stopping}", err=True
                )
            return not interrupt.requested

        return clone_agent(
            decisions, config, folder, settings, resume=resume, overwrite=overwrite, on_step=bar.show, on_epoch=tell
        )
