"""`cardenvs train`."""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardenvs.cli.compiling import compile_for
from cardenvs.cli.exit_codes import EXIT_INTERRUPTED
from cardenvs.cli.shared import (
    Changes,
    ConfigFile,
    Device,
    InitFile,
    OptionTexts,
    RayAddress,
    Seconds,
    Threads,
    TotalSteps,
    join_cluster,
    new_console,
    new_table,
    same_command,
)

if TYPE_CHECKING:
    from cardenvs.training.config import Config
    from cardenvs.training.seeds import SeedRun


def train(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="Game to train on; not with --resume.")] = None,
    config: ConfigFile = None,
    changes: Changes = None,
    option: OptionTexts = None,
    seconds: Seconds = None,
    total_steps: TotalSteps = None,
    out: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Folder of the run; default: a new one in runs/.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run that the folder holds.")] = False,
    resume: Annotated[str | None, typer.Option(metavar="CHECKPOINT", help="Resume from this checkpoint.")] = None,
    init: InitFile = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="SEEDS", help="Train once a seed, as in 1:6 (1 to 5) or 1,4,9.")
    ] = None,
    backend: Annotated[
        str, typer.Option(metavar="local|ray", help="Where to train the policies of --seeds.")
    ] = "local",
    address: RayAddress = None,
    device: Device = "auto",
    threads: Threads = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    settings: Annotated[bool, typer.Option("--settings", help="List all settings and exit.")] = False,
) -> None:
    """Train by self-play (masked PPO or deep Monte Carlo). The result plays as the agent ppo:CHECKPOINT.

    Examples:

    - `cardenvs train gin_rummy_v0 --seconds 90 --out runs/gin`
    - `cardenvs train leduc_poker_v0 --config configs/leduc.yaml --set lr=3e-4 --set hidden=128,128`
    - `cardenvs train casino_v0 --set method=dmc --set action_embedding=64 --set action_head=layer`
    - `cardenvs train --resume runs/gin/latest.pt --seconds 300`
    - `cardenvs train gin_rummy_v0 --init runs/clone/latest.pt --out runs/from-clone`
    - `cardenvs train leduc_poker_v0 --config configs/leduc_magnet.yaml --seeds 1:6 --out runs/leduc`
    - `torchrun --nproc-per-node 2 -m cardenvs.cli train gin_rummy_v0 --out runs/gin`
    """
    from cardenvs.core.errors import OptionError, require
    from cardenvs.core.registry import get_game
    from cardenvs.training.config import chosen_config, settings_text
    from cardenvs.training.torchrun import is_started_by_torchrun

    if settings:
        typer.echo(settings_text())
        return
    if backend not in ("local", "ray") or (backend == "ray" and not seeds):
        raise OptionError(f"--backend is local, or ray with --seeds; got {backend!r}")
    if backend == "ray" and init:
        raise OptionError("--init does not go with --backend ray, where runs begin with random weights; leave it out")
    join_cluster(backend, address)
    if resume and seeds:
        raise OptionError("--seeds goes on with the runs in its folder by itself; leave out --resume")
    if resume and (game or config or changes or option or init):
        raise OptionError("--resume takes game and settings from the checkpoint; give it --seconds or --total-steps")
    chosen = None if resume else chosen_config(game, config, changes or (), option or ())
    require("torch", "train")
    from cardenvs.training.ppo import train as train_policy

    if is_started_by_torchrun():
        if seeds:
            raise OptionError("several processes train one policy; leave out --seeds, or leave out torchrun")
        quiet = quiet or os.environ["RANK"] != "0"
    if chosen is not None and not quiet and (name := game or chosen.game):
        found = get_game(name)
        compile_for(
            found,
            found.make_options(**chosen.options),
            chosen.eval_opponents or found.engine.policy_names(),
            batches=True,
        )

    if chosen is not None and init is not None:
        from cardenvs.agents.ppo import read_checkpoint
        from cardenvs.training.ppo.loop import shaped_like

        chosen = shaped_like(chosen, read_checkpoint(init))
    given: dict[str, Any] = {
        "init": init,
        "seconds": seconds,
        "total_steps": total_steps,
        "device": device,
        "threads": threads,
        "show": not quiet,
    }
    try:
        if seeds is None or chosen is None:
            train_policy(None if resume else game, chosen, out=out, resume=resume, overwrite=overwrite, **given)
        else:
            _train_seeds(game, chosen, seeds, out, overwrite, given, backend)
    except KeyboardInterrupt:
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if is_started_by_torchrun():
        # Everything is written. Now and then a thread of torch aborts a process that ends in the usual way, and
        # torchrun would take the run for failed.
        sys.stderr.flush()
        os._exit(0)


def _train_seeds(
    game: str | None,
    config: "Config",
    seeds: str,
    out: str | None,
    overwrite: bool,
    given: dict[str, Any],
    backend: str,
) -> None:
    """Train once a seed and print a table of the results."""
    from cardenvs.training.seeds import parse_seeds, results_of, seed_runs, table

    folder = Path("runs") / time.strftime(f"{game or config.game}-%Y%m%d-%H%M%S") if out is None else Path(out)
    given = {**given, "resume_with": same_command(folder, is_named=out is not None, overwrite=overwrite)}
    if given["seconds"] is None and given["total_steps"] is None:
        given["total_steps"] = config.total_steps
    runs = seed_runs(config, parse_seeds(seeds), folder, given["total_steps"], given["seconds"], overwrite)
    left = [run for run in runs if not run.is_over]
    if left:
        train = _train_on_ray if backend == "ray" else _train_here
        train(game or config.game, left, given)
    if not given["show"]:
        return
    if config.final_deals == 0:
        typer.echo("No results to show: with final_deals=0 there is no final evaluation.", err=True)
        return
    headings, rows = table(results_of(runs))
    shown = new_table(*headings, right=1)
    for row in rows:
        shown.add_row(*row)
    new_console().print(shown)


def _train_here(game: str, runs: Sequence["SeedRun"], given: dict[str, Any]) -> None:
    from cardenvs.training.ppo import train
    from cardenvs.training.ppo.run import CHECKPOINT

    for run in runs:
        if run.has_begun:
            train(resume=run.folder / CHECKPOINT, **{**given, "init": None})
        else:
            train(game, run.config, out=run.folder, overwrite=True, **given)


def _train_on_ray(game: str, runs: Sequence["SeedRun"], given: dict[str, Any]) -> None:
    from cardenvs.training.ppo.loop import clear
    from cardenvs.training.remote import RemoteRun, train_on_ray

    for run in runs:
        if not run.has_begun:
            clear(run.folder)
    limits = {"total_steps": given["total_steps"], "seconds": given["seconds"]}
    try:
        train_on_ray(
            [RemoteRun(game, run.config, run.folder, **limits) for run in runs], given["threads"] or 1, given["show"]
        )
    except KeyboardInterrupt:
        if given["show"]:
            typer.echo(f"Stopped. To go on: {given['resume_with']}", err=True)
        raise
