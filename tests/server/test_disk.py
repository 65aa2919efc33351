"""What the server does when its file cannot be written, or is that of another application."""

import contextlib
import hashlib
import sqlite3

import pytest
from served import client, new_table, open_table

pytest.importorskip("websockets")

from cardenvs.core.errors import FileError
from cardenvs.server import room
from cardenvs.server.records import Move, Records
from cardenvs.tools.one_player_poker.api.store import Games

FULL = sqlite3.OperationalError("database or disk is full")


class Disk:
    """Is full or not."""

    is_full = False

    def __init__(self, monkeypatch, *methods):
        for owner, name in methods:
            monkeypatch.setattr(owner, name, self._checked(getattr(owner, name)))

    def _checked(self, call):
        def checked(*arguments):
            if self.is_full:
                raise FULL
            return call(*arguments)

        return checked


def position(socket):
    while True:
        said = socket.receive_json()
        if said["type"] == "position":
            return said


def test_a_move_that_cannot_be_kept_is_refused_and_can_be_made_later(monkeypatch, caplog):
    disk = Disk(monkeypatch, (Records, "add_moves"))
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", ["person", "person"], deck="K J Q")
        with server.websocket_connect(f"/ws/{table['seats'][0]['link']}") as socket:
            turn = position(socket)["turn"]
            move = {"do": "act", "turn": turn, "intents": [{"action": 0}]}
            disk.is_full = True
            for _ in range(2):
                socket.send_json(move)
                assert socket.receive_json() == {"type": "refused", "reason": room.NOT_KEPT}
            disk.is_full = False
            socket.send_json(move)
            assert position(socket)["current"] == 1
    assert "Traceback" not in caplog.text
    assert "cannot be kept" in caplog.text


def test_an_agent_whose_move_cannot_be_kept_makes_it_later(monkeypatch, caplog):
    monkeypatch.setattr(room, "_RETRY_SECONDS", 0.05)
    disk = Disk(monkeypatch, (Records, "add_moves"))
    disk.is_full = True
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", ["random", "person"], deck="K J Q")
        with server.websocket_connect(f"/ws/{table['seats'][1]['link']}") as socket:
            seen = position(socket)
            while not seen["problem"]:
                seen = position(socket)
            assert "cannot write to its disk" in seen["problem"]
            assert seen["current"] == 0
            disk.is_full = False
            while seen["current"] != 1:
                seen = position(socket)
            assert seen["problem"] == ""
    assert "Traceback" not in caplog.text
    assert caplog.text.count("cannot be kept") == 1


def test_the_last_move_counts_even_if_the_end_cannot_be_noted(monkeypatch):
    disk = Disk(monkeypatch, (Records, "finish"))
    records = Records(":memory:")
    table = new_table("kuhn_poker_v0", ["", ""], "K J Q", records)
    disk.is_full = True
    for seat in (0, 1):
        table.act(seat, table.show(seat).turn, [{"action": "pass"}])
    assert table.state.is_terminal
    assert records.listed(5, 0.0)[0][1] is False
    disk.is_full = False
    type(table)(table.record, table.state.game, records, table.moves)
    assert records.listed(5, 0.0)[0][1] is True


def test_requests_say_that_nothing_can_be_kept(monkeypatch, caplog):
    disk = Disk(monkeypatch, (Records, "add"), (Games, "add"), (Games, "change"))
    with client() as server:
        game = server.post("/game/start", json={"mode": "practice"}).json()
        disk.is_full = True
        answer = server.post("/api/tables", json={"game": "kuhn_poker_v0"})
        assert (answer.status_code, answer.json()["error"]) == (503, {"code": "not_kept", "message": room.NOT_KEPT})
        action = {"type": "DISCARD", "selected_indices": [0]}
        for path, body in (("start", {"mode": "practice"}), ("step", {"game_id": game["game_id"], "action": action})):
            answer = server.post(f"/game/{path}", json=body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "NOT_KEPT")
        disk.is_full = False
        assert server.get(f"/game/{game['game_id']}").json()["step_index"] == 0
    assert "Traceback" not in caplog.text


