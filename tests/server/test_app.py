"""The server over HTTP and sockets: what it gives, what it refuses, what it bounds."""

import json
import time

import pytest
from served import client, frames, new_table, open_table
from starlette.websockets import WebSocketDisconnect

from cardenvs.arena import Match, run_match
from cardenvs.core.game_view import game_view_schema
from cardenvs.core.registry import get_game, list_games
from cardenvs.core.replay import Replay
from cardenvs.server.names import seat_names
from cardenvs.server.table import Table

PEOPLE = ["person", "person"]


def position(socket):
    message = socket.receive_json()
    assert message["type"] == "position", message
    return message


def seat_link(table, player=0):
    return f"/ws/{table['seats'][player]['link']}"


def test_every_game_can_be_opened_as_the_form_offers_it():
    with client() as server:
        for game in server.get("/api/games").json()["games"]:
            defaults = {option["name"]: option["default"] for option in game["options"]}
            found = get_game(game["name"])
            assert found.make_options(**defaults) == found.make_options()
            assert {option["kind"] for option in game["options"]} <= {"choice", "flag", "list", "number"}
            assert game["default_opponent"] in game["agents"]
        assert [game["name"] for game in server.get("/api/games").json()["games"]] == list_games()


def test_options_come_as_texts_and_are_checked():
    with client() as server:
        options = {"num_players": "3", "ante": "5"}
        table = open_table(
            server, "leduc_poker_v0", ["person", "random", "heuristic"][:1] + ["random"] * 2, options=options
        )
        view = server.get(f"/api/view/{table['watch']}").json()
        assert len(view["players"]) == 3
        wrong = server.post("/api/tables", json={"game": "leduc_poker_v0", "options": {"ante": "0"}})
        assert wrong.status_code == 400
        assert "ante takes an integer from 1" in wrong.json()["error"]["message"]


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        ({"game": "kuhn_poker"}, None),
        ({"game": "poker"}, "no game named"),
        ({"game": "kuhn_poker_v0", "seats": ["person"]}, "2 players need 2 seats"),
        ({"game": "kuhn_poker_v0", "seats": ["person", "ppo:/etc/passwd"]}, "a seat must be person or one of"),
        ({"game": "kuhn_poker_v0", "seats": ["person", "python:os:system"]}, "a seat must be person or one of"),
        (
            {"game": "kuhn_poker_v0", "seats": ["person", "search:simulations=1000000"]},
            "a seat must be person or one of",
        ),
        ({"game": "kuhn_poker_v0", "seats": [{}, "random"]}, "a seat must be person or one of"),
        ({"game": "kuhn_poker_v0", "seats": [["person"], None]}, "a seat must be person or one of"),
        ({"game": "kuhn_poker_v0", "options": {"\ud800": "red"}}, "unknown option"),
        ({"game": "kuhn_poker_v0", "deck": "\ud800"}, "is not one of"),
        ({"game": "kuhn_poker_v0", "seed": -1}, "a seed must be"),
        ({"game": "kuhn_poker_v0", "seed": True}, "wrong type"),
        ({"game": "kuhn_poker_v0", "deck": "Z"}, "is not one of"),
        ({"game": "kuhn_poker_v0", "options": {"colour": "red"}}, "unknown option"),
        ({"game": ["kuhn_poker_v0"]}, "wrong type"),
        ({"games": 1}, "the request must be an object with only"),
        ([], "the request must be an object with only"),
    ],
)
def test_a_wrong_request_gets_a_reason_and_opens_nothing(request_, says):
    with client() as server:
        headers = {"content-type": "application/json"}
        answer = server.post("/api/tables", content=json.dumps(request_), headers=headers)
        if says is None:
            assert answer.status_code == 201
            return
        assert answer.status_code == 400
        assert says in answer.json()["error"]["message"]
        assert server.get("/api/tables").json() == {"tables": []}


