"""How a call is declared: its address, the scope that a token needs, what it takes and what it answers."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Body, Router
from ninja.decorators import decorate_view
from ninja.signature.utils import get_path_param_names
from pydantic import WithJsonSchema

from console.api.bearer import Bearer
from console.api.bodies import read_body, schema_of
from console.api.idempotency import HEADER, once
from console.api.scopes import roles_that_may
from console.permissions import Guard
from core.parameters import Parameters

View = Callable[..., Any]
READING = (401, 403, 404, 409, 422, 429, 503)
ACTING = (400, *READING[:4], 411, 413, *READING[4:])
KEY = {
    "in": "header",
    "name": HEADER,
    "required": True,
    "description": "A text of your own, such as a UUID: a call that is repeated with it within a day changes nothing.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}

DIGEST = {
    "in": "header",
    "name": "Content-Digest",
    "required": True,
    "description": "The SHA-256 of the file (RFC 9530), as `sha-256=:<base64>:`.",
    "schema": {"type": "string"},
}
FILE = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
SENT = {
    **FILE,
    "description": "The file.",
    "headers": {"ETag": {"description": "its SHA-256", "schema": {"type": "string"}}},
}
RANGE = {
    "in": "header",
    "name": "Range",
    "description": "A part of the file, as bytes=0-1023, bytes=1024- or bytes=-1024.",
    "schema": {"type": "string"},
}
NONE_MATCH = {
    "in": "header",
    "name": "If-None-Match",
    "description": "The ETag of the file that the caller has: if it is this one, it is not sent again.",
    "schema": {"type": "string"},
}


class Resources(Router):
    """The calls about one subject; they do what its pages do. The docstring of a call's function describes it."""

    def __init__(self, subject: str) -> None:
        super().__init__(tags=[subject])

    def reads(
        self, path: str, scope: str | None, answer: Any, *, files: dict[str, Any] | None = None, **more: Any
    ) -> Callable[[View], View]:
        """Declare a call that changes nothing, for tokens with the scope; any valid token where it is None. ``files``
        describes other media types of its answer."""
        extra = _described(scope, READING)
        if files:
            extra["responses"][200] = {"content": files}
        return self.get(path, auth=Bearer(scope), response={200: answer}, openapi_extra=extra, **more)

    def sends(self, path: str, scope: str, **more: Any) -> Callable[[View], View]:
        """Declare a call that sends a file (``file_answers.send_file``), and how large it is (HEAD)."""
        extra = _described(scope, (*READING, 412, 416))
        extra["responses"] |= {200: SENT, 206: SENT | {"description": "The part of the file that Range names."}}
        extra["responses"] |= {304: {"description": "The caller already has the file."}}
        extra["parameters"] = [RANGE, NONE_MATCH]
        get = self.get(path, auth=Bearer(scope), response={200: None}, openapi_extra=extra, **more)
        head = self.api_operation(["HEAD"], path, auth=Bearer(scope), response={200: None}, include_in_schema=False)
        return lambda view: head(get(view))

    def acts(
        self, path: str, scope: str, answer: Any, *, status: int = 202, guard: Guard | None = None
    ) -> Callable[[View], View]:
        """Declare a call that changes something: once for each Idempotency-Key. A ``guard`` narrows the scope to roles.

        An argument of the function that is annotated with a kind of Parameters is read from the body, and from parts
        of the address of the same names.
        """
        extra = _described(scope, ACTING, guard) | {"parameters": [KEY]}
        declare = self.post(path, auth=Bearer(scope, guard), response={status: answer}, openapi_extra=extra)

        def register(view: View) -> View:
            return declare(decorate_view(once)(_with_parameters(view, path)))

        return register

    def removes(self, path: str, scope: str) -> Callable[[View], View]:
        """Declare a call that removes what is at its address. It needs no key: repeated, it finds nothing."""
        return self.delete(path, auth=Bearer(scope), response={204: None}, openapi_extra=_described(scope, READING))

    def receives(self, path: str, scope: str, answer: Any, *, url_name: str) -> Callable[[View], View]:
        """Declare a call whose body is a file, which the function reads from the request; ``site_api`` says how large.

        It runs in no transaction, as files come slowly, and its answer is not kept: with the same file it has to do the
        same again.
        """
        extra = _described(scope, (*ACTING, 408)) | {"parameters": [KEY, DIGEST], "requestBody": FILE}
        return self.post(path, auth=Bearer(scope), response={201: answer}, openapi_extra=extra, url_name=url_name)


def _described(scope: str | None, statuses: tuple[int, ...], guard: Guard | None = None) -> dict[str, Any]:
    responses: dict[int, Any] = {status: {"$ref": "#/components/responses/Problem"} for status in statuses}
    return {"responses": responses, "x-scope": scope, "x-roles": roles_that_may(scope, guard)}


def _with_parameters(view: View, path: str) -> View:
    """Return the view with its Parameters read from the body."""
    signature = inspect.signature(view)
    declared = {
        name: one.annotation
        for name, one in signature.parameters.items()
        if isinstance(one.annotation, type) and issubclass(one.annotation, Parameters)
    }
    if not declared:
        return view
    ((argument, kind),) = declared.items()
    in_path = get_path_param_names(path) & kind.fields().keys()

    @wraps(view)
    def called(request: HttpRequest, **values: Any) -> Any:
        known = {name: values[name] for name in in_path}
        return view(request, **values | {argument: read_body(kind, values[argument], known)})

    body = Annotated[dict[str, Any], WithJsonSchema(schema_of(kind, without=in_path)), Body()]
    arguments = [
        one.replace(annotation=body) if name == argument else one for name, one in signature.parameters.items()
    ]
    called.__signature__ = signature.replace(parameters=arguments)  # type: ignore[attr-defined]
    return called
