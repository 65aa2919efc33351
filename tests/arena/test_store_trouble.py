"""Stores in trouble: full disks, files that cannot be written, locks, clocks that jump, older and newer schemas."""

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cardenvs.arena import Match, Store, database, run_match
from cardenvs.arena.records import StoredExperiment
from cardenvs.arena.results.board import board_of
from cardenvs.arena.verify import verify
from cardenvs.cli import app
from cardenvs.core.errors import ArenaError

MATCH = Match.of("kuhn_poker", ["random", "random"], deals=4)
NOBODY = 65534


def call(*words):
    result = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def unprivileged():
    """A folder, seen by somebody who may write nothing in it once it is protected."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    is_root = os.geteuid() == 0

    def protect():
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        if is_root:
            os.seteuid(NOBODY)
        return folder

    protect.folder = folder
    yield protect
    if is_root:
        os.seteuid(0)
    folder.chmod(0o755)
    shutil.rmtree(folder)


# ---------------------------------------------------------------------------------------------------------------
# Nothing can be written


def test_a_read_only_store_can_be_read_and_says_that_it_is_one(unprivileged):
    run_match(MATCH, unprivileged.folder / "results.db")
    unprivileged()
    path = unprivileged.folder / "results.db"
    with Store(path, read_only=True) as store:
        assert verify(store) == (8, [])
        assert len(board_of(store).games) == 1
    with pytest.raises(ArenaError, match=r"results.db is read-only .* `cardenvs verify` can read it"):
        Store(path)


def test_games_that_wait_in_the_journal_of_a_read_only_store_are_read(unprivileged):
    """As a run that was killed leaves them."""
    path, copy = unprivileged.folder / "running.db", unprivileged.folder / "killed.db"
    run_match(MATCH, path)
    with Store(path) as store:
        store.begin_experiment(StoredExperiment("waits", ((MATCH.id, "a title"),), {}, {}))
        shutil.copy(path, copy)
        shutil.copy(f"{path}-wal", f"{copy}-wal")
    unprivileged()
    with Store(copy, read_only=True) as store:
        assert [experiment.name for experiment in store.experiments()] == ["waits"]


def test_reading_changes_nothing(tmp_path):
    path = tmp_path / "results.db"
    run_match(MATCH, path)
    before = path.read_bytes()
    with Store(path, read_only=True) as store:
        assert verify(store) == (8, [])
        with pytest.raises(ArenaError, match="read-only"):
            store.begin(MATCH)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["results.db"]
    with pytest.raises(ArenaError, match="there is no file"):
        Store(tmp_path / "missing.db", read_only=True)
    (tmp_path / "empty.db").touch()
    with pytest.raises(ArenaError, match="is empty, not a store"):
        Store(tmp_path / "empty.db", read_only=True)


def test_another_kind_of_database_is_not_taken_for_a_store(tmp_path):
    class Other(Store):
        kind, application_id = "store of something else", 5

    Store(tmp_path / "match.db").close()
    Other(tmp_path / "other.db").close()
    with pytest.raises(ArenaError, match="is an SQLite file, but not a store of something else"):
        Other(tmp_path / "match.db")
    with pytest.raises(ArenaError, match="is an SQLite file, but not a store of cardenvs results"):
        Store(tmp_path / "other.db")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "UPDATE games SET outcomes = '[]', failures = '[{}, {}]'",
            "one of the columns failures and outcomes is empty",
        ),
        ("""UPDATE experiments SET config = '{"ratings": {"x": 1}}'""", "a JSON object of settings"),
        ("""UPDATE experiments SET config = '{"ratings": []}'""", "a JSON object of settings"),
        ("""UPDATE experiments SET config = '{"ratings": {"games": 0}}'""", "a JSON object of settings"),
    ],
)
def test_rows_that_do_not_fit_are_named_by_verify_and_refused_in_a_report(tmp_path, change, message):
    path = tmp_path / "results.db"
    run_match(MATCH, path)
    with Store(path) as store:
        store.begin_experiment(StoredExperiment("all", ((MATCH.id, "a title"),), {}, {}))
        store._connection.execute(change)
    for words in (["verify", path], ["arena", "report", path]):
        result = call(*words)
        assert result.exit_code != 0
        assert message in " ".join((result.output + result.stderr).split())


# ---------------------------------------------------------------------------------------------------------------
# The disk is full


def limit(store, pages=0):
    """Let a store grow no further than so many pages more, as on a full disk."""
    (size,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count={size + pages}")


def test_a_full_disk_says_what_is_kept_and_how_to_go_on(tmp_path):
    path = tmp_path / "results.db"
    many = Match.of("kuhn_poker", ["random", "random"], deals=2000)
    from cardenvs.arena.run import run

    with Store(path) as store:
        store.begin(many)
        limit(store, pages=6)
        with pytest.raises(ArenaError) as full:
            run([many], store)
    assert "is full. Rows written earlier are kept; free some space, then continue with --resume" in str(full.value)
    assert "games were not written" in str(full.value)
    assert run_match(many, path, resume=True).games == 4000


def test_a_full_disk_under_a_simulation_leaves_its_summary(tmp_path, monkeypatch):
    opened = Store.begin

    def begin(store, match):
        opened(store, match)
        limit(store, pages=1)

    monkeypatch.setattr(Store, "begin", begin)
    monkeypatch.setattr(database, "_WRITE_EVERY_S", 0)
    words = ["simulate", "kuhn_poker", "--games", "300", "-p", "1", "-q", "--seed", "1", "--store", tmp_path / "s.db"]
    result = call(*words)
    assert result.exit_code == 2
    assert "mean return" in result.stdout
    assert "is full" in result.stderr
    monkeypatch.setattr(Store, "begin", opened)
    assert call(*words, "--resume").exit_code == 0


# ---------------------------------------------------------------------------------------------------------------
# Locks


def test_a_lock_is_given_up_in_time_and_says_whose_it_is(tmp_path, monkeypatch):
    path = tmp_path / "results.db"
    Store(path).close()
    program = (
        f"import sys; from cardenvs.arena import Store, run_match; store = Store({str(path)!r})\n"
        "store._connection.execute('BEGIN IMMEDIATE'); print('locked', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "locked\n"
        monkeypatch.setattr(database, "_BUSY_TIMEOUT_S", 0.1)
        with pytest.raises(ArenaError) as locked:
            Store(path)
        whose = f"is locked by process {holder.pid} on {socket.gethostname()}, which has it open since 20"
        assert whose in str(locked.value)
        assert "--resume" in str(locked.value)
        with Store(path, read_only=True) as store:  # readers do not wait for writers
            assert store.match_ids() == []
    finally:
        holder.kill()
        holder.communicate()
    with Store(path) as store:  # who has ended is forgotten
        assert [pid for (pid,) in store._connection.execute("SELECT pid FROM writers")] == [os.getpid()]


def test_a_lock_of_another_program_is_said_to_be_one(tmp_path, monkeypatch):
    path = tmp_path / "results.db"
    Store(path).close()
    monkeypatch.setattr(database, "_BUSY_TIMEOUT_S", 0.1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(ArenaError, match="locked by a process that is not cardenvs"):
        Store(path)
    other.close()


# ---------------------------------------------------------------------------------------------------------------
# Clocks


def test_a_clock_that_jumps_back_reorders_nothing(tmp_path, monkeypatch):
    times = iter(["2030-01-01T00:00:00+00:00", "1970-01-01T00:00:00+00:00", "2001-01-01T00:00:00+00:00"] * 9)
    for module in ("store", "database"):
        monkeypatch.setattr(f"cardenvs.arena.{module}.now", lambda: next(times))
    with Store(tmp_path / "results.db") as store:
        for name in ("first", "second", "third"):
            store.begin_experiment(StoredExperiment(name, (), {}, {}))
        assert [experiment.name for experiment in store.experiments()] == ["first", "second", "third"]
        store.begin_experiment(StoredExperiment("first", (), {}, {}))
        assert store.experiments()[-1].name == "first"


# ---------------------------------------------------------------------------------------------------------------
# Simulations


def test_going_on_has_to_be_asked_for(tmp_path):
    words = ["simulate", "kuhn_poker", "--games", "3", "-p", "1", "-q", "--seed", "1", "--store", tmp_path / "s.db"]
    assert call(*words).exit_code == 0
    refused = call(*words)
    assert refused.exit_code == 2
    assert "already has 3 games of this match; resume it" in refused.stderr
    assert call(*words, "--resume").exit_code == 0
    assert "--resume needs the --store" in call("simulate", "kuhn_poker", "--resume").stderr