def test_bodies_are_bounded_and_json():
    with client(limits={"body_bytes": 1000}) as server:
        assert (
            server.post("/api/tables", content=b"x" * 2000, headers={"content-type": "application/json"}).status_code
            == 413
        )
        assert server.post("/api/tables", content=b"{", headers={"content-type": "application/json"}).status_code == 400
        assert (
            server.post("/api/tables", content=b"[" * 900, headers={"content-type": "application/json"}).status_code
            == 400
        )
        assert server.post("/api/tables", data={"game": "kuhn_poker_v0"}).status_code == 415
        assert server.get("/api/nothing").json()["error"]["code"] == "not_found"


def test_other_sites_and_other_names_are_refused():
    with client() as server:
        body = {"game": "kuhn_poker_v0"}
        assert server.post("/api/tables", json=body, headers={"origin": "http://elsewhere.example"}).status_code == 403
        assert server.post("/api/tables", json=body, headers={"origin": "http://testserver"}).status_code == 201
        assert server.get("/", headers={"host": "elsewhere.example"}).status_code == 400
        table = open_table(server, "kuhn_poker_v0", PEOPLE)
        with (
            server.websocket_connect(seat_link(table), headers={"origin": "http://elsewhere.example"}) as socket,
            pytest.raises(WebSocketDisconnect),
        ):
            socket.receive_json()


def test_every_answer_has_security_headers():
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", PEOPLE)
        for path in ("/", f"/t/{table['watch']}", "/api/tables", "/assets/table.js", "/api/nothing"):
            headers = server.get(path).headers
            assert "default-src 'none'" in headers["content-security-policy"], path
            assert "unsafe" not in headers["content-security-policy"], path
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"


def test_pages_ask_no_other_host_for_anything():
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", PEOPLE)
        for path in ("/", f"/t/{table['watch']}", "/assets/app.css", "/assets/table.js", "/assets/lobby.js"):
            text = server.get(path).text
            assert "http://" not in text.replace("http://www.w3.org", ""), path
            assert "https://" not in text, path


def test_a_link_shows_its_viewer_only():
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", PEOPLE, deck="Q J K")
        assert "token" not in json.dumps(server.get(f"/api/view/{table['host']}").json()["viewer"])
        for link, viewer in (
            (table["seats"][0]["link"], 0),
            (table["watch"], "spectator"),
            (table["host"], "spectator"),
        ):
            view = server.get(f"/api/view/{link}").json()
            assert view["viewer"] == viewer
        assert server.get("/api/view/wrong").status_code == 404
        for path in ("replay", "replay.json", "review"):
            assert server.get(f"/t/{table['seats'][0]['link']}/{path}").status_code == 409
        with server.websocket_connect("/ws/wrong") as socket, pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_json()
        assert closed.value.code == 4404


def test_views_fit_the_schema():
    schemas = pytest.importorskip("jsonschema_rs")
    with client() as server:
        table = open_table(server, "gin_rummy_v0", PEOPLE)
        schemas.validate(game_view_schema(), server.get(f"/api/view/{table['seats'][0]['link']}").json())


def test_ids_of_tokens_differ_between_viewers_and_tables():
    found = []
    with client() as server:
        for _ in range(2):
            table = open_table(server, "gin_rummy_v0", PEOPLE, seed=3)
            for link in (table["seats"][0]["link"], table["watch"]):
                piles = server.get(f"/api/view/{link}").json()["piles"]
                found.append({token["id"] for pile in piles for token in pile["tokens"] if "id" in token})
    assert all(found)
    for k, ids in enumerate(found):
        for other in found[k + 1 :]:
            assert not ids & other


