"""Who may use the controls: people and programs on this machine, and no page from elsewhere in their browser."""

from ipaddress import ip_address

from werkzeug import Request

NAMES = ("localhost", "127.0.0.1", "[::1]")


def is_local(request: Request) -> bool:
    """Say whether a request came from this machine, by one of its own names, and not from another site's page."""
    try:
        is_near = ip_address(request.remote_addr or "").is_loopback
    except ValueError:
        return False
    return is_near and is_own(request)


def is_own(request: Request) -> bool:
    """Say whether a request names this machine and, where a browser says what page it comes from, one of ours."""
    name = request.host.rsplit(":", 1)[0] if not request.host.endswith("]") else request.host
    origin = request.headers.get("Origin")
    return name in NAMES and origin in (None, request.host_url.rstrip("/"))
