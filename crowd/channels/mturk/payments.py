"""Payments and rejections on MTurk, each made once, and MTurk's fees."""

from decimal import Decimal
from functools import partial
from typing import Any

from annotation.models import Assignment, Payment, Rejection
from crowd.channels.base import Bonus, ChannelError
from crowd.channels.marketplaces import id_on
from crowd.channels.mturk.client import TurkError, channel_errors, refusals_pass_if
from crowd.models import Posting, Visit
from hits.prices import FeeSchedule

UNDECIDABLE = ("InvalidAssignmentState", "AssignmentDoesNotExist")
BASE = Decimal("0.20")  # of a reward or bonus
MASTERS = Decimal("0.05")  # of the reward, on top, if only Masters may work
LEAST = Decimal("0.01")


def approve(client: Any, assignment: Assignment) -> None:
    """Approve the assignment, also after a rejection; MTurk then pays the reward. Repeating it changes nothing."""
    rejected = assignment.visit.state == Visit.State.REJECTED
    with refusals_pass_if(partial(_is_decided, client, assignment, "Approved")):
        client.approve_assignment(AssignmentId=assignment.outside_key, OverrideRejection=rejected)


def reject(client: Any, rejection: Rejection) -> None:
    """Reject the assignment with the reason that its worker reads. Repeating it changes nothing."""
    with refusals_pass_if(partial(_is_decided, client, rejection.assignment, "Rejected")):
        client.reject_assignment(AssignmentId=rejection.assignment.outside_key, RequesterFeedback=rejection.reason)


def give_bonus(client: Any, payment: Payment, *, token: str) -> None:
    """Send a bonus unless MTurk lists one with the same reason: it forgets tokens after a day, but not bonuses."""
    assignment = payment.assignment
    with channel_errors():
        if _was_given(client, payment):
            return
        try:
            with channel_errors():
                client.send_bonus(
                    WorkerId=id_on("MTurk", assignment.worker, payment.round.environment),
                    AssignmentId=assignment.outside_key,
                    BonusAmount=str(payment.amount),
                    Reason=payment.reason,
                    UniqueRequestToken=token,
                )
        except TurkError as error:
            if not error.is_replay:
                raise
            if not _was_given(client, payment):  # the call is made again until it is listed
                unlisted = f"MTurk claims to have sent the bonus for {_named(payment)}, but does not list it yet."
                raise ChannelError(unlisted) from error


def bonuses(client: Any, posting: Posting) -> list[Bonus]:
    """List the bonuses that were paid for work on the HIT."""
    with channel_errors():
        pages = client.get_paginator("list_bonus_payments").paginate(HITId=posting.external_id)
        paid = [bonus for page in pages for bonus in page["BonusPayments"]]
    return [Bonus(row["AssignmentId"], Decimal(row["BonusAmount"]), row.get("Reason", "")) for row in paid]


def fee_schedule(*, masters: bool = False) -> FeeSchedule:
    """Return AWS's published fees for HITs with up to nine assignments; larger ones, which cost more, are not posted.

    Rates are added before the fee is rounded. A reward of zero still costs the least fee.
    """
    return FeeSchedule(reward=BASE + (MASTERS if masters else 0), bonus=BASE, least=LEAST)


def _is_decided(client: Any, assignment: Assignment, wanted: str, error: TurkError) -> bool:
    """Whether the assignment of a refused decision has the wanted status. Raises ChannelError if MTurk shows none, as
    for work that is not submitted, or another one."""
    if error.code not in UNDECIDABLE:
        return False
    status = ""
    with refusals_pass_if(lambda error: error.code in UNDECIDABLE):
        status = client.get_assignment(AssignmentId=assignment.outside_key)["Assignment"]["AssignmentStatus"]
    if not status:
        # MTurk has listed it, but accepts no decision on it yet.
        raise ChannelError(f"{error} It was listed, so the call is retried.", reached=False) from error
    if status != wanted:
        raise ChannelError(
            f"{error} Its status is {status}: sync the round and decide again.", permanent=True
        ) from error
    return True


def _was_given(client: Any, payment: Payment) -> bool:
    """Whether MTurk lists a bonus for this assignment with the payment's reason. Raises ChannelError if its amount
    differs."""
    pages = client.get_paginator("list_bonus_payments").paginate(AssignmentId=payment.assignment.outside_key)
    bonuses = [bonus for page in pages for bonus in page["BonusPayments"] if bonus.get("Reason") == payment.reason]
    if bonuses and Decimal(bonuses[0]["BonusAmount"]) != payment.amount:
        raise ChannelError(
            f"MTurk lists a bonus of ${bonuses[0]['BonusAmount']} for {_named(payment)}, not ${payment.amount}; "
            "audit the round.",
            permanent=True,
        )
    return bool(bonuses)


def _named(payment: Payment) -> str:
    """Return the assignment's name on MTurk, so that a person can find it there."""
    return f"MTurk's {payment.round.environment} assignment {payment.assignment.outside_key}"
