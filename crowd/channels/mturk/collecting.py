"""List what was submitted to a HIT: every status, every page. Events only say when to look."""

from decimal import Decimal
from typing import Any

from annotation.models import PlatformState
from crowd.channels.base import Bonus, Listed, Listing, Standing
from crowd.channels.mturk.client import told_as_channel_errors
from crowd.models import Posting

STATUSES = {
    "Submitted": PlatformState.SUBMITTED,
    "Approved": PlatformState.APPROVED,
    "Rejected": PlatformState.REJECTED,
}
OVER = ("Reviewable", "Reviewing", "Disposed")


def collect(client: Any, posting: Posting) -> Listing:
    """Read the HIT, then its assignments: in this order, so that one submitted in between is listed."""
    with told_as_channel_errors():
        hit = client.get_hit(HITId=posting.external_id)["HIT"]
        pages = client.get_paginator("list_assignments_for_hit").paginate(
            HITId=posting.external_id, AssignmentStatuses=list(STATUSES), PaginationConfig={"PageSize": 100}
        )
        listed = {found["AssignmentId"]: _listed(found) for page in pages for found in page["Assignments"]}
    return Listing(
        status=hit["HITStatus"],
        max_assignments=hit["MaxAssignments"],
        pending=hit["NumberOfAssignmentsPending"],
        is_over=hit["HITStatus"] in OVER and not hit["NumberOfAssignmentsPending"],
        expires_at=hit["Expiration"],
        assignments=list(listed.values()),
    )


def standing(client: Any) -> list[Standing]:
    """List every HIT of the account that was not disposed of."""
    with told_as_channel_errors():
        pages = client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 100})
        hits = [hit for page in pages for hit in page["HITs"]]
    return [
        Standing(
            external_id=hit["HITId"],
            token=hit.get("RequesterAnnotation", ""),
            type_id=hit["HITTypeId"],
            reward=Decimal(hit["Reward"]),
            max_assignments=hit["MaxAssignments"],
        )
        for hit in hits
    ]


def bonuses(client: Any, posting: Posting) -> list[Bonus]:
    """List the bonuses that were paid for work on the HIT."""
    with told_as_channel_errors():
        pages = client.get_paginator("list_bonus_payments").paginate(HITId=posting.external_id)
        paid = [bonus for page in pages for bonus in page["BonusPayments"]]
    return [Bonus(found["AssignmentId"], Decimal(found["BonusAmount"]), found.get("Reason", "")) for found in paid]


def _listed(found: dict[str, Any]) -> Listed:
    return Listed(
        external_id=found["AssignmentId"],
        worker_id=found["WorkerId"],
        status=STATUSES[found["AssignmentStatus"]],
        submitted_at=found["SubmitTime"],
        auto_approval_at=found.get("AutoApprovalTime"),
        decided_at=found.get("ApprovalTime") or found.get("RejectionTime"),
        content=found.get("Answer", ""),
    )
