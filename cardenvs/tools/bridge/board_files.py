"""Boards from any file that holds some."""

from collections.abc import Iterator
from pathlib import Path

from cardenvs.core.errors import FormatError
from cardenvs.core.replay import Replay
from cardenvs.tools.bridge.boards import Board
from cardenvs.tools.bridge.deals import GAME
from cardenvs.tools.bridge.lin import read_lin
from cardenvs.tools.bridge.pbn_reader import read_pbn


def read_boards(path: Path) -> Iterator[Board]:
    """Yield the boards of a PBN or LIN file (.pbn, .lin), of a replay (.json) or of a match store, one by one.

    Raises:
        FormatError: the file is none of these, or is damaged; with file, board, line and field.
    """
    suffix = path.suffix.lower()
    if suffix == ".pbn":
        yield from read_pbn(path)
    elif suffix == ".lin":
        yield from read_lin(path)
    elif suffix == ".json":
        yield Board.of(Replay.load(path))
    else:
        yield from _of_store(path)


def _of_store(path: Path) -> Iterator[Board]:
    from cardenvs.arena.store import Store
    from cardenvs.arena.verify import replay_of

    number = 0
    with Store(path, read_only=True) as store:
        for match in map(store.match, store.match_ids()):
            if match.game.name == GAME:
                for record in store.records(match.id):
                    number += 1
                    yield Board.of(replay_of(match, record))
    if not number:
        raise FormatError(f"{path} has no games of {GAME}")
