"""Addresses of the server: pages, the small HTTP API behind them, and sockets.

GET  /                                  the lobby
GET  /t/LINK                            a table, for a player, a spectator or whoever opened it
GET  /t/LINK/replay, /t/LINK/replay.json    the game, once it is over
GET  /api/games, /api/tables, /api/recorded
GET  /api/games/NAME/rules              the rules of a game, in Markdown
POST /api/tables                        open a table (see Host.open_table)
GET  /api/view/LINK                     the game view that the link allows
POST /api/replays                       bring a replay
GET  /game, /game/...                   one-player poker (cardenvs.server.poker.app)
GET  /replays/N, /stores/N, /stores/N/MATCH/DEAL/LINEUP, /brought/NAME      recorded games
WS   /ws/LINK                           positions out, messages in (cardenvs.server.messages)
GET  /healthz
"""

import asyncio
import contextlib
import functools
import logging
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as AsgiMessage
from starlette.websockets import WebSocket, WebSocketDisconnect

from cardenvs.core.checks import parsed
from cardenvs.core.errors import CardenvsError, FormatError
from cardenvs.core.events import SPECTATOR
from cardenvs.core.registry import get_game, list_games
from cardenvs.pictures.faces import SYMBOLS
from cardenvs.pictures.style import css
from cardenvs.server.address import client_address, is_other_site
from cardenvs.server.drawing import Drawings
from cardenvs.server.host import Host
from cardenvs.server.messages import read_message
from cardenvs.server.playback import Playback
from cardenvs.server.poker.app import make_game_app
from cardenvs.server.poker.pools import Pools
from cardenvs.server.poker.store import Games
from cardenvs.server.room import NOT_KEPT, Connection, Room
from cardenvs.server.settings import Settings
from cardenvs.server.table import RefusedError

_log = logging.getLogger("cardenvs.server")
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
# A recorded game plays in an origin of its own, so its page cannot reach the links that a browser keeps for this one.
_PLAYER_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
_ASSETS = {
    "app.css": "text/css", "game.css": "text/css", "game.js": "text/javascript", "hand.js": "text/javascript",
    "lobby.js": "text/javascript", "seats.js": "text/javascript", "table.js": "text/javascript",
    "text.js": "text/javascript",
}  # fmt: skip
_BURST_SECONDS = 4.0
_ANSWERS = 8  # messages of one connection that are being answered
_NOT_FOUND, _TOO_MANY = 4404, 4429  # codes with which sockets are closed


class _Place(Convertor[int]):
    """A number in an address that fits a column of SQLite; Starlette's own may have any number of digits."""

    regex = "[0-9]{1,18}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("place", _Place())


