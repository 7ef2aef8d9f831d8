"""Heal what crashes and walk-aways leave behind. Runs on a clock, and on the way where no clock runs."""

import logging
from collections.abc import Callable

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.dispatch import Signal

from annotation.leases import AT_ONCE, expire_leases
from annotation.models import Assignment
from core.events import record_each
from core.jobs import resend_stale_jobs
from crowd.disposing import dispose_of_finished
from crowd.outbox import deliver_due
from hits.models import Seat

logger = logging.getLogger(__name__)

# Apps to the right join in: a receiver heals its own rows and returns a dict of how many, by what they are.
healing = Signal()


def reconcile(*, call_platforms: bool = True) -> dict[str, int]:
    """Heal everything once; returns how many rows of each kind needed it. What fails is logged, the rest goes on.

    ``call_platforms``: false where somebody waits for a page, as platforms may take their time.
    """
    healers: dict[str, Callable[[], int]] = {
        "expired leases": expire_leases,
        "orphaned seats": free_orphaned_seats,
        "stale jobs": resend_stale_jobs,
        "finished HITs": dispose_of_finished,
    }
    if call_platforms:
        healers["late calls"] = deliver_due
    healed = {name: _safely(name, heal) for name, heal in healers.items()}
    for _, outcome in healing.send_robust(sender=reconcile):
        if isinstance(outcome, dict):
            healed.update(outcome)
    return healed


def heal_if_due() -> bool:
    """Reconcile unless that was done in the last RECONCILE_SECONDS, by any process that shares the cache, or the cache
    is not there to tell: a worker who waits for their HIT gets it all the same."""
    try:
        is_due = cache.add("hits.reconcile", True, timeout=settings.RECONCILE_SECONDS)
    except Exception:
        logger.exception("the cache could not be asked when rows were last healed")
        is_due = False
    if is_due:
        reconcile(call_platforms=False)
    return is_due


def free_orphaned_seats() -> int:
    """Open the seats that are taken or filled though no assignment holds them. Returns how many."""
    holders = Assignment.objects.filter(seat=OuterRef("pk"), state__in=Assignment.HOLDING)
    orphaned = Seat.objects.filter(~Exists(holders)).exclude(state=Seat.State.OPEN)
    with transaction.atomic():
        seats = list(orphaned.select_for_update(skip_locked=True, of=("self",))[:AT_ONCE])
        Seat.objects.filter(pk__in=[seat.pk for seat in seats]).update(state=Seat.State.OPEN)
        record_each("reopened", seats, actor="reconciler")
    return len(seats)


def _safely(name: str, heal: Callable[[], int]) -> int:
    try:
        return heal()
    except Exception:
        logger.exception("reconciling %s failed", name)
        return 0
