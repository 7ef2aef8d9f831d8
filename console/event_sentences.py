"""Events as sentences: who did what to what, with links to both."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from string import Formatter
from typing import Any

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from console.event_subjects import subjects_of
from core.models import Event
from core.text import counted

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
    "deleted as nobody came": "{who} deleted {what}, as nobody had come",
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
    "password link used": "{who} used a password link",
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

NOTHING: tuple[object, ...] = ("", None, [], {})

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
class Told:
    """An event as the pages show it; ``details`` is what its data says beyond the sentence."""

    at: datetime
    sentence: SafeString
    subject: str
    details: Mapping[str, Any]


def told(events: Iterable[Event]) -> list[Told]:
    """Return events as sentences, with one query for each kind of subject among them."""
    listed = list(events)
    subjects = zip(listed, subjects_of(listed), strict=True)
    return [Told(one.at, sentence_of(one, what), one.subject, _details(one)) for one, what in subjects]


def sentence_of(event: Event, what: SafeString | str) -> SafeString:
    """Return the sentence of an event whose subject is called ``what``."""
    template = SENTENCES.get(event.verb, "{who}: {verb} {what}")
    known = {**event.data, "who": _who(event.actor), "what": what, "verb": event.verb}
    parts = (
        (text, _worded(known.get(name, "?"), noun) if name else "")
        for text, name, noun, _ in Formatter().parse(template)
    )
    return format_html_join("", "{}{}", parts)


def _details(event: Event) -> dict[str, Any]:
    told = {name for _, name, _, _ in Formatter().parse(SENTENCES.get(event.verb, ""))}
    return {name: value for name, value in event.data.items() if name not in told and value not in NOTHING}


def _worded(value: object, noun: str | None) -> object:
    return counted(value, *noun.split("/")) if noun and isinstance(value, int) else value


def _who(actor: str) -> SafeString | str:
    if actor.startswith("worker:"):
        pseudonym = actor.removeprefix("worker:")
        return format_html('Worker <a class="mono" href="{}">{}</a>', reverse("worker", args=[pseudonym]), pseudonym)
    return PROGRAMS.get(actor, actor)
