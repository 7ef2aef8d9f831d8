"""Payments by a call that pays again each time it is made: such a call is made once, and its effect is read back."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import Payment
from annotation.money.payments import mark_paid
from core.errors import CounterpartError
from core.events import record, subject_of
from crowd import channels
from crowd.channels.base import ChannelError, OneShotBonuses
from crowd.models import Outbox
from hits.models import Round

AGAIN = timedelta(seconds=30)
WAIT = timedelta(seconds=20)


def pay_bonus(platform: OneShotBonuses, payment: Payment, row: Outbox) -> None:
    """Pay a bonus once, or find out whether an earlier attempt of the same row has paid it.

    Returns once the platform lists the bonus. Until then it raises ChannelError: a retry only reads the platform's
    list, and after MAX_ATTEMPTS the row fails as unclear, for a person (``settle``). The mark ``row.sent`` is committed
    before the call: after a crash without the mark nothing was paid, and with it nothing is sent again.
    """
    if row.sent is None:
        prepared = platform.prepare_bonus(payment)
        _mark_sent(row, payment, prepared)
        try:
            platform.send_bonus(payment, prepared)
        except ChannelError as error:
            if not error.reached:  # refused or never sent, so a retry may send it
                Outbox.objects.filter(pk=row.pk).update(sent=None)
                raise
            raise _unclear(f"{error} The platform's list will show whether it paid.") from error
    if not platform.is_bonus_paid(payment, row.sent or {}):
        raise _unclear("The platform does not list the bonus yet; it is not sent again.")


def unclear_payments() -> QuerySet[Outbox]:
    """Return the payments that were sent and whose effect is still unknown after all attempts."""
    return Outbox.objects.filter(call=Outbox.Call.PAY, state=Outbox.State.FAILED, sent__isnull=False)


def is_listed(row: Outbox) -> bool:
    """Whether the platform lists an unclear payment by now. Raises ChannelError if it cannot be asked."""
    platform = channels.platform(row.channel)
    payment = payment_of(row)
    return isinstance(platform, OneShotBonuses) and platform.is_bonus_paid(payment, row.sent or {})


def settle_listed(round: Round) -> None:
    """Mark the round's unclear payments as paid that the platform lists by now. The others wait for it or a person."""
    for row in unclear_payments().filter(round=round):
        with suppress(ChannelError, CounterpartError):  # the next sync reads it again, or a person was faster
            if is_listed(row):
                settle(row, was_paid=True, by="sync")


def payment_of(row: Outbox) -> Payment:
    """Return the payment that a call is about."""
    return Payment.objects.select_related("assignment").get(pk=row.subject.partition(":")[2])


def settle(row: Outbox, *, was_paid: bool, by: str) -> None:
    """Settle an unclear payment by what a person or the platform's list says: mark it as paid, or pay it again. Raises
    CounterpartError for a row that is not unclear."""
    unclear = unclear_payments().filter(pk=row.pk)
    with transaction.atomic():
        if was_paid:
            changed = unclear.update(state=Outbox.State.DONE, unclear=False, error="")
        else:
            # Without the mark of a sent call, the next attempt sends it.
            changed = unclear.update(sent=None, unclear=False, error="") and row.make_again(Outbox.State.FAILED)
        if not changed:
            raise CounterpartError(f"The {row} has been settled meanwhile: reload the page.")
        payment = payment_of(row)
        # One that is sent again stays marked, so that it is not withdrawn meanwhile.
        call = Payment.Call.NONE if was_paid else Payment.Call.UNDER_WAY
        Payment.objects.filter(pk=payment.pk).update(call=call)
        record("settled", row, actor=by, was_paid=was_paid)
        if was_paid:
            mark_paid(payment, actor=by)


@transaction.atomic
def _mark_sent(row: Outbox, payment: Payment, prepared: dict[str, Any]) -> None:
    """Record that the call is being made, and what the platform listed before it. Raises ChannelError (for a retry)
    while the account makes another payment, while another bonus for this work is unconfirmed, as the list could not
    distinguish the two, and if another process has taken over the row."""
    account = Outbox.objects.filter(channel=row.channel, environment=row.environment, call=Outbox.Call.PAY)
    # Locked in one order: a second process waits here, and then reads the mark of the first.
    open_calls = list(account.exclude(state=Outbox.State.DONE).select_for_update().order_by("pk"))
    others = Payment.objects.filter(assignment=payment.assignment_id).exclude(pk=payment.pk)
    of_this_work = {subject_of(other) for other in others}
    for other in open_calls:
        is_open = other.pk != row.pk and other.sent is not None
        if is_open and (other.state == Outbox.State.SENDING or other.subject in of_this_work):
            raise ChannelError("Another payment is not confirmed yet.", reached=False, retry_after=WAIT)
    unsent = Outbox.objects.filter(pk=row.pk, state=Outbox.State.SENDING, attempts=row.attempts, sent__isnull=True)
    if not unsent.update(sent=prepared):
        raise ChannelError("Another process makes this call.", reached=False, retry_after=WAIT)
    row.sent = prepared


def _unclear(message: str) -> ChannelError:
    return ChannelError(message, retry_after=AGAIN)
