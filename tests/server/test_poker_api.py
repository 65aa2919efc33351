"""The HTTP API of one-player poker: shapes, policies, refusals, secrets."""

import concurrent.futures
import contextlib
import dataclasses
import json
import random
import re
import secrets
import socket
import time
import urllib.error
import urllib.request

import pytest
from served import Served, client

pytest.importorskip("fastapi")

from cardenvs.core.errors import FormatError
from cardenvs.core.registry import get_game
from cardenvs.tools.one_player_poker.api.advice import rule_agent_points
from cardenvs.tools.one_player_poker.api.client import PokerClient, PokerError
from cardenvs.tools.one_player_poker.api.pools import Pools, deck_seed, fresh_seed, key_id, read_key
from cardenvs.tools.one_player_poker.api.schema import ErrorResponse, GameResponse, TraceResponse
from cardenvs.tools.one_player_poker.api.session import CARD_ORDER, Policy, Session, state_json
from cardenvs.tools.one_player_poker.api.settings import PokerSettings

FIVE = {"type": "PLAY", "selected_indices": [0, 1, 2, 3, 4]}
UNBOUNDED = {"requests_per_second": 10**6, "new_games_per_minute": 10**6}


def poker(run=None, deck_key=b"", **limits):
    """A server with settings of the API."""
    return client(apps={"poker": PokerSettings(run, deck_key, **limits)})


@pytest.fixture
def server():
    with poker(**UNBOUNDED) as made:
        yield made


def start(server, **wanted):
    answer = server.post("/game/start", json={"mode": "practice", "difficulty_tier": "easy", **wanted})
    assert answer.status_code == 200, answer.text
    GameResponse.model_validate(answer.json(), strict=True)
    return answer.json()


def step(server, game, kind="PLAY", positions=(0, 1, 2, 3, 4), **more):
    action = {"type": kind, "selected_indices": list(positions)}
    return server.post("/game/step", json={"game_id": game["game_id"], "action": action, **more})


def play_out(server, game):
    while game["state"]["p_remaining"]:
        game = step(server, game).json()
    return game


def refused(answer, status, code):
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    ErrorResponse.model_validate(answer.json(), strict=True)
    own = {"play_requires_five", "discard_budget_exceeded"} & {error["params"].get("reason")}
    assert (error["code"], error["message_key"]) == (code, f"error.{own.pop() if own else code.lower()}")
    return error["params"]


# ---------------------------------------------------------------------------------------------------------------
# Games


def test_a_start_is_as_the_contract_says(server):
    game = start(server, seed=123)
    assert list(game) == [
        "game_id", "seed", "mode", "difficulty_tier", "hint_policy", "jump_policy", "target_score", "step_index",
        "history_len", "state", "events",
    ]  # fmt: skip
    assert (game["seed"], game["target_score"], game["step_index"], game["history_len"]) == (123, None, 0, 0)
    assert game["events"] == [{"type": "info", "message_key": "game.started", "params": {"seed": 123}}]
    state = game["state"]
    assert state == state_json(get_game("one_player_poker_v0").new_state(seed=123))
    assert (state["p_remaining"], state["d_remaining"], state["score_total"]) == (4, 10, 0)
    assert state["deck_remaining_count"] == 45
    assert list(state["deck_remaining_counts"]) == state["deck_remaining"]
    assert state["deck_remaining"] == [card for card in CARD_ORDER if card not in state["hand"]]


