"""Groups of tests on workers, and the rotating sample: runs of pytest in a small checkout with this conftest."""

import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
import selection

import cardenvs.games

HERE = Path(__file__).parent
GAMES = {f"{folder.name}_v0" for folder in pkgutil.iter_modules(cardenvs.games.__path__)}  # not those of tests
TESTS = """
import pytest

GAMES = ["bridge_v0", "gin_rummy_v0", "kuhn_poker_v0"]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("k", range(2))
def test_of_a_game(game, k): ...


def test_of_none(): ...


@pytest.mark.rotating
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("k", range(20))
def test_that_is_costly(game, k): ...
"""
LASTING_FIXTURE = """

@pytest.fixture(scope="module", autouse=True)
def shared():
    return 1
"""


@pytest.fixture
def checkout(tmp_path):
    """A folder with two files of tests, this conftest and a pyproject.toml, not in Git."""
    (tmp_path / "tests").mkdir()
    for name in ("conftest.py", "selection.py"):
        shutil.copy(HERE / name, tmp_path / "tests")
    shutil.copy(HERE.parent / "pyproject.toml", tmp_path)
    (tmp_path / "tests" / "test_some.py").write_text(TESTS)
    (tmp_path / "tests" / "test_sharing.py").write_text(TESTS + LASTING_FIXTURE)
    return tmp_path


