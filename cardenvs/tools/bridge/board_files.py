"""Boards from any file that holds some."""

from collections.abc import Iterator
from pathlib import Path

from cardenvs.core.errors import FormatError
from cardenvs.core.replay import Replay
from cardenvs.tools.bridge.boards import Board, BoardRecord
from cardenvs.tools.bridge.deals import GAME
from cardenvs.tools.bridge.lin import read_lin
from cardenvs.tools.bridge.pbn_reader import read_pbn


def read_boards(path: Path, strict: bool = False) -> Iterator[Board]:
    """Yield the boards of a PBN or LIN file (.pbn, .lin), of a replay (.json) or of a match store, one by one.

    Args:
        path: the file.
        strict: whether to refuse what would otherwise be read with a note.

    Raises:
        FormatError: the file is none of these, or a board cannot be read; with file, board, line and field.
    """
    for record in read_records(path, strict):
        if record.board is None:
            raise FormatError(f"{path}: board {record.place}, {record.error}")
        yield record.board


def read_records(path: Path, strict: bool = False) -> Iterator[BoardRecord]:
    """Yield the boards of a file as `read_boards` does, and in the place of one that cannot be read the reason why."""
    suffix = path.suffix.lower()
    if suffix == ".pbn":
        yield from read_pbn(path, strict)
    elif suffix == ".lin":
        yield from read_lin(path, strict)
    elif suffix == ".json":
        yield BoardRecord(1, Board.of(Replay.load(path)))
    else:
        for place, board in enumerate(_of_store(path), 1):
            yield BoardRecord(place, board)


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
