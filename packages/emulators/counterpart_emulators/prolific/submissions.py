"""Submissions as the researcher lists, approves and rejects them."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal

from counterpart_emulators.prolific.errors import ProlificError, find, invalid
from counterpart_emulators.prolific.lifecycle import approve, complete, pay_part, request_return, set_status
from counterpart_emulators.prolific.schemas import Category, CompletionCodeData, Some, Text
from counterpart_emulators.prolific.state import State, Submission
from counterpart_emulators.prolific.studies import find_study
from counterpart_emulators.prolific.wallet import minor

Query = Mapping[str, str]
SHORTEST = 100  # characters of a rejection's message
BULK_AFTER = timedelta(seconds=30)


def list_submissions(state: State, query: Query) -> list[dict[str, Any]]:
    """List the submissions of a study, or of the whole account if none is named, oldest first."""
    named = query.get("study")
    rows = find_study(state, named).submissions if named else [*state.submissions.values()]
    wanted = query.get("status", "").upper().replace("_", " ")
    return [_row(each) for each in rows if wanted in ("", each.status)]


def show_submission(state: State, query: Query, *, submission_id: str) -> dict[str, Any]:
    submission = find(state.submissions, submission_id, "Submission")
    return _shown(submission) | {
        "bonus_payments": [minor(amount) for amount in submission.bonuses],
        "return_requested": submission.return_requested,
        "is_complete": submission.completed_at is not None,
        "parent_study_id": None,
    }


def move_submission(
    state: State,
    *,
    submission_id: str,
    action: Literal["APPROVE", "REJECT", "COMPLETE"],
    message: str | None = None,
    rejection_category: Category | None = None,
    completion_code: str | None = None,
    completion_code_data: CompletionCodeData | None = None,
) -> dict[str, Any]:
    """Approve, reject or complete a submission. A repeated decision is ignored."""
    submission = find(state.submissions, submission_id, "Submission")
    if action == "COMPLETE":
        _complete(state, submission, completion_code, completion_code_data)
        return _shown(submission)
    if action == "REJECT" and (len(message or "") < SHORTEST or rejection_category is None):
        raise invalid("message", f"REJECT needs a message of at least {SHORTEST} characters and a rejection_category.")
    wanted = "APPROVED" if action == "APPROVE" else "REJECTED"
    if submission.status == wanted:
        return _shown(submission)
    if submission.status != "AWAITING REVIEW":
        raise ProlificError(f"{action} is not possible for a submission that is {submission.status}.")
    if action == "APPROVE":
        approve(state, submission)
    else:
        submission.decided_at = state.now
        submission.rejection = {"message": str(message), "category": str(rejection_category)}
        set_status(state, submission, "REJECTED")
    return _shown(submission)


def ask_for_return(state: State, *, submission_id: str, request_return_reasons: Some[Text]) -> dict[str, Any]:
    """Ask the participant to return the submission; every call writes to them again."""
    submission = find(state.submissions, submission_id, "Submission")
    if submission.status not in ("ACTIVE", "AWAITING REVIEW"):
        raise ProlificError(f"A return cannot be requested for a submission that is {submission.status}.")
    request_return(state, submission, request_return_reasons)
    return {
        "id": submission.id,
        "status": submission.status,
        "participant": submission.participant_id,
        "return_requested": submission.return_requested,
    }


def approve_in_bulk(
    state: State,
    *,
    submission_ids: list[str] | None = None,
    study_id: str | None = None,
    participant_ids: list[str] | None = None,
) -> str:
    """Approve submissions after BULK_AFTER. Those that do not await review by then are left unchanged."""
    if (submission_ids is None) == (study_id is None or participant_ids is None):
        raise ProlificError("Give either submission_ids, or study_id and participant_ids.")
    if submission_ids is not None:
        chosen = [find(state.submissions, id, "Submission") for id in submission_ids]
    else:
        study = find_study(state, str(study_id))
        wanted = {*(participant_ids or [])}
        chosen = [each for each in study.submissions if each.participant_id in wanted]
    for submission in chosen:
        state.schedule(state.now + BULK_AFTER, "approve in bulk", submission.id)
    return "The request to bulk approve has been made successfully."


def seen_at(state: State, shown: dict[str, Any], then: datetime) -> dict[str, Any]:
    """Return a shown submission with the status and the code that it had at an instant."""
    submission = state.submissions[shown["id"]]
    if submission.completed_at is None or submission.completed_at <= then:
        return shown | {"status": submission.status_at(then)}
    late = {name: None for name in ("completed_at", "entered_code", "study_code", "time_taken") if name in shown}
    return shown | late | {"status": submission.status_at(then)}


def _complete(state: State, submission: Submission, code: str | None, data: Any) -> None:
    """Complete work with a code of the researcher's, for participants who lost their way back."""
    codes = submission.study.terms["completion_codes"]
    known = [each for each in codes if each["code"] == code and each["actor"] == "researcher"]
    if not known:
        raise invalid("completion_code", "The study has no such code for the researcher.")
    if submission.entered_code == code and submission.status != "ACTIVE":
        return
    if submission.status != "ACTIVE":
        raise ProlificError(f"COMPLETE is not possible for a submission that is {submission.status}.")
    partly = any(action["action"] == "DYNAMIC_PAYMENT" for action in known[0]["actions"])
    if partly and data is None:
        raise invalid("completion_code_data", "This field is required for a DYNAMIC_PAYMENT.")
    complete(state, submission, str(code), actor="researcher")
    if partly and data is not None:
        pay_part(state, submission, data["percentage_of_reward"])


def _shown(submission: Submission) -> dict[str, Any]:
    return {
        "id": submission.id,
        "participant": submission.participant_id,
        "study_id": submission.study.id,
        "status": submission.status,
        "started_at": submission.started_at or submission.reserved_at,
        "completed_at": submission.completed_at,
        "entered_code": submission.entered_code,
    }


def _row(submission: Submission) -> dict[str, Any]:
    started = submission.started_at
    completed = submission.completed_at
    same = [each for each in submission.study.submissions if each.participant_id == submission.participant_id]
    return {
        "id": submission.id,
        "participant_id": submission.participant_id,
        "status": submission.status,
        "started_at": started or submission.reserved_at,
        "completed_at": completed,
        "has_siblings": len(same) > 1,
        "study_code": submission.entered_code,
        "return_requested": submission.return_requested,
        "reward": submission.study.terms["reward"] * 100,  # in hundredths of a cent, as live lists show it
        "time_taken": (completed - started).total_seconds() if completed and started else None,
    }
