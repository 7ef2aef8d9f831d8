"""HITs and their types, as the requester creates, lists, extends, expires, reviews and deletes them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from counterpart_emulators.money import read_amount
from counterpart_emulators.mturk.balance import assignment_fee, hold, require_funds
from counterpart_emulators.mturk.errors import (
    TurkError,
    already_processed,
    does_not_exist,
    invalid_parameter,
    not_emulated,
    out_of_range,
    wrong_hit_state,
)
from counterpart_emulators.mturk.lifecycle import expire, refresh, reopen
from counterpart_emulators.mturk.listing import page
from counterpart_emulators.mturk.requirements import check_requirements
from counterpart_emulators.mturk.state import HIT, HITType, State
from counterpart_emulators.mturk.validation import YEAR, check_limits
from counterpart_emulators.mturk.xml_documents import read_question

THIRTY_DAYS = 2_592_000  # seconds
OLDEST = datetime(2015, 7, 22, tzinfo=UTC)
SHORTEST = 60  # seconds by which an expiry can be moved
NOT_EMULATED = ("AssignmentReviewPolicy", "HITReviewPolicy", "HITLayoutId", "HITLayoutParameters")


def create_hit_type(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Register a type, or find the one with the same values."""
    return {"HITTypeId": _registered(state, params).id}


