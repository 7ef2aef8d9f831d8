"""Which pairs a worker has had before their eyes, so that nobody is asked twice about one."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.ledger import EARNED
from annotation.models import Assignment, Payment, TestItem, Worker
from crowd.models import PlatformAssignment
from hits.models import HIT, Item

Pairs = set[tuple[int, int]]
"""Keys of an image and a caption."""


def pairs_seen(worker: Worker, *, again: HIT | None = None) -> Pairs:
    """Return the pairs of every HIT that the worker holds or has answered, whatever its round, and of their tests.

    On a platform a HIT counts from the moment when its answers are saved with us; but whoever then gave it back there
    may take it ``again``, as long as the platform has not got them.
    """
    outside = PlatformAssignment.objects.filter(worker=worker).exclude(status="", saved_at=None)
    answered_outside = outside.exclude(status="", posting__hit=again)
    # A union, as one condition with an "or" in it would read every item there is.
    seen = Item.objects.filter(hit__in=hits_of(worker).values("hit")).values_list("image", "caption")
    return set(
        seen.order_by().union(
            Item.objects.filter(hit__in=answered_outside.values("posting__hit"))
            .order_by()
            .values_list("image", "caption"),
            TestItem.objects.filter(test__tries__worker=worker).order_by().values_list("image", "caption"),
        )
    )


def hits_of(worker: Worker) -> QuerySet[Assignment]:
    """Return the worker's assignments but for those that they gave back or let run out, unpaid."""
    is_paid = Exists(Payment.objects.filter(assignment=OuterRef("pk"), state__in=EARNED))  # as work that we lost is
    return Assignment.objects.filter(~Q(state__in=Assignment.ABANDONED) | is_paid, worker=worker)
