"""Requests to return work: the worker keeps a clean record, and nothing is paid for it."""

from django.db import transaction

from annotation.models import Assignment
from core.errors import CounterpartError
from core.events import record
from core.text import check_words
from crowd import channels
from crowd.channels.base import AsksReturns, ChannelError
from crowd.endings import may_be_returned

LONGEST = 500


def can_be_returned(assignment: Assignment) -> bool:
    """Whether its worker can be asked to return it."""
    asks = assignment.is_outside and isinstance(channels.platforms().get(assignment.visit.channel), AsksReturns)
    return asks and may_be_returned(assignment.visit)


def request_return(assignment: Assignment, *, reason: str, by: str) -> None:
    """Ask a worker through their platform to return work; they may decline. Repeating it sends no second request.

    Raises CounterpartError without a reason, for a platform that has no such request, for work that is decided or has
    ended there, and if the platform fails.
    """
    words = check_words(reason, what="reason that the worker reads", at_most=LONGEST)
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
