"""Ports for servers that tests start as processes of their own."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reserved_port() -> Iterator[int]:
    """Yield a port that no other program on this machine gets meanwhile: a socket that does not listen keeps it, and
    servers that set SO_REUSEADDR, as gunicorn does, may listen there all the same."""
    with socket.socket() as keeper:
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeper.bind(("127.0.0.1", 0))
        yield keeper.getsockname()[1]
