"""The home page's contents: the stations of the pipeline, and what needs a person."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from annotation.models import CLAIM, Appeal, Assignment, Judgment, PlatformState, Rejection
from console.templatetags.console import ago, dollars
from core.models import Job
from core.text import counted
from corpus.models import Collection
from crowd.channels import market_of
from crowd.funds import shortages
from crowd.models import Outbox
from crowd.postings import late_rounds, work_to_look_at
from dataset.models import Case, QueueCheck, Version
from evaluation.models import Run, Score
from hits.models import Control, Round, Seat
from mitl.models import Annotator, Pool

NEWEST = 3
RECENT = timedelta(days=2)
NEARLY = timedelta(hours=48)
PATIENCE = timedelta(days=3)
HELD_UP = timedelta(minutes=10)


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


@dataclass(frozen=True)
class Need:
    text: str
    url: str


def stations() -> list[Station]:
    """Return the seven stations, with two queries each."""
    answered = Assignment.objects.exclude(submitted_at=None).select_related("hit__round").order_by("-submitted_at")
    runs = Run.objects.select_related("collection").order_by("-created_at")
    return [
        _station(
            "Collections",
            _newest(Collection.objects.order_by("-created_at"), "collection", lambda row: f"{row.created_at:%-d %b}"),
            Collection.objects.count(),
            "Import images and captions, or draw the demo collection.",
            "demo_collection demo",
        ),
        _station(
            "Annotators",
            _newest(Annotator.objects.order_by("-created_at"), "annotator", lambda row: row.kind),
            Annotator.objects.count(),
            "Add an annotator; overlap needs no weights.",
            "add_annotator overlap --kind overlap",
        ),
        _station(
            "Pools",
            _newest(Pool.objects.order_by("-created_at"), "pool", lambda row: f"{row.n_pairs:,} pairs"),
            Pool.objects.count(),
            "Join the annotators' top results into pairs; planning a round does this too.",
            "pool POOL --collection demo --annotators overlap --queries SAMPLE",
        ),
        _station(
            "Rounds",
            _newest(Round.objects.all(), "round", lambda row: row.state),
            Round.objects.count(),
            "Plan a round here, or pack a pool.",
            "pack ROUND --pool POOL",
        ),
        _station(
            "Judgments",
            [Row(f"{row.hit.round} · {row.hit}", row.state, _page("assignment", row.pk)) for row in answered[:NEWEST]],
            Judgment.objects.count(),
            "Publish a round and share its join link, or simulate a crowd.",
            "simulate ROUND",
        ),
        _station(
            "Versions",
            _newest(Version.objects.select_related("collection"), "version", lambda row: str(row.collection)),
            Version.objects.count(),
            "Release the judged pairs as a dataset.",
            "release VERSION --collection demo --queries SAMPLE --rounds ROUND",
        ),
        _station(
            "Scores",
            [Row(run.model, str(run.collection), _page("run", run.pk)) for run in runs[:NEWEST]],
            Score.objects.count(),
            "Evaluate models on a released version.",
            "evaluate --version VERSION --rankings FILE",
        ),
    ]


def needs_of_all_rounds() -> list[Need]:
    """Return everything that waits for staff, most urgent first."""
    return [
        *_nearly_approved(),
        *_short_of_funds(),
        *(
            Need(f"{name} was last synced {ago(last)}. Is the Celery worker running?", _page("round", name))
            for name, last in late_rounds()
        ),
        *_work_to_review(),
        *_rejections(),
        *_pairs_to_review(),
        *_by_round(
            Control.objects.filter(state=Control.State.SUSPECTED),
            "round__name",
            lambda n, name: Need(f"{counted(n, 'control')} under suspicion in {name}", _page("round", name)),
        ),
        *_by_round(
            work_to_look_at(),
            "hit__round__name",
            lambda n, name: Need(f"{counted(n, 'submission')} with a problem in {name}", _page("round", name)),
        ),
        *_complete_rounds(),
        *_calls(),
        *_jobs_and_drafts(),
    ]


def _station(title: str, rows: list[Row], count: int, hint: str, command: str) -> Station:
    return Station(title, reverse(title.lower()), count, rows, hint, f"python manage.py {command}")


def _newest(rows: QuerySet, page: str, note: Callable[..., str]) -> list[Row]:
    return [Row(str(row), note(row), _page(page, row.name)) for row in rows[:NEWEST]]


def _page(name: str, key: str | int | UUID) -> str:
    return reverse(name, args=[key])


def _by_round(rows: QuerySet, path: str, need: Callable[[int, str], Need]) -> list[Need]:
    """Count ``rows`` by round, ``path`` leading to its name, and return a need for each round."""
    counts = rows.order_by().values_list(path).annotate(n=Count("pk")).order_by(path)
    return [need(n, name) for name, n in counts]


def _nearly_approved() -> list[Need]:
    """Undecided work that its platform will soon approve and pay."""
    soon = Assignment.objects.filter(
        CLAIM | Q(state__in=(Assignment.State.SUBMITTED, Assignment.State.FLAGGED)),
        platform_state=PlatformState.SUBMITTED,
        auto_approval_at__lt=timezone.now() + NEARLY,
    )
    return _by_round(
        soon,
        "hit__round__name",
        lambda n, name: Need(
            f"{counted(n, 'undecided assignment')} in {name} will be approved by the platform in less than 48 h",
            f"{reverse('review')}?round={name}",
        ),
    )


def _short_of_funds() -> Iterable[Need]:
    for short in shortages():
        environment = market_of(short.channel, short.environment)
        held, needed = dollars(short.held), dollars(short.needed)
        text = f"The account on {environment} held {held} at the last check, but {needed} are still to be paid"
        yield Need(text, reverse("rounds"))


def _work_to_review() -> Iterable[Need]:
    flagged = Assignment.objects.filter(state=Assignment.State.FLAGGED)
    yield from _by_round(
        flagged,
        "hit__round__name",
        lambda n, name: Need(f"{counted(n, 'flagged assignment')} in {name}", f"{reverse('review')}?round={name}"),
    )
    if n := flagged.filter(submitted_at__lt=timezone.now() - PATIENCE).count():
        yield Need(f"{counted(n, 'worker has', 'workers have')} waited for a review for over 3 days", reverse("review"))


def _rejections() -> Iterable[Need]:
    page = reverse("rejections")
    proposed = Rejection.objects.filter(dropped_at=None, needs_second=True, seconded_at=None)
    if n := proposed.count():
        yield Need(f"{counted(n, 'rejection waits', 'rejections wait')} for a second person", f"{page}?show=proposed")
    if n := Appeal.objects.filter(answered_at=None).count():
        yield Need(f"{counted(n, 'appeal waits', 'appeals wait')} for an answer", f"{page}?show=appealed")


def _pairs_to_review() -> Iterable[Need]:
    for check in QueueCheck.objects.filter(shown=False).select_related("round__pool__collection"):
        name = check.round.pool.collection.name
        yield Need(f"The queue of {name} does not show a planted disagreement of {check.round}", _page("queue", name))
    yield from _by_round(
        Case.objects.waiting(),
        "collection__name",
        lambda n, name: Need(f"{counted(n, 'pair')} to review in {name}", _page("queue", name)),
    )


def _complete_rounds() -> Iterable[Need]:
    seats = Seat.objects.filter(hit__round=OuterRef("pk"))
    unfilled = seats.exclude(state=Seat.State.FILLED)
    for complete in Round.objects.filter(Exists(seats), ~Exists(unfilled), published_at__isnull=False, closed_at=None):
        yield Need(f"{complete} is complete and still open. Close it", _page("round", complete.name))


def _calls() -> Iterable[Need]:
    if n := Outbox.objects.filter(state=Outbox.State.FAILED).count():
        yield Need(f"{counted(n, 'platform call')} failed", reverse("calls"))
    # These are retried automatically but have failed for some time.
    waiting = Outbox.objects.filter(state=Outbox.State.PENDING, created_at__lt=timezone.now() - HELD_UP)
    if n := waiting.exclude(error="").count():
        yield Need(f"{counted(n, 'platform call')} could not be made yet", reverse("calls"))


def _jobs_and_drafts() -> Iterable[Need]:
    failed = Job.objects.filter(state=Job.State.FAILED, finished_at__gt=timezone.now() - RECENT)
    for job in failed[:5]:
        yield Need(f"{job.title} failed", _page("job", job.pk))
    for draft in Round.objects.filter(published_at=None, closed_at=None)[:5]:
        yield Need(f"{draft} is planned and not yet published", _page("round", draft.name))
