"""The reference of the API for people and for programs; public, like its description in OpenAPI."""

from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import path
from django.views.decorators.http import require_safe

from console.api.idempotency import HEADER
from console.api.keysets import MOST
from console.api.reference import calls_by_subject
from console.api.scopes import ROLES, SCOPES, roles_that_may


@require_safe
def reference(request: HttpRequest) -> HttpResponse:
    """Show all calls, by subject."""
    return render(request, "console/api/reference.html", {**_common(), "calls": _calls()})


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


urlpatterns = [
    path("api/", reference, name="api_reference"),
    path("llms.txt", llms, name="llms"),
]
