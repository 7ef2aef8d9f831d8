"""Submissions on Prolific: confirm a session, list, approve and reject. Every call may be made twice."""

from datetime import timedelta
from typing import Any

from django.utils.dateparse import parse_datetime

from annotation.models import Assignment, Rejection
from core import clock
from crowd.channels.base import Arrival, ChannelError, Listed, Listing, Outcome
from crowd.channels.prolific.client import Client, ProlificError
from crowd.channels.prolific.studies import ENDED, code_of, state_of
from crowd.models import Posting, Visit

WORKING = ("RESERVED", "ACTIVE")
WITHDRAWN = ("REJECTED", "RETURNED")
PROCESSING = "PROCESSING"  # temporary: the status after it is read later
STATES = {
    "AWAITING REVIEW": Visit.State.SUBMITTED,
    "APPROVED": Visit.State.APPROVED,
    "REJECTED": Visit.State.REJECTED,
    "RETURNED": Visit.State.RETURNED,
    "TIMED-OUT": Visit.State.EXPIRED,
    "SCREENED OUT": Visit.State.SETTLED,
    "PARTIALLY APPROVED": Visit.State.SETTLED,
}
CATEGORIES = {
    Rejection.Grounds.EMPTY: "NO_DATA",
    Rejection.Grounds.RANDOM: "LOW_EFFORT",
    Rejection.Grounds.AUTOMATED: "OTHER",
    Rejection.Grounds.INSTRUCTIONS: "FAILED_INSTRUCTIONS",
    Rejection.Grounds.TOO_FAST: "TOO_QUICKLY",
}
APPROVED_AFTER = timedelta(days=21)  # Prolific approves undecided work by itself
PAGE = 100
NOT_YET = timedelta(seconds=30)


def confirm(client: Client, posting: Posting, arrival: Arrival) -> bool:
    """Whether Prolific confirms that the session is this participant's, in this study and open. False: it cannot be
    reached. Raises a permanent ChannelError if it denies that, another one if it refuses us (a revoked token)."""
    try:
        submission = client.get(f"submissions/{arrival.assignment_id}/")
    except ProlificError as error:
        if error.code == "404":
            raise ChannelError("Prolific does not know this session.", permanent=True) from error
        if error.permanent:
            raise ChannelError(str(error)) from error
        return False
    if (submission["participant"], submission["study_id"]) != (arrival.worker_id, posting.external_id):
        raise ChannelError("On Prolific, this session belongs to another participant or study.", permanent=True)
    if submission["status"] not in (*WORKING, PROCESSING):
        raise ChannelError("This session is over on Prolific. Start a new one there.", permanent=True)
    return True


def collect(client: Client, posting: Posting) -> Listing:
    """Read the study, then all its submissions: in this order, one that ends in between is in the list."""
    if not posting.external_id:
        raise ChannelError("Without the id of its study, Prolific would list the whole account.", permanent=True)
    study = client.get(f"studies/{posting.external_id}/")
    rows = client.rows("submissions/", study=posting.external_id, page_size=PAGE)
    pending = sum(row["status"] in (*WORKING, PROCESSING) for row in rows)
    declined = code_of(posting, Outcome.NO_CONSENT)
    is_over = posting.round.state == "closed" and study["status"] in ENDED and not pending
    free = study["total_available_places"] - study["places_taken"]
    return Listing(
        status=study["status"],
        max_assignments=study["total_available_places"],
        pending=pending,
        is_over=is_over,
        expires_at=None,
        assignments=[_listed(row, declined) for row in rows],
        there=state_of(study["status"], free=free),
        free=free,
        freed=sum(row["status"] in WITHDRAWN and row.get("completed_at") is not None for row in rows),
    )


def approve(client: Client, assignment: Assignment) -> None:
    """Approve the submission; Prolific then pays the reward."""
    if _may_decide(client, assignment, done="APPROVED"):
        client.post(f"submissions/{assignment.outside_key}/transition/", {"action": "APPROVE"})


def reject(client: Client, rejection: Rejection) -> None:
    """Reject the submission, for good, with the reason that its participant reads."""
    assignment = rejection.assignment
    if _may_decide(client, assignment, done="REJECTED"):
        decision = {"action": "REJECT", "message": rejection.reason}
        category = CATEGORIES[Rejection.Grounds(rejection.grounds)]
        client.post(f"submissions/{assignment.outside_key}/transition/", decision | {"rejection_category": category})


def request_return(client: Client, assignment: Assignment, reason: str) -> None:
    """Ask the participant to return the submission, once: each request is another message to them."""
    if not client.get(f"submissions/{assignment.outside_key}/").get("return_requested"):
        body = {"request_return_reasons": [reason]}
        client.post(f"submissions/{assignment.outside_key}/request-return/", body)


def _may_decide(client: Client, assignment: Assignment, *, done: str) -> bool:
    """Whether the submission waits for a decision. False: it has the wanted one already. Raises ChannelError: to retry
    while the participant works, permanent (for a person) in any other status."""
    status = client.get(f"submissions/{assignment.outside_key}/")["status"]
    if status in (*WORKING, PROCESSING):
        raise ProlificError(f"Prolific still lists the submission as {status}.", reached=False, retry_after=NOT_YET)
    if status not in ("AWAITING REVIEW", done):
        raise ChannelError(
            f"Prolific lists submission {assignment.outside_key} as {status}, so it cannot become {done}. Sync the "
            "round and decide again; what Prolific does not pay can be paid by a bonus.",
            permanent=True,
        )
    return bool(status != done)


def _listed(row: dict[str, Any], declined: str) -> Listed:
    state = STATES.get(row["status"], Visit.State.UNCONFIRMED)
    completed = parse_datetime(row.get("completed_at") or "")
    return Listed(
        external_id=row["id"],
        worker_id=row["participant_id"],
        status=state,
        submitted_at=completed,
        auto_approval_at=completed + APPROVED_AFTER if completed and state == Visit.State.SUBMITTED else None,
        decided_at=clock.now() if state in (Visit.State.APPROVED, Visit.State.REJECTED) else None,
        content="",
        has_declined=row.get("study_code") == declined,
    )
