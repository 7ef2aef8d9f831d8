"""What runs on the clock: every open round is brought together with its platform."""

import logging

from django.core.cache import cache

from annotation.syncing import rounds_to_sync, sync_round
from config.celery import app
from hits.models import Round
from hits.money.funds import note_funds

logger = logging.getLogger(__name__)

LONGEST_SYNC = 60 * 60  # seconds; one sync of a round at a time, unless it died


@app.task(name="annotation.tasks.sync_rounds")
def sync_rounds() -> None:
    """Send a sync for each round that needs one."""
    for round in rounds_to_sync():
        sync_one.delay(round.pk)


@app.task(name="annotation.tasks.sync_one")
def sync_one(round_id: int) -> None:
    """Sync one round, unless another task is at it."""
    if not cache.add(f"annotation.sync.{round_id}", True, timeout=LONGEST_SYNC):
        return
    try:
        round = Round.objects.get(pk=round_id)
        sync_round(round)
        note_funds(round)
    except Exception:
        logger.exception("round %s could not be synced", round_id)
    finally:
        cache.delete(f"annotation.sync.{round_id}")
