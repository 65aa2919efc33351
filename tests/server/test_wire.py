"""Clients that keep the server waiting: half-sent requests, unread answers, floods. And the end with Ctrl-C."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.request

import pytest
from served import Served

pytest.importorskip("websockets")

from websockets.sync.client import connect

pytestmark = pytest.mark.rotating

HALF = b"POST /api/tables HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server with small limits, as an application would set them."""
    server = Served(tmp_path_factory.mktemp("wire") / "tables.db", program="wire_server.py")
    yield server
    server.kill()


def opened(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def is_closed(connection):
    """Return whether the server closes a connection, perhaps after an answer."""
    try:
        while connection.recv(1 << 16):
            pass
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return True


def answers(server):
    return urllib.request.urlopen(f"{server.url}/healthz", timeout=20).status == 200


def post(server, body):
    request = urllib.request.Request(
        f"{server.url}/api/tables", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    return json.load(urllib.request.urlopen(request))


@pytest.mark.parametrize(
    "begun", [b"", b"GET / HT", HALF, HALF + b"\r\n{", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET"],
    ids=["nothing", "a line", "a head", "a body", "a second request"],
)  # fmt: skip
def test_a_request_that_is_not_finished_is_cut_off(served, begun):
    with opened(served) as connection:
        connection.sendall(begun)
        assert is_closed(connection)


def test_bytes_now_and_then_win_no_time(served):
    with opened(served) as connection:
        connection.sendall(HALF)
        for _ in range(200):
            try:
                connection.sendall(b"x: y\r\n")
            except (BrokenPipeError, ConnectionResetError):
                return
            time.sleep(0.1)
    pytest.fail("the server waits for ever")


def test_many_half_sent_requests_keep_nobody_out(served):
    connections = []
    try:
        for k in range(100):  # the limit is 50
            connection = opened(served)
            connection.sendall(HALF)
            connections.append(connection)
            if k % 20 == 19:
                assert answers(served)
        assert all(is_closed(connection) for connection in connections[:40])
    finally:
        for connection in connections:
            connection.close()


def test_heads_and_pipelines_are_bounded(served):
    with opened(served) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        assert is_cut_off(connection, b"x: " + b"y" * 4096 + b"\r\n")
    with opened(served) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 500)
        assert is_closed(connection)
    assert answers(served)


def is_cut_off(connection, data):
    """Send the same again and again without reading; return whether the server ends the connection."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
    try:
        for _ in range(20_000):
            connection.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        return True
    except TimeoutError:
        return False
    return is_closed(connection)


def test_an_answer_that_nobody_reads_is_cut_off(served):
    with opened(served) as connection:
        assert is_cut_off(connection, b"GET /assets/table.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert answers(served)


def frame(opcode, payload):
    """Return a frame of a client."""
    length = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + len(payload).to_bytes(2, "big")
    return bytes([0x80 | opcode]) + length + bytes(4) + payload


def open_socket(server, connection):
    table = post(server, {"game": "kuhn_poker_v0", "seats": ["person", "person"]})
    connection.sendall(
        f"GET /ws/{table['seats'][0]['link']} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: "
        "Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    assert connection.recv(12) == b"HTTP/1.1 101"


@pytest.mark.parametrize(
    ("begun", "flood"),
    [(b"", frame(1, b"{}")), (b"", frame(9, b"x" * 125)), (b"\1\x80" + bytes(4), b"\0\x80" + bytes(4))],
    ids=["messages", "pings", "empty parts of a message"],
)  # fmt: skip
def test_a_socket_that_is_flooded_and_not_read_is_cut_off(served, begun, flood):
    with opened(served) as connection:
        open_socket(served, connection)
        connection.sendall(begun)
        assert is_cut_off(connection, flood * 20)
    assert answers(served)


def memory(server):
    """Return the megabytes that a server has in memory."""
    with open(f"/proc/{server.process.pid}/statm") as numbers:
        return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")
def test_clients_that_ask_and_do_not_read_take_no_memory(served):
    asks = frame(1, b"x" * 4000) + frame(1, json.dumps({"do": "watch", "viewer": "spectator"}).encode())
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(opened(served)) for _ in range(20)]
        for connection in connections:
            open_socket(served, connection)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
            connection.setblocking(False)
        before, deadline = memory(served), time.monotonic() + 5
        while connections and time.monotonic() < deadline:
            for connection in list(connections):
                try:
                    connection.send(asks)
                except BlockingIOError:
                    time.sleep(0.001)
                except (BrokenPipeError, ConnectionResetError):
                    connections.remove(connection)
        assert memory(served) - before < 50
    assert answers(served)


# ---------------------------------------------------------------------------------------------------------------
# The end


def children(pid):
    """Return the processes that a process has started, and theirs."""
    lines = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout.splitlines()
    parents = {int(line.split()[0]): int(line.split()[1]) for line in lines}
    found = {pid}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_end_takes_seconds_and_leaves_no_process(tmp_path, end):
    path = os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])
    agents = ["--agent", "slow=python:table_agents:slow", "--agent", "quick=python:table_agents:quick"]
    server = Served(tmp_path / "tables.db", "--pace", "0", *agents, env={"PYTHONPATH": path})
    try:
        tables = [post(server, {"game": "kuhn_poker_v0", "seats": ["slow", "slow"]}) for _ in range(2)]
        tables += [post(server, {"game": "leduc_poker_v0", "seats": ["quick", "person"]}) for _ in range(2)]
        deadline = time.monotonic() + 60
        while len(children(server.process.pid)) < 12 and time.monotonic() < deadline:
            time.sleep(0.2)
        started = children(server.process.pid)
        assert len(started) >= 12  # a launcher, a server to fork and the agent, four times
        with connect(f"ws://127.0.0.1:{server.port}/ws/{tables[0]['watch']}"), opened(server) as half:
            half.sendall(HALF)
            server.process.send_signal(end)
            assert server.process.wait(5.0) in (0, -end)
        deadline = time.monotonic() + 5
        while any(os.path.exists(f"/proc/{pid}") for pid in started) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not [pid for pid in started if os.path.exists(f"/proc/{pid}")]
    finally:
        server.kill()
