"""What `train`, `clone`, `exploit` and `solve` share: parameters, and how they stop."""

import contextlib
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from cardenvs.cli.exit_codes import EXIT_INTERRUPTED
from cardenvs.cli.files import input_file
from cardenvs.cli.shared import MAX_PROCESSES, finite
from cardenvs.core.errors import OptionError

if TYPE_CHECKING:
    from cardenvs.training.config import Config

ConfigFile = Annotated[str | None, Option(metavar="FILE", help="YAML file of settings; default: that of the game.")]
Changes = Annotated[list[str] | None, Option("--set", metavar="NAME=VALUE", help="Change a setting. May be repeated.")]
Seconds = Annotated[
    float | None,
    Option(min=0, callback=finite, help="Seconds to train, earlier ones included, instead of total_steps."),
]
TotalSteps = Annotated[float | None, Option(min=1, callback=finite, help="Steps to train, earlier ones included.")]
InitFile = Annotated[
    Path | None,
    Option(metavar="FILE", callback=input_file, help="Start with the weights of this checkpoint or safetensors."),
]
Device = Annotated[str, Option(help="cpu, cuda or auto.")]
Threads = Annotated[int, Option(min=0, max=MAX_PROCESSES, help="Threads; 0: one per core.")]
Out = Annotated[Path | None, Option(metavar="FOLDER", help="Folder of the run; default: a new one in runs/.")]
Overwrite = Annotated[bool, Option("--overwrite", help="Replace the run that the folder holds.")]
Resume = Annotated[bool, Option("--resume", help="Resume the run that the folder holds.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Print the result only.")]


def check_resume(resume: bool, out: Path | None, overwrite: bool) -> None:
    """Check the flags of a command that resumes the run in its folder.

    Raises:
        OptionError: --resume without --out, or with --overwrite.
    """
    if resume and (out is None or overwrite):
        raise OptionError("--resume resumes the run in --out; give that, without --overwrite")


def same_command(folder: Path, *, is_named: bool, overwrite: bool, flag: str = "") -> str:
    """Return words for the command that resumes the run in a folder, given how it was called and a flag to add."""
    more = " ".join(filter(None, ["" if is_named else f"--out {shlex.quote(str(folder))}", flag]))
    return f"the same command{more and f' with {more}'}{', without --overwrite' if overwrite else ''}"


@contextlib.contextmanager
def stopping(command: str, quiet: bool = False, checkpoint: Path | None = None) -> Iterator[None]:
    """Exit if Ctrl-C stops the block, and print the command that resumes it, unless `quiet`.

    There is nothing to resume without `checkpoint`, the first of which may not have been written.
    """
    try:
        yield
    except KeyboardInterrupt:
        said = f"Stopped. To resume: {command}"
        if checkpoint is not None and not checkpoint.exists():
            said = "Stopped before the first checkpoint: there is nothing to resume."
        if not quiet:
            typer.echo(said, err=True)
        raise typer.Exit(EXIT_INTERRUPTED) from None


def initial_shape(config: "Config", init: Path | None) -> "Config":
    """Return the settings with the network shape of the weights to start with, if there are any."""
    if init is None:
        return config
    from cardenvs.agents.checkpoint_file import read_checkpoint
    from cardenvs.training.ppo.begin import shaped_like

    return shaped_like(config, read_checkpoint(init))