def create_hit(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Create a HIT together with its type."""
    _check(state, _wanted(state, params), params)
    return _create(state, _registered(state, params), params)


def create_hit_with_hit_type(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Create a HIT of a registered type."""
    type_id = params["HITTypeId"]
    if type_id not in state.hit_types:
        raise does_not_exist("HITType", type_id)
    _check(state, state.hit_types[type_id], params)
    return _create(state, state.hit_types[type_id], params)


def get_hit(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Show a HIT, even a disposed one."""
    return {"HIT": shown_hit(find_hit(state, params["HITId"]))}


def list_hits(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """List all HITs but the disposed ones, newest first."""
    rows = [hit for hit in state.hits.values() if hit.status != "Disposed"]
    return page(state, params, "HITs", rows, shown_hit, listing="all", newest_first=True)


def list_reviewable_hits(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """List the HITs that wait for review, newest first: Reviewable ones unless Reviewing ones are asked for."""
    status = params.get("Status", "Reviewable")
    type_id = params.get("HITTypeId")
    rows = [hit for hit in state.hits.values() if hit.status == status and type_id in (None, hit.type.id)]
    return page(state, params, "HITs", rows, shown_hit, listing="reviewable", newest_first=True)


def update_review_status(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Move a HIT between Reviewable and Reviewing."""
    hit = find_hit(state, params["HITId"])
    revert = params.get("Revert", False)
    needed = "Reviewing" if revert else "Reviewable"
    if hit.status != needed:
        raise wrong_hit_state(hit.status, needed)
    hit.reviewing = not revert
    refresh(state, hit)
    return {}


def delete_hit(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Dispose of a HIT that has no work left to review."""
    hit = find_hit(state, params["HITId"])
    if hit.status not in ("Reviewable", "Reviewing") or hit.count("Submitted"):
        # The text names only the states, even where unreviewed work is the reason (boto3#2107).
        raise wrong_hit_state(hit.status, "Reviewing", "Reviewable")
    hit.status = "Disposed"
    return {}


def create_additional_assignments(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Add places to a HIT. They cannot be removed again."""
    check_limits(params)
    hit = find_hit(state, params["HITId"])
    count = params["NumberOfAdditionalAssignments"]
    token = params.get("UniqueRequestToken")
    if token is not None and state.made_with("extension", token):
        raise already_processed(token)
    _check_extension(hit, count)
    if not hit.expired:
        hold(state, hit, count)
    hit.max_assignments += count
    state.remember("extension", token, hit.id)
    refresh(state, hit)
    return {}


def update_expiration(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Move the expiry of a HIT: to now, by any past instant, or to a later instant than it is."""
    hit = find_hit(state, params["HITId"])
    until = params["ExpireAt"]
    _require_kept(hit)
    if until < state.now:
        if not hit.expired:
            hit.expires_at = state.now
            expire(state, hit)
        return {}
    # The live service keys a later expiry by HIT and second, and its texts show the key (Dallinger#3109).
    token = f"{hit.id}{until.astimezone(UTC):%a %b %d %H:%M:%S UTC %Y}"
    if state.made_with("expiry", token):
        raise already_processed(token)
    increment = int((until - hit.expires_at).total_seconds())
    if not SHORTEST <= increment <= YEAR:
        raise out_of_range("ExpirationIncrementInSeconds", increment, SHORTEST, YEAR)
    reopen(state, hit, until)
    state.remember("expiry", token, hit.id)
    return {}


def find_hit(state: State, hit_id: str) -> HIT:
    """Return a HIT. Raises TurkError for an unknown one."""
    if hit_id not in state.hits:
        raise does_not_exist("Hit", hit_id)
    return state.hits[hit_id]


def shown_hit(hit: HIT) -> dict[str, Any]:
    """Return a HIT as the API shows it. Its counters leave out submitted work that was not reviewed."""
    return {
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
        "RequesterAnnotation": hit.annotation,
    }


def _wanted(state: State, params: dict[str, Any]) -> HITType:
    """Return the HIT type with these values, without an id where it is not registered. Raises TurkError."""
    check_limits(params)
    requirements = params.get("QualificationRequirements", [])
    check_requirements(state, requirements)
    values = {
        "title": params["Title"],
        "description": params["Description"],
        "keywords": params.get("Keywords", ""),
        "reward": read_amount(params["Reward"]),
        "duration": timedelta(seconds=params["AssignmentDurationInSeconds"]),
        "auto_approval_delay": timedelta(seconds=params.get("AutoApprovalDelayInSeconds", THIRTY_DAYS)),
        "requirements": requirements,
    }
    for known in state.hit_types.values():
        if all(getattr(known, name) == value for name, value in values.items()):
            return known
    return HITType(id="", group_id="", **values)


def _registered(state: State, params: dict[str, Any]) -> HITType:
    """Return the HIT type with these values, registered now if it is new."""
    hit_type = _wanted(state, params)
    if hit_type.id not in state.hit_types:
        hit_type.id = state.mint("HIT type")
        hit_type.group_id = state.mint("HIT group")
        state.hit_types[hit_type.id] = hit_type
    return hit_type


def _check(state: State, hit_type: HITType, params: dict[str, Any]) -> None:
    """Raise TurkError for an invalid HIT before anything is created."""
    check_limits(params)
    if made := state.made_with("HIT", params.get("UniqueRequestToken")):
        raise TurkError(
            f"The HIT with ID {made} was already created with this UniqueRequestToken.", turk_code="HitAlreadyExists"
        )
    if unsupported := [name for name in NOT_EMULATED if name in params]:
        raise not_emulated(f"{', '.join(unsupported)}: not emulated; use a Question instead.")
    if "Question" not in params:
        raise invalid_parameter("Either a Question parameter or a HITLayoutId parameter must be provided.")
    read_question(params["Question"])
    for requirement in hit_type.requirements:
        custom = state.qualification_types.get(requirement["QualificationTypeId"])
        if custom and not custom.active:
            raise TurkError(
                "This operation can be called with a status of: Active", turk_code="InvalidQualificationTypeState"
            )
    count = params.get("MaxAssignments", 1)
    require_funds(state, (hit_type.reward + assignment_fee(state, hit_type, max_assignments=count)) * count)


def _create(state: State, hit_type: HITType, params: dict[str, Any]) -> dict[str, Any]:
    count = params.get("MaxAssignments", 1)
    hit = HIT(
        id=state.mint("HIT"),
        serial=state.count("HIT serial"),
        type=hit_type,
        question=params["Question"],
        created_at=state.now,
        expires_at=state.now + timedelta(seconds=params["LifetimeInSeconds"]),
        max_assignments=count,
        fee=assignment_fee(state, hit_type, max_assignments=count),
        annotation=params.get("RequesterAnnotation"),
    )
    hold(state, hit, count)
    state.hits[hit.id] = hit
    state.schedule(hit.expires_at, "expire", hit.id)
    state.remember("HIT", params.get("UniqueRequestToken"), hit.id)
    return {"HIT": shown_hit(hit)}


def _check_extension(hit: HIT, count: int) -> None:
    _require_kept(hit)
    if hit.created_at < OLDEST:
        raise TurkError(
            "HITs that were created before July 22, 2015 cannot be extended.", turk_code="HITTooOldForExtension"
        )
    if hit.max_assignments < 10 <= hit.max_assignments + count:
        raise TurkError(
            "HITs created with fewer than 10 assignments cannot be extended to have 10 or more assignments.",
            turk_code="InvalidMaximumAssignmentsIncrease",
        )


def _require_kept(hit: HIT) -> None:
    if hit.status == "Disposed":
        raise wrong_hit_state(hit.status, "Assignable", "Unassignable", "Reviewable", "Reviewing")
