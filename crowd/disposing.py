"""Remove finished HITs from their platform, once nobody can appeal and nothing can be reversed there any more."""

from datetime import timedelta

from django.db.models import Exists, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from core.events import subject_of
from crowd.models import Outbox, Posting, undecided_work, work_on_posting
from crowd.outbox import put

REVERSIBLE = timedelta(days=30)
"""So long after its submission a rejection can be reversed on MTurk, unless its HIT was removed."""


def dispose_of_finished() -> int:
    """Have every closed posting removed whose work is all decided and too old to be reversed. Returns how many."""
    closed = Posting.objects.filter(state=Posting.State.CLOSED, settled_at__isnull=False).exclude(external_id="")
    submitted = work_on_posting().filter(submitted_at__isnull=False).order_by("-submitted_at").values("submitted_at")
    finished = closed.filter(~Exists(undecided_work())).annotate(last=Coalesce(Subquery(submitted[:1]), "settled_at"))
    old = finished.filter(last__lt=timezone.now() - REVERSIBLE).select_related("hit__round")
    asked = set(Outbox.objects.filter(call=Outbox.Call.DISPOSE).values_list("subject", flat=True))
    due = [posting for posting in old if subject_of(posting) not in asked]
    for posting in due:
        where = {"channel": posting.channel, "environment": posting.environment}
        put(Outbox.Call.DISPOSE, posting, round=posting.hit.round, **where)
    return len(due)
