"""The home page's contents: the stations of the pipeline, and what needs a person."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from annotation.models import Appeal, Assignment, Judgment, Rejection
from console.templatetags.console import ago, counted, dollars
from core.models import Job
from corpus.models import Collection
from crowd.channels.markets import market_of
from crowd.funds import shortages
from crowd.models import Outbox, PlatformAssignment
from crowd.overview import late_rounds, work_to_look_at
from dataset.models import Version
from evaluation.models import Run, Score
from hits.models import Control, Round
from mitl.models import Annotator, Pool

NEWEST = 3


@dataclass(frozen=True)
class Row:
    label: str
    note: str
    url: str


@dataclass(frozen=True)
class Station:
    """One step of the pipeline; ``hint`` and ``command`` say how to fill it and are shown while it has no rows."""

    title: str
    url: str
    count: int
    rows: list[Row]
    hint: str
    command: str


def stations() -> list[Station]:
    """Return the seven stations, with two queries each."""
    return [_collections(), _annotators(), _pools(), _rounds(), _judgments(), _versions(), _scores()]


def _newest(rows: QuerySet, note: Callable[..., str], page: str) -> list[Row]:
    return [Row(str(row), note(row), reverse(page, args=[row.name])) for row in rows[:NEWEST]]


def _collections() -> Station:
    rows = Collection.objects.order_by("-created_at")
    return Station(
        "Collections",
        reverse("collections"),
        rows.count(),
        _newest(rows, lambda row: f"since {row.created_at:%-d %b}", "collection"),
        "Import images and captions, or draw the demo collection.",
        "python manage.py demo_collection demo",
    )


def _annotators() -> Station:
    rows = Annotator.objects.order_by("-created_at")
    return Station(
        "Annotators",
        reverse("annotators"),
        rows.count(),
        _newest(rows, lambda row: row.kind, "annotator"),
        "Add an annotator; overlap needs no weights.",
        "python manage.py add_annotator overlap --kind overlap",
    )


def _pools() -> Station:
    rows = Pool.objects.order_by("-created_at")
    return Station(
        "Pools",
        reverse("pools"),
        rows.count(),
        _newest(rows, lambda row: f"{row.n_pairs:,} pairs", "pool"),
        "Join the annotators' top results into pairs; planning a round does this too.",
        "python manage.py pool POOL --collection demo --annotators overlap --queries SAMPLE",
    )


def _rounds() -> Station:
    rows = Round.objects.all()
    return Station(
        "Rounds",
        reverse("rounds"),
        rows.count(),
        _newest(rows, lambda row: row.state, "round"),
        "Plan a round here, or pack a pool.",
        "python manage.py pack ROUND --pool POOL",
    )


def _judgments() -> Station:
    return Station(
        "Judgments",
        reverse("judgments"),
        Judgment.objects.count(),
        _latest_answers(Assignment.objects.exclude(submitted_at=None).select_related("hit__round")),
        "Publish a round and share its join link, or simulate a crowd.",
        "python manage.py simulate ROUND",
    )


def _latest_answers(submitted: QuerySet[Assignment]) -> list[Row]:
    newest = submitted.order_by("-submitted_at")[:NEWEST]
    return [Row(f"{one.hit.round} · {one.hit}", one.state, reverse("assignment", args=[one.pk])) for one in newest]


def _versions() -> Station:
    rows = Version.objects.select_related("collection")
    return Station(
        "Versions",
        reverse("versions"),
        rows.count(),
        _newest(rows, lambda row: str(row.collection), "version"),
        "Release the judged pairs as a dataset.",
        "python manage.py release VERSION --collection demo --queries SAMPLE --rounds ROUND",
    )


def _scores() -> Station:
    rows = Run.objects.select_related("version").order_by("-created_at")
    return Station(
        "Scores",
        reverse("scores"),
        Score.objects.count(),
        [Row(run.model, f"on {run.version}", reverse("version", args=[run.version.name])) for run in rows[:NEWEST]],
        "Evaluate models on a released version.",
        "python manage.py evaluate --version VERSION --rankings FILE",
    )


RECENT = timedelta(days=2)
NEARLY = timedelta(hours=48)
PATIENCE = timedelta(days=3)
HELD_UP = timedelta(minutes=10)


@dataclass(frozen=True)
class Need:
    text: str
    url: str


def needs_of_all_rounds() -> list[Need]:
    """Return everything that waits for staff, most urgent first."""
    return [
        *_nearly_approved(),
        *_short_of_funds(),
        *_not_synced(),
        *_flagged(),
        *_kept_waiting(),
        *_proposed(),
        *_appeals(),
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
    """Undecided work that its platform will soon approve and pay."""
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


def _appeals() -> Iterable[Need]:
    if n := Appeal.objects.filter(answered_at=None).count():
        text = f"{counted(n, 'appeal waits', 'appeals wait')} for an answer"
        yield Need(text, f"{reverse('rejections')}?show=appealed")


def _suspected() -> Iterable[Need]:
    suspected = Control.objects.filter(state=Control.State.SUSPECTED).order_by().values("round__name")
    for row in suspected.annotate(n=Count("pk")).order_by("round__name"):
        text = f"{counted(row['n'], 'control')} under suspicion in {row['round__name']}"
        yield Need(text, reverse("round", args=[row["round__name"]]))


def _unsent() -> Iterable[Need]:
    if failed := Outbox.objects.filter(state=Outbox.State.FAILED).count():
        yield Need(f"{counted(failed, 'platform call')} failed", reverse("calls"))


def _held_up() -> Iterable[Need]:
    """Calls that are retried automatically but have failed for some time."""
    waiting = Outbox.objects.filter(state=Outbox.State.PENDING, created_at__lt=timezone.now() - HELD_UP)
    if n := waiting.exclude(error="").count():
        yield Need(f"{counted(n, 'platform call')} could not be made yet", reverse("calls"))


def _not_synced() -> Iterable[Need]:
    for name, last in late_rounds():
        yield Need(f"{name} was last synced {ago(last)}. Is the Celery worker running?", reverse("round", args=[name]))


def _short_of_funds() -> Iterable[Need]:
    for short in shortages():
        environment = market_of(short.channel, short.environment)
        held, needed = dollars(short.held), dollars(short.needed)
        text = f"The account on {environment} held {held} at the last check, but {needed} are still to be paid"
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
