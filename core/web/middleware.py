"""Middleware of all pages: how much a visitor may send, addresses that are refused, errors and compression.

A visitor may send little, but for uploads of people who are logged in. Nothing is read before that is known.
"""

import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from math import inf
from threading import Lock
from typing import Any
from urllib.parse import unquote

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.request import UnreadablePostError
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.module_loading import import_string

from core.errors import DATABASE_LOST, outage_of, some_of
from core.text import counted
from core.untrusted import unstorable, whole_number

GetResponse = Callable[[HttpRequest], HttpResponseBase]
LARGEST_BODY = 256 * 1024  # bytes; the longest form has 2,000 fields
UPLOADS = 4  # that a process receives at a time: half of its threads (config/gunicorn.py)
UPLOADS_OF_ONE = 2  # of them, by one account
RETRY_AFTER = 10  # seconds
BUSY_RETRY_AFTER = 5  # seconds, of a database that is lost or too busy
FORM_AROUND = 64 * 1024  # bytes of a form apart from its file


def takes_uploads(largest: int) -> Callable[[Callable], Callable]:
    """Mark a view that takes files of up to ``largest`` bytes from people who are logged in."""

    def mark(view: Callable) -> Callable:
        view.largest_body = largest + FORM_AROUND  # type: ignore[attr-defined]
        return view

    return mark


def body_size(request: HttpRequest) -> float:
    """Return the number of bytes that the request announces; infinity for an invalid or too long number."""
    size = whole_number(request.META.get("CONTENT_LENGTH") or "0")
    return inf if size is None else size


class BodyLimit:
    """Answers 413 to a body that is too large for its page, 411 to one that does not say how large it is, and 503 where
    too many large ones are arriving: each keeps a thread, and the others are for all other requests.

    It runs before the form's CSRF check, which reads the body. The server hands on as many bytes as were announced, and
    gives up those that come too slowly (config/web_worker.py).
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self._arriving: Counter[int] = Counter()  # by account
        self._lock = Lock()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            return self.get_response(request)
        finally:
            if owner := getattr(request, "uploads_for", None):
                with self._lock:
                    self._arriving[owner] -= 1

    def _admits(self, request: HttpRequest) -> bool:
        """Take one of the places for large bodies, which the end of the request gives back; False if none is left."""
        owner: Any = request.user.pk
        with self._lock:
            if self._arriving.total() >= UPLOADS or self._arriving[owner] >= UPLOADS_OF_ONE:
                return False
            self._arriving[owner] += 1
        request.uploads_for = owner  # type: ignore[attr-defined]
        return True

    def process_view(
        self, request: HttpRequest, view: Callable, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        if request.META.get("HTTP_TRANSFER_ENCODING"):
            return render(request, "413.html", {"is_measured": False}, status=411)
        size = body_size(request)
        allowed = LARGEST_BODY
        if size > allowed and request.user.is_authenticated:
            allowed = getattr(view, "largest_body", allowed)
        if size > allowed:
            return render(request, "413.html", {"is_measured": True}, status=413)
        if size <= LARGEST_BODY:
            return None
        if not self._admits(request):
            headers = {"Retry-After": str(RETRY_AFTER)}
            return HttpResponse(render_to_string("503.html", {"is_crowded": True}), status=503, headers=headers)
        try:
            _ = getattr(view, "csrf_exempt", False) or request.POST  # read now, unless the view reads its body itself
        except UnreadablePostError:  # it was cut off, or came too slowly
            return render(request, "408.html", status=408)
        return None


class TextGate:
    """Refuses text that a database cannot store in addresses (404) and forms (400), and encodings other than UTF-8.

    Form fields are read after ``BodyLimit``. A view that reads its body itself has ``takes_forms = False``.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.META.get("SCRIPT_NAME"):  # core.health.configuration refuses the settings that lead to it
            sentence = "Counterpart works only at the root of a host. Give it a host name or a port of its own."
            return HttpResponse(sentence, status=404, content_type="text/plain")
        # Before the session asks the database: a cookie of ours is never like that.
        request.COOKIES = {name: text for name, text in request.COOKIES.items() if not unstorable(name + text)}
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        if (request.content_params or {}).get("charset", "utf-8").lower() not in ("utf-8", "utf8"):
            return render(request, "400.html", {"reason": "Text has to be in UTF-8."}, status=400)
        if unstorable(request.path) or "\0" in unquote(request.META.get("QUERY_STRING", "")):
            raise Http404("The address contains a NUL character.")
        if getattr(view, "takes_forms", True) and (wrong := _wrong_fields(request)):
            reason = f"{counted(len(wrong), 'field')} of the form contain a NUL character: {some_of(wrong)}. Remove it."
            return render(request, "400.html", {"reason": reason}, status=400)
        return None


def _wrong_fields(request: HttpRequest) -> list[str]:
    with suppress(UnreadablePostError):  # the sender has gone
        fields = request.POST.lists()
        return [name.replace("\0", "") for name, texts in fields if any(map(unstorable, [name, *texts]))]
    return []


def _apart(folder: str, place: str) -> Callable[[GetResponse], GetResponse]:
    """Return a middleware for the addresses of a folder; requests for others do not run its module."""

    def middleware(get_response: GetResponse) -> GetResponse:
        answer_apart = import_string(place)(get_response)

        def answer(request: HttpRequest) -> HttpResponseBase:
            return answer_apart(request) if request.path.startswith(folder) else get_response(request)

        return answer

    return middleware


api_calls = _apart("/api/v1/", "console.api.bearer.bearer")
judged_pictures = _apart("/judge/picture/", "annotation.judging.hit_pictures.serve_sealed")


def explain_405(get_response: GetResponse) -> GetResponse:
    """Put a page into the empty answer (405) of an address that only takes forms, as opened after a login."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and not response.content:
            response.content = render_to_string("405.html", {"is_worker": request.path.startswith("/judge/")})
        return response

    return answer


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer for an exception that no view and no middleware handled: 503 if the database is lost or too busy, or the
    disk cannot be written; else 500. The page needs no database, and is shown in the
    frames that the failed page is shown in (``request.let_frame``)."""
    error = sys.exception()
    known = {"is_worker": request.path.startswith("/judge/"), "outage": outage_of(error)}
    if isinstance(error, DATABASE_LOST) or known["outage"]:
        headers = {"Retry-After": str(BUSY_RETRY_AFTER), "Cache-Control": "no-store"}
        answer = HttpResponse(render_to_string("503.html", known), status=503, headers=headers)
    else:
        answer = HttpResponse(render_to_string("500.html", known), status=500)
    let_frame = getattr(request, "let_frame", None)
    return let_frame(answer) if let_frame else answer


class CompressText(GZipMiddleware):
    """Compress pages, scripts and tables for browsers that accept it; pictures and archives are compressed already."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        kind = response.headers.get("Content-Type", "")
        is_text = kind.startswith("text/") or any(name in kind for name in ("javascript", "json", "svg"))
        # A part of a file (206) has its place in the file as it is.
        return super().process_response(request, response) if is_text and response.status_code != 206 else response
