"""Events as sentences: who did what to what, with links to both."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from string import Formatter
from typing import Any

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
from core.models import Event, Job
from core.text import counted
from corpus.models import Collection, Sample
from crowd.models import Outbox, Posting
from dataset.models import Review, Version
from evaluation.models import Run
from hits.models import Control, Round, Seat
from mitl.models import Annotator, Pool, Retrieval

SENTENCES = {
    "accepted": "{who} accepted {what}",
    "account held": "{who} found ${amount} in the account that pays {what}",
    "activated": "{who} let {what} log in again",
    "added": "{who} added {what}",
    "aggregated": "{who} counted {judgments:judgment} of {what} by {method}",
    "appeal turned down": "{who} turned down an appeal about {what}",
    "appeal upheld": "{who} upheld an appeal about {what}",
    "appealed": "{who} appealed about {what}",
    "arrived": "{who} came from {channel}",
    "audited": "{who} compared {what} with its platform: {differences:difference}",
    "cancel requested": "{who} asked to cancel {what}",
    "cancelled": "{who} cancelled {what}",
    "cleared": "{who} cleared {what} of suspicion",
    "closed": "{who} closed {what}",
    "consented": "{who} agreed to take part",
    "deactivated": "{who} no longer lets {what} log in",
    "decided": "{who} decided on {what}",
    "deleted as never confirmed": "{who} deleted {what}, which the platform never confirmed",
    "described": "{who} described {what}",
    "disposed": "{who} removed {what} from the platform",
    "done": "{who} finished {what}",
    "drawn": "{who} drew {what}: {images:image}",
    "ended idle leases": "{who} ended {leases:idle lease} in {what}",
    "evaluated": "{who} scored {what} on version {version}",
    "excluded": "{who} excluded {what}",
    "excluded from further work": "{who} excluded {what} from further work",
    "expired": "{what} ran out of time",
    "extended": "{who} extended {what}",
    "failed": "{what} failed",
    "flagged": "{who} flagged {what} for a review",
    "forgotten": "{who} erased who {what} is",
    "given a new link": "{who} gave {what} a new link",
    "imported": "{who} imported into {what}",
    "invited": "{who} invited {what}",
    "joined": "{who} joined {what}",
    "leased": "{who} took {what}",
    "live": "{who} posted {what}",
    "lost in an outage": "{who} noted that {what} was lost in an outage",
    "made": "{who} made {what}",
    "made invitations": "{who} made {count:invitation} to {what}",
    "matches imported": "{who} imported {matches:match/matches} of {source} into {what}",
    "not paid after all": "{who} noted that {what} was not paid after all",
    "one reviewer": "{who} lets one reviewer decide in {what}",
    "opened": "{who} started {what}",
    "over": "{who} found that {what} has ended",
    "owed": "{who} noted as owed: {what}",
    "packed": "{who} packed {what}: {hits:HIT}",
    "paid": "{who} paid {what}",
    "paid though late": "{who} paid {what} although it was late",
    "password link made": "{who} made a password link for {what}",
    "password link mailed": "{who} asked for a password link by mail",
    "password set": "{who} set a password",
    "paused": "{who} paused {what}",
    "payments listed": "{who} listed the payments of {what}",
    "planned": "{who} planned {what}",
    "pooled": "{who} pooled {pairs:pair} into {what}",
    "prefiltered": "{who} filtered {pool} into {what}: {dropped:pair} left out",
    "prolonged": "{who} prolonged {what}",
    "published": "{who} published {what} on {channel}",
    "queue checked": "{who} checked the queue with {what}",
    "queued": "{who} queued {what}",
    "readmitted": "{who} readmitted {what}",
    "registered": "{who} registered {what}",
    "rejected": "{who} rejected {what}",
    "rejection dropped": "{who} dropped the rejection of {what}",
    "rejection proposed": "{who} proposed to reject {what}",
    "rejection reversed": "{who} reversed the rejection of {what}",
    "rejection seconded": "{who} agreed to reject {what}",
    "released": "{who} released {what}",
    "removed": "{who} removed {what}",
    "reopened": "{who} opened {what} again",
    "reinstated": "{who} reinstated {what}",
    "repaired": "{who} repaired a difference of {what}",
    "reported": "{who} reported {what}",
    "resent": "{who} sent {what} to a worker process again",
    "restored": "{who} restored {what}",
    "resumed": "{who} let visitors come to {what} again",
    "retired": "{who} retired {what}",
    "retrieved": "{who} searched: {what}",
    "returned": "{who} returned {what}",
    "review seconded": "{who} agreed with the review of {what}",
    "reviewed": "{who} reviewed {what}",
    "revoked invitations": "{who} revoked invitations to {what}",
    "roles changed": "{who} changed the roles of {what}",
    "running": "{who} runs {what}",
    "sampled": "{who} drew {what}: {images:image}, {captions:caption}",
    "saved": "{who} submitted {what} late",
    "sent again": "{who} sent {what} again",
    "set ceiling": "{who} set the ceiling of {what} to ${ceiling}",
    "submitted": "{who} submitted {what}",
    "suspected": "{who} put {what} under suspicion",
    "synced": "{who} read {what} from its platform",
    "tested": "{who} took {what}",
    "topped up": "{who} added {hits:HIT} to {what}, where workers disagree",
    "trained": "{who} trained {what}",
    "two reviewers": "{who} asks for two reviewers in {what}",
    "used": "{who} used {what}",
    "withdrawn": "{who} withdrew {what}",
    "written to": "{who} wrote to {what}",
    "submitted on the platform": "The platform got {what}",
    "approved on the platform": "The platform approved {what}",
    "rejected on the platform": "The platform rejected {what}",
    "returned on the platform": "The worker returned {what} on the platform",
    "expired on the platform": "The time for {what} ran out on the platform",
    "settled on the platform": "The platform screened out {what}, or paid a part of it",
    "opened, not confirmed": "{who} started {what}, which the platform could not confirm then",
    "claimed by two workers": "Two workers came with the session of {what}",
    "settled": "{who} settled {what}",
    "asked to return": "{who} asked the worker to return {what}",
}
"""Verb → sentence. ``who`` and ``what`` are names with links; other words are data, counts with their noun."""

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
class Kind:
    """How rows of a model are named: ``word`` before the name, which links to a page unless ``address`` gives none."""

    rows: QuerySet[Any]
    word: str
    name: Callable[[Any], str] = str
    address: Callable[[Any], str] | None = None


@dataclass(frozen=True)
class Told:
    """An event as the pages show it; ``details`` is its data in words."""

    at: datetime
    sentence: SafeString
    subject: str
    details: Mapping[str, Any]


def _named(page: str) -> Callable[[Any], str]:
    return lambda row: reverse(page, args=[row.name])


def _keyed(page: str) -> Callable[[Any], str]:
    return lambda row: reverse(page, args=[row.pk])


def _of_hit(row: Any) -> str:
    return f"{row.hit} of {row.hit.round}"


def _of_assignment(row: Any) -> str:
    return _of_hit(row.assignment)


def _to_hit(row: Any) -> str:
    return reverse("hit", args=[row.hit.round.name, row.hit.number])


def _of_posting(row: Any) -> str:
    return f"{row.hit} of {row.round}" if row.hit else str(row.round)


def _to_posting(row: Any) -> str:
    return reverse("hit", args=[row.round.name, row.hit.number]) if row.hit else reverse("round", args=[row.round.name])


def _of_review(row: Any) -> str:
    if row.image_id and row.caption_id:
        return "a pair"
    return "a picture" if row.image_id else "a caption"


def _to_review(row: Any) -> str:
    if row.image_id and row.caption_id:
        return reverse("pair", args=[row.image_id, row.caption_id])
    return reverse("image", args=[row.image_id]) if row.image_id else reverse("caption", args=[row.caption_id])


def _to_assignment(row: Any) -> str:
    return reverse("assignment", args=[row.assignment_id])


IN_HIT, OF_WORK = "hit__round", "assignment__hit__round"
KINDS = {
    "hits.round": Kind(Round.objects.all(), "round", address=_named("round")),
    "hits.control": Kind(
        Control.objects.select_related("round"),
        "a control of round",
        lambda row: row.round.name,
        lambda row: reverse("control", args=[row.round.name, row.pk]),
    ),
    "hits.seat": Kind(Seat.objects.select_related(IN_HIT), "a seat of", _of_hit, _to_hit),
    "annotation.assignment": Kind(Assignment.objects.select_related(IN_HIT), "", _of_hit, _keyed("assignment")),
    "annotation.invitation": Kind(
        Invitation.objects.select_related("round"),
        "an invitation to",
        lambda row: row.round.name,
        lambda row: reverse("round", args=[row.round.name]),
    ),
    "annotation.participant": Kind(
        Participant.objects.select_related("round"),
        "round",
        lambda row: row.round.name,
        lambda row: reverse("round", args=[row.round.name]),
    ),
    "annotation.payment": Kind(
        Payment.objects.select_related(OF_WORK),
        "",
        lambda row: f"${row.amount} for {_of_assignment(row)}",
        _to_assignment,
    ),
    "annotation.qualificationtest": Kind(QualificationTest.objects.all(), "test"),
    "annotation.report": Kind(Report.objects.select_related(OF_WORK), "an item of", _of_assignment, _to_assignment),
    "annotation.testattempt": Kind(TestAttempt.objects.select_related("test"), "test", lambda row: str(row.test)),
    "annotation.worker": Kind(
        Worker.objects.all(),
        "worker",
        lambda row: row.pseudonym,
        lambda row: reverse("worker", args=[row.pseudonym]),
    ),
    "auth.user": Kind(User.objects.all(), "", lambda row: row.username),
    "core.job": Kind(Job.objects.select_related("created_by"), "the job", lambda row: row.title, _keyed("job")),
    "corpus.collection": Kind(Collection.objects.all(), "collection", address=_named("collection")),
    "corpus.sample": Kind(Sample.objects.all(), "sample", lambda row: row.name),
    "crowd.outbox": Kind(
        Outbox.objects.all(), "the platform call", lambda row: row.get_call_display(), lambda row: reverse("calls")
    ),
    "crowd.posting": Kind(Posting.objects.select_related("hit", "round"), "the posting of", _of_posting, _to_posting),
    "dataset.review": Kind(Review.objects.all(), "", _of_review, _to_review),
    "dataset.version": Kind(Version.objects.all(), "version", address=_named("version")),
    "evaluation.run": Kind(Run.objects.all(), "the run of", lambda row: row.model, _keyed("run")),
    "mitl.annotator": Kind(Annotator.objects.all(), "annotator", address=_named("annotator")),
    "mitl.pool": Kind(Pool.objects.all(), "pool", address=_named("pool")),
    "mitl.retrieval": Kind(
        Retrieval.objects.select_related("annotator", "collection"),
        "",
        address=lambda row: f"{reverse('annotator', args=[row.annotator.name])}?retrieval={row.pk}",
    ),
}


def told(events: Iterable[Event]) -> list[Told]:
    """Return events as sentences, with one query for each kind of subject among them."""
    listed = list(events)
    keys = defaultdict(set)
    for event in listed:
        model, _, key = event.subject.partition(":")
        keys[model].add(key)
    rows = {model: _rows(KINDS[model].rows, some) for model, some in keys.items() if model in KINDS}
    return [Told(one.at, sentence_of(one, _what(one, rows)), one.subject, one.data) for one in listed]


def _rows(rows: QuerySet[Any], keys: set[str]) -> dict[str, Any]:
    try:
        return {str(row.pk): row for row in rows.filter(pk__in=keys)}
    except (ValueError, ValidationError):  # a key that is none of this model
        return {}


def sentence_of(event: Event, what: SafeString | str) -> SafeString:
    """Return the sentence of an event whose subject is called ``what``."""
    template = SENTENCES.get(event.verb, "{who}: {verb} {what}")
    known = {**event.data, "who": _who(event.actor), "what": what, "verb": event.verb}
    parts = (
        (text, _worded(known.get(name, "?"), noun) if name else "")
        for text, name, noun, _ in Formatter().parse(template)
    )
    return format_html_join("", "{}{}", parts)


def _worded(value: object, noun: str | None) -> object:
    return counted(value, *noun.split("/")) if noun and isinstance(value, int) else value


def _who(actor: str) -> SafeString | str:
    if actor.startswith("worker:"):
        pseudonym = actor.removeprefix("worker:")
        return format_html('Worker <a class="mono" href="{}">{}</a>', reverse("worker", args=[pseudonym]), pseudonym)
    return PROGRAMS.get(actor, actor)


def _what(event: Event, rows: Mapping[str, Mapping[str, Model]]) -> SafeString | str:
    model, _, key = event.subject.partition(":")
    kind, row = KINDS.get(model), rows.get(model, {}).get(key)
    if kind is None or row is None:
        word = kind.word if kind and kind.word else model.partition(".")[2]
        return f"{word} {event.data.get('name', key)}"
    name = format_html('<a href="{}">{}</a>', kind.address(row), kind.name(row)) if kind.address else kind.name(row)
    what = format_html("{} {}", kind.word, name) if kind.word else name
    starter = row.created_by if isinstance(row, Job) and event.actor in PROGRAMS else None
    return format_html("{}, which {} started", what, starter) if starter else what


# What belongs to a round, by the path to it.
OF_ROUND: dict[str, tuple[type[Model], str]] = {
    "annotation.assignment": (Assignment, IN_HIT),
    "annotation.payment": (Payment, "round"),
    "annotation.participant": (Participant, "round"),
    "annotation.invitation": (Invitation, "round"),
    "annotation.report": (Report, OF_WORK),
    "hits.control": (Control, "round"),
    "hits.seat": (Seat, IN_HIT),
    "crowd.posting": (Posting, "round"),
    "crowd.outbox": (Outbox, "round"),
}


def events_of(events: QuerySet[Event], *, by: str = "", round: Round | None = None) -> QuerySet[Event]:
    """Return the events of a person (a user name or pseudonym), of a round and all that belongs to it, or of both."""
    if by:
        events = events.filter(actor__in=[by, f"worker:{by}"])
    if round is not None:
        about = Q(subject=f"hits.round:{round.pk}")
        for label, (model, path) in OF_ROUND.items():
            theirs = model._default_manager.filter(**{path: round}).order_by()
            about |= Q(subject__in=theirs.values_list(Concat(Value(f"{label}:"), Cast("pk", CharField()))))
        events = events.filter(about)
    return events
