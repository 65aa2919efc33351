"""The example games, each installed as its own package: found by the entry point, and their own tests pass."""

import os
import subprocess
import sys
import tomllib

import pytest
from pages import ROOT

GROUP = "cardenvs.games"
PLAYERS = {"goofspiel": 2, "high_card": 2, "plain_whist": 4}


@pytest.fixture(params=PLAYERS)
def example(request):
    """The folder of a game's package."""
    return ROOT / "examples" / request.param


@pytest.fixture
def run(example, tmp_path):
    """Run Python where the package is installed: on the path, with the metadata that pip would write."""
    project = tomllib.loads((example / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = tmp_path / f"cardenvs_{example.name}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    entries = project["entry-points"][GROUP]
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n" + "".join(f"{k} = {v}\n" for k, v in entries.items()))
    path = os.pathsep.join([str(tmp_path), str(example), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "CARDENVS_QUIET": "1"}

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, *arguments], env=environment, cwd=example, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_the_entry_point_makes_the_game_known(example, run):
    name = f"{example.name}_v0"
    assert name in run("-m", "cardenvs", "games")
    code = f"import cardenvs, pettingzoo; print(pettingzoo.make('aec', '{example.name}/{example.name}-v0'))"
    assert name in run("-c", code)


def test_its_environment_is_imported_as_those_of_cardenvs_are(example, run):
    name = f"{example.name}_v0"
    players = PLAYERS[example.name]
    code = f"from cardenvs import {name}; env = {name}.env(num_players={players}); env.reset(seed=1); print(env)"
    assert name in run("-c", code)


@pytest.mark.rotating
def test_it_is_compiled_ahead_of_time(example, run):
    assert "total" in run("-m", "cardenvs", "warmup", f"{example.name}_v0")


@pytest.mark.rotating
@pytest.mark.parametrize("chosen", ["promise", "not promise"])  # half the time each
def test_its_own_tests_pass(run, chosen):
    run("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", "-k", chosen)
