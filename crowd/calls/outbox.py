"""The outbox: calls to platforms, stored in the transaction that needs them, then made by the queue, with effect once.

A row goes pending → sending → done | failed. Its id is the token by which a platform recognises a retry.
"""

import logging
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from celery import shared_task
from django.db import transaction
from django.db.models import F, Model, Q, QuerySet

from annotation.models import Exclusion, Payment, Rejection, WantsCall
from annotation.people.workers import mask_workers
from annotation.platforms import MAKE_CALLS
from core import clock
from core.events import record, subject_of
from core.progress import Progress, silent
from core.work.committed_tasks import send_on_commit
from crowd import channels
from crowd.calls.delivery import make_call
from crowd.channels.base import ChannelError
from crowd.models import Outbox, Visit
from hits.models import Round

logger = logging.getLogger(__name__)

DELIVER = "crowd.tasks.deliver_call"
WANTED = WantsCall.Call.WANTED
SUBJECTS: dict[str, type[Payment] | type[Rejection]] = {Outbox.Call.PAY: Payment, Outbox.Call.REJECT: Rejection}

LOST_AFTER = timedelta(minutes=5)  # a call that takes longer was lost with its process
FIRST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(hours=1)
MAX_ATTEMPTS = 8


def put(
    call: Outbox.Call, subject: Model, *, channel: str, environment: str, round: Round | None = None, **payload: object
) -> Outbox:
    """Store a call, and send it to the queue when the transaction commits.

    There is one row for each call, subject and environment. Storing a call again makes it again with the same token,
    even while another process is making it: that process may have read the state from before the change.
    """
    row = store_call(call, subject, channel=channel, environment=environment, round=round, **payload)
    send_on_commit(DELIVER, str(row.pk))
    return row


def store_call(
    call: Outbox.Call, subject: Model, *, channel: str, environment: str, round: Round | None = None, **payload: object
) -> Outbox:
    """Store a call; the caller sends it with others."""
    row, created = Outbox.objects.get_or_create(
        call=call,
        subject=subject_of(subject),
        channel=channel,
        environment=environment,
        defaults={"round": round, "payload": payload},
    )
    if not created:
        if row.payload != payload:
            Outbox.objects.filter(pk=row.pk).update(payload=payload)
        row.make_again()
    return row


def send_round_on_commit(round: Round) -> None:
    """Send one task for all due calls of a round to the queue when the transaction commits."""
    send_on_commit("crowd.tasks.deliver_calls", round.pk)


def send_again(row: Outbox, *, actor: str) -> bool:
    """Retry a failed call. Return False if it is not failed."""
    with transaction.atomic():
        if not row.make_again(Outbox.State.FAILED):
            return False
        record("sent again", row, actor=actor)
        send_on_commit(DELIVER, str(row.pk))
    return True


def send_failed_again(round: Round, *, actor: str) -> int:
    """Retry every failed call of a round. Return their number."""
    failed = Outbox.objects.filter(round=round, state=Outbox.State.FAILED)
    return sum(send_again(row, actor=actor) for row in failed)


def send_waiting(round: Round) -> None:
    """Retry now the calls that the platform asked to delay: the person who acts may have added money to the account."""
    Outbox.objects.filter(round=round, state=Outbox.State.PENDING, waits__gt=0).update(due_at=clock.now())


def deliver_due(round: Round | None = None, *, progress: Progress = silent) -> int:
    """Make every call (of one round) that is due or was lost. Return how many were made."""
    take_wanted()
    due = Outbox.objects.filter(state__in=(Outbox.State.PENDING, Outbox.State.SENDING), due_at__lte=clock.now())
    waiting = list((due.filter(round=round) if round else due).values_list("pk", flat=True))
    made = 0
    for done, row_id in enumerate(waiting):
        progress("calling the platform", done, len(waiting))
        made += _deliver_safely(row_id)
    return made


@shared_task(name=MAKE_CALLS)
def make_wanted_calls() -> int:
    """Store the calls that payments, rejections and exclusions want, and make them. Return how many were made."""
    return sum(_deliver_safely(row.pk) for row in take_wanted())


def take_wanted() -> list[Outbox]:
    """Store the calls that payments, rejections and exclusions want, each once; none about work that its platform does
    not list yet. The reward of a session that ended there unsubmitted waits for a person: the call would fail."""
    unlisted = Q(assignment__visit__in=Visit.objects.unconfirmed())
    of_a_person = Q(kind=Payment.Kind.REWARD, assignment__visit__in=Visit.objects.gone())
    wanting = (
        (Payment.objects.exclude(unlisted).exclude(of_a_person), _write_pay),
        (Rejection.objects.exclude(unlisted), _write_reject),
        (Exclusion.objects.all(), _write_exclude),
    )
    return [call for rows, write in wanting for row in rows.filter(call=WANTED) for call in _take(row, write)]


def _take(row: Any, write: Callable[[Any], list[Outbox]]) -> list[Outbox]:
    with transaction.atomic():
        calls = write(row)
        if not type(row).objects.filter(pk=row.pk, call=WANTED).update(call=WantsCall.Call.NONE):
            transaction.set_rollback(True)  # another process has taken it
            return []
    return calls


