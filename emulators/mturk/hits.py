"""Create, show, review and delete HITs."""

from datetime import timedelta
from typing import Any

from emulators.mturk.errors import TurkError, does_not_exist, wrong_hit_state
from emulators.mturk.hit_types import hit_type, registered, wanted
from emulators.mturk.limits import check_limits
from emulators.mturk.money import assignment_fee, hold, require_funds
from emulators.mturk.questions import read_question
from emulators.mturk.rows import HIT, HITType
from emulators.mturk.settling import dispose, refresh
from emulators.mturk.state import State
from emulators.mturk.tokens import made_with, remember

NOT_EMULATED = ("AssignmentReviewPolicy", "HITReviewPolicy", "HITLayoutId", "HITLayoutParameters")


def create_hit(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Create a HIT together with its type."""
    type = wanted(state, params)
    _check(state, type, params)
    return _create(state, registered(state, params), params)


def create_hit_with_hit_type(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Create a HIT of a registered type."""
    type = hit_type(state, params["HITTypeId"])
    _check(state, type, params)
    return _create(state, type, params)


def get_hit(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Show a HIT, a disposed one too."""
    return {"HIT": shown(find_hit(state, params["HITId"]))}


def update_review_status(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Move a HIT between Reviewable and Reviewing."""
    hit, revert = find_hit(state, params["HITId"]), params.get("Revert", False)
    needed = "Reviewing" if revert else "Reviewable"
    if hit.status != needed:
        raise wrong_hit_state(hit.status, needed)
    hit.reviewing = not revert
    refresh(state, hit)
    return {}


def delete_hit(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Dispose of a HIT of which nothing is left to be reviewed."""
    hit = find_hit(state, params["HITId"])
    if hit.status not in ("Reviewable", "Reviewing") or hit.count("Submitted"):
        # The text names the states alone, even where it is unreviewed work that stands in the way (boto3#2107).
        raise wrong_hit_state(hit.status, "Reviewing", "Reviewable")
    dispose(state, hit)
    return {}


def find_hit(state: State, id: str) -> HIT:
    """Return a HIT. Raises TurkError for an unknown one."""
    if id not in state.hits:
        raise does_not_exist("Hit", id)
    return state.hits[id]


def shown(hit: HIT) -> dict[str, Any]:
    """Return a HIT as the API shows it. Submitted work that was not reviewed is in none of the counters."""
    fields = {
        "HITId": hit.id,
        "HITTypeId": hit.type.id,
        "HITGroupId": hit.type.group_id,
        "CreationTime": hit.created_at,
        "Title": hit.type.title,
        "Description": hit.type.description,
        "Question": hit.question,
        "Keywords": hit.type.keywords,
        "HITStatus": hit.status,
        "MaxAssignments": hit.max_assignments,
        "Reward": f"{hit.type.reward:.2f}",
        "AutoApprovalDelayInSeconds": int(hit.type.auto_approval_delay.total_seconds()),
        "Expiration": hit.expires_at,
        "AssignmentDurationInSeconds": int(hit.type.duration.total_seconds()),
        "QualificationRequirements": hit.type.requirements,
        "HITReviewStatus": "NotReviewed",
        "NumberOfAssignmentsPending": hit.count("Accepted"),
        "NumberOfAssignmentsAvailable": hit.free,
        "NumberOfAssignmentsCompleted": hit.count("Approved", "Rejected"),
    }
    return fields | ({"RequesterAnnotation": hit.annotation} if hit.annotation is not None else {})


def _check(state: State, type: HITType, params: dict[str, Any]) -> None:
    """Raise what is wrong with a HIT before anything is created."""
    check_limits(params)
    if made := made_with(state, "HIT", params.get("UniqueRequestToken")):
        raise TurkError(
            f"The HIT with ID {made} was already created with this UniqueRequestToken.", turk_code="HitAlreadyExists"
        )
    if unsupported := [name for name in NOT_EMULATED if name in params]:
        raise TurkError(
            f"{', '.join(unsupported)}: not emulated; give a Question instead.", code="ServiceFault", status=501
        )
    if "Question" not in params:
        raise TurkError(
            "Either a Question parameter or a HITLayoutId parameter must be provided.", code="ParameterValidationError"
        )
    read_question(params["Question"])
    _check_types_are_active(state, type)
    count = params.get("MaxAssignments", 1)
    require_funds(state, (type.reward + assignment_fee(state, type, max_assignments=count)) * count)


def _check_types_are_active(state: State, type: HITType) -> None:
    for requirement in type.requirements:
        custom = state.qualification_types.get(requirement["QualificationTypeId"])
        if custom and not custom.active:
            raise TurkError(
                "This operation can be called with a status of: Active", turk_code="InvalidQualificationTypeState"
            )


def _create(state: State, type: HITType, params: dict[str, Any]) -> dict[str, Any]:
    count = params.get("MaxAssignments", 1)
    hit = HIT(
        id=state.mint("HIT"),
        serial=state.count("HIT serial"),
        type=type,
        question=params["Question"],
        created_at=state.now,
        expires_at=state.now + timedelta(seconds=params["LifetimeInSeconds"]),
        max_assignments=count,
        fee=assignment_fee(state, type, max_assignments=count),
        annotation=params.get("RequesterAnnotation"),
    )
    hold(state, hit, count)
    state.hits[hit.id] = hit
    state.schedule(hit.expires_at, "expire", hit.id)
    remember(state, "HIT", params.get("UniqueRequestToken"), hit.id)
    state.tell("HITCreated", hit)
    return {"HIT": shown(hit)}
