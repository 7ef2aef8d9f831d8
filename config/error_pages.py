"""The answers of pages that fail: 503 if the database is lost or too busy, or the disk cannot be written; else 500."""

import sys

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from core.errors import DATABASE_LOST, outage_of

RETRY_AFTER = 5  # seconds


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer for an exception that no view and no middleware handled. The page needs no database, and is shown in the
    frames that the failed page is shown in (``request.let_frame``)."""
    error = sys.exception()
    known = {"is_worker": request.path.startswith("/judge/"), "outage": outage_of(error)}
    if isinstance(error, DATABASE_LOST) or known["outage"]:
        headers = {"Retry-After": str(RETRY_AFTER), "Cache-Control": "no-store"}
        answer = HttpResponse(render_to_string("503.html", known), status=503, headers=headers)
    else:
        answer = HttpResponse(render_to_string("500.html", known), status=500)
    let_frame = getattr(request, "let_frame", None)
    return let_frame(answer) if let_frame else answer
