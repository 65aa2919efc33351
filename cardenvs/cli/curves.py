"""`cardenvs curves`."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option


def curves(
    runs: Annotated[list[Path], Argument(metavar="RUN...", help="Folders of runs, or of several seeds.")],
    out: Annotated[Path, Option(metavar="FILE", help="Picture to write: .svg, .png or .pdf.")],
    metric: Annotated[str, Option(help="Metric to draw over steps.")] = "eval/random",
) -> None:
    """Draw learning curves of training runs.

    A folder of `cardenvs train --seeds` becomes one curve: the mean of its seeds, with a band from the lowest to the
    highest.

    Examples:

    - `cardenvs curves runs/gin --metric eval/heuristic --out gin.svg`
    - `cardenvs curves runs/plain runs/magnet --metric eval/nash_conv --out leduc.png`
    """
    from cardenvs.training.curves import draw, folders_of

    draw(folders_of(runs), metric, out)
    typer.echo(f"wrote {out}")
