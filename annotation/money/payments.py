"""Payments: what work earned. One reward an assignment, and bonuses; owed within the round's ceiling, paid once."""

from decimal import Decimal
from typing import Annotated

from django import forms
from django.db import transaction
from django.db.models import QuerySet

from annotation.models import Assignment, Payment, Worker
from annotation.money.budget import check_may_give, check_owed, locked
from annotation.platforms import want_call
from core import clock
from core.database.fixed_queries import FixedQuery
from core.errors import CounterpartError
from core.events import record
from core.parameters import OFF_PAGE, POSITIONAL, Option, Parameters
from core.text import check_words
from hits.models import Round
from hits.prices import cents

DECIDED = (Assignment.State.ACCEPTED, Assignment.State.EXCLUDED)
LONGEST_REASON = 200
COMPENSATION = "This work was rejected by mistake. It is paid as a bonus, as its reward cannot be paid any more."
PAID_AS_BONUS = "This work is paid as a bonus, as the platform pays no reward for a session that it lists as ended."
IN_ITS_PLACE = (COMPENSATION, PAID_AS_BONUS)
"""The reasons of bonuses that are given in place of a reward."""


class BonusParameters(Parameters):
    """What a worker is paid on top of the reward, and why."""

    assignment: Annotated[
        int, "the assignment's number, as its page shows it", POSITIONAL, OFF_PAGE, Option(metavar="ASSIGNMENT")
    ]
    amount: Annotated[
        Decimal,
        forms.DecimalField(min_value=0, max_digits=8, decimal_places=2, help_text="US dollars; fees come on top"),
        Option(metavar="DOLLARS"),
    ]
    reason: Annotated[
        str, forms.CharField(max_length=LONGEST_REASON, help_text="what the worker reads, up to 200 characters")
    ]
    by: Annotated[str, "the member of staff who gives it", OFF_PAGE, Option(metavar="USER")]


def owe(assignment: Assignment) -> Payment:
    """Owe the assignment its round's reward, and have a channel that settles payments pay it. Repeating it changes
    nothing.

    Raises CeilingError past the round's ceiling, CounterpartError for an assignment that was not decided.
    """
    decided = Round.objects.filter(hits__assignments=assignment.pk, hits__assignments__state__in=DECIDED)
    with transaction.atomic():
        # Not its key: rows that only point to the round, such as its seats, are written meanwhile.
        round = decided.select_for_update(no_key=True, of=("self",)).first()
        if round is None:
            raise CounterpartError(f"{assignment} was neither accepted nor excluded; decide it before it is paid.")
        return owe_in(round, assignment)


def owe_in(round: Round, assignment: Assignment) -> Payment:
    """Do what ``owe`` does for work that the running transaction has decided, or whose round it has locked."""
    payment, is_owed_now = _owe(assignment, round)
    if is_owed_now:
        order_payment(payment)
    return payment


def owe_bonus(assignment: Assignment, *, amount: Decimal, reason: str, actor: str) -> Payment:
    """Owe the assignment's worker a bonus on top of the reward. The same reason again changes nothing; the worker
    reads it.

    Raises CeilingError if it takes more than is free below the ceiling, CounterpartError for an amount below a cent, a
    reason that is missing or too long, and work or workers that a channel cannot pay a bonus for.
    """
    reason = check_words(reason, what="reason of a bonus", at_most=LONGEST_REASON)
    if amount != cents(amount) or amount <= 0:
        raise CounterpartError(f"Invalid bonus ${amount}: use a positive amount in whole cents.")
    with transaction.atomic():
        round = locked(assignment.hit.round)
        # The reason is the key: a form that is sent twice gives one bonus, whatever the amount says.
        if given := Payment.objects.filter(assignment=assignment, kind=Payment.Kind.BONUS, reason=reason).first():
            return given
        if round.settles:
            _check_reachable(assignment, round)
        fee = round.fee_schedule.bonus_fee(amount)
        check_may_give(round, amount + fee)
        payment = Payment.objects.create(
            assignment=assignment, round=round, kind=Payment.Kind.BONUS, reason=reason, amount=amount, fee=fee
        )
        record("owed", payment, actor=actor, amount=str(amount), kind="bonus")
        order_payment(payment)
    return payment


