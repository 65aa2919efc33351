"""Whole games with every index checked: compiled kernels check none, so a wrong one would read what lies beside."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import cardenvs
from cardenvs.core.kernel import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="Python checks its indices")

PLAYER = Path(__file__).with_name("bounds_player.py")
GAMES, FEW = 1000, 50
SMALL = ["kuhn_poker_v0", "leduc_poker_v0"]


def play_checked(name, games, num_envs):
    done = subprocess.run(
        [sys.executable, str(PLAYER), name, str(games), str(num_envs)],
        env={**os.environ, "NUMBA_BOUNDSCHECK": "1", "CARDENVS_QUIET": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) >= games


@pytest.mark.parametrize("name", SMALL)
def test_games_stay_in_bounds(name):
    play_checked(name, FEW, 8)


@pytest.mark.slow
@pytest.mark.parametrize("name", cardenvs.list_games())
def test_a_thousand_games_stay_in_bounds(name):
    play_checked(name, GAMES, 64)


def test_the_check_is_on(tmp_path):
    probe = tmp_path / "probe.py"
    probe.write_text(
        "import numpy as np\nfrom cardenvs.core.kernel import kernel\n\n\n"
        "@kernel(entry=True)\ndef read(a, k):\n    return a[k]\n\n\nread(np.zeros(3), 3)\n"
    )
    done = subprocess.run(
        [sys.executable, str(probe)],
        env={**os.environ, "NUMBA_BOUNDSCHECK": "1", "CARDENVS_QUIET": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "IndexError" in done.stderr
