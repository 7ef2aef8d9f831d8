"""Messages to workers through their platform, their only known address, and requests to return work."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction

from annotation.models import Assignment, Worker, WorkerIdentity
from annotation.people.workers import locked
from core import clock
from core.errors import CounterpartError, some_of
from core.events import record
from core.text import check_words, counted
from crowd import channels
from crowd.calls.outbox import put
from crowd.channels.base import AsksReturns, ChannelError
from crowd.endings import may_be_returned
from crowd.models import Message, Outbox, Visit
from hits.models import Round

LONGEST = {"subject": 200, "text": 4096}
LONGEST_REQUEST = 500
AGAIN = timedelta(minutes=10)


def write_to(
    workers: Sequence[Worker], *, subject: str, text: str, by: str, round: Round | None = None
) -> list[Message]:
    """Send the same text to each worker, one message each, many with one call (of the ``round`` that it is about). If a
    platform cannot deliver one, its row says why.

    Raises CounterpartError, and sends nothing, for a missing or too long text, and for workers without a platform.
    """
    words = _checked(subject, text)
    addresses = {worker.pk: address_of(worker) for worker in workers}
    if lost := [str(worker) for worker in workers if addresses[worker.pk] is None]:
        raise CounterpartError(
            f"{counted(len(lost), 'worker has', 'workers have')} no platform to be written to: {some_of(lost)}."
        )
    with transaction.atomic():
        messages = [Message.objects.create(worker=worker, by=by, **words) for worker in workers]
        at: dict[tuple[str, str], list[Message]] = defaultdict(list)
        for message in messages:
            record("written to", message.worker, actor=by, message=message.pk)
            at[addresses[message.worker_id] or ("", "")].append(message)
        for (channel, environment), group in at.items():
            most = channels.platform(channel).most_recipients
            for start in range(0, len(group), most):
                batch = group[start : start + most]
                where = {"channel": channel, "environment": environment}
                put(Outbox.Call.MESSAGE, batch[0], round=round, **where, messages=[message.pk for message in batch])
    return messages


def write_to_round(round: Round, *, subject: str, text: str, by: str) -> list[Message]:
    """Write to all workers who submitted work in the round through its platform, except forgotten ones and those who
    got the same text from the same person in the last minutes. Raises CounterpartError as ``recipients_of`` does."""
    with transaction.atomic():
        # A second click waits, and then has no recipients.
        Round.objects.select_for_update(no_key=True).get(pk=round.pk)
        workers = recipients_of(round, subject=subject, text=text, by=by)
        return write_to(workers, subject=subject, text=text, by=by, round=round)


def recipients_of(round: Round, *, subject: str, text: str, by: str) -> list[Worker]:
    """Return the workers to whom ``write_to_round`` would write. Raises CounterpartError for a missing or too long
    text, for a round on no platform, and without recipients."""
    if round.channel not in channels.platforms():
        raise CounterpartError(f"Round {round} is on no platform: its workers cannot be written to.")
    words = _checked(subject, text)
    identities = WorkerIdentity.objects.filter(channel=round.channel, environment=round.environment)
    known = Worker.objects.filter(identities__in=identities, forgotten_at=None)
    submitters = known.filter(assignments__visit__in=Visit.objects.listed().filter(posting__round=round)).distinct()
    sent = Message.objects.filter(by=by, **words, at__gt=clock.now() - AGAIN)
    workers = list(submitters.exclude(messages__in=sent).order_by("pk"))
    if not workers:
        raise CounterpartError(
            f"Round {round} has no recipients: no submission is listed, or all were sent this text a moment ago."
        )
    return workers


def write_once(worker: Worker, *, subject: str, text: str, by: str) -> tuple[Message, bool]:
    """Write to a worker, unless the same person sent them the same text in the last minutes, for example by a double
    click. Return the message, and whether it is new. Raises CounterpartError as ``write_to`` does."""
    words = _checked(subject, text)
    with transaction.atomic():
        locked(worker.pk)
        same = Message.objects.filter(worker=worker, by=by, **words)
        if sent := same.filter(at__gt=clock.now() - AGAIN).last():
            return sent, False
        return write_to([worker], subject=words["subject"], text=words["text"], by=by)[0], True


def can_be_returned(assignment: Assignment) -> bool:
    """Whether its worker can be asked to return it."""
    asks = assignment.is_outside and isinstance(channels.platforms().get(assignment.visit.channel), AsksReturns)
    return asks and may_be_returned(assignment.visit)


def request_return(assignment: Assignment, *, reason: str, by: str) -> None:
    """Ask a worker through their platform to return work; they may decline. Their record stays clean, and nothing is
    paid for returned work. Repeating it sends no second request.

    Raises CounterpartError without a reason, for a platform that has no such request, for work that is decided or has
    ended there, and if the platform fails.
    """
    words = check_words(reason, what="reason that the worker reads", at_most=LONGEST_REQUEST)
    platform = channels.platforms().get(assignment.visit.channel if assignment.is_outside else "")
    if not isinstance(platform, AsksReturns):
        raise CounterpartError(f"{assignment} is on no platform that can ask workers to return work.")
    if not may_be_returned(assignment.visit):
        there = assignment.visit.get_state_display().lower()
        raise CounterpartError(f"{assignment} is {there} on the platform; it cannot be returned.")
    try:
        platform.request_return(assignment, words)
    except ChannelError as error:
        raise CounterpartError(f"{error} It is safe to ask again: a worker is asked only once.") from error
    with transaction.atomic():
        record("asked to return", assignment, actor=by)


def address_of(worker: Worker) -> tuple[str, str] | None:
    """Return the platform and environment where a worker can be written to, the latest if there are several."""
    identity = worker.identities.filter(channel__in=channels.platforms()).order_by("-pk").first()
    return (identity.channel, identity.environment) if identity else None


def _checked(subject: str, text: str) -> dict[str, str]:
    return {
        "subject": check_words(subject, what="subject", at_most=LONGEST["subject"]),
        "text": check_words(text, what="message", at_most=LONGEST["text"]),
    }
