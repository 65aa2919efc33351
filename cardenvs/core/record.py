"""State records: one flat, fixed-size NumPy record per game, and widened copies of it.

A record contains only integers (except rewards and returns) without padding bytes. Its fields read as `s.field`, both
compiled and uncompiled. Small integers wrap silently in compiled code and overflow differently in Python. Python code
(views, labels) and uncompiled rules therefore use a *widened copy*: the same field names with every integer as int64,
except uint64. `narrow` converts back and raises OverflowError for a value that does not fit.
"""

import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cardenvs.core.kernel import COMPILED

Field = tuple[Any, ...]  # (name, dtype) or (name, dtype, shape), as in a NumPy dtype


class Record(np.void):  # type: ignore[misc]  # which is final in the stubs alone
    """One record, whose fields read as attributes, nested ones too, more than twice as fast as those of np.record."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except ValueError:
            raise AttributeError(f"the record has no field {name!r}", name=name, obj=self) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def packed(fields: Sequence[Field]) -> np.dtype:
    """Build a record dtype without padding: fields sorted by width, filled up to a multiple of 8 bytes.

    Args:
        fields: (name, dtype[, shape]) tuples. A dtype may itself come from `packed`.

    Returns:
        dtype of kind Record, whose scalars support `s.field` in Python and in Numba.

    Raises:
        ValueError: a field has the name of a NumPy method.
    """
    for name, *_ in fields:
        if hasattr(Record, name):  # without the compiler, s.round would be the method
            raise ValueError(f"the field name {name!r} is also a NumPy method; choose another")
    normal = [(name, np.dtype(kind), *shape) for name, kind, *shape in fields]
    normal.sort(key=lambda field: -field[1].alignment if field[1].names is None else -8)  # stable
    size = np.dtype(normal).itemsize
    if size % 8:
        normal.append(("filler", np.dtype("u1"), (8 - size % 8,)))
    return np.dtype((Record, np.dtype(normal, align=True)))


def record(rules: np.dtype, max_players: int, fields: Sequence[Field]) -> np.dtype:
    """Build a game's state dtype: the header that every game has, then the game's own fields.

    Header fields, written by core unless stated otherwise:
        rng             uint64 (4,)   scratch of the generator, see rng.py
        seed            int64         seed of the episode
        rules           RULES         the chosen options, see options.py
        rewards         float64 (P,)  from the last action; set by the rules, zeroed by core before each action
        returns         float64 (P,)  total rewards of the episode
        ply             int32         number of actions applied so far
        current_player  int8          the player to act, set by the rules; TERMINAL_PLAYER once terminal
        terminal        uint8         1 once the game is over, set by the rules
        active          uint8 (P,)    1 while the player is in the game, cleared by the rules

    Raises:
        ValueError: a field's name is reserved.
    """
    header = [
        ("rng", "u8", (4,)),
        ("seed", "i8"),
        ("rules", rules),
        ("rewards", "f8", (max_players,)),
        ("returns", "f8", (max_players,)),
        ("ply", "i4"),
        ("current_player", "i1"),
        ("terminal", "u1"),
        ("active", "u1", (max_players,)),
    ]
    taken = {name for name, *_ in header} | {"filler"}
    for name, *_ in fields:
        if name in taken:
            raise ValueError(f"the field name {name!r} belongs to the header of every record; choose another")
    return packed([*header, *fields])


@functools.cache
def wide_dtype(dtype: np.dtype) -> np.dtype:
    """Return the widened form of a record dtype: same names and shapes, integers as int64, uint64 and floats kept."""
    wide = []
    for name in dtype.names or ():
        base, shape = _base_and_shape(dtype[name])
        if base.names is not None:
            base = wide_dtype(base)
        elif base.kind in "iu" and base != np.uint64:
            base = np.dtype(np.int64)
        wide.append((name, base, shape))
    return np.dtype((Record, np.dtype(wide)))


def widen(states: np.ndarray) -> np.ndarray:
    """Return a widened copy of an array of records."""
    out = np.zeros(states.shape, wide_dtype(states.dtype))
    _copy_fields(states, out)
    return out


def narrow(wide: np.ndarray, states: np.ndarray) -> None:
    """Write a widened array back into `states`.

    Raises:
        OverflowError: a value does not fit its field; `states` is unchanged.
    """
    _check_ranges(wide, states.dtype, "")
    _copy_fields(wide, states)


def copied(states: np.ndarray) -> np.ndarray:
    """Return a copy of a contiguous array of records, 5 times as fast as `states.copy()`, which copies each field."""
    return states.view(np.uint8).copy().view(states.dtype)


def copy_except(dtype: np.dtype, left_out: Sequence[str], is_compiled: bool = COMPILED) -> Any:
    """Return a function copy(target, source) that copies a record but for the fields `left_out`.

    It is one for kernels that are compiled or not.
    """
    kept = [name for name in dtype.names or () if name not in (*left_out, "filler")]
    if not is_compiled:

        def copy_fields(target: Any, source: Any) -> None:
            for name in kept:
                target[name] = source[name]

        return copy_fields

    from numba.core import cgutils, types
    from numba.extending import intrinsic

    spans = _spans(dtype, kept)

    @intrinsic
    def copy(typing_context: Any, target: Any, source: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            for first, size in spans:
                to, origin = (cgutils.pointer_add(builder, record, first) for record in arguments)
                cgutils.raw_memcpy(builder, to, origin, context.get_constant(types.intp, size), 1)
            return context.get_dummy_value()

        return types.none(target, source), generate

    return copy


def takes_records(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let Python call the kernel `function` with records.

    An uncompiled kernel runs on widened copies of the records, which are written back afterwards.
    """
    return function if COMPILED else takes_widened(function)


