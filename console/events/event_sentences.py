"""Events as sentences: who did what to what, with links to both."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from string import Formatter
from typing import Any

from django.apps import apps
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from console.events.event_subjects import subjects_of
from core.models import Event
from core.text import counted

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
