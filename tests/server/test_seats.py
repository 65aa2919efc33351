"""Who plays a seat may change during a game; nobody gets to see cards that were another person's, or a second hand."""

import pytest
from served import PERSON, act, client, new_table, open_table

from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.server import room as room_module
from cardenvs.server.names import seat_names
from cardenvs.server.records import Records
from cardenvs.server.table import RefusedError

USUAL = "random"  # the default opponent of Kuhn poker


def change(table, link, player, agent, is_here=False):
    return table.change_seat(link, player, agent, is_here, think=0.5)


def test_a_person_lets_an_agent_play_and_plays_again():
    records = Records(":memory:")
    table = new_table("kuhn_poker_v0", [PERSON, PERSON], records=records)
    before = table.show(SPECTATOR).turn
    assert change(table, "seat_0", 0, "random", is_here=True) == ""
    assert table.agent_to_act == "random"
    assert table.show(SPECTATOR).turn == before + 1  # everybody sees who plays
    kept = records.find("seat_0")
    assert [(seat.agent, seat.link) for seat in kept.seats] == [("random", "seat_0"), (PERSON, "seat_1")]
    table.decide(0, {})
    assert table.moves[-1].notes == {"by": "random"}
    change(table, "seat_0", 0, PERSON, is_here=True)
    assert table.agent_to_act == PERSON
    act(1, table, "bet")
    act(0, table, "fold")
    assert table.replay().players == ("person", "person")


def test_nobody_else_may_change_a_persons_seat():
    table = new_table("kuhn_poker_v0", [PERSON, PERSON, "random"][:2])
    for link in ("seat_1", "watch", "", "nonsense"):
        for agent in ("random", PERSON):
            with pytest.raises(RefusedError, match="only the person whose seat it is"):
                change(table, link, 0, agent)
    for agent, is_here, says in (
        (USUAL, True, "they are here"), ("search", False, f"only {USUAL} can play"), (PERSON, False, "only random"),
    ):  # fmt: skip
        with pytest.raises(RefusedError, match=says):
            change(table, "host", 0, agent, is_here)
    assert table.record.seats[0].agent == PERSON


def test_the_usual_opponent_plays_for_somebody_away_until_they_come_back():
    table = new_table("kuhn_poker_v0", [PERSON, PERSON])
    change(table, "host", 0, USUAL)
    for agent in ("search", PERSON, USUAL):
        with pytest.raises(RefusedError, match="an agent plays for them"):
            change(table, "host", 0, agent)
    assert not table.may_watch(0, "host")
    assert not table.may_watch(OMNISCIENT, "host")
    assert table.may_watch(0, "seat_0")
    change(table, "seat_0", 0, PERSON, is_here=True)
    assert table.agent_to_act == PERSON


def test_all_seats_with_agents_show_the_host_no_hand_of_a_person():
    table = new_table("kuhn_poker_v0", [PERSON, "random"])
    change(table, "seat_0", 0, "random", is_here=True)
    for viewer in (0, 1, OMNISCIENT):
        assert not table.may_watch(viewer, "host")
    assert not table.log(0, "host", 100)["is_full"]
    assert table.log(0, "seat_0", 100)["is_full"]


def test_whoever_opened_the_table_seats_other_agents():
    table = new_table("kuhn_poker_v0", ["random", PERSON])
    change(table, "host", 0, "search")
    assert table.agent_to_act == "search"
    with pytest.raises(RefusedError, match="whoever opened the table"):
        change(table, "seat_1", 0, "random")
    with pytest.raises(RefusedError, match="only at a table without people"):
        change(table, "host", 0, PERSON)


