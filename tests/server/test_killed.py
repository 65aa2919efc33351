"""A server that is killed and started again goes on with every table."""

import json
import urllib.request

import pytest
from served import Served

pytest.importorskip("websockets")

from websockets.sync.client import connect


@pytest.fixture
def served(tmp_path):
    server = Served(tmp_path / "tables.db", "--pace", "0")
    yield server
    server.kill()


def post(server, body):
    request = urllib.request.Request(
        f"{server.url}/api/tables", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    return json.load(urllib.request.urlopen(request))


def view(server, link):
    return json.load(urllib.request.urlopen(f"{server.url}/api/view/{link}"))


def play_some(server, link, moves):
    """Choose the first move, so many times; return whether the game is over."""
    with connect(f"ws://127.0.0.1:{server.port}/ws/{link}") as socket:
        while True:
            seen = json.loads(socket.recv(timeout=30))
            if seen["over"] or moves == 0:
                return seen["over"]
            if seen["current"] == seen["seat"]:
                intent = {"action": seen["choices"][0]["action"]}
                socket.send(json.dumps({"do": "act", "turn": seen["turn"], "intents": [intent]}))
                moves -= 1


def test_games_go_on_where_they_were(served):
    tables = [post(served, {"game": "leduc_poker_v0", "seats": ["person", "random"]}) for _ in range(3)]
    links = [table["seats"][0]["link"] for table in tables]
    for link in links[:2]:
        play_some(served, link, 1)
    waiting = [view(served, link) for link in links]
    agents = ["heuristic", "heuristic"]
    watched = post(served, {"game": "gin_rummy_v0", "seats": agents, "options": {"match_target": "100"}})
    served.kill()
    served.start()
    for link, before in zip(links, waiting, strict=True):
        after = view(served, link)
        if before["current_player"] == 0 or before["terminal"]:  # else the agent had a move to make
            assert after == before
    for link in links:
        while not play_some(served, link, 1):
            pass
    with connect(f"ws://127.0.0.1:{served.port}/ws/{watched['watch']}") as socket:
        while not json.loads(socket.recv(timeout=60))["over"]:
            pass
