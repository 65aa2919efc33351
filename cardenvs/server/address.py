"""Where requests come from: addresses of clients, by which the server counts, and sites whose pages send them."""

import ipaddress
from typing import Any
from urllib.parse import urlsplit

_HOST_BITS = 64  # of an IPv6 address that its owner chooses freely
_LONGEST = 64


def client_address(client: Any) -> str:
    """Return the address under which a client is counted.

    Args:
        client: host and port, as ASGI has them, or None.

    Returns:
        an IPv4 address, the first half of an IPv6 address, or another name of a host, shortened.
    """
    host = str(client[0]) if client else ""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:  # a proxy or a test may say anything
        return host[:_LONGEST]
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(address) >> _HOST_BITS << _HOST_BITS))


def is_other_site(origin: str | None, host: str | None) -> bool:
    """Return whether a browser says that a page of another site has sent a request.

    Args:
        origin: header of the request, or None.
        host: the same.
    """
    if origin is None:
        return False
    try:
        return urlsplit(origin).netloc != host
    except ValueError:  # such as http://[
        return True
