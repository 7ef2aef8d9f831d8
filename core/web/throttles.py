"""Throttles: how often an address may do something in an hour. The counts are in the cache and are lost with it."""

import logging
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address, ip_network

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest

logger = logging.getLogger(__name__)

HOUR = 3600
NETWORK_BITS = 64  # of an IPv6 address: the smallest part that one customer is given


@dataclass(frozen=True)
class Throttle:
    """At most as many acts of one address on one subject as the setting called ``setting`` says, in the hour that
    begins with the first of them."""

    setting: str

    def admits(self, request: HttpRequest, subject: object) -> bool:
        """Count one more act and return whether it is within the limit. All visitors of unknown address count as one.
        This computer's own addresses are not limited. Without the cache, nothing is limited."""
        address = client_address(request)
        if address and ip_address(address).is_loopback:
            return True
        limit: int = getattr(settings, self.setting)
        return count(f"throttle:{self.setting}:{subject}:{address}", HOUR) <= limit


def client_address(request: HttpRequest) -> str | None:
    """Return the address that a request came from, and of an IPv6 address the first one of its network; None if it
    is unknown, as on a Unix socket or behind a proxy that sends something else.

    PROXY_COUNT is the number of proxies in front of the site: each adds the address of its client to X-Forwarded-For.
    Entries before theirs were written by the visitor.
    """
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if settings.PROXY_COUNT else []
    hops = [hop.strip() for hop in forwarded if hop.strip()] + [request.META.get("REMOTE_ADDR", "")]
    try:
        address = ip_address(_without_port(hops[max(0, len(hops) - 1 - settings.PROXY_COUNT)]))
    except ValueError:
        return None
    if isinstance(address, IPv4Address):
        return str(address)
    if address.ipv4_mapped or address.is_loopback:
        return str(address.ipv4_mapped or address)
    return str(ip_network((address, NETWORK_BITS), strict=False).network_address)


def _without_port(hop: str) -> str:
    """Leave out the port that some proxies add."""
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


def count(key: str, seconds: int) -> int:
    """Count one more act under the key, and return how many there were in the seconds that began with the first of
    them; 0 where the cache cannot be reached, so that nothing is limited."""
    try:
        cache.add(key, 0, timeout=seconds)
        return cache.incr(key)
    except ValueError:  # It expired just now, or the cache was full.
        return 1
    except Exception:
        logger.exception("the cache cannot be reached, so throttles do not count")
        return 0
