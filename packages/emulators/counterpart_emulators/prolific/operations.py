"""The API's operations: address, body and answer of each. Readings take the query, acts the fields of their body."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from counterpart_emulators.prolific import bonuses, contact, groups, hooks, studies, submissions, wallet
from counterpart_emulators.prolific.schemas import Body, NewStudy, StudyChange, schema_of


@dataclass(frozen=True)
class Operation:
    """``bare``: errors are documented without the object around them. ``pages``: how a listing is cut into pages.

    An act's body is what its function takes, unless ``schema`` says otherwise.
    """

    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str
    do: Callable[..., Any]
    status: int = 200
    schema: type[Body] | None = None
    bare: bool = False
    pages: Literal["page", "limit", "whole"] | None = None

    @cached_property
    def body(self) -> type[Body]:
        return self.schema or schema_of(self.do, path=self.path)


STUDY = "studies/<study_id>/"
SUBMISSION = "submissions/<submission_id>/"
PROJECTS = "workspaces/<workspace_id>/projects/"
MEMBERS = "participant-groups/<group_id>/participants/"
HOOKS = "hooks/subscriptions/"
HOOK = "hooks/subscriptions/<subscription_id>/"

OPERATIONS: Mapping[str, Operation] = {
    "show_account": Operation("GET", "users/me/", wallet.show_account),
    "list_workspaces": Operation("GET", "workspaces/", studies.list_workspaces, pages="limit"),
    "show_balance": Operation("GET", "workspaces/<workspace_id>/balance/", wallet.show_balance),
    "list_projects": Operation("GET", PROJECTS, studies.list_projects, pages="limit"),
    "create_project": Operation("POST", PROJECTS, studies.create_project, 201),
    "list_studies": Operation("GET", "studies/", studies.list_studies, bare=True, pages="limit"),
    "create_study": Operation("POST", "studies/", studies.create_study, 201, NewStudy, bare=True),
    "show_study": Operation("GET", STUDY, studies.show_study),
    "change_study": Operation("PATCH", STUDY, studies.change_study, schema=StudyChange),
    "delete_study": Operation("DELETE", STUDY, studies.delete_study, 204),
    "move_study": Operation("POST", f"{STUDY}transition/", studies.move_study),
    "show_cost": Operation("GET", f"{STUDY}cost/", studies.show_cost, bare=True),
    "count_submissions": Operation("GET", f"{STUDY}submissions/counts/", studies.count_submissions, bare=True),
    "show_progress": Operation("GET", f"{STUDY}access-details-progress/", studies.show_progress),
    "calculate_cost": Operation("POST", "study-cost-calculator/", wallet.calculate_cost, bare=True),
    "list_submissions": Operation("GET", "submissions/", submissions.list_submissions, bare=True, pages="page"),
    "show_submission": Operation("GET", SUBMISSION, submissions.show_submission),
    "move_submission": Operation("POST", f"{SUBMISSION}transition/", submissions.move_submission),
    "request_return": Operation("POST", f"{SUBMISSION}request-return/", submissions.ask_for_return),
    "bulk_approve": Operation("POST", "submissions/bulk-approve/", submissions.approve_in_bulk, bare=True),
    "create_bonuses": Operation("POST", "submissions/bonus-payments/", bonuses.create_bonuses, 201),
    "pay_bonuses": Operation("POST", "bulk-bonus-payments/<payment_id>/pay/", bonuses.pay_bonuses, 202),
    "list_messages": Operation("GET", "messages/", contact.list_messages, bare=True, pages="whole"),
    "send_message": Operation("POST", "messages/", contact.send_message, 204, bare=True),
    "send_messages": Operation("POST", "messages/bulk/", contact.send_messages, 204, bare=True),
    "list_filters": Operation("GET", "filters/", groups.list_filters, pages="whole"),
    "list_groups": Operation("GET", "participant-groups/", groups.list_groups, pages="limit"),
    "create_group": Operation("POST", "participant-groups/", groups.create_group, 201),
    "list_members": Operation("GET", MEMBERS, groups.list_members, pages="whole"),
    "add_members": Operation("POST", MEMBERS, groups.add_members),
    "remove_members": Operation("DELETE", MEMBERS, groups.remove_members),
    "list_event_types": Operation("GET", "hooks/event-types/", hooks.list_event_types, pages="whole"),
    "create_secret": Operation("POST", "hooks/secrets/", hooks.create_secret, 201),
    "list_subscriptions": Operation("GET", HOOKS, hooks.list_subscriptions, pages="whole"),
    "create_subscription": Operation("POST", HOOKS, hooks.create_subscription, 201),
    "confirm_subscription": Operation("POST", HOOK, hooks.confirm_subscription),
    "change_subscription": Operation("PATCH", HOOK, hooks.change_subscription),
    "delete_subscription": Operation("DELETE", HOOK, hooks.delete_subscription, 204),
}
