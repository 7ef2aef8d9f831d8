"""What work earned: one payment an assignment, owed within the round's ceiling and withdrawn only by a person."""

from django.db import transaction

from annotation.budget import check_owed, locked
from annotation.models import Assignment, Payment
from core.errors import CounterpartError
from core.events import record, subject_of
from crowd.models import Outbox
from crowd.outbox import may_be_under_way, put
from crowd.settling import mark_paid
from hits.models import Round
from hits.prices import cents

EARNED = (Assignment.State.ACCEPTED, Assignment.State.EXCLUDED)


def owe(assignment: Assignment) -> Payment:
    """Owe the assignment its round's reward, and have the channel pay it. Repeating it changes nothing.

    Raises CeilingError past the round's ceiling, CounterpartError for an assignment that was not decided.
    """
    with transaction.atomic():
        payment, is_owed_now = _owe(assignment, _round_of(assignment))
        if is_owed_now:
            order_payment(payment)
    return payment


def note_paid_there(assignment: Assignment) -> Payment:
    """Note that the platform has paid the assignment's reward by itself, as it does where nobody decides in time.

    Whatever our own decision is or will be, that money has gone, and no ceiling holds it back. Repeating it changes
    nothing.
    """
    with transaction.atomic():
        payment, _ = _owe(assignment, locked(assignment.hit.round), has_gone=True)
        mark_paid(payment, actor="platform")
    return payment


def order_payment(payment: Payment) -> None:
    """Have the channel pay what is owed."""
    round = payment.round
    where = {"channel": round.channel, "environment": round.environment}
    put(Outbox.Call.PAY, payment, round=round, **where, amount=str(payment.amount))


def withdraw(assignment: Assignment, *, actor: str) -> bool:
    """Take back what is owed and not yet paid. False: nothing is owed.

    Raises CounterpartError if it was paid, or may be on its way.
    """
    with transaction.atomic():
        locked(assignment.hit.round)
        payment = _reward_of(assignment)
        if payment is None or payment.state == Payment.State.WITHDRAWN:
            return False
        call = Outbox.objects.select_for_update().filter(call=Outbox.Call.PAY, subject=subject_of(payment)).first()
        if call and may_be_under_way(call):
            raise CounterpartError(f"The ${payment.amount} for {assignment} are on their way; try again in a minute.")
        owed = Payment.objects.filter(pk=payment.pk, state=Payment.State.OWED)
        if not owed.update(state=Payment.State.WITHDRAWN):
            raise CounterpartError(
                f"The ${payment.amount} for {assignment} were paid already; decide again and leave the work paid."
            )
        record("withdrawn", payment, actor=actor, amount=str(payment.amount))
    return True


def _owe(assignment: Assignment, round: Round, *, has_gone: bool = False) -> tuple[Payment, bool]:
    """Return the assignment's reward, and whether it is owed only now."""
    payment = _reward_of(assignment) or Payment(assignment=assignment, round=round)
    if payment.pk and payment.state != Payment.State.WITHDRAWN:
        return payment, False
    payment.amount, payment.state = cents(round.reward), Payment.State.OWED
    payment.fee = round.seat_cost - payment.amount
    payment.save()
    if not has_gone:
        check_owed(round, payment.amount + payment.fee)
    record("owed", payment, actor="ledger", amount=str(payment.amount))
    return payment, True


def _reward_of(assignment: Assignment) -> Payment | None:
    return Payment.objects.filter(assignment=assignment, kind=Payment.Kind.REWARD).first()


def _round_of(assignment: Assignment) -> Round:
    """Read the round and hold it until the transaction ends, so that payments are held against a settled sum."""
    earned = Round.objects.filter(hits__assignments=assignment.pk, hits__assignments__state__in=EARNED)
    round = earned.select_for_update(no_key=True, of=("self",)).first()
    if round is None:
        raise CounterpartError(f"{assignment} was neither accepted nor excluded; decide it before it is paid.")
    return round
