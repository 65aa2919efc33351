"""Whatever is sent, to any address or socket: an answer, no status 500, no traceback in the log.

CARDENVS_FUZZ=long runs far more of it, with seeds of its own.
"""

import json
import logging
import os
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from served import client, open_table

pytest.importorskip("fastapi")

from cardenvs.server.app import make_app
from cardenvs.server.messages import _FIELDS
from cardenvs.server.settings import Settings
from cardenvs.tools.one_player_poker.api.settings import PokerSettings

LONG = os.environ.get("CARDENVS_FUZZ") == "long"
UNBOUNDED = {"new_tables_per_minute": 10**6, "messages_per_second": 1e6}
POKER = PokerSettings(requests_per_second=10**6, new_games_per_minute=10**6)
LOOSE = list(HealthCheck)

words = st.sampled_from(
    [
        "", "person", "random", "kuhn_poker_v0", "leduc_poker_v0", "practice", "challenge", "easy", "PLAY", "DISCARD",
        "spectator", "everything", "go", "K J Q", "\ud800", "\x00", "a" * 300, "🂡", "-1", "NaN", "../x", "%00",
    ]
) | st.text(max_size=8)  # fmt: skip
numbers = st.sampled_from([0, 1, 2, 3, 4, -1, 2**31, 2**53, 2**63, 2**64, 10**400, 1.5, -0.0, 1e308]) | st.integers()
values = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    "game", "options", "seats", "seed", "deck", "listed", "mode", "difficulty_tier", "hint_request", "jump_request",
    "enabled", "game_id", "action", "type", "selected_indices", "step_index", "do", "actions",
]  # fmt: skip
bodies = values | st.dictionaries(st.sampled_from(FIELDS), values, max_size=6)
tables = st.fixed_dictionaries(
    {"game": st.sampled_from(["kuhn_poker_v0", "leduc_poker_v0"])},
    optional={
        "seats": values | st.lists(words | values, max_size=3), "deck": words, "seed": values, "listed": values,
        "options": st.dictionaries(st.sampled_from(["num_players", "ante", "x"]), values, max_size=2),
    },
)  # fmt: skip
games = st.fixed_dictionaries(
    {},
    optional={
        "mode": words | values, "difficulty_tier": words | values, "seed": numbers, "game_id": words,
        "step_index": numbers, "action": st.fixed_dictionaries(
            {}, optional={"type": words, "selected_indices": st.lists(numbers | values, max_size=8) | values}
        ),
    },
)  # fmt: skip
headers = st.dictionaries(
    st.sampled_from(["origin", "content-type", "content-length", "cookie", "accept", "range", "x-forwarded-for"]),
    st.sampled_from(
        [
            "http://[", "http://testserver", "null", "", "application/json", "application/json; charset=utf-16", "-1",
            "text/html", "9" * 30, "cardenvs_client=x", "cardenvs_client=" + "x" * 200, "cardenvs_client=\xff", "☃",
        ]
    ),
    max_size=2,
)  # fmt: skip


def raw(value):
    """JSON, also of what JSON should not hold, in a form that can be sent."""
    return json.dumps(value).encode()


@pytest.fixture(scope="module")
def server():
    with client(limits=UNBOUNDED, apps={"poker": POKER}) as made:
        yield made


@pytest.fixture
def log():
    """Everything that the server logs at the level of errors."""
    found = []

    class Noting(logging.Handler):
        def emit(self, record):
            found.append(record.getMessage())

    handler = Noting(logging.ERROR)
    watched = [logging.getLogger(name) for name in ("cardenvs.server", "asyncio", "uvicorn.error")]
    for logger in watched:
        logger.addHandler(handler)
    yield found
    for logger in watched:
        logger.removeHandler(handler)


def fuzzed(examples):
    return settings(max_examples=examples * (50 if LONG else 1), deadline=None, suppress_health_check=LOOSE,
                    derandomize=not LONG)  # fmt: skip


def answered(answer):
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400 and answer.content and answer.headers["content-type"] == "application/json":
        assert answer.json()["error"]["code"]


POSTED = ["/api/tables", "/api/replays", "/game/start", "/game/step", "/game/jump", "/game/hint"]


@fuzzed(300)
@given(
    path=st.sampled_from(POSTED),
    body=st.one_of(tables.map(raw), games.map(raw), bodies.map(raw), st.binary(max_size=60)),
    extra=headers,
)
def test_requests_with_a_body(server, log, path, body, extra):
    sent = {"content-type": "application/json"} | {key: value.encode() for key, value in extra.items()}
    answered(server.post(path, content=body, headers=sent))
    assert not log


ROUTES = sorted({route.path for route in make_app(Settings(host_names=("testserver",))).routes})
parts = st.sampled_from(["0", "1", "-1", "9" * 30, "9" * 5000, "%00", "%ff", "%2e%2e", "x" * 300, "é", "list", "1.5"])


@fuzzed(200)
@given(
    route=st.sampled_from(ROUTES), part=parts, method=st.sampled_from(["GET", "HEAD", "PUT", "POST", "DELETE", "X"]),
    extra=headers, query=st.sampled_from(["", "?x=%ff", "?a=1&a=2"]),
)  # fmt: skip
def test_every_address_with_any_method(server, log, route, part, method, extra, query):
    path = re.sub("{[^}]*}", lambda _: part, route)
    answered(server.request(method, path + query, headers={key: value.encode() for key, value in extra.items()}))
    assert not log


fields = st.sampled_from(sorted({name for names in _FIELDS.values() for name in names}))
intents = st.lists(
    st.dictionaries(st.sampled_from(["action", "token", "at", "play", "amount"]), values) | values, max_size=3
)
messages = st.fixed_dictionaries(
    {"do": st.sampled_from(sorted(_FIELDS)) | values},
    optional={
        "turn": st.just(1) | values, "intents": intents, "agent": words, "viewer": values, "narrow": values,
        "how": words, "seconds": numbers | values, "event": numbers | values, "player": numbers | values,
        "before": numbers | values,
    },
)  # fmt: skip


@fuzzed(60)
@given(sent=st.lists(messages.map(raw) | bodies.map(raw) | st.text(max_size=20) | st.binary(max_size=20), max_size=8))
def test_sockets(server, log, sent):
    """Whatever a person sends, after it the socket still answers."""
    table = open_table(server, "kuhn_poker_v0", ["person", "person"], deck="K J Q")
    with server.websocket_connect(f"/ws/{table['seats'][0]['link']}") as socket:
        for one in sent:
            if isinstance(one, str):
                socket.send_text(one.encode(errors="replace").decode())
            elif one[:1] == b"{":
                socket.send_text(one.decode(errors="replace"))
            else:
                socket.send_bytes(one)
        socket.send_json({"do": "the end"})
        said = socket.receive_json()
        while said["type"] != "refused" or "the end" not in said["reason"]:
            said = socket.receive_json()
    assert not log
