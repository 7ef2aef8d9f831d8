"""Consent: the sheet that people read before they take part, its versions, and who agreed to which."""

from hashlib import sha256

from django.conf import settings
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import timezone

from annotation.models import ConsentSheet, Worker
from annotation.people.workers import actor_of
from core.events import record


def contact() -> dict[str, str]:
    """Return how workers reach the people behind the rounds: the words, and where a link on them may lead."""
    given = settings.CONTACT
    is_page = given.startswith(("https://", "http://"))
    return {"contact": given, "contact_link": given if is_page else f"mailto:{given}" if "@" in given else ""}


def untold() -> dict[str, str]:
    """Return the settings that are empty → what the consent sheet therefore does not tell workers."""
    words = {"RESEARCHERS": "who asks and why", "PAYMENT_TERMS": "how and when they are paid", "CONTACT": "whom to ask"}
    return {setting: what for setting, what in words.items() if not getattr(settings, setting)}


def current_sheet() -> ConsentSheet:
    """Return the sheet as it reads today; a new version where its template or a setting in it has changed."""
    words = {"researchers": settings.RESEARCHERS, "payment_terms": settings.PAYMENT_TERMS, **contact()}
    text = render_to_string("judging/_consent.html", words).strip()
    sheet, _ = ConsentSheet.objects.get_or_create(digest=sha256(text.encode()).hexdigest(), defaults={"text": text})
    return sheet


def give_consent(worker: Worker) -> bool:
    """Note that the worker agreed to the current sheet and takes part. False if they agreed to this version before."""
    now = timezone.now()
    sheet = current_sheet()
    with transaction.atomic():
        others = Worker.objects.filter(pk=worker.pk).exclude(consent_sheet=sheet)
        if not others.update(consented_at=now, consent_sheet=sheet):
            return False
        record("consented", worker, actor=actor_of(worker), sheet=sheet.pk)
    worker.consented_at, worker.consent_sheet = now, sheet
    return True
