"""`cardenvs curves`."""

from pathlib import Path
from typing import Annotated

import typer


def curves(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs, or of several seeds.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Picture to write: .svg, .png or .pdf.")],
    metric: Annotated[str, typer.Option(help="What to draw over steps.")] = "eval/random",
) -> None:
    """Draw learning curves of training runs.

    A folder made by `cardenvs train --seeds` is one curve: the mean of its seeds, in a band from the lowest to the
    highest.

    Examples:

    - `cardenvs curves runs/gin --metric eval/heuristic --out gin.svg`
    - `cardenvs curves runs/plain runs/magnet --metric eval/nash_conv --out leduc.png`
    """
    from cardenvs.training.curves import draw, folders_of

    draw(folders_of(runs), metric, out)
    typer.echo(f"wrote {out}")
