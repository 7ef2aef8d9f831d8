"""Pay or refuse to pay, once. After an unclear answer MTurk is asked what holds; nothing is assumed."""

from decimal import Decimal
from typing import Any

from annotation.models import Assignment, Payment, PlatformState, Rejection
from crowd.channels.base import ChannelError
from crowd.channels.mturk.client import TurkError, told_as_channel_errors
from crowd.channels.mturk.qualifying import platform_id

UNDECIDABLE = ("InvalidAssignmentState", "AssignmentDoesNotExist")


def approve(client: Any, assignment: Assignment) -> None:
    """Approve the assignment, reversing a rejection. MTurk pays its reward; one approved before stays as it is."""
    try:
        with told_as_channel_errors():
            client.approve_assignment(
                AssignmentId=assignment.external_id,
                OverrideRejection=assignment.platform_state == PlatformState.REJECTED,
            )
    except TurkError as error:
        _accept_if(client, assignment, "Approved", error)


def reject(client: Any, rejection: Rejection) -> None:
    """Reject the assignment with the reason that its worker reads; one rejected before stays as it is."""
    try:
        with told_as_channel_errors():
            client.reject_assignment(AssignmentId=rejection.assignment.external_id, RequesterFeedback=rejection.reason)
    except TurkError as error:
        _accept_if(client, rejection.assignment, "Rejected", error)


def give_bonus(client: Any, payment: Payment, *, token: str) -> None:
    """Send a bonus unless MTurk lists one with its reason: tokens are forgotten after a day, the list is not."""
    assignment = payment.assignment
    with told_as_channel_errors():
        if _was_given(client, payment):
            return
        try:
            with told_as_channel_errors():
                client.send_bonus(
                    WorkerId=platform_id(assignment.worker, assignment.environment),
                    AssignmentId=assignment.external_id,
                    BonusAmount=str(payment.amount),
                    Reason=payment.reason,
                    UniqueRequestToken=token,
                )
        except TurkError as error:
            if not error.is_replay:
                raise
            _require_given(client, payment)


def _accept_if(client: Any, assignment: Assignment, wanted: str, error: TurkError) -> None:
    """Take a refusal for success where the assignment is in the wanted state already."""
    if error.code not in UNDECIDABLE:
        raise error
    status = _status(client, assignment)
    if not status:
        # Listed, but not open to decisions yet.
        raise ChannelError(f"{error} It was listed, so it is asked for again.", reached=False) from error
    if status != wanted:
        raise ChannelError(f"{error} It is {status} there; sync the round and decide again.", permanent=True) from error


def _status(client: Any, assignment: Assignment) -> str:
    """Return MTurk's own word for the assignment; "" while it does not show it, as for work that is not submitted."""
    try:
        with told_as_channel_errors():
            found = client.get_assignment(AssignmentId=assignment.external_id)["Assignment"]
    except TurkError as error:
        if error.code not in UNDECIDABLE:
            raise
        return ""
    return str(found["AssignmentStatus"])


def _require_given(client: Any, payment: Payment) -> None:
    """Raise ChannelError, to be asked again, while MTurk does not list a bonus that it says it has sent."""
    if not _was_given(client, payment):
        raise ChannelError(f"MTurk says that the bonus for {_named(payment)} was sent, but does not list it yet.")


def _was_given(client: Any, payment: Payment) -> bool:
    """Whether MTurk lists a bonus for this assignment with the payment's reason. Raises ChannelError where the
    amount is another."""
    pages = client.get_paginator("list_bonus_payments").paginate(AssignmentId=payment.assignment.external_id)
    bonuses = [bonus for page in pages for bonus in page["BonusPayments"] if bonus.get("Reason") == payment.reason]
    if bonuses and Decimal(bonuses[0]["BonusAmount"]) != payment.amount:
        raise ChannelError(
            f"MTurk lists a bonus of ${bonuses[0]['BonusAmount']} for {_named(payment)}, not ${payment.amount}; "
            "see the reconciliation report.",
            permanent=True,
        )
    return bool(bonuses)


def _named(payment: Payment) -> str:
    """Name the assignment as MTurk does, so that a person can find it there."""
    return f"MTurk's {payment.assignment.environment} assignment {payment.assignment.external_id}"
