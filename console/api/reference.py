"""The calls of the API for its reference pages, read from its description (OpenAPI)."""

from functools import cache
from typing import Any, NamedTuple

from console.api.idempotency import HEADER
from console.api.site_api import api

Described = dict[str, Any]


class DocumentedField(NamedTuple):
    """A parameter of a call, or a field of its body."""

    name: str
    values: str
    about: str
    required: bool


class Call(NamedTuple):
    """One call: ``takes`` are the parameters of its address and headers, without the Idempotency-Key, and of its body;
    ``answers`` are the names of the fields of its answer. ``brief`` is the first sentence of ``about``."""

    name: str
    method: str
    path: str
    scope: str | None
    roles: list[str]
    brief: str
    about: str
    takes: list[DocumentedField]
    answers: list[str]


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
    about = " ".join(described["description"].split())
    body = _schema(described.get("requestBody", {}))
    answer = next(_schema(one) for status, one in described["responses"].items() if int(status) < 400)
    takes = [
        (one["name"], one["schema"] | {"description": one.get("description", "")}, one.get("required", False))
        for one in described["parameters"]
        if one["name"] != HEADER
    ] + [(name, one, name in body.get("required", ())) for name, one in body.get("properties", {}).items()]
    return Call(
        name=described["operationId"],
        method=method,
        path=path,
        scope=described["x-scope"],
        roles=described["x-roles"],
        brief=about.partition(". ")[0].rstrip(".") + ".",
        about=about,
        takes=[
            DocumentedField(name, _values(one), one.get("description", ""), required) for name, one, required in takes
        ],
        answers=list(answer.get("properties", {})),
    )


def _schema(described: Described) -> Described:
    """Return the JSON schema of a body or an answer; of a list in parts, that of its rows."""
    found = _resolved(described.get("content", {}).get("application/json", {}).get("schema", {}))
    rows = found.get("properties", {}).get("results", {})
    return _resolved(rows["items"]) if rows.get("type") == "array" else found


def _values(schema: Described) -> str:
    """Return what JSON schema says of the values: ``integer, minimum 1``; ``string (uuid)``."""
    kinds = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
    (first, *_) = (_resolved(one) for one in kinds)
    if "enum" in first:
        return " | ".join(str(value) or '""' for value in first["enum"])
    said = [
        str(first.get("type", "any")),
        *(f"{name} {first[name]:,}" for name in ("minimum", "maximum") if name in first),
    ]
    if schema.get("default") not in (None, [], ""):
        said.append(f"default {schema['default']}")
    return ", ".join(said)


def _resolved(schema: Described) -> Described:
    if "$ref" not in schema:
        return schema
    found: Described = api.get_openapi_schema()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found
