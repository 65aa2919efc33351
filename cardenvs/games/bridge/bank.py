"""Deals solved beforehand for `phase="auction"` (rules.md 7): a file of cards and double-dummy results.

`deals.npy` is an array uint8 of shape (deals, 23), a deal a row:

* bytes 0 to 12, the owners: card c (0..51, `cardenvs.kits.cards`) belongs to player `row[c // 4] >> 2 * (c % 4) & 3`.
* bytes 13 to 22, the tricks: declarer p's side takes `row[13 + k // 2] >> 4 * (k % 2) & 15` of them in denomination d
  (clubs, diamonds, hearts, spades, no-trump), where k = 4 * d + p.

`cardenvs bridge bank` makes such files, and `pack` and `unpack` convert rows. The environment variable
CARDENVS_BRIDGE_BANK names another file to deal from, so that an evaluation can use deals that nobody knows.

A stored deal stands for 96: any player can hold North's cards, the others following clockwise, and the four suits can
change places, since the tricks change places with them.
"""

import os
from pathlib import Path

import numpy as np

from cardenvs.core.errors import FileError
from cardenvs.core.kernel import kernel
from cardenvs.core.shared_data import shared_bytes
from cardenvs.games.bridge.state import NUM_DENOMINATIONS, NUM_PLAYERS, NUM_RESULTS, NUM_TRICKS
from cardenvs.kits.cards import NUM_CARDS

FILE = Path(__file__).parent / "deals.npy"
VARIABLE = "CARDENVS_BRIDGE_BANK"
OWNER_BYTES = NUM_CARDS // 4
ROW_BYTES = OWNER_BYTES + NUM_RESULTS // 2
MOST_DEALS = 1_000_000


def pack(owners: np.ndarray, tricks: np.ndarray) -> np.ndarray:
    """Return deals as rows of the file.

    Args:
        owners: (deals, 52), the player who holds each card.
        tricks: (deals, 5, 4), double-dummy tricks by denomination and declarer.

    Returns:
        uint8 (deals, 23).
    """
    quads = np.asarray(owners, np.uint8).reshape(-1, OWNER_BYTES, 4)
    pairs = np.asarray(tricks, np.uint8).reshape(-1, NUM_RESULTS // 2, 2)
    packed_owners = (quads << np.array([0, 2, 4, 6], np.uint8)).sum(axis=2, dtype=np.uint8)
    return np.hstack([packed_owners, pairs[:, :, 0] | pairs[:, :, 1] << 4])


def unpack(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return owners, uint8 (deals, 52), and tricks, int8 (deals, 5, 4), of rows of the file: the inverse of `pack`."""
    owners = rows[:, :OWNER_BYTES, None] >> np.array([0, 2, 4, 6], np.uint8) & 3
    tricks = rows[:, OWNER_BYTES:, None] >> np.array([0, 4], np.uint8) & 15
    return (
        owners.reshape(-1, NUM_CARDS),
        tricks.astype(np.int8).reshape(-1, NUM_DENOMINATIONS, NUM_PLAYERS),
    )


def read_bank(path: Path) -> np.ndarray:
    """Read and check a file of deals.

    Raises:
        FileError: there is no such file, or a deal in it is impossible.
    """
    try:
        rows = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise FileError(f"{path}: not a file of solved bridge deals ({error})") from error
    if not isinstance(rows, np.ndarray) or rows.dtype != np.uint8 or rows.ndim != 2 or rows.shape[1] != ROW_BYTES:
        raise FileError(f"{path}: a file of solved deals is an array uint8 (deals, {ROW_BYTES})")
    if not 1 <= len(rows) <= MOST_DEALS:
        raise FileError(f"{path}: 1 to {MOST_DEALS} deals; it has {len(rows)}")
    owners, tricks = unpack(rows)
    sizes = np.stack([(owners == p).sum(axis=1) for p in range(NUM_PLAYERS)], axis=1)
    _complain(path, (sizes != NUM_TRICKS).any(axis=1), "a player holds thirteen cards")
    _complain(path, tricks.max(axis=(1, 2)) > NUM_TRICKS, "a side takes at most thirteen tricks")
    return rows


def _complain(path: Path, wrong: np.ndarray, reason: str) -> None:
    if wrong.any():
        raise FileError(f"{path}: deal {int(wrong.argmax())} is impossible: {reason}")


_byte_at, _num_bytes = shared_bytes("bridge_bank", read_bank(Path(os.environ.get(VARIABLE) or FILE)))


@kernel(inline=True)
def num_deals():
    """Return the number of deals in the bank."""
    return _num_bytes() // ROW_BYTES


@kernel(inline=True)
def owner_of(row, card):
    """Return who holds a card in a deal of the bank."""
    return _byte_at(ROW_BYTES * row + (card >> 2)) >> 2 * (card & 3) & 3


@kernel(inline=True)
def tricks_in(row, denomination, declarer):
    """Return the double-dummy tricks of declarer's side in a deal of the bank."""
    k = 4 * denomination + declarer
    return _byte_at(ROW_BYTES * row + OWNER_BYTES + (k >> 1)) >> 4 * (k & 1) & 15