def test_moves_on_a_full_disk_are_kept_wholly_or_not_at_all():
    """SQLite itself says that the disk is full, in the middle of a transaction."""
    records = Records(":memory:")
    table = new_table("kuhn_poker_v0", ["", ""], "K J Q", records)
    watch, notes = table.record.watch, "x" * 3000
    (pages,) = records._db.execute("PRAGMA page_count").fetchone()
    records._db.execute(f"PRAGMA max_page_count={pages + 2}")
    with pytest.raises(sqlite3.Error, match="full"):
        records.add_moves(watch, 0, [Move(0, notes)] * 5)
    assert records.moves(watch) == []
    records._db.execute(f"PRAGMA max_page_count={pages + 100}")
    records.add_moves(watch, 0, [Move(0, notes)] * 5)
    assert len(records.moves(watch)) == 5


# ---------------------------------------------------------------------------------------------------------------
# Files of others


def other_database(path, statements, wal=False):
    with contextlib.closing(sqlite3.connect(path)) as database:
        if wal:
            database.execute("PRAGMA journal_mode=WAL")
        database.executescript(statements)


@pytest.mark.parametrize("opened", [Records, lambda path: Games(path)])
@pytest.mark.parametrize("wal", [False, True])
@pytest.mark.parametrize(
    "statements",
    [
        "CREATE TABLE places (url TEXT);",
        "CREATE TABLE tables (id INTEGER); CREATE TABLE actions (id INTEGER);",
        "CREATE TABLE tables (id INTEGER, watch TEXT);",
        "PRAGMA application_id=1;",
        "PRAGMA user_version=3;",
        "CREATE TABLE actions (id INTEGER);",
    ],
)
def test_a_database_of_another_application_is_left_as_it_was(tmp_path, opened, wal, statements):
    path = tmp_path / "places.sqlite"
    other_database(path, statements, wal)
    before = hashlib.sha256(path.read_bytes()).digest()
    with pytest.raises(FileError, match="another application"):
        opened(str(path))
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_store_of_matches_is_not_a_file_of_tables(tmp_path):
    from cardenvs.arena import Store

    Store(tmp_path / "games.db").close()
    with pytest.raises(FileError, match="another application"):
        Records(str(tmp_path / "games.db"))
    Store(tmp_path / "games.db", read_only=True).close()


def test_a_database_in_use_by_another_application_is_left_as_it_was(tmp_path):
    path = tmp_path / "busy.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.executescript("CREATE TABLE places (url TEXT);")
        with pytest.raises(FileError, match="another application"):
            Records(str(path))
        assert database.execute("SELECT name FROM sqlite_master").fetchall() == [("places",)]


def test_files_of_this_server_open_again(tmp_path):
    path = str(tmp_path / "tables.db")
    for _ in range(2):
        records, games = Records(path), Games(path)
        records.close()
        games.close()
    (tmp_path / "empty.db").touch()
    Records(str(tmp_path / "empty.db")).close()


def test_a_person_whose_time_is_up_forfeits_once_that_can_be_written(monkeypatch, caplog):
    monkeypatch.setattr(room, "_RETRY_SECONDS", 0.05)
    disk = Disk(monkeypatch, (Records, "add_moves"))
    disk.is_full = True
    with client(clock=0.2) as server:
        table = open_table(server, "kuhn_poker_v0", ["person", "person"])
        with server.websocket_connect(f"/ws/{table['seats'][1]['link']}") as socket:
            seen = position(socket)
            while not seen["problem"]:
                seen = position(socket)
            assert "cannot write to its disk" in seen["problem"]
            disk.is_full = False
            while not seen["over"]:
                seen = position(socket)
            assert seen["problem"] == ""
    assert "Traceback" not in caplog.text
