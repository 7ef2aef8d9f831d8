"""Requests to addresses that others have chosen: to public hosts alone, in bounded time, of a bounded size."""

import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from ssl import SSLError
from time import monotonic
from typing import Any

import httpcore
import httpx

from core.errors import CounterpartError

SECONDS = 30  # of a request, redirects included
REDIRECTS = 5
MOVED = (301, 302, 303, 307, 308)
TRANSLATED = IPv6Network("64:ff9b::/96")
"""Addresses of IPv4 for hosts that have IPv6 alone (RFC 6052)."""


class UnusableError(Exception):
    """An answer that is not used."""


FAILURES = (
    UnusableError,
    SSLError,
    httpx.InvalidURL,
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
)


class PublicNetwork(httpcore.NetworkBackend):
    """Connects to public addresses alone. A name is looked up once: what was checked is what is connected to."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpcore.ConnectError(f"there is no host {host}") from error
        addresses = [str(address[0]) for *_, address in found]
        if not all(map(is_public, addresses)):
            raise httpcore.ConnectError(f"{host} is in a private network")
        return httpcore.SyncBackend().connect_tcp(addresses[0], port, timeout, local_address, socket_options)


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet: not to this computer, its network, or a reserved range."""
    parsed = ip_address(address)
    if isinstance(parsed, IPv6Address):
        translated = IPv4Address(int(parsed) & 0xFFFFFFFF) if parsed in TRANSLATED else None
        parsed = parsed.ipv4_mapped or parsed.sixtofour or translated or parsed
    return parsed.is_global and not parsed.is_multicast


def fetch(url: str, *, at_most: int) -> bytes:
    """Return what is at an address of http or https, following redirects.

    Raises CounterpartError with the reason: an address in a private network, another answer than 200, more than
    ``at_most`` bytes, more than 30 seconds or 5 redirects, or no connection.
    """
    deadline = monotonic() + SECONDS
    try:
        place = httpx.URL(url)
        with httpcore.ConnectionPool(network_backend=PublicNetwork()) as pool:
            for _ in range(REDIRECTS + 1):
                answer = _answer(pool, place, at_most, deadline)
                if isinstance(answer, bytes):
                    return answer
                place = answer
    except FAILURES as error:
        raise CounterpartError(f"{url} cannot be fetched: {str(error) or type(error).__name__}.") from error
    raise CounterpartError(f"{url} cannot be fetched: more than {REDIRECTS} redirects.")


def _answer(pool: httpcore.ConnectionPool, place: httpx.URL, at_most: int, deadline: float) -> bytes | httpx.URL:
    """Return the content at an address, or the address that it redirects to."""
    target = httpcore.URL(scheme=place.raw_scheme, host=place.raw_host, port=place.port, target=place.raw_path)
    left = max(deadline - monotonic(), 0.001)
    timeout = dict.fromkeys(("connect", "read", "write", "pool"), left)
    # Sent as they are: asked for no compression, a small answer cannot become a large one.
    headers = [("User-Agent", "Counterpart"), ("Accept-Encoding", "identity")]
    with pool.stream("GET", target, headers=headers, extensions={"timeout": timeout}) as response:
        if response.status in MOVED:
            return place.join(httpx.Headers(response.headers).get("Location", ""))
        if response.status != 200:
            raise UnusableError(f"the answer is {response.status}")
        content = bytearray()
        for chunk in response.iter_stream():
            content += chunk
            if len(content) > at_most:
                raise UnusableError(f"it has more than {at_most:,} bytes")
            if monotonic() > deadline:
                raise UnusableError(f"it takes more than {SECONDS} seconds")
        return bytes(content)