def make_app(settings: Settings) -> Starlette:
    """Return the ASGI application.

    Raises:
        FileError: the file of tables, or one of a calibration run, cannot be used.
        FormatError: a file of a calibration run is not what it should be.
    """
    host, playback, drawings = Host(settings), Playback(settings), Drawings(settings.limits)
    games = Games(settings.data, settings.limits)
    game_app = make_game_app(games, Pools.load(settings.poker_run, settings.deck_key), settings.limits)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await host.start()
        yield
        await drawings.stop()
        await host.stop()
        games.close()

    pages = _Pages(host, playback, drawings)
    app = Starlette(
        routes=[
            Route("/", pages.lobby),
            Route("/healthz", pages.health),
            Route("/assets/{name}", pages.asset),
            Route("/t/{link}", pages.table),
            Route("/t/{link}/replay", pages.table_replay),
            Route("/t/{link}/replay.json", pages.table_replay_file),
            Route("/game", pages.game),
            Route("/game/{rest:path}", game_app),
            Route("/api/games", pages.games),
            Route("/api/games/{name}/rules", pages.rules),
            Route("/api/tables", pages.tables),
            Route("/api/tables", pages.open_table, methods=["POST"]),
            Route("/api/view/{link}", pages.view),
            Route("/api/recorded", pages.recorded),
            Route("/api/replays", pages.bring, methods=["POST"]),
            Route("/replays/{number:place}", pages.replay),
            Route("/stores/{number:place}", pages.store),
            Route("/stores/{number:place}/{match}/{deal:place}/{lineup:place}", pages.store_game),
            Route("/brought/{name}", pages.brought),
            WebSocketRoute("/ws/{link}", _Sockets(host).serve),
        ],
        exception_handlers={
            HTTPException: _http_error, RefusedError: _refused, CardenvsError: _wrong, sqlite3.Error: _not_kept,
            Exception: _broken,
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
    """Adds security headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                headers = message.setdefault("headers", [])
                present = {name.lower() for name, _ in headers}
                for name, value in {**_HEADERS, "content-security-policy": _PAGE_POLICY}.items():
                    if name.encode() not in present:
                        headers.append((name.encode(), value.encode()))
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


# ---------------------------------------------------------------------------------------------------------------
# Errors: always JSON with a code and a message


def _error(status: int, code: str, message: str) -> JSONResponse:
    text = message.encode(errors="replace").decode()  # it may quote half a character of the request
    return JSONResponse({"error": {"code": code, "message": text}}, status)


async def _http_error(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    codes = {404: "not_found", 405: "method_not_allowed", 413: "too_large", 415: "wrong_type"}
    return _error(status, codes.get(status, "http_error"), getattr(error, "detail", "") or "the request failed")


async def _refused(request: Request, error: Exception) -> Response:
    return _error(429, "refused", str(error))


async def _wrong(request: Request, error: Exception) -> Response:
    return _error(400, "bad_request", str(error.args[0]) if error.args else str(error))


async def _not_kept(request: Request, error: Exception) -> Response:
    _log.error("the file of tables cannot be used: %s", error)
    return _error(503, "not_kept", NOT_KEPT)


async def _broken(request: Request, error: Exception) -> Response:
    _log.exception("a request to /%s failed", request.url.path.split("/")[1])  # the rest may be a secret link
    return _error(500, "internal_error", "something went wrong here; the server's log says more")


# ---------------------------------------------------------------------------------------------------------------
# Pages


@functools.cache
def _static(name: str) -> str:
    text = (files("cardenvs.server") / "static" / name).read_text(encoding="utf-8")
    if name == "app.css":
        return f"{css('auto')}\n{text}"
    return text.replace("{{symbols}}", SYMBOLS)


def _page(name: str) -> HTMLResponse:
    return HTMLResponse(_static(name))


def _player(page: str | None) -> HTMLResponse:
    if page is None:
        raise HTTPException(404, "there is no such recorded game")
    return HTMLResponse(page, headers={"content-security-policy": _PLAYER_POLICY})


class _Pages:
    """The pages and the HTTP API."""

    def __init__(self, host: Host, playback: Playback, drawings: Drawings) -> None:
        self._host, self._playback, self._drawings = host, playback, drawings
        self._games: JSONResponse | None = None

    async def health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def lobby(self, request: Request) -> Response:
        return _page("lobby.html")

    async def game(self, request: Request) -> Response:
        return _page("game.html")

    async def asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _ASSETS:
            raise HTTPException(404, "there is no such file")
        return Response(_static(name), media_type=_ASSETS[name], headers={"cache-control": "no-cache"})

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

    async def tables(self, request: Request) -> Response:
        return JSONResponse({"tables": self._host.tables()})

    async def open_table(self, request: Request) -> Response:
        _check_origin(request.headers.get("origin"), request.headers.get("host"))
        wanted = parsed(await _body(request, self._host.settings.limits.body_bytes), "the request")
        record = await self._host.open_table(wanted, _address(request))
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

    async def table(self, request: Request) -> Response:
        if self._host.records.find(request.path_params["link"]) is None:
            raise HTTPException(404, "no table has this link")
        return _page("table.html")

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

    async def recorded(self, request: Request) -> Response:
        return JSONResponse(self._playback.listing())

    async def bring(self, request: Request) -> Response:
        _check_origin(request.headers.get("origin"), request.headers.get("host"))
        data = await _body(request, self._host.settings.limits.replay_bytes)
        page = await self._drawn(request, self._playback.brought_job(data))
        return JSONResponse({"name": self._playback.keep(page or "")}, 201)

    async def brought(self, request: Request) -> Response:
        return _player(self._playback.brought_page(request.path_params["name"]))

    async def replay(self, request: Request) -> Response:
        return _player(await self._drawn(request, self._playback.replay_job(request.path_params["number"])))

    async def store(self, request: Request) -> Response:
        self._drawings.count(_address(request))
        found = await run_in_threadpool(self._playback.store_games, request.path_params["number"])
        if found is None:
            raise HTTPException(404, "there is no such store")
        return JSONResponse({"games": found})

    async def store_game(self, request: Request) -> Response:
        where = request.path_params
        job = self._playback.store_job(where["number"], where["match"], where["deal"], where["lineup"])
        return _player(await self._drawn(request, job))

    async def _drawn(self, request: Request, job: dict[str, Any] | None) -> str | None:
        """Return the page of a recorded game, if there is one; nobody draws for a client that has left."""
        return None if job is None else await _unless_gone(request, self._drawings.page(job, _address(request)))

    async def _room(self, request: Request) -> Room:
        room = await self._host.find(request.path_params["link"])
        if room is None:
            raise HTTPException(404, "no table has this link")
        return room

    async def _finished(self, request: Request) -> Room:
        room = await self._room(request)
        if not room.table.state.is_terminal:
            raise HTTPException(409, "the game is not over; its replay shows everything")
        return room


async def _body(request: Request, most: int) -> bytes:
    """Return the body of a request with JSON."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "send application/json")
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > most:
            raise HTTPException(413, f"at most {most} bytes are taken")
    return data


async def _unless_gone(request: Request, work: Coroutine[Any, Any, str]) -> str:
    """Return the result of `work`, which ends when the client leaves. The body has been read."""
    doing, leaving = asyncio.create_task(work), asyncio.create_task(_left(request))
    try:
        await asyncio.wait({doing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise HTTPException(499, "the client has left")
        return doing.result()
    finally:
        doing.cancel()
        leaving.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _address(request: HTTPConnection) -> str:
    return client_address(request.scope.get("client"))


def _check_origin(origin: str | None, host: str | None) -> None:
    """Refuse what a page of another site makes a browser send."""
    if is_other_site(origin, host):
        raise HTTPException(403, "this comes from a page of another site")


# ---------------------------------------------------------------------------------------------------------------
# Sockets


class _Sockets:
    """The sockets of all tables."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._open: Counter[str] = Counter()  # by client

    async def serve(self, socket: WebSocket) -> None:
        """Serve a socket until it closes."""
        limits, client = self._host.settings.limits, _address(socket)
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
            self._open += Counter()  # without those that are zero

    async def _enter(self, socket: WebSocket, link: str) -> None:
        try:
            _check_origin(socket.headers.get("origin"), socket.headers.get("host"))
            room = await self._host.find(link)
        except (HTTPException, CardenvsError):
            room = None
        except RefusedError as error:
            await socket.close(_TOO_MANY, str(error))
            return
        # Nothing is awaited from here until the connection is known to the room, which may be put away without one.
        if room is None:
            await socket.close(_NOT_FOUND, "no table has this link")
        elif len(room.connections) >= self._host.settings.limits.connections_per_table:
            await socket.close(_TOO_MANY, "there are too many connections")
        else:
            await self._talk(socket, room, Connection(room, link, socket))

    async def _talk(self, socket: WebSocket, room: Room, connection: Connection) -> None:
        room.connections.add(connection)
        room.tell_all()  # who is here
        feed = asyncio.create_task(connection.feed())
        try:
            await self._listen(socket, room, connection)
        except (WebSocketDisconnect, RuntimeError):  # it closed while something was sent
            pass
        finally:
            feed.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await feed
            room.leave(connection)

    async def _listen(self, socket: WebSocket, room: Room, connection: Connection) -> None:
        limits = self._host.settings.limits
        bucket = _Bucket(limits.messages_per_second)
        work: set[asyncio.Task] = set()
        try:
            while True:
                await bucket.take()
                if len(work) >= _ANSWERS:  # of a client that does not read, or asks for much at once
                    await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
                text = await _received(socket)
                task = asyncio.create_task(_answer(room, connection, text, limits.message_bytes))
                work.add(task)
                task.add_done_callback(work.discard)
        finally:
            for task in work:
                task.cancel()


async def _received(socket: WebSocket) -> str | None:
    """Return the next message, or None if it is not text."""
    received = await socket.receive()
    if received["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(received.get("code", 1005))
    return received.get("text")


async def _answer(room: Room, connection: Connection, text: str | None, most: int) -> None:
    """Do what a message asks for, or say why not."""
    try:
        if text is None:
            raise FormatError("a message is text, not bytes")
        if len(text) > most:
            raise FormatError(f"a message has at most {most} characters")
        await room.handle(connection, read_message(text))
    except (RefusedError, CardenvsError) as error:
        await connection.say("refused", reason=str(error))
    except sqlite3.Error as error:
        _log.error("a move at table %s cannot be kept: %s", room.table.record.watch, error)
        await connection.say("refused", reason=NOT_KEPT)
    except Exception:
        _log.exception("a message to table %s failed", room.table.record.watch)
        await connection.say("refused", reason="something went wrong here; the server's log says more")


class _Bucket:
    """Bounds how often something happens, with room for bursts: what comes too early waits."""

    def __init__(self, per_second: float) -> None:
        self._per_second, self._most = per_second, per_second * _BURST_SECONDS
        self._left, self._at = self._most, time.monotonic()

    async def take(self) -> None:
        """Wait until it may happen once more."""
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._at) * self._per_second) - 1
        self._at = now
        if self._left < 0:
            await asyncio.sleep(-self._left / self._per_second)
