"""`SavedState`: what `State.to_bytes` writes, and the checks of what `State.from_bytes` reads."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cardenvs.core.checks import check_fields, sealed, short, split_saved
from cardenvs.core.errors import FormatError, OptionError
from cardenvs.core.events import COLUMNS
from cardenvs.core.options import Options
from cardenvs.core.record import dtype_hash

if TYPE_CHECKING:
    from cardenvs.core.game import Game

_MAGIC = b"cardenvs-state-1\n"
_FIELDS: dict[str, Any] = {
    "game": str, "options": dict, "layout": str, "record": str, "seed": int, "deck": list, "actions": list,
    "knower": int | None, "has_history": bool,
}  # fmt: skip


@dataclass(frozen=True)
class SavedState:
    """The contents of a saved state."""

    # the game played
    game: "Game"
    options: Options
    seed: int  # seed of the episode
    deck: list[int]  # explicit tokens of the deal
    actions: list[int]  # ids and codes applied so far
    knower: int | None  # the player whose knowledge a determinized twin keeps, else None
    has_history: bool  # whether the events go back to the deal
    # the record's bytes; without history, followed by those of the record at which the events start and of the event
    # rows before it
    body: bytes

    def to_bytes(self) -> bytes:
        """Return the bytes that `from_bytes` reads."""
        header = {
            "game": self.game.name,
            "options": self.options.as_dict(),
            "layout": self.game.layout(self.options).hash,
            "record": dtype_hash(self.game.state_dtype),
            "seed": self.seed,
            "deck": self.deck,
            "actions": self.actions,
            "knower": self.knower,
            "has_history": self.has_history,
        }
        return sealed(_MAGIC, header, self.body)

    @classmethod
    def from_bytes(cls, game: "Game", data: bytes) -> Self:
        """Read the header of a saved state; deck, actions and body are not checked.

        Raises:
            FormatError: the data is damaged, or belongs to another game, version or layout.
        """
        header, body = split_saved(data, _MAGIC, "state")
        check_fields(header, _FIELDS, "the saved state")
        if header["game"] != game.name:
            raise FormatError(f"the saved state is of {short(header['game'])}, not of {game.name}")
        try:
            options = game.make_options(**header["options"])
        except OptionError as error:
            raise FormatError(f"the saved state was made by another version of cardenvs: {error}") from None
        if header["layout"] != game.layout(options).hash or header["record"] != dtype_hash(game.state_dtype):
            raise FormatError(f"the saved state of {game.name} was made by another version of cardenvs")
        return cls(
            game, options, header["seed"], header["deck"], header["actions"], header["knower"], header["has_history"],
            body,
        )  # fmt: skip

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the arrays of the body without checking them.

        Returns:
            the record, shape (1,); without history, also the record at which the events start, shape (1,), and the
            event rows before it, int32 (n, COLUMNS); with history, both are empty.
        """
        dtype = self.game.state_dtype
        size = dtype.itemsize
        records = np.frombuffer(self.body[:size], dtype).copy()
        if self.has_history:
            return records, records[:0], np.zeros((0, COLUMNS), np.int32)
        base = np.frombuffer(self.body[size : 2 * size], dtype)
        known_rows = np.frombuffer(self.body[2 * size :], np.int32).reshape(-1, COLUMNS).copy()
        return records, base, known_rows
