"""Runs ended by SIGKILL at random moments and resumed: nothing is lost, nothing is there twice.

Experiments are killed in tests/arena/test_backends.py.
"""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from cardenvs.arena import Store, run_match
from cardenvs.arena.verify import verify

pytestmark = pytest.mark.rotating

WAIT_S = 240
SLOW_AGENTS = """
import time

class Slow:
    def __init__(self, game, options):
        self.name = "slow"

    def reset(self, seed):
        pass

    def act(self, turn):
        time.sleep(0.004)
        return turn.legal_actions[-1]
"""


def start(folder, *arguments):
    """The command line, as a process group of its own."""
    (folder / "slow_agents.py").write_text(SLOW_AGENTS)
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", "cardenvs", *map(str, arguments)], env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def finish(process):
    """Let a command run to its end."""
    try:
        _, errors = process.communicate(timeout=WAIT_S)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert process.returncode == 0, errors


def kill_at(process, far_enough, pause):
    """Kill a command with all its processes, `pause` seconds after `far_enough()`."""
    deadline = time.monotonic() + WAIT_S
    while not far_enough() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(pause)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    _, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL, f"it ended before it was killed: {errors}"


def rows_in(path):
    """The number of games in an SQLite file that a process may be writing."""
    if not path.exists():
        return 0
    try:
        with sqlite3.connect(path, timeout=30) as connection:
            return connection.execute("SELECT count(*) FROM games").fetchone()[0]
    except sqlite3.OperationalError:  # not made yet
        return 0


def is_whole(path):
    """Whether SQLite finds no damage in a file."""
    with sqlite3.connect(path) as connection:
        return connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def run_and_kill(tmp_path, store, total, kills, seed, *arguments):
    """Kill a command that plays `total` games into a store `kills` times; the last run may finish."""
    generator = random.Random(seed)
    moments = sorted(generator.randrange(int(0.8 * total)) for _ in range(kills))
    before = 0
    for moment in moments:
        process = start(tmp_path, *arguments, "--store", store, "--resume", "-p", generator.choice((1, 2)))
        kill_at(process, lambda least=moment: rows_in(store) > least, generator.random() * 0.1)
        assert is_whole(store)
        assert rows_in(store) >= before, "finished games are gone"
        before = rows_in(store)
    finish(start(tmp_path, *arguments, "--store", store, "--resume", "-p", 2))


def check_match(tmp_path, monkeypatch, kills, deals):
    path = tmp_path / "killed.db"
    match = ["match", "kuhn_poker_v0", "--agents", "random,python:slow_agents:Slow", "--deals", deals, "--seed", 3]
    run_and_kill(tmp_path, path, 2 * deals, kills, 1, *match)
    monkeypatch.syspath_prepend(tmp_path)
    with Store(path) as killed:
        (match_id,) = killed.match_ids()
        run_match(killed.match(match_id), tmp_path / "unbroken.db")
    with Store(path) as killed, Store(tmp_path / "unbroken.db") as unbroken:
        assert killed.digest() == unbroken.digest()
        assert verify(killed) == (2 * deals, [])


def test_a_killed_match_becomes_the_unbroken_one(tmp_path, monkeypatch):
    check_match(tmp_path, monkeypatch, kills=1, deals=40)


@pytest.mark.slow
def test_a_match_killed_often_becomes_the_unbroken_one(tmp_path, monkeypatch):
    check_match(tmp_path, monkeypatch, kills=20, deals=600)


def timeless(value):
    """JSON without what clocks and the command line say."""
    if isinstance(value, dict):
        untimed = {
            name: one for name, one in value.items() if "seconds" not in name and name not in ("ms", "rate", "command")
        }
        return {name: timeless(one) for name, one in untimed.items()}
    return [timeless(one) for one in value] if isinstance(value, list) else value


