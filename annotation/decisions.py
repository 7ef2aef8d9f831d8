"""What a person decided takes effect: the votes and their seat, the pay, the money planned, and the record of it."""

from collections.abc import Callable

from django.contrib.auth.models import User

from annotation.budget import locked
from annotation.leases import claim, move
from annotation.models import Assignment, Decision, Payment
from annotation.payments import owe, withdraw
from core.errors import CounterpartError
from core.events import record

State = Assignment.State

Pay = Callable[[Assignment], Payment]

DECIDABLE = (State.FLAGGED, State.ACCEPTED, State.EXCLUDED)


def for_ruling(assignment: Assignment) -> Assignment:
    """Read an assignment that a person may decide, and hold it and its round until the transaction ends.

    Raises CounterpartError for one that is not flagged, accepted or excluded.
    """
    locked(assignment.hit.round)
    current = Assignment.objects.select_for_update(of=("self",)).select_related("hit__round").get(pk=assignment.pk)
    if current.state not in DECIDABLE:
        raise CounterpartError(f"{current} cannot be decided; it has to be flagged, accepted or excluded.")
    return current


def rule(assignment: Assignment, *, votes_count: bool, paid: bool, reason: str, by: User, pay: Pay = owe) -> Decision:
    """Let a decision on an assignment from ``for_ruling`` take effect, in the same transaction. ``pay`` is how, where
    it is to be paid: by its reward, unless its platform does not give that any more.

    Raises CounterpartError for a seat that was given away, and for pay that cannot be given or taken back.
    """
    _settle_votes(assignment, votes_count=votes_count, actor=str(by))
    decision = Decision.objects.create(
        assignment=assignment, votes_count=votes_count, paid=paid, reason=reason.strip(), by=by
    )
    record("decided", assignment, actor=str(by), decision=decision.pk, votes_count=votes_count, paid=paid)
    if paid:
        pay(assignment)
    else:
        withdraw(assignment, actor=str(by))
    return decision


def _settle_votes(assignment: Assignment, *, votes_count: bool, actor: str) -> None:
    """Bring a flagged, accepted or excluded assignment, and its seat, to where the decision wants them."""
    wanted = State.ACCEPTED if votes_count else State.EXCLUDED
    state = State(assignment.state)
    if state == wanted:
        return
    if state == State.EXCLUDED and not claim(assignment.seat_id):
        raise CounterpartError(
            f"The seat of {assignment} was given to somebody else, so its votes cannot count again; keep them excluded."
        )
    move(assignment, come_from=state, to=wanted, actor=actor)
