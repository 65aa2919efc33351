"""The store of finished games."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from cardenvs.arena import Match, Store
from cardenvs.arena.records import GameRecord
from cardenvs.core.errors import ArenaError

MATCH = Match.of("leduc_poker_v0", ["random", "search"], deals=4)


def record(deal, lineup=0, error=None):
    returns = () if error else (1.5, -1.5)
    return GameRecord(deal, lineup, MATCH.deal_seed(deal), (0, 1), returns, (1, 1, 0), (2, 1), (0.25, 0.5), error)


def test_what_is_entered_comes_back(tmp_path):
    path = tmp_path / "results.db"
    with Store(path) as store:
        store.begin(MATCH)
        store.add(MATCH, record(1))
        store.add(MATCH, record(0, 1))
    with Store(path) as store:
        store.begin(MATCH)
        assert list(store.records(MATCH.id)) == [record(0, 1), record(1)]
        assert store.finished(MATCH.id) == {(0, 1), (1, 0)}
        assert store.finished("another") == set()
    rows = sqlite3.connect(path).execute("SELECT agents, returns, plies FROM games").fetchall()
    assert rows == [('["random", "search"]', "[1.5, -1.5]", 3)] * 2


def test_a_failed_game_is_kept_but_not_finished_and_then_replaced(tmp_path):
    with Store(tmp_path / "results.db") as store:
        store.begin(MATCH)
        store.add(MATCH, record(0, error="agent 'random' failed"))
        assert store.finished(MATCH.id) == set()
        assert sqlite3.connect(store.path).execute("SELECT error FROM games").fetchall() == [("agent 'random' failed",)]
        store.add(MATCH, record(0))
        assert list(store.records(MATCH.id)) == [record(0)]


def test_two_may_write_to_one_store(tmp_path):
    path = tmp_path / "results.db"
    with Store(path) as one, Store(path) as two:
        for store in (one, two):
            store.begin(MATCH)
        one.add(MATCH, record(0))
        two.add(MATCH, record(0))
        two.add(MATCH, record(1))
        one.write()
        two.write()
        assert one.finished(MATCH.id) == two.finished(MATCH.id) == {(0, 0), (1, 0)}


def test_many_may_create_a_store_at_once(tmp_path):
    def open_and_close(path, together):
        together.wait()
        Store(path).close()

    with ThreadPoolExecutor(4) as pool:
        for number in range(60):  # of these, some five fail where SQLite does not wait for a lock
            together = threading.Barrier(4)
            path = tmp_path / f"{number}.db"
            for opened in [pool.submit(open_and_close, path, together) for _ in range(4)]:
                opened.result()


def test_what_is_no_store_is_refused_and_left_alone(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to look at" * 20)
    with pytest.raises(
        ArenaError, match=r"cannot use .*notes.txt as a store of cardenvs results: file is not a database"
    ):
        Store(text)
    assert text.read_text().startswith("not a database")
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE cheese (name TEXT)")
    before = foreign.read_bytes()
    with pytest.raises(ArenaError, match=r"foreign.db is an SQLite file, but not a store of cardenvs results"):
        Store(foreign)
    assert foreign.read_bytes() == before
    with pytest.raises(ArenaError, match=r"cannot open .* as a store of cardenvs results: there is no folder"):
        Store(tmp_path / "nowhere" / "results.db")


def test_another_schema_version_is_refused(tmp_path):
    path = tmp_path / "results.db"
    Store(path).close()
    sqlite3.connect(path).execute("PRAGMA user_version=9")
    with pytest.raises(ArenaError, match=r"has schema version 9; this cardenvs reads version 4\. Open it with"):
        Store(path)
