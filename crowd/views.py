"""The entry page for a platform's visitors, and the judging pages inside the platform's frame.

The platform adds unsigned claims to our address. They make an assignment, which counts for nothing until the platform
lists it, or lead to the consent page of a session, which gets a HIT from us. The addresses of all later pages have a
signed token. No page sets or needs a cookie.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from django.core import signing
from django.core.signing import BadSignature, SignatureExpired
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from annotation.judging.history import receipt_of
from annotation.judging.links import (
    Trouble,
    View,
    answered,
    assignment_token,
    copy_key,
    read_assignment_token,
    refuse_large,
    speak,
)
from annotation.judging.sheet import terms_of
from annotation.judging.sheet_answers import agrees_to
from annotation.models import Assignment, Worker, WorkerIdentity
from annotation.people.consent import NotAgreedError, contact, current_sheet
from annotation.people.workers import worker_for
from annotation.work.answers import ANSWERS_FIELD, RECEIPT_FIELD, drafted_answers, encode_answers, places_of
from core.errors import CounterpartError
from core.web.throttles import Throttle
from crowd import channels
from crowd.channels import session_platform
from crowd.channels.base import Arrival, ChannelError, Outcome, Platform, SendsHooks, SessionPlatform
from crowd.models import Posting, Visit
from crowd.sync import take_hint
from crowd.visits.arrivals import SESSION_LIFE, assignment_of_session, begin_session, forget_stranger, posting_of
from crowd.visits.claims import claim_hit, has_agreed_otherwise, has_claimed, refuse_taken
from hits.models import Round

ARRIVALS = Throttle("ARRIVALS_PER_HOUR")
SESSION_SALT = "counterpart.crowd.session"
FROM_THERE = "Go back to the platform and open the HIT again; your answers are saved."
NEVER_OPENED = (
    "The platform lists this session as finished, but it was not opened here before. We will check whether it is paid; "
    "there is nothing left to do for you. Write to us on the platform if you have a question."
)


@dataclass(frozen=True)
class PlatformSite:
    """A platform in one environment, and the origins of its workers' pages."""

    channel: str
    environment: str
    platform: Platform
    origins: tuple[str, ...]


def framed(view: Callable[..., HttpResponseBase]) -> View:
    """Serve a view of a platform inside frames of that site only; without frames where it opens our pages in a tab.

    Exempt from the CSRF check: no cookie identifies a worker here, so a forged request gains nothing.
    """

    @csrf_exempt
    @wraps(view)
    def page(request: HttpRequest, channel: str, environment: str, **kwargs: Any) -> HttpResponseBase:
        try:
            site = _site(channel, environment)
        except (CounterpartError, ChannelError):
            return answered(_unknown, request)
        request.let_frame = partial(_let_frame, site)  # type: ignore[attr-defined] # for the page of an error
        return _let_frame(site, answered(view, request, site, **kwargs))

    return page


def _let_frame(site: PlatformSite, response: HttpResponseBase) -> HttpResponseBase:
    # Read by the clickjacking middleware and by django-csp. A session has a tab of its own.
    is_framed = not isinstance(site.platform, SessionPlatform)
    response.xframe_options_exempt = is_framed  # type: ignore[attr-defined]
    response._csp_replace = {  # type: ignore[attr-defined]
        "frame-ancestors": [*site.origins] if is_framed else [NONE],
        "form-action": [SELF, *site.origins],
    }
    return response


def framed_assignment(view: Callable[..., HttpResponseBase], **options: Any) -> View:
    """Serve a page of an assignment inside frames of its own site only."""

    @framed
    @wraps(view)
    def page(request: HttpRequest, site: PlatformSite, token: str, **kwargs: Any) -> HttpResponseBase:
        return view(request, _assignment_at(site, token), **options, **kwargs)

    return page


