"""Keys of information states: 128-bit rolling hashes of the events that a player has seen.

A key is a uint64 array (2,). Kernels extend it event by event while they walk a game; `information_key` computes the
same key from the rows of `Table.visible`. Two lanes with different constants make an accidental collision of two among
a billion keys less likely than 1 in 10**20.
"""

import numpy as np

from cardenvs.core.events import AUDIENCE, EVERYBODY, KIND, PLAYER, SOURCE, TARGET, TOKEN, UNKNOWN, VALUE, VISIBLE
from cardenvs.core.kernel import kernel
from cardenvs.core.record import takes_records
from cardenvs.core.rng import mix64

_STEPS = np.array([0x9E3779B97F4A7C15, 0xD1342543DE82EF95], np.uint64)  # one a lane
_STEP_0, _STEP_1 = _STEPS
_SHIFT = np.uint64(32)
_TO_UNSIGNED = 1 << 31


@kernel(inline=True)
def _word(high, low):
    """Two int32 in one uint64."""
    return (np.uint64(np.int64(high) + _TO_UNSIGNED) << _SHIFT) | np.uint64(np.int64(low) + _TO_UNSIGNED)


@kernel(inline=True)
def extend_key(key, high, low):
    """Add two int32 to a key, in place."""
    word = _word(high, low)
    key[0] = mix64((key[0] ^ word) + _STEP_0)
    key[1] = mix64((key[1] ^ word) + _STEP_1)


@kernel(inline=True)
def _add_event(key, row, token, value, sees_face):
    extend_key(key, 2 * np.int64(row[KIND]) + sees_face, row[PLAYER])
    extend_key(key, token, row[SOURCE])
    extend_key(key, row[TARGET], value)


@kernel
def add_events(key, log, first, viewer_bit, is_set):
    """Add the events of `log` from row `first` on to the key of a viewer, as far as it sees them.

    Args:
        key: uint64 (2,), changed in place.
        log: int32 (rows + 1, COLUMNS), as `log_event` writes it.
        first: index of the first new row, from 1.
        viewer_bit: of the viewer; EVERYBODY for one who sees everything.
        is_set: uint8, by event kind: whether its operation is SET, so that the value may be hidden.
    """
    for k in range(first, log[0, 0] + 1):
        row = log[k]
        if row[AUDIENCE] & viewer_bit:
            if viewer_bit == EVERYBODY or row[VISIBLE] & viewer_bit:
                _add_event(key, row, row[TOKEN], row[VALUE], 1)
            else:
                _add_event(key, row, UNKNOWN, 0 if is_set[row[KIND]] else row[VALUE], 0)


@takes_records
@kernel(entry=True)
def _add_visible(key, rows):
    for k in range(rows.shape[0]):
        row = rows[k]
        _add_event(key, row, row[TOKEN], row[VALUE], row[VISIBLE])


def information_key(rows: np.ndarray) -> np.ndarray:
    """Return the key, uint64 (2,), of the events that a viewer has seen, int32 (n, COLUMNS) from `Table.visible`."""
    key = np.zeros(2, np.uint64)
    _add_visible(key, np.ascontiguousarray(rows))
    return key


def key_text(key: np.ndarray) -> str:
    """Return a key as 32 hexadecimal digits."""
    return f"{int(key[0]):016x}{int(key[1]):016x}"
