"""The entry page for a platform's visitors, and the judging pages inside the platform's frame.

The platform adds unsigned claims to our address. They make an assignment, which counts for nothing until the platform
lists it. The addresses of all later pages have its signed token. No page sets or needs a cookie.
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

from annotation.consent import current_sheet
from annotation.judging.links import Trouble, View, answered, assignment_token, read_assignment_token
from annotation.judging.sheet import SAMPLE, terms_of
from annotation.models import Assignment
from core.errors import CounterpartError
from core.throttles import Throttle
from crowd import channels
from crowd.arrivals import TurnedAwayError, claim_hit, has_claimed, posting_of, refuse_taken
from crowd.channels import Arrival, ChannelError, Platform
from hits.models import Round

ARRIVALS = Throttle("ARRIVALS_PER_HOUR")
FROM_THERE = "Go back to the platform and open the HIT again; your answers are saved."


@dataclass(frozen=True)
class Site:
    """A platform in one environment, and the origins of its workers' pages."""

    channel: str
    environment: str
    platform: Platform
    origins: tuple[str, ...]


def framed(view: Callable[..., HttpResponseBase]) -> View:
    """Serve a view of a Site inside frames of that site only.

    Exempt from the CSRF check: no cookie identifies anybody here, so another site has nothing to use.
    """

    @csrf_exempt
    @wraps(view)
    def page(request: HttpRequest, channel: str, environment: str, **kwargs: Any) -> HttpResponseBase:
        try:
            site = _site(channel, environment)
        except (CounterpartError, ChannelError):
            return answered(_unknown, request)
        response = answered(view, request, site, **kwargs)
        # Read by the clickjacking middleware and by django-csp.
        response.xframe_options_exempt = True  # type: ignore[attr-defined]
        response._csp_replace = {  # type: ignore[attr-defined]
            "frame-ancestors": [*site.origins],
            "form-action": [SELF, *site.origins],
        }
        return response

    return page


def framed_assignment(view: Callable[..., HttpResponseBase]) -> View:
    """Serve a page of an assignment inside frames of its own site only."""

    @framed
    @wraps(view)
    def page(request: HttpRequest, site: Site, token: str, **kwargs: Any) -> HttpResponseBase:
        return view(request, _assignment_at(site, token), **kwargs)

    return page


@require_safe
def entry(request: HttpRequest, site: Site) -> HttpResponse:
    """What the platform's frame opens: a preview, or a redirect to the worker's HIT at an address without ids."""
    arrival = _arrival_at(site, request)
    try:
        posting = posting_of(arrival, channel=site.channel, environment=site.environment)
        if arrival.is_preview:
            round = posting.hit.round
            context = {"round": round, "sample": SAMPLE, "sheet": current_sheet(), **terms_of(round)}
            return render(request, "judging/preview.html", context)
        if not has_claimed(posting, arrival):
            _refuse_too_many(request, posting.hit.round)
        assignment = claim_hit(posting, arrival)
    except TurnedAwayError as error:
        raise Trouble(error.title, str(error), status=error.status) from error
    return redirect("crowd:task", site.channel, site.environment, assignment_token(assignment))


def _refuse_too_many(request: HttpRequest, round: Round) -> None:
    """Anybody may claim to be anybody: limit how many claims an address makes. In a rehearsal one computer plays all
    workers."""
    if not (round.rehearsal or ARRIVALS.admits(request, round.pk)):
        raise TurnedAwayError(
            "Many HITs have just been opened from your network",
            "Wait an hour and open this HIT again, or return it: that costs you nothing.",
            status=429,
        )


def _site(channel: str, environment: str) -> Site:
    """Raises CounterpartError for an unknown platform, ChannelError for an environment that may not be used."""
    platform = channels.platform(channel)
    if environment not in platform.environments:
        raise ChannelError(f"{channel} has no environment {environment!r}.", permanent=True)
    return Site(channel, environment, platform, tuple(platform.origins(environment)))


def _unknown(request: HttpRequest) -> HttpResponseBase:
    raise Trouble("Page not found", "There is no platform at this address.", status=404)


def _arrival_at(site: Site, request: HttpRequest) -> Arrival:
    """Read the claims in the address. Raises Trouble if they are invalid, or would send the answers to another site."""
    try:
        arrival = site.platform.arrival(site.environment, dict(request.GET.lists()))
    except ChannelError as error:
        raise Trouble("This address is not right", f"{error} {FROM_THERE}", status=400) from error
    if _origin(arrival.finish_url) not in site.origins:
        raise Trouble(
            "This address is not right", f"It would send your answers to another site. {FROM_THERE}", status=400
        )
    return arrival


def _assignment_at(site: Site, token: str) -> Assignment:
    """Return the assignment of a token, at its own site only, unless another worker has submitted it."""
    try:
        assignment = read_assignment_token(token)
    except SignatureExpired as error:
        raise Trouble("This page is too old", FROM_THERE, status=410) from error
    except BadSignature as error:
        raise Trouble("This address is not valid", FROM_THERE, status=404) from error
    if (
        assignment is None
        or (assignment.channel, assignment.environment) != (site.channel, site.environment)
        or _origin(assignment.finish_url) not in site.origins
    ):
        raise Trouble("This HIT is gone", FROM_THERE, status=404)
    try:
        refuse_taken(assignment)
    except TurnedAwayError as error:
        raise Trouble(error.title, str(error), status=error.status) from error
    return assignment


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