def test_two_people_play_to_the_end_and_see_the_replay():
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", PEOPLE)
        with server.websocket_connect(seat_link(table, 0)) as one, server.websocket_connect(seat_link(table, 1)) as two:
            first, second = position(one), position(two)
            one.send_json({"do": "act", "turn": first["turn"], "intents": [{"action": "bet"}]})
            while second["current"] != 1:
                second = position(two)
            assert f"{seat_names(table['watch'], 2)[0]} puts in a chip" in " ".join(second["log"])
            two.send_json({"do": "act", "turn": second["turn"], "intents": [{"action": "fold"}]})
            while not first["over"]:
                first = position(one)
        assert "<svg" in server.get(f"/t/{table['watch']}/replay").text
        saved = server.get(f"/t/{table['watch']}/replay.json")
        assert saved.json()["actions"] == [1, 0]
        brought = server.post("/api/replays", content=saved.content, headers={"content-type": "application/json"})
        assert "<svg" in server.get(f"/brought/{brought.json()['name']}").text
        review = server.get(f"/t/{table['watch']}/review")
        assert "Turning points" in review.text
        assert "sandbox" in review.headers["content-security-policy"]
        assert [one["over"] for one in server.get("/api/tables").json()["tables"]] == [True]


def test_a_brought_replay_is_checked():
    headers = {"content-type": "application/json"}
    with client() as server:
        for text, says in (
            ("{}", "not a cardenvs replay"),
            ("[1", "cannot be read as JSON"),
            (json.dumps({"actions": [0] * 6000}), "more than 5000 actions"),
        ):
            answer = server.post("/api/replays", content=text, headers=headers)
            assert answer.status_code == 400
            assert says in answer.json()["error"]["message"]
            assert answer.json()["error"]["message"].startswith(("the replay", "a replay"))


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ({"do": "dance"}, 'a message must be an object whose "do" is one of'),
        ({"do": "act", "turn": "1", "intents": []}, "'turn' should be of type int"),
        ({"do": "act", "turn": 1, "intents": []}, "a play must have 1 to 200 actions"),
        ({"do": "act", "turn": 1, "intents": [{"action": 99}]}, "ids of actions are 0 to 1"),
        ({"do": "act", "turn": 0, "intents": [{"action": 0}]}, "the table has changed"),
        ({"do": "act", "turn": 1, "intents": [{"action": 1 << 27}]}, "ids of actions are 0 to 1"),
        ({"do": "watch", "viewer": 1}, "you may not see that"),
        ({"do": "watch", "viewer": 5}, "a viewer must be"),
        ({"do": "run", "how": "pause"}, "only whoever opened the table"),
        ({"do": "pace", "seconds": 5}, "only whoever opened the table"),
        ({"do": "hint", "turn": 1, "agent": "llm:gpt"}, "there is no such agent"),
        ({"do": "undo", "turn": 1}, "no move can be taken back"),
    ],
)
def test_a_wrong_message_gets_a_reason_and_changes_nothing(message, says):
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", PEOPLE)
        with server.websocket_connect(seat_link(table)) as socket:
            first = position(socket)
            socket.send_json(message | ({"turn": first["turn"]} if message.get("turn") == 1 else {}))
            answer = socket.receive_json()
            assert answer["type"] == "refused"
            assert says in answer["reason"]
            assert server.get(f"/api/view/{table['seats'][0]['link']}").json()["current_player"] == 0


def test_broken_messages_do_not_close_the_socket():
    with client(limits={"message_bytes": 1000}) as server:
        table = open_table(server, "kuhn_poker_v0", PEOPLE)
        with server.websocket_connect(seat_link(table)) as socket:
            position(socket)
            for text in ("", "{", "[" * 900, "x" * 2000, "null"):
                socket.send_text(text)
                assert socket.receive_json()["type"] == "refused"


def test_a_message_is_text_and_its_do_is_a_word():
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", PEOPLE)
        with server.websocket_connect(seat_link(table)) as socket:
            position(socket)
            for do in ([], {}, None, 1, [["act"]]):
                socket.send_json({"do": do})
                assert "a message must be an object" in socket.receive_json()["reason"]
            socket.send_bytes(b'{"do": "undo", "turn": 1}')
            assert socket.receive_json() == {"type": "refused", "reason": "a message must be text, not bytes"}


