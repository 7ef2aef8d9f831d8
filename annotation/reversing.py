"""Take a rejection back: the reward after all, or as much as a bonus where the platform does not give that any more."""

from datetime import datetime, timedelta
from functools import partial

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.decisions import for_ruling, rule
from annotation.models import Assignment, Decision, Payment, PlatformState, Rejection
from annotation.payments import owe, owe_bonus
from core.errors import CounterpartError
from core.events import record
from crowd.models import Posting
from hits.prices import cents

WINDOW = timedelta(days=30)  # after submission; platforms reverse no rejection later
COMPENSATION = "This work should not have been refused. We pay it as a bonus, as its reward cannot be given any more."


def reverse(rejection: Rejection, *, reason: str, by: User, votes_count: bool = False) -> Decision:
    """End a rejection that holds, and pay the work.

    Raises CounterpartError without a reason, for a rejection that does not hold, and while the platform is being told
    of it; CeilingError past the round's ceiling. Nothing is changed then.
    """
    if not reason.strip():
        raise CounterpartError(f"The {rejection} cannot be reversed without a reason; say why in a sentence.")
    with transaction.atomic():
        current = for_ruling(rejection.assignment)
        _drop(rejection)
        record("rejection reversed", current, actor=str(by), rejection=rejection.pk)
        pay = owe if gives_reward(rejection) else partial(_compensate, actor=str(by))
        return rule(current, votes_count=votes_count, paid=True, reason=reason, by=by, pay=pay)


def reversible_until(rejection: Rejection) -> datetime | None:
    """Return until when the platform itself reverses the rejection; None where there is no such end."""
    work = rejection.assignment
    return work.submitted_at + WINDOW if work.external_id and work.submitted_at else None


def gives_reward(rejection: Rejection) -> bool:
    """Whether the work can still be paid its reward. False: its platform has rejected it for good."""
    work, until = rejection.assignment, reversible_until(rejection)
    if work.platform_state != PlatformState.REJECTED:
        return True
    postings = work.hit.postings.filter(external_id=work.external_posting)
    is_there = postings.exclude(state=Posting.State.DISPOSED).exists()
    return is_there and until is not None and timezone.now() < until


def compensation_of(assignment: Assignment) -> Payment | None:
    """Return the bonus that was given in place of the reward, where there was one."""
    return Payment.objects.filter(assignment=assignment, kind=Payment.Kind.BONUS, reason=COMPENSATION).first()


def pay_once(assignment: Assignment) -> Payment:
    """Owe the reward, unless as much was given as a bonus already. Raises what ``owe`` raises."""
    return compensation_of(assignment) or owe(assignment)


def _compensate(assignment: Assignment, *, actor: str) -> Payment:
    return owe_bonus(assignment, amount=cents(assignment.hit.round.reward), reason=COMPENSATION, actor=actor)


def _drop(rejection: Rejection) -> None:
    rejection.refresh_from_db()
    if not rejection.holds:
        raise CounterpartError(f"The {rejection} does not hold; reload the page.")
    told = Rejection.objects.filter(pk=rejection.pk, dropped_at=None).exclude(call=Rejection.Call.UNDER_WAY)
    if not told.update(dropped_at=timezone.now(), call=Rejection.Call.NONE):
        raise CounterpartError(f"The platform is just being told of the {rejection}; try again in a minute.")
