"""What the lobby gets: opponents by strength, pictures, and tables until they are abandoned."""

import re
import time
from importlib.metadata import entry_points
from types import SimpleNamespace

import pytest
from served import client, new_table, open_table

from cardenvs.agents.zoo import zoo_names
from cardenvs.core.registry import get_game
from cardenvs.server import strength, tiles
from cardenvs.server.catalogue import about
from cardenvs.server.records import Records
from cardenvs.server.strength import LEVELS, levels, own_agents
from cardenvs.server.tiles import draw_tile

PEOPLE = ["person", "person"]


# Other tests of a run register toys.
GAMES = {one.name for one in entry_points(group="cardenvs.games") if one.value.startswith("cardenvs.games.")}


def catalogue(server):
    return {game["name"]: game for game in server.get("/api/games").json()["games"] if game["name"] in GAMES}


# -- strength -----------------------------------------------------------------------------------------------------


def test_every_game_names_opponents_from_easy_to_strong_with_their_ratings():
    with client() as server:
        for name, game in catalogue(server).items():
            ratings = [one["rating"] for one in game["opponents"] if one["rating"]]
            assert ratings == sorted(ratings), name
            assert [one["name"] for one in game["opponents"] if one["name"] in game["agents"]] == game["agents"]
            if get_game(name).make_options().num_players == 1:
                assert game["levels"] == {}
                continue
            places = [game["agents"].index(game["levels"][level]) for level in LEVELS]
            assert places == sorted(places), name
            assert game["levels"]["easy"] == "random"
            assert game["levels"]["strong"] != "random"


def test_the_medium_opponent_is_nearest_to_the_middle(monkeypatch):
    ratings = {"random": 1000, "greedy": 1300, "heuristic": 1480, "search:simulations=7": 2000}
    monkeypatch.setattr(strength, "_boards", lambda: {"gin_rummy_v0": {"options": {}, "ratings": ratings}})
    game = get_game("gin_rummy_v0")
    assert levels(game, game.make_options()) == {"easy": "random", "medium": "heuristic", "strong": "search"}
    assert levels(game, game.make_options(), without=["search"])["strong"] == "heuristic"
    (search,) = [agent for agent in own_agents(game, None) if agent.name == "search"]
    assert search.spec == "search:simulations=7"  # it is as strong as its rating says


def test_a_game_without_ratings_has_random_play_and_its_default_opponent(monkeypatch):
    monkeypatch.setattr(strength, "_boards", dict)
    game = get_game("rummikub_v0")
    assert levels(game, game.make_options()) == {"easy": "random", "medium": "planner", "strong": "planner"}
    game = get_game("kuhn_poker_v0")
    assert set(levels(game, game.make_options()).values()) == {"random"}


def test_a_level_fills_the_seats():
    with client() as server:
        strong = catalogue(server)["texas_holdem_v0"]["levels"]["strong"]
        opened = server.post("/api/tables", json={"game": "texas_holdem_v0", "level": "strong"}).json()
        assert [seat["by"] for seat in opened["seats"]] == ["person", *[strong] * 5]
        alone = server.post("/api/tables", json={"game": "one_player_poker_v0", "level": "easy"}).json()
        assert [seat["by"] for seat in alone["seats"]] == ["person"]
        for wrong in ({"level": "ppo:/etc/passwd"}, {"level": "easy", "seats": ["person", "random"]}):
            refused = server.post("/api/tables", json={"game": "kuhn_poker_v0"} | wrong)
            assert "'level' must be one of easy, medium, strong" in refused.json()["error"]["message"]


def test_the_owners_agents_keep_their_names_and_are_not_rated():
    with client(agents={"search": "random", "mine": "random"}) as server:
        game = catalogue(server)["gin_rummy_v0"]
        assert game["opponents"][-2:] == [{"name": name, "label": name, "rating": None} for name in ("search", "mine")]
        assert [one["name"] for one in game["opponents"]].count("search") == 1
        assert "search" not in game["levels"].values()


def test_trained_policies_play_with_what_they_have_learned_only():
    with client() as server:
        games = catalogue(server)
        assert {name for name, game in games.items() if any(o["name"] == "trained" for o in game["opponents"])} == {
            name.partition("/")[0] for name in zoo_names()
        }
        assert "trained" in games["gin_rummy_v0"]["agents"]
        assert "trained" not in games["casino_v0"]["agents"]
        request = {"game": "casino_v0", "seats": ["person", "trained"]}
        refused = server.post("/api/tables", json=request)
        assert "it has learned casino_v0 only with match=False" in refused.json()["error"]["message"]
        table = open_table(server, "casino_v0", ["trained", "random"], options={"match": "false"})
        with server.websocket_connect(f"/ws/{table['watch']}") as socket:
            seen = socket.receive_json()
            while not seen["over"]:
                assert seen.get("stopped") is None
                seen = socket.receive_json()


def test_advice_comes_from_agents_that_can_play_with_the_options_of_the_table():
    with client() as server:
        for options, knows in (({}, False), ({"match": "false"}, True)):
            table = open_table(server, "casino_v0", PEOPLE, options=options)
            with server.websocket_connect(f"/ws/{table['seats'][0]['link']}") as socket:
                seen = socket.receive_json()
            names = [agent["name"] for agent in seen["agents"]]
            assert ("trained" in names) == knows
            assert {"random", "heuristic", "search", seen["usual"]} <= set(names)
            assert {"name": "heuristic", "label": "rule player (heuristic)"} in seen["agents"]


def test_without_the_compiler_search_is_not_offered(monkeypatch):
    monkeypatch.setattr(strength, "COMPILED", False)
    with client() as server:
        for game in catalogue(server).values():
            assert "search" not in game["agents"]
            assert "search" not in game["levels"].values()


