"""The same store from one process, from four, from Ray, and after any number of kills."""

import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cardenvs.arena import Store
from cardenvs.arena.experiment import Experiment
from cardenvs.arena.ray import ray_cluster
from cardenvs.arena.verify import verify
from cardenvs.core.errors import AgentError, ArenaError

pytestmark = pytest.mark.rotating

DETERMINISTIC = {
    "name": "deterministic",
    "deals": 30,
    "seed": f"11-{11:032x}",
    "games": ["kuhn_poker_v0", {"game": "leduc_poker_v0", "options": {"num_players": 3}, "deals": 8}],
    "agents": [
        "random",
        {"name": "search", "spec": "search:simulations=4"},
        {"name": "keeper", "spec": "python:arena_agents:Keeper"},
        {"name": "together", "spec": "python:arena_agents:Together"},
        {"name": "fails", "spec": "python:arena_agents:Illegal"},
    ],
    "guard": {"isolation": "none"},
    "stop": {"half_width": 1.25, "min_deals": 10},
}


def digest_of(tmp_path, name, **how):
    experiment = Experiment.of(DETERMINISTIC)
    with Store(tmp_path / name) as store:
        assert experiment.run(store, **how)
        done, mismatches = verify(store)
        assert mismatches == []
        assert done == sum(store.count(match.id) for match in experiment.matches)
        kuhn, leduc = (store.count(match.id) for match in experiment.matches)
        assert 10 * 20 <= kuhn < 30 * 20  # it stopped early
        assert leduc == 8 * 60
        return store.digest()


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The digest of the experiment in one process."""
    return digest_of(tmp_path_factory.mktemp("alone"), "store.db")


def test_the_same_experiment_again_in_other_batches(tmp_path, alone):
    assert digest_of(tmp_path, "again.db", batch=3) == alone


def test_four_processes(tmp_path, alone):
    assert digest_of(tmp_path, "four.db", processes=4) == alone


def test_ray(tmp_path, alone, monkeypatch):
    pytest.importorskip("ray")
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    monkeypatch.setenv("PYTHONPATH", path)  # its workers are started by Ray
    assert digest_of(tmp_path, "ray.db", processes=2, backend="ray") == alone


def test_another_seed_gives_another_store(tmp_path, alone):
    with Store() as store:
        Experiment.of({**DETERMINISTIC, "seed": f"12-{11:032x}"}).run(store)
        assert store.digest() != alone


@pytest.mark.parametrize("backend", ["local", "ray"])
def test_a_failing_agent_without_a_guard_ends_the_run_anywhere(tmp_path, backend, monkeypatch):
    if backend == "ray":
        pytest.importorskip("ray")
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), *sys.path]))
    failing = {"agents": ["random", "python:arena_agents:Raises"], "guard": {"on_failure": "stop"}}
    seed = f"11-{23713:032x}"  # with which it plays the first deals to their end
    values = {**DETERMINISTIC, **failing, "games": ["leduc_poker_v0"], "deals": 300, "seed": seed}
    experiment = Experiment.of(values)
    with Store(tmp_path / "store.db") as store:
        with pytest.raises((AgentError, ArenaError), match="Raises"):
            experiment.run(store, processes=2, backend=backend, batch=1)
        assert 1 <= store.count(experiment.matches[0].id) < experiment.matches[0].num_games


# ---------------------------------------------------------------------------------------------------------------
# Kills

SLOW = """
name: to be killed
deals: 40
seed: 5-00000000000000000000000000000005
games:
  - {game: kuhn_poker_v0, deals: 60}
  - leduc_poker_v0
agents:
  - random
  - {name: slow, spec: "python:arena_agents:Slow"}
  - {name: search, spec: "search:simulations=3"}
guard: {isolation: none}
stop: {half_width: 0.05, min_deals: 20}
"""


def start(file, store, processes):
    """A run in a process group of its own."""
    command = [sys.executable, "-m", "cardenvs", "arena", "run", str(file), "--store", str(store), "--resume"]
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [*command, "-p", str(processes)], env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def games_in(store):
    if not store.exists():
        return 0
    try:
        with sqlite3.connect(store, timeout=30) as connection:
            return connection.execute("SELECT count(*) FROM games").fetchone()[0]
    except sqlite3.OperationalError:  # not made yet
        return 0


def run_and_kill(tmp_path, kills, generator):
    """Kill a run with SIGKILL at `kills` random moments, resume it each time; the last time let it finish.

    A moment is a number of games, drawn over the whole run, and then a part of a second.
    """
    file, path = tmp_path / "experiment.yaml", tmp_path / "killed.db"
    file.write_text(SLOW)
    experiment = Experiment.of(__import__("yaml").safe_load(SLOW))
    total = experiment.num_games
    moments = sorted(generator.randrange(int(0.9 * total)) for _ in range(kills))
    killed = 0
    for moment in moments:
        process = start(file, path, generator.choice((1, 2)))
        deadline = time.monotonic() + 120
        while games_in(path) <= moment and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(generator.random() * 0.1)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
        with Store(path) as store:
            assert all(len(list(store.records(m.id))) == store.count(m.id) for m in experiment.matches)
    assert killed == kills
    assert games_in(path) < total
    process = start(file, path, 2)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return experiment, path


def check_killed(tmp_path, kills, seed):
    experiment, path = run_and_kill(tmp_path, kills, random.Random(seed))
    with Store(tmp_path / "unbroken.db") as unbroken, Store(path) as killed:
        experiment.run(unbroken)
        counts = [unbroken.count(match.id) for match in experiment.matches]
        assert counts == [killed.count(match.id) for match in experiment.matches]
        assert killed.digest() == unbroken.digest()
        assert verify(killed) == (sum(counts), [])


def test_a_run_killed_at_random_moments_becomes_the_unbroken_one(tmp_path):
    check_killed(tmp_path, kills=2, seed=1)


@pytest.mark.slow
def test_a_run_killed_twenty_times_becomes_the_unbroken_one(tmp_path):
    check_killed(tmp_path, kills=20, seed=2)


@pytest.mark.parametrize(
    ("address", "why"),
    [("127.0.0.1:{port}", "refused"), ("ray://127.0.0.1:{port}", "refused"), ("127.0.0.1", "HOST:PORT is expected"),
     ("nowhere.invalid:6379", "nowhere"), ("[::1]:99999999", "")],
)  # fmt: skip
def test_a_ray_address_where_nobody_listens_is_refused_at_once(address, why, monkeypatch):
    pytest.importorskip("ray")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setenv("RAY_ADDRESS", address.format(port=port))
    with (
        pytest.raises(ArenaError, match=f"^no Ray cluster at .*{why}.*; start one with `ray start --head`"),
        ray_cluster(1),
    ):
        pass
