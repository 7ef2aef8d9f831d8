"""A worker's own page of a round in the browser pool: join, the page itself, take a HIT, appeal, ask for pay."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.signing import BadSignature
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.judging.history import completion_code_of, earnings_of, lost_work_of, rejected_work_of, work_of
from annotation.judging.links import (
    WORKER_LIFE,
    Home,
    Trouble,
    assignment_token,
    form_token,
    home_of,
    invitation_of,
    joined_round,
    read_form_token,
    read_worker_token,
    refuse_excluded,
)
from annotation.judging.sheet import hit_page, terms_of
from annotation.judging.sheet_answers import agrees_to
from annotation.models import Assignment, ConsentSheet, Invitation, Rejection
from annotation.people.admission import (
    NotAdmittedError,
    admission_of,
    has_joined,
    hits_of,
    join_round,
    permit_of,
    places_left,
    use_invitation,
)
from annotation.people.consent import NotAgreedError, current_sheet, give_consent, has_agreed, words_of
from annotation.people.workers import actor_of, worker_for
from annotation.review.appeals import appeal, ask_for_pay
from annotation.work.leases import lease_seat
from core import clock
from core.errors import CounterpartError
from core.web.throttles import Throttle
from hits.models import Round, Seat

JOINS = Throttle("JOINS_PER_HOUR")
TAKES = Throttle("TAKES_PER_HOUR")


@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, join_key: str) -> HttpResponse:
    """Show what the round is about and what it pays; consenting makes a worker, who joins the round."""
    return _join(request, joined_round(join_key), None)


@require_http_methods(["GET", "HEAD", "POST"])
def invited(request: HttpRequest, token: str) -> HttpResponse:
    """Do the same by an invitation, which one person may use once."""
    invitation = invitation_of(token)
    return _join(request, joined_round(invitation.round.join_key), invitation)


def _join(request: HttpRequest, round: Round, invitation: Invitation | None) -> HttpResponse:
    last = _remembered(request)
    known = Home(last.worker, round) if last else None
    _refuse_unwelcome(round, known)
    _refuse_uninvited(request, round, known, invitation)
    sheet = current_sheet(round)
    agreed = known is not None and has_agreed(known.worker, round)
    consents = agrees_to(sheet, request.POST)
    if known and "again" in request.POST and (agreed or consents):
        give_consent(known.worker, round, sheet=sheet)
        return _enter(known, invitation)
    if consents:
        if invitation is None and not JOINS.admits(request, round.pk):
            text = _("Wait an hour and agree again, or ask the people who sent you the link.")
            raise Trouble(_("Many people have just joined from your network"), text, status=429)
        with transaction.atomic():  # Who cannot join leaves no worker behind.
            return _enter(_new_worker(request, round, sheet), invitation)
    context = {"round": round, "known": known, "has_agreed": agreed, "sheet": sheet, "form": form_token()}
    context |= {"refused": request.method == "POST", "outdated": request.POST.get("consent") == "yes"}
    return render(request, "judging/join.html", {**context, **_terms(round)}, status=422 if context["refused"] else 200)


@require_safe
def start(request: HttpRequest) -> HttpResponse:
    """Lead to the worker's own page that this browser knows: where the installed pages open."""
    if known := _remembered(request):
        return redirect("judging:home", token=known.token)
    text = _("Open the link that you were sent again; your earlier work is not lost.")
    raise Trouble(_("This browser does not know you"), text, status=404)


@require_safe
def home(request: HttpRequest, token: str) -> HttpResponse:
    """Show a worker's own page in a round: the next HIT, and the results of the earlier ones."""
    home = home_of(token)
    works = work_of(home.worker)
    permit = permit_of(home.round, home.worker)
    nothing_left = "nothing-left" in request.GET and home.round.paused_at is None and not permit.waits
    context = {
        "home": home,
        "round": home.round,
        "address": settings.SITE_URL + request.path,
        "mail_subject": _("My page for judging pictures and sentences"),
        "held": _held(home) or ("" if home.round.takes_workers and not permit.is_over else _late(home)),
        "permit": permit,
        "sheet": None if has_agreed(home.worker, home.round) else current_sheet(home.round),
        "nothing_left": nothing_left,
        "returned": "returned" in request.GET,
        "works": works,
        "earnings": earnings_of(works),
        "payment_terms": words_of(home.round)["payment_terms"] if works else "",
        "rejected": rejected_work_of(home.worker),
        "lost": lost_work_of(home.worker),
        "code": completion_code_of(home, permit, nothing_left=nothing_left),
    }
    return render(request, "judging/home.html", {**context, **_terms(home.round)})


@require_POST
def take(request: HttpRequest, token: str) -> HttpResponse:
    """Lease a seat and show its HIT, or the HIT that the worker has open; first note that they agree to the sheet that
    they were shown. A worker who has not agreed to the current sheet is sent to their own page, which shows it.

    A script of the page then shows the HIT's own address. Without scripts the answer is a redirect to it: a worker who
    went back to a page at this address and sent its form again would take another HIT.
    """
    home = home_of(token)
    if not (home.worker.simulated or TAKES.admits(request, home.round.pk)):
        if held := _held(home):
            return redirect("judging:task", token=held)
        text = _("Wait an hour, then take the next one on your own page. What you have submitted is safe.")
        raise Trouble(_("Many HITs have just been taken from your network"), text, status=429, home=home.token)
    if "consent" in request.POST and agrees_to(sheet := current_sheet(home.round), request.POST):
        give_consent(home.worker, home.round, sheet=sheet)
    try:
        assignment = lease_seat(home.round, worker=home.worker)
    except NotAgreedError:
        return redirect("judging:home", token=token)
    except NotAdmittedError:
        refuse_excluded(home)
        is_paused = permit_of(home.round, home.worker).paused
        return redirect("judging:home" if is_paused else "judging:test", token=token)
    if assignment is None:
        return to_home(home, "nothing-left")
    address = reverse("judging:task", args=[assignment_token(assignment)])
    return redirect(address) if "no-script" in request.POST else hit_page(request, assignment, address=address)


