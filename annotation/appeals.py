"""Appeals: a worker contests a rejection, and a person who did not reject answers."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.decisions import reverse
from annotation.models import Appeal, Rejection
from core.errors import CounterpartError
from core.events import record
from core.text import check_words

WINDOW = timedelta(days=30)
LONGEST = {"appeal": 4096, "answer": 1024}


def appealable_until(rejection: Rejection) -> datetime:
    """Return until when the worker may appeal."""
    return rejection.held_at + WINDOW


def appeal(rejection: Rejection, *, text: str, actor: str) -> Appeal:
    """Store a worker's appeal, once; the same text again changes nothing. ``actor`` is the worker, or who entered an
    appeal that arrived another way.

    Raises CounterpartError for a rejection that does not hold, one that was appealed before or too long ago, and words
    that are missing or too many.
    """
    text = check_words(text, what="appeal", at_most=LONGEST["appeal"])
    if not rejection.holds:
        raise CounterpartError("This work is not rejected any more; there is nothing to appeal.")
    if timezone.now() > appealable_until(rejection):
        raise CounterpartError(f"An appeal was possible until {appealable_until(rejection):%-d %B %Y}.")
    try:
        with transaction.atomic():
            made = Appeal.objects.create(rejection=rejection, text=text)
            record("appealed", rejection.assignment, actor=actor, appeal=made.pk)
    except IntegrityError as error:
        made = Appeal.objects.get(rejection=rejection)
        if made.text != text:
            raise CounterpartError(
                "You have appealed already; a person reads the appeal and answers on this page."
            ) from error
    return made


def answer_appeal(appeal: Appeal, *, upheld: bool, answer: str, by: User) -> Appeal:
    """Answer an appeal, once; the worker reads the answer. One that is upheld reverses the rejection and pays.

    Raises CounterpartError without an answer, for one answered before, and where somebody would turn down an appeal
    against their own rejection.
    """
    answer = check_words(answer, what="answer", at_most=LONGEST["answer"])
    rejection = Rejection.objects.select_related("assignment__hit__round").get(pk=appeal.rejection_id)
    if not upheld and by.pk in (rejection.by_id, rejection.seconded_by_id):
        raise CounterpartError("You rejected this work, so somebody else has to turn the appeal down.")
    with transaction.atomic():
        waiting = Appeal.objects.filter(pk=appeal.pk, answered_at=None)
        if not waiting.update(upheld=upheld, answer=answer, answered_by=by, answered_at=timezone.now()):
            raise CounterpartError("This appeal is answered already; reload the page.")
        verdict = "appeal upheld" if upheld else "appeal turned down"
        record(verdict, rejection.assignment, actor=str(by), appeal=appeal.pk)
        if upheld and rejection.holds:
            reverse(rejection, reason=f"Appeal upheld: {answer}", by=by)
    appeal.refresh_from_db()
    return appeal
