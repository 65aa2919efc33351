"""How long fuzzers run, and what they throw at a door.

A short form by default; CARDENVS_FUZZ=long, or the slow marker, tries a hundred times as many examples.
"""

import os

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

LONG = os.environ.get("CARDENVS_FUZZ") == "long"
FORFEIT = 1 << 30


def short(examples=60):
    """Hypothesis settings of a test in CI."""
    return _settings(100 * examples if LONG else examples)


def long(examples=60):
    """Hypothesis settings of the slow form of the same test."""
    return _settings(100 * examples)


def examples(short, long):
    """How many examples to try."""
    return long if LONG else short


def _settings(examples):
    return settings(
        max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=True
    )


def says_why(error):
    """A refusal has words."""
    assert str(error)


NUMBERS = st.one_of(
    st.integers(-3, 8),
    st.sampled_from([5000, 2**15, 2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**62, 2**63 - 1, 2**63, 2**64, 10**40]),
    st.sampled_from([-(2**31), -(2**63), -(2**63) - 1, FORFEIT - 1, FORFEIT, FORFEIT + 1, FORFEIT + 7]),
)
ODDITIES = st.sampled_from(
    [
        None,
        True,
        False,
        0.0,
        1.0,
        1.5,
        -0.0,
        float("nan"),
        float("inf"),
        "",
        "1",
        "call",
        "\x1b[31m",
        b"1",
        (),
        [],
        [1],
        [[1]],
        {},
        {1: 1},
        object(),
        int,
        ...,
        np.nan,
        np.bool_(True),
        np.float64(1),
        np.int8(1),
        np.uint64(2**63),
        np.array(1),
        np.array(1.0),
        np.array([1]),
        np.array(None),
        np.datetime64(1, "s"),
    ]
)
VALUES = NUMBERS | ODDITIES
"""What may be given where a number is wanted."""

_DTYPES = ["i1", "<i2", ">i4", "<i4", "<i8", ">i8", "u1", ">u4", "<u8", "f4", "<f8", ">f8", "?", "O", "U3", "c16"]
_SHAPES = [(), (0,), (1,), (2,), (3,), (4,), (1, 3), (3, 1), (3, 3), (3, 5), (0, 5), (3, 7), (2, 0, 3)]


@st.composite
def arrays(draw):
    """Arrays of many dtypes, byte orders, shapes and layouts in memory."""
    shape, dtype = draw(st.sampled_from(_SHAPES)), np.dtype(draw(st.sampled_from(_DTYPES)))
    array = np.full(shape, draw(st.integers(0, 5)), np.int64)
    if array.size and dtype.kind in "iufO" and draw(st.booleans()):
        value = draw(NUMBERS)
        if dtype.kind in "fO" or np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
            array = array.astype(dtype)
            array.flat[draw(st.integers(0, array.size - 1))] = value
    array = array.astype(dtype)
    way = draw(st.sampled_from(["as it is", "reversed", "strided", "fortran", "read-only", "broadcast"]))
    if way == "reversed" and array.ndim:
        return array[::-1]
    if way == "strided" and array.ndim:
        return np.repeat(array, 2, axis=-1)[..., ::2]
    if way == "fortran":
        return np.asfortranarray(array)
    if way == "read-only":
        array.flags.writeable = False
    if way == "broadcast":
        return np.broadcast_to(array, (3, *array.shape)) if array.ndim < 2 else array
    return array


ANYTHING = VALUES | arrays()
