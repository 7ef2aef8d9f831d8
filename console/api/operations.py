"""How a call is declared: its address, the scope that a token needs, what it takes and what it answers.

Declared parameters of an act are the body of a call: a JSON schema describes them, ``from_json`` validates them.
"""

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

from django import forms
from django.http import HttpRequest
from ninja import Body, Router, Schema
from ninja.decorators import decorate_view
from ninja.signature.utils import get_path_param_names
from pydantic import WithJsonSchema

from console.api.bearer import Bearer
from console.api.idempotency import HEADER, once
from console.api.keysets import part_schema
from console.api.scopes import roles_that_may
from console.permissions import Guard
from core.errors import CounterpartError
from core.parameters import Declared, Parameters, PathField, values_of
from core.text import NAME_PATTERN, NameField

View = Callable[..., Any]
READING = (401, 403, 404, 409, 422, 429, 503)
ACTING = (400, *READING[:4], 411, 413, *READING[4:])


def _header(name: str, description: str, *, required: bool = False, **limits: Any) -> dict[str, Any]:
    schema = {"type": "string", **limits}
    return {"in": "header", "name": name, "required": required, "description": description, "schema": schema}


KEY = _header(
    HEADER,
    "A text of your own, such as a UUID: a call that is repeated with it within a day changes nothing.",
    required=True,
    minLength=1,
    maxLength=255,
    pattern="^[!-~]+$",
)
DIGEST = _header("Content-Digest", "The SHA-256 of the file (RFC 9530), as `sha-256=:<base64>:`.", required=True)
RANGE = _header("Range", "A part of the file, as bytes=0-1023, bytes=1024- or bytes=-1024.")
NONE_MATCH = _header(
    "If-None-Match", "The ETag of the file that the caller has: if it is this one, it is not sent again."
)
FILE = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
SENT = {
    **FILE,
    "description": "The file.",
    "headers": {"ETag": {"description": "its SHA-256", "schema": {"type": "string"}}},
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

    def lists(
        self, path: str, scope: str, row: type[Schema], about: str, *, files: dict[str, Any] | None = None
    ) -> Callable[[View], View]:
        """Declare a call that answers with a part of a list (``keysets.part_of``); its schema has the call's name."""

        def register(view: View) -> View:
            return self.reads(path, scope, part_schema(view.__name__.capitalize(), row, about), files=files)(view)

        return register

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


KINDS: dict[str, tuple[Any, str]] = {
    "string": (str, "text"),
    "integer": (int, "a whole number"),
    "number": ((int, float), "a number"),
    "array": (list, "a list"),
    "object": (dict, "an object"),
    "boolean": ((), "true or false"),
    "null": (type(None), "null"),
}
"""Types of JSON → those of Python, and a word; true and false are not numbers."""


def schema_of(kind: type[Parameters], *, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the JSON schema of a body with these parameters. Those that are paths on the server are left out."""
    fields = {name: field for name, field in _shown(kind).items() if name not in without}
    defaults = kind.defaults()
    return {
        "title": kind.__name__,
        "type": "object",
        "properties": {name: _property(field, name, defaults) for name, field in fields.items()},
        "required": [name for name in fields if name not in defaults],
        "additionalProperties": False,
    }


def read_body(kind: type[Declared], body: dict[str, Any], known: Mapping[str, Any]) -> Declared:
    """Return the parameters of a body, and of what is ``known`` from the address.

    Raises CounterpartError as ``from_json`` does, for a value of another type (forms would accept the text of a
    number), and for a value that is read as a path: a call must not read files of the server.
    """
    if hidden := sorted((kind.fields().keys() - _shown(kind).keys() | known.keys()) & body.keys()):
        raise CounterpartError(f"Invalid parameter {hidden[0]}: a call cannot set it. Leave it out.")
    described = schema_of(kind)["properties"]
    for name in body.keys() & described.keys():
        if not _fits(body[name], described[name]):
            wanted = " or ".join(KINDS[kind][1] for kind in _kinds(described[name]))
            raise CounterpartError(f"Invalid {name.replace('_', ' ')} {body[name]!r}: send {wanted}.")
    parameters = kind.from_json({**body, **known})
    for name in body:
        if isinstance(getattr(parameters, name), Path):
            raise CounterpartError(f"Invalid {name} {body[name]!r}: a call cannot name a file of the server.")
    return parameters


def _kinds(described: dict[str, Any]) -> list[str]:
    """Return the types that a schema allows."""
    if "anyOf" in described:
        return [kind for one in described["anyOf"] for kind in _kinds(one)]
    return described["type"] if isinstance(described["type"], list) else [described["type"]]


def _fits(value: Any, described: dict[str, Any]) -> bool:
    """Whether a value has a type that its schema allows, and so have its items."""
    if not any(_is_of(value, kind) for kind in _kinds(described)):
        return False
    (items,) = [one["items"] for one in described.get("anyOf", [described]) if "items" in one] or [{}]
    return not isinstance(value, list) or all(_fits(item, items) for item in value)


def _is_of(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    whole = isinstance(value, float) and value.is_integer()
    return isinstance(value, KINDS[kind][0]) or (kind == "integer" and whole)


def _shown(kind: type[Parameters]) -> dict[str, forms.Field]:
    return {name: field for name, field in kind.fields().items() if not isinstance(field, PathField)}


def _property(field: forms.Field, name: str, defaults: Mapping[str, Any]) -> dict[str, Any]:
    described = {"description": str(field.help_text), **_type(field)}
    if name not in defaults:
        return described
    default = defaults[name]
    if default is None:
        return {"description": described.pop("description"), "anyOf": [described, {"type": "null"}], "default": None}
    return described | {"default": list(default) if isinstance(default, tuple) else _plain(default)}


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str) else str(value)


def _type(field: forms.Field) -> dict[str, Any]:
    """Return the schema of a field's values: the one that it declares, or that of its class."""
    declared: Any = getattr(field, "json_schema", None)
    if declared:
        return dict(declared) | ({"minItems": 1} if field.required and declared["type"] == "array" else {})
    match field:
        case forms.BooleanField():
            return {"type": "boolean"}
        case forms.ChoiceField():
            return {"type": "string", "enum": values_of(field) + ([] if field.required else [""])}
        case forms.DecimalField():
            return {"type": ["number", "string"], "format": "decimal", **_limits(field)}
        case forms.FloatField():
            return {"type": "number", **_limits(field)}
        case forms.IntegerField():
            return {"type": "integer", **_limits(field)}
        case forms.CharField():
            return _text(field)
    return {"type": "string"}


def _limits(field: forms.IntegerField) -> dict[str, Any]:
    number = float if isinstance(field, forms.FloatField) else int
    limits: dict[str, Any] = {"minimum": field.min_value, "maximum": field.max_value}
    if isinstance(field, forms.DecimalField) and field.max_digits and field.max_value is None:
        limits["maximum"] = 10 ** (field.max_digits - (field.decimal_places or 0)) - 1
    return {name: number(limit) for name, limit in limits.items() if limit is not None}


def _text(field: forms.CharField) -> dict[str, Any]:
    limits: dict[str, Any] = {"minLength": 1} if field.required else {}
    if field.max_length:
        limits["maxLength"] = field.max_length
    if isinstance(field, NameField):
        limits["pattern"] = NAME_PATTERN
    return {"type": "string", **limits}
