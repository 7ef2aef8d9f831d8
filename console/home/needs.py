"""What waits for a member of staff: of all rounds for the home page, of one round for its own page."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from annotation.models import CLAIM, Appeal, Assignment, Rejection
from annotation.review.decisions import work_to_review
from annotation.work.grading import PATIENCE
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


@dataclass(frozen=True)
class Need:
    text: str
    url: str


def needs_of_all_rounds(user: User) -> list[Need]:
    """Return everything that waits for staff and that the user may do, most urgent first."""
    of_rounds = [need for permission, find in _OF_ROUNDS if user.has_perm(permission) for need in find(None)]
    of_site = [need for permission, find in _OF_SITE if user.has_perm(permission) for need in find()]
    return [*of_rounds, *of_site, *_stale_jobs(), *_failed_jobs(user), *_webhooks_off(user)]


def needs_of(round: Round, user: User) -> list[Need]:
    """Return what waits in one round that the user may do, most urgent first, with a constant number of queries."""
    return [need for permission, find in _OF_ROUNDS if user.has_perm(permission) for need in find(round)]


def _page(name: str, key: str | int | UUID) -> str:
    return reverse(name, args=[key])


def _of(rows: QuerySet, path: str, round: Round | None) -> QuerySet:
    """Return the rows of one round, which ``path`` leads to, or all."""
    return rows if round is None else rows.filter(**{path: round})


def _by_round(rows: QuerySet, path: str, round: Round | None, need: Callable[[int, str], Need]) -> list[Need]:
    """Count ``rows`` by round, which ``path`` leads to, and return a need for each round."""
    name = f"{path}__name"
    counts = _of(rows, path, round).order_by().values_list(name).annotate(n=Count("pk")).order_by(name)
    return [need(n, name) for name, n in counts]


def _nearly_approved(round: Round | None) -> list[Need]:
    """Undecided work that its platform will soon approve and pay."""
    soon = Assignment.objects.filter(
        CLAIM | Q(state__in=(Assignment.State.SUBMITTED, Assignment.State.FLAGGED)),
        visit__in=Visit.objects.undecided().filter(auto_approval_at__lt=clock.now() + NEARLY),
    )
    return _by_round(
        soon,
        "hit__round",
        round,
        lambda n, name: Need(
            f"{counted(n, 'undecided assignment')} in {name} will be approved by the platform in less than 48 h",
            f"{reverse('review')}?round={name}",
        ),
    )


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
        yield Need(f"{name} was last synced {ago(last)}. {worker}", _page("round", name))


def _work_to_review(round: Round | None) -> list[Need]:
    return _by_round(
        work_to_review(),
        "hit__round",
        round,
        lambda n, name: Need(f"{counted(n, 'flagged assignment')} in {name}", f"{reverse('review')}?round={name}"),
    )


def _long_waits() -> Iterable[Need]:
    if n := work_to_review().filter(submitted_at__lt=clock.now() - PATIENCE).count():
        yield Need(f"{counted(n, 'worker has', 'workers have')} waited for a review for over 3 days", reverse("review"))


def _rejections(round: Round | None) -> Iterable[Need]:
    page = reverse("rejections")
    proposed = Rejection.objects.filter(dropped_at=None, needs_second=True, seconded_at=None)
    if n := _of(proposed, "assignment__hit__round", round).count():
        yield Need(f"{counted(n, 'rejection waits', 'rejections wait')} for a second person", f"{page}?show=proposed")
    appealed = Appeal.objects.filter(answered_at=None)
    if n := _of(appealed, "assignment__hit__round", round).count():
        yield Need(f"{counted(n, 'appeal waits', 'appeals wait')} for an answer", f"{page}?show=appealed")


def _pairs_to_review() -> Iterable[Need]:
    for check in QueueCheck.objects.filter(shown=False).select_related("round__pool__collection"):
        name = check.round.pool.collection.name
        yield Need(f"The queue of {name} does not show every disagreement of {check.round}", _page("queue", name))
    rows = Case.objects.waiting().order_by().values_list("collection__name").annotate(n=Count("pk"))
    for name, n in rows.order_by("collection__name"):
        yield Need(f"{counted(n, 'pair')} to review in {name}", _page("queue", name))


def _suspected_controls(round: Round | None) -> list[Need]:
    return _by_round(
        Control.objects.filter(state=Control.State.SUSPECTED),
        "round",
        round,
        lambda n, name: Need(
            f"{counted(n, 'control')} under suspicion in {name}", f"{_page('round_pairs', name)}?state=suspected"
        ),
    )


def _troubled_submissions(round: Round | None) -> list[Need]:
    return _by_round(
        work_to_look_at(),
        "hit__round",
        round,
        lambda n, name: Need(f"{counted(n, 'submission')} with a problem in {name}", _page("round", name)),
    )


def _complete_rounds() -> Iterable[Need]:
    seats = Seat.objects.filter(round=OuterRef("pk"))
    unfilled = seats.exclude(state=Seat.State.FILLED)
    for complete in Round.objects.filter(Exists(seats), ~Exists(unfilled), published_at__isnull=False, closed_at=None):
        task = task_type_of(complete)
        again = ", or judge its doubtful pairs again" if task.on_pairs and task.group == 1 else ""
        yield Need(f"{complete} is complete and still open. Close it{again}", _page("round", complete.name))


def _calls(round: Round | None) -> list[Need]:
    failed = Outbox.objects.filter(state=Outbox.State.FAILED)
    # These are retried automatically but have failed for some time.
    waiting = Outbox.objects.filter(state=Outbox.State.PENDING, created_at__lt=clock.now() - HELD_UP).exclude(error="")
    return [
        *_by_round(failed, "round", round, lambda n, name: _of_calls(n, "failed", name)),
        *_by_round(waiting, "round", round, lambda n, name: _of_calls(n, "could not be made yet", name)),
    ]


def _of_calls(n: int, what: str, name: str | None) -> Need:
    """Return the need for calls of a round, or of none: each round of their platform shows those."""
    of_round = f" of {name}" if name else ""
    return Need(
        f"{counted(n, 'platform call')}{of_round} {what}", _page("round_money", name) if name else reverse("rounds")
    )


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


LAUNCH = "hits.launch_round"
DECIDE = "annotation.decide_assignment"
_OF_ROUNDS: list[tuple[str, Callable[[Round | None], Iterable[Need]]]] = [
    (DECIDE, _nearly_approved),
    (LAUNCH, _late),
    (DECIDE, _work_to_review),
    (DECIDE, _rejections),
    (DECIDE, _suspected_controls),
    (DECIDE, _troubled_submissions),
    (LAUNCH, _calls),
]
"""What waits in one round or in all, with the permission of who may do it."""
_OF_SITE: list[tuple[str, Callable[[], Iterable[Need]]]] = [
    (LAUNCH, _short_of_funds),
    (DECIDE, _long_waits),
    (DECIDE, _pairs_to_review),
    (LAUNCH, _complete_rounds),
    (LAUNCH, _drafts),
]
"""The same for the home page alone."""
