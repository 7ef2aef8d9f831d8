"""The reference of the API for people and for programs, read from its description (OpenAPI); public, as that is."""

from functools import cache
from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from console.api.idempotency import HEADER
from console.api.keysets import MOST
from console.api.scopes import ROLES, SCOPES, roles_that_may
from console.api.site_api import api
from console.permissions import page

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


@page("api/", "api_reference")
@require_safe
def reference(request: HttpRequest) -> HttpResponse:
    """Show all calls, by subject."""
    return render(request, "console/api/reference.html", {**_common(), "calls": _calls()})


@page("llms.txt")
@require_safe
def llms(request: HttpRequest) -> HttpResponse:
    """Describe the API in plain text, for language models."""
    context = {**_common(), "subjects": calls_by_subject()}
    return render(request, "console/api/llms.txt", context, content_type="text/plain; charset=utf-8")


def _common() -> dict[str, Any]:
    scopes = [(name, scope.meaning, roles_that_may(name)) for name, scope in SCOPES.items()]
    return {
        "site": settings.SITE_URL,
        "root": f"{settings.SITE_URL}/api/v1",
        "limit": settings.API_CALLS_PER_MINUTE,
        "key": HEADER,
        "most": MOST,
        "scopes": scopes,
        "everybody": list(ROLES),
    }


@cache
def _calls() -> str:
    """Return the part of the page that is the same for everybody; made once by each process."""
    return render_to_string("console/api/_calls.html", {"subjects": calls_by_subject(), "everybody": list(ROLES)})
