"""What ``annotation`` asks of platforms, answered from the rows of postings and visits."""

from datetime import datetime

from annotation.models import Assignment
from annotation.platforms import Means, Postings
from core import clock
from core.errors import CounterpartError
from crowd import channels
from crowd.channels import is_by_session, session_platform
from crowd.endings import MEANS, UNDECIDED
from crowd.models import Posting, Visit
from crowd.posting.halts import holds_there
from crowd.posting.seats import answer_sets_due, seats_without_posting


class PlatformPostings(Postings):
    answer_sets_due = staticmethod(answer_sets_due)
    seats_without_posting = staticmethod(seats_without_posting)
    holds = staticmethod(holds_there)

    def reversible_until(self, assignment: Assignment) -> datetime | None:
        visit = _visit_of(assignment)
        if visit is None or assignment.submitted_at is None:
            return None
        return assignment.submitted_at + channels.platform(visit.channel).reversible

    def check_rejection(self, assignment: Assignment, reason: str) -> None:
        visit = _visit_of(assignment)
        if visit is None:
            return
        if len(reason) < (least := shortest_reason(visit)):
            raise CounterpartError(
                f"The platform takes a rejection with a reason of at least {least} characters; this one has "
                f"{len(reason)}. Say in full what the worker did."
            )
        if visit.state == Visit.State.SETTLED:
            raise CounterpartError(
                f"{assignment} was settled by its platform; it cannot be rejected. Exclude its votes."
            )
        approved_by_now = visit.auto_approval_at is not None and visit.auto_approval_at <= clock.now()
        if visit.state == Visit.State.APPROVED or approved_by_now:
            raise CounterpartError(f"{assignment} was approved by its platform and is paid; it cannot be rejected.")

    def is_undecided(self, assignment: Assignment) -> bool:
        visit = _visit_of(assignment)
        return visit is None or visit.state in UNDECIDED

    def means_of_pay(self, assignment: Assignment) -> Means:
        visit = _visit_of(assignment)
        if visit is None:
            return Means.REWARD
        if visit.state == Visit.State.UNCONFIRMED and assignment.problem:
            raise CounterpartError(
                f"{assignment} cannot be paid, as the platform does not list it for this worker. Sync the round and "
                "decide again, or reject it."
            )
        if visit.state != Visit.State.REJECTED:
            return MEANS[Visit.State(visit.state)]
        until = self.reversible_until(assignment)
        is_reversible = until is not None and clock.now() < until and visit.posting.state != Posting.State.DISPOSED
        return Means.REWARD if is_reversible else Means.BONUS


def shortest_reason(visit: Visit) -> int:
    """Return how many characters the reason of a rejection must have."""
    return session_platform(visit.channel).shortest_reason if is_by_session(visit.channel) else 1


def _visit_of(assignment: Assignment) -> Visit | None:
    """Return the visit of an assignment as it is now; None in the browser pool."""
    if not assignment.is_outside:
        return None
    return Visit.objects.filter(assignment=assignment).select_related("posting").first()
