"""Routes of the server: pages, their HTTP API, and web sockets.

GET  /                                  the lobby
GET  /t/LINK                            a table, for a player, a spectator or the host
GET  /t/LINK/replay, /t/LINK/replay.json    the replay of a finished game
GET  /t/LINK/review                     its review: what each decision was worth
GET  /api/games, /api/tables, /api/recorded
GET  /api/games/NAME/rules              the rules of a game in Markdown
GET  /api/games/NAME/picture            a small picture of a game, SVG
POST /api/tables                        open a table, see Host.open_table
GET  /api/view/LINK                     the game view for the link's owner
POST /api/replays                       upload a replay
GET  /replays/N, /stores/N, /stores/N/MATCH/DEAL/LINEUP, /brought/NAME      recorded games
WS   /ws/LINK                           sends positions, receives messages (cardenvs.server.messages)
GET  /healthz

Applications add further routes (cardenvs.server.apps).
"""

import asyncio
import contextlib
import html
import importlib.util
import logging
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as AsgiMessage
from starlette.websockets import WebSocket, WebSocketDisconnect

from cardenvs.core.checks import parsed
from cardenvs.core.errors import CardenvsError, FormatError
from cardenvs.core.events import SPECTATOR
from cardenvs.core.registry import get_game, list_games
from cardenvs.server import http
from cardenvs.server.apps import ServerApp, mount_apps
from cardenvs.server.drawing import Drawings, Reviews
from cardenvs.server.host import Host
from cardenvs.server.messages import read_message
from cardenvs.server.playback import Playback
from cardenvs.server.rate import Rate
from cardenvs.server.room import NOT_KEPT, Connection, Room
from cardenvs.server.settings import Settings
from cardenvs.server.table import RefusedError
from cardenvs.server.tiles import Tiles

_log = logging.getLogger("cardenvs.server")
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
# The page of a recorded game gets its own origin, so it cannot read the links that the browser stores for the server's.
_PLAYER_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'none'"
)
_PICTURE_HEADERS = {
    "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "cache-control": "max-age=3600",
}
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
    "content-security-policy": _PAGE_POLICY,
}
_PACKAGE = "cardenvs.server"
# A review has a chart, which needs the extra `report`.
_HAS_REVIEWS = all(importlib.util.find_spec(module) is not None for module in ("matplotlib", "jinja2"))
_REVIEW_LINK = '<a id="review">see what each decision was worth</a>, ' if _HAS_REVIEWS else ""
_BURST_SECONDS = 4.0
_MOST_OF_A_LINK = 20  # sockets of a player or the host, such as tabs and phones
_ANSWERS = 8  # messages of one socket that are handled at the same time
_NOT_FOUND, _TOO_MANY = 4404, 4429  # close codes of sockets


class _Place(Convertor[int]):
    """A number in a path that fits into an SQLite column. Starlette's own `int` may have any number of digits."""

    regex = "[0-9]{1,18}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("place", _Place())


