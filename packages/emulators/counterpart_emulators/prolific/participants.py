"""Participants: the studies that they see, and their acts."""

import re
from typing import Any
from urllib.parse import quote

from counterpart_emulators.marketplace import Refusal
from counterpart_emulators.prolific.groups import admits
from counterpart_emulators.prolific.lifecycle import complete, set_status
from counterpart_emulators.prolific.state import OPEN, Participant, State, Study, Submission
from counterpart_emulators.prolific.studies import allocated

ID = re.compile(r"[0-9a-f]{24}")
DEVICES = ("desktop", "tablet", "mobile")


def register_participant(
    state: State, *, participant_id: str | None = None, approval_rate: int = 100, device: str = "desktop"
) -> dict[str, Any]:
    """Register a participant, or change one, and return their id. Raises Refusal for invalid values."""
    id = participant_id or state.mint("participant")
    if not ID.fullmatch(id):
        raise Refusal(f"{id!r} is not a participant id: use 24 characters of 0-9 and a-f.")
    if not 0 <= approval_rate <= 100 or device not in DEVICES:
        raise Refusal(f"A participant has an approval rate of 0 to 100 per cent and a device: {', '.join(DEVICES)}.")
    participant = state.participants.setdefault(id, Participant(id))
    participant.approval_rate = approval_rate
    participant.device = device
    return {"participant_id": id}


def reserve(state: State, *, study_id: str, participant_id: str) -> dict[str, Any]:
    """Take a place of a study for ten minutes. Returns submission_id; raises Refusal."""
    participant = find_participant(state, participant_id)
    study = state.studies.get(study_id)
    if study is None or study.status == "UNPUBLISHED":
        raise Refusal("This study does not exist.")
    if reason := why_not(state, study, participant):
        raise Refusal(reason)
    submission = Submission(
        id=state.mint("submission"),
        serial=state.count("submission serial"),
        study=study,
        participant_id=participant.id,
        reserved_at=state.now,
        url=_url(study),
    )
    for rows in (study.submissions, participant.submissions):
        rows.append(submission)
    state.submissions[submission.id] = submission
    set_status(state, submission, "RESERVED")
    state.schedule(submission.deadline, "time out", submission.id)
    return {"submission_id": submission.id}


def start(state: State, *, submission_id: str, participant_id: str) -> dict[str, Any]:
    """Open the study: returns its address with the ids filled in, the same one again while it is worked on."""
    submission = own_submission(state, submission_id, participant_id)
    if submission.status == "RESERVED":
        submission.started_at = state.now
        state.schedule(submission.deadline, "time out", submission.id)
        set_status(state, submission, "ACTIVE")
    elif submission.status != "ACTIVE":
        raise Refusal(f"This study cannot be opened any more: your submission is {submission.status.lower()}.")
    return {"url": filled(submission)}


def enter_code(state: State, *, submission_id: str, participant_id: str, code: str) -> dict[str, Any]:
    """End work with a completion code. Late work still counts while its place is free. Raises Refusal."""
    submission = own_submission(state, submission_id, participant_id)
    if not submission.can_complete:
        raise Refusal(f"A code cannot be entered any more: your submission is {submission.status.lower()}.")
    complete(state, submission, code.strip() or "NOCODE")
    return {"submission_id": submission.id, "status": submission.status}


def give_back(state: State, *, submission_id: str, participant_id: str) -> dict[str, Any]:
    """Return a submission that was not decided. Raises Refusal."""
    submission = own_submission(state, submission_id, participant_id)
    if not submission.can_return:
        raise Refusal(f"It cannot be returned: your submission is {submission.status.lower()}.")
    set_status(state, submission, "RETURNED")
    return {"submission_id": submission.id}


def awaited(state: State, participant_id: str) -> Submission:
    """Return the submission that a code in a link ends: the open one, else the latest that timed out."""
    participant = find_participant(state, participant_id)
    late = [each for each in participant.submissions if each.status == "TIMED-OUT" and each.started_at]
    if participant.open is not None or late:
        return participant.open or late[-1]
    raise Refusal("You have no study to complete; it may have been completed or returned already.")


def open_studies(state: State, participant_id: str) -> list[Study]:
    """Return the studies that a participant can take now, newest first."""
    participant = find_participant(state, participant_id)
    return [study for study in reversed(state.studies.values()) if not why_not(state, study, participant, busy=False)]


def why_not(state: State, study: Study, participant: Participant, *, busy: bool = True) -> str:
    """Return why a participant cannot take a study; "" if they can. ``busy``: other work counts as a reason."""
    theirs = sum(each.participant_id == participant.id for each in study.submissions)
    at_once = study.terms["submissions_config"]["max_concurrent_submissions"]
    working = sum(each.status in OPEN for each in study.submissions)
    reasons = (
        (study.status != "ACTIVE", "This study is not recruiting."),
        (study.free < 1, "All places of this study are taken."),
        (at_once not in (None, -1) and working >= (at_once or 0), "All places of this study are taken for now."),
        (study.repeats != -1 and theirs >= study.repeats, "You have taken this study already."),
        (not admits(state, study, participant), "You are not eligible for this study."),
        (busy and participant.open is not None, "Finish or return the study that you work on first."),
    )
    return next((text for holds, text in reasons if holds), "")


def own_submission(state: State, submission_id: str, participant_id: str) -> Submission:
    """Return a participant's submission. Raises Refusal where it is not theirs."""
    submission = state.submissions.get(submission_id)
    if submission is None or submission.participant_id != participant_id:
        raise Refusal(f"You have no submission {submission_id}.")
    return submission


def find_participant(state: State, participant_id: str) -> Participant:
    """Return the participant with an id. Raises Refusal for an unknown one."""
    if participant_id not in state.participants:
        raise Refusal(f"No participant {participant_id!r} is registered.")
    return state.participants[participant_id]


def filled(submission: Submission, **other: str) -> str:
    """Return a submission's address with its ids, or others, filled in."""
    ids = {"PROLIFIC_PID": submission.participant_id, "STUDY_ID": submission.study.id, "SESSION_ID": submission.id}
    url = submission.url
    for name, value in (ids | other).items():
        for mark in (f"{{{{%{name}%}}}}", quote(f"{{{{%{name}%}}}}")):
            url = url.replace(mark, value)
    return url


def _url(study: Study) -> str:
    """Return the address for the next participant: the first of a taskflow study that has a place."""
    tasks = study.terms["access_details"]
    if not tasks:
        return str(study.terms["external_study_url"])
    open_tasks = (
        each["external_url"] for each in tasks if allocated(study, each["external_url"]) < each["total_allocation"]
    )
    return str(next(open_tasks, tasks[0]["external_url"]))
