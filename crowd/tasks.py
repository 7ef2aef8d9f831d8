"""Tasks of the queue and the scheduler: sync rounds, make calls, and repair what crashes left behind."""

import logging

from django.core.cache import cache

from annotation.repair import repair, run_each
from config.celery import app
from crowd import outbox
from crowd.funds import note_funds
from crowd.postings import dispose_of_finished, post_open_seats
from crowd.sync import rounds_to_sync, sync_round
from hits.models import Round

logger = logging.getLogger(__name__)

LONGEST_SYNC = 60 * 60  # seconds; after it a sync has died, and another one of the same round may start


@app.task(name="crowd.tasks.sync_rounds")
def sync_rounds() -> None:
    """Send a sync for each round that needs one."""
    for round in rounds_to_sync():
        sync_one.delay(round.pk)


@app.task(name="crowd.tasks.sync_one")
def sync_one(round_id: int) -> None:
    """Sync one round, unless another task is syncing it."""
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
def reconcile() -> dict[str, int]:
    """Repair everything once; return the number of repaired rows of each kind. Errors are logged; the rest goes on."""
    return repair() | run_each({"finished HITs": dispose_of_finished, "late calls": outbox.deliver_due})


@app.task(name="crowd.tasks.make_wanted_calls")
def make_wanted_calls() -> None:
    """Make the calls that payments, rejections and exclusions want."""
    outbox.make_wanted_calls()


@app.task(name="crowd.tasks.post_seats")
def post_seats(round_id: int) -> None:
    """Post a round's open seats."""
    post_open_seats(Round.objects.get(pk=round_id))


@app.task(name="crowd.tasks.deliver_call")
def deliver_call(row_id: str) -> None:
    """Make one call of the outbox."""
    outbox.deliver(row_id)


@app.task(name="crowd.tasks.deliver_calls")
def deliver_calls(round_id: int) -> None:
    """Make every call of a round that is due."""
    outbox.deliver_due(Round.objects.get(pk=round_id))
