"""Middleware of all pages."""

from collections.abc import Callable
from urllib.parse import unquote

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def refuse_nul(get_response: GetResponse) -> GetResponse:
    """Answer 404 to an address with a NUL character, which PostgreSQL accepts in no query."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path or "\0" in unquote(request.META.get("QUERY_STRING", "")):
            raise Http404("The address contains a NUL character.")
        return get_response(request)

    return answer
