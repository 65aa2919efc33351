"""HTTP parts shared by the server and its applications: clients, origins, bodies, static files, failures."""

import functools
import ipaddress
import logging
import sqlite3
from collections.abc import Callable, Coroutine
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope

from cardenvs.pictures.svg import with_pictures

_log = logging.getLogger("cardenvs.server")
_HOST_BITS = 64  # of an IPv6 address: its owner chooses them freely
_LONGEST_ADDRESS = 64
_MEDIA_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

Handler = Callable[[Request, Exception], Coroutine[Any, Any, Response]]


def client_address(scope: Scope) -> str:
    """Return the address by which the client of an ASGI scope is counted.

    Returns:
        an IPv4 address, the network half of an IPv6 address, or any other host name, shortened.
    """
    client = scope.get("client")
    host = str(client[0]) if client else ""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:  # proxies and tests send other names
        return host[:_LONGEST_ADDRESS]
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(address) >> _HOST_BITS << _HOST_BITS))


def check_origin(headers: Headers) -> None:
    """Raise HTTPException (403) if a browser says that a page of another site sent the request."""
    origin = headers.get("origin")
    if origin is None:
        return
    try:
        is_own = urlsplit(origin).netloc == headers.get("host")
    except ValueError:  # such as http://[
        is_own = False
    if not is_own:
        raise HTTPException(403, "this comes from a page of another site")


def check_post(headers: Headers, most: int) -> None:
    """Check the headers of a POST request, whose body may have `most` bytes, before the body is read.

    Raises:
        HTTPException: another site sent it (403), it is not JSON (415), or it announces a longer body (413).
    """
    check_origin(headers)
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "send application/json")
    length = headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length[:20]) > most:
        raise _too_long(most)


def bounded(receive: Receive, most: int) -> Receive:
    """Return a `receive` that raises HTTPException (413) once a body has more than `most` bytes."""
    size = 0

    async def receive_some() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > most:
            raise _too_long(most)
        return message

    return receive_some


async def read_json_body(request: Request, most: int) -> bytes:
    """Return the body of a POST request of JSON; raises what `check_post` and `bounded` raise."""
    check_post(request.headers, most)
    return await Request(request.scope, bounded(request.receive, most)).body()


def _too_long(most: int) -> HTTPException:
    return HTTPException(413, f"the body may have {most} bytes at most")


def asset_routes(package: str) -> list[Route]:
    """Return a route /assets/NAME for each style sheet, script and picture in the folder `static` of a package."""
    names = sorted(file.name for file in (files(package) / "static").iterdir())
    return [_asset_route(package, name, kind) for name in names if (kind := _MEDIA_TYPES.get(name[name.rfind(".") :]))]


def _asset_route(package: str, name: str, media_type: str) -> Route:
    async def asset(request: Request) -> Response:
        return Response(static_text(package, name), media_type=media_type, headers={"cache-control": "no-cache"})

    return Route(f"/assets/{name}", asset)


@functools.cache
def static_text(package: str, name: str) -> str:
    """Return a file of the folder `static` of a package, with {{style}} and {{symbols}} of the pictures filled in."""
    return with_pictures((files(package) / "static" / name).read_text(encoding="utf-8"))


def failure_handlers(respond: Callable[[int], Response]) -> dict[Any, Handler]:
    """Return exception handlers that log a failure of the server and respond with 503 if the database cannot be used,
    or 500.
    """

    async def database_failed(request: Request, error: Exception) -> Response:
        _log.error("the database of the server cannot be used: %s", error)
        return respond(503)

    async def request_failed(request: Request, error: Exception) -> Response:
        part = request.url.path.split("/")[1]  # the rest may be a secret link
        _log.error("a request to /%s failed", part, exc_info=error)
        return respond(500)

    return {sqlite3.Error: database_failed, Exception: request_failed}
