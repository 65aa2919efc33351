"""Records: no padding, and a widened twin that goes back and forth and refuses what does not fit."""

import copy
import pickle

import numpy as np
import pytest

from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import Record, copied, narrow, packed, record, wide_dtype, widen

INNER = packed([("few", "i1", (3,)), ("one", "i4")])
MIXED = packed(
    [
        ("small", "i1"),
        ("bits", "u1", (5,)),
        ("wide", "i8"),
        ("half", "i2", (2, 2)),
        ("inner", INNER),
        ("words", "u8", (2,)),
        ("rewards", "f8", (2,)),
    ]
)


def leaves(dtype, path=""):
    """(path, scalar dtype, offset, number of entries) of every field, nested ones opened."""
    for name, (kind, offset) in ((name, dtype.fields[name][:2]) for name in dtype.names):
        base, shape = kind.subdtype or (kind, ())
        if base.names is not None:
            assert shape == ()
            yield from ((p, b, offset + o, n) for p, b, o, n in leaves(base, f"{path}{name}."))
        else:
            yield f"{path}{name}", base, offset, int(np.prod(shape, dtype=int))


def assert_no_padding(dtype):
    end = 0
    for name, base, offset, count in sorted(leaves(dtype), key=lambda leaf: leaf[2]):
        assert offset == end, f"padding before {name}"
        assert offset % base.alignment == 0, f"{name} is not aligned"
        end = offset + base.itemsize * count
    assert end == dtype.itemsize, "padding at the end"
    assert dtype.itemsize % 8 == 0


def filled(seed=0, n=3):
    """Records of MIXED with every byte random, rewards finite."""
    states = np.random.default_rng(seed).integers(0, 256, (n, MIXED.itemsize), np.uint8).view(MIXED)[:, 0]
    states["rewards"] = np.arange(2 * n).reshape(n, 2) / 4
    return states


def test_no_padding_in_the_record_of_any_game(every_game):
    assert_no_padding(every_game.state_dtype)
    assert every_game.state_dtype.type is Record


@pytest.mark.parametrize("dtype", [INNER, MIXED], ids=["inner", "mixed"])
def test_no_padding_whatever_the_fields(dtype):
    assert_no_padding(dtype)


def test_every_game_has_the_header(every_game):
    most = every_game.table.max_players
    fields = every_game.state_dtype.fields
    for name, kind in [
        ("rng", "(4,)u8"), ("seed", "i8"), ("rewards", f"({most},)f8"), ("returns", f"({most},)f8"), ("ply", "i4"),
        ("current_player", "i1"), ("terminal", "u1"), ("active", f"({most},)u1"),
    ]:  # fmt: skip
        assert fields[name][0] == np.dtype(kind), name
    assert fields["rules"][0] == rules_dtype(every_game.options)


def test_the_widened_twin_has_the_same_names_and_wide_integers(every_game):
    for (name, base, _, count), (wide_name, wide_base, _, wide_count) in zip(
        leaves(every_game.state_dtype), leaves(wide_dtype(every_game.state_dtype)), strict=True
    ):
        assert (name, count) == (wide_name, wide_count)
        assert wide_base == (base if base == np.uint64 or base.kind == "f" else np.int64)


def test_widening_and_narrowing_is_a_round_trip():
    states = filled()
    back = np.zeros_like(states)
    narrow(widen(states), back)
    assert back.tobytes() == states.tobytes()


def test_the_widened_twin_is_a_copy_that_reads_by_name():
    states = filled()
    wide = widen(states)
    assert wide[0].inner.few.tolist() == states["inner"]["few"][0].tolist()
    assert wide[0].half.shape == (2, 2)
    before = states.tobytes()
    wide["small"] = 100
    wide["inner"]["one"] = 1
    assert states.tobytes() == before


def test_fields_are_read_and_written_as_attributes():
    state = filled()[0]
    assert isinstance(state, Record)
    assert isinstance(state.inner, Record)
    assert state.inner.one == state["inner"]["one"]
    state.small, state.inner.one = 5, 7
    assert (state["small"], state["inner"]["one"]) == (5, 7)
    assert not hasattr(state, "large")
    with pytest.raises(AttributeError, match="the record has no field 'large'"):
        state.large  # noqa: B018  # the read is the test
    with pytest.raises(ValueError, match="no field of name large"):
        state.large = 1
    assert pickle.loads(pickle.dumps(state)) == copy.deepcopy(state) == state


def test_arithmetic_on_the_widened_twin_does_not_wrap():
    states = np.zeros(1, MIXED)
    states["small"] = 127
    assert widen(states)[0].small * 3 == 381


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("small", 128, "small (int8) cannot hold 128; its range is -128 to 127"),
        ("small", -129, "small (int8) cannot hold -129"),
        ("bits", -1, "bits (uint8) cannot hold -1; its range is 0 to 255"),
        ("half", 1 << 15, "half (int16) cannot hold 32768"),
        ("inner.few", 200, "inner.few (int8) cannot hold 200"),
        ("inner.one", 1 << 31, "inner.one (int32) cannot hold 2147483648"),
    ],
)
def test_narrowing_refuses_what_does_not_fit_and_changes_nothing(field, value, message):
    states = filled()
    before, wide = states.tobytes(), widen(states)
    wide["wide"] += 1  # would be written before the field that does not fit is met
    *outer, name = field.split(".")
    target = wide[outer[0]] if outer else wide
    target[name].flat[-1] = value
    with pytest.raises(OverflowError) as caught:
        narrow(wide, states)
    assert message in str(caught.value)
    assert states.tobytes() == before


@pytest.mark.parametrize(("field", "value"), [("small", -128), ("small", 127), ("bits", 255), ("wide", -(1 << 63))])
def test_narrowing_takes_the_whole_range(field, value):
    states = np.zeros(1, MIXED)
    wide = widen(states)
    wide[field] = value
    narrow(wide, states)
    assert (states[field] == value).all()


def test_a_copy_has_the_same_bytes_and_is_independent():
    states = filled()
    twin = copied(states)
    assert twin.tobytes() == states.tobytes()
    assert twin.dtype is states.dtype
    twin["small"] += 1
    assert twin.tobytes() != states.tobytes()


@pytest.mark.parametrize(
    "name",
    ["rng", "seed", "rules", "rewards", "returns", "ply", "current_player", "terminal", "active", "filler"],
)
def test_names_of_the_header_are_refused(name):
    with pytest.raises(ValueError, match=f"field name '{name}' belongs to the header"):
        record(rules_dtype(Options), 2, [(name, "i1")])


@pytest.mark.parametrize("name", ["round", "sort", "max", "item", "shape", "copy"])
def test_names_of_numpy_methods_are_refused(name):
    with pytest.raises(ValueError, match=f"field name '{name}' is also a NumPy method"):
        record(rules_dtype(Options), 2, [(name, "i1")])


def test_names_of_numpy_methods_are_refused_as_options_too():
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Rounds(Options):
        round: int = option(0, low=0, high=3, doc="reads as a method where the compiler is off")

    with pytest.raises(ValueError, match="'round'"):
        rules_dtype(Rounds)
