"""A platform that lists whole rounds: its visitors come with a session, and some of what they do there."""

from datetime import timedelta

from django.utils import timezone

from annotation.models import LISTED
from crowd.channels import ChannelError, Listed, Listing, Outcome
from tests.crowd.fakes import FakePlatform

CODES = {Outcome.DONE: "DONE1", Outcome.NO_WORK: "NOWORK1", Outcome.NO_CONSENT: "NOCONSENT1"}


class FakeSessions(FakePlatform):
    """``sessions`` maps a session to its worker and status; ``unreachable``: no session can be confirmed."""

    shortest_reason = 100

    def __init__(self) -> None:
        super().__init__()
        self.sessions: dict[str, tuple[str, str]] = {}
        self.unreachable = False

    def confirm(self, posting, arrival):
        if self.unreachable:
            return False
        if self.sessions.get(arrival.assignment_id, ("", ""))[0] != arrival.worker_id:
            raise ChannelError("It is somebody else's.", permanent=True)
        return True

    def finish(self, posting, outcome):
        return f"{self.origin}/finish", {"cc": CODES[outcome]}

    def longest_session(self, posting):
        return timedelta(minutes=30)

    def pause(self, posting, *, paused):
        self._take("pause" if paused else "start", str(posting.pk))

    def come(self, session, worker, status=""):
        """Have a worker reserve a place, or their session move on to ``status``."""
        self.sessions[session] = (worker, status)

    def collect(self, posting):
        now = timezone.now()
        listed = [
            Listed(session, worker, status, now if status in LISTED else None, None, None, "")
            for session, (worker, status) in self.sessions.items()
        ]
        is_over = posting.round.state == "closed" and all(status for _, status in self.sessions.values())
        return Listing("ACTIVE", posting.posted_assignments, 0, is_over, None, listed)
