"""The example game, installed as a package of its own: found by its entry point, and its own tests pass."""

import os
import subprocess
import sys
import tomllib

import pytest
from pages import ROOT

HIGH_CARD = ROOT / "examples" / "high_card"
GROUP = "cardenvs.games"


@pytest.fixture
def environment(tmp_path):
    """Variables of a process in which High Card is installed: on the path, with the metadata that pip would write."""
    project = tomllib.loads((HIGH_CARD / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = tmp_path / "cardenvs_high_card-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    entries = project["entry-points"][GROUP]
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n" + "".join(f"{k} = {v}\n" for k, v in entries.items()))
    path = os.pathsep.join([str(tmp_path), str(HIGH_CARD), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "CARDENVS_QUIET": "1"}


def run(environment, *arguments):
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=HIGH_CARD, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_entry_point_makes_the_game_known(environment):
    printed = run(environment, "-m", "cardenvs.cli", "games")
    assert "high_card_v0" in printed
    code = "import cardenvs, pettingzoo; print(pettingzoo.make('aec', 'high_card/high_card-v0'))"
    assert "high_card_v0" in run(environment, "-c", code)


def test_its_environment_is_imported_as_those_of_cardenvs_are(environment):
    code = "from cardenvs import high_card_v0; env = high_card_v0.env(stake=3); env.reset(seed=1); print(env)"
    assert "high_card_v0" in run(environment, "-c", code)


def test_its_own_tests_pass(environment):
    run(environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
