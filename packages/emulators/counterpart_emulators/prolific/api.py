"""The API over HTTP: checks the token and the body, does an operation unless a fault comes before it, and answers."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from hmac import compare_digest
from typing import Any
from urllib.parse import urlencode

from werkzeug import Request, Response
from werkzeug.routing import Rule

from counterpart_emulators.prolific import TOKEN
from counterpart_emulators.prolific.call_faults import CallFaults
from counterpart_emulators.prolific.errors import ProlificError
from counterpart_emulators.prolific.operations import OPERATIONS, Operation
from counterpart_emulators.prolific.schemas import read_body
from counterpart_emulators.prolific.world import World
from counterpart_emulators.server import Drop, reset

ROOT = "/api/v1/"
PAGE_SIZE = 20


class Api:
    """Answers calls to a world; ``faults`` happen to them."""

    def __init__(self, world: World, faults: CallFaults) -> None:
        self._world = world
        self._faults = faults

    def rules(self) -> Iterator[Rule]:
        """Return a rule for every operation, and one for whatever else is asked for."""
        for name, operation in OPERATIONS.items():
            answer = partial(self._answer, name, operation)
            yield Rule(ROOT + operation.path, methods=[operation.method], endpoint=answer, strict_slashes=True)
        yield Rule(f"{ROOT}<path:path>", endpoint=_nowhere, merge_slashes=False)

    def _answer(self, name: str, operation: Operation, request: Request, **ids: str) -> Response:
        try:
            return self._answered(name, operation, request, ids)
        except ProlificError as error:
            return _sent(error.as_json(bare=operation.bare), error.status)

    def _answered(self, name: str, operation: Operation, request: Request, ids: dict[str, str]) -> Response:
        _check_token(request)
        query = request.args.to_dict()
        about = {**query, **ids}
        if operation.method == "GET":
            instead = self._faults.before(name, about)
            result = self._world.look(partial(operation.do, query=query, **ids)) if instead is None else instead
            paging = self._faults.page(name) if operation.pages else (0, False)
        else:
            body = read_body(operation.body, _body_of(request))
            instead = self._faults.before(name, about | {key: str(value) for key, value in body.items()})
            delays = self._faults.delays(name)
            result = self._world.act(name, **ids, **body, **delays) if instead is None else instead
        if instead is None:
            result = self._faults.after(name, result)
        if isinstance(result, ProlificError):
            raise result
        if isinstance(result, Drop):
            return reset(request)
        if isinstance(result, Response):
            return result
        if operation.pages:
            result = _page(request, operation, result, *paging)
        return _sent(result, operation.status)


def _nowhere(request: Request, path: str) -> Response:
    error = ProlificError(f"{request.method} {request.path} is not an address of the API.", status=404)
    return _sent(error.as_json(bare=False), 404)


def _check_token(request: Request) -> None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme != "Token" or not compare_digest(token.encode(), TOKEN.encode()):
        raise ProlificError("Authentication credentials were not provided, or are wrong.", status=401)


def _body_of(request: Request) -> bytes:
    body = request.get_data()
    if body and request.mimetype != "application/json":
        raise ProlificError(f"Unsupported media type {request.mimetype!r} in the request; send JSON.")
    return body


def _page(request: Request, operation: Operation, rows: list[Any], off: int, goes_on: bool) -> dict[str, Any]:
    """Return a page of rows with links to its neighbours. Raises ProlificError for a page after the last one."""
    if operation.pages == "whole":
        return {"results": rows, "_links": _links(request, {}), "meta": {"count": len(rows)}}
    by_page = operation.pages == "page"
    size = _number(request, "page_size" if by_page else "limit", PAGE_SIZE)
    number = _number(request, "page", 1) if by_page else 1
    first = (number - 1) * size if by_page else _number(request, "offset", 0, least=0)
    if first and first >= len(rows):
        raise ProlificError("Invalid page.", status=404)
    page = rows[max(0, first + off) : max(0, first + off + size)] if first else rows[:size]
    more = first + size < len(rows) or (goes_on and len(page) == size)

    def at(start: int) -> dict[str, int]:
        return {"page": start // size + 1, "page_size": size} if by_page else {"offset": start, "limit": size}

    last = max(0, (len(rows) - 1) // size * size)
    places = {
        "next": at(first + size) if more else None,
        "previous": at(max(0, first - size)) if first else None,
        "last": at(last),
    }
    return {"results": page, "_links": _links(request, places), "meta": {"count": len(rows)}}


def _links(request: Request, places: Mapping[str, dict[str, int] | None]) -> dict[str, Any]:
    query = request.args.to_dict()

    def href(place: dict[str, Any] | None) -> str | None:
        return None if place is None else f"{request.base_url}?{urlencode(query | place)}"

    links = {"self": request.url, **{name: href(places.get(name)) for name in ("next", "previous", "last")}}
    return {name: {"href": address, "title": name.capitalize()} for name, address in links.items()}


def _number(request: Request, name: str, default: int, *, least: int = 1) -> int:
    text = request.args.get(name, str(default))
    if not text.isascii() or not text.isdecimal() or int(text[:9]) < least:
        raise ProlificError({name: ["A valid whole number is required."]})
    return int(text[:9])


def _sent(value: Any, status: int) -> Response:
    headers = {}
    if isinstance(value, dict) and "X-Hook-Secret" in value:
        headers["X-Hook-Secret"] = value["X-Hook-Secret"]
        value = {name: each for name, each in value.items() if name != "X-Hook-Secret"}
    body = "" if status == 204 else json.dumps(value, default=_text)
    return Response(body, status, headers, mimetype="application/json")


def _text(value: datetime) -> str:
    return value.isoformat()