def test_an_error_of_the_server_is_said_and_logged(monkeypatch, caplog):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(Table, "act", broken)
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", PEOPLE)
        with server.websocket_connect(seat_link(table)) as socket:
            turn = position(socket)["turn"]
            for _ in range(2):
                socket.send_json({"do": "act", "turn": turn, "intents": [{"action": 0}]})
                assert "something went wrong here" in socket.receive_json()["reason"]
    assert "ZeroDivisionError" in caplog.text


def test_an_origin_that_cannot_be_read_is_another_site():
    headers = {"origin": "http://["}
    with client() as server:
        for path, body in (("/api/tables", {"game": "kuhn_poker_v0"}), ("/api/replays", {})):
            assert server.post(path, json=body, headers=headers).status_code == 403
        assert server.post("/game/start", json={"mode": "practice"}, headers=headers).status_code == 403
        table = open_table(server, "kuhn_poker_v0", PEOPLE)
        with (
            server.websocket_connect(seat_link(table), headers=headers) as socket,
            pytest.raises(WebSocketDisconnect),
        ):
            socket.receive_json()


def test_floods_are_slowed_down_or_cut_off():
    with client(limits={"messages_per_second": 1.0, "new_tables_per_minute": 3, "connections_per_table": 1}) as server:
        tables = [open_table(server, "kuhn_poker_v0", PEOPLE) for _ in range(3)]
        refused = server.post("/api/tables", json={"game": "kuhn_poker_v0"})
        assert refused.status_code == 429
        watch = f"/ws/{tables[0]['watch']}"
        with server.websocket_connect(watch), server.websocket_connect(seat_link(tables[0])) as socket:
            with server.websocket_connect(watch) as second, pytest.raises(WebSocketDisconnect):
                second.receive_json()
            position(socket)  # a player gets in while spectators take all their places
            started = time.monotonic()
            for _ in range(8):  # four at once, then one a second
                socket.send_json({"do": "watch", "viewer": 1})
            assert [socket.receive_json()["type"] for _ in range(8)] == ["refused"] * 8
            assert time.monotonic() - started > 2


def test_the_number_of_games_under_way_is_bounded():
    with client(limits={"tables": 1}) as server:
        waiting = open_table(server, "kuhn_poker_v0", PEOPLE)
        again = open_table(server, "kuhn_poker_v0", PEOPLE)  # nobody looks at the first, so it is put away
        assert server.get(f"/api/view/{waiting['watch']}").status_code == 200  # and comes back
        with (
            server.websocket_connect(seat_link(again)) as socket,
            server.websocket_connect(seat_link(waiting)) as other,
        ):
            position(socket)
            position(other)
            refused = server.post("/api/tables", json={"game": "kuhn_poker_v0"})
            assert "allows 1 unfinished games" in refused.json()["error"]["message"]


def test_tables_that_nobody_looks_at_make_room_also_if_their_agents_are_paused_or_play():
    """One visitor could fill the server for days otherwise, and would need no connection."""
    agents = ["random", "random"]
    with client(limits={"tables": 2}, pace=60.0) as server:
        playing, paused = (open_table(server, "leduc_poker_v0", agents) for _ in range(2))
        with server.websocket_connect(f"/ws/{paused['host']}") as socket:
            position(socket)
            socket.send_json({"do": "run", "how": "pause"})
            assert position(socket)["paused"]
        for _ in range(2):  # the paused one is put away first, then the one at which agents play
            open_table(server, "kuhn_poker_v0", PEOPLE)
        for table, is_paused in ((paused, True), (playing, False)):
            with server.websocket_connect(f"/ws/{table['host']}") as socket:
                assert position(socket)["paused"] == is_paused  # as it was left


def test_the_file_of_tables_is_for_its_owner_only(tmp_path):
    with client(data=str(tmp_path / "tables.db")) as server:
        open_table(server, "kuhn_poker_v0", PEOPLE)
        for file in tmp_path.iterdir():
            assert file.stat().st_mode & 0o077 == 0, file


