"""Where a platform's visitors arrive, and the judging pages inside the platform's frame.

What the platform adds to our address are unsigned claims: they make an assignment, which counts for nothing until the
platform lists it. Every later page carries its signed token. No page sets or needs a cookie.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from csp.constants import SELF
from django.core.signing import BadSignature, SignatureExpired
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from annotation.judging.links import Trouble, View, answered, assignment_token, read_assignment_token
from annotation.judging.sheet import SAMPLE, terms_of
from annotation.models import Assignment
from core.errors import CounterpartError
from crowd import channels
from crowd.arrivals import TurnedAwayError, claim_hit, posting_of
from crowd.channels import Arrival, ChannelError, Platform

FROM_THERE = "Go back to the platform and open the HIT from there once more; what you answered is not lost."


@dataclass(frozen=True)
class Site:
    """An environment of a platform, and the origins of its workers' pages."""

    channel: str
    environment: str
    platform: Platform
    origins: tuple[str, ...]


def framed(view: Callable[..., HttpResponseBase]) -> View:
    """Serve a view of a Site inside the frames of that site, and nowhere else.

    Exempt from the CSRF check: no cookie says who somebody is here, so there is nothing that another site could use.
    """

    @csrf_exempt
    @wraps(view)
    def page(request: HttpRequest, channel: str, environment: str, **kwargs: Any) -> HttpResponseBase:
        try:
            site = _site(channel, environment)
        except (CounterpartError, ChannelError):
            return answered(_unknown, request)
        response = answered(view, request, site, **kwargs)
        # Read by the middleware of clickjacking and of django-csp.
        response.xframe_options_exempt = True  # type: ignore[attr-defined]
        response._csp_replace = {  # type: ignore[attr-defined]
            "frame-ancestors": [*site.origins],
            "form-action": [SELF, *site.origins],
        }
        return response

    return page


def framed_assignment(view: Callable[..., HttpResponseBase]) -> View:
    """Serve a page of an assignment in the frames of the site that it came from."""

    @framed
    @wraps(view)
    def page(request: HttpRequest, site: Site, token: str, **kwargs: Any) -> HttpResponseBase:
        return view(request, _assignment_at(site, token), **kwargs)

    return page


@require_safe
def entry(request: HttpRequest, site: Site) -> HttpResponse:
    """Where the platform's frame leads: a preview, or on to the worker's HIT at an address that names nobody."""
    arrival = _arrival_at(site, request)
    try:
        posting = posting_of(arrival, channel=site.channel, environment=site.environment)
        if arrival.is_preview:
            round = posting.hit.round
            return render(request, "judging/preview.html", {"round": round, "sample": SAMPLE, **terms_of(round)})
        assignment = claim_hit(posting, arrival)
    except TurnedAwayError as error:
        raise Trouble(error.title, str(error), status=error.status) from error
    return redirect("crowd:task", site.channel, site.environment, assignment_token(assignment))


def _site(channel: str, environment: str) -> Site:
    """Raises CounterpartError for no platform, ChannelError for an environment that is not to be used here."""
    platform = channels.platform(channel)
    if environment not in platform.environments:
        raise ChannelError(f"{channel} has no environment {environment!r}.", permanent=True)
    return Site(channel, environment, platform, tuple(platform.origins(environment)))


def _unknown(request: HttpRequest) -> HttpResponseBase:
    raise Trouble("Page not found", "No platform of this name sends people here.", status=404)


def _arrival_at(site: Site, request: HttpRequest) -> Arrival:
    """Read what the address claims. Raises Trouble where it is malformed, or would send answers to anybody else."""
    try:
        arrival = site.platform.arrival(site.environment, dict(request.GET.lists()))
    except ChannelError as error:
        raise Trouble("This address is not right", f"{error} {FROM_THERE}", status=400) from error
    if _origin(arrival.finish_url) not in site.origins:
        raise Trouble("This address is not right", f"It would send your answers elsewhere. {FROM_THERE}", status=400)
    return arrival


def _assignment_at(site: Site, token: str) -> Assignment:
    """Return the assignment that a token names, at its own site only."""
    try:
        key = read_assignment_token(token)
    except SignatureExpired as expired:
        raise Trouble("This page is too old", FROM_THERE, status=410) from expired
    except BadSignature as forged:
        raise Trouble("This address is not valid", FROM_THERE, status=404) from forged
    here = Assignment.objects.filter(channel=site.channel, environment=site.environment, pk=key)
    assignment = here.select_related("hit__round", "worker").first()
    if assignment is None or _origin(assignment.finish_url) not in site.origins:
        raise Trouble("This HIT is gone", FROM_THERE, status=404)
    return assignment


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
