"""Agents that fail at a table: the game waits where they cannot be asked, and says so where they answer badly."""

import threading
import time

import pytest
from served import client, free_port, open_table

pytest.importorskip("openai")

from cardenvs.agents.base import Failure
from cardenvs.agents.seating import FORCED, OK, Decision
from cardenvs.server import room as room_module
from cardenvs.server.names import seat_names


class Failing:
    """In place of an agent and its proxy: fails as it is told, quoting its hand, and then takes the first action.

    It decides only once the gate is open.
    """

    def __init__(self, player, kinds, gate):
        self._player, self._kinds, self._gate = player, kinds, gate

    def observe(self, state):
        pass

    end = observe

    def decide(self, state):
        assert self._gate.wait(30)
        kind = self._kinds.pop(0) if self._kinds else ""
        action, hand = state.legal_actions()[0], repr(state.view(self._player)["piles"])
        failures = (Failure(kind, hand),) if kind else ()
        notes = {"llm": {"prompt": hand}, "failed": [hand], "by": hand}
        return Decision(self._player, state.ply, action, FORCED if kind else OK, 0.0, failures, notes)

    def close(self):
        pass

    kill = close


@pytest.fixture
def failing(monkeypatch):
    """Every agent fails in these ways, one after the other, before it plays."""

    def with_kinds(*kinds, is_open=True):
        left, gate = list(kinds), threading.Event()
        if is_open:
            gate.set()
        monkeypatch.setattr(room_module, "seated", lambda spec, state, player, *_: Failing(player, left, gate))
        return gate

    return with_kinds


def until(socket, is_it):
    while True:
        said = socket.receive_json()
        if said["type"] == "position" and is_it(said):
            return said


def answer(socket, message, kind):
    socket.send_json(message)
    while (said := socket.receive_json())["type"] not in (kind, "refused"):
        pass
    return said


def log_of(socket, player, before=1000):
    return answer(socket, {"do": "log", "player": player, "before": before}, "log")


@pytest.mark.parametrize("kind", ["timeout", "transport", "rate_limited", "exception", "crash"])
def test_an_agent_that_cannot_be_asked_stops_the_game_until_a_person_lets_it_try_again(failing, kind):
    failing(kind, kind)
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", ["random", "person"])
        with server.websocket_connect(f"/ws/{table['seats'][1]['link']}") as socket:
            for tries in (1, 2):
                seen = until(socket, lambda said: said["stopped"])
                assert seen["current"] == 0
                assert seen["stopped"]["may_retry"]
                (entry,) = log_of(socket, 0)["entries"][:1]
                assert entry["number"] == tries - 1
                assert answer(socket, {"do": "retry"}, "position")["type"] == "position"
            assert until(socket, lambda said: said["current"] == 1)["stopped"] is None
            assert len(log_of(socket, 0)["entries"]) == 1  # both tries, kept with the move
            assert "no agent has stopped" in answer(socket, {"do": "retry"}, "refused")["reason"]


def test_who_only_watches_cannot_let_an_agent_try_again(failing):
    failing(*["timeout"] * 9)
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", ["random", "person"])
        with server.websocket_connect(f"/ws/{table['watch']}") as socket:
            assert not until(socket, lambda said: said["stopped"])["stopped"]["may_retry"]
            assert "only a player" in answer(socket, {"do": "retry"}, "refused")["reason"]


def test_any_player_can_let_the_usual_agent_play_for_one_that_has_stopped(failing):
    failing(*["timeout"] * 9)
    with client(agents={"mini": "random"}) as server:
        table = open_table(server, "kuhn_poker_v0", ["mini", "person", "person"], options={"num_players": 3})
        with server.websocket_connect(f"/ws/{table['seats'][2]['link']}") as socket:
            said = socket.receive_json()
            usual = said["usual"]
            if not said["stopped"]:
                until(socket, lambda said: said["stopped"])
            assert (
                "only the person" in answer(socket, {"do": "seat", "player": 0, "agent": "mini"}, "position")["reason"]
            )
            assert (
                "only the person" in answer(socket, {"do": "seat", "player": 1, "agent": usual}, "position")["reason"]
            )
            socket.send_json({"do": "seat", "player": 0, "agent": usual})
            assert until(socket, lambda said: said["players"][0]["by"] == usual)["stopped"] is None
        with server.websocket_connect(f"/ws/{table['watch']}") as socket:
            socket.receive_json()
            assert "refused" in answer(socket, {"do": "seat", "player": 0, "agent": usual}, "refused")["type"]