def test_agents_play_and_whoever_opened_the_table_controls_them():
    with client(pace=60.0) as server:
        table = open_table(server, "leduc_poker_v0", ["random", "heuristic"][:1] * 2)
        with server.websocket_connect(f"/ws/{table['host']}") as socket:
            assert position(socket)["sees_all"]
            for message in (
                {"do": "watch", "viewer": "everything"},
                {"do": "pace", "seconds": 0},
                {"do": "run", "how": "go"},
            ):
                socket.send_json(message)
            seen = position(socket)
            while seen["viewer"] != "everything":
                seen = position(socket)
        again = open_table(server, "leduc_poker_v0", ["random", "random"])
        with server.websocket_connect(f"/ws/{again['watch']}") as socket:
            assert not position(socket)["controls"]
            socket.send_json({"do": "watch", "viewer": "everything"})
            answer = socket.receive_json()
            assert answer["type"] == "refused"


def test_a_game_of_agents_is_watched_to_its_end_and_has_their_notes():
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", ["search", "random"])
        with server.websocket_connect(f"/ws/{table['watch']}") as socket:
            seen = position(socket)
            while not seen["over"]:
                seen = position(socket)
        page = server.get(f"/t/{table['watch']}/replay").text
    assert any("worlds" in json.dumps(frame.get("notes")) for frame in frames(page))


def test_a_hint_is_what_the_agent_would_do():
    with client() as server:
        table = open_table(server, "gin_rummy_v0", PEOPLE, seed=1)
        player = server.get(f"/api/view/{table['watch']}").json()["current_player"]
        with server.websocket_connect(seat_link(table, player)) as socket:
            turn = position(socket)["turn"]
            socket.send_json({"do": "hint", "turn": turn, "agent": "heuristic"})
            hint = socket.receive_json()
            assert hint["type"] == "hint"
            assert hint["label"] in [choice["label"] for choice in position_of(server, table, player)["choices"]]
            socket.send_json({"do": "plays", "turn": turn})
            assert socket.receive_json()["plays"]


def position_of(server, table, player):
    return server.get(f"/api/view/{table['seats'][player]['link']}").json()


def test_narrow_screens_get_narrow_pictures():
    with client() as server:
        table = open_table(server, "gin_rummy_v0", PEOPLE)
        with server.websocket_connect(seat_link(table)) as socket:
            wide = position(socket)
            socket.send_json({"do": "look", "narrow": True})
            narrow = position(socket)
        with server.websocket_connect(seat_link(table) + "?narrow") as socket:
            assert position(socket)["width"] == narrow["width"]
    assert (wide["width"], narrow["width"]) == (960, 360)
    assert narrow["height"] / narrow["width"] > wide["height"] / wide["width"]
    assert narrow["turn"] == wide["turn"]


def test_replays_and_stores_are_shown_by_number(tmp_path):
    state = new_table("kuhn_poker_v0", ["", ""]).state
    for action in (0, 0):
        state.apply(action)
    Replay.of(state).save(tmp_path / "game.json")
    match = Match.of("kuhn_poker_v0", ["random", "random"], deals=2, seed=1)
    run_match(match, store=tmp_path / "games.db")
    with client(replays=(tmp_path / "game.json",), stores=(tmp_path / "games.db",)) as server:
        listed = server.get("/api/recorded")
        assert str(tmp_path) not in listed.text
        assert "<svg" in server.get("/replays/0").text
        assert "sandbox" in server.get("/replays/0").headers["content-security-policy"]
        games = server.get("/stores/0").json()["games"]
        assert len(games) == 4
        where = "/".join(str(games[0][name]) for name in ("match", "deal", "lineup"))
        assert "<svg" in server.get(f"/stores/0/{where}").text
        for path in ("/replays/1", "/stores/1", "/stores/0/none/0/0", f"/stores/1/{where}", "/brought/none"):
            assert server.get(path).status_code in (400, 404), path
            assert str(tmp_path) not in server.get(path).text


