"""Events as sentences: who did what to what; how a subject is called, its page, and the round it belongs to."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from string import Formatter
from typing import Any, NamedTuple

from django.apps import apps
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import CharField, Model, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotation.models import (
    Assignment,
    Invitation,
    Participant,
    Payment,
    QualificationTest,
    Report,
    TestAttempt,
    Worker,
)
from console.places import PAGES, page_of
from core.models import Event, Job
from core.text import counted
from corpus.models import Collection, Gallery, Sample
from crowd.models import Outbox, Posting
from dataset.models import Review, Version
from evaluation.models import Run
from hits.models import HIT, Control, Round, Seat
from integrations.models import Token, Webhook
from mitl.models import Annotator, Pool, Retrieval


class SubjectKind(NamedTuple):
    """How rows of a model are named: ``word`` before the name of the row that ``named_by`` leads to, itself unless
    given. ``of_round`` is the path to the round that a row belongs to, ``related`` what its name needs."""

    model: type[Model]
    word: str = ""
    named_by: str = ""
    of_round: str = ""
    related: tuple[str, ...] = ()


IN_HIT = "hit__round"
OF_WORK = "assignment__hit__round"
_KINDS = (
    SubjectKind(Round, "round"),
    SubjectKind(Control, "a control of round", "", "round", ("round",)),
    SubjectKind(Seat, "a seat of", "hit", IN_HIT, (IN_HIT,)),
    SubjectKind(Assignment, "", "", IN_HIT, (IN_HIT,)),
    SubjectKind(Invitation, "an invitation to", "round", "round", ("round",)),
    SubjectKind(Participant, "round", "round", "round", ("round",)),
    SubjectKind(Payment, "", "", "round", (OF_WORK,)),
    SubjectKind(QualificationTest, "test"),
    SubjectKind(Report, "an item of", "assignment", OF_WORK, (OF_WORK,)),
    SubjectKind(TestAttempt, "test", "test", "", ("test",)),
    SubjectKind(Worker, "worker"),
    SubjectKind(User),
    SubjectKind(Job, "the job", related=("created_by",)),
    SubjectKind(Collection, "collection"),
    SubjectKind(Gallery, "gallery", related=("collection",)),
    SubjectKind(Sample, "sample"),
    SubjectKind(Outbox, "the platform call", "", "round", ("round",)),
    SubjectKind(Posting, "the posting of", "", "round", ("hit", "round")),
    SubjectKind(Review),
    SubjectKind(Version, "version"),
    SubjectKind(Run, "the run of"),
    SubjectKind(Token, "the token"),
    SubjectKind(Webhook, "the webhook to"),
    SubjectKind(Annotator, "annotator"),
    SubjectKind(Pool, "pool"),
    SubjectKind(Retrieval, related=("annotator", "collection")),
)
KINDS = {kind.model._meta.label_lower: kind for kind in _KINDS}
NAMES: Mapping[type[Model], Callable[[Any], tuple[str, str]]] = {
    Assignment: lambda row: (f"{row.hit} of {row.hit.round}", page_of(row)),
    HIT: lambda row: (f"{row} of {row.round}", reverse("hit", args=[row.round.name, row.number])),
    Posting: lambda row: _named(row.hit or row.round),
    Control: lambda row: (row.round.name, reverse("control", args=[row.round.name, row.pk])),
    Payment: lambda row: (f"${row.amount} for {_named(row.assignment)[0]}", page_of(row.assignment)),
    Review: lambda row: _reviewed(row),
    Outbox: lambda row: (row.get_call_display(), reverse("round_money", args=[row.round.name]) if row.round else ""),
    Retrieval: lambda row: (str(row), f"{page_of(row.annotator)}?retrieval={row.pk}"),
    Gallery: lambda row: (str(row), page_of(row.collection)),
    Job: lambda row: (row.title, page_of(row)),
    Run: lambda row: (row.model, page_of(row)),
}
"""Kind of row → its name and the address of its page, where these are not its text and that of ``places``."""


def _named(row: Any) -> tuple[str, str]:
    """Return the name of a row, and the address of its page; empty without one."""
    if name := NAMES.get(type(row)):
        return name(row)
    return str(row), page_of(row) if type(row) in PAGES else ""


def _reviewed(row: Review) -> tuple[str, str]:
    if row.image_id and row.caption_id:
        return "a pair", reverse("pair", args=[row.image_id, row.caption_id])
    if row.image_id:
        return "a picture", reverse("image", args=[row.image_id])
    return "a caption", reverse("caption", args=[row.caption_id])


def _rows(kind: SubjectKind, keys: set[str]) -> dict[str, Any]:
    rows = kind.model._default_manager.select_related(*(kind.related or (None,)))
    try:
        return {str(row.pk): row for row in rows.filter(pk__in=keys)}
    except (ValueError, ValidationError):  # not a key of this model
        return {}


def _what(event: Event, rows: Mapping[str, Mapping[str, Model]]) -> SafeString | str:
    model, _, key = event.subject.partition(":")
    kind = KINDS.get(model)
    row = rows.get(model, {}).get(key)
    if kind is None or row is None:
        word = kind.word if kind and kind.word else model.partition(".")[2]
        return f"{word} {event.data.get('name', key)}"
    name, page = _named(getattr(row, kind.named_by) if kind.named_by else row)
    link = format_html('<a href="{}">{}</a>', page, name) if page else name
    what = format_html("{} {}", kind.word, link) if kind.word else link
    if isinstance(row, Job) and row.created_by and row.created_by.get_username() != event.actor:
        return format_html("{}, which {} started", what, row.created_by)
    return what


def events_of(events: QuerySet[Event], *, by: str = "", round: Round | None = None) -> QuerySet[Event]:
    """Return the events of a person (a user name or pseudonym), of a round and all that belongs to it, or of both."""
    if by:
        events = events.filter(actor__in=[by, f"worker:{by}"])
    if round is not None:
        about = Q(subject=f"hits.round:{round.pk}")
        for label, kind in KINDS.items():
            if kind.of_round:
                theirs = kind.model._default_manager.filter(**{kind.of_round: round}).order_by()
                about |= Q(subject__in=theirs.values_list(Concat(Value(f"{label}:"), Cast("pk", CharField()))))
        events = events.filter(about)
    return events


SENTENCES: dict[str, str] = {}
for _app in apps.get_app_configs():
    SENTENCES |= getattr(_app, "event_sentences", {})
"""Verb → sentence, which the app that writes the verb declares in its ``apps.py``. ``who`` and ``what`` are names with
links; other words are data, counts with their noun."""

UNSHOWN = "called"
"""Data that events keep for computations."""

PROGRAMS = {
    "command": "A command",
    "grading": "The grading",
    "intake": "The intake",
    "ledger": "The ledger",
    "outbox": "The outbox",
    "platform": "The platform",
    "posting": "The posting",
    "reconciler": "The reconciler",
    "sync": "The sync",
    "task": "A worker process",
}


@dataclass(frozen=True)
class EventLine:
    """An event as the pages show it; ``details`` are the names and values of its data that the sentence leaves out."""

    at: datetime
    sentence: SafeString
    subject: str
    details: list[tuple[str, Any]]


def describe_events(events: Iterable[Event]) -> list[EventLine]:
    """Return events as sentences, with one query for each kind of subject among them."""
    listed = list(events)
    keys = defaultdict(set)
    for event in listed:
        model, _, key = event.subject.partition(":")
        keys[model].add(key)
    rows = {model: _rows(KINDS[model], some) for model, some in keys.items() if model in KINDS}
    return [EventLine(one.at, _sentence_of(one, _what(one, rows)), one.subject, _details(one)) for one in listed]


def _sentence_of(event: Event, what: SafeString | str) -> SafeString:
    template = SENTENCES.get(event.verb, "{who} {verb} {what}")
    known = {**event.data, "who": who(event.actor), "what": what, "verb": event.verb}
    parts = (
        (text, _worded(known.get(name, "?"), noun) if name else "")
        for text, name, noun, _ in Formatter().parse(template)
    )
    return format_html_join("", "{}{}", parts)


def _details(event: Event) -> list[tuple[str, Any]]:
    hidden = {UNSHOWN} | {name for _, name, _, _ in Formatter().parse(SENTENCES.get(event.verb, ""))}
    return [
        (name, value) for name, value in event.data.items() if name not in hidden and value not in ("", None, [], {})
    ]


def _worded(value: object, noun: str | None) -> object:
    return counted(value, *noun.split("/")) if noun and isinstance(value, int) else value


def who(actor: str) -> SafeString | str:
    """Return the name of an actor, of a worker with a link."""
    if actor.startswith("worker:"):
        pseudonym = actor.removeprefix("worker:")
        return format_html('Worker <a class="mono" href="{}">{}</a>', reverse("worker", args=[pseudonym]), pseudonym)
    return PROGRAMS.get(actor, actor)
