"""The pipeline as seven stations: how many rows each has, its newest, and what to do where it is empty."""

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import QuerySet
from django.urls import reverse

from annotation.models import Assignment, Judgment
from corpus.models import Collection
from dataset.models import Version
from evaluation.models import Run, Score
from hits.models import Round
from mitl.models import Annotator, Pool

NEWEST = 3


@dataclass(frozen=True)
class Row:
    label: str
    note: str
    url: str


@dataclass(frozen=True)
class Station:
    """``hint`` and ``command`` tell what fills the station; they are shown while it has no rows."""

    title: str
    url: str
    count: int
    rows: list[Row]
    hint: str
    command: str


def stations() -> list[Station]:
    """Read all seven, each with two queries however many rows there are."""
    return [_collections(), _machines(), _pools(), _rounds(), _judgments(), _versions(), _scores()]


def _newest(rows: QuerySet, note: Callable[..., str], page: str) -> list[Row]:
    return [Row(str(row), note(row), reverse(page, args=[row.name])) for row in rows[:NEWEST]]


def _collections() -> Station:
    rows = Collection.objects.order_by("-created_at")
    return Station(
        "Collections",
        reverse("collections"),
        rows.count(),
        _newest(rows, lambda row: f"since {row.created_at:%-d %b}", "collection"),
        "Bring in pictures and captions, or draw the demo collection.",
        "python manage.py demo_collection demo",
    )


def _machines() -> Station:
    rows = Annotator.objects.order_by("-created_at")
    return Station(
        "Machines",
        reverse("machines"),
        rows.count(),
        _newest(rows, lambda row: row.kind, "machine"),
        "Add a machine that retrieves; overlap needs no weights.",
        "python manage.py add_annotator overlap --kind overlap",
    )


def _pools() -> Station:
    rows = Pool.objects.order_by("-created_at")
    return Station(
        "Pools",
        reverse("pools"),
        rows.count(),
        _newest(rows, lambda row: f"{row.n_pairs:,} pairs", "pool"),
        "Join the machines' top lists into pairs; planning a round does it too.",
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
        "Publish a round and share its join link, or let a simulated crowd answer.",
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
        "Release what the judgments say as a dataset.",
        "python manage.py release VERSION --collection demo --queries SAMPLE --rounds ROUND",
    )


def _scores() -> Station:
    rows = Run.objects.select_related("version").order_by("-created_at")
    return Station(
        "Scores",
        reverse("scores"),
        Score.objects.count(),
        [Row(run.model, f"on {run.version}", reverse("version", args=[run.version.name])) for run in rows[:NEWEST]],
        "Measure models on a released version.",
        "python manage.py evaluate --version VERSION --rankings FILE",
    )
