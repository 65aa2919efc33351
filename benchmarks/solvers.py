"""Solving Leduc poker, here and in OpenSpiel's C++: seconds of processor time, so that a busy machine counts little.

Both evaluate exactly after every 100 iterations, and stop at the same NashConv.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

UNTIL = 0.001
OPEN_SPIEL_GAMES = ("leduc_poker", "leduc_poker(suit_isomorphism=true)")

_OURS = """
import json, time
started = time.process_time()
import cardenvs
from cardenvs.training.cfr import Solver, Tree

def solve():
    tree = Tree(cardenvs.get_game("leduc_poker_v0"))
    solver = Solver(tree, "cfr+")
    while True:
        solver.run(100)
        if tree.nash_conv(solver.average_policy()) <= UNTIL:
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
import json, time
import pyspiel

game = pyspiel.load_game(GAME)
started = time.process_time()
solver, iterations = pyspiel.CFRPlusSolver(game), 0
while True:
    for _ in range(100):
        solver.evaluate_and_update_policy()
    iterations += 100
    if pyspiel.nash_conv(game, solver.average_policy()) <= UNTIL:
        break
ended = time.process_time()
print(json.dumps({"process": ended, "warm": ended - started, "iterations": iterations}))
"""


@dataclass
class Times:
    """Seconds of processor time.

    Attributes:
        compiled: of a new process with an empty cache, imports and compilation included; 0 for OpenSpiel.
        cached: of a new process that finds compiled code in the cache; 0 for OpenSpiel.
        process: of OpenSpiel's process, import included.
        warm: of solving alone, from the game to the policy.
        iterations: until NashConv was reached.
    """

    warm: float
    iterations: int
    compiled: float = 0.0
    cached: float = 0.0
    process: float = 0.0


def cardenvs() -> Times:
    """Solve in two new processes, the second of which finds what the first compiled."""
    with tempfile.TemporaryDirectory() as cache:
        first, second = (_run(_OURS, cache) for _ in range(2))
    return Times(second["warm"], second["iterations"], compiled=first["process"], cached=second["process"])


def open_spiel(game: str) -> Times:
    """Solve one of OpenSpiel's games in a new process."""
    found = _run(_THEIRS.replace("GAME", repr(game)), "")
    return Times(found["warm"], found["iterations"], process=found["process"])


def _run(code: str, cache: str) -> dict:
    environment = {**os.environ, "CARDENVS_QUIET": "1", "CARDENVS_PREBUILT": "0"}
    if cache:
        environment["CARDENVS_CACHE_DIR"] = cache
    done = subprocess.run(
        [sys.executable, "-c", code.replace("UNTIL", str(UNTIL))], env=environment, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return json.loads(done.stdout)
