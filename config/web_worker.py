"""The web server's worker: a request gets a thread when it has arrived, so slow clients block no thread.

Gunicorn's own worker gives a connection a thread at its first byte, and the thread waits for the rest of the request. A
few slow clients would hold all threads.
"""

import socket
import struct
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from gunicorn.util import write_error
from gunicorn.workers.gthread import _DEFER, ThreadWorker

from core.web.middleware import LARGEST_BODY

LARGEST_HEAD = 64 * 1024
MOST_DIGITS = 18  # of a body's length; Python reads no number of thousands of digits
PATIENCE = 30  # seconds that a large body may arrive at less than LEAST bytes a second
LEAST = 64_000
LINGER = 2  # seconds in which a client may read why its request was refused
_BLOCK = 64 * 1024


@dataclass
class ArrivingRequest:
    """A request that is arriving: its bytes so far, and how many there will be."""

    deadline: float
    data: bytearray = field(default_factory=bytearray)
    size: int | None = None  # unknown while the headers are incomplete
    is_large: bool = False  # not kept in memory: its headers say enough to refuse it or to read on
    is_endless: bool = False  # so large that gunicorn cannot read its length
    is_awaited: bool = False  # The client waits for "100 Continue" before it sends the body.
    is_refused: bool = False  # and answered: what still arrives is thrown away
    is_lost: bool = False

    @property
    def is_ready(self) -> bool:
        return self.size is not None and not self.is_refused and (self.is_large or len(self.data) >= self.size)

    def receive(self, connection: socket.socket) -> None:
        """Take what is there, without waiting."""
        connection.setblocking(False)
        try:
            self._measure()
            while not (self.is_ready or self.is_lost or monotonic() > self.deadline):
                if self.is_awaited:
                    connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                    self.is_awaited = False
                block = connection.recv(_BLOCK)
                self.is_lost = not block
                if not self.is_refused:
                    self.data += block
                    self._measure()
        except BlockingIOError:
            return
        except OSError:
            self.is_lost = True

    def _measure(self) -> None:
        if self.size is not None:
            return
        end = self.data.find(b"\r\n\r\n")
        if end < 0:
            self.is_lost |= len(self.data) > LARGEST_HEAD
            return
        start, *lines = bytes(self.data[:end]).lower().split(b"\r\n")
        headers = dict(line.partition(b":")[::2] for line in lines)
        length = headers.get(b"content-length", b"0").strip()
        self.is_endless = length.isdigit() and len(length) > MOST_DIGITS
        body = int(length) if length.isdigit() and not self.is_endless else 0
        self.size = end + 4 + body
        self.is_large = self.is_endless or body > LARGEST_BODY or b"transfer-encoding" in headers
        self.is_awaited = start.endswith(b"http/1.1") and headers.get(b"expect", b"").strip() == b"100-continue"


class PacedSocket:
    """The connection of a large body, which is given up if the body arrives too slowly. Only the time of waiting for it
    counts, not the time that the site takes to store it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._waited = 0.0
        self._received = 0

    def recv(self, size: int) -> bytes:
        """Raises TimeoutError where less than LEAST bytes a second have come in PATIENCE seconds."""
        began = monotonic()
        try:
            block = self._connection.recv(size)
        except BlockingIOError as error:  # after the socket's own limit
            raise TimeoutError("nothing came") from error
        self._waited += monotonic() - began
        self._received += len(block)
        if self._waited > PATIENCE:
            if self._received < self._waited * LEAST:
                raise TimeoutError(f"{self._received:,} bytes came in {self._waited:.0f} s")
            self._waited = 0.0
            self._received = 0
        return block


class WebWorker(ThreadWorker):
    def handle(self, conn: Any) -> Any:
        """Serve the connection's next request, or return it to the poller until more of it has arrived."""
        if self.cfg.is_ssl:
            return super().handle(conn)
        arrival = vars(conn).get("arrival") or self._begin(conn)
        arrival.receive(conn.sock)
        if arrival.is_ready:
            return self._serve(conn, arrival)
        if arrival.is_lost or monotonic() > arrival.deadline:
            return _hang_up(conn.sock)
        return _DEFER

    def _begin(self, conn: Any) -> ArrivingRequest:
        if conn.parser is None:
            limit = struct.pack("ll", self.cfg.timeout, 0)
            for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                conn.sock.setsockopt(socket.SOL_SOCKET, option, limit)
        # A client may send its next request with the one before.
        sent = conn.parser.unreader.take_buffered() if conn.parser else b""
        conn.arrival = ArrivingRequest(deadline=monotonic() + self.cfg.timeout, data=bytearray(sent))
        return conn.arrival

    def _serve(self, conn: Any, arrival: ArrivingRequest) -> Any:
        if arrival.is_endless:
            arrival.data.clear()
            with suppress(OSError):
                write_error(conn.sock, 413, "Request Entity Too Large", "Send less.")
            return _linger(conn.sock, arrival)
        conn.init()
        conn.parser.unreader.unread(bytes(arrival.data))
        arrival.data.clear()
        if arrival.is_large:
            conn.parser.unreader.sock = PacedSocket(conn.sock)
        if super().handle(conn):
            conn.arrival = None
            return True
        if not arrival.is_large:
            return _hang_up(conn.sock)
        return _linger(conn.sock, arrival)

    def handle_request(self, req: Any, conn: Any) -> Any:
        """Announce that a connection will be closed after a large request, so that its client does not use it again.

        A small body has arrived already: gunicorn must not ask for it again."""
        if conn.arrival.is_large:
            req.force_close()
        else:
            req._expected_100_continue = False
        return super().handle_request(req, conn)

    def _keepalive_after(self, conn: Any, keepalive: bool) -> bool:
        """Gunicorn would wait five seconds for the rest of a body that was refused, and then close the connection."""
        return bool(not conn.arrival.is_large and super()._keepalive_after(conn, keepalive))


def _linger(connection: socket.socket, arrival: ArrivingRequest) -> Any:
    """Throw away what the client still sends: closed with bytes unread, the connection would be reset before the client
    has read its answer."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
    arrival.is_refused = True
    arrival.deadline = monotonic() + LINGER
    return _DEFER


def _hang_up(connection: socket.socket) -> bool:
    """End the connection here: gunicorn would wait for two seconds, in its main thread, until the client does."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    return False
