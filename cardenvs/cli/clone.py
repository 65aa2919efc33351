"""`cardenvs clone`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

import cardenvs.cli.runs as runs
from cardenvs.cli.compiling import compile_for
from cardenvs.cli.files import Outputs, input_file
from cardenvs.cli.progress import ProgressBar
from cardenvs.cli.shared import MAX_SEED, GameName, finite
from cardenvs.core.errors import OptionError, require
from cardenvs.core.registry import get_game

if TYPE_CHECKING:
    from cardenvs.core.game import Game
    from cardenvs.training.cloning import Progress
    from cardenvs.training.decisions import Decisions

_MOST = 1_000_000
_MOST_NUMBER = 10**9
_STOPPING = "Stopping after this epoch; press Ctrl-C again to stop at once."


def clone(
    game: GameName,
    agent: Annotated[
        list[str], Option("--agent", metavar="NAME", help="Agent whose decisions to learn. May be repeated.")
    ],
    store: Annotated[Path | None, Option(metavar="FILE", callback=input_file, help="Store of finished games.")] = None,
    parquet: Annotated[
        Path | None, Option(metavar="FILE", callback=input_file, help="File of `cardenvs trajectories`.")
    ] = None,
    most: Annotated[
        int, Option(min=1, max=_MOST_NUMBER, help="Learn from at most this many decisions, the first ones.")
    ] = _MOST,
    config: runs.ConfigFile = None,
    changes: runs.Changes = None,
    epochs: Annotated[int, Option(min=1, max=_MOST_NUMBER, help="Passes over the data at most.")] = 100,
    patience: Annotated[int, Option(min=1, max=_MOST_NUMBER, help="Stop after this many epochs without progress.")] = 5,
    batch: Annotated[int, Option(min=1, max=1 << 20, help="Decisions per step of the optimiser.")] = 512,
    lr: Annotated[float, Option(min=0, max=1, callback=finite, help="Learning rate of Adam.")] = 1e-3,
    held_out: Annotated[
        float,
        Option(
            min=0,
            max=0.4,
            callback=finite,
            help="Share of the deals that decides when to stop; as many for the report.",
        ),
    ] = 0.1,
    seed: Annotated[int, Option(min=0, max=MAX_SEED // 2, help="Seed of the weights, the split and the order.")] = 1,
    out: runs.Out = None,
    overwrite: runs.Overwrite = False,
    resume: runs.Resume = False,
    threads: runs.Threads = 0,
    quiet: runs.Quiet = False,
) -> None:
    """Learn to play like an agent from its recorded games. The result plays as the agent ppo:CHECKPOINT.

    Behaviour cloning: a network learns the actions of the agent, by cross-entropy over the legal actions. The deals are
    split in three: for learning, for deciding when to stop, and for the agreement that is printed at the end. The
    network also learns the returns that followed, so PPO can start from it (`cardenvs train --init`).

    Examples:

    - `cardenvs match gin_rummy_v0 --agents heuristic,random --deals 5000 --store gin.db`
    - `cardenvs clone gin_rummy_v0 --store gin.db --agent heuristic --out runs/clone`
    - `cardenvs clone gin_rummy_v0 --parquet gin.parquet --agent heuristic --set hidden=64,64`
    - `cardenvs train gin_rummy_v0 --init runs/clone/latest.pt --out runs/from-clone`
    """
    from cardenvs.training.config import chosen_config
    from cardenvs.training.folder import RunFolder

    if (store is None) == (parquet is None):
        raise OptionError("give either --store or --parquet")
    runs.check_resume(resume, out, overwrite)
    Outputs({}, {"--out": out}, used={"--store": store, "--parquet": parquet})
    found = get_game(game)
    _check_settings(changes or ())
    chosen = chosen_config(found.name, config, changes or (), ()).changed({"seed": seed})
    require("torch", "train")
    from cardenvs.training.cloning import CloneSettings
    from cardenvs.training.cloning import clone as clone_agent
    from cardenvs.training.interrupt import Interrupt
    from cardenvs.training.ppo.devices import torch_threads

    settings = CloneSettings(epochs, patience, batch, lr, held_out)
    folder = RunFolder.named(out, f"{found.name}-clone").path
    command = runs.same_command(
        folder, is_named=out is not None, overwrite=overwrite, flag="" if resume else "--resume"
    )
    with runs.stopping(command):
        decisions = _read(found, store, parquet, agent, most, quiet)
        with (
            torch_threads(threads),
            Interrupt(lambda: typer.echo(_STOPPING, err=True)) as interrupt,
            ProgressBar("Learning", unit="decisions", transient=True, hidden=quiet) as bar,
        ):

            def report(progress: "Progress") -> bool:
                if not quiet:
                    text = f"epoch {progress.epoch:>3}  loss {progress.loss:.4f}  held out: {progress.stopping}"
                    typer.echo(text, err=True)
                return not interrupt.requested

            path, agreement = clone_agent(
                decisions, chosen, folder, settings, resume=resume, overwrite=overwrite, on_step=bar.show,
                on_epoch=report,
            )  # fmt: skip
    typer.echo(f"{agreement.decisions:,} decisions on held-out deals: {agreement}")
    typer.echo(f"policy: {path}, which plays as ppo:{path}")


def _check_settings(changes: list[str] | tuple[str, ...]) -> None:
    """Refuse settings that have no effect on cloning."""
    from cardenvs.training.config import NETWORK_SETTINGS, parse_settings

    for name in parse_settings(changes):
        if name not in NETWORK_SETTINGS:
            has_flag = name in ("epochs", "lr", "seed", "batch", "patience")
            remedy = f"give --{name}" if has_flag else f"its settings are {', '.join(NETWORK_SETTINGS)}"
            raise OptionError(f"clone does not take --set {name}; {remedy}")


def _read(
    game: "Game", store: Path | None, parquet: Path | None, agents: list[str], most: int, quiet: bool
) -> "Decisions":
    """Read the decisions to learn from, from a store or else from a Parquet file."""
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
