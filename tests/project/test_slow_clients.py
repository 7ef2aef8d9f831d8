"""Clients that are slow on purpose, and clients that send too much, at the real web server."""

import os
import socket
import subprocess
import sys
from base64 import b64encode
from contextlib import closing, nullcontext, suppress
from hashlib import sha256
from http.client import HTTPConnection
from shutil import copy
from time import monotonic, sleep

import pytest

from config import web_worker
from config.web_worker import ArrivingRequest, PacedSocket
from core.web.middleware import RETRY_AFTER, UPLOADS_OF_ONE
from counterpart_client import Client, http_calls
from tests.ports import answers, reserved_port, running
from tests.project.names import ROOT

pytestmark = pytest.mark.django_db  # for the copy of its empty database
THREADS = 8
START = (
    *("GET /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow:", "POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\n"),
    "POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\nusername=",
    "POST /judge/me/x/take/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 150000000\r\n\r\nx",
    "POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    "GET /login/ HTTP/1.0\r\n\r\n",  # and does not hang up after its answer
    "",
)


TOKENS = """
from django.contrib.auth.models import Group, User
from console.api.access_tokens import make_token
for name in ("ana", "bo"):
    user = User.objects.create_user(name)
    user.groups.add(Group.objects.get(name="researcher"))
    print("token", make_token(user, "a program", ["data:write"])[1])
"""


@pytest.fixture(scope="module")
def tokens_and_port(django_db_setup, migrated, tmp_path_factory):
    """The tokens of two accounts, and the port of their site, which has one process and is served as everywhere."""
    folder = tmp_path_factory.mktemp("var")
    copy(migrated, folder / "counterpart.sqlite3")
    given = {"cwd": ROOT, "env": {"PATH": os.environ["PATH"], "VAR_DIR": str(folder), "WEB_CONCURRENCY": "1"}}
    command = [sys.executable, "manage.py", "shell", "--verbosity", "0", "--command", TOKENS]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, **given).stdout
    serve = ["-m", "gunicorn", "--config", "config/gunicorn.py", "--bind"]
    with reserved_port() as port, running([*serve, f"127.0.0.1:{port}"], port, **given):
        yield [line.split()[1] for line in printed.splitlines() if line.startswith("token ")], port


@pytest.fixture
def port(tokens_and_port):
    return tokens_and_port[1]


def is_open(port: int) -> bool:
    return answers(port, within=4)


def send(port: int, text: str) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=5)
    client.sendall(text.encode())
    return client


def status(client: socket.socket) -> str:
    """The status line of the answer."""
    return client.makefile().readline().strip()


@pytest.mark.slow
@pytest.mark.parametrize("start", START)
def test_clients_that_stop_in_a_request_do_not_stop_the_site(port, start):
    slow = [send(port, start) for _ in range(5 * THREADS)]
    assert [is_open(port) for _ in range(3)] == [True] * 3
    for client in slow:
        client.close()


@pytest.mark.slow
def test_clients_that_send_byte_after_byte_do_not_stop_the_site(port):
    slow = [send(port, START[2]) for _ in range(5 * THREADS)]
    for _ in range(5):
        for client in slow:
            client.sendall(b"x")
        assert is_open(port)
    for client in slow:
        client.close()


@pytest.mark.slow
def test_a_large_body_is_refused_before_it_is_sent(port):
    assert status(send(port, START[3])) == "HTTP/1.1 413 Request Entity Too Large"
    assert status(send(port, START[4])) == "HTTP/1.1 411 Length Required"
    for digits in (4_000, 5_000):  # Python reads 4,300
        endless = f"POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {'9' * digits}\r\n\r\n"
        assert status(send(port, endless + "username=")) == "HTTP/1.1 413 Request Entity Too Large"
    assert is_open(port)


@pytest.mark.slow
def test_a_client_that_waits_for_100_continue_gets_it_once(port):
    request = "POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nExpect: 100-continue\r\n"
    client = send(port, f"{request}Content-Length: 3\r\n\r\n")
    answer = client.makefile()
    assert [answer.readline(), answer.readline()] == ["HTTP/1.1 100 Continue\n", "\n"]
    client.sendall(b"a=b")
    rest = answer.read()
    assert (rest.startswith("HTTP/1.1 403 Forbidden"), "100 Continue" in rest) == (True, False)


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


@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\nX:" + b"x" * 100_000, b"x" * 100_000])
def test_headers_without_an_end_are_not_collected(sent):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(sent)
        arrival = ArrivingRequest(deadline=monotonic() + 60)
        arrival.receive(ours)
        assert (arrival.is_lost, arrival.is_ready) == (True, False)