def test_plays_and_discards_tell_what_happened(server):
    game = start(server, seed=9)
    after = step(server, game, "DISCARD", (6, 1)).json()
    [event] = after["events"]
    assert (event["type"], event["message_key"]) == ("discard", "cards.discarded")
    assert event["params"]["cards"] == [game["state"]["hand"][k] for k in (1, 6)]
    assert event["params"]["drawn"] == after["state"]["hand"][5:]
    assert (after["step_index"], after["history_len"], after["state"]["d_remaining"]) == (1, 1, 8)
    scored = step(server, after).json()
    [event] = scored["events"]
    assert (event["type"], event["message_key"]) == ("score", "play.scored")
    assert event["params"]["points"] == scored["state"]["score_total"] > 0
    assert re.fullmatch("[A-Z_]+", event["params"]["category"])
    ended = play_out(server, scored)
    assert [event["message_key"] for event in ended["events"]] == ["play.scored", "game.ended"]
    assert "ai_hint" not in ended
    refused(step(server, ended), 409, "GAME_ENDED")


def test_a_challenge_is_passed_or_failed():
    with poker(**UNBOUNDED) as server:
        seen = set()
        for seed in range(40):
            game = play_out(server, start(server, mode="challenge", difficulty_tier="hard", seed=seed))
            key = game["events"][-1]["message_key"]
            assert key == ("game.passed" if game["state"]["score_total"] >= game["target_score"] else "game.failed")
            seen.add(key)
    assert "game.failed" in seen


def test_seeds_come_from_the_pool_of_mode_and_tier(server):
    tiers = Pools.load().manifest.tiers
    for name, tier in tiers.items():
        assert start(server, difficulty_tier=name)["seed"] in tier.practice
        challenge = start(server, mode="challenge", difficulty_tier=name)
        assert challenge["seed"] in tier.challenge
        assert challenge["target_score"] == tier.target_score
        assert not set(tier.practice) & set(tier.challenge)


def test_limited_hints_are_counted_and_never_refunded(server):
    game = start(server, mode="challenge", seed=3)
    assert (game["hint_policy"], game["hint_budget_total"], game["hint_budget_remaining"]) == ("limited", 3, 3)
    assert "ai_hint" not in game
    game = step(server, game).json()
    assert game["hint_budget_remaining"] == 2
    assert game["ai_hint"]["explanation_key"] == "ai.reason.heuristic"
    game = step(server, game, hint_request={"enabled": False}).json()
    assert "ai_hint" not in game
    game = server.post("/game/jump", json={"game_id": game["game_id"], "step_index": 0}).json()
    assert (game["hint_budget_remaining"], game["jump_budget_remaining"]) == (1, 2)
    asked = {"game_id": game["game_id"]}
    assert server.post("/game/hint", json=asked).json()["hint_budget_remaining"] == 0
    assert refused(server.post("/game/hint", json=asked), 403, "HINT_NOT_ALLOWED") == {"reason": "budget_exhausted"}
    assert "ai_hint" not in step(server, game).json()


def test_a_hard_challenge_allows_neither_hints_nor_jumps(server):
    game = start(server, mode="challenge", difficulty_tier="hard")
    assert (game["hint_policy"], game["jump_policy"]) == ("off", "off")
    assert "hint_budget_total" not in game
    game = step(server, game).json()
    assert "ai_hint" not in game
    refused(server.post("/game/jump", json={"game_id": game["game_id"], "step_index": 0}), 403, "JUMP_NOT_ALLOWED")
    refused(server.post("/game/hint", json={"game_id": game["game_id"]}), 403, "HINT_NOT_ALLOWED")


def test_what_is_not_asked_for_is_off(server):
    off = {"enabled": False}
    game = start(server, hint_request=off, jump_request=off)
    assert (game["hint_policy"], game["jump_policy"]) == ("off", "off")


def test_an_action_after_a_jump_cuts_off_the_future(server):
    game = play_out(server, start(server, seed=4))
    back = server.post("/game/jump", json={"game_id": game["game_id"], "step_index": 1}).json()
    assert (back["step_index"], back["history_len"]) == (1, 4)
    assert back["events"] == [{"type": "info", "message_key": "game.jumped", "params": {"step_index": 1}}]
    other = step(server, back, "DISCARD", [0]).json()
    assert (other["step_index"], other["history_len"]) == (2, 2)
    wrong = server.post("/game/jump", json={"game_id": game["game_id"], "step_index": 3})
    assert refused(wrong, 422, "INVALID_STEP") == {"reason": "step_out_of_range", "history_len": 2}
    assert server.get(f"/game/{game['game_id']}").json() == {
        key: value for key, value in {**other, "events": []}.items() if key != "ai_hint"
    }


