"""`cardenvs new-game`: what it writes works, names are checked, and nothing is overwritten."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cardenvs.cli import app

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = """\
[project]
name = "cardenvs"

[project.entry-points."cardenvs.games"]
a_game_v0 = "cardenvs.games.a_game:GAME"
z_game_v0 = "cardenvs.games.z_game:GAME"

[tool.ruff]
line-length = 120
"""


def invoke(*words):
    return CliRunner().invoke(app, ["new-game", *map(str, words)], env={"COLUMNS": "120"})


def files_in(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """An empty checkout of cardenvs, as the working folder."""
    (tmp_path / "cardenvs" / "games").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def installed(folder):
    """Variables of a process in which a package is installed: on the path, with the metadata that pip would write."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    info = folder.parent / f"{project['name'].replace('-', '_')}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    ((group, entries),) = project["entry-points"].items()
    (info / "entry_points.txt").write_text(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in entries.items()))
    path = os.pathsep.join([str(folder.parent), str(folder), str(ROOT)])
    return {**os.environ, "PYTHONPATH": path, "CARDENVS_QUIET": "1"}


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("kit", "example", "number"), [("none", "high[-_ ]?card", 15), ("tricks", "plain[-_ ]?whist", 16)]
)
def test_a_new_package_passes_its_tests_and_the_conformance_suite(tmp_path, kit, example, number):
    folder = tmp_path / "new"
    done = invoke("tiny_whist", "--package", folder, "--kit", kit)
    assert done.exit_code == 0, done.output
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", "tests"],
        env=installed(folder), cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"{number} passed" in ran.stdout
    assert "check_game" in (folder / "tests" / "test_tiny_whist.py").read_text()
    for path in files_in(folder):
        assert not re.search(example, path)
        if "__pycache__" not in path:
            assert not re.search(example, (folder / path).read_text(), re.IGNORECASE), path


def test_a_new_game_of_a_checkout(checkout):
    done = invoke("tiny_whist")
    assert done.exit_code == 0, done.output
    folder = "cardenvs/games/tiny_whist"
    assert files_in(checkout) == {
        "pyproject.toml", *(f"{folder}/{file}.py" for file in ("__init__", "rules", "observation", "view")),
        f"{folder}/rules.md", f"{folder}/page.md", "tests/games/test_tiny_whist.py",
        "tests/scenarios/tiny_whist/rules.yaml",
    }  # fmt: skip
    entries = tomllib.loads(Path("pyproject.toml").read_text())["project"]["entry-points"]["cardenvs.games"]
    assert list(entries) == ["a_game_v0", "tiny_whist_v0", "z_game_v0"]
    assert entries["tiny_whist_v0"] == "cardenvs.games.tiny_whist:GAME"
    assert "\n\n[tool.ruff]\n" in Path("pyproject.toml").read_text()
    for path in files_in(checkout):
        if path.endswith(".py"):
            code = Path(path).read_text()
            compile(code, path, "exec")
            assert "from tiny_whist" not in code


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Belote", "lower-case letters"), ("my-game", "lower-case letters"), ("2048", "lower-case letters"),
        ("", "lower-case letters"), ("belöte", "lower-case letters"), ("a/b", "lower-case letters"),
        ("x" * 31, "at most 30 characters"), ("belote_v1", "leave out the version"), ("lambda", "a Python keyword"),
        ("match", "a Python keyword"), ("kuhn_poker", "there is a game named 'kuhn_poker' already"),
        ("random", "there is a Python package named 'random' already"),
        ("numpy", "there is a Python package named 'numpy' already"),
    ],
)  # fmt: skip
def test_names_that_cannot_be(name, message, tmp_path):
    done = invoke(name, "--package", tmp_path / "new")
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (tmp_path / "new").exists()


def test_nothing_is_overwritten(checkout):
    Path("full").mkdir()
    Path("full", "mine.txt").write_text("mine")
    assert "the folder is not empty" in invoke("tiny_whist", "--package", "full").stderr
    assert "it is not a folder" in invoke("tiny_whist", "--package", "pyproject.toml").stderr
    assert "there is no folder" in invoke("tiny_whist", "--package", "missing/new").stderr
    scenario = Path("tests", "scenarios", "tiny_whist", "rules.yaml")
    scenario.parent.mkdir(parents=True)
    scenario.write_text("mine")
    assert "it exists already" in invoke("tiny_whist").stderr
    assert files_in(checkout) == {"pyproject.toml", "full/mine.txt", scenario.as_posix()}
    assert Path("pyproject.toml").read_text() == PYPROJECT
    assert scenario.read_text() == "mine"


def test_outside_a_checkout_it_asks_for_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "add --package FOLDER" in invoke("tiny_whist").stderr
    Path("pyproject.toml").write_text('[project]\nname = "other"\n')
    assert "add --package FOLDER" in invoke("tiny_whist").stderr
    assert files_in(tmp_path) == {"pyproject.toml"}
