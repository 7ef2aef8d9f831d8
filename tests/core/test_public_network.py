"""Fetching from addresses that others chose: public hosts alone, within bounds."""

import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from core.errors import CounterpartError
from core.web import public_network
from core.web.public_network import fetch, is_public


class Pages(BaseHTTPRequestHandler):
    """/ok answers, /missing is 404, /moved leads to /ok, /loop to itself, and /inside to this computer by name."""

    def do_GET(self) -> None:
        places = {"/moved": "/ok", "/loop": "/loop", "/inside": "http://localhost:1/ok"}
        self.send_response(302 if self.path in places else 404 if self.path == "/missing" else 200)
        if self.path in places:
            self.send_header("Location", places[self.path])
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as pages:
        Thread(target=pages.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{pages.server_port}"
        pages.shutdown()


@pytest.fixture
def site(server, monkeypatch) -> str:
    """The server, as if its address were public."""
    monkeypatch.setattr(public_network, "is_public", lambda address: address == "127.0.0.1")
    return server


@pytest.mark.parametrize("path", ["/ok", "/moved"])
def test_the_content_of_an_address_or_of_its_redirect_is_returned(site, path):
    assert fetch(f"{site}{path}", at_most=5) == b"hello"


@pytest.mark.parametrize(
    ("path", "reason"),
    [("/missing", "the answer is 404"), ("/loop", "more than 5 redirects"), ("/ok", "it has more than 4 bytes")],
)
def test_a_useless_answer_is_an_error_with_the_reason(site, path, reason):
    with pytest.raises(CounterpartError, match=reason):
        fetch(f"{site}{path}", at_most=4)


def test_a_redirect_into_a_private_network_is_refused(site, monkeypatch):
    places = {"127.0.0.1": "127.0.0.1", "localhost": "10.0.0.1"}
    found = lambda host, port, *how, **more: [(socket.AF_INET, 1, 6, "", (places[host], port))]  # noqa: E731
    monkeypatch.setattr(public_network.socket, "getaddrinfo", found)
    with pytest.raises(CounterpartError, match="localhost"):
        fetch(f"{site}/inside", at_most=5)


@pytest.mark.parametrize("name", ["127.0.0.1", "nothing.invalid"])
def test_this_computer_and_an_unknown_name_are_refused(server, name):
    with pytest.raises(CounterpartError, match=name):
        fetch(f"{server}/ok".replace("127.0.0.1", name), at_most=5)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "http://", "https://exa mple.org/", "http://[::1", "gopher://a/b"]
)
def test_an_invalid_address_is_refused(url):
    with pytest.raises(CounterpartError, match="cannot be fetched"):
        fetch(url, at_most=5)


def test_an_answer_that_takes_too_long_is_not_waited_for(site, monkeypatch):
    monkeypatch.setattr(public_network, "SECONDS", -1)
    with pytest.raises(CounterpartError, match="cannot be fetched"):
        fetch(f"{site}/ok", at_most=5)


PUBLIC = [
    *("93.184.216.34", "2606:2800:220:1::1", "3ffe::1"),
    *("64:ff9b::5db8:d822", "::ffff:93.184.216.34"),  # with a public IPv4 address inside
]
PRIVATE = [
    *("127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.0.1", "224.0.0.1"),
    *("::", "::1", "fd00::1", "fe80::1%1", "fec0::1", "ff0e::1", "4000::1"),
    *("::ffff:10.0.0.1", "64:ff9b::a00:1", "::7f00:1", "::ffff:0:10.0.0.1"),  # with a private IPv4 address inside
    *("64:ff9b:1::a9fe:a9fe", "64:ff9b:1:a9fe:0:a9fe::", "2002:7f00:1::", "2002:5db8:d822::"),
    *("2001:4860::5efe:10.0.0.1", "2001:4860::200:5efe:10.0.0.1", "fe80::5efe:93.184.216.34"),  # tunnels
    *("2001:0:a00:1::1", "2001:2::1", "2001:db8::1", "3fff::1", "5f00::1"),  # reserved ranges
]


@pytest.mark.parametrize(("address", "public"), [*((one, True) for one in PUBLIC), *((one, False) for one in PRIVATE)])
def test_public_addresses_are_distinguished_from_private_ones(address, public):
    assert is_public(address) is public
