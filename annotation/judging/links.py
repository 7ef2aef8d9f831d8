"""Signed links, which take the place of a login: who may see a page, and an error page for others."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, wraps
from typing import Any

from django.conf import settings
from django.core import signing
from django.core.signing import BadSignature, SignatureExpired
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from annotation.models import Assignment, Invitation, Worker
from annotation.people.admission import is_excluded
from core.database.fixed_queries import FixedQuery
from core.web.middleware import body_size
from hits.models import Round

WORKER_SALT = "counterpart.judging.worker-link"
ASSIGNMENT_SALT = "counterpart.judging.assignment-link"
PICTURES_SALT = "counterpart.judging.pictures"
TEST_PICTURES_SALT = "counterpart.judging.test-pictures"
PRACTICE_PICTURES_SALT = "counterpart.judging.practice-pictures"
INVITATION_SALT = "counterpart.judging.invitation"
FORM_SALT = "counterpart.judging.consent-form"

WORKER_LIFE = timedelta(days=180)
ASSIGNMENT_LIFE = timedelta(days=7)  # longer than any platform lets a worker keep a HIT
FORM_LIFE = timedelta(days=1)

MAX_BODY = 64 * 1024

View = Callable[..., HttpResponseBase]


class Trouble(Exception):  # noqa: N818  a page to show, not a fault of ours
    """An error page for a worker; ``home`` is the token of their own page, ``over`` the name of the copy in their
    browser that is of no more use."""

    def __init__(self, title: str, text: str, *, status: int, home: str = "", over: str = "") -> None:
        super().__init__(title)
        self.title = title
        self.text = text
        self.status = status
        self.home = home
        self.over = over


class LinkReplacedError(SignatureExpired):
    """Staff gave the worker a new link, which made all earlier ones void."""


@dataclass(frozen=True)
class Home:
    """The worker and the round of a personal link, which opens the worker's own page."""

    worker: Worker
    round: Round

    @cached_property
    def token(self) -> str:
        return worker_token(self.worker, self.round)


def by_link(view: View) -> View:
    """Serve a page to the bearer of its link, and show Trouble as a page.

    Exempt from the CSRF check: the link in the address is the only credential, and no other site knows it.
    """

    @csrf_exempt
    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return answered(view, request, *args, **kwargs)

    return page


def by_assignment(view: View) -> View:
    """Serve a page of an assignment, by the link that names it."""

    @by_link
    @wraps(view)
    def page(request: HttpRequest, token: str, **kwargs: Any) -> HttpResponseBase:
        return view(request, assignment_of(token), **kwargs)

    return page