def test_a_request_that_is_late_is_not_received_to_its_end():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"GET / HTTP/1.1\r\n\r\n")
        arrival = ArrivingRequest(deadline=monotonic())
        arrival.receive(ours)
        assert not arrival.is_ready


@pytest.mark.parametrize(
    ("start", "expect", "answer"),
    [
        ("POST / HTTP/1.1", "100-Continue", b"HTTP/1.1 100 Continue\r\n\r\n"),
        ("POST / HTTP/1.0", "100-continue", b""),
        ("POST / HTTP/1.1", "something", b""),
    ],
)
def test_a_client_that_asks_gets_one_answer_to_send_its_small_body(start, expect, answer):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        arrival = ArrivingRequest(deadline=monotonic() + 60)
        for part in (f"{start}\r\nExpect: {expect}\r\nContent-Length: 2\r\n", "\r\n", "a", "b"):
            assert not arrival.is_ready
            theirs.sendall(part.encode())
            arrival.receive(ours)
        assert arrival.is_ready
        ours.shutdown(socket.SHUT_WR)
        assert theirs.makefile("rb").read() == answer


def begin_upload(port: int, token: str, size: int, content: bytes = b"") -> socket.socket:
    """Begin to send a file of ``size`` bytes, which has this ``content``."""
    digest = b64encode(sha256(content).digest()).decode()
    head = f"POST /api/v1/uploads?name=a HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
    head += f"Idempotency-Key: a\r\nContent-Digest: sha-256=:{digest}:\r\nContent-Type: application/octet-stream\r\n"
    return send(port, f"{head}Content-Length: {size}\r\n\r\n")


def stall(port: int, token: str) -> socket.socket:
    client = begin_upload(port, token, 400_000_000)
    with suppress(OSError):  # refused already
        client.sendall(b"x" * 300_000)
    return client


def is_refused(client: socket.socket) -> bool:
    """Whether an upload is answered 503 with a time to wait; False for one that is waited for."""
    try:
        answer = client.recv(4096).decode()
    except TimeoutError:
        return False
    assert answer.split()[1] == "503"
    assert f"Retry-After: {RETRY_AFTER}" in answer
    return True


@pytest.mark.slow
def test_stalled_uploads_stop_neither_the_site_nor_the_uploads_of_others(tokens_and_port, tmp_path, monkeypatch):
    (token, other), port = tokens_and_port
    stalled = [stall(port, token) for _ in range(5 * THREADS)]
    held = [client for client in stalled if not is_refused(client)]
    assert len(held) == UPLOADS_OF_ONE
    assert [is_open(port) for _ in range(3)] == [True] * 3
    assert status(send(port, "GET /judge/join/none/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")) == "HTTP/1.1 404 Not Found"

    content = b"y" * 400_000  # at 100 kB a second
    honest = begin_upload(port, other, len(content), content)
    for _ in range(8):
        honest.sendall(content[:50_000])
        sleep(0.5)
    assert status(honest) == "HTTP/1.1 201 Created"

    waits = []

    def hang_up(seconds: float) -> None:
        waits.append(seconds)
        for client in held:
            client.close()
        sleep(1)

    monkeypatch.setattr(http_calls, "sleep", hang_up)
    file = tmp_path / "pictures.zip"
    file.write_bytes(b"z" * 400_000)
    with Client(f"http://127.0.0.1:{port}", token=token) as client:
        assert client.upload(file).size == 400_000
    assert waits == [RETRY_AFTER]


@pytest.mark.slow
def test_an_upload_that_comes_too_slowly_is_given_up(tokens_and_port):
    (token, _), port = tokens_and_port
    client = stall(port, token)
    client.settimeout(0.5)
    answer = b""
    until = monotonic() + web_worker.PATIENCE + 30
    while not answer and monotonic() < until:
        with suppress(TimeoutError):
            client.sendall(b"x")
            answer = client.recv(4096)
    assert answer.startswith(b"HTTP/1.1 408 Request Timeout")


@pytest.mark.parametrize(("least", "is_given_up"), [(10, False), (11, True)])
def test_a_large_body_may_come_at_the_least_rate_and_no_slower(monkeypatch, least, is_given_up):
    """Two parts, each waited for 20 of at most 30 seconds, have 400 bytes, which is 10 a second of 40."""
    clock = iter([0, 20, 20, 40])
    monkeypatch.setattr(web_worker, "monotonic", lambda: next(clock))
    monkeypatch.setattr(web_worker, "LEAST", least)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"x" * 400)
        paced = PacedSocket(ours)
        paced.recv(200)
        with pytest.raises(TimeoutError) if is_given_up else nullcontext():
            paced.recv(200)