def _write_pay(payment: Payment) -> list[Outbox]:
    round = payment.round
    where = {"channel": round.channel, "environment": round.environment}
    return [store_call(Outbox.Call.PAY, payment, round=round, **where, amount=str(payment.amount))]


def _write_reject(rejection: Rejection) -> list[Outbox]:
    round = rejection.assignment.hit.round
    return [
        store_call(Outbox.Call.REJECT, rejection, round=round, channel=round.channel, environment=round.environment)
    ]


def _write_exclude(exclusion: Exclusion) -> list[Outbox]:
    """An exclusion and its end are sent to every platform where the worker has an id."""
    call = Outbox.Call.READMIT if exclusion.lifted_at else Outbox.Call.EXCLUDE
    return [
        store_call(call, exclusion, channel=identity.channel, environment=identity.environment)
        for identity in exclusion.worker.identities.order_by("pk")
        if identity.channel in channels.platforms()
    ]


@shared_task(name=DELIVER)
def deliver(row_id: UUID | str) -> bool:
    """Make one call. Return False if it is done, not due, being made by another process, or was not successful."""
    row = _claim(row_id)
    if row is None:
        return False
    # A call that fails for the last time ends in _put_off; more attempts mean that their processes died.
    if row.attempts > MAX_ATTEMPTS:
        _fail(row, f"Lost {MAX_ATTEMPTS} times; see the log. Last error: {row.error or 'none'}", unclear=True)
        return False
    try:
        record_result = make_call(row)
    except ChannelError as error:
        _put_off(row, error)
        return False
    _finish(row, record_result)
    return True


def _deliver_safely(row_id: UUID) -> bool:
    """Make one call. Log an unexpected error, so that the other calls are still made."""
    try:
        return deliver(row_id)
    except Exception:
        logger.exception("outbox call %s failed", row_id)
        return False


def _claim(row_id: UUID | str) -> Outbox | None:
    """Take a due row to make its call; no other process takes it for LOST_AFTER."""
    now = clock.now()
    due = Outbox.objects.filter(pk=row_id, due_at__lte=now)
    # The sender of such a row died. Its call may have taken effect: until that is known, the row is unclear.
    due.filter(state=Outbox.State.SENDING).update(state=Outbox.State.PENDING, unclear=True)
    taken = due.filter(state=Outbox.State.PENDING)
    with transaction.atomic():
        if not taken.update(state=Outbox.State.SENDING, due_at=now + LOST_AFTER, attempts=F("attempts") + 1):
            return None
        row = Outbox.objects.get(pk=row_id)
        _mark(row, under_way=True)
    return row


def _mark(row: Outbox, *, under_way: bool) -> None:
    """Mark the payment or rejection while the platform may be acting on it: a marked one cannot be withdrawn."""
    if model := SUBJECTS.get(row.call):
        about = model.objects.filter(pk=row.subject.partition(":")[2])
        if under_way:
            about.update(call=WantsCall.Call.UNDER_WAY)
        else:
            about.filter(call=WantsCall.Call.UNDER_WAY).update(call=WantsCall.Call.NONE)


def _own(row: Outbox) -> QuerySet[Outbox]:
    """Return the row, unless another process has taken it over as lost."""
    return Outbox.objects.filter(pk=row.pk, state=Outbox.State.SENDING, attempts=row.attempts)


def _finish(row: Outbox, record_result: Callable[[], object]) -> None:
    """Record the result and that the call is done in one transaction: if it rolls back, the call is made again."""
    with transaction.atomic():
        # Also if another process has taken the row over: the platform has acted, and recording twice changes nothing.
        record_result()
        if _own(row).update(state=Outbox.State.DONE, unclear=False, error=""):
            _mark(row, under_way=False)
            record("done", row, actor="outbox", call=row.call)


def _put_off(row: Outbox, error: ChannelError) -> None:
    patient = error.retry_after is not None and not error.reached
    unclear = row.unclear or (error.reached and not error.permanent)
    if error.permanent or (row.attempts >= MAX_ATTEMPTS and not patient):
        _fail(row, str(error), unclear=unclear)
        return
    with transaction.atomic():
        put_off = _own(row).update(
            state=Outbox.State.PENDING,
            attempts=row.attempts - patient,  # waiting as the platform asked is not a failed attempt
            waits=row.waits + 1 if patient else 0,
            due_at=clock.now() + _pause(row, error),
            unclear=unclear,
            error=str(error),
        )
        if put_off and not unclear:  # while unclear, the platform may have paid: the mark stays
            _mark(row, under_way=False)


def _pause(row: Outbox, error: ChannelError) -> timedelta:
    """Return a pause that doubles each time, and differs between calls that failed together."""
    first = error.retry_after or FIRST_PAUSE
    times = min(row.waits + row.attempts - 1, MAX_ATTEMPTS)
    return min(first * 2**times, max(first, LONGEST_PAUSE)) * random.uniform(1, 1.5)  # noqa: S311  no secret


def _fail(row: Outbox, error: str, *, unclear: bool) -> None:
    with transaction.atomic():
        if _own(row).update(state=Outbox.State.FAILED, error=error, unclear=unclear):
            if not unclear:
                _mark(row, under_way=False)
            # All staff may read the event log, so it has no platform ids of workers.
            record("failed", row, actor="outbox", call=row.call, error=mask_workers([error])[0])
