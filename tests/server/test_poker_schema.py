"""The API against its own OpenAPI schema, with generated requests."""

import pytest
from hypothesis import HealthCheck, settings
from served import client

pytest.importorskip("schemathesis")
pytest.importorskip("fastapi")

import schemathesis

from cardenvs.server.poker.app import make_game_app
from cardenvs.server.poker.pools import Pools
from cardenvs.server.poker.store import Games
from cardenvs.server.settings import Limits

LIMITS = Limits(game_requests_per_second=10**6, new_games_per_minute=10**6)
api = schemathesis.openapi.from_asgi("/game/openapi.json", make_game_app(Games(":memory:"), Pools.load(), LIMITS))


@api.parametrize()
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_answers_are_as_the_schema_says(case):
    case.call_and_validate()


def test_the_schema_says_which_words_are_no_ids_of_games():
    with client() as server:
        (parameter,) = server.get("/game/openapi.json").json()["paths"]["/game/{game_id}"]["get"]["parameters"]
        words = parameter["schema"]["not"]["enum"]
        for word in words:
            assert server.get(f"/game/{word}").status_code == 405
    assert set(words) == {"start", "step", "jump", "hint"}


def test_the_schema_describes_every_address():
    with client() as server:
        paths = server.get("/game/openapi.json").json()["paths"]
    assert set(paths) == {
        "/game/tiers", "/game/start", "/game/step", "/game/jump", "/game/hint", "/game/list", "/game/{game_id}",
        "/game/{game_id}/ai_trace",
    }  # fmt: skip
    assert all(operation["summary"] and operation["responses"]["200"]["content"] for path in paths.values()
               for operation in path.values())  # fmt: skip
