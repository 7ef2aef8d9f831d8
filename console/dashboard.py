"""The stations of the pipeline, as the home page shows them: how many rows each has, its newest, and how to fill it."""

from dataclasses import dataclass

from django.db.models import Model, QuerySet
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
    """One step of the pipeline; ``hint`` and ``command`` say how to fill it and are shown while it has no rows."""

    title: str
    url: str
    count: int
    rows: list[Row]
    hint: str
    command: str


HINTS = {
    "Collections": ("Import images and captions, or draw the demo collection.", "demo_collection demo"),
    "Annotators": ("Add an annotator; overlap needs no weights.", "add_annotator overlap --kind overlap"),
    "Pools": (
        "Join the annotators' top results into pairs; planning a round does this too.",
        "pool POOL --collection demo --annotators overlap --queries SAMPLE",
    ),
    "Rounds": ("Plan a round here, or pack a pool.", "pack ROUND --pool POOL"),
    "Judgments": ("Publish a round and share its join link, or simulate a crowd.", "simulate ROUND"),
    "Versions": (
        "Release the judged pairs as a dataset.",
        "release VERSION --collection demo --queries SAMPLE --rounds ROUND",
    ),
    "Scores": ("Evaluate models on a released version.", "evaluate --version VERSION --rankings FILE"),
}
"""Title of each station (also the name of its page) → how to fill it, in words and as a command."""


def stations() -> list[Station]:
    """Return the seven stations, with two queries each."""
    collections, annotators = Collection.objects.order_by("-created_at"), Annotator.objects.order_by("-created_at")
    answered = Assignment.objects.exclude(submitted_at=None).select_related("hit__round").order_by("-submitted_at")
    pools, runs = Pool.objects.order_by("-created_at"), Run.objects.select_related("collection").order_by("-created_at")
    versions = Version.objects.select_related("collection")
    filled: dict[str, tuple[type[Model], list[Row]]] = {
        "Collections": (Collection, [_named(one, f"{one.created_at:%-d %b}") for one in collections[:NEWEST]]),
        "Annotators": (Annotator, [_named(one, one.kind) for one in annotators[:NEWEST]]),
        "Pools": (Pool, [_named(one, f"{one.n_pairs:,} pairs") for one in pools[:NEWEST]]),
        "Rounds": (Round, [_named(one, one.state) for one in Round.objects.all()[:NEWEST]]),
        "Judgments": (
            Judgment,
            [Row(f"{one.hit.round} · {one.hit}", one.state, _page("assignment", one)) for one in answered[:NEWEST]],
        ),
        "Versions": (Version, [_named(one, str(one.collection)) for one in versions[:NEWEST]]),
        "Scores": (Score, [Row(one.model, str(one.collection), _page("run", one)) for one in runs[:NEWEST]]),
    }
    return [_station(title, model._default_manager.all(), rows) for title, (model, rows) in filled.items()]


def _station(title: str, everything: QuerySet, rows: list[Row]) -> Station:
    hint, command = HINTS[title]
    return Station(title, reverse(title.lower()), everything.count(), rows, hint, f"python manage.py {command}")


def _named(row: Collection | Annotator | Pool | Round | Version, note: str) -> Row:
    return Row(row.name, note, reverse(type(row).__name__.lower(), args=[row.name]))


def _page(name: str, row: Assignment | Run) -> str:
    return reverse(name, args=[row.pk])