def answered(view: View, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
    """Return the view's answer, or the page of its Trouble; private, and with no referrer for other sites. It is in the
    language of the browser until ``speak`` chooses that of a round."""
    with translation.override(translation.get_language_from_request(request)):
        try:
            refuse_large(request)
            response = view(request, *args, **kwargs)
        except Trouble as trouble:
            context = {"trouble": trouble, "over": trouble.over}
            response = render(request, "judging/trouble.html", context, status=trouble.status)
    response.headers.setdefault("Cache-Control", "private, no-store")
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def speak(round: Round) -> None:
    """Write the rest of the answer in the language of the round, if it has one."""
    if round.language:
        translation.activate(round.language)


def refuse_large(request: HttpRequest) -> None:
    if body_size(request) > MAX_BODY:
        raise Trouble(
            _("Too much was sent"), _("The answers to one HIT are small; reload the page and try again."), status=413
        )


def invitation_link(invitation: Invitation) -> str:
    """Return the address that opens the invitation."""
    token = signing.dumps(invitation.pk, salt=INVITATION_SALT)
    return settings.SITE_URL + reverse("judging:invited", args=[token])


def invitation_of(token: str) -> Invitation:
    """Return the invitation of a link, which may be used or void."""
    try:
        number = signing.loads(token, salt=INVITATION_SALT)
    except BadSignature as forged:
        raise Trouble(
            _("Invalid link"), _("Check that you copied all of it, or ask for a new one."), status=404
        ) from forged
    invitation = Invitation.objects.select_related("round", "used_by").filter(pk=number).first()
    if invitation is None or invitation.state == Invitation.State.REVOKED:
        raise Trouble(
            _("This invitation was withdrawn"), _("Ask the people who sent you the link for a new one."), status=410
        )
    return invitation


def joined_round(join_key: str) -> Round:
    """Return the round that a join link opens, provided that it is for browsers and people may work on it."""
    rounds = Round.objects.select_related("admission__test", "admission__practice")
    round = rounds.filter(join_key=join_key, channel="browser").first()
    if round is None or round.state == "draft":
        raise Trouble(_("Invalid link"), _("Check that you copied all of it, or ask for a new one."), status=404)
    speak(round)
    if round.state == "closed":
        raise Trouble(_("This round is closed"), _("It gives out no more HITs. Thank you."), status=410)
    return round


def home_of(token: str) -> Home:
    """Return the worker and the round that a personal link names."""
    with_link = _("Open the link that you were sent again; your earlier work is not lost.")
    with _faults_shown(expired=with_link, forged=_("Check that you copied all of it.") + " " + with_link):
        home = read_worker_token(token)
    if home is None:
        raise Trouble(_("This round does not exist any more"), _("Ask the people who sent you the link."), status=404)
    speak(home.round)
    return home


@contextmanager
def _faults_shown(*, expired: str, forged: str) -> Iterator[None]:
    """Raise Trouble, with these texts, for a link that cannot be read."""
    try:
        yield
    except LinkReplacedError as error:
        text = _(
            "You have a new link, and this one no longer works. Use the new one, or ask the people who sent it to you."
        )
        raise Trouble(_("This link was replaced"), text, status=410) from error
    except SignatureExpired as error:
        raise Trouble(_("This link has expired"), expired, status=410) from error
    except BadSignature as error:
        raise Trouble(_("Invalid link"), forged, status=404) from error


def refuse_excluded(home: Home) -> None:
    """Raise Trouble for a worker who gets no more HITs from us; their own page stays open to them."""
    if is_excluded(home.worker):
        text = _("You were excluded from our rounds. Your page lists the work you submitted and its pay.")
        raise Trouble(_("There are no more HITs for you"), text, status=403, home=home.token)


def assignment_of(token: str) -> Assignment:
    """Return the assignment of the browser pool that a HIT's link names."""
    with _faults_shown(
        expired=_("The link to a HIT works for a week. Your own page lists what you submitted."),
        forged=_("Check that you copied all of it, or go back to your own page and continue from there."),
    ):
        assignment = read_assignment_token(token)
    if assignment is None or assignment.is_outside:
        raise Trouble(_("This HIT does not exist any more"), _("Ask the people who sent you the link."), status=404)
    speak(assignment.hit.round)
    return assignment


def home_behind(assignment: Assignment) -> Home:
    return Home(assignment.worker, assignment.hit.round)


def worker_token(worker: Worker, round: Round, *, salt: str = WORKER_SALT) -> str:
    return signing.dumps([worker.pseudonym, round.pk, worker.link_version], salt=salt)


def assignment_token(assignment: Assignment, *, salt: str = ASSIGNMENT_SALT) -> str:
    return signing.dumps([assignment.pk, assignment.worker.link_version], salt=salt)


def address_of_pictures(assignment: Assignment) -> str:
    """Return what the addresses of the HIT's pictures begin with. A person who is given one learns no
    link to the HIT."""
    return folder_of_pictures("judging:picture", assignment_token(assignment, salt=PICTURES_SALT))


def folder_of_pictures(page: str, token: str) -> str:
    """Return what the addresses of the pictures begin with that ``page`` sends to the bearer of a token."""
    return reverse(page, args=[token, 0]).removesuffix("0/")


def copy_key(assignment: Assignment) -> str:
    """Name the copy of an assignment's answers in its worker's browser, the same at every address it has."""
    return salted_hmac("counterpart.judging.copy", str(assignment.pk)).hexdigest()[:20]


def form_token() -> str:
    """Name one showing of the consent form, so that sending it twice makes one worker."""
    return signing.dumps(secrets.token_hex(16), salt=FORM_SALT)


def read_worker_token(token: str, *, salt: str = WORKER_SALT) -> Home | None:
    """Return the worker in the round; None if one of them is gone. Raises BadSignature, SignatureExpired and
    LinkReplacedError among them."""
    pseudonym, round_id, version = signing.loads(token, salt=salt, max_age=WORKER_LIFE)
    worker = _worker.first(pseudonym)
    round = _round.first(round_id)
    if worker is None or round is None:
        return None
    _refuse_replaced(worker, version)
    return Home(worker, round)


def read_assignment_token(token: str, *, salt: str = ASSIGNMENT_SALT) -> Assignment | None:
    """Return the assignment; None if it is gone. Raises BadSignature, SignatureExpired and LinkReplacedError among
    them."""
    key, version = signing.loads(token, salt=salt, max_age=ASSIGNMENT_LIFE)
    assignment = _assignment.first(key)
    if assignment:
        _refuse_replaced(assignment.worker, version)
    return assignment


@FixedQuery
def _worker(pseudonym: str) -> QuerySet[Worker]:
    return Worker.objects.filter(pseudonym=pseudonym)


@FixedQuery
def _round(key: int) -> QuerySet[Round]:
    return Round.objects.select_related("admission__test", "admission__practice").filter(pk=key)


@FixedQuery
def _assignment(key: int) -> QuerySet[Assignment]:
    return Assignment.objects.select_related("hit__round__admission", "worker").filter(pk=key)


def _refuse_replaced(worker: Worker, version: int) -> None:
    if worker.link_version != version:
        raise LinkReplacedError("The worker has a newer link.")


def read_form_token(token: str) -> str:
    """Return the form's random name. Raises BadSignature, SignatureExpired among them."""
    return str(signing.loads(token, salt=FORM_SALT, max_age=FORM_LIFE))
