"""After a hand or round agents wait until people have read the scores."""

import random

import pytest
from served import PERSON, client, new_table, open_table

from cardenvs.core.events import SPECTATOR, Part
from cardenvs.server.history import past

DEALS = {"options": {"num_players": 2, "target": 3}}


def play_a_round(table):
    """People choose their first legal action until a round has ended."""
    while not table.num_rounds:
        player = table.state.current_player
        table.act(player, table.show(player).turn, [{"action": table.state.legal_actions()[0]}])


def test_the_end_of_a_round_shows_its_scores():
    table = new_table("katko_v0", [PERSON, PERSON], target=3)
    assert table.show(SPECTATOR).rounds == []
    play_a_round(table)
    for viewer in (0, 1, SPECTATOR):
        (at,) = table.show(viewer).rounds
        made = past(table.moment(viewer, at), narrow=False)
        score = next(one["values"] for one in made["scores"] if one["label"] == "score")
        assert sum(score) > 0
        assert any("score" in line for line in made["said"])
        assert at < table.show(viewer).event_ends[-1]  # the next deal follows


@pytest.mark.parametrize(
    ("game", "options"),
    [("kasino_v0", {"match": True}), ("casino_v0", {}), ("scopa_v0", {}), ("gin_rummy_v0", {"match_target": 100})],
)
def test_rounds_are_the_hands_of_the_game(game, options):
    """Kasino scores sweeps in the middle of a hand, too."""
    table = new_table(game, [PERSON, PERSON], **options)
    rng, lines = random.Random(4), []
    while not table.state.is_terminal and table.num_rounds < 4:
        player = table.state.current_player
        table.act(player, table.show(player).turn, [{"action": rng.choice(table.state.legal_actions())}])
        if not table.state.is_terminal:
            (hand,) = [one["value"] for one in table.show(0).view["counters"] if one["name"] == "hand_number"]
            assert table.num_rounds == len(table.show(0).rounds) == hand - 1
        lines += table.show(0).lines[len(lines) :]
    assert table.num_rounds > 0
    if game == "kasino_v0":
        assert sum("has a score" in line for line in lines) > 2 * table.num_rounds + 2


def test_the_log_says_where_tricks_and_hands_end():
    table = new_table("briscola_v0", [PERSON, PERSON], target=2)
    play_a_round(table)
    shown = table.show(SPECTATOR)
    tricks = [shown.lines[end - 1] for end, part in shown.folds if part == Part.TRICK]
    hands = [shown.lines[end - 1] for end, part in shown.folds if part == Part.HAND]
    assert len(tricks) == 19  # the last one ends the hand
    assert all("wins" in line and "point" in line for line in tricks)
    assert [line for line in hands if "has won 1 deal" in line] == hands != []
    assert [end for end, _ in shown.folds] == sorted({end for end, _ in shown.folds})


def test_the_log_is_sent_once_with_its_folds():
    with client() as server:
        table = open_table(server, "briscola_v0", ["random", "random"])
        with server.websocket_connect(f"/ws/{table['watch']}") as socket:
            lines, folds = [], []
            while True:
                seen = position(socket)
                lines = lines[: seen["log_at"]] + seen["log"]
                folds = [fold for fold in folds if fold[0] <= seen["log_at"]] + seen["folds"]
                if seen["over"]:
                    break
        assert len(folds) == len({end for end, _ in folds}) == 20
        assert all("wins" in lines[end - 1] for end, part in folds if part == Part.TRICK)


def position(socket, is_it=lambda said: True):
    while True:
        said = socket.receive_json()
        if said["type"] == "position" and is_it(said):
            return said


def until_the_round_ends(socket):
    """Play until a round has ended, and return what the socket says then."""
    seen = position(socket)
    while seen["round"] is None:
        if seen["current"] == seen["seat"]:
            message = {"do": "act", "turn": seen["turn"], "intents": [{"action": seen["choices"][0]["action"]}]}
            socket.send_json(message)
        seen = position(socket)
    return seen


def test_agents_wait_until_the_people_who_are_here_go_on():
    with client(round_pause=600.0) as server:
        for seed in range(20):  # an agent is to begin the next round
            table = open_table(server, "katko_v0", ["person", "random"], seed=seed, **DEALS)
            with server.websocket_connect(f"/ws/{table['seats'][0]['link']}") as socket:
                seen = until_the_round_ends(socket)
                if seen["current"] == 0:
                    continue
                assert seen["round"]["number"] == 1
                assert seen["round"]["waits_for"] == [0]
                socket.send_json({"do": "past", "event": seen["round"]["at"]})
                assert socket.receive_json()["type"] == "past"  # and no move of the agent
                socket.send_json({"do": "next"})
                assert position(socket, lambda said: said["current"] == 0)["round"]["waits_for"] == []
                return
    raise AssertionError("no agent began a round")


def test_agents_do_not_wait_for_ever_and_not_for_nobody():
    for pause, seats in ((0.0, ["person", "random"]), (600.0, ["random", "random"])):
        with client(round_pause=pause) as server:
            table = open_table(server, "katko_v0", seats, **DEALS)
            link = table["seats"][0].get("link", table["host"])
            with server.websocket_connect(f"/ws/{link}") as socket:
                seen = position(socket)
                while not seen["over"]:
                    if seen["current"] == seen["seat"]:
                        intents = [{"action": seen["choices"][0]["action"]}]
                        socket.send_json({"do": "act", "turn": seen["turn"], "intents": intents})
                    seen = position(socket)
                    assert seen["round"] is None or seen["round"]["waits_for"] == []


def test_who_watches_does_not_end_the_pause():
    with client() as server:
        table = open_table(server, "katko_v0", ["person", "random"], **DEALS)
        with server.websocket_connect(f"/ws/{table['watch']}") as socket:
            position(socket)
            socket.send_json({"do": "next"})
            assert "you are watching" in socket.receive_json()["reason"]


def test_the_rules_are_there_to_read():
    with client() as server:
        assert "# Rules of Katko" in server.get("/api/games/katko_v0/rules").text
        for name in ("poker", "..", "%2e%2e%2fkatko_v0"):
            assert server.get(f"/api/games/{name}/rules").status_code == 404
