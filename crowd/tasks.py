"""Tasks of the queue and the scheduler: sync rounds, make calls, and repair what crashes left behind."""

import logging
from pathlib import Path

from celery import shared_task
from django.conf import settings
from django.core.cache import cache

from annotation.work.repair import repair, run_each
from core.files.stored_files import PART, remove_stale
from core.files.upload_files import remove_unused_uploads
from core.work.jobs import resend_stale_jobs
from crowd.calls import outbox
from crowd.calls.funds import note_funds
from crowd.posting.postings import dispose_of_finished, post_open_seats
from crowd.sync import purge_hints, rounds_to_sync, sync_round
from crowd.visits.arrivals import purge_strangers
from crowd.visits.claims import purge_claims
from hits.models import Round
from integrations.deliveries import purge_notifications, send_due
from integrations.models import KeptAnswer

logger = logging.getLogger(__name__)

SYNC_LIFE = 5 * 60  # seconds without progress; after them a sync has died, and another one of the same round may start
LISTED_AT_ONCE = 100  # postings, some of them with several calls: a sync has to end before the next one begins


@shared_task(name="crowd.tasks.sync_rounds")
def sync_rounds() -> None:
    """Send a sync for each round that needs one."""
    for round in rounds_to_sync():
        sync_one.delay(round.pk)


@shared_task(name="crowd.tasks.sync_one")
def sync_one(round_id: int) -> None:
    """Sync one round, unless another task is syncing it. Two at once would do no harm but work twice."""
    key = f"annotation.sync.{round_id}"
    if not cache.add(key, True, timeout=SYNC_LIFE):
        return

    def go_on(step: str, done: int, total: int | None) -> None:
        cache.touch(key, SYNC_LIFE)

    try:
        round = Round.objects.get(pk=round_id)
        sync_round(round, at_most=LISTED_AT_ONCE, progress=go_on)
        note_funds(round)
    except Exception:
        logger.exception("round %s could not be synced", round_id)
    finally:
        cache.delete(key)


@shared_task(name="crowd.tasks.reconcile")
def reconcile() -> dict[str, int]:
    """Repair everything once; return the number of repaired rows of each kind. Errors are logged; the rest goes on."""
    others = {
        "stale jobs": resend_stale_jobs,
        "finished HITs": dispose_of_finished,
        "late calls": outbox.deliver_due,
        "claims never confirmed": purge_claims,
        "visitors without an answer": purge_strangers,
        "old hints": purge_hints,
        "old answers of the API": KeptAnswer.purge,
        "uploads that no job used": remove_unused_uploads,
        "late deliveries": send_due,
        "old notifications": purge_notifications,
        "unfinished files": lambda: remove_stale(Path(settings.FILE_CACHE), f"{PART}*"),
    }
    return repair() | run_each(others)


@shared_task(name="crowd.tasks.post_seats")
def post_seats(round_id: int) -> None:
    """Post a round's open seats."""
    post_open_seats(Round.objects.get(pk=round_id))


@shared_task(name="crowd.tasks.deliver_calls")
def deliver_calls(round_id: int) -> None:
    """Make every call of a round that is due."""
    outbox.deliver_due(Round.objects.get(pk=round_id))
