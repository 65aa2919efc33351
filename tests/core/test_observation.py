"""Layouts: the sections of an observation as data."""

import numpy as np
import pytest

from cardenvs.core.observation import Layout, Section

LAYOUT = Layout(
    (
        Section("card", 3, "one-hot", labels=("J", "Q", "K")),
        Section("chips", 2, "chips, clipped at 9", low=-1, high=9),
        Section("flag", 1, "a flag"),
    )
)


def test_starts_and_size_follow_from_the_sections():
    assert LAYOUT.starts == (0, 3, 5)
    assert LAYOUT.size == 6
    assert LAYOUT.dtype == np.int8


def test_bounds_by_entry():
    assert LAYOUT.low.tolist() == [0, 0, 0, -1, -1, 0]
    assert LAYOUT.high.tolist() == [1, 1, 1, 9, 9, 1]
    assert LAYOUT.low.dtype == LAYOUT.high.dtype == np.int8


def test_split_gives_views_by_name():
    batch = np.arange(12, dtype=np.int8).reshape(2, 6)
    parts = LAYOUT.split(batch)
    assert {name: part.tolist() for name, part in parts.items()} == {
        "card": [[0, 1, 2], [6, 7, 8]], "chips": [[3, 4], [9, 10]], "flag": [[5], [11]],
    }  # fmt: skip
    parts["chips"][:] = 0
    assert batch[0].tolist() == [0, 1, 2, 0, 0, 5]


def test_the_dump_names_what_is_not_zero():
    assert LAYOUT.describe(np.array([0, 1, 0, 7, 0, 0], np.int8)) == "card: Q\nchips: 0=7\nflag: -"


def test_the_hash_changes_with_names_sizes_bounds_and_dtype_only():
    sections = list(LAYOUT.sections)
    changes = [
        Layout(sections, "float32"),
        Layout(sections[::-1]),
        Layout([*sections[:2], Section("other", 1, "a flag")]),
        Layout([*sections[:2], Section("flag", 2, "a flag")]),
        Layout([*sections[:2], Section("flag", 1, "a flag", high=2)]),
        Layout([*sections[:2], Section("flag", 1, "a flag", low=-1)]),
    ]
    assert len({layout.hash for layout in [LAYOUT, *changes]}) == 7
    same = [*sections[:2], Section("flag", 1, "in other words", labels=("yes",))]
    assert Layout(same).hash == LAYOUT.hash


def test_names_must_differ():
    with pytest.raises(ValueError, match="section names must differ"):
        Layout((Section("a", 1, ""), Section("a", 2, "")))


def test_labels_must_be_as_many_as_entries():
    with pytest.raises(ValueError, match="section a has 2 entries but 1 labels"):
        Section("a", 2, "", labels=("x",))


def test_every_game_describes_every_entry_of_its_observation(every_game):
    state = every_game.new_state(seed=1)
    layout = every_game.layout(state.options)
    assert layout.dtype in (np.int8, np.int16, np.float32)
    assert all(section.doc for section in layout.sections)
    dump = state.describe_observation(0).splitlines()
    assert [line.split(":")[0] for line in dump] == [section.name for section in layout.sections]
    assert layout.low.shape == layout.high.shape == state.observation(0).shape == (layout.size,)
    assert every_game.layout(every_game.make_options()) is layout  # kept: building one takes long
