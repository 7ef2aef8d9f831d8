"""Consent: the sheet that people read before they take part, its versions, and who agreed to which."""

from hashlib import sha256

from django.conf import settings
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import timezone

from annotation.models import Consent, ConsentSheet, ConsentWords, Worker
from annotation.people.workers import actor_of
from core.errors import CounterpartError
from core.events import record
from hits.models import Round

TELLS = {
    "researchers": "who asks and why",
    "payment_terms": "how and when they are paid",
    "contact": "whom to ask",
}
"""The words of a round's own in the sheet → what they tell workers."""


def words_of(round: Round | None) -> dict[str, str]:
    """Return the words of TELLS: as they were written for the round, else those of the server's settings."""
    written = round.consent_words.last() if round and round.pk else None
    return {name: getattr(written, name) if written else getattr(settings, name.upper()) for name in TELLS}


def write_words(round: Round, *, actor: str, **words: str) -> None:
    """Keep the words of TELLS as the round's latest, unless they are that already. Workers who come from then on agree
    to the sheet with them. Raises CounterpartError for a closed round."""
    if round.state == "closed":
        raise CounterpartError(f"Round {round} is closed: nobody agrees to anything in it any more.")
    if words != words_of(round):
        with transaction.atomic():
            written = ConsentWords.objects.create(round=round, by=actor, **words)
            record("wrote consent", round, actor=actor, version=written.pk)


def contact(round: Round | None = None) -> dict[str, str]:
    """Return how workers reach the people behind the round: the words, and where a link on them may lead."""
    return _linked(words_of(round)["contact"])


def untold(round: Round) -> dict[str, str]:
    """Return the words of TELLS that are empty → what the consent sheet therefore does not tell workers."""
    return {name: TELLS[name] for name, text in words_of(round).items() if not text}


def sheet_text(words: dict[str, str]) -> str:
    """Return the sheet with these words of TELLS, as HTML."""
    return render_to_string("judging/_consent.html", words | _linked(words["contact"])).strip()


def current_sheet(round: Round | None = None) -> ConsentSheet:
    """Return the round's sheet as it reads today; a new version where its template or a word of TELLS has changed."""
    text = sheet_text(words_of(round))
    sheet, _ = ConsentSheet.objects.get_or_create(digest=sha256(text.encode()).hexdigest(), defaults={"text": text})
    return sheet


def has_agreed(worker: Worker, sheet: ConsentSheet) -> bool:
    return Consent.objects.filter(worker=worker, sheet=sheet).exists()


def give_consent(worker: Worker, round: Round | None = None) -> bool:
    """Note that the worker agreed to the round's current sheet and takes part. False if they agreed to this version
    before."""
    now = timezone.now()
    sheet = current_sheet(round)
    with transaction.atomic():
        _, is_new = Consent.objects.get_or_create(worker=worker, sheet=sheet, defaults={"at": now})
        if not is_new:
            return False
        Worker.objects.filter(pk=worker.pk).update(consented_at=now)
        record("consented", worker, actor=actor_of(worker), sheet=sheet.pk)
    worker.consented_at = now
    return True


def _linked(given: str) -> dict[str, str]:
    is_page = given.startswith(("https://", "http://"))
    return {"contact": given, "contact_link": given if is_page else f"mailto:{given}" if "@" in given else ""}
