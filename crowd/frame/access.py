"""Who may frame our page and take its form, and whose turn a token names."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from csp.constants import SELF
from django.core.signing import BadSignature, SignatureExpired
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from annotation.judging.links import Trouble, View, answered, read_turn_token
from core.errors import CounterpartError
from crowd import channels
from crowd.channels import Arrival, ChannelError, Platform
from crowd.models import PlatformAssignment

FROM_THERE = "Go back to the platform and open the HIT from there once more; what you answered is not lost."


@dataclass(frozen=True)
class Site:
    """A platform's world, and the origins of its workers' pages."""

    channel: str
    environment: str
    platform: Platform
    origins: tuple[str, ...]


@dataclass(frozen=True)
class Turn:
    """A worker's turn at a posted HIT, and where its form has to go."""

    row: PlatformAssignment
    submit_url: str


def frame_page(*methods: str) -> Callable[[View], View]:
    """Make a view of a Site that answers these methods inside the frames of that site, and nowhere else.

    Exempt from the CSRF check: no cookie says who somebody is here, so there is nothing that another site could use.
    """

    def decorate(view: View) -> View:
        @csrf_exempt
        @require_http_methods([*methods, "HEAD"] if "GET" in methods else [*methods])
        @wraps(view)
        def page(request: HttpRequest, channel: str, environment: str, **kwargs: Any) -> HttpResponseBase:
            try:
                site = _site(channel, environment)
            except (CounterpartError, ChannelError):
                return answered(_nowhere, request)
            response = answered(view, request, site, **kwargs)
            return _framed(response, site)

        return page

    return decorate


def arrival_at(site: Site, request: HttpRequest) -> Arrival:
    """Read what the address claims. Raises Trouble where it makes no sense, or would send answers to anybody else."""
    try:
        arrival = site.platform.arrival(site.environment, dict(request.GET.lists()))
    except ChannelError as error:
        raise Trouble("This address is not right", f"{error} {FROM_THERE}", status=400) from error
    if _origin(arrival.submit_url) not in site.origins:
        raise Trouble("This address is not right", f"It would send your answers elsewhere. {FROM_THERE}", status=400)
    return arrival


def turn_of(site: Site, token: str) -> Turn:
    """Return the turn that a token names, at this site only."""
    try:
        key, submit_url = read_turn_token(token)
    except SignatureExpired as expired:
        raise Trouble("This page is too old", FROM_THERE, status=410) from expired
    except BadSignature as forged:
        raise Trouble("This address is not valid", FROM_THERE, status=404) from forged
    here = PlatformAssignment.objects.filter(channel=site.channel, environment=site.environment, pk=key)
    row = here.select_related("posting__hit__round", "worker", "assignment").first()
    if row is None or _origin(submit_url) not in site.origins:
        raise Trouble("This HIT is gone", FROM_THERE, status=404)
    return Turn(row, submit_url)


def _site(channel: str, environment: str) -> Site:
    """Raises CounterpartError for no platform, ChannelError for an environment that is not to be used here."""
    platform = channels.platform(channel)
    if environment not in platform.environments:
        raise ChannelError(f"{channel} has no environment {environment!r}.", permanent=True)
    return Site(channel, environment, platform, tuple(platform.origins(environment)))


def _framed(response: HttpResponseBase, site: Site) -> HttpResponseBase:
    # Read by the middleware of clickjacking and of django-csp.
    response.xframe_options_exempt = True  # type: ignore[attr-defined]
    response._csp_replace = {  # type: ignore[attr-defined]
        "frame-ancestors": [*site.origins],
        "form-action": [SELF, *site.origins],
    }
    return response


def _nowhere(request: HttpRequest) -> HttpResponseBase:
    raise Trouble("This address leads nowhere", "No platform of this name sends people here.", status=404)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
