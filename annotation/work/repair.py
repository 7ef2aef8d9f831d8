"""What the task ``reconcile`` of ``crowd`` does periodically: repair what crashes and abandoned work leave behind, and
notify other programs of the progress of open rounds.

Progress is not checked at each submission: two submissions at once could miss a step together. A round stores what was
sent, so that nothing is sent twice.
"""

import logging
from collections.abc import Callable, Mapping

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q

from annotation.models import Assignment
from annotation.work.disputes import top_up_rounds
from annotation.work.grading import accept_unreviewed, grade_waiting
from annotation.work.leases import AT_ONCE, expire_leases, shorten_leases
from annotation.work.pair_status import is_affordable
from annotation.work.retirement import repair_controls
from core.events import record_each
from hits.models import Round, Seat
from integrations.notifications import notify

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
    counts = dict.fromkeys(repairs, 0)
    for name, one in repairs.items():
        try:
            counts[name] = one()
        except Exception:
            logger.exception("repairing %s failed", name)
    return counts


def free_orphaned_seats() -> int:
    """Open the seats that are taken or filled though no assignment holds them. Returns how many."""
    holders = Assignment.objects.filter(seat=OuterRef("pk"), state__in=Assignment.HOLDING)
    orphaned = Seat.objects.filter(~Exists(holders)).exclude(state=Seat.State.OPEN)
    with transaction.atomic():
        seats = list(orphaned.select_for_update(skip_locked=True, of=("self",))[:AT_ONCE])
        Seat.objects.filter(pk__in=[seat.pk for seat in seats]).update(state=Seat.State.OPEN)
        record_each("reopened", seats, actor="reconciler")
    return len(seats)


def notify_milestones() -> int:
    """Notify of what open rounds have reached since the last time: each tenth of their answer sets, and when the
    ceiling leaves no money for the rest. Return the number of notifications."""
    opened = list(Round.objects.filter(published_at__isnull=False, closed_at=None))
    counts = Seat.objects.filter(round__in=opened).order_by().values_list("round").annotate(
        filled=Count("pk", filter=Q(state=Seat.State.FILLED)),
        open=Count("pk", filter=Q(state=Seat.State.OPEN)),
        seats=Count("pk"),
    )  # fmt: skip
    by_round = {round: (filled, is_open, seats) for round, filled, is_open, seats in counts}
    sent = 0
    for round in opened:
        filled, is_open, seats = by_round.get(round.pk, (0, 0, 0))
        sent += _notify_progress(round, filled, seats) + _notify_ceiling(round, is_open)
    return sent


def _notify_progress(round: Round, filled: int, seats: int) -> bool:
    """Notify of a tenth that is reached; again where added HITs or decisions had taken the round back before it."""
    tenths = 10 * filled // seats if seats else 0
    with transaction.atomic():
        if not _note(round, told_tenths=tenths) or tenths < round.told_tenths:
            return False
        counts = {"percent": 10 * tenths, "filled": filled, "seats": seats}
        kind = "round.filled" if tenths == 10 else "round.progress"
        notify(kind, f"/rounds/{round.name}", id=round.name, **counts)
    return True


def _notify_ceiling(round: Round, is_open: int) -> bool:
    is_reached = bool(is_open) and not is_affordable(round)
    with transaction.atomic():
        if not _note(round, told_ceiling=is_reached) or not is_reached:
            return False
        notify("ceiling.reached", f"/rounds/{round.name}", id=round.name, open_seats=is_open)
    return True


def _note(round: Round, **sent: int) -> bool:
    """Store what is sent of an open round; False if it was sent already, or another process is sending it."""
    before = {name: getattr(round, name) for name in sent}
    if before == sent:
        return False
    return bool(Round.objects.filter(pk=round.pk, closed_at=None, **before).update(**sent))
