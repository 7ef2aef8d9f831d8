"""Pay on top of rewards, within what the round's ceiling leaves. A reason is given once an assignment; it is read."""

from decimal import Decimal

from django.db import transaction

from annotation.budget import check_may_give, locked
from annotation.models import Assignment, Payment, Worker
from annotation.paying import order_payment
from annotation.wording import check_words
from core.errors import CounterpartError
from core.events import record
from hits.prices import cents

LONGEST_REASON = 200


def owe_bonus(assignment: Assignment, *, amount: Decimal, reason: str, actor: str) -> Payment:
    """Owe the assignment's worker a bonus and have the channel pay it. The same reason again changes nothing.

    Raises CeilingError past the round's ceiling, CounterpartError for an amount below a cent, an assignment that no
    platform knows of as submitted or whose worker it cannot reach, and a reason that its worker could not read.
    """
    reason = check_words(reason, what="reason of a bonus", at_most=LONGEST_REASON)
    if amount != cents(amount) or amount <= 0:
        raise CounterpartError(f"A bonus of ${amount} cannot be paid; give whole cents above nothing.")
    with transaction.atomic():
        round = locked(assignment.hit.round)
        if assignment.submitted_at is None and round.settles:
            raise CounterpartError(f"{assignment} was not submitted, so {round.channel} would pay no bonus for it.")
        given = Payment.objects.filter(assignment=assignment, kind=Payment.Kind.BONUS, reason=reason).first()
        if given:
            return given
        gone = Worker.objects.filter(pk=assignment.worker_id, forgotten_at__isnull=False)
        if round.settles and gone.exists():
            raise CounterpartError(f"The worker of {assignment} was forgotten, so no bonus can reach them any more.")
        fee = round.fee_schedule.bonus_fee(amount)
        check_may_give(round, amount + fee)
        payment = Payment.objects.create(
            assignment=assignment, round=round, kind=Payment.Kind.BONUS, reason=reason, amount=amount, fee=fee
        )
        record("owed", payment, actor=actor, amount=str(amount), kind="bonus")
        order_payment(payment)
    return payment
