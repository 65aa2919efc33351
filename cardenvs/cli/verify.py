"""`cardenvs verify`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from cardenvs.cli.compiling import compile_for
from cardenvs.cli.exit_codes import EXIT_FAILED
from cardenvs.cli.files import input_file
from cardenvs.cli.progress import ProgressBar
from cardenvs.cli.shared import MAX_COUNT, MAX_SEED, Processes, StorePath

if TYPE_CHECKING:
    from cardenvs.arena.store import Store

_LARGEST_CARD = 1 << 22  # bytes


def verify(
    store: StorePath,
    sample: Annotated[
        int | None, Option(min=1, max=MAX_COUNT, help="Replay a sample of this many games; default: all.")
    ] = None,
    seed: Annotated[int, Option(min=0, max=MAX_SEED, help="Seed of the sample.")] = 0,
    processes: Processes = 1,
    card: Annotated[
        Path | None,
        Option(metavar="FILE", callback=input_file, help="Also check a card of `cardenvs evaluate` against the games."),
    ] = None,
) -> None:
    """Replay the games of a store and compare seats, seeds, actions, events and returns.

    Prints each game that differs; the exit code is then 1. With --card, the scores of an evaluation are computed again
    from the games and compared with its card and its protocol.

    Examples:

    - `cardenvs verify small_poker.db`
    - `cardenvs verify gin.db --sample 500 -p 2`
    - `cardenvs verify search.db --card search.json`
    """
    from cardenvs.arena.store import Store
    from cardenvs.arena.verify import verify as verify_store

    with Store(store, read_only=True) as opened:
        wrong_card = _card_differences(card, opened) if card else []
        for match in map(opened.match, opened.match_ids()):
            compile_for(match.game, match.options)
        with ProgressBar("replaying", unit="games") as bar:
            done, mismatches = verify_store(opened, sample=sample, seed=seed, processes=processes, progress=bar.show)
        digest = opened.digest()
    for mismatch in mismatches:
        typer.secho(str(mismatch), fg="red")
    for difference in wrong_card:
        typer.secho(f"{card}: {difference}", fg="red")
    if mismatches:
        wrong = "1 row differs" if len(mismatches) == 1 else f"{len(mismatches)} rows differ"
        typer.secho(f"{done} games replayed; {wrong} from the record", fg="red")
        raise typer.Exit(EXIT_FAILED)
    if wrong_card:
        raise typer.Exit(EXIT_FAILED)
    typer.echo(f"{done} games replayed; all match their records. The store's digest is {digest[:16]}")
    if card:
        typer.echo(f"{card}: its scores are those of the games, and the games those of its protocol")


def _card_differences(path: Path, store: "Store") -> list[str]:
    """Return in what a card differs from the games; see `check_card`."""
    import json

    from cardenvs.arena.evaluation import check_card
    from cardenvs.core.errors import FormatError
    from cardenvs.core.text import read_text

    text = read_text(path, "card", FormatError, _LARGEST_CARD)
    try:
        return check_card(json.loads(text), store)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not a card: {error}") from None
