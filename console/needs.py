"""What waits for a person: flagged work, controls under suspicion, plans not yet published, jobs that failed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count
from django.urls import reverse
from django.utils import timezone

from hits.models import Assignment, Control, Outbox, Round
from journal.models import Job

RECENT = timedelta(days=2)


@dataclass(frozen=True)
class Need:
    text: str
    url: str


def needs_of_all_rounds() -> list[Need]:
    """Return everything that waits for somebody on the staff, the most pressing first."""
    return [*_flagged(), *_suspected(), *_unsent(), *_failed_jobs(), *_drafts()]


def counted(n: int, one: str, many: str = "") -> str:
    """Say a number with its noun: ``1 control``, ``2,902 HITs``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _flagged() -> Iterable[Need]:
    flagged = Assignment.objects.filter(state=Assignment.State.FLAGGED).order_by().values("hit__round__name")
    for row in flagged.annotate(n=Count("pk")).order_by("hit__round__name"):
        text = f"{counted(row['n'], 'flagged assignment')} in {row['hit__round__name']}"
        yield Need(text, f"{reverse('review')}?round={row['hit__round__name']}")


def _suspected() -> Iterable[Need]:
    suspected = Control.objects.filter(state=Control.State.SUSPECTED).order_by().values("round__name")
    for row in suspected.annotate(n=Count("pk")).order_by("round__name"):
        text = f"{counted(row['n'], 'control')} under suspicion in {row['round__name']}"
        yield Need(text, reverse("round", args=[row["round__name"]]))


def _unsent() -> Iterable[Need]:
    failed = Outbox.objects.filter(state=Outbox.State.FAILED).count()
    if failed:
        yield Need(f"{counted(failed, 'call')} to the outside failed", reverse("admin:index"))


def _failed_jobs() -> Iterable[Need]:
    failed = Job.objects.filter(state=Job.State.FAILED, finished_at__gt=timezone.now() - RECENT)
    for job in failed[:5]:
        yield Need(f"{job.title} failed", reverse("job", args=[job.pk]))


def _drafts() -> Iterable[Need]:
    for draft in Round.objects.filter(published_at=None, closed_at=None)[:5]:
        yield Need(f"{draft} is planned and not yet published", reverse("round", args=[draft.name]))