def run(checkout, *arguments, **environment):
    """Run pytest and return what it prints."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CARDENVS_SAMPLE", "CARDENVS_BASE", "PYTEST_"))
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        env={**kept, "PYTHONPATH": str(HERE.parent), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment},
        cwd=checkout, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    return done.stdout


def collected(checkout, *arguments, **environment):
    """The ids of the tests that a run takes."""
    printed = run(checkout, "--collect-only", "-q", "-o", "addopts=", *arguments, **environment)
    return re.findall(r"^tests/.*::.*", printed, re.MULTILINE)


def git(checkout, *arguments):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=checkout, check=True)


def costly(tests, game=""):
    return {test for test in tests if "test_some.py::test_that_is_costly" in test and game in test}


def test_a_worker_runs_whole_groups_and_the_longest_first(checkout, monkeypatch):
    monkeypatch.setattr(selection, "ROOT", checkout)
    long = {"tests/test_some.py[kuhn_poker]": 9, "tests/test_some.py": 3}
    (checkout / "tests" / "seconds.json").write_text(json.dumps(long))
    options = ["-p", "xdist", "-n", "2", "-vv"]
    printed = run(checkout, *options, CARDENVS_SAMPLE="all")
    tests = re.findall(r"\[(gw\d)\].*PASSED (tests/\S+::.+?) *$", printed, re.MULTILINE)
    assert len(tests) == 2 * (6 + 1 + 60)
    groups = defaultdict(list)
    for worker, test in tests:
        groups[worker].append(selection.group_of(test))
    assert {found[0] for found in groups.values()} == set(long)
    assert not set(groups["gw0"]) & set(groups["gw1"])
    assert {*groups["gw0"], *groups["gw1"]} == {
        "tests/test_some.py", "tests/test_some.py[bridge]", "tests/test_some.py[gin_rummy]",
        "tests/test_some.py[kuhn_poker]", "tests/test_sharing.py",
    }  # fmt: skip


def test_pages_are_spread():
    assert selection.group_of("tests/docs/test_examples.py::test_a[a]") == "tests/docs/test_examples.py[a]"
    assert selection.group_of("tests/docs/test_examples.py::test_a") == "tests/docs/test_examples.py"


def test_without_git_a_seed_draws_the_sample(checkout):
    tests = collected(checkout, CARDENVS_SAMPLE="some seed")
    assert 0 < len(costly(tests)) < 25
    assert sum("costly" not in test for test in tests) == 2 * 7
    assert collected(checkout, CARDENVS_SAMPLE="some seed") == tests
    assert costly(collected(checkout, CARDENVS_SAMPLE="another")) != costly(tests)
    assert re.search(r"CARDENVS_SAMPLE=\d{4}-\d\d-\d\d, changed games: -", run(checkout))


def test_a_changed_game_and_a_path_on_the_command_line_are_run_whole(checkout):
    git(checkout, "init", "--quiet", "--initial-branch=main")
    git(checkout, "add", ".")
    git(checkout, "commit", "--quiet", "--message=all")
    assert len(costly(collected(checkout))) < 50  # a single commit, as in a shallow clone

    game = checkout / "cardenvs" / "games" / "gin_rummy"
    game.mkdir(parents=True)
    (game / "rules.py").touch()
    git(checkout, "add", ".")
    git(checkout, "commit", "--quiet", "--message=more")
    tests = collected(checkout)
    assert len(costly(tests, "gin_rummy")) == 20
    assert len(costly(tests, "bridge")) < 20
    assert len(costly(collected(checkout, "tests/test_some.py"))) == 60


@pytest.mark.parametrize(
    ("file", "games"),
    [
        ("cardenvs/games/gin_rummy/rules.py", {"gin_rummy"}),
        ("tests/golden/kuhn_poker_v0-1.json", {"kuhn_poker"}),
        ("cardenvs/kits/fishing/rules.py", {"casino", "kasino", "scopa"}),
        ("cardenvs/core/state.py", set(selection.GAMES)),
        ("cardenvs/testing/leaks.py", set(selection.GAMES)),
        ("docs/index.md", set()),
        ("docs/games/gin_rummy_v0.md", set()),
        ("cardenvs/games/gin_rummy/page.md", set()),
        ("cardenvs/zoo/gin_rummy_v0/ppo/card.json", {"gin_rummy"}),
        ("tests/games/test_gin_rummy_melds.py", {"gin_rummy"}),
    ],
)
def test_games_that_a_file_belongs_to(file, games):
    assert selection.changed_games([file]) == games


def test_names_of_games_have_no_version():
    assert {f"{game}_v0" for game in selection.GAMES} == GAMES


class Rotating:
    """A test that is marked `rotating`."""

    def __init__(self, nodeid):
        self.nodeid = nodeid

    def get_closest_marker(self, name):
        return name == "rotating"


def test_of_a_file_that_is_spread_each_test_is_drawn_by_itself():
    file = "tests/testing/test_check_game.py"
    tests = [Rotating(f"{file}::test_fault[{k}]") for k in range(80)]
    drawn = [sum(selection.is_taken(test, str(seed), []) for test in tests) for seed in range(50)]
    assert min(drawn) > 0
    assert max(drawn) < 30
    assert all(selection.is_taken(test, "1", ["cardenvs/testing/leaks.py"]) for test in tests)
    notebooks = [Rotating(f"tests/docs/test_notebooks.py::test_runs[{name}]") for name in ("01_first", "02_second")]
    changed = ["examples/notebooks/02_second.ipynb"]
    assert {selection.is_taken(notebooks[1], str(seed), changed) for seed in range(30)} == {True}
    assert {selection.is_taken(notebooks[0], str(seed), changed) for seed in range(30)} == {True, False}


def test_a_costly_file_of_no_game_runs_whole_or_not_and_when_its_package_changes():
    def taken(seed, changed):
        tests = [Rotating(f"tests/arena/test_costly.py::test_{k}") for k in range(9)]
        return sum(selection.is_taken(test, seed, changed) for test in tests)

    drawn = [taken(str(seed), []) for seed in range(200)]
    assert set(drawn) == {0, 9}
    assert 20 < drawn.count(9) < 90
    unlucky = str(drawn.index(0))
    assert taken(unlucky, ["cardenvs/server/app.py", "docs/index.md"]) == 0
    for changed in ("cardenvs/arena/match.py", "cardenvs/core/state.py", "tests/arena/test_costly.py"):
        assert taken(unlucky, [changed]) == 9
