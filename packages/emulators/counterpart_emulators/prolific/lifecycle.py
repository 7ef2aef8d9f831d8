"""The life of studies and submissions: what each change does to places and money, and what time does by itself."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from counterpart_emulators.money import CENT
from counterpart_emulators.prolific import wallet
from counterpart_emulators.prolific.hooks import announce
from counterpart_emulators.prolific.state import (
    OPEN,
    TAKING,
    Message,
    State,
    Study,
    StudyStatus,
    Submission,
    SubmissionStatus,
)

APPROVED_AFTER = timedelta(days=21)


def set_study_status(state: State, study: Study, status: StudyStatus) -> None:
    """Set a study's status, and announce it if it changes."""
    if status != study.status:
        study.status = status
        study.history.append((state.now, status))
        announce(state, "study.status.change", study.id, status=status)


def refresh(state: State, study: Study) -> None:
    """Derive the status of a published study that is not paused from its places and its submissions."""
    if study.status not in ("ACTIVE", "AWAITING REVIEW", "COMPLETED"):
        return
    is_open = study.free or any(each.status in OPEN for each in study.submissions)
    set_study_status(state, study, "ACTIVE" if is_open and not study.stopped else _end_of(study))


def _end_of(study: Study) -> StudyStatus:
    waits = any(each.status == "AWAITING REVIEW" for each in study.submissions)
    return "AWAITING REVIEW" if waits else "COMPLETED"


def set_status(state: State, submission: Submission, status: SubmissionStatus) -> None:
    """Change a submission's status with all that follows for its study: places, money on hold, announcements."""
    study = submission.study
    took = bool(submission.history) and submission.status in TAKING
    is_withdrawn = submission.status == "AWAITING REVIEW" and status in ("REJECTED", "RETURNED")
    submission.status = status
    submission.history.append((state.now, status))
    announce(state, "submission.status.change", submission.id, participant_id=submission.participant_id, status=status)
    takes = status in TAKING
    if took and not takes and study.stopped:
        wallet.release(state, study, 1)  # its place cannot be taken again
    if took != takes:
        progress = {"places_taken": study.taken, "total_available_places": study.places}
        announce(state, "study.progress.change", study.id, **progress)
    if is_withdrawn and study.status == "AWAITING REVIEW" and not study.stopped:
        set_study_status(state, study, "PAUSED")  # a full study is refilled only once its researcher starts it
    refresh(state, study)


def publish(state: State, study: Study) -> None:
    """Open a study whose price is on hold."""
    study.published_at = state.now
    set_study_status(state, study, "ACTIVE")


def resume(state: State, study: Study) -> None:
    """Recruit again after a pause."""
    set_study_status(state, study, "ACTIVE")
    refresh(state, study)


def stop(state: State, study: Study) -> None:
    """End recruiting, and give back the money for the free places."""
    study.stopped = True
    wallet.release(state, study, study.free)
    set_study_status(state, study, _end_of(study))


def add_places(state: State, study: Study, count: int) -> None:
    """Add places to a published study, which becomes active again. Raises ProlificError where funds are short."""
    reopened = study.free if study.stopped else 0
    wallet.hold(state, study, count + reopened)
    study.stopped = False
    study.terms["total_available_places"] += count
    refresh(state, study)


def approve(state: State, submission: Submission) -> None:
    """Approve work and pay its reward."""
    submission.decided_at = state.now
    wallet.pay_reward(state, submission)
    set_status(state, submission, "APPROVED")


