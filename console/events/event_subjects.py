"""Events as sentences: who did what to what; how a subject is called, its page, and the round it belongs to."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from console.places import page_of
from core.models import Event, Job
from core.text import counted
from corpus.models import Collection, Gallery, Sample
from crowd.models import Outbox, Posting
from dataset.models import Review, Version
from evaluation.models import Run
from hits.models import Control, Round, Seat
from integrations.models import Token, Webhook
from mitl.models import Annotator, Pool, Retrieval


class SubjectKind(NamedTuple):
    """How rows of a model are named: ``word`` before the name, which links to a page unless ``address`` gives none.
    ``of_round`` is the path to the round that a row belongs to."""

    rows: QuerySet[Any]
    word: str = ""
    name: Callable[[Any], str] = str
    address: Callable[[Any], str] | None = page_of
    of_round: str = ""


def _round_name(row: Any) -> str:
    return str(row.round)


def _to_round(row: Any) -> str:
    return page_of(row.round)


def _of_hit(row: Any) -> str:
    return f"{row.hit} of {row.hit.round}"


def _to_hit(row: Any) -> str:
    return reverse("hit", args=[row.hit.round.name, row.hit.number])


def _of_work(row: Any) -> str:
    return _of_hit(row.assignment)


def _to_work(row: Any) -> str:
    return page_of(row.assignment)


def _to_posting(row: Any) -> str:
    return _to_hit(row) if row.hit else _to_round(row)


def _reviewed(row: Any) -> str:
    if row.image_id and row.caption_id:
        return "a pair"
    return "a picture" if row.image_id else "a caption"


def _to_review(row: Any) -> str:
    if row.image_id and row.caption_id:
        return reverse("pair", args=[row.image_id, row.caption_id])
    return reverse("image", args=[row.image_id]) if row.image_id else reverse("caption", args=[row.caption_id])


IN_HIT = "hit__round"
OF_WORK = "assignment__hit__round"
_KINDS = (
    SubjectKind(Round.objects.all(), "round"),
    SubjectKind(
        Control.objects.select_related("round"),
        "a control of round",
        _round_name,
        lambda row: reverse("control", args=[row.round.name, row.pk]),
        "round",
    ),
    SubjectKind(Seat.objects.select_related(IN_HIT), "a seat of", _of_hit, _to_hit, IN_HIT),
    SubjectKind(Assignment.objects.select_related(IN_HIT), "", _of_hit, page_of, IN_HIT),
    SubjectKind(Invitation.objects.select_related("round"), "an invitation to", _round_name, _to_round, "round"),
    SubjectKind(Participant.objects.select_related("round"), "round", _round_name, _to_round, "round"),
    SubjectKind(
        Payment.objects.select_related(OF_WORK), "", lambda row: f"${row.amount} for {_of_work(row)}", _to_work, "round"
    ),
    SubjectKind(QualificationTest.objects.all(), "test", address=None),
    SubjectKind(Report.objects.select_related(OF_WORK), "an item of", _of_work, _to_work, OF_WORK),
    SubjectKind(TestAttempt.objects.select_related("test"), "test", lambda row: str(row.test), None),
    SubjectKind(Worker.objects.all(), "worker", lambda row: row.pseudonym),
    SubjectKind(User.objects.all(), address=None),
    SubjectKind(Job.objects.select_related("created_by"), "the job", lambda row: row.title),
    SubjectKind(Collection.objects.all(), "collection"),
    SubjectKind(Gallery.objects.select_related("collection"), "gallery", address=lambda row: page_of(row.collection)),
    SubjectKind(Sample.objects.all(), "sample", lambda row: row.name, None),
    SubjectKind(
        Outbox.objects.select_related("round"),
        "the platform call",
        lambda row: row.get_call_display(),
        lambda row: reverse("round_money", args=[row.round.name]) if row.round else reverse("rounds"),
        "round",
    ),
    SubjectKind(
        Posting.objects.select_related("hit", "round"),
        "the posting of",
        lambda row: f"{row.hit} of {row.round}" if row.hit else str(row.round),
        _to_posting,
        "round",
    ),
    SubjectKind(Review.objects.all(), "", _reviewed, _to_review),
    SubjectKind(Version.objects.all(), "version"),
    SubjectKind(Run.objects.all(), "the run of", lambda row: row.model),
    SubjectKind(Token.objects.all(), "the token", address=None),
    SubjectKind(Webhook.objects.all(), "the webhook to", address=None),
    SubjectKind(Annotator.objects.all(), "annotator"),
    SubjectKind(Pool.objects.all(), "pool"),
    SubjectKind(
        Retrieval.objects.select_related("annotator", "collection"),
        address=lambda row: f"{page_of(row.annotator)}?retrieval={row.pk}",
    ),
)
KINDS = {kind.rows.model._meta.label_lower: kind for kind in _KINDS}


def subjects_of(events: Sequence[Event]) -> list[SafeString | str]:
    """Return what each event is about, with one query for each kind of subject among them."""
    keys = defaultdict(set)
    for event in events:
        model, _, key = event.subject.partition(":")
        keys[model].add(key)
    rows = {model: _rows(KINDS[model].rows, some) for model, some in keys.items() if model in KINDS}
    return [_what(event, rows) for event in events]


def _rows(rows: QuerySet[Any], keys: set[str]) -> dict[str, Any]:
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
    name = format_html('<a href="{}">{}</a>', kind.address(row), kind.name(row)) if kind.address else kind.name(row)
    what = format_html("{} {}", kind.word, name) if kind.word else name
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
                theirs = kind.rows.model._default_manager.filter(**{kind.of_round: round}).order_by()
                about |= Q(subject__in=theirs.values_list(Concat(Value(f"{label}:"), Cast("pk", CharField()))))
        events = events.filter(about)
    return events


SENTENCES: dict[str, str] = {}
for _app in apps.get_app_configs():
    SENTENCES |= getattr(_app, "event_sentences", {})
"""Verb → sentence, which the app that writes the verb declares in its ``apps.py``. ``who`` and ``what`` are names with
links; other words are data, counts with their noun."""

ANY_VERB = "{who} {verb} {what}"

NOTHING: tuple[object, ...] = ("", None, [], {})
UNSHOWN = ("called",)
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
    subjects = zip(listed, subjects_of(listed), strict=True)
    return [EventLine(one.at, sentence_of(one, what), one.subject, _details(one)) for one, what in subjects]


def sentence_of(event: Event, what: SafeString | str) -> SafeString:
    """Return the sentence of an event whose subject is called ``what``."""
    template = SENTENCES.get(event.verb, ANY_VERB)
    known = {**event.data, "who": who(event.actor), "what": what, "verb": event.verb}
    parts = (
        (text, _worded(known.get(name, "?"), noun) if name else "")
        for text, name, noun, _ in Formatter().parse(template)
    )
    return format_html_join("", "{}{}", parts)


def _details(event: Event) -> list[tuple[str, Any]]:
    in_sentence = {*UNSHOWN} | {name for _, name, _, _ in Formatter().parse(SENTENCES.get(event.verb, ""))}
    return [(name, value) for name, value in event.data.items() if name not in in_sentence and value not in NOTHING]


def _worded(value: object, noun: str | None) -> object:
    return counted(value, *noun.split("/")) if noun and isinstance(value, int) else value


def who(actor: str) -> SafeString | str:
    """Return the name of an actor, of a worker with a link."""
    if actor.startswith("worker:"):
        pseudonym = actor.removeprefix("worker:")
        return format_html('Worker <a class="mono" href="{}">{}</a>', reverse("worker", args=[pseudonym]), pseudonym)
    return PROGRAMS.get(actor, actor)
