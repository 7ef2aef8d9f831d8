"""How much a visitor may send: little, but for uploads of people who are logged in. Nothing is read before that."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

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

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        if request.META.get("HTTP_TRANSFER_ENCODING"):
            return render(request, "413.html", {"is_measured": False}, status=411)
        size, allowed = int(request.META.get("CONTENT_LENGTH") or 0), LARGEST_BODY
        if size > allowed and request.user.is_authenticated:
            allowed = getattr(view, "largest_body", allowed)
        if size > allowed:
            return render(request, "413.html", {"is_measured": True}, status=413)
        return None