# ---------------------------------------------------------------------------------------------------------------
# Traces


def trace_of(server, game):
    answer = server.get(f"/game/{game['game_id']}/ai_trace")
    if answer.status_code == 200:
        TraceResponse.model_validate(answer.json(), strict=True)
    return answer


def test_a_trace_reaches_as_far_as_the_player_has_seen(server):
    game = start(server, seed=8)
    assert [one["step_index"] for one in trace_of(server, game).json()["steps"]] == [0]
    after = step(server, game).json()
    found = trace_of(server, after).json()
    assert (found["game_id"], found["policy"]) == (game["game_id"], "heuristic_v1")
    assert [one["step_index"] for one in found["steps"]] == [0, 1]
    assert {"step_index": 1, **after["ai_hint"]} == found["steps"][1]


def test_in_a_challenge_the_trace_ends_the_game_for_good(server):
    game = start(server, mode="challenge", seed=8)
    assert refused(trace_of(server, game), 403, "TRACE_NOT_AVAILABLE") == {"reason": "challenge_not_over"}
    game = play_out(server, game)
    assert len(trace_of(server, game).json()["steps"]) == 4
    jump = server.post("/game/jump", json={"game_id": game["game_id"], "step_index": 0})
    assert refused(jump, 403, "JUMP_NOT_ALLOWED") == {"reason": "trace_revealed"}
    assert trace_of(server, game).status_code == 200


def test_a_trace_made_beforehand_is_used_while_the_player_follows_it(server, tmp_path):
    """Its further steps are about cards that the player has not seen, and stay secret."""
    manifest = Pools.load().manifest
    (tmp_path / "seed_manifest.json").write_text(manifest.model_dump_json())
    steps = []
    state = Session(8, 8, "practice", "easy", None, Policy("off"), Policy("off")).state()
    from cardenvs.tools.one_player_poker.api.advice import hint

    while not state.is_terminal:
        advice = hint(state)
        steps.append({"step_index": state.ply, **advice, "params": {"rule": "made_beforehand"}})
        kind, positions = advice["recommended_action"].values()
        state.apply(_action(kind, positions))
    head = {"seed": 8, "mode": "practice", "policy": "heuristic_v1", "info_set": "order_unknown"}
    (tmp_path / "trace_pass.jsonl").write_text(json.dumps(head | {"steps": steps}) + "\n")
    with poker(tmp_path, **UNBOUNDED) as traced:
        game = start(traced, seed=8)
        for wanted in steps[:2]:
            game = step(traced, game, *wanted["recommended_action"].values()).json()
        other = (
            [0, 1, 2, 3, 4]
            if steps[2]["recommended_action"]["selected_indices"] != [0, 1, 2, 3, 4]
            else [2, 3, 4, 5, 6]
        )
        game = step(traced, game, "PLAY", other).json()
        found = trace_of(traced, game).json()["steps"]
    made = [one["params"] == {"rule": "made_beforehand"} for one in found]
    assert made == [True, True, True, False]


def _action(kind, positions):
    from cardenvs.tools.one_player_poker.api.session import ACTIONS

    return ACTIONS.index((kind, tuple(positions)))


# ---------------------------------------------------------------------------------------------------------------
# Refusals