def takes_widened(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let Python call the uncompiled kernel `function` with records; it gets widened copies, which are written back."""

    @functools.wraps(function)
    def call_on_twins(*args: Any) -> Any:
        twins: list[tuple[np.ndarray, np.ndarray]] = []

        def twin_of(arg: Any) -> Any:
            if isinstance(arg, tuple):  # a named tuple of arrays
                return type(arg)(*map(twin_of, arg))
            if not isinstance(arg, np.ndarray) or not arg.dtype.names:
                return arg
            twins.append((widen(arg), arg))
            return twins[-1][0]

        with np.errstate(over="ignore"):  # the generator's arithmetic is modulo 2**64
            result = function(*map(twin_of, args))
        for wide, states in twins:
            narrow(wide, states)
        return result

    return call_on_twins


def dtype_hash(dtype: np.dtype) -> str:
    """Return a hash of a record dtype, which saved states store to detect another version."""
    return hashlib.sha256(repr(np.dtype(dtype).descr).encode()).hexdigest()[:12]


def _spans(dtype: np.dtype, names: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return where fields lie in a record: the first byte and the number of bytes of each row of neighbours."""
    spans: list[tuple[int, int]] = []
    for name in names:
        base, first, *_ = dtype.fields[name]  # type: ignore[index]
        stop = first + base.itemsize
        if spans and sum(spans[-1]) == first:
            first, _ = spans.pop()
        spans.append((first, stop - first))
    return tuple(spans)


def _base_and_shape(dtype: np.dtype) -> tuple[np.dtype, tuple[int, ...]]:
    return dtype.subdtype if dtype.subdtype is not None else (dtype, ())


def _check_ranges(wide: np.ndarray, dtype: np.dtype, path: str) -> None:
    for name in dtype.names or ():
        base, _ = _base_and_shape(dtype[name])
        if base.names is not None:
            _check_ranges(wide[name], base, f"{path}{name}.")
        elif base.kind in "iu" and base != np.uint64 and wide[name].size:
            info = np.iinfo(base)
            low, high = wide[name].min(), wide[name].max()
            if low < info.min or high > info.max:
                raise OverflowError(
                    f"record field {path}{name} ({base}) cannot hold {low if low < info.min else high}; "
                    f"its range is {info.min} to {info.max}"
                )


def _copy_fields(source: np.ndarray, target: np.ndarray) -> None:
    for name in source.dtype.names or ():
        base, _ = _base_and_shape(source.dtype[name])
        if base.names is not None:
            _copy_fields(source[name], target[name])
        else:
            target[name] = source[name]
