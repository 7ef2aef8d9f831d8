"""Who works: the pseudonym behind a platform's id, and their consent."""

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet

from annotation.models import Exclusion, Pause, Worker, WorkerIdentity
from annotation.platforms import want_call
from core import clock
from core.database.fixed_queries import FixedQuery
from core.errors import CounterpartError
from core.events import record
from core.text import check_words
from hits.models import Round

Row = TypeVar("Row")


def actor_of(worker: Worker) -> str:
    """Name a worker as the event log does: by pseudonym only."""
    return f"worker:{worker.pseudonym}"


def worker_for(*, channel: str, environment: str = "", external_id: str) -> Worker:
    """Return the worker with this id on the platform; a new one with a new pseudonym if it was never seen."""
    platform_id = {"channel": channel, "environment": environment, "external_id": external_id}
    known = WorkerIdentity.objects.select_related("worker").filter(**platform_id).first()
    if known:
        return known.worker
    try:
        with transaction.atomic():
            worker = Worker.objects.create()
            WorkerIdentity.objects.create(worker=worker, **platform_id)
            record("arrived", worker, actor=actor_of(worker), channel=channel, environment=environment)
            return worker
    except IntegrityError:
        # Two first visits at once: the other one made the row.
        return Worker.objects.get(identities__in=WorkerIdentity.objects.filter(**platform_id))


def mark_simulated(worker: Worker) -> None:
    """Note that a program plays this worker, so that its votes are marked wherever they go."""
    Worker.objects.filter(pk=worker.pk).update(simulated=True)


def renew_links(worker: Worker, *, by: str) -> None:
    """Make every link void that leads to the worker's pages and HITs. New ones are made with the worker given here."""
    with transaction.atomic():
        Worker.objects.filter(pk=worker.pk).update(link_version=F("link_version") + 1)
        record("given a new link", worker, actor=by)
    worker.refresh_from_db(fields=["link_version"])


def locked(worker_id: int) -> Worker:
    """Read the worker and make other transactions about them wait; to be called inside a transaction."""
    (worker,) = _locked(worker_id)
    return worker


@FixedQuery
def _locked(worker: int) -> QuerySet[Worker]:
    return Worker.objects.select_for_update(no_key=True).filter(pk=worker)


def exclude(worker: Worker, *, reason: str, by: str) -> Exclusion:
    """Exclude a worker from all our rounds, here and on the platforms that know them. They may finish a HIT that they
    hold.

    Raises CounterpartError without a reason, and for a worker who is excluded already.
    """
    reason = check_words(reason, what="reason", at_most=2_000)
    with transaction.atomic():
        locked(worker.pk)  # two at once would both find none
        standing = Exclusion.objects.filter(worker=worker, lifted_at=None)
        if standing.exists():
            raise CounterpartError(
                f"Worker {worker} is excluded already. Lift the exclusion first to give another reason."
            )
        exclusion = Exclusion.objects.create(worker=worker, reason=reason, by=by)
        record("excluded from further work", worker, actor=by, reason=reason)
        want_call(exclusion)
    return exclusion


def readmit(worker: Worker, *, by: str) -> Exclusion:
    """Lift a worker's exclusion. Raises CounterpartError for a worker who is not excluded."""
    with transaction.atomic():
        exclusion = Exclusion.objects.select_for_update().filter(worker=worker, lifted_at=None).first()
        if exclusion is None:
            raise CounterpartError(f"Worker {worker} is not excluded.")
        exclusion.lifted_at = clock.now()
        exclusion.save(update_fields=["lifted_at"])
        record("readmitted", worker, actor=by)
        want_call(exclusion)
    return exclusion


def pause_worker(worker: Worker, *, round: Round, reason: str, by: str) -> Pause:
    """Give a worker no more HITs of one round until ``resume_worker``. They may finish a HIT that they hold.

    Raises CounterpartError without a reason, and for a worker who is paused there already.
    """
    reason = check_words(reason, what="reason", at_most=2_000)
    with transaction.atomic():
        locked(worker.pk)  # two at once would both find none
        if Pause.objects.filter(worker=worker, round=round, lifted_at=None).exists():
            raise CounterpartError(f"Worker {worker} is paused in round {round} already.")
        pause = Pause.objects.create(worker=worker, round=round, reason=reason, by=by)
        record("paused in a round", worker, actor=by, round=round.name, reason=reason)
    return pause


def resume_worker(worker: Worker, *, round: Round, by: str) -> None:
    """Give a paused worker HITs of the round again. Raises CounterpartError for a worker who is not paused there."""
    with transaction.atomic():
        standing = Pause.objects.filter(worker=worker, round=round, lifted_at=None)
        if not standing.update(lifted_at=clock.now()):
            raise CounterpartError(f"Worker {worker} is not paused in round {round}.")
        record("resumed in a round", worker, actor=by, round=round.name)


WORD = re.compile(r"[A-Za-z0-9]{4,64}")


def mask_workers(texts: Sequence[str]) -> list[str]:
    """Return the texts with every known platform id of a worker replaced by their pseudonym; one query for all."""
    words = {word for text in texts for word in WORD.findall(text)}
    known = WorkerIdentity.objects.filter(external_id__in=words) if words else WorkerIdentity.objects.none()
    names = {one.external_id: one.worker.pseudonym for one in known.select_related("worker")}
    return [WORD.sub(lambda found: names.get(found[0], found[0]), text) for text in texts]


def with_masked(rows: Iterable[Row], text: str) -> list[tuple[Row, str]]:
    """Return the rows, each with the text of its field masked as by ``mask_workers``."""
    found = list(rows)
    return list(zip(found, mask_workers([getattr(row, text) for row in found]), strict=True))
