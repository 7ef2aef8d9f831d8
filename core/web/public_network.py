"""Requests to addresses from untrusted input: to public hosts alone, in bounded time, of a bounded size."""

import socket
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv6Network, ip_address
from ssl import SSLContext, SSLError
from time import monotonic
from typing import Any

import httpcore
import httpx

from core.errors import CounterpartError

SECONDS = 30  # of a request, redirects included
REDIRECTS = 5
MOVED = (301, 302, 303, 307, 308)
ROUTED = IPv6Network("2000::/3")
"""All that the internet routes of IPv6 (IANA, Internet Protocol Version 6 Address Space)."""
SPECIAL = [IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")]
"""Of these, what is of no host: protocols such as Teredo, documentation, and 6to4 (RFC 6890, 3849, 3056, 9637)."""
WITH_IPV4 = [IPv6Network(network) for network in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")]
"""Addresses that mean the one of IPv4 at their end: compatible, mapped, translated (RFC 4291, 2765, 6052)."""
TUNNELS = (0x00005EFE, 0x02005EFE)
"""What is before an address of IPv4 at the end of one that a tunnel leads to, in any network (ISATAP, RFC 5214)."""


class UnusableError(Exception):
    """An answer that cannot be used."""


FAILURES = (
    UnusableError,
    SSLError,
    httpx.InvalidURL,
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
)


class TimedStream(httpcore.NetworkStream):
    """A connection on which nothing is read or written after a deadline, however slowly the other side goes on."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return TimedStream(self._stream.start_tls(ssl_context, server_hostname, self._left()), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def _left(self) -> float:
        left = self._deadline - monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("it takes too long")
        return left


class PublicNetwork(httpcore.NetworkBackend):
    """Connects to public addresses alone, until a deadline. A name is looked up once: what was checked is what is
    connected to."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline

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
        except OSError:
            found = []
        addresses = [str(address[0]) for *_, address in found]
        if not addresses or not all(map(is_public, addresses)):
            # One message for both cases, so that addresses given by users cannot probe the site's own network.
            raise httpcore.ConnectError(f"{host} is not on the public internet")
        stream = httpcore.SyncBackend().connect_tcp(addresses[0], port, timeout, local_address, socket_options)
        return TimedStream(stream, self._deadline)


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet: not to this computer, its network, or a reserved range."""
    parsed = ip_address(address)
    if isinstance(parsed, IPv4Address):
        return parsed.is_global and not parsed.is_multicast
    before, at_end = divmod(int(parsed), 2**32)
    if any(parsed in network for network in WITH_IPV4):
        return is_public(str(IPv4Address(at_end)))
    is_tunnel = before % 2**32 in TUNNELS
    return parsed in ROUTED and not is_tunnel and not any(parsed in network for network in SPECIAL)


def fetch(url: str, *, at_most: int) -> bytes:
    """Return what is at an address of http or https, following redirects.

    Raises CounterpartError with the reason: an address in a private network, another answer than 200, more than
    ``at_most`` bytes, more than 30 seconds or 5 redirects, or no connection.
    """
    deadline = monotonic() + SECONDS
    try:
        place = httpx.URL(url)
        with httpcore.ConnectionPool(network_backend=PublicNetwork(deadline)) as pool:
            for _ in range(REDIRECTS + 1):
                answer = _answer(pool, place, at_most, deadline)
                if isinstance(answer, bytes):
                    return answer
                place = answer
    except FAILURES as error:
        raise CounterpartError(f"{url} cannot be fetched: {str(error) or type(error).__name__}.") from error
    raise CounterpartError(f"{url} cannot be fetched: more than {REDIRECTS} redirects.")


def post(url: str, body: bytes, *, headers: Mapping[str, str], seconds: float) -> int:
    """Send a body to an address and return the status of the answer, which is not read; redirects are not followed.

    Raises CounterpartError with the reason, which does not contain the address: it is in a private network, the
    answer takes more than these seconds, or no connection is possible.
    """
    deadline = monotonic() + seconds
    try:
        place = httpx.URL(url)
        with (
            httpcore.ConnectionPool(network_backend=PublicNetwork(deadline)) as pool,
            pool.stream(
                "POST", _target(place), content=body, headers=_sent(headers), extensions=_within(deadline)
            ) as response,
        ):
            return int(response.status)
    except httpcore.TimeoutException as error:
        raise CounterpartError(f"No answer within {seconds:g} seconds.") from error
    except FAILURES as error:
        raise CounterpartError(f"It cannot be reached: {str(error) or type(error).__name__}.") from error


def _target(place: httpx.URL) -> httpcore.URL:
    return httpcore.URL(scheme=place.raw_scheme, host=place.raw_host, port=place.port, target=place.raw_path)


def _sent(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    # Sent as they are: asked for no compression, a small answer cannot become a large one.
    return [("User-Agent", "Counterpart"), ("Accept-Encoding", "identity"), *headers.items()]


def _within(deadline: float) -> dict[str, Any]:
    left = max(deadline - monotonic(), 0.001)
    return {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), left)}


def _answer(pool: httpcore.ConnectionPool, place: httpx.URL, at_most: int, deadline: float) -> bytes | httpx.URL:
    """Return the content at an address, or the address that it redirects to."""
    with pool.stream("GET", _target(place), headers=_sent({}), extensions=_within(deadline)) as response:
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
