"""Remove finished HITs from their platform, once nobody can appeal and nothing can be reversed there any more."""

from datetime import timedelta

from django.db.models import Exists, Max, OuterRef
from django.db.models.functions import Coalesce
from django.utils import timezone

from core.events import subject_of
from crowd.models import Outbox, PlatformAssignment, Posting
from crowd.outbox import put

REVERSIBLE = timedelta(days=30)
"""So long after its submission a rejection can be reversed on MTurk, unless its HIT was removed."""


def dispose_of_finished() -> int:
    """Have every closed posting removed whose work is all decided and too old to be reversed. Returns how many."""
    undecided = PlatformAssignment.objects.filter(posting=OuterRef("pk"), status=PlatformAssignment.Status.SUBMITTED)
    finished = Posting.objects.filter(~Exists(undecided), state=Posting.State.CLOSED, settled_at__isnull=False).exclude(
        external_id=""
    )
    last = finished.annotate(last=Coalesce(Max("assignments__submitted_at"), "settled_at"))
    old = last.filter(last__lt=timezone.now() - REVERSIBLE).select_related("hit__round")
    asked = set(Outbox.objects.filter(call=Outbox.Call.DISPOSE).values_list("subject", flat=True))
    due = [posting for posting in old if subject_of(posting) not in asked]
    for posting in due:
        where = {"channel": posting.channel, "environment": posting.environment}
        put(Outbox.Call.DISPOSE, posting, round=posting.hit.round, **where)
    return len(due)
