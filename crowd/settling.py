"""What a call that was done changes here: a payment is paid, a posting is live, grown, closed or gone. Each once."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.budget import locked
from annotation.models import Assignment, Payment, PlatformState
from annotation.payments import mark_paid
from core.events import record
from crowd.models import Posting

State = Posting.State


def mark_posted(posting: Posting) -> None:
    """Note the platform's ids and times, which the channel has set on ``posting``, and what it holds for it."""
    names = ("external_id", "type_id", "excludes", "status", "posted_at", "expires_at")
    fields = {name: getattr(posting, name) for name in names} | {"posted_assignments": posting.max_assignments}
    locked(posting.hit.round)
    _move(posting, (State.PLANNED,), State.LIVE, **fields)


def mark_extended(posting: Posting) -> None:
    """Note that the platform knows of ``max_assignments`` answer sets, and holds the money for those that are new."""
    locked(posting.hit.round)
    known, wanted = posting.posted_assignments, posting.max_assignments
    grown = Posting.objects.filter(pk=posting.pk, posted_assignments=known)
    if known < wanted and grown.update(posted_assignments=wanted):
        record("extended", posting, actor="outbox", max_assignments=wanted)


def mark_closed(posting: Posting) -> None:
    """Note that nobody can take the posting any more. What was accepted before may still come in."""
    _move(posting, (State.LIVE,), State.CLOSED)


def mark_called_off(posting: Posting) -> None:
    """Note that the posting will never be on the platform."""
    _move(posting, (State.PLANNED,), State.CLOSED, settled_at=timezone.now())


def mark_over(posting: Posting, *, unused: int) -> None:
    """Note that nothing more will come of the posting; the platform let go of the money for ``unused`` answer sets."""
    locked(posting.hit.round)
    if Posting.objects.filter(pk=posting.pk, settled_at=None).update(settled_at=timezone.now()):
        record("over", posting, actor="sync", unused=unused)


def mark_paid_there(payment: Payment) -> None:
    """Note that the platform has paid by our call; for a reward that is its word for approved work."""
    with transaction.atomic(savepoint=False):
        mark_paid(payment, actor="outbox")
        if payment.kind == Payment.Kind.REWARD:
            work = Assignment.objects.filter(pk=payment.assignment_id).exclude(platform_state=PlatformState.APPROVED)
            work.update(platform_state=PlatformState.APPROVED, decided_at=timezone.now())


def mark_rejected(assignment: Assignment) -> bool:
    """Note that the platform has refused to pay this work, by our call or by hand there, and lets go of its money.
    False: that was noted before."""
    with transaction.atomic(savepoint=False):
        locked(assignment.hit.round)
        others = Assignment.objects.filter(pk=assignment.pk).exclude(platform_state=PlatformState.REJECTED)
        now = assignment.decided_at or timezone.now()
        if not others.update(platform_state=PlatformState.REJECTED, decided_at=now):
            return False
        record("rejected", assignment, actor="platform")
    assignment.platform_state, assignment.decided_at = PlatformState.REJECTED, now
    return True


def mark_disposed(posting: Posting) -> None:
    """Note that the platform has forgotten the posting."""
    _move(posting, (State.CLOSED,), State.DISPOSED)


def _move(posting: Posting, come_from: tuple[str, ...], to: str, **fields: Any) -> bool:
    with transaction.atomic(savepoint=False):
        if not Posting.objects.filter(pk=posting.pk, state__in=come_from).update(state=to, **fields):
            return False
        record(to, posting, actor="outbox")
    posting.state = to
    return True
