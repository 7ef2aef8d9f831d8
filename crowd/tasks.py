"""What runs on the clock: every open round is brought together with its platform."""

import logging

from django.core.cache import cache

from config.celery import app
from crowd import outbox, reconciliation
from crowd.funds import note_funds
from crowd.posting import post_open_seats
from crowd.syncing import rounds_to_sync, sync_round
from hits.models import Round

logger = logging.getLogger(__name__)

LONGEST_SYNC = 60 * 60  # seconds; one sync of a round at a time, unless it died


@app.task(name="crowd.tasks.sync_rounds")
def sync_rounds() -> None:
    """Send a sync for each round that needs one."""
    for round in rounds_to_sync():
        sync_one.delay(round.pk)


@app.task(name="crowd.tasks.sync_one")
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


@app.task(name="crowd.tasks.reconcile")
def reconcile() -> None:
    """Repair what crashes left behind."""
    reconciliation.reconcile()


@app.task(name="crowd.tasks.make_wanted_calls")
def make_wanted_calls() -> None:
    """Make the calls that payments, rejections and exclusions want."""
    outbox.make_wanted_calls()


@app.task(name="crowd.tasks.post_seats")
def post_seats(round_id: int) -> None:
    """Have a round's open seats posted."""
    post_open_seats(Round.objects.get(pk=round_id))


@app.task(name="crowd.tasks.deliver_call")
def deliver_call(row_id: str) -> None:
    """Make one call of the outbox."""
    outbox.deliver(row_id)


@app.task(name="crowd.tasks.deliver_calls")
def deliver_calls(round_id: int) -> None:
    """Make every call of a round that is due."""
    outbox.deliver_due(Round.objects.get(pk=round_id))
