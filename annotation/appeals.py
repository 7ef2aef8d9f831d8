"""A worker's objection to a rejection, and the answer of a person who may not be the one who rejected."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.decisions import reverse
from annotation.models import Appeal, Rejection
from core.errors import CounterpartError
from core.events import record
from core.words import check_words

WINDOW = timedelta(days=30)
LONGEST = {"appeal": 4096, "answer": 1024}


def appealable_until(rejection: Rejection) -> datetime:
    """Return until when the worker may object."""
    return rejection.held_at + WINDOW


def appeal(rejection: Rejection, *, text: str, actor: str) -> Appeal:
    """Keep a worker's objection, once; the same words again change nothing. ``actor`` is the worker, or who wrote down
    what reached us another way.

    Raises CounterpartError for a rejection that does not hold, one that was appealed before or too long ago, and words
    that are missing or too many.
    """
    text = check_words(text, what="objection", at_most=LONGEST["appeal"])
    if not rejection.holds:
        raise CounterpartError("This work is not refused any more; there is nothing to object to.")
    if timezone.now() > appealable_until(rejection):
        raise CounterpartError(f"An objection was possible until {appealable_until(rejection):%-d %B %Y}.")
    try:
        with transaction.atomic():
            made = Appeal.objects.create(rejection=rejection, text=text)
            record("appealed", rejection.assignment, actor=actor, appeal=made.pk)
    except IntegrityError as error:
        made = Appeal.objects.get(rejection=rejection)
        if made.text != text:
            raise CounterpartError("You have objected before; a person reads that and answers here.") from error
    return made


def answer_appeal(appeal: Appeal, *, upheld: bool, answer: str, by: User) -> Appeal:
    """Answer an objection, once; the worker reads the answer. One that is upheld reverses the rejection and pays.

    Raises CounterpartError without an answer, for one answered before, and where somebody would turn down an objection
    to what they rejected themselves.
    """
    answer = check_words(answer, what="answer", at_most=LONGEST["answer"])
    rejection = Rejection.objects.select_related("assignment__hit__round").get(pk=appeal.rejection_id)
    if not upheld and by.pk in (rejection.by_id, rejection.seconded_by_id):
        raise CounterpartError("You rejected this work, so somebody else has to turn the objection down.")
    with transaction.atomic():
        waiting = Appeal.objects.filter(pk=appeal.pk, answered_at=None)
        if not waiting.update(upheld=upheld, answer=answer, answered_by=by, answered_at=timezone.now()):
            raise CounterpartError("This objection was answered before; reload the page.")
        verdict = "appeal upheld" if upheld else "appeal turned down"
        record(verdict, rejection.assignment, actor=str(by), appeal=appeal.pk)
        if upheld and rejection.holds:
            reverse(rejection, reason=f"Objection upheld: {answer}", by=by)
    appeal.refresh_from_db()
    return appeal
