"""Checks that games are the same in processes with the compiler off and with bounds checked.

In these processes, `main` plays the games that it reads from standard input and prints a digest of each position.
"""

import hashlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Collection
from typing import Any

from cardenvs.core.game import Game
from cardenvs.core.registry import game_targets, get_game, register_game
from cardenvs.core.state import State
from cardenvs.testing.case import Case, ConformanceError

SECONDS = 30.0  # default time for a game in another mode; without the compiler, some games take hours
MODES = {"compiler off": {"CARDENVS_COMPILE": "0"}, "bounds checked": {"NUMBA_BOUNDSCHECK": "1"}}


def check_other_modes(
    game: Game, cases: list[Case], seconds: float = SECONDS, modes: Collection[str] = tuple(MODES)
) -> None:
    """Play `cases` in other modes, for up to `seconds` each, and compare every position byte for byte."""
    games = [{"options": c.options.as_dict(), "seed": c.seed, "actions": list(_last(c).actions)} for c in cases]
    wanted = [digests(game, one) for one in games]
    for mode in modes:
        found = _digests_elsewhere(game, games, mode, MODES[mode], seconds)
        for case, here, there in zip(cases, wanted, found, strict=True):
            if not 0 < len(there) <= len(here):
                raise ConformanceError(f"{case}: with {mode} {len(there)} of {len(here)} positions were played")
            for ply, (a, b) in enumerate(zip(here, there, strict=False)):
                if a != b:
                    raise ConformanceError(f"{case}: with {mode} the game differs from ply {ply} on")


def _last(case: Case) -> State:
    *_, state = case.positions()
    return state


def digests(game: Game, one: dict[str, Any], seconds: float = math.inf) -> list[str]:
    """Return a digest of record, legal actions and observations of each position of a game, until time is up."""
    until = time.monotonic() + seconds
    state = game.new_state(seed=one["seed"], **one["options"])
    found = [_digest(state)]
    for action in one["actions"]:
        if time.monotonic() > until:
            break
        state.apply(action)
        found.append(_digest(state))
    return found


def _digest(state: State) -> str:
    digest = hashlib.sha256(state.record_bytes())
    digest.update(repr(state.legal_actions()).encode())
    for player in range(state.num_players):
        digest.update(state.observation(player).tobytes())
        digest.update(state.determinize(player, 1).record_bytes())
    return digest.hexdigest()


def _digests_elsewhere(
    game: Game, games: list[dict[str, Any]], mode: str, settings: dict[str, str], seconds: float
) -> list[list[str]]:
    request = {
        "name": game.name, "target": game_targets()[game.name], "path": sys.path, "games": games, "seconds": seconds,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", "from cardenvs.testing.processes import main; main()"],
        input=json.dumps(request),
        env={**os.environ, **settings, "CARDENVS_QUIET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ConformanceError(f"{game.name}: with {mode} play fails:\n{done.stderr[-3000:]}")
    answers: list[list[str]] = json.loads(done.stdout)
    return answers


def main() -> None:
    """Answer one request on standard input."""
    request = json.load(sys.stdin)
    sys.path[:] = request["path"]
    register_game(request["name"], request["target"])
    game = get_game(request["name"])
    json.dump([digests(game, one, request["seconds"]) for one in request["games"]], sys.stdout)
