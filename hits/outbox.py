"""Calls that cost money or publish: written down with the change that wants them, then made, in effect once.

A row goes pending → sending → done | failed. Its id is the token by which a platform knows a repeated call.
"""

import logging
from datetime import timedelta
from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import F, Model, QuerySet
from django.utils import timezone

from hits import channels
from hits.channels import ChannelError
from hits.models import Outbox, Payment, Round
from hits.settling import mark_paid
from journal.events import record, subject_of

logger = logging.getLogger(__name__)

Call, State = Outbox.Call, Outbox.State

LOST_AFTER = timedelta(minutes=5)  # the sender of a call that takes longer is taken for dead
FIRST_PAUSE = timedelta(seconds=30)  # doubled after each further failure
MAX_ATTEMPTS = 8


def put(call: Outbox.Call, subject: Model, *, round: Round, **payload: object) -> Outbox:
    """Write down a call on the round's channel and make it once the transaction has committed.

    One row a call and subject: one that is wanted again is made again under the same token, even while a sender
    has it, as that one may have found nothing to do.
    """
    row, created = Outbox.objects.get_or_create(
        call=call,
        subject=subject_of(subject),
        defaults={"channel": round.channel, "environment": round.environment, "payload": payload},
    )
    if not created:
        _requeue(row, State.SENDING, State.DONE, State.FAILED)
    _deliver_on_commit(row)
    return row


def send_again(row: Outbox, *, actor: str) -> bool:
    """Give a failed call another chance. False: it has not failed."""
    with transaction.atomic():
        if not _requeue(row, State.FAILED):
            return False
        record("sent again", row, actor=actor)
        _deliver_on_commit(row)
    return True


def deliver_due() -> int:
    """Make every call that waits for its time or was lost by its sender. Returns how many were made."""
    due = Outbox.objects.filter(state__in=(State.PENDING, State.SENDING), due_at__lte=timezone.now())
    return sum(_deliver_safely(pk) for pk in list(due.values_list("pk", flat=True)))


def deliver(row_id: UUID) -> bool:
    """Make one call. False: it is done, with another sender, not due, or its channel did not do it."""
    row = _claim(row_id)
    if row is None:
        return False
    if row.attempts > MAX_ATTEMPTS:
        _fail(row, f"Lost {MAX_ATTEMPTS} times on the way; see the log. Last error: {row.error or 'none'}")
        return False
    try:
        paid = _call(row)
    except ChannelError as error:
        _put_off(row, error)
        return False
    _finish(row, paid=paid)
    return True


def may_be_under_way(row: Outbox) -> bool:
    """Whether the platform may be acting on the call, or may have acted on it without our knowing."""
    return row.state == State.SENDING or (row.state == State.PENDING and row.attempts > 0)


def _deliver_on_commit(row: Outbox) -> None:
    # Robust: what made the call is committed; a failure here is logged, and the reconciler repeats the call.
    transaction.on_commit(partial(deliver, row.pk), robust=True)


def _deliver_safely(row_id: UUID) -> bool:
    """Deliver, and let no row keep the ones behind it from being sent."""
    try:
        return deliver(row_id)
    except Exception:
        logger.exception("outbox row %s could not be sent", row_id)
        return False


def _requeue(row: Outbox, *come_from: Outbox.State) -> bool:
    waiting_no_more = Outbox.objects.filter(pk=row.pk, state__in=come_from)
    return bool(waiting_no_more.update(state=State.PENDING, attempts=0, due_at=timezone.now()))


def _claim(row_id: UUID) -> Outbox | None:
    """Take a due row to send it; while LOST_AFTER runs nobody else will."""
    now = timezone.now()
    due = Outbox.objects.filter(pk=row_id, state__in=(State.PENDING, State.SENDING), due_at__lte=now)
    if not due.update(state=State.SENDING, due_at=now + LOST_AFTER, attempts=F("attempts") + 1):
        return None
    return Outbox.objects.get(pk=row_id)


def _call(row: Outbox) -> bool:
    """Make the call; True if it moved money."""
    channel, token, key = channels.get(row.channel), str(row.pk), row.subject.partition(":")[2]
    if row.call == Call.PAY:
        payment = Payment.objects.select_related("assignment", "round").get(pk=key)
        return payment.state == Payment.State.OWED and channel.pay(payment, token=token)
    act = channel.publish if row.call == Call.PUBLISH else channel.close
    act(Round.objects.get(pk=key), token=token)
    return False


def _own(row: Outbox) -> QuerySet[Outbox]:
    """The row, provided that no other sender has taken it for lost meanwhile."""
    return Outbox.objects.filter(pk=row.pk, state=State.SENDING, attempts=row.attempts)


def _finish(row: Outbox, *, paid: bool) -> None:
    with transaction.atomic():
        if _own(row).update(state=State.DONE, error=""):
            record("done", row, actor="outbox", call=row.call)
        if paid:
            mark_paid(Payment.objects.get(pk=row.subject.partition(":")[2]), actor="outbox")


def _put_off(row: Outbox, error: ChannelError) -> None:
    if error.permanent or row.attempts >= MAX_ATTEMPTS:
        _fail(row, str(error))
        return
    pause = error.retry_after or FIRST_PAUSE * 2 ** (row.attempts - 1)
    _own(row).update(state=State.PENDING, due_at=timezone.now() + pause, error=str(error))


def _fail(row: Outbox, error: str) -> None:
    with transaction.atomic():
        if _own(row).update(state=State.FAILED, error=error):
            record("failed", row, actor="outbox", call=row.call, error=error)
