"""Repair of what crashes and abandoned work leave behind. The task ``reconcile`` of ``crowd`` runs it periodically."""

import logging
from collections.abc import Callable, Mapping

from django.db import transaction
from django.db.models import Exists, OuterRef

from annotation.models import Assignment
from annotation.work.disputes import top_up_rounds
from annotation.work.grading import accept_unreviewed, grade_waiting
from annotation.work.leases import AT_ONCE, expire_leases, shorten_leases
from annotation.work.milestones import notify_milestones
from annotation.work.retirement import repair_controls
from core.events import record_each
from hits.models import Seat

logger = logging.getLogger(__name__)


def repair() -> dict[str, int]:
    """Shorten leases of a wrong clock, expire leases, open seats without a holder, grade what waits, and again where
    controls were retired, accept what only signals flagged, add HITs for disputed pairs. Returns the counts."""
    return run_each(
        {
            "shortened leases": shorten_leases,
            "expired leases": expire_leases,
            "orphaned seats": free_orphaned_seats,
            "ungraded assignments": grade_waiting,
            "regraded assignments": repair_controls,
            "accepted unreviewed assignments": accept_unreviewed,
            "added HITs": top_up_rounds,
            "milestones of rounds": notify_milestones,
        }
    )


def run_each(repairs: Mapping[str, Callable[[], int]]) -> dict[str, int]:
    """Run each repair; one that fails is logged and counts 0, and the others run all the same."""
    return {name: _run(name, one) for name, one in repairs.items()}


def free_orphaned_seats() -> int:
    """Open the seats that are taken or filled though no assignment holds them. Returns how many."""
    holders = Assignment.objects.filter(seat=OuterRef("pk"), state__in=Assignment.HOLDING)
    orphaned = Seat.objects.filter(~Exists(holders)).exclude(state=Seat.State.OPEN)
    with transaction.atomic():
        seats = list(orphaned.select_for_update(skip_locked=True, of=("self",))[:AT_ONCE])
        Seat.objects.filter(pk__in=[seat.pk for seat in seats]).update(state=Seat.State.OPEN)
        record_each("reopened", seats, actor="reconciler")
    return len(seats)


def _run(name: str, one: Callable[[], int]) -> int:
    try:
        return one()
    except Exception:
        logger.exception("repairing %s failed", name)
        return 0