def make_app(settings: Settings) -> Starlette:
    """Return the ASGI application.

    Raises:
        FileError: the database cannot be used.
        CardenvsError: an application rejects its settings.
    """
    host, playback, drawings, tiles = Host(settings), Playback(settings), Drawings(settings.limits), Tiles()
    reviews = Reviews(settings.limits)
    stack = contextlib.ExitStack()
    apps = mount_apps(settings, stack)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await host.start()
        yield
        await drawings.stop()
        await reviews.stop()
        await tiles.stop()
        await host.stop()
        stack.close()

    pages = _Pages(host, playback, drawings, reviews, tiles, list(apps))
    app = Starlette(
        routes=[
            Route("/", pages.lobby),
            Route("/healthz", pages.health),
            *http.asset_routes(_PACKAGE),
            *http.asset_routes("cardenvs.pictures"),
            Route("/t/{link}", pages.table),
            Route("/t/{link}/replay", pages.table_replay),
            Route("/t/{link}/replay.json", pages.table_replay_file),
            Route("/t/{link}/review", pages.table_review),
            Route("/api/games", pages.games),
            Route("/api/games/{name}/rules", pages.rules),
            Route("/api/games/{name}/picture", pages.picture),
            Route("/api/tables", pages.tables),
            Route("/api/tables", pages.open_table, methods=["POST"]),
            Route("/api/tables/mine", pages.tables_of, methods=["POST"]),
            Route("/api/view/{link}", pages.view),
            Route("/api/recorded", pages.recorded),
            Route("/api/replays", pages.bring, methods=["POST"]),
            Route("/replays/{number:place}", pages.replay),
            Route("/stores/{number:place}", pages.store),
            Route("/stores/{number:place}/{match}/{deal:place}/{lineup:place}", pages.store_game),
            Route("/brought/{name}", pages.brought),
            WebSocketRoute("/ws/{link}", _Sockets(host).serve),
            *(route for routes in apps.values() for route in routes),
        ],
        exception_handlers={
            HTTPException: _http_error, RefusedError: _refused, CardenvsError: _wrong, **http.failure_handlers(_failed),
        },
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=list(settings.host_names), www_redirect=False),
            Middleware(_SecureHeaders),
        ],
        lifespan=lifespan,
    )  # fmt: skip
    app.state.host = host
    return app