def test_one_seat_of_a_table_without_people_is_opened_to_a_person():
    records = Records(":memory:")
    table = new_table("kuhn_poker_v0", ["random", "random"], records=records)
    assert table.may_watch(OMNISCIENT, "host")
    link = change(table, "host", 1, PERSON)
    assert len(link) > 20
    assert records.find(link).watch == "watch"
    assert records.find(link).think == 0.5
    assert table.seat_of(link) == 1
    assert table.may_watch(1, link)
    assert not table.may_watch(OMNISCIENT, "host")
    assert not table.may_watch(0, link)
    with pytest.raises(RefusedError, match="only at a table without people"):
        change(table, "host", 0, PERSON)


def test_nothing_changes_after_the_end():
    table = new_table("kuhn_poker_v0", [PERSON, PERSON])
    act(0, table, "pass")
    act(1, table, "pass")
    with pytest.raises(RefusedError, match="over"):
        change(table, "seat_0", 0, "random")


def position(socket, is_it=lambda said: True):
    while True:
        said = socket.receive_json()
        assert said["type"] in ("position", "link"), said
        if said["type"] == "position" and is_it(said):
            return said


def test_over_the_socket_an_agent_plays_for_a_person_who_then_plays_again():
    with client() as server:
        table = open_table(server, "leduc_poker_v0", ["person", "person"])
        with (
            server.websocket_connect(f"/ws/{table['seats'][0]['link']}") as one,
            server.websocket_connect(f"/ws/{table['host']}") as host,
        ):
            turn = position(one)["turn"]
            one.send_json({"do": "seat", "player": 0, "agent": "random"})
            seen = position(one, lambda said: said["current"] == 1)
            assert seen["players"][0] | {"return": 0} == {
                "name": seat_names(table["watch"], 2)[0],
                "by": "random",
                "person": True,
                "return": 0,
            }
            assert not position(host, lambda said: said["current"] == 1)["sees_all"]
            for message, says in (
                ({"do": "act", "turn": turn, "intents": [{"action": 1}]}, "take your seat back"),
                ({"do": "seat", "player": 1, "agent": "random"}, "only the person"),
                ({"do": "seat", "player": 0, "agent": "llm:gpt"}, "no such agent"),
                ({"do": "seat", "player": 2, "agent": "random"}, "a player must be"),
            ):
                one.send_json(message)
                assert says in one.receive_json()["reason"]
            one.send_json({"do": "seat", "player": 0, "agent": "person"})
            assert position(one, lambda said: said["players"][0]["by"] == "person")


def test_whoever_sees_everything_no_longer_does_once_a_person_sits_down():
    with client(pace=60.0) as server:
        table = open_table(server, "leduc_poker_v0", ["random", "random"])
        with server.websocket_connect(f"/ws/{table['host']}") as socket:
            socket.send_json({"do": "watch", "viewer": "everything"})
            position(socket, lambda said: said["viewer"] == "everything")
            socket.send_json({"do": "seat", "player": 0, "agent": "person"})
            said = [socket.receive_json(), socket.receive_json()]
            (seen,) = [one for one in said if one["type"] == "position"]
            (said,) = [one for one in said if one["type"] == "link"]
            assert seen["viewer"] == "spectator"
            assert not seen["sees_all"]
            with server.websocket_connect(f"/ws/{said['link']}") as own:
                assert position(own)["seat"] == said["player"] == 0
                own.send_json({"do": "watch", "viewer": "everything"})
                assert own.receive_json()["type"] == "refused"


def test_a_page_that_is_loaded_again_is_no_absence(monkeypatch):
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", ["person", "person"])
        with server.websocket_connect(f"/ws/{table['host']}") as host:
            position(host)
            with server.websocket_connect(f"/ws/{table['seats'][0]['link']}") as one:
                position(one)
            position(host, lambda said: said["here"] == [])
            host.send_json({"do": "seat", "player": 0, "agent": USUAL})
            while (said := host.receive_json())["type"] == "position":
                pass
            assert "they are here" in said["reason"]
            monkeypatch.setattr(room_module, "_AWAY_SECONDS", 0.0)
            host.send_json({"do": "seat", "player": 0, "agent": USUAL})
            position(host, lambda said: said["players"][0]["by"] == USUAL)
