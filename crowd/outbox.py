"""Calls that leave the house: written down with the change that wants them, then made on the queue, in effect once.

A row goes pending → sending → done | failed. Its id is the token by which a platform knows a repeated call.
"""

import logging
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import F, Model, QuerySet
from django.utils import timezone

from annotation.masking import mask_workers
from core.events import record, subject_of
from core.progress import Progress, silent
from crowd import channels
from crowd.calling import make_call
from crowd.channels import ChannelError
from crowd.models import Outbox
from hits.models import Round

logger = logging.getLogger(__name__)

Call, State = Outbox.Call, Outbox.State

LOST_AFTER = timedelta(minutes=5)  # the sender of a call that takes longer is taken for dead
FIRST_PAUSE = timedelta(seconds=30)  # doubled after each further failure
MAX_ATTEMPTS = 8


def put(
    call: Outbox.Call, subject: Model, *, channel: str, environment: str, round: Round | None = None, **payload: object
) -> Outbox | None:
    """Write down a call and have it made once the transaction has committed. None: the channel makes no calls.

    One row a call, subject and environment: one that is wanted again is made again under the same token, even while a
    sender has it, as that one may have found nothing to do.
    """
    if not channels.get(channel).is_remote:
        return None
    row = write_down(call, subject, channel=channel, environment=environment, round=round, **payload)
    _send_on_commit(row)
    return row


def write_down(
    call: Outbox.Call, subject: Model, *, channel: str, environment: str, round: Round | None = None, **payload: object
) -> Outbox:
    """Write down a call that somebody sends along with others."""
    row, created = Outbox.objects.get_or_create(
        call=call,
        subject=subject_of(subject),
        channel=channel,
        environment=environment,
        defaults={"round": round, "payload": payload},
    )
    if not created:
        _requeue(row, State.SENDING, State.DONE, State.FAILED)
    return row


def send_round_on_commit(round: Round) -> None:
    """Have all calls of a round that are due made, one after the other, once the transaction has committed."""
    transaction.on_commit(partial(_send_round, round.pk), robust=True)


def send_again(row: Outbox, *, actor: str) -> bool:
    """Give a failed call another chance. False: it has not failed."""
    with transaction.atomic():
        if not _requeue(row, State.FAILED):
            return False
        record("sent again", row, actor=actor)
        _send_on_commit(row)
    return True


def send_failed_again(round: Round, *, actor: str) -> int:
    """Give every failed call of a round another chance, at once. Returns how many there were."""
    failed = Outbox.objects.filter(round=round, state=State.FAILED)
    return sum(send_again(row, actor=actor) for row in failed)


def deliver_due(round: Round | None = None, *, progress: Progress = silent) -> int:
    """Make every call (of one round) that waits for its time or was lost by its sender. Returns how many were made."""
    due = Outbox.objects.filter(state__in=(State.PENDING, State.SENDING), due_at__lte=timezone.now())
    waiting = list((due.filter(round=round) if round else due).values_list("pk", flat=True))
    made = 0
    for done, row_id in enumerate(waiting):
        progress("calling the platform", done, len(waiting))
        made += _deliver_safely(row_id)
    return made


def deliver(row_id: UUID | str) -> bool:
    """Make one call. False: it is done, with another sender, not due, or its channel did not do it."""
    row = _claim(row_id)
    if row is None:
        return False
    if row.attempts > MAX_ATTEMPTS:
        _fail(row, f"Lost {MAX_ATTEMPTS} times on the way; see the log. Last error: {row.error or 'none'}")
        return False
    try:
        settle = make_call(row)
    except ChannelError as error:
        _put_off(row, error)
        return False
    _finish(row, settle)
    return True


def may_be_under_way(row: Outbox) -> bool:
    """Whether the platform may be acting on the call, or may have acted on it without our knowing."""
    return row.state == State.SENDING or row.unclear


def _send_on_commit(row: Outbox) -> None:
    # Robust: what wants the call is committed; a failure here is logged, and the reconciler makes the call.
    transaction.on_commit(partial(_send, row.pk), robust=True)


def _send_round(round_id: int) -> None:
    from crowd.tasks import deliver_calls

    deliver_calls.delay(round_id)


def _send(row_id: UUID) -> None:
    from crowd.tasks import deliver_call  # its module imports this one

    deliver_call.delay(str(row_id))


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


def _claim(row_id: UUID | str) -> Outbox | None:
    """Take a due row to send it; while LOST_AFTER runs nobody else will."""
    now = timezone.now()
    due = Outbox.objects.filter(pk=row_id, due_at__lte=now)
    due.filter(state=State.SENDING).update(state=State.PENDING, unclear=True)
    taken = due.filter(state=State.PENDING)
    if not taken.update(state=State.SENDING, due_at=now + LOST_AFTER, attempts=F("attempts") + 1):
        return None
    return Outbox.objects.get(pk=row_id)


def _own(row: Outbox) -> QuerySet[Outbox]:
    """The row, provided that no other sender has taken it for lost meanwhile."""
    return Outbox.objects.filter(pk=row.pk, state=State.SENDING, attempts=row.attempts)


def _finish(row: Outbox, settle: Callable[[], object]) -> None:
    """Note what the call did, and then that it is done: together, or the call is taken for lost and made again."""
    with transaction.atomic():
        settle()
        if _own(row).update(state=State.DONE, unclear=False, error=""):
            record("done", row, actor="outbox", call=row.call)


def _put_off(row: Outbox, error: ChannelError) -> None:
    patient = error.retry_after is not None and not error.reached
    if error.permanent or (row.attempts >= MAX_ATTEMPTS and not patient):
        _fail(row, str(error))
        return
    pause = error.retry_after or FIRST_PAUSE * 2 ** (row.attempts - 1)
    _own(row).update(
        state=State.PENDING,
        attempts=row.attempts - patient,  # a platform that asks for patience is not failing
        due_at=timezone.now() + pause,
        unclear=row.unclear or error.reached,
        error=str(error),
    )


def _fail(row: Outbox, error: str) -> None:
    with transaction.atomic():
        if _own(row).update(state=State.FAILED, error=error):
            # Everybody on the staff reads the journal, and no platform id of a worker stands there.
            record("failed", row, actor="outbox", call=row.call, error=mask_workers([error])[0])