@require_http_methods(["GET", "HEAD", "POST"])
def entry(request: HttpRequest, site: PlatformSite) -> HttpResponse:
    """Answer the platform's frame: with a preview, with what the worker agrees to where that has changed since their
    last HIT, or with a redirect to the worker's HIT at an address without ids."""
    arrival = _arrival_at(site, request)
    posting = posting_of(arrival, channel=site.channel, environment=site.environment)
    if posting.hit is None:
        return _to_session(request, site, posting, arrival)
    round = posting.round
    speak(round)
    sheet = current_sheet(round)
    context = {"round": round, "sheet": sheet, "is_preview": arrival.is_preview, **terms_of(round)}
    if arrival.is_preview:
        return render(request, "judging/preview.html", context)
    if not has_claimed(posting, arrival):
        _refuse_too_many(request, round)
        if has_agreed_otherwise(posting, arrival, sheet) and not agrees_to(sheet, request.POST):
            return render(request, "judging/preview.html", context)
    assignment = claim_hit(posting, arrival, sheet=sheet)
    return redirect("crowd:task", site.channel, site.environment, assignment_token(assignment))


def finish(request: HttpRequest, assignment: Assignment, *, at_once: bool) -> HttpResponse:
    """Show what is left to do on the platform: send a claim's saved answers, or say that a session is done, until the
    platform has confirmed it. ``at_once`` has the page send them by itself."""
    visit = assignment.visit
    context = {"visit": visit, "assignment": assignment, "at_once": at_once, "over": copy_key(assignment)}
    context |= contact(assignment.hit.round)
    if visit.is_listed or not (assignment.receipt or assignment.is_claim):
        return render(request, "judging/confirmed.html", context | {"work": receipt_of(assignment)})
    if not assignment.is_claim:
        return render(request, "judging/finish.html", context | {"fields": visit.finish_fields, "is_link": True})
    answers = [*drafted_answers(assignment).values()]
    sent = {
        ANSWERS_FIELD: encode_answers(answers, places_of(assignment)),
        RECEIPT_FIELD: assignment.receipt,
    }
    return render(request, "judging/finish.html", context | {"fields": visit.finish_fields | sent})


@csrf_exempt
@require_POST
def hook(request: HttpRequest, channel: str, environment: str) -> HttpResponse:
    """Take a platform's event as a hint to sync. A repeated event gets the same answer."""
    try:
        site = _site(channel, environment)
        refuse_large(request)
        if not isinstance(site.platform, SendsHooks):
            return HttpResponse(status=404)
        external_id = site.platform.event_id(environment, request.headers, request.body)
    except Trouble as trouble:
        return HttpResponse(status=trouble.status)
    except CounterpartError:
        return HttpResponse(status=404)
    except ChannelError:
        return HttpResponse(status=403)
    take_hint(channel, environment, external_id=external_id)
    return HttpResponse(status=200)


@require_http_methods(["GET", "HEAD", "POST"])
def session(request: HttpRequest, site: PlatformSite, token: str) -> HttpResponse:
    """Ask the visitor of a session for consent, then lead to their HIT."""
    posting, arrival, worker = _session_at(site, token)
    if worker is None:  # they declined and were deleted: show the same page again
        return _ended(request, site, posting, Outcome.NO_CONSENT)
    if assignment := assignment_of_session(posting, arrival.assignment_id, worker):
        return _to_hit(request, site, assignment)
    speak(posting.round)
    sheet = current_sheet(posting.round)
    answer = request.POST.get("consent")
    if answer == "no":
        forget_stranger(worker)
        return _ended(request, site, posting, Outcome.NO_CONSENT)
    if agrees_to(sheet, request.POST):
        with suppress(NotAgreedError):  # the sheet has just changed: show the new one
            return _to_hit(request, site, begin_session(posting, arrival, worker, sheet=sheet))
        sheet = current_sheet(posting.round)
    context = {"round": posting.round, "sheet": sheet, "outdated": bool(answer), **terms_of(posting.round)}
    return render(request, "judging/session.html", context, status=422 if answer else 200)


def _to_session(request: HttpRequest, site: PlatformSite, posting: Posting, arrival: Arrival) -> HttpResponse:
    """Lead to an address without the worker's id on the platform."""
    place = {"channel": site.channel, "environment": site.environment}
    if not WorkerIdentity.objects.filter(**place, external_id=arrival.worker_id).exists():
        _refuse_too_many(request, posting.round)
    worker = worker_for(**place, external_id=arrival.worker_id)
    token = signing.dumps([posting.pk, arrival.assignment_id, worker.pseudonym], salt=SESSION_SALT)
    response = redirect("crowd:session", site.channel, site.environment, token)
    response.status_code = 303
    return response


