"""Delivery: make one call of the outbox through its channel, and record its result in the same transaction."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction

from annotation.models import Exclusion, Payment, Rejection
from annotation.money.budget import locked
from annotation.money.payments import mark_paid
from core import clock
from core.events import record, subject_of
from crowd import channels
from crowd.calls.single_payments import pay_bonus
from crowd.channels.base import OneShotBonuses, Platform
from crowd.models import Message, Outbox, Posting, Visit

Result = Callable[[], object]

LONGEST_STATUS = 20  # characters of a platform's word that are kept
NOT_KNOWN = "The process that sent it was stopped. It is unknown whether it arrived."


def make_call(row: Outbox) -> Result:
    """Make the call of a row; return the function that records its result in the transaction that ends the call.

    A call that became unnecessary (a withdrawn payment, a closed posting) is not made. Raises ChannelError.
    """
    platform = channels.platform(row.channel)
    platform.check(row.environment)
    return CALLS[Outbox.Call(row.call)](platform, row, row.subject.partition(":")[2])


def mark_posted(posting: Posting) -> None:
    """Record the platform's ids and times, which the channel has set on ``posting``, and its number of answer sets."""
    names = ("external_id", "terms_id", "excludes", "status", "posted_at", "expires_at")
    fields = {name: getattr(posting, name) for name in names} | {"posted_assignments": posting.max_assignments}
    fields["status"] = posting.status[:LONGEST_STATUS]
    round = locked(posting.round)
    _move(posting, Posting.State.PLANNED, Posting.State.LIVE, **fields)
    if round.state == "closed":  # The call that closes the posting may have found nothing to close.
        Outbox.objects.get(call=Outbox.Call.CLOSE, subject=subject_of(posting)).make_again()


def mark_extended(posting: Posting) -> None:
    """Record that the platform lists ``max_assignments`` answer sets and holds the money for the new ones."""
    locked(posting.round)
    known = posting.posted_assignments
    wanted = posting.max_assignments
    grown = Posting.objects.filter(pk=posting.pk, posted_assignments=known)
    if known < wanted and grown.update(posted_assignments=wanted):
        record("extended", posting, actor="outbox", max_assignments=wanted)


def mark_prolonged(posting: Posting, until: datetime) -> None:
    """Record that workers can accept the posting until then."""
    live = Posting.objects.filter(pk=posting.pk, state=Posting.State.LIVE, settled_at=None)
    if live.update(expires_at=until, over_since=None):
        record("prolonged", posting, actor="outbox", until=until.isoformat())


def mark_closed(posting: Posting) -> None:
    """Record that no worker can accept the posting any more. Work that was accepted before may still be submitted."""
    _move(posting, Posting.State.LIVE, Posting.State.CLOSED)


def mark_over(posting: Posting, *, unused: int) -> None:
    """Record that nothing more will be submitted; the platform released the money for ``unused`` answer sets."""
    locked(posting.round)
    if Posting.objects.filter(pk=posting.pk, settled_at=None).update(settled_at=clock.now()):
        record("over", posting, actor="sync", unused=unused)


def mark_disposed(posting: Posting) -> None:
    """Record that the posting was removed from the platform."""
    _move(posting, Posting.State.CLOSED, Posting.State.DISPOSED)


def mark_rejected(visit: Visit) -> bool:
    """Record that the platform has rejected the work, by our call or by hand on its site, and released its money.
    Return False if that was recorded before."""
    with transaction.atomic(savepoint=False):
        locked(visit.posting.round)
        if not Visit.objects.filter(pk=visit.pk).move(Visit.State.REJECTED, decided_at=visit.decided_at):
            return False
        record("rejected", visit.assignment, actor="platform")
    return True


def _mark_paid(payment: Payment) -> None:
    """Record that the platform has paid. A paid reward is also the platform's approval of the work."""
    with transaction.atomic(savepoint=False):
        mark_paid(payment, actor="outbox")
        if payment.kind == Payment.Kind.REWARD:
            Visit.objects.filter(assignment=payment.assignment_id).move(Visit.State.APPROVED, decided_at=None)


def _move(posting: Posting, come_from: str, to: str, **fields: Any) -> None:
    with transaction.atomic(savepoint=False):
        if not Posting.objects.filter(pk=posting.pk, state=come_from).update(state=to, **fields):
            return
        record(to, posting, actor="outbox")
    posting.state = to


def _nothing() -> None:
    """Record nothing: the call was not made, or its result is not stored."""


