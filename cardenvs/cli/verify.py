"""`cardenvs verify`."""

from typing import Annotated

import typer
from typer import Option

from cardenvs.cli.compiling import compile_for
from cardenvs.cli.exit_codes import EXIT_FAILED
from cardenvs.cli.progress import ProgressBar
from cardenvs.cli.shared import MAX_COUNT, MAX_SEED, Processes, StorePath


def verify(
    store: StorePath,
    sample: Annotated[
        int | None, Option(min=1, max=MAX_COUNT, help="Replay a sample of this many games; default: all.")
    ] = None,
    seed: Annotated[int, Option(min=0, max=MAX_SEED, help="Seed of the sample.")] = 0,
    processes: Processes = 1,
) -> None:
    """Replay the games of a store and compare seats, seeds, actions, events and returns.

    Prints each game that differs; the exit code is then 1.

    Examples:

    - `cardenvs verify small_poker.db`
    - `cardenvs verify gin.db --sample 500 -p 2`
    """
    from cardenvs.arena.store import Store
    from cardenvs.arena.verify import verify as verify_store

    with Store(store, read_only=True) as opened:
        for match in map(opened.match, opened.match_ids()):
            compile_for(match.game, match.options)
        with ProgressBar("replaying", unit="games") as bar:
            done, mismatches = verify_store(opened, sample=sample, seed=seed, processes=processes, progress=bar.show)
        digest = opened.digest()
    for mismatch in mismatches:
        typer.secho(str(mismatch), fg="red")
    if mismatches:
        wrong = "1 row differs" if len(mismatches) == 1 else f"{len(mismatches)} rows differ"
        typer.secho(f"{done} games replayed; {wrong} from the record", fg="red")
        raise typer.Exit(EXIT_FAILED)
    typer.echo(f"{done} games replayed; all match their records. The store's digest is {digest[:16]}")