def _session_at(site: PlatformSite, token: str) -> tuple[Posting, Arrival, Worker | None]:
    """Return the posting, the session and the worker that the address names; the worker is None once forgotten."""
    try:
        key, session_id, pseudonym = signing.loads(token, salt=SESSION_SALT, max_age=SESSION_LIFE)
    except BadSignature as error:
        raise Trouble("This address is not valid", FROM_THERE, status=404) from error
    postings = Posting.objects.filter(pk=key, channel=site.channel, environment=site.environment, hit=None)
    posting = postings.select_related("round__pool").first()
    identity = WorkerIdentity.objects.filter(worker__pseudonym=pseudonym, channel=site.channel)
    known = identity.filter(environment=site.environment).select_related("worker").first()
    if posting is None:
        raise Trouble("This session is gone", FROM_THERE, status=404)
    worker_id = known.external_id if known else ""
    arrival = Arrival(posting.external_id, session_id, worker_id, "", {}, is_preview=False)
    return posting, arrival, known.worker if known else None


def _to_hit(request: HttpRequest, site: PlatformSite, assignment: Assignment) -> HttpResponse:
    """Lead to the HIT, or to the page that ends a session without one."""
    visit = assignment.visit
    if not (assignment.has_hit or visit.finish_url):
        raise Trouble("This session is over", NEVER_OPENED, status=409)
    if not assignment.has_hit:
        context = {"url": visit.finish_url, "fields": visit.finish_fields, "outcome": Outcome.NO_WORK.value}
        return render(request, "judging/session_end.html", context)
    response = redirect("crowd:task", site.channel, site.environment, assignment_token(assignment))
    response.status_code = 303
    return response


def _ended(request: HttpRequest, site: PlatformSite, posting: Posting, outcome: Outcome) -> HttpResponse:
    url, fields = session_platform(site.channel).finish(posting, outcome)
    return render(request, "judging/session_end.html", {"url": url, "fields": fields, "outcome": outcome.value})


def _refuse_too_many(request: HttpRequest, round: Round) -> None:
    """Limit the claims from one network address: they are unsigned, so a visitor can claim any worker's id. A rehearsal
    has no limit, as one computer plays all workers."""
    if not (round.rehearsal or ARRIVALS.admits(request, round.pk)):
        raise Trouble(
            "Many HITs have just been opened from your network",
            "Wait an hour and open this HIT again, or return it: that costs you nothing.",
            status=429,
        )


def _site(channel: str, environment: str) -> PlatformSite:
    """Raises CounterpartError for an unknown platform, ChannelError for an environment that may not be used."""
    platform = channels.platform(channel)
    if environment not in platform.environments:
        raise ChannelError(f"{channel} has no environment {environment!r}.", permanent=True)
    return PlatformSite(channel, environment, platform, tuple(platform.origins(environment)))


def _unknown(request: HttpRequest) -> HttpResponseBase:
    raise Trouble("Page not found", "This address belongs to no platform.", status=404)


def _arrival_at(site: PlatformSite, request: HttpRequest) -> Arrival:
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


def _assignment_at(site: PlatformSite, token: str) -> Assignment:
    """Return the assignment of a token, at its own site only, unless another worker has submitted it."""
    try:
        assignment = read_assignment_token(token)
    except SignatureExpired as error:
        raise Trouble("This page is too old", FROM_THERE, status=410) from error
    except BadSignature as error:
        raise Trouble("This address is not valid", FROM_THERE, status=404) from error
    visit = Visit.objects.filter(assignment=assignment, channel=site.channel, environment=site.environment).first()
    if assignment is None or visit is None or _origin(visit.finish_url) not in site.origins:
        raise Trouble("This HIT is gone", FROM_THERE, status=404)
    assignment.visit = visit
    visit.assignment = assignment
    speak(assignment.hit.round)
    refuse_taken(visit)
    return assignment


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