def check_simulate(tmp_path, kills, games):
    simulate = [
        "simulate",
        "kuhn_poker_v0",
        "--agents",
        "random,python:slow_agents:Slow",
        "--games",
        games,
        "--seed",
        5,
    ]
    outputs = [tmp_path / "killed.json", tmp_path / "unbroken.json"]
    run_and_kill(tmp_path, tmp_path / "killed.db", games, kills, 2, *simulate, "--json", outputs[0])
    finish(start(tmp_path, *simulate, "--json", outputs[1], "-p", 1))
    killed, unbroken = (timeless(json.loads(path.read_text())) for path in outputs)
    assert killed["games"] == unbroken["games"]


def test_a_killed_simulation_becomes_the_unbroken_one(tmp_path):
    check_simulate(tmp_path, kills=1, games=80)


@pytest.mark.slow
def test_a_simulation_killed_often_becomes_the_unbroken_one(tmp_path):
    check_simulate(tmp_path, kills=12, games=800)


TRAINING = {
    "num_envs": 16,
    "rollout_steps": 16,
    "hidden": 8,
    "final_deals": 0,
    "eval_interval": 7,  # so that some kills meet an evaluation
    "eval_deals": 50,
    "eval_opponents": "random",
    "checkpoint_interval": 0.05,  # so that some kills come between the metrics of an update and its checkpoint
}


def metrics_of(folder):
    """The metrics of a run, without what clocks say."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [
        {name: value for name, value in line.items() if not name.startswith(("time/", "speed/", "seconds"))}
        for line in lines
    ]


def check_train(tmp_path, kills, steps, seed):
    torch = pytest.importorskip("torch")
    from cardenvs.agents.checkpoint_file import read_checkpoint

    generator = random.Random(seed)
    print(f"CARDENVS_FUZZ_SEED={seed}")
    settings = [f"--set={name}={value}" for name, value in TRAINING.items()]
    folder, straight = tmp_path / "killed", tmp_path / "straight"
    checkpoint = folder / "latest.pt"
    first = ["train", "kuhn_poker_v0", *settings, "--total-steps", steps, "--threads", 1, "--quiet", "--out"]
    done = 0
    for _ in range(kills):
        resume = ["train", "--resume", "--out", folder, "--threads", 1, "--quiet"]
        process = start(tmp_path, *(resume if checkpoint.exists() else [*first, folder]))
        written = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        progressed = lambda before=written: checkpoint.exists() and checkpoint.stat().st_mtime_ns > before  # noqa: E731
        kill_at(process, progressed, generator.random() * 0.2)
        steps_now = read_checkpoint(checkpoint)["steps"]
        assert steps_now >= done
        done = steps_now
    assert done < steps
    finish(start(tmp_path, "train", "--resume", "--out", folder, "--threads", 1, "--quiet"))
    finish(start(tmp_path, *first, straight))
    killed, unbroken = (read_checkpoint(path / "latest.pt") for path in (folder, straight))
    assert killed["steps"] == unbroken["steps"] >= steps
    mine, theirs = tensors(killed), tensors(unbroken)
    assert mine.keys() == theirs.keys()
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)
    # No step is repeated and none is missing.
    assert metrics_of(folder) == metrics_of(straight)
    assert not [path for path in folder.iterdir() if path.name == ".lock"]


def tensors(tree, path=""):
    """All tensors in nested dicts and lists, by path."""
    import torch

    if isinstance(tree, dict):
        return {k: v for name, value in tree.items() for k, v in tensors(value, f"{path}/{name}").items()}
    if isinstance(tree, list | tuple):
        return {k: v for i, value in enumerate(tree) for k, v in tensors(value, f"{path}/{i}").items()}
    return {path: tree} if isinstance(tree, torch.Tensor) else {}


def test_a_killed_training_run_becomes_the_unbroken_one(tmp_path):
    check_train(tmp_path, kills=1, steps=20_480, seed=3)


@pytest.mark.slow
def test_a_training_run_killed_often_becomes_the_unbroken_one(tmp_path):
    check_train(tmp_path, kills=10, steps=409_600, seed=int(os.environ.get("CARDENVS_FUZZ_SEED", time.time_ns())))
