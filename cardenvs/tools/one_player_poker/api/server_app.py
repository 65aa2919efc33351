"""One-player poker as an application of the server, at /game; see cardenvs.server.apps."""

import logging
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from cardenvs.server.apps import ServerApp
from cardenvs.server.settings import Settings
from cardenvs.tools.one_player_poker.api.settings import PokerSettings

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

_PACKAGE = "cardenvs.tools.one_player_poker.api"


def _option(*names: str, **details: Any) -> Any:
    return Option(*names, rich_help_panel="One-player poker", **details)


def _configure(
    poker_run: Annotated[
        Path | None, _option(metavar="FOLDER", help="Seeds, from a run of `cardenvs poker calibrate`.")
    ] = None,
    deck_key: Annotated[
        Path | None, _option(metavar="FILE", help="Secret from which decks are shuffled, to play for prizes.")
    ] = None,
    log: Annotated[
        bool, _option("--log", help="Write a line of JSON to standard error for each request to /game.")
    ] = False,
) -> PokerSettings:
    from cardenvs.tools.one_player_poker.api.pools import read_key

    return PokerSettings(poker_run, read_key(deck_key) if deck_key else b"", log)


def _mount(server: Settings, own: PokerSettings, stack: ExitStack) -> list["BaseRoute"]:
    from cardenvs.core.errors import require

    require("fastapi", "server")
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, Response
    from starlette.routing import Route

    from cardenvs.server.http import asset_routes, static_text
    from cardenvs.tools.one_player_poker.api.app import make_game_app
    from cardenvs.tools.one_player_poker.api.pools import Pools
    from cardenvs.tools.one_player_poker.api.store import Games

    async def page(request: Request) -> Response:
        return HTMLResponse(static_text(_PACKAGE, "game.html"))

    pools = Pools.load(own.run, own.deck_key)
    games = Games(server.data, own, server.limits.keep_days)
    stack.callback(games.close)
    if own.log:
        _log_requests()
    api = make_game_app(games, pools, own, server.limits.body_bytes)
    return [Route("/game", page), Route("/game/{rest:path}", api), *asset_routes(_PACKAGE)]


def _log_requests() -> None:
    requests = logging.getLogger(_PACKAGE)
    requests.addHandler(logging.StreamHandler())  # which writes messages alone
    requests.setLevel(logging.INFO)


POKER = ServerApp("One-player poker", "/game", _configure, _mount)
