"""Erase what ties a worker to a person. Their judgments stay, under a pseudonym that leads nowhere."""

from django.db import transaction

from hits.models import Payment, Worker, WorkerIdentity
from journal.errors import CounterpartError
from journal.events import record


def forget_worker(pseudonym: str, *, actor: str) -> int:
    """Delete the platform ids of a worker; returns how many there were. Cannot be undone.

    Raises CounterpartError for an unknown pseudonym, and while the worker is owed money that could then no
    longer reach them.
    """
    worker = Worker.objects.filter(pseudonym=pseudonym).first()
    if worker is None:
        raise CounterpartError(f"There is no worker {pseudonym!r}; give the pseudonym, not the platform's id.")
    with transaction.atomic():
        owed = Payment.objects.filter(assignment__worker=worker, state=Payment.State.OWED).count()
        if owed:
            raise CounterpartError(
                f"Worker {worker} is still owed {owed} payments, which could not reach them any more; "
                "mark them paid or withdraw them first."
            )
        deleted, _ = WorkerIdentity.objects.filter(worker=worker).delete()
        record("forgotten", worker, actor=actor, identities=deleted)
    return deleted
