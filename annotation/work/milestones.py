"""How far open rounds have come, as other programs are told: by the tenth of their answer sets, and when the ceiling
leaves no money for the rest.

Read by the clock, not at each submission, of which two at once could miss a step together. A round keeps what was told
of it, so that nothing is told twice.
"""

from django.db import transaction
from django.db.models import Count, Q

from annotation.work.pair_status import is_affordable
from hits.models import Round, Seat
from integrations.notifications import notify


def tell_milestones() -> int:
    """Tell what open rounds have reached since the last time; return how many things."""
    opened = list(Round.objects.filter(published_at__isnull=False, closed_at=None))
    counts = Seat.objects.filter(round__in=opened).order_by().values_list("round").annotate(
        filled=Count("pk", filter=Q(state=Seat.State.FILLED)),
        open=Count("pk", filter=Q(state=Seat.State.OPEN)),
        seats=Count("pk"),
    )  # fmt: skip
    by_round = {round: (filled, is_open, seats) for round, filled, is_open, seats in counts}
    told = 0
    for round in opened:
        filled, is_open, seats = by_round.get(round.pk, (0, 0, 0))
        told += _tell_progress(round, filled, seats) + _tell_ceiling(round, is_open)
    return told


def _tell_progress(round: Round, filled: int, seats: int) -> bool:
    """Tell of a tenth that is reached, again where added HITs or decisions had taken the round back before it."""
    tenths = 10 * filled // seats if seats else 0
    with transaction.atomic():
        if not _note(round, told_tenths=tenths) or tenths < round.told_tenths:
            return False
        counts = {"percent": 10 * tenths, "filled": filled, "seats": seats}
        type = "round.filled" if tenths == 10 else "round.progress"
        notify(type, f"/rounds/{round.name}", id=round.name, **counts)
    return True


def _tell_ceiling(round: Round, is_open: int) -> bool:
    is_reached = bool(is_open) and not is_affordable(round)
    with transaction.atomic():
        if not _note(round, told_ceiling=is_reached) or not is_reached:
            return False
        notify("ceiling.reached", f"/rounds/{round.name}", id=round.name, open_seats=is_open)
    return True


def _note(round: Round, **told: int) -> bool:
    """Keep what is told of an open round; False if it was told already, or somebody else is telling it."""
    before = {name: getattr(round, name) for name in told}
    if before == told:
        return False
    return bool(Round.objects.filter(pk=round.pk, closed_at=None, **before).update(**told))
