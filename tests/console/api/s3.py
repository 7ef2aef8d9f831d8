"""As much of S3 as files that programs send need: objects by path, stored only with the checksum that was announced."""

import base64
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

CHECKSUM = "x-amz-checksum-sha256"


class Objects(ThreadingHTTPServer):
    """Serves objects of all buckets."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.stored: dict[str, bytes] = {}
        self.address = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Objects

    def do_HEAD(self) -> None:
        content = self.server.stored.get(self._path)
        self._answer(404 if content is None else 200, len(content or b""))

    def do_GET(self) -> None:
        self.do_HEAD()
        self.wfile.write(self.server.stored.get(self._path, b""))

    def do_PUT(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if "chunked" in self.headers.get("Content-Encoding", ""):  # a length in a line, the bytes, and a checksum
            length, _, rest = content.partition(b"\r\n")
            content = rest[: int(length, 16)]
        query = parse_qs(urlsplit(self.path).query)
        if "X-Amz-SignedHeaders" in query and not self._is_as_signed(query["X-Amz-SignedHeaders"][0], content):
            return self._answer(400)
        self.server.stored[self._path] = content
        return self._answer(200)

    def _is_as_signed(self, signed: str, content: bytes) -> bool:
        found = base64.b64encode(hashlib.sha256(content).digest()).decode()
        return {CHECKSUM, "content-length"} <= {*signed.split(";")} and self.headers.get(CHECKSUM) == found

    @property
    def _path(self) -> str:
        return urlsplit(self.path).path

    def _answer(self, status: int, length: int = 0) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.send_header("Last-Modified", "Thu, 26 Nov 2026 12:00:00 GMT")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served_objects() -> Iterator[Objects]:
    with Objects() as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()