@require_POST
def appeal_against(request: HttpRequest, token: str, rejection_id: int) -> HttpResponse:
    """Store the appeal and go back to the worker's page."""
    home = home_of(token)
    rejection = Rejection.objects.filter(pk=rejection_id, assignment__worker=home.worker).first()
    return _written(request, home, rejection, appeal, _("Your appeal was not saved"), "rejected")


@require_POST
def ask_to_be_paid(request: HttpRequest, token: str, assignment_id: int) -> HttpResponse:
    """Store the request for the pay of a HIT that another worker was given, and go back to the worker's page."""
    home = home_of(token)
    lost = home.worker.assignments.filter(pk=assignment_id).first()
    return _written(request, home, lost, ask_for_pay, _("Your request was not saved"), "lost")


def _written(
    request: HttpRequest, home: Home, work: Any, store: Callable[..., object], failed: str, part: str
) -> HttpResponse:
    """Store what the worker writes about their own work, and show this part of their page."""
    if work is None:
        text = _("Go back to your own page and appeal from there.")
        raise Trouble(_("This is not your work"), text, status=404, home=home.token)
    try:
        store(work, text=request.POST.get("text", ""), actor=actor_of(home.worker))
    except CounterpartError as error:
        raise Trouble(failed, str(error), status=422, home=home.token) from error
    return redirect(f"{reverse('judging:home', args=[home.token])}#{part}")


def _terms(round: Round) -> dict[str, object]:
    return terms_of(round) | {"lease_minutes": settings.LEASE_MINUTES}


def _new_worker(request: HttpRequest, round: Round, sheet: ConsentSheet) -> Home:
    """Make the worker who agreed. Sending the same form twice makes one."""
    try:
        form = read_form_token(request.POST.get("form", ""))
    except BadSignature as error:
        raise Trouble(
            _("This form has expired"), _("Open the link that you were sent again and agree once more."), status=410
        ) from error
    worker = worker_for(channel="browser", external_id=form)
    give_consent(worker, round, sheet=sheet)
    return Home(worker, round)


def _refuse_unwelcome(round: Round, known: Home | None) -> None:
    """Refuse a worker whom this browser knows as excluded, and new workers where the round is full."""
    if known:
        refuse_excluded(known)
    if places_left(round) == 0 and not (known and has_joined(round, known.worker)):
        raise _full()


def _refuse_uninvited(request: HttpRequest, round: Round, known: Home | None, invitation: Invitation | None) -> None:
    """Let in who joined before, and whose invitation is unused; a form that was sent twice is sorted out later."""
    if known and has_joined(round, known.worker):
        return
    if invitation is None and admission_of(round).invited:
        text = _("Open the invitation that you were sent, or ask the people who sent you this link for one.")
        raise Trouble(_("This round is by invitation"), text, status=403)
    used_by = invitation.used_by if invitation else None
    if used_by and request.method != "POST" and not (known and known.worker == used_by):
        raise _used()


def _full() -> Trouble:
    text = _("Enough people have joined. Thank you; there may be a place in the next round.")
    return Trouble(_("This round is full"), text, status=410)


def _used() -> Trouble:
    text = _(
        "One person can join by it. If you used it, continue on the page that it opened; if not, ask for your own."
    )
    return Trouble(_("This invitation has been used"), text, status=410)


def _enter(home: Home, invitation: Invitation | None) -> HttpResponse:
    """Have the worker join and send them to their own page. The cookie only shows the way back from the join link."""
    with transaction.atomic():
        is_new = invitation and not has_joined(home.round, home.worker)
        if invitation and is_new and not use_invitation(invitation, home.worker):
            raise _used()
        if not join_round(home.round, home.worker):
            raise _full()
    response = redirect("judging:home", token=home.token)
    response.set_cookie(
        settings.WORKER_COOKIE_NAME,
        home.token,
        max_age=WORKER_LIFE,
        path="/judge/",
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Lax",
    )
    return response


def _remembered(request: HttpRequest) -> Home | None:
    """Return the worker whom this browser knows, in the round that they joined last."""
    with suppress(BadSignature):
        return read_worker_token(request.COOKIES.get(settings.WORKER_COOKIE_NAME, ""))
    return None


def _held(home: Home) -> str:
    """Return the token of the HIT that the worker has open in this round, or ""."""
    leased = home.worker.assignments.filter(state=Assignment.State.LEASED, hit__round=home.round)
    held = leased.filter(deadline__gt=clock.now()).first()
    return assignment_token(held) if held else ""


def _late(home: Home) -> str:
    """Return the token of a HIT with answers of the worker whose time ran out and which no other worker has, or ""."""
    done = hits_of(home.worker).exclude(state=Assignment.State.LEASED).values("hit")
    free = Q(state=Assignment.State.EXPIRED, seat__state=Seat.State.OPEN) & ~Q(hit__in=done)
    theirs = home.worker.assignments.filter(hit__round=home.round, outside_key="", drafts__isnull=False)
    late = theirs.filter(free | Q(state=Assignment.State.LEASED)).order_by("-pk").first()
    return assignment_token(late) if late else ""


def to_home(home: Home, message: str) -> HttpResponse:
    """Redirect the worker to their own page, which shows the text for ``message``."""
    return redirect(f"{reverse('judging:home', args=[home.token])}?{message}")