def _publish(platform: Platform, row: Outbox, key: str) -> Result:
    posting = _posting(key)
    if posting.state != Posting.State.PLANNED:
        return _nothing
    if posting.round.state == "closed" and not row.unclear:  # an unclear earlier call may have posted it
        # It will never be on the platform.
        return partial(_move, posting, Posting.State.PLANNED, Posting.State.CLOSED, settled_at=clock.now())
    platform.publish(posting, token=str(row.pk))
    return partial(mark_posted, posting)


def _prolong(platform: Platform, row: Outbox, key: str) -> Result:
    posting = _posting(key)
    until = datetime.fromisoformat(row.payload["until"])
    if posting.state != Posting.State.LIVE:
        return _nothing
    platform.prolong(posting, until, token=str(row.pk))
    return partial(mark_prolonged, posting, until)


def _pause(platform: Platform, row: Outbox, key: str) -> Result:
    posting = _posting(key)
    if posting.state != Posting.State.LIVE:
        return _nothing
    paused = not posting.wants_visitors  # read now: since the call was stored, seats may have opened or filled
    there = channels.session_platform(row.channel).pause(posting, paused=paused)
    since = clock.now() if paused else None
    return partial(Posting.objects.filter(pk=posting.pk).update, paused_at=since, there=there, paused_itself=False)


def _for_posting(state: Posting.State, mark: Callable[[Posting], None]) -> Callable[[Platform, Outbox, str], Result]:
    """Return how to make the call that is the platform's method of the same name, for a posting in this state."""

    def call(platform: Platform, row: Outbox, key: str) -> Result:
        posting = _posting(key)
        if posting.state != state:
            return _nothing
        getattr(platform, row.call)(posting, token=str(row.pk))
        return partial(mark, posting)

    return call


def _pay(platform: Platform, row: Outbox, key: str) -> Result:
    payment = Payment.objects.select_related("assignment__worker", "round").get(pk=key)
    if payment.state != Payment.State.OWED:
        return _nothing
    # A reward may be sent twice, as approving work again changes nothing; such a bonus would be paid again.
    if payment.kind == Payment.Kind.BONUS and isinstance(platform, OneShotBonuses):
        pay_bonus(platform, payment, row)
    else:
        platform.pay(payment, token=str(row.pk))
    return partial(_mark_paid, payment)


def _reject(platform: Platform, row: Outbox, key: str) -> Result:
    rejection = Rejection.objects.select_related("assignment__visit__posting__round").get(pk=key)
    visit = rejection.assignment.visit
    if rejection.dropped_at is not None or visit.state in Visit.GONE:
        return _nothing
    platform.reject(rejection, token=str(row.pk))
    return partial(mark_rejected, visit)


def _message(platform: Platform, row: Outbox, key: str) -> Result:
    keys = row.payload.get("messages", [key])
    messages = list(Message.objects.filter(pk__in=keys).select_related("worker").order_by("pk"))
    if row.unclear and channels.is_by_session(row.channel):  # Another call could send them twice.
        for message in messages:
            message.failure = NOT_KNOWN
    else:
        platform.message(messages, environment=row.environment, token=str(row.pk))
    return partial(Message.objects.bulk_update, messages, ["failure"])


def _exclude_or_readmit(platform: Platform, row: Outbox, key: str) -> Result:
    exclusion = Exclusion.objects.select_related("worker").get(pk=key)
    if row.call == Outbox.Call.READMIT:
        platform.readmit(exclusion, environment=row.environment, token=str(row.pk))
    elif exclusion.lifted_at is None:
        platform.exclude(exclusion, environment=row.environment, token=str(row.pk))
    return _nothing


def _posting(key: str) -> Posting:
    return Posting.objects.select_related("hit__round", "round").get(pk=key)


CALLS: dict[Outbox.Call, Callable[[Platform, Outbox, str], Result]] = {
    Outbox.Call.PUBLISH: _publish,
    Outbox.Call.EXTEND: _for_posting(Posting.State.LIVE, mark_extended),
    Outbox.Call.PROLONG: _prolong,
    Outbox.Call.CLOSE: _for_posting(Posting.State.LIVE, mark_closed),
    Outbox.Call.PAUSE: _pause,
    Outbox.Call.DISPOSE: _for_posting(Posting.State.CLOSED, mark_disposed),
    Outbox.Call.PAY: _pay,
    Outbox.Call.REJECT: _reject,
    Outbox.Call.MESSAGE: _message,
    Outbox.Call.EXCLUDE: _exclude_or_readmit,
    Outbox.Call.READMIT: _exclude_or_readmit,
}
