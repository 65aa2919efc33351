"""Time: how long an agent thinks says nothing, and a person who does not move loses."""

import asyncio
import itertools
import time

import pytest
from served import client, frames, open_table

from cardenvs.agents.seating import OK, Decision
from cardenvs.core.errors import FormatError
from cardenvs.server import room as room_module
from cardenvs.server.host import Host
from cardenvs.server.room import Kept
from cardenvs.server.settings import Settings

THINK = 0.8


class Hesitant:
    """In place of an agent and its proxy: bets, after thinking longer with a king than with other cards."""

    def __init__(self, player: int, with_king: float) -> None:
        self._player, self._with_king = player, with_king

    def observe(self, state):
        pass

    end = observe

    def decide(self, state):
        view = state.view(self._player)
        hand = next(pile for pile in view["piles"] if pile["id"] == f"hand.{self._player}")
        time.sleep(self._with_king if hand["tokens"][0]["text"] == "K" else 0.0)
        return Decision(self._player, state.ply, state.legal_actions()[0], OK, 0.0, (), {})

    def close(self):
        pass

    kill = close


def answered_after(server, deck, **more):
    """Return the seconds from a person's move to the agent's answer, as they appear on the socket."""
    table = open_table(server, "kuhn_poker_v0", ["person", "random"], deck=deck, **more)
    with server.websocket_connect(f"/ws/{table['seats'][0]['link']}") as socket:
        seen = socket.receive_json()
        socket.send_json({"do": "act", "turn": seen["turn"], "intents": [{"action": "pass"}]})
        started = None
        while not seen["over"]:
            seen = socket.receive_json()
            started = started or time.monotonic()
        return time.monotonic() - started


@pytest.fixture
def hesitant(monkeypatch):
    """Every agent takes so many seconds with a king."""

    def with_king(seconds):
        monkeypatch.setattr(room_module, "seated", lambda spec, state, player, *_: Hesitant(player, seconds))

    return with_king


def test_the_time_of_an_answer_does_not_depend_on_its_cards(hesitant):
    hesitant(THINK / 2)
    with client(think=THINK) as server:
        king, other = answered_after(server, "Q K J"), answered_after(server, "Q J K")
    assert min(king, other) > 0.95 * THINK
    assert abs(king - other) < THINK / 4


def test_longer_thoughts_are_shown_at_multiples_of_the_least(hesitant):
    hesitant(1.2 * THINK)
    with client(think=THINK) as server:
        assert answered_after(server, "Q K J") > 1.9 * THINK


def test_a_table_may_say_how_long_agents_think_at_least(hesitant):
    hesitant(0.0)
    with client(think=30.0) as server:
        assert answered_after(server, "Q K J", think=0) < 10.0
    with client() as server:
        assert answered_after(server, "Q K J", think=THINK) > 0.95 * THINK


def test_a_hint_takes_its_time_too():
    with client(think=THINK) as server:
        table = open_table(server, "kuhn_poker_v0", ["person", "random"])
        with server.websocket_connect(f"/ws/{table['seats'][0]['link']}") as socket:
            turn = socket.receive_json()["turn"]
            started = time.monotonic()
            socket.send_json({"do": "hint", "turn": turn, "agent": "random"})
            assert socket.receive_json()["type"] == "hint"
            assert time.monotonic() - started > 0.95 * THINK


def test_a_person_whose_time_is_up_forfeits():
    with client(clock=0.5) as server:
        table = open_table(server, "kuhn_poker_v0", ["person", "person"])
        with server.websocket_connect(f"/ws/{table['seats'][1]['link']}") as socket:
            seen = socket.receive_json()
            assert seen["clock"] == 0.5
            while not seen["over"]:
                seen = socket.receive_json()
        returns = [player["return"] for player in seen["players"]]
        assert returns[0] < 0 < returns[1]
        page = server.get(f"/t/{table['watch']}/replay").text
        assert frames(page)[0]["notes"] == {"forfeit": "the time was up"}


def test_the_clock_runs_while_the_table_is_put_away():
    """Whoever is losing could leave the page otherwise, and the other would have to sit there for the whole time."""
    with client(clock=1.0, limits={"idle_seconds": 0.1, "sweep_seconds": 0.05}) as server:
        table = open_table(server, "kuhn_poker_v0", ["person", "person"])
        ends = time.monotonic() + 20
        while not server.get("/api/tables").json()["tables"][0]["over"]:  # does not load the table
            assert time.monotonic() < ends
            time.sleep(0.05)
        with server.websocket_connect(f"/ws/{table['seats'][1]['link']}") as socket:
            assert [player["return"] for player in socket.receive_json()["players"]] == [-2.0, 2.0]