def complete(state: State, submission: Submission, code: str, *, actor: str = "participant") -> None:
    """End work with a code and do the code's actions; with an unknown code, the work awaits review."""
    codes = submission.study.terms["completion_codes"]
    actions: list[dict[str, Any]] = next(
        (each["actions"] for each in codes if each["code"] == code and each["actor"] == actor), []
    )
    submission.entered_code = code
    submission.completed_at = state.now
    by_name = {action["action"]: action for action in actions}
    if screened := by_name.get("FIXED_SCREEN_OUT_PAYMENT"):
        _screen_out(state, submission, screened)
        return
    set_status(state, submission, "AWAITING REVIEW")
    state.schedule(state.now + APPROVED_AFTER, "approve", submission.id)
    if asked := by_name.get("REQUEST_RETURN"):
        request_return(state, submission, [asked["return_reason"]])
    for action in actions:
        if group := state.groups.get(action.get("participant_group", "")):
            if action["action"] == "ADD_TO_PARTICIPANT_GROUP":
                group.members.setdefault(submission.participant_id, state.now)
            else:
                group.members.pop(submission.participant_id, None)
    if "AUTOMATICALLY_APPROVE" in by_name:
        approve(state, submission)


def pay_part(state: State, submission: Submission, percentage: float) -> None:
    """Approve work that awaits review for a part of its reward."""
    submission.decided_at = state.now
    share = wallet.place_price(submission.study).reward * Decimal(str(percentage)) / 100
    wallet.pay_reward(state, submission, share.quantize(CENT, ROUND_HALF_UP))
    set_status(state, submission, "PARTIALLY APPROVED")


def request_return(state: State, submission: Submission, reasons: list[str]) -> None:
    """Ask a participant to return their work."""
    submission.return_requested = state.now
    write_to(state, submission.participant_id, submission.study.id, "Please return your work: " + "; ".join(reasons))


def write_to(state: State, participant_id: str, study_id: str, text: str) -> None:
    """Send a message to a participant."""
    state.messages.append(Message(state.mint("message"), participant_id, study_id, text, state.now))


def _screen_out(state: State, submission: Submission, action: dict[str, Any]) -> None:
    study = submission.study
    submission.decided_at = state.now
    wallet.pay_screen_out(state, submission, Decimal(action["fixed_screen_out_reward"]) / 100)
    set_status(state, submission, "SCREENED OUT")
    if sum(each.status == "SCREENED OUT" for each in study.submissions) >= action["slots"] and study.free:
        set_study_status(state, study, "PAUSED")


def _publish_if_due(state: State, study_id: str) -> None:
    study = state.studies.get(study_id)
    if study is None:
        return
    if study.status == "PUBLISHING":
        publish(state, study)
    elif study.status == "SCHEDULED" and study.terms["publish_at"] == state.now:
        price = wallet.place_price(study).total * study.places
        if price > state.ledger.available:
            set_study_status(state, study, "UNPUBLISHED")
        else:
            wallet.hold(state, study, study.places)
            publish(state, study)


def _time_out(state: State, submission_id: str) -> None:
    submission = state.submissions[submission_id]
    if submission.status in OPEN and submission.deadline <= state.now:
        set_status(state, submission, "TIMED-OUT")


def _approve_if_due(state: State, submission_id: str) -> None:
    submission = state.submissions[submission_id]
    if submission.status != "AWAITING REVIEW" or submission.completed_at is None or submission.started_at is None:
        return
    rushed = submission.completed_at - submission.started_at < submission.study.estimated / 2
    if submission.completed_at + APPROVED_AFTER <= state.now and not (rushed and submission.study.repeats != 1):
        approve(state, submission)


def _approve_in_bulk(state: State, submission_id: str) -> None:
    if state.submissions[submission_id].status == "AWAITING REVIEW":
        approve(state, state.submissions[submission_id])


def _pay_bonuses(state: State, run_id: str) -> None:
    for submission_id, amount in state.bonus_runs.pop(run_id).amounts:
        wallet.pay_bonus(state, state.submissions[submission_id], amount)


MOVES: Mapping[str, Callable[[State, str], None]] = {
    "publish": _publish_if_due,
    "time out": _time_out,
    "approve": _approve_if_due,
    "approve in bulk": _approve_in_bulk,
    "pay bonuses": _pay_bonuses,
}
