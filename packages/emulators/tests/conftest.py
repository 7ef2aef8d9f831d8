"""What every emulator's tests do: set faults, open a browser, wait for another thread, and serve a page that is not the
emulator's."""

import os
import shutil
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import monotonic, sleep
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings
from playwright.sync_api import Browser, Error, expect, sync_playwright
from werkzeug.routing import Rule

from counterpart_emulators import server
from counterpart_emulators.faults import FaultPlan
from counterpart_emulators.market_server import MarketServer

# The same examples in every run, and none judged by its time: a failure is of the code, not of the draw or the machine.
hypothesis_settings.register_profile("repeatable", deadline=None, derandomize=True)
hypothesis_settings.load_profile("repeatable")

expect.set_options(timeout=20_000)  # milliseconds; a machine may have much else to do


@pytest.fixture(scope="session", autouse=True)
def quick_connections() -> Iterator[None]:
    """Stop an emulator at once, and start it without what writes addresses of its routes, which no test uses. Read
    the certificates once: httpx reads them for each client, of plain HTTP too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "POLL", 0.005)
        patch.setattr(Rule, "_compile_builder", lambda *_: lambda *_: None)
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for the whole run. Without one the tests fail, unless ALLOW_NO_BROWSER=1 says to skip them."""
    with sync_playwright() as playwright:
        program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        try:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        except Error as error:
            if os.environ.get("ALLOW_NO_BROWSER") == "1":
                pytest.skip("no Chromium here, and ALLOW_NO_BROWSER=1")
            raise RuntimeError("No Chromium could be started; install it, or set ALLOW_NO_BROWSER=1.") from error
        yield browser
        browser.close()


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