def test_bad_answers_are_followed_by_the_safe_action_and_a_word_to_people(failing):
    failing("illegal")
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", ["random", "person"])
        with server.websocket_connect(f"/ws/{table['seats'][1]['link']}") as socket:
            seen = until(socket, lambda said: said["current"] == 1)
            name = seat_names(table["watch"], 2)[0]
            assert seen["problem"] == f"random gave no valid answer, so the safe action was played for {name}"
            assert seen["stopped"] is None
            (entry,) = log_of(socket, 0)["entries"]
            assert entry["failed"] == [{"reason": "its choice was illegal", "times": 1}]


def test_a_dead_endpoint_of_a_language_model_stops_the_game(monkeypatch):
    monkeypatch.setenv("LLM_BASE_URL", f"http://127.0.0.1:{free_port()}/v1")
    monkeypatch.setenv("LLM_MODEL", "dead")
    with client(agents={"mini": "llm:env,transport_retries=0"}, show_errors=True) as server:
        table = open_table(server, "kuhn_poker_v0", ["mini", "person"])
        with server.websocket_connect(f"/ws/{table['seats'][1]['link']}") as socket:
            stopped = until(socket, lambda said: said["stopped"])["stopped"]
            assert stopped["agent"] == "mini"
            assert "endpoint cannot be reached" in stopped["reason"]
            assert "onnect" in stopped["detail"]


def test_two_bad_replies_of_a_language_model_are_kept_and_a_safe_action_is_played(monkeypatch, tmp_path):
    (tmp_path / "llm.yaml").write_text("models: {bad: {policy: scripted, script: [fold], attempts: 2}}")
    monkeypatch.setenv("CARDENVS_LLM_CONFIG", str(tmp_path / "llm.yaml"))
    with client(agents={"bad": "llm:bad"}) as server:
        table = open_table(server, "kuhn_poker_v0", ["bad", "person"])
        with server.websocket_connect(f"/ws/{table['seats'][1]['link']}") as socket:
            seen = until(socket, lambda said: said["current"] == 1)
            assert seen["problem"].startswith("bad gave no valid answer")
            assert log_of(socket, 0)["entries"][0]["failed"] == [
                {"reason": "its reply had no valid answer", "times": 2}
            ]
            turn = seen["turn"]
            socket.send_json({"do": "act", "turn": turn, "intents": [{"action": 0}]})
            until(socket, lambda said: said["over"])
            log = log_of(socket, 0)
            assert log["is_full"]
            assert [call["reply"] for call in log["entries"][-1]["notes"]["llm"]["calls"]] == ["fold", "fold"]


def test_nobody_stops_the_clock_with_an_agent_that_cannot_be_asked(failing):
    failing(*["timeout"] * 9999)
    with client(clock=1.0) as server:
        table = open_table(server, "kuhn_poker_v0", ["person", "person"])
        with server.websocket_connect(f"/ws/{table['seats'][0]['link']}") as socket:
            while not (seen := socket.receive_json()).get("over"):
                if seen["type"] == "position" and seen["players"][0]["by"] == "person":
                    if seen["problem"]:
                        name = seat_names(table["watch"], 2)[0]
                        assert seen["problem"] == f"random can no longer play for {name}: it did not answer in time"
                    time.sleep(0.05)
                    socket.send_json({"do": "seat", "player": 0, "agent": "random"})
            assert seen["players"][0]["return"] < 0 < seen["players"][1]["return"]


def test_an_agent_that_the_server_no_longer_has_is_replaced(tmp_path):
    data = str(tmp_path / "tables.db")
    with client(data=data, agents={"mini": "random"}, pace=60.0) as server:
        table = open_table(server, "kuhn_poker_v0", ["mini", "person"])
    with client(data=data) as server, server.websocket_connect(f"/ws/{table['host']}") as socket:
        assert until(socket, lambda said: said["stopped"])["stopped"]["agent"] == "mini"
        socket.send_json({"do": "seat", "player": 0, "agent": "random"})
        assert until(socket, lambda said: said["current"] == 1)["players"][0]["by"] == "random"


