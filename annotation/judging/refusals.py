"""Work that we refused to pay, as its worker sees it: why, and how they may object."""

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from annotation.appealing import appealable_until
from annotation.models import Appeal, Rejection, Worker


@dataclass(frozen=True)
class Refusal:
    """One refused HIT of the worker; ``appeal`` is their objection, if they made one, with its answer."""

    rejection: Rejection
    until: datetime
    appeal: Appeal | None

    @property
    def is_open(self) -> bool:
        """Whether the worker may still object."""
        return self.rejection.holds and self.appeal is None and timezone.now() <= self.until


def refusals_of(worker: Worker) -> list[Refusal]:
    """Return what we refused to pay the worker and what became of their objections, the latest first. What is only
    proposed concerns nobody yet."""
    theirs = Rejection.objects.filter(assignment__worker=worker).select_related("appeal", "assignment")
    return [
        Refusal(one, appealable_until(one), appeal)
        for one in theirs.order_by("-id")
        if (appeal := getattr(one, "appeal", None)) or one.holds
    ]
