"""Who works: the pseudonym behind a platform's id, and their consent."""

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import Worker, WorkerIdentity
from core.events import record


def actor_of(worker: Worker) -> str:
    """Name a worker as the journal does: by pseudonym only."""
    return f"worker:{worker.pseudonym}"


def worker_for(*, channel: str, environment: str = "", external_id: str) -> Worker:
    """Return the worker with this id on the platform; a new one with a new pseudonym if it was never seen."""
    platform_id = {"channel": channel, "environment": environment, "external_id": external_id}
    if known := _known(platform_id):
        return known
    try:
        with transaction.atomic():
            worker = Worker.objects.create()
            WorkerIdentity.objects.create(worker=worker, **platform_id)
            record("arrived", worker, actor=actor_of(worker), channel=channel, environment=environment)
            return worker
    except IntegrityError:
        # Two first visits at once: the other one made the row.
        return Worker.objects.get(identities__in=WorkerIdentity.objects.filter(**platform_id))


def give_consent(worker: Worker) -> bool:
    """Note that the worker agreed to take part. False if they had before."""
    now = timezone.now()
    with transaction.atomic():
        if not Worker.objects.filter(pk=worker.pk, consented_at=None).update(consented_at=now):
            return False
        record("consented", worker, actor=actor_of(worker))
    worker.consented_at = now
    return True


def locked(worker_id: int) -> Worker:
    """Read the worker and make other transactions about them wait; to be called inside a transaction."""
    return Worker.objects.select_for_update(no_key=True).get(pk=worker_id)


def _known(platform_id: dict[str, str]) -> Worker | None:
    identity = WorkerIdentity.objects.select_related("worker").filter(**platform_id).first()
    return identity.worker if identity else None
