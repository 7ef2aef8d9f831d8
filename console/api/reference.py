"""The calls of the API for its reference pages, read from its description (OpenAPI)."""

from functools import cache
from typing import Any, NamedTuple

from console.api.idempotency import HEADER
from console.api.site_api import api

Described = dict[str, Any]
KINDS = {
    "date-time": "time",
    "date": "date",
    "uuid": "UUID",
    "decimal": "decimal text",
    "binary": "file",
    "string": "text",
}


class DocumentedField(NamedTuple):
    """A parameter of a call, or a field of its body or answer; ``kind`` describes its values in words."""

    name: str
    kind: str
    about: str
    default: str
    required: bool


class Call(NamedTuple):
    """One call: ``takes`` are the parameters of its address and headers, without the Idempotency-Key, and of its body;
    ``answers`` are the fields of its answer, or of each row of a list. ``brief`` is the first sentence of ``about``."""

    name: str
    method: str
    path: str
    scope: str | None
    roles: list[str]
    brief: str
    about: str
    takes: list[DocumentedField]
    takes_file: bool
    answers: list[DocumentedField]
    is_list: bool


@cache
def calls_by_subject() -> dict[str, list[Call]]:
    """Return all calls by subject, as the description orders them."""
    schema = api.get_openapi_schema()
    found: dict[str, list[Call]] = {}
    for path, methods in schema["paths"].items():
        for method, described in methods.items():
            found.setdefault(described["tags"][0], []).append(_call(method.upper(), path, described))
    return found


def _call(method: str, path: str, described: Described) -> Call:
    body = described.get("requestBody", {}).get("content", {})
    about = " ".join(described["description"].split())
    parameters = [
        _part(one["name"], one["schema"] | {"description": one.get("description", "")}, one.get("required", False))
        for one in described["parameters"]
        if one["name"] != HEADER
    ]
    answer = next(one for status, one in described["responses"].items() if int(status) < 400)
    schema = _resolved(answer.get("content", {}).get("application/json", {}).get("schema", {}))
    rows = schema.get("properties", {}).get("results", {})
    is_list = rows.get("type") == "array"
    return Call(
        name=described["operationId"],
        method=method,
        path=path,
        scope=described["x-scope"],
        roles=described["x-roles"],
        brief=about.partition(". ")[0].rstrip(".") + ".",
        about=about,
        takes=parameters + (_parts(body["application/json"]["schema"]) if "application/json" in body else []),
        takes_file="application/octet-stream" in body,
        answers=_parts(rows["items"] if is_list else schema),
        is_list=is_list,
    )


def _parts(schema: Described) -> list[DocumentedField]:
    schema = _resolved(schema)
    required = schema.get("required", ())
    return [_part(name, one, name in required) for name, one in schema.get("properties", {}).items()]


def _part(name: str, schema: Described, required: bool) -> DocumentedField:
    default = schema.get("default")
    shown = "" if default is None or default == [] else str(default).lower() if isinstance(default, bool) else default
    return DocumentedField(name, _kind(schema), schema.get("description", ""), str(shown), required)


def _kind(schema: Described) -> str:
    """Return in words which values a schema allows: ``integer, 1 to 1000``; ``list of texts``."""
    schema = _resolved(schema)
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(str(value) or '""' for value in schema["enum"])
    kind = schema["format"] if schema.get("format") in KINDS else schema.get("type")
    match kind:
        case list():
            return " or ".join(_kind({**schema, "type": one}) for one in kind)
        case "array":
            return f"list of {_kind(schema.get('items', {}))}"
        case "object" if "properties" in schema:
            return f"{{{', '.join(schema['properties'])}}}"
        case "integer" | "number":
            return f"{kind}{_limits(schema)}"
    return KINDS.get(str(kind), str(kind or "any"))


def _limits(schema: Described) -> str:
    least = schema.get("minimum")
    most = schema.get("maximum")
    if least is None and most is None:
        return ""
    if least is None:
        return f", at most {most:,}"
    return f", at least {least:,}" if most is None else f", {least:,} to {most:,}"


def _resolved(schema: Described) -> Described:
    if "$ref" not in schema:
        return schema
    name = schema["$ref"].rpartition("/")[2]
    return {
        **api.get_openapi_schema()["components"]["schemas"][name],
        **{k: v for k, v in schema.items() if k != "$ref"},
    }
