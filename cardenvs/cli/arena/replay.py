"""`cardenvs arena replay`."""

from pathlib import Path
from typing import Annotated

import typer

from cardenvs.cli.files import Outputs
from cardenvs.cli.shared import MAX_COUNT, StorePath
from cardenvs.core.errors import ArenaError


def replay_command(
    store: StorePath,
    match: Annotated[str, typer.Argument(metavar="MATCH", help="Id of a match, or its first characters.")],
    deal: Annotated[int, typer.Argument(min=0, max=MAX_COUNT, help="Number of the deal.")],
    lineup: Annotated[int, typer.Argument(min=0, max=MAX_COUNT, help="Number of the lineup.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the replay.")],
) -> None:
    """Write a game of a store as a replay, for `cardenvs replay`.

    Example: `cardenvs arena replay small_poker.db 3f2a 17 0 --out game.json`
    """
    from cardenvs.arena.store import Store
    from cardenvs.arena.verify import replay_of

    outputs = Outputs({"--out": out}, used={"STORE": store})
    with Store(store, read_only=True) as opened:
        ids = [match_id for match_id in opened.match_ids() if match_id.startswith(match)]
        if len(ids) != 1:
            raise ArenaError(
                f"{store} has {len(ids)} matches that begin with {match!r}; see `cardenvs arena list {store}`"
            )
        replay = replay_of(opened.match(ids[0]), opened.game(ids[0], deal, lineup))
    outputs.write("replay", out, replay.save)
    outputs.close()
