"""The stations of the pipeline: how many rows each has, its newest, and the next step where one has none."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse

from annotation.models import Assignment, Judgment
from corpus.models import Collection
from dataset.models import Version
from dataset.releases.provenance import unfinished
from evaluation.models import Run, Score
from hits.models import Round, Seat
from hits.task_types import ON_PAIRS
from mitl.models import Annotator, Pool

NEWEST = 3


@dataclass(frozen=True)
class StationRow:
    label: str
    note: str
    url: str


@dataclass(frozen=True)
class Station:
    """One step of the pipeline; ``hint`` says how to fill it and is shown while it has no rows, ``unit`` what it counts
    where its title does not."""

    title: str
    url: str
    count: int
    rows: list[StationRow]
    hint: str
    unit: str


@dataclass(frozen=True)
class NextStep:
    """What fills the first station without rows: a command, or a page for who has the permission."""

    station: Station
    command: str
    page: str
    url: str
    permission: str


HINTS = {
    "Collections": "Import images and captions, or draw the demo collection.",
    "Annotators": "Add an annotator; overlap needs no weights.",
    "Pools": "Plan a round: the annotators' top results are joined into pairs.",
    "Rounds": "Pack the pool into HITs.",
    "Judgments": "Publish the round and share its join link, or simulate a crowd.",
    "Versions": "Release the judged pairs as a dataset.",
    "Scores": "Register the rankings of a model: it is scored on every version.",
}
"""Title of each station (also the name of its page) → how to fill it."""
UNITS = {
    "Judgments": "answers, those to controls too",
    "Scores": "figures: a metric in a direction, of a model on a version",
}


def stations() -> list[Station]:
    """Return the seven stations, with two queries each."""
    answered = Assignment.objects.exclude(submitted_at=None).select_related("hit__round").order_by("-submitted_at")
    runs = Run.objects.select_related("collection").order_by("-created_at")
    rows = _rows()
    newest = {title: listed[:NEWEST] for title, listed in rows.items()}
    shown: dict[str, list[StationRow]] = {
        "Collections": [_named(one, f"{one.created_at:%-d %b}") for one in newest["Collections"]],
        "Annotators": [_named(one, one.kind) for one in newest["Annotators"]],
        "Pools": [_named(one, f"{one.n_pairs:,} pairs") for one in newest["Pools"]],
        "Rounds": [_named(one, one.state) for one in newest["Rounds"]],
        "Judgments": [
            StationRow(f"{one.hit.round} · {one.hit}", one.state, _page("assignment", one)) for one in answered[:NEWEST]
        ],
        "Versions": [_named(one, str(one.collection)) for one in newest["Versions"]],
        "Scores": [StationRow(one.model, str(one.collection), _page("run", one)) for one in runs[:NEWEST]],
    }
    return [_station(title, listed.count(), shown[title]) for title, listed in rows.items()]


def next_step() -> NextStep | None:
    """Return the next step, with the newest rows; None if every station has rows, or the first without rows waits for
    people."""
    title = next((title for title, rows in _rows().items() if not rows.exists()), None)
    if title is None:
        return None
    if (way := _STEPS[title]()) is None:
        return None
    command, page, url, permission = way
    return NextStep(_station(title, 0, []), f"python manage.py {command}", page, url, permission)


def _rows() -> dict[str, QuerySet[Any]]:
    """Return what each station counts, the newest first where it lists them."""
    return {
        "Collections": Collection.objects.order_by("-created_at"),
        "Annotators": Annotator.objects.order_by("-created_at"),
        "Pools": Pool.objects.of_lists().order_by("-created_at"),
        "Rounds": Round.objects.all(),
        "Judgments": Judgment.objects.order_by(),
        "Versions": Version.objects.select_related("collection"),
        "Scores": Score.objects.all(),
    }


def _station(title: str, count: int, rows: list[StationRow]) -> Station:
    return Station(title, reverse(title.lower()), count, rows, HINTS[title], UNITS.get(title, ""))


Way = tuple[str, str, str, str]  # a command; the title and the address of a page; its permission


def _collect() -> Way:
    return "demo_collection demo", "Import a collection", reverse("collection_import"), LAUNCH


def _annotate() -> Way:
    return "add_annotator overlap --kind overlap", "Add an annotator", reverse("annotator_add"), LAUNCH


def _plan() -> Way:
    collection = Collection.objects.latest("created_at")
    annotator = Annotator.objects.latest("created_at")
    command = f"plan_round round-1 --collection {collection} --annotators {annotator} --images 10 --captions 10"
    return command, "Plan a round", f"{reverse('round_plan')}?collection={collection}", LAUNCH


def _pack() -> Way:
    pool = Pool.objects.of_lists().latest("created_at")
    return f"pack round-1 --pool {pool}", f"Pack {pool}", reverse("pool_pack", args=[pool.name]), LAUNCH


def _publish() -> Way:
    newest = Round.objects.latest("created_at")
    page = "round_publish" if newest.state == "draft" else "round"
    return f"simulate {newest}", f"Publish {newest}", reverse(page, args=[newest.name]), LAUNCH


def _release() -> Way | None:
    """Release the newest round that is ready: about pairs, with answers that count, and none that wait for a person."""
    state = Assignment.State
    work = Assignment.objects.filter(hit__round=OuterRef("pk"))
    unfilled = Seat.objects.filter(round=OuterRef("pk")).exclude(state=Seat.State.FILLED)
    ready = (
        Round.objects.filter(Exists(work.filter(state=state.ACCEPTED)), task__in=ON_PAIRS)
        .exclude(Exists(work.filter(state__in=(state.SUBMITTED, state.FLAGGED))))
        .exclude(Exists(unfilled), closed_at=None)
    )
    newest = ready.select_related("pool__collection", "pool__sample").order_by("-created_at").first()
    if newest is None:
        return None
    where = f"--collection {newest.pool.collection} --queries {newest.pool.sample}"
    command = f"release v1 {where} --rounds {newest}{' --partial' if unfinished(newest) else ''}"
    return command, "Release a version", f"{reverse('release')}?rounds={newest}&sample={newest.pool.sample}", RELEASE


def _score() -> Way:
    version = Version.objects.select_related("collection").latest("released_at")
    page = f"{reverse('leaderboard', args=[version.collection.name])}#register"
    return f"evaluate --version {version} --rankings FILE", "Register rankings", page, LAUNCH


LAUNCH = "hits.launch_round"
RELEASE = "dataset.release_version"
_STEPS: dict[str, Callable[[], Way | None]] = {
    "Collections": _collect,
    "Annotators": _annotate,
    "Pools": _plan,
    "Rounds": _pack,
    "Judgments": _publish,
    "Versions": _release,
    "Scores": _score,
}
"""Title of a station → how it is filled with the newest rows of those before it."""


def _named(row: Collection | Annotator | Pool | Round | Version, note: str) -> StationRow:
    return StationRow(row.name, note, reverse(type(row).__name__.lower(), args=[row.name]))


def _page(name: str, row: Assignment | Run) -> str:
    return reverse(name, args=[row.pk])
