"""Errors of the API as ``application/problem+json`` (RFC 9457), with the sentences of pages and commands."""

import json
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from ninja import Schema

MEDIA_TYPE = "application/problem+json"


class ProblemAnswer(Schema):
    """Why a call was refused or failed."""

    type: str
    title: str
    status: int
    detail: str


class Problem(Exception):  # noqa: N818  the word of RFC 9457
    """A call that is refused with a status, a sentence and headers."""

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers


def problem(status: int, detail: str, headers: dict[str, str] | None = None) -> HttpResponse:
    """Return the answer to a call that is refused."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return HttpResponse(json.dumps(body), status=status, content_type=MEDIA_TYPE, headers=headers)


def describe_errors(errors: list[dict[str, Any]]) -> str:
    """Return in one line what is wrong with the parts of a call: ``limit: Input should be less than …``."""
    lines = []
    for error in errors[:5]:
        place = ".".join(str(part) for part in error["loc"][1:]) or str(error["loc"][0])
        lines.append(f"{place}: {error['msg']}")
    return f"Invalid call. {'; '.join(lines)}."


USUAL_SENTENCES = {
    400: "The request cannot be read.",
    403: "You may not do this.",
    404: "Unknown address. /api/v1/openapi.json lists all addresses.",
    405: "This address does not accept this method. /api/v1/openapi.json lists those that it accepts.",
    411: "Send the length of the body, as Content-Length.",
    413: "The body is too large. Send files to /api/v1/uploads.",
    500: "The site failed. Its log has the details.",
    503: "The site is busy, or its database or disk cannot be used. Try again.",
}
"""The sentences for errors whose answer is only a page."""


def as_problem(response: HttpResponse) -> HttpResponse:
    """Return the problem that replaces the page of an error."""
    status = response.status_code
    detail = USUAL_SENTENCES.get(status, HTTPStatus(status).description or HTTPStatus(status).phrase)
    kept = {name: response[name] for name in ("Retry-After", "Allow") if name in response}
    return problem(status, detail, kept)