@pytest.mark.parametrize(
    ("kind", "positions", "reason"),
    [
        ("PLAY", [0, 1, 2, 3], "play_requires_five"),
        ("PLAY", [0, 1, 2, 3, 3], "duplicate_index"),
        ("PLAY", [0, 1, 2, 3, True], "index_not_an_integer"),
        ("PLAY", [0, 1, 2, True], "play_requires_five"),
        ("DISCARD", [], "discard_requires_at_least_one"),
        ("FOLD", [0], "unknown_action_type"),
    ],
)
def test_refused_actions_change_nothing(server, kind, positions, reason):
    game = start(server, seed=2)
    assert refused(step(server, game, kind, positions), 422, "INVALID_ACTION") == {"reason": reason}
    assert server.get(f"/game/{game['game_id']}").json()["state"] == game["state"]


@pytest.mark.parametrize(
    "wanted",
    [
        {"mode": "cheat"}, {"difficulty_tier": "none"}, {"seed": "7"}, {"seed": True}, {"seed": -1}, {"seed": 1.5},
        {"seed": 2**60}, {"deck": ["AS"]}, {"hint_request": {"enabled": "yes"}}, {"mode": None},
    ],
)  # fmt: skip
def test_wrong_starts(server, wanted):
    body = {"mode": "practice", "difficulty_tier": "easy", **wanted}
    params = refused(server.post("/game/start", json=body), 422, "INVALID_REQUEST")
    assert next(iter(wanted)) in params["field"]


@pytest.mark.parametrize("path", ["start", "step", "jump", "hint"])
def test_bodies_that_cannot_be_read(server, path):
    def send(content, kind="application/json", **headers):
        return server.post(f"/game/{path}", content=content, headers={"content-type": kind, **headers})

    refused(send("{"), 400, "BAD_JSON")
    refused(send("[" * 9000), 400, "BAD_JSON")
    refused(send('{"seed": ' + "9" * 5000 + "}"), 400, "BAD_JSON")
    refused(send(b"\xff\xfe"), 400, "BAD_JSON")
    for text in ("null", "[]", "7", '"x"', "{}") if path != "start" else ("null", "[]", "{}"):
        refused(send(text), 422, "INVALID_REQUEST")
    refused(send("{}", "text/plain"), 415, "UNSUPPORTED_MEDIA_TYPE")
    refused(send("{}", origin="https://elsewhere.example"), 403, "OTHER_SITE")
    refused(send(" " * (1 << 17)), 413, "BODY_TOO_LARGE")
    refused(send(iter([b" " * 40_000] * 3)), 413, "BODY_TOO_LARGE")


def test_unknown_addresses_and_methods(server):
    refused(server.get("/game/none"), 404, "GAME_NOT_FOUND")
    refused(server.get("/game/none/ai_trace"), 404, "GAME_NOT_FOUND")
    refused(server.get("/game/a/b/c"), 404, "NOT_FOUND")
    refused(server.put("/game/none"), 405, "METHOD_NOT_ALLOWED")
    refused(step(server, {"game_id": "none"}), 404, "GAME_NOT_FOUND")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["start", "step", "jump", "hint"])
def test_what_has_to_be_posted_takes_no_other_method(server, path, method):
    answer = server.request(method, f"/game/{path}")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    if method != "HEAD":
        refused(answer, 405, "METHOD_NOT_ALLOWED")


