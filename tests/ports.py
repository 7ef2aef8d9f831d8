"""Servers that tests start as processes of their own, and their ports."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from time import monotonic, sleep


@contextmanager
def reserved_port() -> Iterator[int]:
    """Yield a port that no other program on this machine gets meanwhile: a socket that does not listen keeps it, and
    servers that set SO_REUSEADDR, as gunicorn does, may listen there all the same."""
    with socket.socket() as keeper:
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeper.bind(("127.0.0.1", 0))
        yield keeper.getsockname()[1]


@contextmanager
def running(typed: list[str], port: int, **given: object) -> Iterator[subprocess.Popen]:
    """Run Python with these words until the end of the block, from when it answers at its port."""
    with subprocess.Popen([sys.executable, *typed], **given) as server:
        try:
            until = monotonic() + 90
            while not answers(port):
                assert server.poll() is None, typed
                assert monotonic() < until, typed
                sleep(0.2)
            yield server
        finally:
            server.terminate()


def answers(port: int, *, within: float = 60) -> bool:
    """Whether an honest visitor gets a page within some seconds."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=within)) as visitor:
        try:
            visitor.request("GET", "/login/")
            return visitor.getresponse().status < 500
        except OSError:
            return False
