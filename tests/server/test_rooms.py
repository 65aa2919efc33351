"""Rooms: agents' processes end with their games, nobody holds up others, and tables do not pile up."""

import sqlite3
import threading
import time

import pytest
from served import client, new_table, open_table

from cardenvs.agents.guarded.process import ProcessAgent
from cardenvs.server import room as room_module
from cardenvs.server.records import Records

LIVE = "python:table_agents:quick"


def until(condition, seconds=20.0):
    """Wait for something that happens in other threads."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


def play_to_the_end(server, link):
    with server.websocket_connect(f"/ws/{link}") as socket:
        seen = socket.receive_json()
        while not seen["over"]:
            if seen["current"] == seen["seat"]:
                intent = {"action": seen["choices"][0]["action"]}
                socket.send_json({"do": "act", "turn": seen["turn"], "intents": [intent]})
            seen = socket.receive_json()


@pytest.fixture
def processes(monkeypatch):
    """The agents' processes that are started."""
    found = []
    start = ProcessAgent._start

    def noting(agent):
        start(agent)
        found.append(agent._server.process)

    monkeypatch.setattr(ProcessAgent, "_start", noting)
    return found


def test_processes_of_agents_end_with_the_game_although_somebody_looks_on(processes):
    with client(agents={"live": LIVE}) as server:
        table = open_table(server, "kuhn_poker_v0", ["person", "live"])
        with server.websocket_connect(f"/ws/{table['watch']}"):
            play_to_the_end(server, table["seats"][0]["link"])
            until(lambda: processes and all(process.poll() is not None for process in processes))


def test_agents_of_a_table_that_nobody_looks_at_end_and_come_back(processes):
    limits = {"idle_seconds": 0.1, "sweep_seconds": 0.05}
    with client(agents={"live": LIVE}, limits=limits) as server:
        table = open_table(server, "leduc_poker_v0", ["live", "person"])
        until(lambda: processes and all(process.poll() is not None for process in processes))
        play_to_the_end(server, table["seats"][1]["link"])


def test_a_server_that_ends_waits_for_no_agent(processes):
    with client(agents={"slow": "python:table_agents:slow"}) as server:
        for _ in range(2):
            open_table(server, "kuhn_poker_v0", ["slow", "slow"])
        until(lambda: len(processes) == 2)
        started = time.monotonic()
    assert time.monotonic() - started < 10.0  # the agents take 60 seconds
    until(lambda: all(process.poll() is not None for process in processes))


@pytest.fixture
def stuck(monkeypatch):
    """Hints take until the end of the test."""
    end = threading.Event()
    monkeypatch.setattr(room_module, "ask_once", lambda *_: end.wait(30))
    yield
    end.set()


def test_hints_of_a_slow_agent_hold_up_neither_openings_nor_games(stuck):
    with client(limits={"advice": 2, "thinking": 2}) as server:
        for _ in range(6):
            table = open_table(server, "kuhn_poker_v0", ["person", "person"])
            link = f"/ws/{table['seats'][0]['link']}"
            for _ in range(2):  # who leaves and comes back does not get a second one
                with server.websocket_connect(link) as socket:
                    turn = socket.receive_json()["turn"]
                    socket.send_json({"do": "hint", "turn": turn, "agent": "random"})
                    socket.send_json({"do": "plays", "turn": turn})
                    answer = socket.receive_json()
                    assert "is still running" in answer["reason"]
        table = open_table(server, "kuhn_poker_v0", ["person", "random"])
        play_to_the_end(server, table["seats"][0]["link"])


def test_hints_that_wait_are_bounded(stuck):
    with client(limits={"advice": 1}) as server:
        said = []
        sockets = []
        for _ in range(12):
            table = open_table(server, "kuhn_poker_v0", ["person", "person"])
            socket = server.websocket_connect(f"/ws/{table['seats'][0]['link']}").__enter__()
            sockets.append(socket)
            socket.send_json({"do": "hint", "turn": socket.receive_json()["turn"], "agent": "random"})
            socket.send_json({"do": "undo", "turn": -1})  # answered in any case
            said.append(socket.receive_json()["reason"])
        assert sum("too many requests" in reason for reason in said) == 3
        for socket in sockets:
            socket.__exit__(None, None, None)


# ---------------------------------------------------------------------------------------------------------------
# Records


def test_a_link_is_looked_up_by_an_index():
    records = Records(":memory:")
    statements = []
    records._db.set_trace_callback(statements.append)
    records.find("x"), records.listed(10, 0.0), records.unfinished(10)
    records._db.set_trace_callback(None)
    for statement in statements:
        plan = [row[3] for row in records._db.execute(f"EXPLAIN QUERY PLAN {statement}")]
        assert not any(step.startswith("SCAN") for step in plan), (statement, plan)


def test_every_link_leads_to_its_table():
    records = Records(":memory:")
    new_table("kuhn_poker_v0", ["", "random"], records=records)
    for link in ("watch", "host", "seat_0"):
        assert records.find(link).watch == "watch"
    assert records.find("") is None
    assert records.find("random") is None


@pytest.mark.parametrize(
    ("age", "moves", "finished", "is_kept"),
    [(0.5, 0, False, True), (2, 0, False, False), (2, 1, False, True), (40, 1, False, False),
     (20, 1, True, True), (40, 1, True, False)],
)  # fmt: skip
def test_old_tables_are_forgotten_while_the_server_runs(tmp_path, age, moves, finished, is_kept):
    path = tmp_path / "tables.db"
    with client(data=str(path), limits={"sweep_seconds": 0.05}) as server:
        table = open_table(server, "leduc_poker_v0", ["person", "person"])
        if moves:
            with server.websocket_connect(f"/ws/{table['seats'][0]['link']}") as socket:
                seen = socket.receive_json()
                intents = [{"action": seen["choices"][0]["action"]}]
                socket.send_json({"do": "act", "turn": seen["turn"], "intents": intents})
                while seen["current"] == 0:
                    seen = socket.receive_json()
        database = sqlite3.connect(path, timeout=20)
        then = time.time() - 86_400 * age
        touched = then + 1 if moves else then
        with database:
            database.execute("UPDATE tables SET opened = ?, touched = ?", (then, touched))
            if finished:
                database.execute("UPDATE tables SET finished = ?", (then,))
        time.sleep(0.5)
        assert server.get(f"/api/view/{table['watch']}").status_code == (200 if is_kept else 404)
        left = [database.execute(f"SELECT COUNT(*) FROM {name}").fetchone()[0] for name in ("links", "actions")]
        database.close()
        assert left == ([4, moves] if is_kept else [0, 0])


def test_links_of_tables_that_are_put_away_bring_back_no_more_than_twice_the_limit():
    with client(limits={"tables": 2}) as server:
        tables = [open_table(server, "kuhn_poker_v0", ["person", "person"]) for _ in range(6)]
        host = server.app.state.host
        for table in tables:
            assert server.get(f"/api/view/{table['watch']}").status_code == 200
            assert len(host._rooms) <= 4