# -- tiles --------------------------------------------------------------------------------------------------------


def test_every_game_has_a_line_and_a_picture_of_its_own():
    with client() as server:
        found = {}
        for name, game in catalogue(server).items():
            assert re.fullmatch(r"[A-Z][^*`]+\.", game["about"]), name
            assert game["players"]
            answer = server.get(f"/api/games/{name}/picture")
            assert answer.headers["content-type"] == "image/svg+xml"
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert "script" not in answer.headers["content-security-policy"]
            found[name] = answer.text
        assert len(set(found.values())) == len(GAMES)
        assert server.get("/api/games/none/picture").status_code == 404
        assert server.get("/assets/favicon.svg").headers["content-type"] == "image/svg+xml"


def test_a_picture_is_that_of_a_fixed_position():
    with client() as server:
        assert server.get("/api/games/durak_v0/picture").text == draw_tile("durak_v0")  # compiled or not


def test_without_the_process_that_draws_there_are_no_pictures(monkeypatch):
    monkeypatch.setattr(tiles.sys, "executable", "/bin/false")
    with client() as server:
        assert server.get("/api/games/durak_v0/picture").status_code == 404
        assert server.get("/").status_code == 200


def test_a_game_without_a_page_has_no_line(tmp_path):
    game = SimpleNamespace(folder=tmp_path)
    assert about(game) == ""
    (tmp_path / "page.md").write_text("A game of *v1.5*: the first `line`. More.\n")
    assert about(game) == "A game of v1.5."


# -- abandoned tables ---------------------------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """The time, which tests move on."""
    now = [1e9]
    monkeypatch.setattr(time, "time", lambda: now[0])
    return now


def listed(server):
    return [(one["game"], one["over"]) for one in server.get("/api/tables").json()["tables"]]


def test_an_abandoned_table_leaves_the_list_but_not_its_players(clock):
    with client(limits={"abandoned_minutes": 60.0, "sweep_seconds": 600.0}) as server:
        table = open_table(server, "kuhn_poker_v0", PEOPLE)
        link = table["seats"][0]["link"]
        clock[0] += 59 * 60
        assert listed(server) == [("kuhn_poker_v0", False)]
        clock[0] += 2 * 60
        assert listed(server) == []
        mine = server.post("/api/tables/mine", json={"links": [link]}).json()["tables"]
        assert [one["game"] for one in mine] == ["kuhn_poker_v0"]
        with server.websocket_connect(f"/ws/{link}") as socket:  # whoever comes back puts it on the list again
            turn = socket.receive_json()["turn"]
            assert listed(server) == [("kuhn_poker_v0", False)]
            clock[0] += 3 * 3600  # somebody sits there, however long they think
            assert listed(server) == [("kuhn_poker_v0", False)]
            socket.send_json({"do": "act", "turn": turn, "intents": [{"action": 0}]})
            while socket.receive_json()["turn"] == turn:
                pass
        assert listed(server) == [("kuhn_poker_v0", False)]


def test_finished_tables_stay_on_the_list_behind_those_that_go_on(clock):
    with client(limits={"sweep_seconds": 600.0}) as server:
        going_on = open_table(server, "leduc_poker_v0", PEOPLE)
        table = open_table(server, "kuhn_poker_v0", ["random", "random"])
        with server.websocket_connect(f"/ws/{table['watch']}") as socket:
            while not socket.receive_json()["over"]:
                pass
        assert listed(server) == [("leduc_poker_v0", False), ("kuhn_poker_v0", True)]
        assert [one["to_act"] for one in server.get("/api/tables").json()["tables"]] == [0, None]
        assert going_on["watch"]
        clock[0] += 86_400
        assert listed(server) == [("kuhn_poker_v0", True)]


@pytest.mark.parametrize("is_finished", [False, True])
def test_old_tables_are_deleted_after_the_last_visit_finished_or_not(clock, is_finished):
    records = Records(":memory:")
    new_table("kuhn_poker_v0", ["", "random"], records=records)
    clock[0] += 1
    records.touch(["watch"])
    if is_finished:
        records.finish("watch")
    for _ in range(3):  # each visit counts
        clock[0] += 6 * 86_400
        assert records.drop_old(7, 7, 1, 10) == []
        records.touch(["watch"])
    clock[0] += 8 * 86_400
    assert records.drop_old(7, 7, 1, 10) == ["watch"]
    assert records.find("seat_0") is None


def test_a_table_at_which_somebody_sits_is_not_deleted():
    a_while = 0.2 / 86_400
    limits = {"sweep_seconds": 0.05, "keep_days": a_while, "unfinished_days": a_while, "unused_days": a_while}
    with client(limits=limits) as server:
        table, other = open_table(server, "kuhn_poker_v0", PEOPLE), open_table(server, "leduc_poker_v0", PEOPLE)
        with server.websocket_connect(f"/ws/{table['seats'][1]['link']}") as socket:
            socket.receive_json()
            deadline = time.monotonic() + 10
            while server.get(f"/api/view/{other['watch']}").status_code != 404:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            assert server.get(f"/t/{table['watch']}").status_code == 200


def test_whose_turn_it_is_is_known_at_a_table_that_was_put_away():
    with client(limits={"idle_seconds": 0.0, "sweep_seconds": 0.05}) as server:
        table = open_table(server, "gin_rummy_v0", ["person", "random"])
        host = server.app.state.host
        deadline = time.monotonic() + 10
        while host._rooms:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        (mine,) = server.post("/api/tables/mine", json={"links": [table["seats"][0]["link"]]}).json()["tables"]
        assert mine["your_turn"]
        assert mine["to_act"] == 0
