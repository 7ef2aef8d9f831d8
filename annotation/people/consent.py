"""Consent: the sheet that people read before they take part, its versions, and who agreed to which."""

from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet, Subquery
from django.db.models.functions import JSONObject
from django.template.loader import render_to_string
from django.utils import translation

from annotation.models import Consent, ConsentSheet, ConsentWords, Worker
from annotation.people.guides import Guide, check_guide, guide_of, latest_version
from annotation.people.workers import actor_of, locked
from core import clock
from core.database.fixed_queries import FixedQuery
from core.errors import CounterpartError, some_of
from core.events import record
from core.text import trimmed
from hits.models import Round


class NotAgreedError(CounterpartError):
    """The worker has not agreed to the sheet of the round as it reads now."""


SHEET_WORDS = {
    "researchers": "who asks and why",
    "payment_terms": "how and when they are paid",
    "contact": "whom to ask",
}
"""The parts of the sheet that each round may write → what workers learn from them."""


def words_of(round: Round | None) -> dict[str, str]:
    """Return the texts of SHEET_WORDS: those written for the round, else those of the server's settings."""
    written = latest_version(round) if round else None
    return _texts(vars(written) if written else None)


def _texts(written: dict[str, str] | None) -> dict[str, str]:
    return {name: written[name] if written else getattr(settings, name.upper()) for name in SHEET_WORDS}


def write_words(round: Round, *, actor: str, guide: Guide | None = None, **words: str) -> None:
    """Store the texts of SHEET_WORDS and the guide of the round, unless they are its latest already. Workers who come
    from then on agree to the sheet with them. Raises CounterpartError for a closed round, and for an invalid guide."""
    if round.state == "closed":
        raise CounterpartError(f"Round {round} is closed, so no worker can agree to a new sheet.")
    words = {name: trimmed(text) for name, text in words.items()}
    guide = guide or guide_of(round)
    if (words, guide) != (words_of(round), guide_of(round)):
        check_guide(round, guide)
        with transaction.atomic():
            written = ConsentWords.objects.create(round=round, by=actor, **words, **vars(guide))
            record("wrote consent", round, actor=actor, version=written.pk)


def contact(round: Round | None = None) -> dict[str, str]:
    """Return how workers reach the people who run the round: the text, and its link."""
    return _linked(words_of(round)["contact"])


def empty_words(round: Round) -> dict[str, str]:
    """Return the parts of SHEET_WORDS that are empty → what workers do not learn from the consent sheet."""
    return {name: SHEET_WORDS[name] for name, text in words_of(round).items() if not text}


def find_missing_words() -> Iterator[tuple[str, str]]:
    """Return what the consent sheet leaves out while people work for money in the browser pool, for ``doctor``."""
    paid = Round.objects.filter(
        channel="browser", published_at__isnull=False, closed_at=None, rehearsal=False, reward__gt=0
    )
    missing = {word: [str(round) for round in paid if word in empty_words(round)] for word in SHEET_WORDS}
    if not paid:
        yield "no paid round is open in the browser pool", ""
    elif not any(missing.values()):
        yield "the consent sheets name the researchers, the terms of payment and a contact", ""
    for word, rounds in missing.items():
        if rounds:
            found = f"The consent sheet of {some_of(rounds)} does not say {SHEET_WORDS[word]}"
            yield f"{found}; add it here or on the round's page.", f'{word.upper()}="…"'


def sheet_text(words: dict[str, str], language: str = "") -> str:
    """Return the sheet with these texts, as HTML. It is in the language of the round, whatever that of the browser is:
    all workers agree to one text."""
    with translation.override(language or settings.LANGUAGE_CODE):
        return render_to_string("judging/_consent.html", words | _linked(words["contact"])).strip()


def current_sheet(round: Round | None = None) -> ConsentSheet:
    """Return the round's current sheet; a new version where its template or one of SHEET_WORDS has changed."""
    text = sheet_text(words_of(round), round.language if round else "")
    return ConsentSheet.objects.get_or_create(digest=_digest(text), defaults={"text": text})[0]


def has_agreed(worker: Worker, round: Round | None = None, sheet: ConsentSheet | None = None) -> bool:
    """Whether the worker has agreed to ``sheet`` (default: the current version of the round's sheet), and to no other
    one in this round since. Consent to the same sheet in another round counts; consent from before the worker was
    forgotten does not."""
    rows = _consents(worker.pk, round.pk if round else 0)
    since = worker.forgotten_at
    agreed = [(where, digest) for where, digest, at, _ in rows if since is None or at > since]
    if not agreed:
        return False
    text = sheet.text if sheet else sheet_text(_texts(rows[0][-1]), round.language if round else "")
    here = [digest for where, digest in agreed if round and where == round.pk]
    return _digest(text) in (here[-1:] or [digest for _, digest in agreed])


def give_consent(worker: Worker, round: Round | None = None, *, sheet: ConsentSheet | None = None) -> bool:
    """Note that the worker takes part in the round and agreed to its sheet as it was shown, by default the current
    version. False if they have agreed to it."""
    sheet = sheet or current_sheet(round)
    now = clock.now()
    with transaction.atomic():
        locked(worker.pk)  # a form that was sent twice is one consent
        if has_agreed(worker, round, sheet):
            return False
        Consent.objects.create(worker=worker, round=round, sheet=sheet, at=now)
        Worker.objects.filter(pk=worker.pk).update(consented_at=now)
        record("consented", worker, actor=actor_of(worker), sheet=sheet.pk)
    worker.consented_at = now
    return True


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


@FixedQuery
def _consents(worker: int, round: int) -> QuerySet[Consent, tuple[int | None, str, datetime, dict[str, str] | None]]:
    """Return what the worker has agreed to, each with the texts that are written for the round now."""
    written = ConsentWords.objects.filter(round=round).order_by("-pk")
    texts = written.values(texts=JSONObject(**{name: name for name in SHEET_WORDS}))
    return Consent.objects.filter(worker=worker).values_list("round", "sheet__digest", "at", Subquery(texts[:1]))


def _linked(given: str) -> dict[str, str]:
    is_page = given.startswith(("https://", "http://"))
    return {"contact": given, "contact_link": given if is_page else f"mailto:{given}" if "@" in given else ""}