def test_what_can_only_be_read_takes_no_post(server):
    for path in ("tiers", "list", start(server)["game_id"], "none/ai_trace"):
        answer = server.post(f"/game/{path}", json={})
        assert answer.headers["allow"] == "GET"
        refused(answer, 405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize(
    ("kind", "positions", "key"),
    [
        ("PLAY", [0, 1, 2, 3], "error.play_requires_five"),
        ("DISCARD", [0, 1, 2], "error.discard_budget_exceeded"),
        ("DISCARD", [0, 7], "error.invalid_action"),
    ],
)
def test_the_two_mistakes_that_players_make_have_messages_of_their_own(server, kind, positions, key):
    game = start(server)
    for chosen in ([0, 1, 2, 3, 4, 5, 6], [0]):  # leaves 2 of 10 discards
        step(server, game, "DISCARD", chosen)
    error = step(server, game, kind, positions).json()["error"]
    assert (error["code"], error["message_key"]) == ("INVALID_ACTION", key)


def test_a_stale_step_is_refused(server):
    game = start(server, seed=2)
    assert step(server, game, step_index=0).status_code == 200
    assert refused(step(server, game, step_index=0), 409, "STALE_STEP")["step_index"] == 1


def test_rates_are_bounded():
    with poker(new_games_per_minute=3) as server:
        for _ in range(3):
            start(server)
        refused(server.post("/game/start", json={"mode": "practice"}), 429, "TOO_MANY_REQUESTS")
    with poker(requests_per_second=2.0) as server:
        assert {server.get("/game/tiers").status_code for _ in range(30)} == {200, 429}


def test_clients_see_their_own_games_only(server):
    first, second = start(server, seed=1), start(server, seed=2)
    listed = server.get("/game/list").json()["games"]
    assert [game["game_id"] for game in listed] == [second["game_id"], first["game_id"]]
    server.cookies.clear()
    assert server.get("/game/list").json() == {"games": []}


# ---------------------------------------------------------------------------------------------------------------
# Secrets


def shuffled_rest(monkeypatch):
    """Deal as before, but shuffle the cards to come anew in every position."""
    plain = Session.state
    monkeypatch.setattr(Session, "state", lambda self: plain(self).determinize(0, random.getrandbits(60)))


@pytest.mark.rotating
def test_no_answer_depends_on_the_order_of_the_cards_to_come(server, monkeypatch):
    """With the rest of the deck in another order, everything but the draws is the same."""
    rng = random.Random(0)
    positions = 0
    for seed in range(40):
        game = start(server, seed=seed, mode=rng.choice(["practice", "challenge"]), difficulty_tier="easy")
        while game["state"]["p_remaining"]:
            address = f"/game/{game['game_id']}"
            seen = server.get(address).text, server.get(f"{address}/ai_trace").text
            asked = {"game_id": game["game_id"]}
            hint = server.post("/game/hint", json=asked).text if game["mode"] == "practice" else ""
            wrong = step(server, game, "PLAY", [0]).text, step(server, game, "DISCARD", [7]).text
            with monkeypatch.context() as patched:
                shuffled_rest(patched)
                assert server.get(address).text == seen[0]
                if game["step_index"] == 0:  # later, another order would have dealt other cards before
                    assert server.get(f"{address}/ai_trace").text == seen[1]
                if hint:
                    assert server.post("/game/hint", json=asked).text == hint
                assert (step(server, game, "PLAY", [0]).text, step(server, game, "DISCARD", [7]).text) == wrong
            positions += 1
            kind = rng.choice(["PLAY", "DISCARD"]) if game["state"]["d_remaining"] else "PLAY"
            most = 5 if kind == "PLAY" else rng.randint(1, min(7, game["state"]["d_remaining"]))
            game = step(server, game, kind, rng.sample(range(7), most)).json()
    assert positions > 200


def test_two_decks_that_showed_the_same_cards_give_the_same_answers(monkeypatch):
    """Two thousand games, each on a deck and on one whose cards to come lie in another order."""
    from cardenvs.tools.one_player_poker.api.advice import hint, trace

    game = get_game("one_player_poker_v0")
    decks = []
    monkeypatch.setattr(Session, "state", lambda self: game.new_state(seed=0, deck=decks[self.deck_seed]))
    for seed in range(2000):
        rng = random.Random(seed)
        state = game.new_state(seed=seed)
        history = []
        for _ in range(rng.randint(0, 3)):
            history.append(rng.choice(state.legal_actions()))
            state.apply(history[-1])
        deck, dealt = state.record.deck.tolist(), int(state.record.num_dealt)
        decks[:] = [deck, deck[:dealt] + rng.sample(deck[dealt:], len(deck) - dealt)]
        twin = game.new_state(seed=0, deck=decks[1])
        for action in history:
            twin.apply(action)
        assert state_json(twin) == state_json(state)
        assert hint(twin) == hint(state)
        one, other = (
            trace(Session(0, number, "practice", "easy", None, Policy("off"), Policy("off"), tuple(history)))
            for number in (0, 1)
        )
        assert one == other


KEY = b"a key of sixteen characters"


@contextlib.contextmanager
def prize_server(folder, key=KEY, **limits):
    """A server with secret decks."""
    manifest = json.loads(Pools.load().manifest.model_dump_json())
    (folder / "seed_manifest.json").write_text(json.dumps({**manifest, "deck_key_id": key_id(key)}))
    with poker(folder, key, **UNBOUNDED | {"open_challenges": 10**6} | limits) as made:
        yield made


def test_with_a_key_a_seed_tells_no_deck(tmp_path):
    assert deck_seed(b"", "practice", 5) == 5
    assert len({deck_seed(KEY, mode, 5) for mode in ("practice", "challenge")} | {5}) == 3
    with prize_server(tmp_path) as server:
        hands = {tuple(start(server, seed=5)["state"]["hand"]) for _ in range(2)}
        assert hands == {
            tuple(state_json(get_game("one_player_poker_v0").new_state(seed=deck_seed(KEY, "practice", 5)))["hand"])
        }
        answer = server.post("/game/start", json={"mode": "challenge", "difficulty_tier": "easy", "seed": 5})
        assert refused(answer, 422, "INVALID_REQUEST")["reason"] == "challenges_draw_their_seed"


def test_secret_decks_never_come_twice_whoever_asks(tmp_path):
    """Nor after a restart, nor from another server with the same key."""
    hands = []
    for name in ("one", "two", "one"):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        with prize_server(folder) as server:
            for number in range(300 if name == "one" else 100):
                if number % 7 == 0:
                    server.cookies.clear()
                game = start(server, mode="challenge", difficulty_tier=("easy", "medium", "hard")[number % 3])
                hands.append(tuple(game["state"]["hand"]))
    assert len(set(hands)) == len(hands)


def test_secret_decks_are_of_their_tier(tmp_path):
    tiers = Pools.load().manifest.tiers
    with prize_server(tmp_path) as server:
        for name in tiers:
            for _ in range(5):
                game = play_out(server, start(server, mode="challenge", difficulty_tier=name))
                trace_of(server, game)
                seed = server.get(f"/game/{game['game_id']}").json()["seed"]
                points = rule_agent_points(
                    get_game("one_player_poker_v0").new_state(seed=deck_seed(KEY, "challenge", seed))
                )
                assert name == next(tier for tier, one in tiers.items() if points >= one.least_points)


@pytest.mark.slow
def test_fresh_decks_are_as_hard_as_those_that_were_calibrated():
    """The key is new each time. The planner plays 150 decks of each tier; prints the shares that it passes."""
    key, game = secrets.token_bytes(16), get_game("one_player_poker_v0")
    pools = dataclasses.replace(Pools.load(), key=key)
    for tier, expected in (("easy", 0.76), ("medium", 0.55), ("hard", 0.26)):
        passed = 0
        for _ in range(150):
            state = game.new_state(seed=deck_seed(pools.key, "challenge", fresh_seed(pools, tier)))
            while not state.is_terminal:
                state.apply(state.policy_action("planner", state.ply))
            passed += int(state.record.model_score) >= (pools.target("challenge", tier) or 0)
        print(f"{tier}: {passed / 150:.0%} (key {key.hex()})")
        assert abs(passed / 150 - expected) < 0.17  # more than four standard deviations


@pytest.mark.parametrize("tier", ["easy", "hard"])
def test_the_seed_of_a_secret_deck_is_told_once_the_game_is_over_for_good(tmp_path, tier):
    def seeds():
        looked = server.get(f"/game/{game['game_id']}").json()["seed"]
        return {looked, server.get("/game/list").json()["games"][0]["seed"]}

    with prize_server(tmp_path) as server:
        game = start(server, mode="challenge", difficulty_tier=tier)
        assert game["events"] == [{"type": "info", "message_key": "game.started", "params": {}}]
        for _ in range(4):
            assert game["seed"] is None
            assert seeds() == {None}
            refused(trace_of(server, game), 403, "TRACE_NOT_AVAILABLE")
            game = step(server, game).json()
        if tier == "easy":  # jumps are left, so the game can go on
            assert game["seed"] is None
            assert seeds() == {None}
            trace_of(server, game)
        [seed] = seeds()
    deal = state_json(get_game("one_player_poker_v0").new_state(seed=deck_seed(KEY, "challenge", seed)))
    assert not set(deal["hand"]) & set(game["state"]["deck_remaining"])


def test_practice_and_public_challenges_tell_their_seed(server, tmp_path):
    assert start(server, mode="challenge", seed=5)["seed"] == 5
    with prize_server(tmp_path) as keyed:
        assert start(keyed, seed=5)["seed"] == 5


def test_who_leaves_challenges_unfinished_gets_no_more(tmp_path):
    """Otherwise one could look at opening hands, whatever the cookie says, until a good one comes."""
    with prize_server(tmp_path, open_challenges=3, games_per_address=5) as server:
        games = []
        for _ in range(3):
            server.cookies.clear()
            games.append(start(server, mode="challenge"))
        wanted = {"mode": "challenge", "difficulty_tier": "easy"}
        params = refused(server.post("/game/start", json=wanted), 429, "TOO_MANY_REQUESTS")
        assert params == {"reason": "unfinished_challenges", "challenges": 3}
        for _ in range(20):  # practice does not push them out
            start(server)
        assert all(server.get(f"/game/{game['game_id']}").status_code == 200 for game in games)
        refused(server.post("/game/start", json=wanted), 429, "TOO_MANY_REQUESTS")
        play_out(server, games[0])
        start(server, mode="challenge")


def test_a_key_that_can_be_guessed_is_refused(tmp_path):
    for text, says in (("short", "at least 16"), ("abababababababababab", "can be guessed")):
        (tmp_path / "key.txt").write_text(text)
        with pytest.raises(FormatError, match=says):
            read_key(tmp_path / "key.txt")


def test_a_manifest_says_which_decks_are_of_a_tier(tmp_path):
    manifest = json.loads(Pools.load().manifest.model_dump_json())
    del manifest["tiers"]["easy"]["least_points"]
    (tmp_path / "seed_manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(FormatError, match=r"tiers.easy.least_points: Field required"):
        Pools.load(tmp_path)


def test_the_log_holds_no_secrets(server, caplog):
    name = "cardenvs.tools.one_player_poker.api"
    with caplog.at_level("INFO", name):
        game = start(server, seed=6)
        trace_of(server, game)
        refused(server.get("/game/secret-id"), 404, "GAME_NOT_FOUND")
    lines = [json.loads(record.message) for record in caplog.records if record.name == name]
    assert [line["route"] for line in lines] == ["/game/start", "/game/{game_id}/ai_trace", "/game/{game_id}"]
    assert game["game_id"] not in caplog.text
    assert "secret-id" not in caplog.text.replace("/game/secret-id", "")


# ---------------------------------------------------------------------------------------------------------------
# A real server


@pytest.fixture
def served(tmp_path):
    made = Served(tmp_path / "tables.db")
    yield made
    made.kill()


def test_a_killed_server_goes_on_with_every_game(served):
    player = PokerClient(served.url)
    games = [player.start("practice", "easy", seed=seed) for seed in range(3)]
    games[1] = player.discard(games[1].game_id, [0, 3])
    games[2] = player.play(games[2].game_id, [0, 1, 2, 3, 4])
    served.kill()
    served.start()
    for game in games:
        assert player.look(game.game_id).state == game.state
    assert player.jump(games[2].game_id, 0).history_len == 1
    assert len(player.games()) == 3


def test_a_server_killed_while_it_answers_has_kept_all_it_answered(served):
    """A client acts as fast as it can; whatever was answered before the kill is there after it."""
    player = PokerClient(served.url)
    game = player.start("practice", "easy", seed=2)
    answered = []

    def act():
        try:
            while True:
                now = player.discard(game.game_id, [0], hint=False)
                answered.append(now)
                if now.state.d_remaining == 0:
                    answered.append(player.jump(game.game_id, 0, hint=False))
        except PokerError:
            return

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        done = pool.submit(act)
        while len(answered) < 120:
            assert not done.done()
        served.kill()
        done.result(timeout=20)
    served.start()
    kept, last = player.look(game.game_id), answered[-1]
    assert (kept.step_index - last.step_index) % 11 in (0, 1)  # at most the change whose answer was lost
    if kept.step_index == last.step_index:
        assert kept.state == last.state


def test_of_many_requests_at_once_one_applies(served):
    player = PokerClient(served.url)
    game = player.start("practice", "easy", seed=1)

    def act(_):
        try:
            return PokerClient(served.url).play(game.game_id, [0, 1, 2, 3, 4], step_index=0).step_index
        except PokerError as error:
            return error.code

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        done = list(pool.map(act, range(24)))
    assert sorted(map(str, done)) == ["1"] + ["STALE_STEP"] * 23
    assert player.look(game.game_id).history_len == 1


def test_the_client_raises_what_the_server_says(served):
    player = PokerClient(served.url)
    game = player.start("challenge", "hard")
    with pytest.raises(PokerError, match="play_requires_five") as error:
        player.play(game.game_id, [0])
    assert (error.value.status, error.value.code) == (422, "INVALID_ACTION")
    with pytest.raises(PokerError, match="cannot be reached"):
        PokerClient("http://127.0.0.1:9").tiers()
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(f"{served.url}/game/none")


@pytest.mark.parametrize("head", ["HTTP/1.0 200 OK", "HTTP/1.0 500 Oh", "HTTP/1.0 302 There\r\nLocation: /game/tiers"])
def test_the_client_reads_no_body_without_end(head):
    """Nor does it follow a redirection, whose body urllib reads as a whole."""
    sent = 0

    def serve():
        nonlocal sent
        with listener.accept()[0] as connection, contextlib.suppress(OSError):
            connection.recv(1 << 16)
            connection.sendall(f"{head}\r\n\r\n".encode())
            for _ in range(1 << 12):  # 256 MB
                connection.sendall(bytes(1 << 16))
                sent += 1 << 16

    with socket.create_server(("127.0.0.1", 0)) as listener, concurrent.futures.ThreadPoolExecutor(1) as pool:
        serving = pool.submit(serve)
        with pytest.raises(PokerError):
            PokerClient(f"http://127.0.0.1:{listener.getsockname()[1]}").tiers()
        serving.result(timeout=20)
    assert sent < 32 << 20


def test_the_client_waits_for_a_body_in_drops_no_longer_than_it_says():
    def serve():
        with listener.accept()[0] as connection, contextlib.suppress(OSError):
            connection.recv(1 << 16)
            connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
            for _ in range(400):
                connection.sendall(b" ")
                time.sleep(0.05)

    with socket.create_server(("127.0.0.1", 0)) as listener, concurrent.futures.ThreadPoolExecutor(1) as pool:
        serving = pool.submit(serve)
        with pytest.raises(PokerError, match="does not end"):
            PokerClient(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=0.5).tiers()
        assert not serving.done()
        listener.close()
        serving.result(timeout=30)
