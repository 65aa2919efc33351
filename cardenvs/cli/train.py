"""`cardenvs train`."""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

import cardenvs.cli.runs as runs
from cardenvs.cli.compiling import compile_for
from cardenvs.cli.shared import OptionTexts, RayAddress, join_cluster, new_console, new_table
from cardenvs.core.errors import OptionError, require
from cardenvs.core.registry import get_game

if TYPE_CHECKING:
    from cardenvs.training.config import Config
    from cardenvs.training.folder import RunFolder
    from cardenvs.training.limits import Limits
    from cardenvs.training.seeds import SeedRun


def train(
    game: Annotated[str | None, Argument(metavar="[GAME]", help="Game to train on; not with --resume.")] = None,
    config: runs.ConfigFile = None,
    changes: runs.Changes = None,
    option: OptionTexts = None,
    seconds: runs.Seconds = None,
    total_steps: runs.TotalSteps = None,
    out: runs.Out = None,
    overwrite: runs.Overwrite = False,
    resume: runs.Resume = False,
    init: runs.InitFile = None,
    seeds: Annotated[
        str | None, Option("--seeds", metavar="SEEDS", help="Train once per seed: 1:6 (1 to 5) or 1,4,9.")
    ] = None,
    backend: Annotated[str, Option(metavar="local|ray", help="Where to train the policies of --seeds.")] = "local",
    address: RayAddress = None,
    device: runs.Device = "auto",
    threads: runs.Threads = 0,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    settings: Annotated[bool, Option("--settings", help="List all settings and exit.")] = False,
) -> None:
    """Train by self-play (masked PPO or deep Monte Carlo). The result plays as the agent ppo:CHECKPOINT.

    Examples:

    - `cardenvs train gin_rummy_v0 --seconds 90 --out runs/gin`
    - `cardenvs train leduc_poker_v0 --config configs/leduc.yaml --set lr=3e-4 --set hidden=128,128`
    - `cardenvs train casino_v0 --set method=dmc --set action_embedding=64 --set action_head=layer`
    - `cardenvs train --out runs/gin --resume --seconds 300`
    - `cardenvs train gin_rummy_v0 --init runs/clone/latest.pt --out runs/from-clone`
    - `cardenvs train leduc_poker_v0 --config configs/leduc_magnet.yaml --seeds 1:6 --out runs/leduc`
    - `torchrun --nproc-per-node 2 -m cardenvs train gin_rummy_v0 --out runs/gin`
    """
    from cardenvs.training.config import chosen_config, settings_text
    from cardenvs.training.folder import RunFolder
    from cardenvs.training.torchrun import is_first, is_started_by_torchrun

    if settings:
        typer.echo(settings_text(shutil.get_terminal_size().columns))
        return
    _check_backend(backend, seeds, init)
    join_cluster(backend, address)
    if resume and seeds:
        raise OptionError("--seeds resumes the runs in its folder by itself; leave out --resume")
    if resume and (game or config or changes or option or init):
        raise OptionError("--resume takes game and settings from the run in --out; leave them out")
    runs.check_resume(resume, out, overwrite)
    chosen = None if resume else chosen_config(game, config, changes or (), option or ())
    require("torch", "train")
    if seeds and is_started_by_torchrun():
        raise OptionError("several processes train one policy; leave out --seeds, or leave out torchrun")
    how: dict[str, Any] = {
        "total_steps": total_steps, "seconds": seconds, "device": device, "threads": threads,
        "show": not quiet and is_first(),
    }  # fmt: skip
    if resume and out is not None:
        _resume(RunFolder(out), how)
    elif chosen is not None:
        name = _compiled(game, chosen, how["show"])
        folder = RunFolder.named(out, name)
        chosen = runs.initial_shape(chosen, init)
        if seeds:
            command = runs.same_command(folder.path, is_named=out is not None, overwrite=overwrite)
            with runs.stopping(command, quiet):
                _train_seeds(name, chosen, seeds, folder.path, overwrite, backend, {**how, "init": init})
        else:
            _train(name, chosen, folder, overwrite, {**how, "init": init})
    if is_started_by_torchrun():
        # Everything is written. Now and then a thread of torch aborts a process that ends in the usual way, and
        # torchrun would report that the run failed.
        sys.stderr.flush()
        os._exit(0)


