"""Objects that several threads use at once: right results or ConcurrentUseError, never a crash or a hang."""

import contextlib
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import cardenvs
from cardenvs.core.errors import ConcurrentUseError
from cardenvs.core.registry import get_game

SECONDS = float(os.environ.get("CARDENVS_HAMMER_SECONDS", "2"))

HAMMER = """
import random, sys, threading, time
import numpy as np
import cardenvs
from cardenvs.core.errors import ConcurrentUseError, IllegalActionError
from cardenvs.core.registry import get_game

what, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
sys.setswitchinterval(1e-5)
game, done, raised, wrong = get_game(name), [0], [0], []

def new():
    return game.new_state(seed=random.randrange(10**9))

def hammer(do, allowed):
    def work():
        chooser = random.Random()
        while time.monotonic() < end:
            try:
                do(chooser)
                done[0] += 1
            except allowed:
                raised[0] += 1
            except BaseException as error:
                wrong.append(repr(error))
    end = time.monotonic() + seconds
    threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 60)
    assert not any(thread.is_alive() for thread in threads), "it hangs"

if what == "state":
    box = [new()]
    for player in range(box[0].num_players):
        box[0].observation(player), box[0].event_rows(player), box[0].determinize(player, 1)
    box[0].clone().apply(box[0].legal_actions()[0])
    def do(chooser):
        state = box[0]
        if state.is_terminal:
            box[0] = new()
            return
        kind = chooser.randrange(6)
        if kind == 0:
            state.observation(chooser.randrange(state.num_players))
        elif kind == 1:
            state.view(chooser.randrange(state.num_players)), state.event_rows(0)
        elif kind == 2:
            state.clone(), state.to_bytes(), state.determinize(0, 1)
        else:
            state.apply(chooser.choice(state.legal_actions() or [0]))
    hammer(do, (ConcurrentUseError, IllegalActionError))
    state = box[0]
    again = game.new_state(seed=state.seed)
    for action in state.actions:
        again.apply(action)
    assert again.record_bytes() == state.record_bytes(), "actions and record do not agree"
    assert again.legal_actions() == state.legal_actions()
    assert (again.event_log() == state.event_log()).all()
elif what.startswith("vec"):
    vec = cardenvs.make_vec(name, 64, num_threads=int(what[3:]), resumable=True)
    vec.reset()
    vec.step(vec.sample_actions())
    def do(chooser):
        kind = chooser.randrange(6)
        if kind == 0:
            vec.observe(0)
        elif kind == 1:
            vec.state(chooser.randrange(64)), vec.copy_records()
        elif kind == 2:
            vec.get_state()
        else:
            vec.step(vec.sample_actions())
    hammer(do, (ConcurrentUseError, IllegalActionError))
    saved = vec.get_state()
    other = cardenvs.make_vec(name, 64, num_threads=1, resumable=True)
    other.set_state(saved)
    assert vec.copy_records().tobytes() == other.copy_records().tobytes(), "actions and records do not agree"
elif what == "aec":
    env = cardenvs.make(name)
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
    def do(chooser):
        if chooser.randrange(20) == 0 or not env.agents:
            env.reset(seed=chooser.randrange(10**9))
            return
        agent = env.agent_selection
        if env.terminations[agent] or env.truncations[agent]:
            env.step(None)
            return
        mask = env.observe(agent)["action_mask"]
        if mask.any():
            env.step(int(chooser.choice(np.flatnonzero(mask))))
    # Between two calls of one thread, others act: then the agent is gone, or what it chose ends the game.
    hammer(do, (ConcurrentUseError, IllegalActionError, AssertionError, ValueError, KeyError))
    env.game_state.record_bytes()
else:
    env = cardenvs.SeatEnv(name, opponents="random")
    _, info = env.reset(seed=1)
    env.step(env.action_space.sample(info["action_mask"]))
    import gymnasium
    def do(chooser):
        mask = env.action_masks()
        if chooser.randrange(20) == 0 or not mask.any():
            env.reset(seed=chooser.randrange(10**9))
        else:
            env.step(int(chooser.choice(np.flatnonzero(mask))))
    hammer(do, (ConcurrentUseError, IllegalActionError, gymnasium.error.ResetNeeded))
assert not wrong, (len(wrong), wrong[:3])
assert done[0], "nothing was done"
print(done[0], raised[0])
"""


def hammer(what, game, seconds):
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(HAMMER), what, game, str(seconds)], capture_output=True,
        text=True, timeout=300 + 2 * seconds, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, (what, game, ended.returncode, ended.stderr[-3000:])


