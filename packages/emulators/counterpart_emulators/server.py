"""An emulator on a port: a server in a thread of its own that can break connections as a network would."""

import logging
import socket
import struct
import threading
from collections.abc import Iterable
from typing import Any, Self

from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, Rule
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

log = logging.getLogger(__name__)

POLL = 0.05  # seconds between two checks for a request to stop


class Drop:
    """Returned instead of an answer: reset the connection."""


class Server:
    """Serves routes over HTTP on ``host`` and ``port`` (0: a free one); a context manager that starts and stops it.

    Each route's endpoint is a function of the request and the values in its address. Raises OSError for a taken port.
    """

    def __init__(self, rules: Iterable[Rule] = (), *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.routes = Map(rules)
        self._server = _served(host, port, Request.application(self._answer))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(POLL,), daemon=True, name="emulator")
        self.host = host
        self.port = self._server.port
        self.url = f"http://{host}:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop serving and free the port."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, request: Request) -> Response:
        adapter = self.routes.bind_to_environ(request.environ)
        try:
            view, values = adapter.match()
            return view(request, **values)
        except HTTPException as error:
            return error.get_response(request.environ)


def reset(request: Request) -> Response:
    """Break a request's connection as a network would: no answer reaches the client."""
    connection: socket.socket = request.environ["werkzeug.socket"]
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    # Closing would wait for the handler, which still holds the connection's files and would answer first.
    connection.shutdown(socket.SHUT_RDWR)
    return Response()


def _served(host: str, port: int, application: Any) -> BaseWSGIServer:
    """Return a server that listens. The port is opened here: werkzeug itself would print and exit for a taken one."""
    with socket.create_server((host, port)) as listener:
        return make_server(host, port, application, threaded=True, request_handler=_QuietHandler, fd=listener.fileno())


class _QuietHandler(WSGIRequestHandler):
    """Does not print requests: a rehearsal makes thousands, and some carry worker ids."""

    def log(self, level: str, message: str, *args: Any) -> None:
        log.debug(message, *args)
