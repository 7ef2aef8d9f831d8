"""A platform's own site for a browser: a page with a frame, and the address that takes its form."""

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit


class PlatformSite:
    """Serves on 127.0.0.1, which to a browser is another site than the ``localhost`` of the test's own server.

    ``frame`` is the address in its frame; ``taken`` are the forms it was sent: path, origin and fields.
    """

    def __init__(self) -> None:
        self.frame = ""
        self.taken: list[tuple[str, dict[str, str]]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(f'<!doctype html><title>work</title><iframe src="{escape(site.frame)}"></iframe>')

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
                fields = {name: values[0] for name, values in parse_qs(sent, strict_parsing=True).items()}
                site.taken.append((urlsplit(self.path).path, fields))
                self._answer("<!doctype html><title>taken</title><h1>The platform has it</h1>")

            def _answer(self, page: str) -> None:
                body = page.replace("<iframe", '<iframe name="work" width="900" height="900"').encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def running(self) -> Iterator["PlatformSite"]:
        thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield self
        self._server.shutdown()
        thread.join()
        self._server.server_close()