def withdraw(assignment: Assignment, *, actor: str) -> bool:
    """Take back the reward that is owed and not yet paid. False: nothing is owed.

    Raises CounterpartError if it was paid, or may be on its way.
    """
    with transaction.atomic():
        locked(assignment.hit.round)
        payment = _reward_of.first(assignment.pk)
        if payment is None or payment.state == Payment.State.WITHDRAWN:
            return False
        owed = Payment.objects.filter(pk=payment.pk, state=Payment.State.OWED)
        # Under way: the platform may be paying it at this moment, and what it has paid it does not give back.
        if owed.exclude(call=Payment.Call.UNDER_WAY).update(state=Payment.State.WITHDRAWN, call=Payment.Call.NONE):
            record("withdrawn", payment, actor=actor, amount=str(payment.amount))
            return True
        if owed.exists():
            raise CounterpartError(
                f"The payment of ${payment.amount} for {assignment} is being made; try again in a minute."
            )
        raise CounterpartError(
            f"The ${payment.amount} for {assignment} are paid already; decide again and leave the work paid."
        )


def compensation_of(assignment: Assignment) -> Payment | None:
    """Return the bonus that was given in place of the reward, where there was one."""
    return _compensations(assignment).first()


def withdraw_compensation(assignment: Assignment) -> None:
    """Take back a bonus that is still owed in place of a reward which the platform has paid after all."""
    for bonus in _compensations(assignment):
        # One under way stays owed: the platform may be paying it at this moment.
        owed = Payment.objects.filter(pk=bonus.pk, state=Payment.State.OWED).exclude(call=Payment.Call.UNDER_WAY)
        if owed.update(state=Payment.State.WITHDRAWN, call=Payment.Call.NONE):
            record("withdrawn", bonus, actor="platform", amount=str(bonus.amount))


def mark_paid(payment: Payment, *, actor: str) -> bool:
    """Mark an owed payment as paid, by the channel or by hand. False: it is paid or withdrawn."""
    return _move(payment, Payment.State.OWED, Payment.State.PAID, verb="paid", actor=actor)


def mark_unpaid(payment: Payment, *, actor: str) -> bool:
    """Mark a payment as owed that was marked as paid by mistake. False: it is not marked as paid."""
    return _move(payment, Payment.State.PAID, Payment.State.OWED, verb="not paid after all", actor=actor)


def mark_reward_paid(assignment: Assignment) -> Payment:
    """Record that the channel has paid the assignment's reward by itself, as some do if no person decides in time.

    The money has gone, whatever was decided here and whatever the ceiling is. Repeating it changes nothing.
    """
    with transaction.atomic():
        # A reward that was withdrawn here, or never owed, is owed again first: paid follows only on owed.
        payment, _ = _owe(assignment, locked(assignment.hit.round), has_gone=True)
        mark_paid(payment, actor="platform")
    return payment


def order_payment(payment: Payment) -> None:
    """Have the round's channel pay what is owed, if it settles payments."""
    if payment.round.settles:
        want_call(payment)


def _owe(assignment: Assignment, round: Round, *, has_gone: bool = False) -> tuple[Payment, bool]:
    """Return the assignment's reward, and whether it is owed only now."""
    payment = _reward_of.first(assignment.pk) or Payment(assignment=assignment, round=round)
    if payment.pk and payment.state != Payment.State.WITHDRAWN:
        return payment, False
    payment.amount = cents(round.reward)
    payment.state = Payment.State.OWED
    # The fee that the seat was planned with, so that what is owed is to the cent what was held for it.
    payment.fee = round.seat_cost - payment.amount
    # Written before it is checked: the check counts it among all that is owed, and an error undoes it.
    payment.save()
    if not has_gone:
        check_owed(round, payment.amount + payment.fee)
    record("owed", payment, actor="ledger", amount=str(payment.amount))
    return payment, True


def _move(payment: Payment, come_from: str, to: str, *, verb: str, actor: str) -> bool:
    paid_at = clock.now() if to == Payment.State.PAID else None
    # No savepoint: an error here undoes all that the caller's transaction has done.
    with transaction.atomic(savepoint=False):
        # By condition, so that of two processes that record the same payment one does.
        if not Payment.objects.filter(pk=payment.pk, state=come_from).update(state=to, paid_at=paid_at):
            return False
        record(verb, payment, actor=actor, amount=str(payment.amount))
    payment.state = to
    payment.paid_at = paid_at
    return True


def _check_reachable(assignment: Assignment, round: Round) -> None:
    if assignment.submitted_at is None:
        raise CounterpartError(f"{assignment} was not submitted, so {round.channel} pays no bonus for it.")
    if Worker.objects.filter(pk=assignment.worker_id, forgotten_at__isnull=False).exists():
        raise CounterpartError(f"The worker of {assignment} was forgotten, so no bonus can be sent to them.")


@FixedQuery
def _reward_of(assignment: int) -> QuerySet[Payment]:
    return Payment.objects.filter(assignment=assignment, kind=Payment.Kind.REWARD)


def _compensations(assignment: Assignment) -> QuerySet[Payment]:
    return Payment.objects.filter(assignment=assignment, kind=Payment.Kind.BONUS, reason__in=IN_ITS_PLACE)
