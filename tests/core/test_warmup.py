"""After `cardenvs warmup` nothing compiles."""

import os
import subprocess
import sys

import pytest

from cardenvs.core.cache import PREBUILT_CPU, PREBUILT_FOLDER, runs_prebuilt_code
from cardenvs.core.kernel import COMPILED

pytestmark = [
    pytest.mark.rotating,
    pytest.mark.skipif(not COMPILED, reason="there is no cache with the compiler off"),
]

# Everything that calls kernels, in one process.
EVERYTHING = """
import sys
import numpy as np
import cardenvs
from cardenvs.core.codes import FORFEIT
from cardenvs.core.events import SPECTATOR

name = sys.argv[1]
game = cardenvs.get_game(name)


def ask(state):
    player = state.current_player
    for policy in game.engine.policy_names():
        state.policy_action(policy, 1)
        state.simulate(state.legal_actions(), 1, 2, policy=policy)
    twin = state.determinize(player, 1)
    for one in (state, twin, game.from_bytes(twin.to_bytes(), trusted=True), game.from_bytes(state.to_bytes())):
        one.clone().apply(one.legal_actions()[0])
        one.observation(player), one.action_mask(), one.explain_illegal(99), one.determinize(player, 2)
    state.view(player), state.facts(player), state.recap(player), state.render(SPECTATOR), state.events(player)
    state.information_state_key(player), state.describe_observation(player), state.candidates(), state.forced_action()


for seed in range(3):
    state = game.new_state(seed=seed)
    while not state.is_terminal:
        ask(state)
        state.apply(state.legal_actions()[-1])
    state.observation(0), state.view(0), state.facts(0), str(state), cardenvs.Replay.of(state)
left = game.new_state(seed=1, deck=game.deck_text(game.deck(game.make_options())))
left.apply(FORFEIT + left.current_player)

for arguments in ({}, {"mask": False}, {"num_threads": 2}, {"resumable": True}, {"max_plies": 2}):
    vec = cardenvs.make_vec(name, num_envs=8, seed=0, **arguments)
    vec.reset()
    for step in range(4):
        vec.step(vec.sample_actions())
        for policy in game.engine.policy_names():
            vec.policy_actions(policy, np.arange(4), 0, step)
    vec.observe(1)
    state = vec.state(0)
    state.policy_action("random", 1), state.observation(0), state.determinize(0, 1)
    state.apply(state.legal_actions()[0])
    if vec._history is not None:
        vec.set_state(vec.get_state())

env = cardenvs.make(name)
env.reset(seed=1)
for agent in env.agent_iter():
    observation, _, terminated, truncated, info = env.last()
    env.step(None if terminated or truncated else int(np.flatnonzero(info["action_mask"])[0]))
for opponents in ("random", "search:simulations=8"):
    env = cardenvs.SeatEnv(name, opponents=opponents)
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.action_masks())[0]))
"""
COMMANDS = [
    ["match", "--agents", "random,search:simulations=8", "--deals", "4"],
    ["simulate", "--agents", "search:simulations=8,random", "--games", "4", "--processes", "2"],
]


def run(*command, cache, **settings):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "CARDENVS_"))}
    done = subprocess.run(
        [sys.executable, *command], env={**env, "CARDENVS_CACHE_DIR": str(cache), **settings},
        capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("game", [pytest.param("kuhn_poker_v0", marks=pytest.mark.slow), "leduc_poker_v0"])
def test_after_a_warm_up_nothing_compiles(tmp_path, game):
    run("-m", "cardenvs", "warmup", game, cache=tmp_path / "cache", CARDENVS_PREBUILT="0")
    entries = {path: path.read_bytes() for path in (tmp_path / "cache").rglob("*.kernel")}
    assert "compiling" not in run("-c", EVERYTHING, game, cache=tmp_path / "cache")
    for command, *arguments in COMMANDS:
        assert "compiling" not in run("-m", "cardenvs", command, game, *arguments, cache=tmp_path / "cache")
    assert {path: path.read_bytes() for path in (tmp_path / "cache").rglob("*.kernel")} == entries


def test_with_prebuilt_code_nothing_compiles_and_nothing_is_saved(tmp_path):
    """The code is compiled as `make wheel` does it."""
    if not runs_prebuilt_code():
        pytest.skip(f"this processor is older than {PREBUILT_CPU}")
    settings = {"NUMBA_CPU_NAME": PREBUILT_CPU, "NUMBA_CPU_FEATURES": ""}
    run("-m", "cardenvs", "warmup", "kuhn_poker_v0", cache=tmp_path / PREBUILT_FOLDER.name, **settings)
    with_prebuilt = f"""
import pathlib
from cardenvs.core import cache
cache.PREBUILT_FOLDER = pathlib.Path("{tmp_path / PREBUILT_FOLDER.name}")
"""
    assert "compiling" not in run("-c", with_prebuilt + EVERYTHING, "kuhn_poker_v0", cache=tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_make_wheel_compiles_for_the_processor_that_is_looked_up():
    makefile = (PREBUILT_FOLDER.parent.parent / "Makefile").read_text()
    assert f"NUMBA_CPU_NAME={PREBUILT_CPU} NUMBA_CPU_FEATURES= " in makefile
    assert PREBUILT_FOLDER.name in makefile
