"""What every emulator's tests do: set faults, wait for another thread, and serve a page that is not the emulator's."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import monotonic, sleep
from typing import Any

import pytest

from emulators.faults import FaultPlan
from emulators.market_server import MarketServer


@pytest.fixture
def plan(emulator: MarketServer) -> FaultPlan:
    """The faults that are set; a test adds to it."""
    return emulator.plan


@pytest.fixture
def upset(plan: FaultPlan) -> Callable[..., str]:
    """Set a fault of a kind; returns its id."""

    def done(kind: str, operation: str = "*", **more: Any) -> str:
        return plan.add({"kind": kind, "operation": operation, **more})

    return done


def eventually(holds: Callable[[], bool]) -> bool:
    """Wait up to 10 seconds until something holds that another thread brings about."""
    deadline = monotonic() + 10
    while not holds() and monotonic() < deadline:
        sleep(0.02)
    return holds()


@contextmanager
def served(page: bytes) -> Iterator[str]:
    """Serve one page on this machine under another host name than an emulator's; yields the site's address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()