def _check_backend(backend: str, seeds: str | None, init: Path | None) -> None:
    if backend not in ("local", "ray") or (backend == "ray" and not seeds):
        raise OptionError(f"--backend is local, or ray with --seeds; got {backend!r}")
    if backend == "ray" and init:
        raise OptionError("--init does not go with --backend ray, where runs begin with random weights; leave it out")


def _compiled(game: str | None, config: "Config", show: bool) -> str:
    """Compile the game under a bar, if there is one to show. Returns the game's name."""
    if not (game or config.game):
        raise OptionError("which game? name one, or give a config that does")
    found = get_game(game or config.game)
    if show:
        policies = config.eval_opponents or found.engine.policy_names()
        compile_for(found, found.make_options(**config.options), policies, batches=True)
    return found.name


def _resume(folder: "RunFolder", how: dict[str, Any]) -> None:
    from cardenvs.training.limits import Limits
    from cardenvs.training.ppo import resume

    if folder.path.is_dir() and not folder.checkpoint.exists():
        raise OptionError(f"{folder.path} holds no checkpoint, so there is nothing to resume")
    limits = Limits(how["total_steps"], how["seconds"])
    if limits and folder.result.exists():
        _check_further(folder, limits)
    with runs.stopping(_again(folder), not how["show"]):
        resume(folder.checkpoint, **how)


def _check_further(folder: "RunFolder", limits: "Limits") -> None:
    """Raise OptionError if a finished run has reached the limits."""
    from cardenvs.agents.checkpoint_file import checked_fields, read_checkpoint

    checkpoint = read_checkpoint(folder.checkpoint)
    training = checked_fields(checkpoint.get("training"), {"seconds": float}, f"training in {folder.checkpoint}")
    steps, seconds = checkpoint["steps"], training["seconds"]
    if limits.fraction(steps, seconds) == 1.0:
        raise OptionError(
            f"{folder.path} has trained for {steps:,} steps and {seconds:,.0f} seconds, which count; give a larger "
            "--total-steps or --seconds"
        )


def _again(folder: "RunFolder") -> str:
    return shlex.join(["cardenvs", "train", "--out", str(folder.path), "--resume"])


def _train(game: str, config: "Config", folder: "RunFolder", overwrite: bool, how: dict[str, Any]) -> None:
    from cardenvs.training.ppo import train

    with runs.stopping(_again(folder), not how["show"], folder.checkpoint):
        train(game, config, out=folder.path, overwrite=overwrite, **how)


def _train_seeds(
    game: str, config: "Config", seeds: str, out: Path, overwrite: bool, backend: str, how: dict[str, Any]
) -> None:
    """Train once per seed and print a table of the results."""
    from cardenvs.training.limits import Limits
    from cardenvs.training.seeds import parse_seeds, results_of, seed_runs, table

    limits = Limits(how["total_steps"], how["seconds"]) or Limits(config.total_steps)
    found = seed_runs(config, parse_seeds(seeds), out, limits, overwrite)
    left = [run for run in found if not run.is_over]
    if left:
        train = _train_on_ray if backend == "ray" else _train_here
        train(game, left, {**how, **vars(limits)})
    if not how["show"]:
        return
    if config.final_deals == 0:
        typer.echo("No results to show: with final_deals=0 there is no final evaluation.", err=True)
        return
    headings, rows = table(results_of(found))
    shown = new_table(*headings, right=1)
    for row in rows:
        shown.add_row(*row)
    new_console().print(shown)


def _train_here(game: str, runs: Sequence["SeedRun"], how: dict[str, Any]) -> None:
    from cardenvs.training.ppo import resume, train

    for run in runs:
        if run.has_begun:
            resume(run.folder.checkpoint, **{name: value for name, value in how.items() if name != "init"})
        else:
            train(game, run.config, out=run.folder.path, overwrite=True, **how)


def _train_on_ray(game: str, runs: Sequence["SeedRun"], how: dict[str, Any]) -> None:
    from cardenvs.training.limits import Limits
    from cardenvs.training.remote import RemoteRun, train_on_ray

    for run in runs:
        if not run.has_begun:
            run.folder.clear()
    limits = Limits(how["total_steps"], how["seconds"])
    train_on_ray([RemoteRun(game, run.config, run.folder, limits) for run in runs], how["threads"] or 1, how["show"])
