"""What waits for a member of staff: of all rounds for the home page, of one round for its own page."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from annotation.models import CLAIM, Appeal, Assignment, Rejection
from annotation.review.decisions import work_to_review
from console.templatetags.console import ago, dollars
from core import clock
from core.health.heartbeat import busy_with
from core.models import Job
from core.text import counted
from core.work.jobs import stale_jobs
from crowd.calls.funds import shortages
from crowd.channels import market_of
from crowd.models import Outbox, Visit
from crowd.posting.postings import late_rounds, work_to_look_at
from crowd.posting.publication import can_close
from dataset.models import Case, QueueCheck
from hits.models import Control, Round, Seat
from hits.task_types import task_type_of
from integrations.models import Webhook

RECENT = timedelta(days=2)
NEARLY = timedelta(hours=48)
HELD_UP = timedelta(minutes=10)


class Need(NamedTuple):
    text: str
    url: str


class Waiting(NamedTuple):
    """Rows that wait: ``path`` leads to their round; ``text`` is about their number and ``noun``, and the round, whose
    ``page`` has them."""

    rows: Callable[[], QuerySet]
    path: str
    noun: str
    text: str
    page: str
    query: str = ""


def needs_of_all_rounds(user: User) -> list[Need]:
    """Return everything that waits for staff and that the user may do, most urgent first."""
    of_site = [need for permission, find in _OF_SITE if user.has_perm(permission) for need in find()]
    return [*needs_of(None, user), *of_site, *_stale_jobs(), *_failed_jobs(user), *_webhooks_off(user)]


def needs_of(round: Round | None, user: User) -> list[Need]:
    """Return what waits in one round, or in all, that the user may do, most urgent first, with a constant number of
    queries."""
    late = _late(round) if user.has_perm(LAUNCH) else ()
    waiting = [one for permission, some in _WAITING.items() if user.has_perm(permission) for one in some]
    return [*late, *(need for one in waiting for need in _counted(one, round))]


def _counted(waiting: Waiting, round: Round | None) -> Iterator[Need]:
    """Yield a need for each round, or for one. Rows of no round are shown by each round of their platform."""
    rows = waiting.rows() if round is None else waiting.rows().filter(**{waiting.path: round})
    name = f"{waiting.path}__name"
    for found, n in rows.order_by().values_list(name).annotate(n=Count("pk")).order_by(name):
        yield Need(waiting.text.format(counted(n, waiting.noun), found or "no round"), _page_of(waiting, found))


def _page_of(waiting: Waiting, round: str | None) -> str:
    if round is None:
        return reverse("rounds")
    if waiting.page == "inbox":
        return f"{reverse('inbox')}?round={round}"
    return _page(waiting.page, round) + waiting.query


def _page(name: str, key: str | int | UUID) -> str:
    return reverse(name, args=[key])


def _nearly_approved() -> QuerySet:
    """Undecided work that its platform will soon approve and pay."""
    return Assignment.objects.filter(
        CLAIM | Q(state__in=(Assignment.State.SUBMITTED, Assignment.State.FLAGGED)),
        visit__in=Visit.objects.undecided().filter(auto_approval_at__lt=clock.now() + NEARLY),
    )


def _held_up() -> QuerySet:
    """Calls that are retried automatically but have failed for some time."""
    old = Outbox.objects.filter(state=Outbox.State.PENDING, created_at__lt=clock.now() - HELD_UP)
    return old.exclude(error="")


def _short_of_funds() -> Iterable[Need]:
    for short in shortages():
        environment = market_of(short.channel, short.environment)
        held = dollars(short.held)
        needed = dollars(short.needed)
        text = f"The account on {environment} held {held} at the last check, but {needed} are still to be paid"
        yield Need(text, reverse("rounds"))


def _late(round: Round | None) -> Iterable[Need]:
    late = [(name, last) for name, last in late_rounds() if round is None or name == round.name]
    worker = _worker() if late else ""
    for name, last in late:
        yield Need(f"{name} was last synced {ago(last)}. {worker}", _page("round_money", name))


def _pairs_to_review() -> Iterable[Need]:
    for check in QueueCheck.objects.filter(shown=False).select_related("round__pool__collection"):
        name = check.round.pool.collection.name
        yield Need(f"The queue of {name} does not show every disagreement of {check.round}", _page("queue", name))
    rows = Case.objects.waiting().order_by().values_list("collection__name").annotate(n=Count("pk"))
    for name, n in rows.order_by("collection__name"):
        yield Need(f"{counted(n, 'pair')} to review in {name}", _page("queue", name))


def _complete_rounds() -> Iterable[Need]:
    seats = Seat.objects.filter(round=OuterRef("pk"))
    unfilled = seats.exclude(state=Seat.State.FILLED)
    for complete in Round.objects.filter(Exists(seats), ~Exists(unfilled), published_at__isnull=False, closed_at=None):
        task = task_type_of(complete)
        again = ", or judge its doubtful pairs again" if task.on_pairs and task.group == 1 else ""
        yield Need(f"{complete} is complete and still open. Close it{again}", _page("round", complete.name))


def _drafts() -> Iterable[Need]:
    for draft in Round.objects.filter(published_at=None, closed_at=None)[:5]:
        state = "judged elsewhere and not yet closed" if can_close(draft) else "planned and not yet published"
        yield Need(f"{draft} is {state}", _page("round", draft.name))


def _worker() -> str:
    job = busy_with()
    return f"The worker is busy with {job.title}" if job else "Is the Celery worker running?"


def _stale_jobs() -> Iterable[Need]:
    if (n := stale_jobs().count()) and not busy_with():
        yield Need(
            f"{counted(n, 'job waits', 'jobs wait')}: no Celery worker has run for minutes",
            f"{reverse('activity')}?of=jobs",
        )


def _failed_jobs(user: User) -> Iterable[Need]:
    """Recent failures without a later retry: all for users who may launch rounds, else those of the user."""
    again = Job.objects.filter(title=OuterRef("title"), created_at__gt=OuterRef("created_at"))
    failed = Job.objects.filter(~Exists(again), state=Job.State.FAILED, finished_at__gt=clock.now() - RECENT)
    if not user.has_perm(LAUNCH):
        failed = failed.filter(created_by=user)
    for job in failed[:5]:
        yield Need(f"{job.title} failed", _page("job", job.pk))


def _webhooks_off(user: User) -> Iterable[Need]:
    """Webhooks of the user that the site has switched off."""
    for webhook in Webhook.objects.filter(owner=user.pk).exclude(off_since=None).exclude(reason=""):
        reason = webhook.reason[0].lower() + webhook.reason[1:].rstrip(".")
        yield Need(f"The webhook to {webhook.host} is off: {reason}", _page("webhook", webhook.pk))


IN_HIT = "hit__round"
OF_WORK = "assignment__hit__round"
LAUNCH = "hits.launch_round"
DECIDE = "annotation.decide_assignment"
_PROPOSED = Rejection.objects.filter(Rejection.PROPOSED)
_APPEALS = Appeal.objects.filter(answered_at=None)
_SUSPECTED = Control.objects.filter(state=Control.State.SUSPECTED)
_FAILED = Outbox.objects.filter(state=Outbox.State.FAILED)
_WAITING: Mapping[str, tuple[Waiting, ...]] = {
    DECIDE: (
        Waiting(_nearly_approved, IN_HIT, "assignment", "{} in {}: the platform approves within 48 h", "inbox"),
        Waiting(work_to_review, IN_HIT, "flagged assignment", "{} in {}", "inbox"),
        Waiting(_PROPOSED.all, OF_WORK, "rejection", "{} in {} for a second person", "inbox"),
        Waiting(_APPEALS.all, OF_WORK, "appeal", "{} in {} to answer", "inbox"),
        Waiting(_SUSPECTED.all, "round", "control", "{} under suspicion in {}", "round_pairs", "?state=suspected"),
        Waiting(work_to_look_at, IN_HIT, "submission", "{} with a problem in {}", "round_money"),
    ),
    LAUNCH: (
        Waiting(_FAILED.all, "round", "platform call", "{} of {} failed", "round_money"),
        Waiting(_held_up, "round", "platform call", "{} of {} could not be made yet", "round_money"),
    ),
}
"""The needs of rounds, each with the permission to meet it."""
_OF_SITE: tuple[tuple[str, Callable[[], Iterable[Need]]], ...] = (
    (LAUNCH, _short_of_funds),
    (DECIDE, _pairs_to_review),
    (LAUNCH, _complete_rounds),
    (LAUNCH, _drafts),
)
"""The needs of the site, each with the permission to meet it."""