def test_an_overdue_table_that_cannot_be_loaded_does_not_stop_the_sweep(monkeypatch):
    async def find(host, link):
        raise FormatError(f"{link} is damaged")

    async def swept():
        host = Host(Settings())
        host._kept = {link: Kept(False, 0.0, (-1, -1, 0.0), due=0.0) for link in ("one", "other")}
        await host._load_overdue()
        await host.stop()
        return host._kept

    monkeypatch.setattr(Host, "find", find)
    assert asyncio.run(swept()) == {}


def test_nobody_can_make_another_person_wait_by_pausing_agents():
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", ["person", "person", "random"], options={"num_players": 3})
        with server.websocket_connect(f"/ws/{table['host']}") as socket:
            socket.receive_json()
            for how in ("pause", "step"):
                socket.send_json({"do": "run", "how": how})
                while (said := socket.receive_json())["type"] == "position":
                    pass
                assert "cannot be paused at a table of several people" in said["reason"]


def test_only_tables_of_several_people_have_a_clock_unless_they_ask_for_one():
    with client(clock=600.0) as server:
        clocks = []
        for seats, more in (
            (["person", "random"], {}),
            (["person", "person"], {}),
            (["person", "person"], {"clock": 0}),
            (["person", "random"], {"clock": 60}),
        ):
            table = open_table(server, "kuhn_poker_v0", seats, **more)
            with server.websocket_connect(f"/ws/{table['watch']}") as socket:
                clocks.append(socket.receive_json()["clock"])
        assert clocks == [0.0, 600.0, 0.0, 60.0]


def test_taking_moves_back_wins_no_time():
    with client(clock=1.5) as server:
        table = open_table(server, "gin_rummy_v0", ["person", "person"], seed=1)
        player = server.get(f"/api/view/{table['watch']}").json()["current_player"]
        with server.websocket_connect(f"/ws/{table['seats'][player]['link']}") as socket:
            seen = socket.receive_json()
            upcard = next(choice["action"] for choice in seen["choices"] if choice["label"] != "pass")
            for k in itertools.count():  # draws the card and puts it back, again and again
                assert k < 10_000, "the clock never runs out"
                message = {"do": "undo"} if seen["undo"] else {"do": "act", "intents": [{"action": upcard}]}
                socket.send_json(message | {"turn": seen["turn"]})
                news = socket.receive_json()
                seen = news if news["type"] == "position" else seen
                if seen["over"]:
                    break
                time.sleep(0.05)


@pytest.mark.parametrize("wrong", [{"think": -1}, {"think": 1e9}, {"clock": -1}, {"clock": 1e9}, {"clock": "long"}])
def test_wrong_times_are_refused(wrong):
    with client() as server:
        assert server.post("/api/tables", json={"game": "kuhn_poker_v0"} | wrong).status_code == 400


def test_nobody_stops_the_game_by_changing_who_plays(hesitant):
    """Each change of the player to act begins an agent's thinking anew, and no clock runs meanwhile."""
    hesitant(0.6)
    with client(clock=3.0) as server:
        table = open_table(server, "kuhn_poker_v0", ["person", "person"], deck="K J Q")
        with server.websocket_connect(f"/ws/{table['seats'][0]['link']}") as socket:
            seen, refused, ends = socket.receive_json(), 0, time.monotonic() + 20
            for name in itertools.cycle(["random", "person"]):
                socket.send_json({"do": "seat", "player": 0, "agent": name})
                seen = socket.receive_json()
                while seen["type"] == "refused":
                    refused, seen = refused + 1, socket.receive_json()
                if seen["current"] != 0 or seen["over"]:
                    break
                assert time.monotonic() < ends
                time.sleep(0.05)
    assert refused


def test_others_who_change_who_plays_for_them_do_not_delay_an_agent(hesitant):
    hesitant(0.6)
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", ["random", "person"], deck="K J Q")
        with server.websocket_connect(f"/ws/{table['seats'][1]['link']}") as socket:
            seen, started = socket.receive_json(), time.monotonic()
            for name in ["random", "person"] * 4:
                socket.send_json({"do": "seat", "player": 1, "agent": name})
                time.sleep(0.05)
            while seen["type"] != "position" or seen["current"] == 0:
                seen = socket.receive_json()
            assert time.monotonic() - started < 5.0
