"""`cardenvs zoo`: the trained policies that come with cardenvs, and packing others."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from cardenvs.cli.files import Outputs, input_file
from cardenvs.cli.shared import escaped, new_console, new_table
from cardenvs.core.errors import FileError, OptionError

zoo_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown",
    help="Trained policies that come with cardenvs.\n\n"
    "Example: `cardenvs match gin_rummy_v0 --agents zoo:gin_rummy_v0/ppo,heuristic`",
)  # fmt: skip


@zoo_app.command("list")
def list_command() -> None:
    """List the policies.

    Example: `cardenvs zoo list`
    """
    from cardenvs.agents.zoo import card, weights_file, zoo_names

    table = new_table("agent", "", "kB", right=2, key=True)
    for name in zoo_names():
        first = card(name).partition("\n\n")[2].partition("\n\n")[0].replace("\n", " ")
        table.add_row(f"zoo:{name}", escaped(first), f"{weights_file(name).stat().st_size / 1000:,.0f}")
    new_console().print(table)


@zoo_app.command("show")
def show_command(name: Annotated[str, Argument(metavar="GAME/NAME", help="Name of a policy.")]) -> None:
    """Show the card of a policy: its training, strength and weaknesses.

    Example: `cardenvs zoo show gin_rummy_v0/ppo`
    """
    from rich.markdown import Markdown

    from cardenvs.agents.zoo import card

    new_console().print(Markdown(card(name.removeprefix("zoo:"))))


@zoo_app.command("pack")
def pack_command(
    checkpoint: Annotated[Path, Argument(metavar="CHECKPOINT", callback=input_file, help="Saved by `cardenvs train`.")],
    out: Annotated[Path, Argument(metavar="FILE", help="File to write, named *.safetensors.")],
    precision: Annotated[
        str, Option(metavar="float16|float32", help="Precision of the weights; float16 makes a smaller file.")
    ] = "float16",
) -> None:
    """Write the policy of a checkpoint as a small file to share. It plays as the agent ppo:FILE.

    Example: `cardenvs zoo pack runs/gin/latest.pt gin.safetensors`
    """
    from cardenvs.agents.checkpoint_file import (
        PRECISIONS,
        WEIGHTS_SUFFIX,
        read_checkpoint,
        restore_network,
        write_weights,
    )

    if precision not in PRECISIONS:
        raise OptionError(f"--precision is {' or '.join(PRECISIONS)}; got {precision!r}")
    if out.suffix != WEIGHTS_SUFFIX:
        raise FileError(f"cannot write {out}: its name should end in {WEIGHTS_SUFFIX}")
    outputs = Outputs({"FILE": out}, used={"CHECKPOINT": checkpoint})
    policy = read_checkpoint(checkpoint)
    restore_network(policy, checkpoint)  # refuses weights that do not fit
    outputs.write("policy", out, lambda path: write_weights(policy, path, precision))
    outputs.close()
