"""Checks of data from callers and files. Kernels check nothing, so interfaces check their arguments first."""

import hashlib
import json
import numbers
from typing import Any

import numpy as np

from cardenvs.core.errors import FormatError
from cardenvs.core.rng import SEED_MASK

_DIGEST_SIZE = 32  # bytes of a SHA-256
_LONGEST = 80  # characters of a value in an error message


def short(value: Any) -> str:
    """Return the repr of any value for an error message, shortened if it is long."""
    try:
        text = repr(value)
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    except Exception:  # a __repr__ may raise anything, and the digits of an integer may be too many
        return f"a {type(value).__name__}"


def is_integer(value: Any) -> bool:
    """Return whether `value` is a Python or NumPy integer. Bools are not."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def checked_integer(name: str, value: Any, low: int, high: int) -> int:
    """Return `value` as an int.

    Raises:
        ValueError: it is not an integer from `low` to `high`. The message names the argument, `name`.
    """
    if not is_integer(value) or not low <= value <= high:
        raise ValueError(f"{name} takes an integer from {low} to {high}; got {short(value)}")
    return int(value)


def checked_seed(seed: Any) -> int:
    """Return `seed` as an int. Raises ValueError if it is not an integer from 0 to 2**63 - 1."""
    if not is_integer(seed) or not 0 <= seed <= SEED_MASK:
        raise ValueError(f"a seed is an integer from 0 to 2**63 - 1; got {short(seed)}")
    return int(seed)


def checked_player(player: Any, num_players: int) -> int:
    """Return `player` as an int. Raises ValueError if it is not an integer from 0 to num_players - 1."""
    if not is_integer(player) or not 0 <= player < num_players:
        raise ValueError(f"players are 0 to {num_players - 1}; got {short(player)}")
    return int(player)


def checked_integers(name: str, values: Any, shape: tuple[int | None, ...], low: int, high: int) -> np.ndarray:
    """Return `values`, an array or nested list, as a new int64 array, C-contiguous and in native byte order.

    In `shape`, None allows any length.

    Raises:
        ValueError: wrong shape, an entry not from `low` to `high`, or not integers (floats and bools are rejected).
    """
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.empty((), object)  # a ragged list
    lengths = ", ".join("n" if n is None else str(n) for n in shape)
    wanted = f"{name} takes integers from {low} to {high}, shape ({lengths}{',' * (len(shape) == 1)})"
    fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    are_integers = array.dtype.kind in "iu" or (array.size == 0 and isinstance(values, list))  # [] has dtype float64
    if not are_integers or not fits:
        raise ValueError(f"{wanted}; got shape {array.shape}, dtype {array.dtype}")
    if array.size and not (low <= array.min() and array.max() <= high):
        raise ValueError(f"{wanted}; got integers from {array.min()} to {array.max()}")
    return np.array(array, np.int64, order="C")


# -- saved data: magic, digest, one line of JSON, bytes -----------------------------------------------------------


def sealed(magic: bytes, header: dict[str, Any], *parts: bytes) -> bytes:
    """Return a header and some bytes as saved data for `split_saved`."""
    body = b"".join([json.dumps(header).encode(), b"\n", *parts])
    return magic + hashlib.sha256(body).digest() + body


def split_saved(data: Any, magic: bytes, what: str) -> tuple[dict[str, Any], bytes]:
    """Return the header of data from `sealed`, and the bytes after it.

    Raises:
        FormatError: the data does not start with `magic`, or is damaged.
    """
    if not isinstance(data, bytes) or not data.startswith(magic):
        raise FormatError(f"this is not a saved cardenvs {what}, or it has another format version")
    digest, rest = data[len(magic) :][:_DIGEST_SIZE], data[len(magic) + _DIGEST_SIZE :]
    if hashlib.sha256(rest).digest() != digest:
        raise FormatError(f"the saved {what} is damaged: its digest does not match")
    line, _, body = rest.partition(b"\n")
    header = parsed(line, f"the saved {what}")
    if not isinstance(header, dict):
        raise FormatError(f"the saved {what} is damaged: its header is not a JSON object")
    return header, body


def parsed(text: str | bytes, what: str) -> Any:
    """Parse JSON from an untrusted source; `what` names it in errors.

    Raises:
        FormatError: invalid JSON, nested too deeply, or a number is too long.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{what} cannot be read as JSON ({error}); it may be truncated") from None


def check_fields(data: dict[str, Any], fields: dict[str, Any], what: str) -> None:
    """Raise FormatError unless `data` has all `fields` with the given types. A bool is not accepted as an int."""
    for name, kind in fields.items():
        value = data.get(name)
        if name not in data or not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            wanted = getattr(kind, "__name__", str(kind))
            raise FormatError(f"{what} is damaged: {name!r} should be of type {wanted}, but is {short(value)}")
