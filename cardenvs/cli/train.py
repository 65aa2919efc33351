"""`cardenvs train`. The trainer lives beside this package."""

from typing import Annotated

import typer

from cardenvs.cli.shared import MAX_PROCESSES, OptionTexts, finite


def train(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="What to train on; not with --resume.")] = None,
    config: Annotated[str | None, typer.Option(metavar="FILE", help="YAML settings; default: the game's own.")] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting. May be repeated.")
    ] = None,
    option: OptionTexts = None,
    seconds: Annotated[
        float | None, typer.Option(min=0, callback=finite, help="Train for this long, instead of total_steps.")
    ] = None,
    total_steps: Annotated[
        float | None, typer.Option(min=1, callback=finite, help="Train for this many steps.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Folder of the run; default: a new one in runs/.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run that the folder holds.")] = False,
    resume: Annotated[str | None, typer.Option(metavar="CHECKPOINT", help="Go on from here.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda or auto (the default).")] = None,
    threads: Annotated[int | None, typer.Option(min=1, max=MAX_PROCESSES, help="Threads; default: one a core.")] = None,
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
