"""One call of the outbox, by what it is about: what to ask of the channel, and what to note once that was done."""

from collections.abc import Callable
from functools import partial

from annotation.models import Exclusion, Payment, Rejection
from crowd import channels
from crowd.channels import Platform
from crowd.models import Message, Outbox, Posting
from crowd.settling import (
    mark_called_off,
    mark_closed,
    mark_disposed,
    mark_extended,
    mark_paid_there,
    mark_posted,
    mark_rejected,
)

Settle = Callable[[], object]
Call, State = Outbox.Call, Posting.State


def make_call(row: Outbox) -> Settle:
    """Make the call that a row stands for; returns what is to be noted in the transaction that ends it.

    A call whose wish has gone since (a payment that was withdrawn, a posting that is closed) is not made.
    Raises ChannelError.
    """
    channel = channels.platform(row.channel)
    channel.check(row.environment)
    return CALLS[Call(row.call)](channel, row, row.subject.partition(":")[2])


def _nothing() -> None:
    """Nothing is to be noted."""


def _publish(channel: Platform, row: Outbox, key: str) -> Settle:
    posting = _posting(key)
    if posting.state != State.PLANNED:
        return _nothing
    if posting.hit.round.state == "closed" and row.attempts == 1:  # a later one may find that it was posted before
        return partial(mark_called_off, posting)
    channel.publish(posting, token=str(row.pk))
    return partial(mark_posted, posting)


def _extend(channel: Platform, row: Outbox, key: str) -> Settle:
    posting = _posting(key)
    if posting.state != State.LIVE:
        return _nothing
    channel.extend(posting, token=str(row.pk))
    return partial(mark_extended, posting)


def _close(channel: Platform, row: Outbox, key: str) -> Settle:
    posting = _posting(key)
    if posting.state != State.LIVE:
        return _nothing
    channel.close(posting, token=str(row.pk))
    return partial(mark_closed, posting)


def _dispose(channel: Platform, row: Outbox, key: str) -> Settle:
    posting = _posting(key)
    if posting.state != State.CLOSED:
        return _nothing
    channel.dispose(posting, token=str(row.pk))
    return partial(mark_disposed, posting)


def _pay(channel: Platform, row: Outbox, key: str) -> Settle:
    payment = Payment.objects.select_related("assignment__worker", "round").get(pk=key)
    if payment.state == Payment.State.OWED and channel.pay(payment, token=str(row.pk)):
        return partial(mark_paid_there, payment)
    return _nothing


def _reject(channel: Platform, row: Outbox, key: str) -> Settle:
    rejection = Rejection.objects.select_related("assignment__hit__round").get(pk=key)
    if rejection.dropped_at is not None:
        return _nothing
    channel.reject(rejection, token=str(row.pk))
    return partial(mark_rejected, rejection.assignment)


def _message(channel: Platform, row: Outbox, key: str) -> Settle:
    message = Message.objects.select_related("worker").get(pk=key)
    channel.message(message, environment=row.environment, token=str(row.pk))
    return partial(message.save, update_fields=["failure"])


def _exclude(channel: Platform, row: Outbox, key: str) -> Settle:
    exclusion = Exclusion.objects.select_related("worker").get(pk=key)
    if exclusion.lifted_at is None:
        channel.exclude(exclusion, environment=row.environment, token=str(row.pk))
    return _nothing


def _readmit(channel: Platform, row: Outbox, key: str) -> Settle:
    exclusion = Exclusion.objects.select_related("worker").get(pk=key)
    channel.readmit(exclusion, environment=row.environment, token=str(row.pk))
    return _nothing


def _posting(key: str) -> Posting:
    return Posting.objects.select_related("hit__round").get(pk=key)


CALLS: dict[Outbox.Call, Callable[[Platform, Outbox, str], Settle]] = {
    Call.PUBLISH: _publish,
    Call.EXTEND: _extend,
    Call.CLOSE: _close,
    Call.DISPOSE: _dispose,
    Call.PAY: _pay,
    Call.REJECT: _reject,
    Call.MESSAGE: _message,
    Call.EXCLUDE: _exclude,
    Call.READMIT: _readmit,
}
