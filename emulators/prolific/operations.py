"""The API's operations: address, body and answer of each. Readings take the query, acts the fields of their body."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from emulators.prolific import bonuses, contact, groups, hooks, schemas, studies, submissions, wallet


@dataclass(frozen=True)
class Operation:
    """``bare``: errors are documented without the object around them. ``pages``: how a listing is cut into pages."""

    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str
    do: Callable[..., Any]
    body: type[schemas.Body] = schemas.Nothing
    status: int = 200
    bare: bool = False
    pages: Literal["page", "limit", "whole"] | None = None


HOOK = "hooks/subscriptions/<subscription_id>/"
GROUP = "participant-groups/<group_id>/"

OPERATIONS: Mapping[str, Operation] = {
    "show_account": Operation("GET", "users/me/", wallet.show_account),
    "list_workspaces": Operation("GET", "workspaces/", studies.list_workspaces, pages="limit"),
    "show_balance": Operation("GET", "workspaces/<workspace_id>/balance/", wallet.show_balance),
    "list_projects": Operation("GET", "workspaces/<workspace_id>/projects/", studies.list_projects, pages="limit"),
    "create_project": Operation(
        "POST", "workspaces/<workspace_id>/projects/", studies.create_project, schemas.Project, 201
    ),
    "list_project_studies": Operation(
        "GET", "projects/<project_id>/studies/", studies.list_studies, bare=True, pages="page"
    ),
    "list_studies": Operation("GET", "studies/", studies.list_studies, bare=True, pages="limit"),
    "create_study": Operation("POST", "studies/", studies.create_study, schemas.NewStudy, 201, bare=True),
    "show_study": Operation("GET", "studies/<study_id>/", studies.show_study),
    "change_study": Operation("PATCH", "studies/<study_id>/", studies.change_study, schemas.DraftChange),
    "delete_study": Operation("DELETE", "studies/<study_id>/", studies.delete_study, status=204),
    "move_study": Operation("POST", "studies/<study_id>/transition/", studies.move_study, schemas.StudyTransition),
    "show_cost": Operation("GET", "studies/<study_id>/cost/", studies.show_cost, bare=True),
    "count_submissions": Operation(
        "GET", "studies/<study_id>/submissions/counts/", studies.count_submissions, bare=True
    ),
    "show_progress": Operation("GET", "studies/<study_id>/access-details-progress/", studies.show_progress),
    "calculate_cost": Operation("POST", "study-cost-calculator/", wallet.calculate_cost, schemas.Cost, bare=True),
    "recommend_rewards": Operation("GET", "reward-recommendations/", wallet.recommend_rewards),
    "list_submissions": Operation("GET", "submissions/", submissions.list_submissions, bare=True, pages="page"),
    "list_study_submissions": Operation(
        "GET", "studies/<study_id>/submissions/", submissions.list_submissions, bare=True, pages="page"
    ),
    "show_submission": Operation("GET", "submissions/<submission_id>/", submissions.show_submission),
    "move_submission": Operation(
        "POST",
        "submissions/<submission_id>/transition/",
        submissions.move_submission,
        schemas.SubmissionTransition,
    ),
    "request_return": Operation(
        "POST", "submissions/<submission_id>/request-return/", submissions.ask_for_return, schemas.ReturnRequest
    ),
    "bulk_approve": Operation(
        "POST", "submissions/bulk-approve/", submissions.approve_in_bulk, schemas.BulkApproval, bare=True
    ),
    "create_bonuses": Operation("POST", "submissions/bonus-payments/", bonuses.create_bonuses, schemas.Bonuses, 201),
    "pay_bonuses": Operation("POST", "bulk-bonus-payments/<payment_id>/pay/", bonuses.pay_bonuses, status=202),
    "list_messages": Operation("GET", "messages/", contact.list_messages, bare=True, pages="whole"),
    "send_message": Operation("POST", "messages/", contact.send_message, schemas.Message, 204, bare=True),
    "send_messages": Operation("POST", "messages/bulk/", contact.send_messages, schemas.BulkMessage, 204, bare=True),
    "list_filters": Operation("GET", "filters/", groups.list_filters, pages="whole"),
    "list_groups": Operation("GET", "participant-groups/", groups.list_groups, pages="limit"),
    "create_group": Operation("POST", "participant-groups/", groups.create_group, schemas.NewGroup, 201),
    "show_group": Operation("GET", GROUP, groups.show_group),
    "delete_group": Operation("DELETE", GROUP, groups.delete_group, status=204),
    "list_members": Operation("GET", f"{GROUP}participants/", groups.list_members, pages="whole"),
    "add_members": Operation("POST", f"{GROUP}participants/", groups.add_members, schemas.Members),
    "remove_members": Operation("DELETE", f"{GROUP}participants/", groups.remove_members, schemas.Members),
    "list_event_types": Operation("GET", "hooks/event-types/", hooks.list_event_types, pages="whole"),
    "list_secrets": Operation("GET", "hooks/secrets/", hooks.list_secrets, pages="whole"),
    "create_secret": Operation("POST", "hooks/secrets/", hooks.create_secret, schemas.Workspace, 201),
    "list_subscriptions": Operation("GET", "hooks/subscriptions/", hooks.list_subscriptions, pages="whole"),
    "create_subscription": Operation(
        "POST", "hooks/subscriptions/", hooks.create_subscription, schemas.Subscription, 201
    ),
    "show_subscription": Operation("GET", HOOK, hooks.show_subscription),
    "confirm_subscription": Operation("POST", HOOK, hooks.confirm_subscription, schemas.Confirmation),
    "change_subscription": Operation("PATCH", HOOK, hooks.change_subscription, schemas.SubscriptionChange),
    "delete_subscription": Operation("DELETE", HOOK, hooks.delete_subscription, status=204),
    "list_events": Operation("GET", f"{HOOK}events/", hooks.list_events, pages="limit"),
}
