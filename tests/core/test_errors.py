"""What is said about packages that are missing or broken."""

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cardenvs.core.errors import MissingExtraError, require

ROOT = Path(__file__).resolve().parents[2]


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
    assert str(refused.value).endswith("repair it with: pip install --force-reinstall broken_here")
    assert refused.value.__cause__ is not None


def test_a_broken_package_is_reinstalled_under_the_name_that_pip_knows(package, tmp_path):
    package("raise OSError")
    info = tmp_path / "unlike_its_module-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: unlike-its-module\nVersion: 1.0\n")
    (info / "top_level.txt").write_text("broken_here\n")
    with pytest.raises(MissingExtraError, match=r"pip install --force-reinstall unlike-its-module$"):
        require("broken_here.part", "train")


def test_pip_adds_an_extra_to_the_installed_cardenvs_and_looks_for_no_other():
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "cardenvs[train]"]
    done = subprocess.run(
        command, env={**os.environ, "PIP_CONFIG_FILE": os.devnull}, capture_output=True, text=True, check=False
    )
    assert "Requirement already satisfied: cardenvs[train]" in done.stdout, done.stderr
    assert "No matching distribution found for cardenvs" not in done.stderr


def test_every_extra_that_a_message_names_exists():
    named = {}
    for path in (path for folder in ("cardenvs", "cardenvs_verifiers") for path in (ROOT / folder).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "require":
                extra = node.args[1]
                if isinstance(extra, ast.Constant):
                    named.setdefault(extra.value, path)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(named) <= set(extras), {extra: path for extra, path in named.items() if extra not in extras}
    assert {"train", "llm", "server", "arena"} <= set(named)
