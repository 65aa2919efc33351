"""Serving with bounds on slow and excessive connections.

Uvicorn waits without limit for the rest of a request, and for a client that does not read. Here, a client that keeps
the server waiting is disconnected after a while, and earlier when there are too many connections.
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

_CHECK_SECONDS = 1.0  # interval between checks of all connections
_HEAD_BYTES = 1 << 16  # size of a request without its body
_PIPELINED = 16  # requests that a client may send before it gets the first response
_UNREAD_BYTES = 1 << 20  # bytes that a socket's client may leave unread while it sends more
_AHEAD = 256  # messages, or parts of one, in the queue of a socket
_CLOSE_SECONDS = 2.0  # time for the closing handshake of a socket
_GRACE_SECONDS = 1  # time for requests to finish when the server ends
_OTHER_FILES = 512  # open files other than connections


class Guard:
    """All connections of a server. Disconnects clients that keep it waiting."""

    def __init__(self, limits: Limits) -> None:
        self._patience, self._most = limits.client_seconds, limits.requests
        self._sockets: set[_Socket] = set()
        self._https: set[_Http] = set()
        self._addresses: Counter[str] = Counter()
        self._unread: dict[Any, tuple[int, float]] = {}  # unread bytes, and since when their number is the same
        self._timer: asyncio.TimerHandle | None = None

    def add_http(self, one: "_Http") -> None:
        """Add an HTTP connection. If there are too many, abort another one."""
        if len(self._https) >= self._most:
            self._make_room()
        self._https.add(one)
        self._addresses[one.address] += 1
        self._schedule_check()

    def drop_http(self, one: "_Http") -> None:
        """Remove an HTTP connection that was closed or upgraded to a socket."""
        if one in self._https:
            self._https.discard(one)
            self._addresses[one.address] -= 1
            self._addresses += Counter()  # drops zeros

    def add_socket(self, one: "_Socket") -> None:
        """Add an open socket."""
        self._sockets.add(one)
        self._schedule_check()

    def drop_socket(self, one: "_Socket") -> None:
        """Remove a closed socket."""
        self._sockets.discard(one)

    def _make_room(self) -> None:
        """Abort a connection that keeps the server waiting: the slowest of the address with the most connections."""
        now = asyncio.get_running_loop().time()
        waiting = [one for one in self._https if one.keeps_waiting()]
        if waiting:
            self._cut(max(waiting, key=lambda one: (self._addresses[one.address], now - one.since)))

    def _schedule_check(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_CHECK_SECONDS, self._check)

    def _check(self) -> None:
        """Abort connections that have kept the server waiting for too long."""
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
            self._schedule_check()

    def _cut(self, one: "_Http | _Socket") -> None:
        one.transport.abort()
        if isinstance(one, _Http):
            self.drop_http(one)
        else:
            self.drop_socket(one)


class _Http(HttpToolsProtocol):
    """An HTTP connection."""

    def __init__(self, guard: Guard, **settings: Any) -> None:
        super().__init__(**settings)
        # when the current phase (waiting, request or response) began, in the event loop's time
        self.since = self.loop.time()
        self._guard = guard
        self._head = 0  # bytes received since the last request, up to the end of the next one's headers
        self.address = ""  # address of the client

    def keeps_waiting(self) -> bool:
        """Return whether the server waits for the client to send a request, to finish one, or to read."""
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
            raise ValueError("too many requests at once")  # the response has status 400
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
    """A web socket."""

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
        # Pongs are written even if the client does not read them.
        if self.transport.get_write_buffer_size() > _UNREAD_BYTES or len(self.frames) > _AHEAD:
            self.transport.abort()
        else:
            super().data_received(data)

    def send_receive_event_to_app(self) -> None:
        if self.queue.qsize() > _AHEAD:  # messages of a single packet arrive before reading can pause
            self.transport.abort()
        else:
            super().send_receive_event_to_app()


def run(app: Starlette, bind: str, port: int, limits: Limits) -> None:
    """Serve until Ctrl-C or SIGTERM. Agents that still think in threads do not keep the process alive."""
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
    """Raise the limit of open files as far as possible: each connection needs one."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _end_if_threads_go_on() -> None:
    """Exit at once if an agent still thinks. Python would wait for its thread."""
    here = threading.current_thread()
    if any(one is not here and not one.daemon for one in threading.enumerate()):
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
