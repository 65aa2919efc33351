"""The API against its own OpenAPI schema, with generated requests."""

from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, assume, settings
from served import client

pytest.importorskip("schemathesis")
pytest.importorskip("fastapi")

import schemathesis

from cardenvs.tools.one_player_poker.api.app import make_game_app
from cardenvs.tools.one_player_poker.api.pools import Pools
from cardenvs.tools.one_player_poker.api.settings import PokerSettings
from cardenvs.tools.one_player_poker.api.store import Games

LIMITS = PokerSettings(requests_per_second=10**6, new_games_per_minute=10**6)
OTHERS = {"tiers", "start", "step", "jump", "hint", "list", "openapi.json"}
"""No ids of games: in OpenAPI, a path without parameters goes before one with them."""
api = schemathesis.openapi.from_asgi("/game/openapi.json", make_game_app(Games(":memory:"), Pools.load(), LIMITS))


@api.parametrize()
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_answers_are_as_the_schema_says(case):
    assume(unquote(str(case.path_parameters.get("game_id"))) not in OTHERS)
    case.call_and_validate()


def test_the_schema_describes_every_address():
    with client() as server:
        paths = server.get("/game/openapi.json").json()["paths"]
    assert set(paths) == {
        "/game/tiers", "/game/start", "/game/step", "/game/jump", "/game/hint", "/game/list", "/game/{game_id}",
        "/game/{game_id}/ai_trace",
    }  # fmt: skip
    assert all(operation["summary"] and operation["responses"]["200"]["content"] for path in paths.values()
               for operation in path.values())  # fmt: skip
