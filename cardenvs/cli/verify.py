"""`cardenvs verify`."""

from typing import Annotated

import typer

from cardenvs.cli.progress import ProgressBar
from cardenvs.cli.shared import EXIT_FAILED, MAX_COUNT, MAX_SEED, Processes, StorePath


def verify(
    store: StorePath,
    sample: Annotated[
        int | None, typer.Option(min=1, max=MAX_COUNT, help="Play so many games again; default: all.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Of the sample.")] = 0,
    processes: Processes = 1,
) -> None:
    """Play the games of a store again and compare seats, seeds, actions, events and returns.

    Each game that differs is named, and the exit code is 1.

    Examples: `cardenvs verify small_poker.db`, `cardenvs verify gin.db --sample 500 -p 2`
    """
    from cardenvs.arena.store import Store
    from cardenvs.arena.verify import verify as verify_store

    with Store(store, read_only=True) as opened:
        with ProgressBar("playing again", unit="games") as bar:
            done, mismatches = verify_store(opened, sample=sample, seed=seed, processes=processes, progress=bar.show)
        digest = opened.digest()
    for mismatch in mismatches:
        typer.secho(str(mismatch), fg="red")
    if mismatches:
        wrong = "1 row is" if len(mismatches) == 1 else f"{len(mismatches)} rows are"
        typer.secho(f"{done} games played again; {wrong} not what should be there", fg="red")
        raise typer.Exit(EXIT_FAILED)
    typer.echo(f"{done} games played again; all are what is recorded. The store's digest is {digest[:16]}")
