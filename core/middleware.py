"""Middleware of all pages: how much a visitor may send, addresses that are refused, and compression.

A visitor may send little, but for uploads of people who are logged in. Nothing is read before that is known.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import render
from django.template.loader import render_to_string

GetResponse = Callable[[HttpRequest], HttpResponseBase]
LARGEST_BODY = 256 * 1024  # bytes; the longest form has 2,000 fields
FORM_AROUND = 64 * 1024  # bytes of a form beside the file in it


def takes_uploads(largest: int) -> Callable[[Callable], Callable]:
    """Mark a view that takes files of up to ``largest`` bytes from people who are logged in."""

    def mark(view: Callable) -> Callable:
        view.largest_body = largest + FORM_AROUND  # type: ignore[attr-defined]
        return view

    return mark


class BodyLimit:
    """Answers 413 to a body that is too large for its page, and 411 to one that does not say how large it is.

    It runs before the form's CSRF check, which reads the body. The server hands on as many bytes as were announced.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        if request.META.get("HTTP_TRANSFER_ENCODING"):
            return render(request, "413.html", {"is_measured": False}, status=411)
        size = int(request.META.get("CONTENT_LENGTH") or 0)
        allowed = LARGEST_BODY
        if size > allowed and request.user.is_authenticated:
            allowed = getattr(view, "largest_body", allowed)
        if size > allowed:
            return render(request, "413.html", {"is_measured": True}, status=413)
        return None


def refuse_nul(get_response: GetResponse) -> GetResponse:
    """Answer 404 to an address with a NUL character, which PostgreSQL accepts in no query."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path or "\0" in unquote(request.META.get("QUERY_STRING", "")):
            raise Http404("The address contains a NUL character.")
        return get_response(request)

    return answer


def explain_405(get_response: GetResponse) -> GetResponse:
    """Put a page into the empty answer to opening an address that only takes forms, as after a login in between."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and not response.content:
            response.content = render_to_string("405.html", {"is_worker": request.path.startswith("/judge/")})
        return response

    return answer


class CompressText(GZipMiddleware):
    """Compress pages, scripts and tables for who takes them so; pictures and archives are compressed already."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        kind = response.headers.get("Content-Type", "")
        is_text = kind.startswith("text/") or any(name in kind for name in ("javascript", "json", "svg"))
        # A part of a file (206) has its place in the file as it is.
        return super().process_response(request, response) if is_text and response.status_code != 206 else response