# ---------------------------------------------------------------------------------------------------------------
# What the log and the notice say


@pytest.mark.parametrize("kind", ["timeout", "illegal", "my own word"])
@pytest.mark.parametrize("show_errors", [False, True])
def test_in_twin_worlds_failures_look_the_same(same_secrets, failing, kind, show_errors):
    worlds = []
    for deck in ("K Q J", "J Q K"):
        same_secrets()
        gate = failing(kind, is_open=False)
        with client(show_errors=show_errors) as server:
            seats = ["random", "person", "person"]
            table = open_table(server, "leduc_poker_v0", seats, deck=deck, options={"num_players": 3})
            got = []
            for link in (table["seats"][1]["link"], table["watch"], table["host"]):
                with server.websocket_connect(f"/ws/{link}") as socket:
                    if not gate.is_set():  # the first one is here before the agent decides
                        until(socket, lambda said: said["current"] == 0)
                        gate.set()
                    said = until(socket, lambda said: said["stopped"] or said["current"] == 1)
                    got.append({key: said[key] for key in ("stopped", "problem", "turn", "events")})
                    got += [log_of(socket, player) for player in (0, 1)]
            worlds.append(got)
    assert worlds[0] == worlds[1]
    assert "hand" not in repr(worlds[0])


def test_a_lone_player_sees_an_agents_own_words_only_if_the_owner_allows_it(failing):
    for allowed, says in ((False, ""), (True, "hand.0")):
        failing("timeout")
        with client(show_errors=allowed) as server:
            table = open_table(server, "kuhn_poker_v0", ["random", "person"])
            for link, is_told in ((table["seats"][1]["link"], allowed), (table["watch"], False)):
                with server.websocket_connect(f"/ws/{link}") as socket:
                    detail = until(socket, lambda said: said["stopped"])["stopped"]["detail"]
                    assert (says in detail and bool(detail)) if is_told else detail == ""


def test_the_whole_log_is_for_whoever_may_see_the_seat_and_for_all_at_the_end(failing):
    failing()
    with client(pace=0.0) as server:
        agents = open_table(server, "leduc_poker_v0", ["random", "random"])
        with server.websocket_connect(f"/ws/{agents['host']}") as socket:
            until(socket, lambda said: said["over"])
            assert log_of(socket, 0)["is_full"]
        table = open_table(server, "kuhn_poker_v0", ["random", "person"])
        with server.websocket_connect(f"/ws/{table['seats'][1]['link']}") as socket:
            seen = until(socket, lambda said: said["current"] == 1)
            assert log_of(socket, 0) == {"type": "log", "player": 0, "entries": [], "is_full": False}
            socket.send_json({"do": "act", "turn": seen["turn"], "intents": [{"action": 0}]})
            until(socket, lambda said: said["over"])
        with server.websocket_connect(f"/ws/{table['watch']}") as socket:
            entry = log_of(socket, 0)["entries"][-1]
            assert "hand.0" in entry["notes"]["llm"]["prompt"]
            assert "by" not in entry["notes"]  # only the server writes that
            assert log_of(socket, 0, before=0)["entries"] == []
            assert "a player must be a number from 0 to 1" in log_of(socket, 2)["reason"]


@pytest.mark.parametrize("with_people", [False, True])
def test_beside_people_nothing_is_remembered_for_a_language_model(monkeypatch, tmp_path, with_people):
    (tmp_path / "llm.yaml").write_text("models: {first: {policy: first_candidate}}")
    monkeypatch.setenv("CARDENVS_LLM_CONFIG", str(tmp_path / "llm.yaml"))
    with client(agents={"first": "llm:first"}) as server:
        table = open_table(server, "gin_rummy_v0", ["first", "person" if with_people else "first"])
        link = table["seats"][1]["link"] if with_people else table["host"]
        with server.websocket_connect(f"/ws/{link}") as socket:
            if not with_people:
                until(socket, lambda said: said["over"])
            else:
                seen = until(socket, lambda said: said["current"] == 1)
                socket.send_json({"do": "leave", "turn": seen["turn"]})
                until(socket, lambda said: said["over"])
            notes = log_of(socket, 0)["entries"][-1]["notes"]["llm"]
    assert ('"not_seen_yet"' in notes["prompt"]) == (not with_people)
