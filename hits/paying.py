"""What work earned: one payment an assignment, owed within the round's ceiling and withdrawn only by a person."""

from django.db import transaction

from hits.budget import check_may_owe
from hits.models import Assignment, Outbox, Payment, Round
from hits.money import cents
from hits.outbox import may_be_under_way, put
from journal.errors import CounterpartError
from journal.events import record, subject_of

EARNED = (Assignment.State.ACCEPTED, Assignment.State.EXCLUDED)


def owe(assignment: Assignment) -> Payment:
    """Owe the assignment its round's reward, and have the channel pay it. Repeating it changes nothing.

    Raises CeilingError past the round's ceiling, CounterpartError for an assignment that was not decided.
    """
    with transaction.atomic():
        round = _round_of(assignment)
        payment = Payment.objects.filter(assignment=assignment).first() or Payment(assignment=assignment, round=round)
        if payment.pk and payment.state != Payment.State.WITHDRAWN:
            return payment
        check_may_owe(round)
        payment.amount, payment.state = cents(round.reward), Payment.State.OWED
        payment.save()
        record("owed", payment, actor="ledger", amount=str(payment.amount))
        put(Outbox.Call.PAY, payment, round=round, amount=str(payment.amount))
    return payment


def withdraw(assignment: Assignment, *, actor: str) -> bool:
    """Take back what is owed and not yet paid. False: nothing is owed.

    Raises CounterpartError if it was paid, or may be on its way.
    """
    with transaction.atomic():
        payment = Payment.objects.filter(assignment=assignment).exclude(state=Payment.State.WITHDRAWN).first()
        if payment is None:
            return False
        call = Outbox.objects.select_for_update().get(call=Outbox.Call.PAY, subject=subject_of(payment))
        if may_be_under_way(call):
            raise CounterpartError(f"The ${payment.amount} for {assignment} are on their way; try again in a minute.")
        owed = Payment.objects.filter(pk=payment.pk, state=Payment.State.OWED)
        if not owed.update(state=Payment.State.WITHDRAWN):
            raise CounterpartError(
                f"The ${payment.amount} for {assignment} were paid already; decide again and leave the work paid."
            )
        record("withdrawn", payment, actor=actor, amount=str(payment.amount))
    return True


def _round_of(assignment: Assignment) -> Round:
    """Read the round and hold it until the transaction ends, so that payments are held against a settled sum."""
    earned = Round.objects.filter(hits__assignments=assignment.pk, hits__assignments__state__in=EARNED)
    round = earned.select_for_update(no_key=True, of=("self",)).first()
    if round is None:
        raise CounterpartError(f"{assignment} was neither accepted nor excluded; decide it before it is paid.")
    return round
