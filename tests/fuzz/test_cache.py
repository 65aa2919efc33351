"""Compiled code changed in any way is never loaded; what is loaded is right."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cardenvs.core import cache as cache_module
from cardenvs.core.cache import trusted_folder
from cardenvs.core.kernel import COMPILED, kernel

from . import examples

pytestmark = [
    pytest.mark.rotating,
    pytest.mark.skipif(not COMPILED, reason="there is no cache with the compiler off"),
]


@pytest.fixture(scope="module")
def entry(tmp_path_factory):
    """The file of a compiled kernel, its contents, and a function that makes the kernel again and calls it."""
    folder = tmp_path_factory.mktemp("cache")

    def plus_one(x):
        return x + 1

    def make():
        made = kernel(plus_one, folder=Path(__file__).parent, entry=True)
        return made(5), len(made.stats.cache_hits)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache_module, "cache_folder", lambda: folder)
        patch.setattr("cardenvs.core.kernel.trusted_folder", trusted_folder.__wrapped__)
        make()
        (path,) = folder.rglob("*.kernel")
        yield path, path.read_bytes(), make


edits = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.1), st.binary(max_size=40)), min_size=1, max_size=4)


def edited(data, edits):
    for start, length, new in edits:
        first = int(start * len(data))
        data = data[:first] + new + data[first + int(length * len(data)) :]
    return data


@settings(max_examples=examples(30, 3000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=edits)
def test_an_edited_entry_is_not_loaded(entry, edits):
    path, whole, make = entry
    changed = edited(whole, edits)
    path.write_bytes(changed)
    assert make() == (6, int(changed == whole))
    path.write_bytes(whole)
    assert make() == (6, 1)


@settings(max_examples=examples(30, 3000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=4000), marked=st.booleans())
def test_garbage_is_not_loaded(entry, data, marked):
    path, _, make = entry
    path.write_bytes(cache_module._MARK * marked + data)
    assert make() == (6, 0)
