"""Notifications of the progress of open rounds: each tenth of their answer sets, and when the ceiling leaves no money
for the rest.

Checked periodically, not at each submission: two submissions at once could miss a step together. A round stores what
was sent, so that nothing is sent twice.
"""

from django.db import transaction
from django.db.models import Count, Q

from annotation.work.pair_status import is_affordable
from hits.models import Round, Seat
from integrations.notifications import notify


def notify_milestones() -> int:
    """Notify of what open rounds have reached since the last time; return the number of notifications."""
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
