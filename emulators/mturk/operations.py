"""The Requester API's operations by name: what each does to the state of the marketplace."""

from collections.abc import Callable
from typing import Any

from emulators.mturk import (
    assignments,
    blocking,
    bonuses,
    deciding,
    extending,
    granting,
    hit_types,
    hits,
    messages,
    notifications,
    qualification_types,
)
from emulators.mturk.state import State

Operation = Callable[[State, dict[str, Any]], dict[str, Any]]


def get_account_balance(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Show both balances; the sandbox has play money."""
    if state.sandbox:
        return {"AvailableBalance": "10000.00"}
    return {"AvailableBalance": f"{state.available:.2f}", "OnHoldBalance": f"{state.on_hold:.2f}"}


OPERATIONS: dict[str, Operation] = {
    "GetAccountBalance": get_account_balance,
    "CreateHITType": hit_types.create_hit_type,
    "CreateHIT": hits.create_hit,
    "CreateHITWithHITType": hits.create_hit_with_hit_type,
    "GetHIT": hits.get_hit,
    "ListHITs": assignments.list_hits,
    "ListReviewableHITs": assignments.list_reviewable_hits,
    "UpdateHITReviewStatus": hits.update_review_status,
    "DeleteHIT": hits.delete_hit,
    "CreateAdditionalAssignmentsForHIT": extending.create_additional_assignments,
    "UpdateExpirationForHIT": extending.update_expiration,
    "ListAssignmentsForHIT": assignments.list_assignments_for_hit,
    "GetAssignment": assignments.get_assignment,
    "ApproveAssignment": deciding.approve_assignment,
    "RejectAssignment": deciding.reject_assignment,
    "SendBonus": bonuses.send_bonus,
    "ListBonusPayments": bonuses.list_bonus_payments,
    "UpdateNotificationSettings": notifications.update_notification_settings,
    "SendTestEventNotification": notifications.send_test_event_notification,
    "NotifyWorkers": messages.notify_workers,
    "CreateWorkerBlock": blocking.create_worker_block,
    "DeleteWorkerBlock": blocking.delete_worker_block,
    "ListWorkerBlocks": blocking.list_worker_blocks,
    "CreateQualificationType": qualification_types.create_qualification_type,
    "GetQualificationType": qualification_types.get_qualification_type,
    "ListQualificationTypes": qualification_types.list_qualification_types,
    "ListQualificationRequests": granting.list_qualification_requests,
    "AcceptQualificationRequest": granting.accept_qualification_request,
    "RejectQualificationRequest": granting.reject_qualification_request,
    "AssociateQualificationWithWorker": granting.associate_qualification,
    "DisassociateQualificationFromWorker": granting.disassociate_qualification,
    "GetQualificationScore": granting.get_qualification_score,
}


def changes_something(operation: str) -> bool:
    """Say whether an operation may change the marketplace; what only looks is not journalled."""
    return not operation.startswith(("Get", "List"))
