"""Erase what ties a worker to a person. Their judgments stay, under a pseudonym that leads nowhere."""

from django.db import transaction
from django.utils import timezone

from annotation.models import Appeal, Assignment, Payment, Worker, WorkerIdentity
from annotation.scrubbing import ERASED, scrub
from core.errors import CounterpartError
from core.events import record
from crowd.models import Message


def forget_worker(pseudonym: str, *, actor: str) -> int:
    """Delete the platform ids of a worker wherever they stand; returns how many there were. Cannot be undone.

    What the platform sent of their work unparsed, what was written to them and what they objected goes as well. The
    platform's ids of their assignments stay: without them the next listing would take the work for somebody else's,
    and they lead to a person only through our account on the platform, for as long as it keeps them.
    Raises CounterpartError for an unknown pseudonym, while the worker is owed money that could then no longer reach
    them, and while work of theirs was not taken in.
    """
    with transaction.atomic():
        worker = check_forgettable(pseudonym)
        ids = [one.external_id for one in worker.identities.exclude(channel__in=WorkerIdentity.OURS)]
        deleted, _ = WorkerIdentity.objects.filter(worker=worker).delete()
        _erase_words(worker)
        for external_id in ids:
            scrub(external_id)
        Worker.objects.filter(pk=worker.pk).update(forgotten_at=timezone.now())
        record("forgotten", worker, actor=actor, identities=deleted)
    return deleted


def check_forgettable(pseudonym: str) -> Worker:
    """Return the worker who may be forgotten. Raises CounterpartError as ``forget_worker`` does."""
    worker = Worker.objects.filter(pseudonym=pseudonym).first()
    if worker is None:
        raise CounterpartError(f"There is no worker {pseudonym!r}; give the pseudonym, not the platform's id.")
    _refuse_unsettled(worker)
    return worker


def _refuse_unsettled(worker: Worker) -> None:
    owed = Payment.objects.filter(assignment__worker=worker, state=Payment.State.OWED).count()
    if owed:
        raise CounterpartError(
            f"Worker {worker} is still owed {owed} payments, which could not reach them any more; "
            "mark them paid or withdraw them first."
        )
    waiting = Assignment.objects.waiting().filter(worker=worker).count()
    if waiting:
        raise CounterpartError(
            f"{waiting} submissions of worker {worker} were not taken in; sync their rounds, or pay_for_outage, first."
        )


def _erase_words(worker: Worker) -> None:
    """Erase what may name the person in words that no search would find."""
    Assignment.objects.filter(worker=worker).update(content="")
    Message.objects.filter(worker=worker).update(subject=ERASED, text=ERASED, failure="")
    Appeal.objects.filter(rejection__assignment__worker=worker).update(text=ERASED)
