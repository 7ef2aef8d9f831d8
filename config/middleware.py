"""Middleware of all pages."""

from collections.abc import Callable
from urllib.parse import unquote

from django.http import Http404, HttpRequest, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.template.loader import render_to_string

GetResponse = Callable[[HttpRequest], HttpResponseBase]


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