class _SecureHeaders:
    """Adds missing security headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


# -- errors: JSON with a code and a message -----------------------------------------------------------------------


def _error(status: int, code: str, message: str) -> JSONResponse:
    text = message.encode(errors="replace").decode()  # a quoted part of the request may have lone surrogates
    return JSONResponse({"error": {"code": code, "message": text}}, status)


async def _http_error(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    codes = {404: "not_found", 405: "method_not_allowed", 413: "too_large", 415: "wrong_type"}
    return _error(status, codes.get(status, "http_error"), getattr(error, "detail", "") or "the request failed")


async def _refused(request: Request, error: Exception) -> Response:
    return _error(429, "refused", str(error))


async def _wrong(request: Request, error: Exception) -> Response:
    return _error(400, "bad_request", str(error.args[0]) if error.args else str(error))


def _failed(status: int) -> Response:
    if status == 503:
        return _error(503, "not_kept", NOT_KEPT)
    return _error(status, "internal_error", "something went wrong here; the server's log says more")


# -- pages --------------------------------------------------------------------------------------------------------


def _player(page: str | None) -> HTMLResponse:
    if page is None:
        raise HTTPException(404, "there is no such recorded game")
    return HTMLResponse(page, headers={"content-security-policy": _PLAYER_POLICY})


class _Pages:
    """Handlers of pages and of the HTTP API."""

    def __init__(
        self,
        host: Host,
        playback: Playback,
        drawings: Drawings,
        reviews: Reviews,
        tiles: Tiles,
        apps: Sequence[ServerApp],
    ) -> None:
        self._host, self._playback, self._drawings, self._tiles = host, playback, drawings, tiles
        self._reviews = reviews
        self._links = "".join(f'<a href="{html.escape(app.path)}">{html.escape(app.title)}</a>' for app in apps)
        self._games: JSONResponse | None = None

    async def health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def lobby(self, request: Request) -> Response:
        return HTMLResponse(http.static_text(_PACKAGE, "lobby.html").replace("{{apps}}", self._links))

    async def games(self, request: Request) -> Response:
        if self._games is None:
            self._games = JSONResponse({"games": await run_in_threadpool(self._host.games)})
        return self._games

    async def rules(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in list_games():
            raise HTTPException(404, "there is no such game")
        text = await run_in_threadpool(lambda: get_game(name).rules_text)
        return Response(text, media_type="text/markdown; charset=utf-8")

    async def picture(self, request: Request) -> Response:
        drawn = await self._tiles.picture(request.path_params["name"])
        if drawn is None:
            raise HTTPException(404, "there is no picture of such a game")
        return Response(drawn, media_type="image/svg+xml", headers=_PICTURE_HEADERS)

    async def tables(self, request: Request) -> Response:
        return JSONResponse({"tables": self._host.tables()})

    async def open_table(self, request: Request) -> Response:
        wanted = parsed(await http.read_json_body(request, self._host.settings.limits.body_bytes), "the request")
        record = await self._host.open_table(wanted, http.client_address(request.scope))
        return JSONResponse(
            {
                "game": record.game,
                "host": record.host,
                "watch": record.watch,
                "seats": [
                    {"by": seat.agent} if seat.agent else {"by": "person", "link": seat.link} for seat in record.seats
                ],
            },
            201,
        )

    async def tables_of(self, request: Request) -> Response:
        wanted = parsed(await http.read_json_body(request, self._host.settings.limits.body_bytes), "the request")
        return JSONResponse({"tables": self._host.tables_of(wanted)})

    async def table(self, request: Request) -> Response:
        if self._host.records.find(request.path_params["link"]) is None:
            raise HTTPException(404, "no table has this link")
        return HTMLResponse(http.static_text(_PACKAGE, "table.html").replace("{{review}}", _REVIEW_LINK))

    async def view(self, request: Request) -> Response:
        room, link = await self._room(request), request.path_params["link"]
        seat = room.table.seat_of(link)
        return JSONResponse(room.table.show(SPECTATOR if seat is None else seat).view)

    async def table_replay(self, request: Request) -> Response:
        room = await self._finished(request)
        return _player(await self._drawn(request, room.table.replay_job()))

    async def table_replay_file(self, request: Request) -> Response:
        room = await self._finished(request)
        return Response(
            room.table.replay().text(), media_type="application/json", headers={"content-disposition": "attachment"}
        )

    async def table_review(self, request: Request) -> Response:
        room = await self._finished(request)
        client = http.client_address(request.scope)
        return _player(await _unless_gone(request, self._reviews.page(room.table.replay().text(), client)))

    async def recorded(self, request: Request) -> Response:
        return JSONResponse(self._playback.listing())

    async def bring(self, request: Request) -> Response:
        data = await http.read_json_body(request, self._host.settings.limits.replay_bytes)
        drawn = await self._drawn(request, self._playback.brought_job(data))
        return JSONResponse({"name": self._playback.keep(drawn or "")}, 201)

    async def brought(self, request: Request) -> Response:
        return _player(self._playback.brought_page(request.path_params["name"]))

    async def replay(self, request: Request) -> Response:
        return _player(await self._drawn(request, self._playback.replay_job(request.path_params["number"])))

    async def store(self, request: Request) -> Response:
        self._drawings.check_rate(http.client_address(request.scope))
        found = await run_in_threadpool(self._playback.store_games, request.path_params["number"])
        if found is None:
            raise HTTPException(404, "there is no such store")
        return JSONResponse({"games": found})

    async def store_game(self, request: Request) -> Response:
        where = request.path_params
        job = self._playback.store_job(where["number"], where["match"], where["deal"], where["lineup"])
        return _player(await self._drawn(request, job))

    async def _drawn(self, request: Request, job: dict[str, Any] | None) -> str | None:
        """Return the page of a recorded game, or None without a job. Drawing ends when the client disconnects."""
        if job is None:
            return None
        return await _unless_gone(request, self._drawings.page(job, http.client_address(request.scope)))

    async def _room(self, request: Request) -> Room:
        room = await self._host.find(request.path_params["link"])
        if room is None:
            raise HTTPException(404, "no table has this link")
        return room

    async def _finished(self, request: Request) -> Room:
        room = await self._room(request)
        if not room.table.state.is_terminal:
            raise HTTPException(409, "the replay shows all cards, so it is available when the game is over")
        return room


async def _unless_gone(request: Request, work: Coroutine[Any, Any, str]) -> str:
    """Return the result of `work`; cancel it when the client disconnects. The request's body must have been read."""
    doing, leaving = asyncio.create_task(work), asyncio.create_task(_left(request))
    try:
        await asyncio.wait({doing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise HTTPException(499, "the client disconnected")
        return doing.result()
    finally:
        doing.cancel()
        leaving.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


# -- sockets ------------------------------------------------------------------------------------------------------


class _Sockets:
    """Handler of the sockets of all tables."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._open: Counter[str] = Counter()  # open sockets by client

    async def serve(self, socket: WebSocket) -> None:
        """Serve a socket until it closes."""
        limits, client = self._host.settings.limits, http.client_address(socket.scope)
        is_full = self._open.total() >= limits.connections or self._open[client] >= limits.connections_per_address
        self._open[client] += 1
        try:
            await socket.accept()
            if is_full:
                await socket.close(_TOO_MANY, "there are too many connections")
            else:
                await self._enter(socket, socket.path_params["link"])
        finally:
            self._open[client] -= 1
            self._open += Counter()  # drops zeros

    async def _enter(self, socket: WebSocket, link: str) -> None:
        try:
            http.check_origin(socket.headers)
            room = await self._host.find(link)
        except (HTTPException, CardenvsError):
            room = None
        except RefusedError as error:
            await socket.close(_TOO_MANY, str(error))
            return
        # No await from here until the room has the connection: a room without connections may be unloaded.
        if room is None:
            await socket.close(_NOT_FOUND, "no table has this link")
        elif self._is_full(room, link):
            await socket.close(_TOO_MANY, "there are too many connections")
        else:
            connection = Connection(room, link, socket)
            connection.narrow = "narrow" in socket.query_params
            await self._talk(socket, room, connection)

    def _is_full(self, room: Room, link: str) -> bool:
        """Return whether a room has no place for a link. Spectators take no places from players and the host."""
        record = room.table.record
        own = {record.host, *(seat.link for seat in record.seats)}
        if link in own:
            return sum(other.link == link for other in room.connections) >= _MOST_OF_A_LINK
        watching = sum(other.link not in own for other in room.connections)
        return watching >= self._host.settings.limits.connections_per_table

    async def _talk(self, socket: WebSocket, room: Room, connection: Connection) -> None:
        room.connections.add(connection)
        room.tell_all()
        feed = asyncio.create_task(connection.feed())
        try:
            await self._listen(socket, room, connection)
        except (WebSocketDisconnect, RuntimeError):  # RuntimeError: the socket closed while a message was sent
            pass
        finally:
            feed.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await feed
            room.leave(connection)

    async def _listen(self, socket: WebSocket, room: Room, connection: Connection) -> None:
        limits = self._host.settings.limits
        rate = Rate(60 * limits.messages_per_second, max(1, limits.messages_per_second * _BURST_SECONDS))
        work: set[asyncio.Task[None]] = set()
        try:
            while True:
                while delay := rate.delay(""):
                    await asyncio.sleep(delay)
                if len(work) >= _ANSWERS:  # the client does not read, or asks too much at once
                    await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
                text = await _received(socket)
                task = asyncio.create_task(_answer(room, connection, text, limits.message_bytes))
                work.add(task)
                task.add_done_callback(work.discard)
        finally:
            for task in work:
                task.cancel()


async def _received(socket: WebSocket) -> str | None:
    """Return the next message, or None if it is binary."""
    received = await socket.receive()
    if received["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(received.get("code", 1005))
    return received.get("text")


async def _answer(room: Room, connection: Connection, text: str | None, most: int) -> None:
    """Handle a message. If it is refused, send the reason."""
    try:
        if text is None:
            raise FormatError("a message must be text, not bytes")
        if len(text) > most:
            raise FormatError(f"a message may have {most} characters at most")
        await room.handle(connection, read_message(text))
    except (RefusedError, CardenvsError) as error:
        await connection.say("refused", reason=str(error))
    except sqlite3.Error as error:
        _log.error("a move at table %s cannot be kept: %s", room.table.record.watch, error)
        await connection.say("refused", reason=NOT_KEPT)
    except Exception:
        _log.exception("a message to table %s failed", room.table.record.watch)
        await connection.say("refused", reason="something went wrong here; the server's log says more")
