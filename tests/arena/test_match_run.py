"""Running a match: the same result from any number of processes, after any interruption."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.arena import Match, Store, run_match, summarise
from cardenvs.arena.run import run
from cardenvs.core.errors import AgentError, ArenaError

pytestmark = pytest.mark.rotating

OWN = "python:arena_agents:"
SEED = f"3-{3:032x}"


def contents(path):
    """All of a store but its times."""
    games = "SELECT match_id, deal, lineup, seed, seating, agents, returns, actions, plies, decisions, error FROM games"
    with sqlite3.connect(path) as connection:
        matches = connection.execute("SELECT id, game, options, agents, secret FROM matches").fetchall()
        return matches, sorted(connection.execute(games))


def test_one_process_or_two_give_the_same_store(tmp_path):
    match = Match.of("leduc_poker_v0", ["random", "search:simulations=4", f"{OWN}Together"], deals=15, seed=3)
    told = []
    one = run_match(match, tmp_path / "one.db", batch=3, progress=lambda done, total: told.append((done, total)))
    two = run_match(match, tmp_path / "two.db", processes=2)
    assert contents(tmp_path / "one.db") == contents(tmp_path / "two.db")
    assert [s.mean for s in one.standings] == [s.mean for s in two.standings]
    assert one.advantages == two.advantages
    assert (one.games, one.unfinished) == (90, 0)
    assert told[0] == (0, 90)
    assert told[-1] == (90, 90)


def test_a_match_is_not_repeated_but_resumed_and_lengthened(tmp_path):
    path = tmp_path / "results.db"
    run_match(Match.of("leduc_poker_v0", ["random", "search:simulations=4"], deals=5, seed=3), path)
    longer = Match.of("leduc_poker_v0", ["random", "search:simulations=4"], deals=9, seed=3)
    with pytest.raises(ArenaError, match="already has 10 games of this match; resume it, or choose another store"):
        run_match(longer, path)
    told = []
    summary = run_match(longer, path, resume=True, progress=lambda done, total: told.append((done, total)))
    assert told[0] == (10, 18)
    assert summary.games == 18
    run_match(longer, tmp_path / "whole.db")
    assert contents(path) == contents(tmp_path / "whole.db")
    shorter = run_match(
        Match.of("leduc_poker_v0", ["random", "search:simulations=4"], deals=2, seed=3), path, resume=True
    )
    assert (shorter.games, shorter.unfinished) == (4, 0)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_failing_agent_stops_the_match_and_nothing_is_lost(tmp_path, processes):
    path = tmp_path / "results.db"
    seed = f"4-{12431:032x}"  # with which it plays the first deals to their end
    match = Match.of("leduc_poker_v0", [f"{OWN}Raises", "search:simulations=2"], deals=200, seed=seed)
    message = r"agent 'python:arena_agents:Raises' failed in deal \d+ \(seed \d+\).*ZeroDivisionError: I cannot go on"
    with pytest.raises(AgentError, match=message) as caught:
        run_match(match, path, processes=processes)
    assert "Traceback" in caught.value.__notes__[0]
    assert "\n" not in str(caught.value)
    with Store(path) as store:
        finished = store.finished(match.id)
        assert f"({len(finished)} finished games are kept in {path})" in str(caught.value)
    assert len(finished) >= (2 if processes == 1 else 1)
    with pytest.raises(AgentError, match="Raises' failed"):
        run_match(match, path, processes=processes, resume=True)


def test_a_worker_that_dies_is_noticed(tmp_path):
    path = tmp_path / "results.db"
    plain = Match.of("leduc_poker_v0", [f"{OWN}Dies", "random"], deals=20)
    match = plain.changed(guard=AgentLimits(isolation="none"))  # it takes the worker with it
    with pytest.raises(
        ArenaError, match=r"a worker process ended unexpectedly \(exit code -9\); finished games are kept"
    ):
        run_match(match, path, processes=2)
    with Store(path) as store:
        assert len(store.finished(match.id)) == 1


def test_senseless_numbers_are_refused():
    match = Match.of("leduc_poker_v0", ["random", "random"], deals=1)
    with Store() as store, pytest.raises(ArenaError, match="at least one process; got 0"):
        run([match], store, processes=0)


AGENTS = f"random,{OWN}Slow"
DEALS = 40


def start(path):
    """The command line playing a slow match, as a process group of its own."""
    command = [sys.executable, "-m", "cardenvs", "match", "leduc_poker_v0", "--agents", AGENTS]
    command += ["--deals", str(DEALS), "--seed", SEED, "-p", "2", "--store", str(path), "--resume"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # jobs in the background ignore it
    )  # fmt: skip


def wait_for_games(path, count, process):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if path.exists():
            try:
                found = sqlite3.connect(path).execute("SELECT count(*) FROM games").fetchone()[0]
            except sqlite3.OperationalError:  # not made yet
                found = 0
            if found >= count:
                return
        time.sleep(0.02)
    raise AssertionError(f"the match ended or stood still: {process.communicate()}")


def wait_for_nobody(group):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("workers outlive their parent")


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """The store of the slow match played without interruption."""
    path = tmp_path_factory.mktemp("unbroken") / "results.db"
    match = Match.of("leduc_poker_v0", AGENTS.split(","), deals=DEALS, seed=SEED)
    run_match(match, path)
    return match, path


def test_a_killed_match_resumes_to_the_same_result(tmp_path, unbroken):
    match, whole = unbroken
    path = tmp_path / "results.db"
    for games in (10, 50):
        process = start(path)
        wait_for_games(path, games, process)
        process.kill()
        process.communicate()
        wait_for_nobody(process.pid)
        assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with Store(path) as store:
        assert 50 <= len(store.finished(match.id)) < match.num_games
    summary = run_match(match, path, resume=True)
    assert contents(path) == contents(whole)
    with Store(whole) as store:
        assert [s.mean for s in summarise(match, store.records(match.id)).standings] == [
            s.mean for s in summary.standings
        ]


def test_an_interrupted_match_stops_cleanly_and_keeps_what_is_done(tmp_path, unbroken):
    match, whole = unbroken
    path = tmp_path / "results.db"
    process = start(path)
    wait_for_games(path, 10, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: parent and workers alike
    out, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert f"Stopped before the end: finished games are in {path}; add --resume to play the rest." in errors
    assert "95% interval" in out
    assert "games of the match are not in these figures" in out
    wait_for_nobody(process.pid)
    run_match(match, path, resume=True)
    assert contents(path) == contents(whole)
