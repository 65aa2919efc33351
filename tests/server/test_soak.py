"""The soak of the server, in its short form; `python tests/server/soak.py` runs the long one."""

import sys
import time

import pytest

pytest.importorskip("websockets")

import soak


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, and all of 127.0.0.0/8")
def test_honest_clients_finish_their_games_among_hostile_ones():
    seed = time.time_ns() % 1_000_000
    assert soak.main(["--seconds", "45", "--clients", "60", "--seed", str(seed)]) == 0, f"seed {seed}"