@pytest.mark.parametrize("what", ["state", "vec1", "vec3", "aec", "seat"])
def test_threads_that_share_an_object_cannot_crash_the_process(what):
    hammer(what, "gin_rummy_v0", SECONDS)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["state", "vec1", "vec3", "aec", "seat"])
@pytest.mark.parametrize("game", ["wingspan_v0", "rummikub_v0", "texas_holdem_v0", "canasta_v0"])
def test_threads_that_share_an_object_for_long_cannot_crash_the_process(what, game):
    hammer(what, game, 20)


def overlapping(start, inside, release):
    """Run `start` in a thread until `inside` is set; returns the thread."""
    thread = threading.Thread(target=start)
    thread.start()
    assert inside.wait(60)
    return thread


def test_a_state_that_is_read_cannot_be_changed_but_read(monkeypatch):
    state, inside, release = get_game("kuhn_poker_v0").new_state(seed=1), threading.Event(), threading.Event()
    facts = type(state.game.view).facts
    monkeypatch.setattr(
        type(state.game.view), "facts", lambda *a: (inside.set(), release.wait(60), facts(*a))[2], raising=True
    )
    thread = overlapping(lambda: state.facts(0), inside, release)
    try:
        before = state.record_bytes(), state.legal_actions()
        for act in (state.apply, state.apply_unchecked):
            with pytest.raises(ConcurrentUseError, match=r"another thread is using this State.*clone\(\)"):
                act(state.legal_actions()[0])
        assert (state.record_bytes(), state.legal_actions()) == before
        state.clone().apply(state.legal_actions()[0])  # a copy is free
    finally:
        release.set()
        thread.join()
    state.apply(state.legal_actions()[0])


@pytest.mark.parametrize("fails", [False, True])
def test_a_vector_env_in_a_call_refuses_others_and_is_free_after_it(fails):
    vec = cardenvs.make_vec("kuhn_poker_v0", 4, num_threads=1)
    vec.reset()
    inside, release, run = threading.Event(), threading.Event(), vec._threaded.run

    def slow(*arguments):
        inside.set()
        release.wait(60)
        if fails:
            raise KeyboardInterrupt
        return run(*arguments)

    def step():
        with contextlib.suppress(KeyboardInterrupt):
            vec.step(actions)

    actions = vec.sample_actions().copy()
    vec._threaded.run = slow
    thread = overlapping(step, inside, release)
    try:
        for call in (
            lambda: vec.step(actions),
            vec.sample_actions,
            vec.reset,
            lambda: vec.observe(0),
            vec.copy_records,
        ):
            with pytest.raises(ConcurrentUseError, match="another thread is using this VectorEnv"):
                call()
    finally:
        release.set()
        thread.join()
        vec._threaded.run = run
    vec.step(vec.sample_actions())


def test_arrays_that_callers_get_cannot_reach_the_records_of_a_state():
    state = get_game("gin_rummy_v0").new_state(seed=1)
    before = state.record_bytes(), state.to_bytes(), state.legal_actions()
    records = state.records
    records.view(np.uint8)[:] = 255
    with pytest.raises(ValueError, match="read-only"):
        state.record["seed"] = 1
    for array in (state.observation(0), state.action_mask(), state.event_log(), state.event_rows(0)):
        array.view(np.uint8)[:] = 77
    legal = state.legal_actions()
    legal.clear()
    assert (state.record_bytes(), state.to_bytes(), state.legal_actions()) == before


def test_the_deck_of_a_state_is_a_copy():
    game = get_game("kuhn_poker_v0")
    state = game.new_state(deck="K J")
    before = state.to_bytes()
    state.deck[:] = 99
    assert state.to_bytes() == before
    assert state.clone().deck.tolist() == state.deck.tolist()


def test_shapes_of_a_batch_may_be_changed():
    """Kernels have arrays of their own: one that they share would be as they see it, and they check no bounds."""
    vec, other = (cardenvs.make_vec("kuhn_poker_v0", 8, num_threads=1) for _ in range(2))
    batch, _ = vec.reset(), other.reset()
    for name, array in vars(batch).items():
        if isinstance(array, np.ndarray) and array.flags.writeable:
            array.shape = (1, array.size)
            assert name
    sampled = vec.sample_actions()
    actions = sampled.copy()
    sampled.shape = (1, 8)
    other.sample_actions()
    for _ in range(20):
        vec.step(actions)
        other.step(actions)
        actions = vec.sample_actions().copy()
        assert (actions == other.sample_actions()).all()
    assert vec.copy_records().tobytes() == other.copy_records().tobytes()
