"""Solving Leduc poker, here and in OpenSpiel's C++: seconds of processor time, so that a busy machine counts little.

Both evaluate exactly after every 100 iterations, and stop at the same NashConv.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from cardenvs.core.cache import PREBUILT_CPU

UNTIL = 0.001
OPEN_SPIEL_GAMES = ("leduc_poker", "leduc_poker(suit_isomorphism=true)")

_OURS = """
import json, pathlib, sys, time
started = time.process_time()
from cardenvs.core import cache
cache.PREBUILT_FOLDER = pathlib.Path(sys.argv[2])
import cardenvs
from cardenvs.training.cfr import Solver, Tree

def solve():
    tree = Tree(cardenvs.get_game("leduc_poker_v0"))
    solver = Solver(tree, "cfr+")
    while True:
        solver.run(100)
        if tree.nash_conv(solver.average_policy()) <= float(sys.argv[1]):
            return solver.iterations

iterations = solve()
process, warm = time.process_time(), []
for _ in range(5):
    started = time.process_time()
    assert solve() == iterations
    warm.append(time.process_time() - started)
print(json.dumps({"process": process, "warm": min(warm), "iterations": iterations}))
"""
_THEIRS = """
import json, sys, time
import pyspiel

game = pyspiel.load_game(sys.argv[2])
started = time.process_time()
solver, iterations = pyspiel.CFRPlusSolver(game), 0
while True:
    for _ in range(100):
        solver.evaluate_and_update_policy()
    iterations += 100
    if pyspiel.nash_conv(game, solver.average_policy()) <= float(sys.argv[1]):
        break
ended = time.process_time()
print(json.dumps({"process": ended, "warm": ended - started, "iterations": iterations}))
"""


@dataclass
class Times:
    """Seconds of processor time.

    Attributes:
        compiled: of a new process with an empty cache, imports and compilation included; 0 for OpenSpiel.
        prebuilt: of a new process with an empty cache, in which a wheel's compiled code lies; 0 for OpenSpiel.
        cached: of a new process that finds compiled code in the cache; 0 for OpenSpiel.
        process: of OpenSpiel's process, import included.
        warm: of solving alone, from the game to the policy.
        iterations: until NashConv was reached.
    """

    warm: float
    iterations: int
    compiled: float = 0.0
    prebuilt: float = 0.0
    cached: float = 0.0
    process: float = 0.0


def cardenvs() -> Times:
    """Solve in new processes: with nothing compiled, with what that one compiled, and as from a wheel."""
    with tempfile.TemporaryDirectory() as folder:
        own, wheel, empty = (f"{folder}/{name}" for name in ("own", "wheel", "empty"))
        without = {"CARDENVS_PREBUILT": "0"}
        first, second = (_run(_OURS, wheel, CARDENVS_CACHE_DIR=own, **without) for _ in range(2))
        cpu = {"NUMBA_CPU_NAME": PREBUILT_CPU, "NUMBA_CPU_FEATURES": ""}  # as `make wheel` compiles
        _run(_OURS, wheel, CARDENVS_CACHE_DIR=wheel, **without, **cpu)
        third = _run(_OURS, wheel, CARDENVS_CACHE_DIR=empty, CARDENVS_PREBUILT="1")
    times = {"compiled": first["process"], "cached": second["process"], "prebuilt": third["process"]}
    return Times(second["warm"], second["iterations"], **times)


def open_spiel(game: str) -> Times:
    """Solve one of OpenSpiel's games in a new process."""
    found = _run(_THEIRS, game)
    return Times(found["warm"], found["iterations"], process=found["process"])


def _run(code: str, argument: str, **settings: str) -> dict:
    environment = {**os.environ, "CARDENVS_QUIET": "1", **settings}
    command = [sys.executable, "-c", code, str(UNTIL), argument]
    return json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
