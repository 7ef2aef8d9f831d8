"""The emulator on a port: API calls go to the world, other addresses to whoever added a route for them."""

import logging
import socket
import struct
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, Rule
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from emulators.mturk.errors import TurkError
from emulators.mturk.model import MisfitError, operation_model, read_request, write_response
from emulators.mturk.signing import OTHER_ACCOUNT, REQUESTER, Credential, require_linked, verify
from emulators.mturk.wire import TARGET_PREFIX, answer, body_of, error_answer, target_of
from emulators.mturk.world import World

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

log = logging.getLogger(__name__)

POLL = 0.05  # seconds between two looks at whether to stop

View = Callable[..., Response]
Service = Callable[[Request, str], Response]


class Drop:
    """Instead of an answer: reset the connection."""


class Mischief(Protocol):
    """What may come between a call and its answer. The mischief-maker may sleep; it is called outside the lock."""

    def before_call(self, operation: str, params: dict[str, Any]) -> Response | Drop | TurkError | None:
        """Return what is answered in place of the world, which then sees nothing of the call; None: carry on."""

    def before_response(
        self, operation: str, params: dict[str, Any], result: dict[str, Any]
    ) -> Response | Drop | TurkError | dict[str, Any] | None:
        """Return what is answered although the world has done the call: a result of its own, or anything else."""


class Emulator:
    """A world served over HTTP on ``host`` and ``port`` (0: a free one); a context manager that starts and stops it.

    Raises OSError where the port is taken.
    ``mischief`` stands between calls and answers; ``services`` answer POSTs to ``/`` by the prefix of X-Amz-Target;
    ``routes`` hold everything else, each endpoint a function of the request and the address's values.
    """

    def __init__(
        self,
        world: World | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        credentials: Iterable[Credential] = (REQUESTER, OTHER_ACCOUNT),
    ) -> None:
        self.world = world or World()
        self.credentials = {credential.access_key: credential for credential in credentials}
        self.mischief: Mischief | None = None
        self.services: dict[str, Service] = {TARGET_PREFIX: self._requester}
        self.routes = Map([Rule("/", methods=["POST"], endpoint=self._called)])
        self._server = _served(host, port, Request.application(self._answer))
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(POLL,), daemon=True, name="mturk-emulator"
        )
        self.host, self.port = host, self._server.port
        self.url = f"http://{host}:{self.port}"

    def add_routes(self, rules: Iterable[Rule]) -> None:
        """Serve more addresses; each rule's endpoint is a view."""
        for rule in rules:
            self.routes.add(rule)

    def start(self) -> Self:
        """Begin to serve, in a thread of its own."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop serving and free the port."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def signer_of(self, request: Request, service: str) -> Credential:
        """Return whose signature a request carries. Raises TurkError as AWS words it."""
        return verify(
            dict(request.headers),
            method=request.method,
            url=request.url,
            body=request.get_data(),
            credentials=self.credentials,
            service=service,
        )

    def _answer(self, request: Request) -> Response:
        adapter = self.routes.bind_to_environ(request.environ)
        try:
            view, values = adapter.match()
            return view(request, **values)
        except HTTPException as error:
            return error.get_response(request.environ)

    def _called(self, request: Request) -> Response:
        """Answer a POST to ``/``: the call of some service's operation."""
        prefix, operation = target_of(request)
        service = self.services.get(prefix)
        if service is None:
            return self._error(TurkError(f"{prefix}.{operation}", code="UnknownOperationException"))
        return service(request, operation)

    def _requester(self, request: Request, operation: str) -> Response:
        try:
            require_linked(self.signer_of(request, "mturk"))
            return self._operate(request, operation)
        except TurkError as error:
            return self._error(error)
        except MisfitError as error:
            log.exception("The emulator is at fault")
            return self._error(TurkError(str(error), code="ServiceFault", turk_code="EmulatorFault", status=500))

    def _operate(self, request: Request, name: str) -> Response:
        operation = operation_model(name)
        if operation is None:
            raise TurkError(f"{TARGET_PREFIX}.{name}", code="UnknownOperationException")
        params = read_request(operation, body_of(request))
        outcome = self._outcome(name, params)
        if isinstance(outcome, TurkError):
            raise outcome
        if isinstance(outcome, Drop):
            reset(request)
            return Response()
        return answer(write_response(operation, outcome)) if isinstance(outcome, dict) else outcome

    def _outcome(self, name: str, params: dict[str, Any]) -> Response | Drop | TurkError | dict[str, Any]:
        """Do the call, unless mischief comes before it; what mischief makes of the result is what is answered."""
        if self.mischief is None:
            return self.world.call(name, params)
        if (instead := self.mischief.before_call(name, params)) is not None:
            return instead
        result = self.world.call(name, params)
        changed = self.mischief.before_response(name, params, result)
        return result if changed is None else changed

    def _error(self, error: TurkError) -> Response:
        return error_answer(error, self.world.clock.now(), sandbox=self.world.sandbox)


def _served(host: str, port: int, application: "WSGIApplication") -> BaseWSGIServer:
    """Return a server that listens. The port is taken here: werkzeug itself would print and exit for a taken one."""
    with socket.create_server((host, port)) as listener:
        return make_server(host, port, application, threaded=True, request_handler=_QuietHandler, fd=listener.fileno())


def reset(request: Request) -> None:
    """Break the connection of a request as a network would: without an answer or a farewell."""
    connection: socket.socket = request.environ["werkzeug.socket"]
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    # Closing would wait for the handler, which still holds the connection's files and would answer first.
    connection.shutdown(socket.SHUT_RDWR)


class _QuietHandler(WSGIRequestHandler):
    """Says nothing about each request: a rehearsal makes thousands, and some carry worker ids."""

    def log(self, type: str, message: str, *args: Any) -> None:
        log.debug(message, *args)
