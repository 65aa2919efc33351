"""What is said about packages that are missing or broken."""

import sys

import pytest

from cardenvs.core.errors import MissingExtraError, require


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Makes a package `broken_here` of a text."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(text):
        (tmp_path / "broken_here.py").write_text(text)
        monkeypatch.delitem(sys.modules, "broken_here", raising=False)

    yield make
    sys.modules.pop("broken_here", None)


def test_a_package_that_is_there_is_returned(package):
    package("VALUE = 7")
    assert require("broken_here", "train").VALUE == 7


@pytest.mark.parametrize("name", ["nowhere_to_be_found", "nowhere_to_be_found.part", "json.nowhere"])
def test_a_missing_package_is_named_with_its_extra(name):
    with pytest.raises(MissingExtraError, match=rf"'{name}', which is not installed.*pip install 'cardenvs\[train\]'"):
        require(name, "train")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import also_not_here", "ModuleNotFoundError: No module named 'also_not_here'"),
        ("from json import no_such_name", "ImportError: cannot import name 'no_such_name'"),
        ("raise OSError('libtorch.so: cannot open shared object file')", "OSError: libtorch.so: cannot open"),
        ("raise AttributeError('_ARRAY_API not found')", "AttributeError: _ARRAY_API not found"),
    ],
)
def test_a_broken_package_is_said_to_be_installed_and_why_it_fails(package, text, reason):
    package(text)
    with pytest.raises(MissingExtraError, match="which is installed but cannot be imported") as refused:
        require("broken_here", "train")
    assert reason in str(refused.value)
    assert refused.value.__cause__ is not None
