"""Addresses that no page has."""

from collections.abc import Callable
from urllib.parse import unquote

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

Answering = Callable[[HttpRequest], HttpResponseBase]


def refuse_nul(get_response: Answering) -> Answering:
    """Answer 404 to an address that holds a NUL, which PostgreSQL takes in no query."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path or "\0" in unquote(request.META.get("QUERY_STRING", "")):
            raise Http404("There is a NUL in the address.")
        return get_response(request)

    return answer
