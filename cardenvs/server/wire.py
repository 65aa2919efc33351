"""Connections below the application: what a client may leave half done, unread or unanswered.

Uvicorn waits for ever for the rest of a request and for a client that does not read. Here both end: whoever keeps the
server waiting is cut off after a while, and earlier when connections become scarce.
"""

import asyncio
import contextlib
import functools
import logging
import os
import sys
import threading
from collections import Counter
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from cardenvs.server.settings import Limits

_LOOK_SECONDS = 1.0  # between two looks at all connections
_HEAD_BYTES = 1 << 16  # of a request, without its body
_PIPELINED = 16  # requests that a client may send before the first is answered
_UNREAD_BYTES = 1 << 20  # that wait for a socket's client while it goes on sending
_AHEAD = 256  # messages, or parts of one, that a socket's client may send before they are read
_CLOSE_SECONDS = 2.0  # that a socket has to say goodbye
_GRACE_SECONDS = 1  # that requests have when the server ends
_OTHER_FILES = 512  # that a server has open beside its connections


class Guard:
    """All connections of a server. Cuts off clients that keep it waiting."""

    def __init__(self, limits: Limits) -> None:
        self._patience, self._most = limits.client_seconds, limits.requests
        self._sockets: set[_Socket] = set()
        self._https: set[_Http] = set()
        self._addresses: Counter[str] = Counter()
        self._unread: dict[Any, tuple[int, float]] = {}  # bytes that a client does not take, and since when
        self._timer: asyncio.TimerHandle | None = None

    def add_http(self, one: "_Http") -> None:
        """A connection for requests is made; where there are too many, another one ends."""
        if len(self._https) >= self._most:
            self._make_room()
        self._https.add(one)
        self._addresses[one.address] += 1
        self._keep_looking()

    def drop_http(self, one: "_Http") -> None:
        """It is closed, or has become a socket."""
        if one in self._https:
            self._https.discard(one)
            self._addresses[one.address] -= 1
            self._addresses += Counter()  # without those that are zero

    def add_socket(self, one: "_Socket") -> None:
        """A socket is opened."""
        self._sockets.add(one)
        self._keep_looking()

    def drop_socket(self, one: "_Socket") -> None:
        """A socket is closed."""
        self._sockets.discard(one)

    def _make_room(self) -> None:
        """Cut off a client that keeps the server waiting: one of the address with most connections, the slowest."""
        now = asyncio.get_running_loop().time()
        waiting = [one for one in self._https if one.keeps_waiting()]
        if waiting:
            self._cut(max(waiting, key=lambda one: (self._addresses[one.address], now - one.since)))

    def _keep_looking(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._look)

    def _look(self) -> None:
        """Cut off whoever has kept the server waiting for too long."""
        now, unread = asyncio.get_running_loop().time(), {}
        connections: list[_Http | _Socket] = [*self._https, *self._sockets]
        for one in connections:
            left = one.transport.get_write_buffer_size()
            if left:
                before, since = self._unread.get(one, (-1, now))
                unread[one] = (left, since if left == before else now)
        self._unread = unread
        slow: list[_Http | _Socket] = [one for one, (_, since) in unread.items() if now - since > self._patience]
        slow += [one for one in self._https if one.keeps_waiting() and now - one.since > self._patience]
        for one in slow:
            self._cut(one)
        self._timer = None
        if self._https or self._sockets:
            self._keep_looking()

    def _cut(self, one: "_Http | _Socket") -> None:
        one.transport.abort()
        if isinstance(one, _Http):
            self.drop_http(one)
        else:
            self.drop_socket(one)


class _Http(HttpToolsProtocol):
    """A connection for requests.

    Attributes:
        address: of the client.
        since: when it began to do what it does, in the time of the event loop.
    """

    def __init__(self, guard: Guard, **settings: Any) -> None:
        super().__init__(**settings)
        self._guard, self.since = guard, self.loop.time()
        self._head = 0  # bytes of a request that has not begun otherwise
        self.address = ""

    def keeps_waiting(self) -> bool:
        """Return whether the server waits for the client: for a request, for the rest of one, or for it to read."""
        cycle = self.cycle
        idle = cycle is None or (cycle.response_complete and not self.pipeline)
        return idle or cycle.more_body or self.flow.write_paused

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._guard.add_http(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._guard.drop_http(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        super().data_received(data)
        if self._head > _HEAD_BYTES:
            self.transport.abort()

    def on_headers_complete(self) -> None:
        if len(self.pipeline) >= _PIPELINED:
            raise ValueError("too many requests at once")  # answered with status 400
        self._head, self.since = -sys.maxsize, self.loop.time()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._head = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self.since = self.loop.time()
        super().on_response_complete()

    def handle_websocket_upgrade(self) -> None:
        self._guard.drop_http(self)
        super().handle_websocket_upgrade()


class _Socket(WebSocketsSansIOProtocol):
    """A socket."""

    def __init__(self, guard: Guard, **settings: Any) -> None:
        super().__init__(**settings)
        self._guard = guard
        self.close_timeout = _CLOSE_SECONDS

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._guard.add_socket(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._guard.drop_socket(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        # Answers to pings are written whether the client reads them or not.
        if self.transport.get_write_buffer_size() > _UNREAD_BYTES or len(self.frames) > _AHEAD:
            self.transport.abort()
        else:
            super().data_received(data)

    def send_receive_event_to_app(self) -> None:
        if self.queue.qsize() > _AHEAD:  # all of them have come at once, before reading could pause
            self.transport.abort()
        else:
            super().send_receive_event_to_app()


def run(app: Starlette, bind: str, port: int, limits: Limits) -> None:
    """Serve until Ctrl-C or SIGTERM. Agents that think on in threads do not keep the process alive."""
    guard = Guard(limits)
    most = limits.connections + limits.requests
    _allow_files(most + _OTHER_FILES)
    http: Any = functools.partial(_Http, guard)
    socket: Any = functools.partial(_Socket, guard)
    uvicorn.run(
        app, host=bind, port=port, log_level="warning", access_log=False, server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS, http=http, ws=socket, ws_max_size=4 * limits.message_bytes,
        limit_concurrency=2 * most,
    )  # fmt: skip
    _end_if_threads_go_on()


def _allow_files(wanted: int) -> None:
    """Raise the limit of open files, as far as this process may: each connection is one."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _end_if_threads_go_on() -> None:
    """End the process at once if an agent still thinks; Python would wait for its thread."""
    here = threading.current_thread()
    if any(one is not here and not one.daemon for one in threading.enumerate()):
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