# -- your tables ------------------------------------------------------------------------------------------------


def mine(server, *links):
    return server.post("/api/tables/mine", json={"links": list(links)}).json()["tables"]


def test_who_knows_links_learns_about_their_tables_and_no_others():
    with client() as server:
        first = open_table(server, "kuhn_poker_v0", ["person", "random"], deck="K J Q")
        other = open_table(server, "leduc_poker_v0", PEOPLE)
        seat = first["seats"][0]["link"]
        found = mine(server, seat, "nonsense", first["host"], other["seats"][1]["link"])
        assert [(one["game"], one["seat"]) for one in found] == [
            ("kuhn_poker_v0", 0), ("kuhn_poker_v0", None), ("leduc_poker_v0", 1)
        ]  # fmt: skip
        assert [one["your_turn"] for one in found] == [True, False, False]
        assert found[0]["link"] == seat
        assert not found[0]["over"]
        secrets = {other["host"], other["seats"][0]["link"], first["watch"]}
        assert not secrets & {text for one in found for text in map(str, one.values())}


@pytest.mark.parametrize(
    "wrong", [[], {}, {"links": "x"}, {"links": [1]}, {"links": ["x"] * 51}, {"links": [], "a": 1}]
)
def test_a_wrong_list_of_links_is_refused(wrong):
    with client() as server:
        answer = server.post("/api/tables/mine", json=wrong)
        assert answer.status_code == 400
        assert "at most 50" in answer.json()["error"]["message"]


@pytest.mark.parametrize("text", ["efg_game(filename=/etc/passwd)", "leduc_poker", "misere(game=" * 5000])
def test_strangers_name_registered_games_only(text):
    with client() as server:
        answers = [server.post("/api/tables", json={"game": f"openspiel:{text}"})]
        replay = json.loads(Replay.of(get_game("kuhn_poker_v0").new_state(seed=1)).text())
        answers.append(server.post("/api/replays", json=replay | {"game": f"openspiel:{text}"}))
        for answer in answers:
            assert answer.status_code == 400
            assert "no game named 'openspiel:" in answer.json()["error"]["message"]
            assert len(answer.text) < 4000


def test_odd_values_are_refused_and_break_nothing(caplog):
    with client() as server:
        headers = {"content-type": "application/json"}
        mine = server.post("/api/tables/mine", content='{"links": ["\\ud800", "x"]}', headers=headers)
        assert mine.status_code == 200
        for name in ("think", "clock"):
            refused = server.post("/api/tables", json={"game": "kuhn_poker_v0", name: 1e-320})
            assert refused.status_code == 400
            assert f"'{name}' must be 0, or 0.001 to" in refused.json()["error"]["message"]
        table = open_table(server, "kuhn_poker_v0", PEOPLE)
        with server.websocket_connect(seat_link(table)) as socket:
            turn = position(socket)["turn"]
            socket.send_json({"do": "act", "turn": turn, "intents": [{"action": "player_" + "1" * 5000}]})
            assert socket.receive_json()["type"] == "refused"
    assert "Traceback" not in caplog.text


def test_files_that_are_gone_do_not_show_their_path(tmp_path, caplog):
    for name in ("game.json", "games.db"):
        (tmp_path / name).write_text("damaged", encoding="utf-8")
    with client(replays=(tmp_path / "game.json",), stores=(tmp_path / "games.db",)) as server:
        for _ in range(2):
            for path in ("/replays/0", "/stores/0", "/stores/0/m/0/0"):
                answer = server.get(path)
                assert answer.status_code == 400
                assert str(tmp_path) not in answer.text
                assert "is gone, or" in answer.text
            for name in ("game.json", "games.db"):
                (tmp_path / name).unlink(missing_ok=True)
