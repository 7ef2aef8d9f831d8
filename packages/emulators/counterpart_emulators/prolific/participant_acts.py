"""What participants do, and the faults they meet: time that passes, and forged addresses."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from counterpart_emulators.marketplace import PersonActs
from counterpart_emulators.prolific.participants import filled
from counterpart_emulators.prolific.state import Submission
from counterpart_emulators.prolific.world import World

STRANGER = "f" * 24


def _without_session(submission: Submission) -> str:
    parts = urlsplit(filled(submission))
    kept = [(name, value) for name, value in parse_qsl(parts.query) if value != submission.id]
    return urlunsplit(parts._replace(query=urlencode(kept)))


def _repeated(submission: Submission) -> str:
    parts = urlsplit(filled(submission))
    return urlunsplit(parts._replace(query=f"{parts.query}&{parts.query}"))


ADDRESSES: Mapping[str, Callable[[Submission], str]] = {
    "literal": lambda submission: submission.url,
    "other participant": lambda submission: filled(submission, PROLIFIC_PID=STRANGER),
    "other session": lambda submission: filled(submission, SESSION_ID=STRANGER),
    "missing": _without_session,
    "repeated": _repeated,
}


class ParticipantActs(PersonActs[World]):
    """Acts for participants. Faults name these operations: reserve, start, complete and return. All raise Refusal."""

    def reserve(self, study_id: str, participant_id: str) -> str:
        """Take a place, and return the submission's id."""
        self.let_time_pass("reserve")
        done = self._world.act("reserve", study_id=study_id, participant_id=participant_id)
        return str(done["submission_id"])

    def start(self, submission_id: str, participant_id: str) -> str:
        """Open the study, and return its address."""
        done = self._act("start", submission_id, participant_id)
        for fault in self._plan.happening("start", "address")[:1]:
            with self._world.looking() as state:
                return ADDRESSES[fault.settings["form"]](state.submissions[submission_id])
        return str(done["url"])

    def complete(self, submission_id: str, participant_id: str, code: str) -> None:
        self._act("complete", submission_id, participant_id, code=code)

    def give_back(self, submission_id: str, participant_id: str) -> None:
        self._act("return", submission_id, participant_id)

    def _act(self, name: str, submission_id: str, participant_id: str, **more: str) -> Any:
        self.let_time_pass(name)
        return self._world.act(name, submission_id=submission_id, participant_id=participant_id, **more)
