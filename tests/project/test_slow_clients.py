"""Clients that are slow on purpose, and clients that send too much, at the real web server."""

import os
import socket
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic, sleep

import pytest

from config.web_worker import Arrival
from tests.ports import reserved_port

ROOT = Path(__file__).resolve().parents[2]
THREADS = 8
START = (
    *("GET /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow:", "POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\n"),
    "POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\nusername=",
    "POST /judge/me/x/take/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 150000000\r\n\r\nx",
    "POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    "",
)


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """The port of a site with one process, served as everywhere."""
    environment = {"PATH": os.environ["PATH"], "VAR_DIR": str(tmp_path_factory.mktemp("var")), "WEB_CONCURRENCY": "1"}
    command = [sys.executable, "-m", "gunicorn", "--config", "config/gunicorn.py", "--bind"]
    with (
        reserved_port() as port,
        subprocess.Popen([*command, f"127.0.0.1:{port}"], cwd=ROOT, env=environment) as process,
    ):
        until = monotonic() + 60
        while not answers(port) and monotonic() < until:
            sleep(0.2)
        yield port
        process.terminate()


def answers(port: int) -> bool:
    """Whether the site answers an honest visitor within four seconds."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=4)) as visitor:
        try:
            visitor.request("GET", "/login/")
            return visitor.getresponse().status == 200
        except OSError:
            return False


def send(port: int, text: str) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=5)
    client.sendall(text.encode())
    return client


def told(client: socket.socket) -> str:
    """The status line of the answer."""
    return client.makefile().readline().strip()


@pytest.mark.slow
@pytest.mark.parametrize("start", START)
def test_clients_that_stop_in_a_request_do_not_stop_the_site(port, start):
    slow = [send(port, start) for _ in range(5 * THREADS)]
    assert [answers(port) for _ in range(3)] == [True] * 3
    for client in slow:
        client.close()


@pytest.mark.slow
def test_clients_that_send_byte_after_byte_do_not_stop_the_site(port):
    slow = [send(port, START[2]) for _ in range(5 * THREADS)]
    for _ in range(5):
        for client in slow:
            client.sendall(b"x")
        assert answers(port)
    for client in slow:
        client.close()


@pytest.mark.slow
def test_clients_that_do_not_hang_up_after_their_answer_do_not_stop_the_site(port):
    slow = [send(port, "GET /login/ HTTP/1.0\r\n\r\n") for _ in range(5 * THREADS)]
    assert [answers(port) for _ in range(3)] == [True] * 3
    for client in slow:
        client.close()


@pytest.mark.slow
def test_a_large_body_is_refused_before_it_is_sent(port):
    assert told(send(port, START[3])) == "HTTP/1.1 413 Request Entity Too Large"
    assert told(send(port, START[4])) == "HTTP/1.1 411 Length Required"


@pytest.mark.slow
@pytest.mark.parametrize("digits", [4_000, 5_000])
def test_a_length_of_thousands_of_digits_is_too_large(port, digits):
    request = f"POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {'9' * digits}\r\n\r\n"
    assert told(send(port, request + "username=")) == "HTTP/1.1 413 Request Entity Too Large"
    assert answers(port)


@pytest.mark.slow
def test_a_client_that_waits_to_be_told_is_told_once_to_send_its_form(port):
    request = "POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nExpect: 100-continue\r\n"
    client = send(port, f"{request}Content-Length: 3\r\n\r\n")
    answer = client.makefile()
    assert [answer.readline(), answer.readline()] == ["HTTP/1.1 100 Continue\n", "\n"]
    client.sendall(b"a=b")
    rest = answer.read()
    assert rest.startswith("HTTP/1.1 403 Forbidden")
    assert "100 Continue" not in rest


@pytest.mark.slow
@pytest.mark.parametrize(("size", "connection"), [(1000, "keep-alive"), (300_000, "close")])
def test_a_connection_that_will_be_closed_is_announced_as_such(port, size, connection):
    with closing(HTTPConnection("127.0.0.1", port, timeout=10)) as visitor:
        visitor.request("POST", "/import/", body=b"x" * size)
        assert visitor.getresponse().headers["Connection"] == connection


@pytest.mark.slow
def test_two_requests_sent_at_once_are_both_answered(port):
    request = "POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\n\r\na=b"
    client = send(port, request + "GET /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    text = client.makefile().read()
    assert text.count("HTTP/1.1 403") == 1  # no CSRF token
    assert text.count("HTTP/1.1 200") == 1


@pytest.mark.slow
def test_a_form_that_arrives_in_pieces_is_read_whole(port):
    client = send(port, "POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 200000\r\n\r\n")
    for _ in range(20):
        client.sendall(b"x" * 10_000)
        sleep(0.01)
    assert told(client) == "HTTP/1.1 403 Forbidden"


@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\nX:" + b"x" * 100_000, b"x" * 100_000])
def test_headers_without_an_end_are_not_collected(sent):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(sent)
        arrival = Arrival(deadline=monotonic() + 60)
        arrival.receive(ours)
        assert (arrival.is_lost, arrival.is_ready) == (True, False)


def test_a_request_that_is_late_is_not_received_to_its_end():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"GET / HTTP/1.1\r\n\r\n")
        arrival = Arrival(deadline=monotonic())
        arrival.receive(ours)
        assert not arrival.is_ready


@pytest.mark.parametrize(
    ("start", "expect", "told_so"),
    [
        ("POST / HTTP/1.1", "100-Continue", b"HTTP/1.1 100 Continue\r\n\r\n"),
        ("POST / HTTP/1.0", "100-continue", b""),
        ("POST / HTTP/1.1", "something", b""),
    ],
)
def test_a_client_is_told_once_to_send_a_small_body_if_it_asks(start, expect, told_so):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        arrival = Arrival(deadline=monotonic() + 60)
        for part in (f"{start}\r\nExpect: {expect}\r\nContent-Length: 2\r\n", "\r\n", "a", "b"):
            assert not arrival.is_ready
            theirs.sendall(part.encode())
            arrival.receive(ours)
        assert arrival.is_ready
        ours.shutdown(socket.SHUT_WR)
        assert theirs.makefile("rb").read() == told_so


def test_a_request_whose_length_cannot_be_read_has_arrived_and_is_not_collected():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"POST / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\na")
        arrival = Arrival(deadline=monotonic() + 60)
        arrival.receive(ours)
        assert (arrival.is_ready, arrival.is_large, arrival.is_endless) == (True, True, True)
