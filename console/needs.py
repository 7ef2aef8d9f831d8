"""What waits for a person: work to decide, platforms in trouble, controls under suspicion, plans, jobs that failed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Q
from django.urls import reverse
from django.utils import timezone

from annotation.models import Appeal, Assignment, Rejection
from console.counting import counted
from console.templatetags.console import ago, dollars
from core.models import Job
from crowd.channels.markets import market_of
from crowd.funds import shortages
from crowd.models import Outbox, PlatformAssignment
from crowd.overview import late_rounds, work_to_look_at
from hits.models import Control, Round

RECENT = timedelta(days=2)
NEARLY = timedelta(hours=48)
PATIENCE = timedelta(days=3)
HELD_UP = timedelta(minutes=10)


@dataclass(frozen=True)
class Need:
    text: str
    url: str


def needs_of_all_rounds() -> list[Need]:
    """Return everything that waits for somebody on the staff, the most pressing first."""
    return [
        *_nearly_approved(),
        *_short_of_funds(),
        *_not_synced(),
        *_flagged(),
        *_kept_waiting(),
        *_proposed(),
        *_objections(),
        *_suspected(),
        *_doubtful(),
        *_unsent(),
        *_held_up(),
        *_failed_jobs(),
        *_drafts(),
    ]


def _flagged() -> Iterable[Need]:
    flagged = Assignment.objects.filter(state=Assignment.State.FLAGGED).order_by().values("hit__round__name")
    for row in flagged.annotate(n=Count("pk")).order_by("hit__round__name"):
        text = f"{counted(row['n'], 'flagged assignment')} in {row['hit__round__name']}"
        yield Need(text, f"{reverse('review')}?round={row['hit__round__name']}")


def _nearly_approved() -> Iterable[Need]:
    """Work that its platform will approve and pay soon, whatever we think of it."""
    flagged = Assignment.objects.filter(state__in=(Assignment.State.SUBMITTED, Assignment.State.FLAGGED))
    soon = PlatformAssignment.objects.filter(
        Q(assignment=None) | Q(assignment__in=flagged),
        status=PlatformAssignment.Status.SUBMITTED,
        auto_approval_at__lt=timezone.now() + NEARLY,
    )
    by_round = soon.order_by().values_list("posting__hit__round__name").annotate(n=Count("pk"))
    for name, n in by_round.order_by("posting__hit__round__name"):
        text = f"{counted(n, 'undecided assignment')} in {name} will be approved by the platform in less than 48 h"
        yield Need(text, f"{reverse('review')}?round={name}")


def _kept_waiting() -> Iterable[Need]:
    since = timezone.now() - PATIENCE
    if n := Assignment.objects.filter(state=Assignment.State.FLAGGED, submitted_at__lt=since).count():
        yield Need(f"{counted(n, 'worker has', 'workers have')} waited for a review for over 3 days", reverse("review"))


def _proposed() -> Iterable[Need]:
    proposed = Rejection.objects.filter(dropped_at=None, needs_second=True, seconded_at=None)
    if n := proposed.count():
        text = f"{counted(n, 'rejection waits', 'rejections wait')} for a second person"
        yield Need(text, f"{reverse('rejections')}?show=proposed")


def _objections() -> Iterable[Need]:
    if n := Appeal.objects.filter(answered_at=None).count():
        text = f"{counted(n, 'worker objects', 'workers object')} to a rejection"
        yield Need(text, f"{reverse('rejections')}?show=objected")


def _suspected() -> Iterable[Need]:
    suspected = Control.objects.filter(state=Control.State.SUSPECTED).order_by().values("round__name")
    for row in suspected.annotate(n=Count("pk")).order_by("round__name"):
        text = f"{counted(row['n'], 'control')} under suspicion in {row['round__name']}"
        yield Need(text, reverse("round", args=[row["round__name"]]))


def _unsent() -> Iterable[Need]:
    if failed := Outbox.objects.filter(state=Outbox.State.FAILED).count():
        yield Need(f"{counted(failed, 'call')} to the outside failed", reverse("calls"))


def _held_up() -> Iterable[Need]:
    """Calls that are made again by themselves, but for long without success."""
    waiting = Outbox.objects.filter(state=Outbox.State.PENDING, created_at__lt=timezone.now() - HELD_UP)
    if n := waiting.exclude(error="").count():
        yield Need(f"{counted(n, 'call')} to the outside could not be made yet", reverse("calls"))


def _not_synced() -> Iterable[Need]:
    for name, last in late_rounds():
        yield Need(f"{name} was last synced {ago(last)}; is the worker running?", reverse("round", args=[name]))


def _short_of_funds() -> Iterable[Need]:
    for short in shortages():
        market = market_of(short.channel, short.environment)
        text = f"The account on {market} held {dollars(short.held)}, but {dollars(short.needed)} are still to be paid"
        yield Need(text, reverse("rounds"))


def _doubtful() -> Iterable[Need]:
    doubtful = work_to_look_at().order_by().values("posting__hit__round__name").annotate(n=Count("pk"))
    for row in doubtful.order_by("posting__hit__round__name"):
        name = row["posting__hit__round__name"]
        yield Need(f"{counted(row['n'], 'submission')} with a problem in {name}", reverse("round", args=[name]))


def _failed_jobs() -> Iterable[Need]:
    failed = Job.objects.filter(state=Job.State.FAILED, finished_at__gt=timezone.now() - RECENT)
    for job in failed[:5]:
        yield Need(f"{job.title} failed", reverse("job", args=[job.pk]))


def _drafts() -> Iterable[Need]:
    for draft in Round.objects.filter(published_at=None, closed_at=None)[:5]:
        yield Need(f"{draft} is planned and not yet published", reverse("round", args=[draft.name]))
