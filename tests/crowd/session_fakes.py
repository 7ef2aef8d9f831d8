"""A platform that lists whole rounds, a round on it, and its visitors, who come with a session and get a HIT."""

import re
from datetime import timedelta

from django.utils import timezone

from annotation.models import Assignment
from crowd.channels.base import ChannelError, Listed, Listing, Outcome
from crowd.models import Posting, Visit
from crowd.sync import sync_round
from tests.annotation.answering import as_form, right_answers
from tests.crowd.fakes import FakePlatform

ENTRY = "/judge/at/visits/emulator/"
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
            raise ChannelError("It is another worker's.", permanent=True)
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
            Listed(session, worker, status, now if status in Visit.LISTED else None, None, None, "")
            for session, (worker, status) in self.sessions.items()
        ]
        is_over = posting.round.state == "closed" and all(status for _, status in self.sessions.values())
        return Listing("ACTIVE", posting.posted_assignments, 0, is_over, None, listed)


def enter(client, session="S1", worker="P1"):
    """Come with a session; the address of the consent page."""
    posting = Posting.objects.get()
    answer = client.get(ENTRY, {"posting": posting.external_id, "assignment": session, "worker": worker})
    assert answer.status_code == 303, answer.text
    return answer.url


def agree(client, address, answer="yes"):
    page = client.get(address)
    sheet = re.search(r'name="sheet" value="(\d+)"', page.text)[1]
    return client.post(address, {"consent": answer, "sheet": sheet})


def start(client, there, session="S1", worker="P1"):
    """Come, agree, and open the HIT."""
    there.come(session, worker)
    answer = agree(client, enter(client, session, worker))
    assert answer.status_code == 303, answer.text
    return answer.url


def start_without_hit(client, there, session, worker):
    """Come while no HIT is left, and agree."""
    there.come(session, worker)
    assert "NOWORK1" in agree(client, enter(client, session, worker)).text


def work(client, there, session="S1", worker="P1", *, listed="submitted", wrong=False):
    """Come, answer everything, and finish on the platform."""
    sheet = start(client, there, session, worker)
    assignment = Assignment.objects.get(outside_key=session)
    form = as_form(assignment, right_answers(assignment))
    assert "DONE1" in client.post(sheet, dict.fromkeys(form, "1") if wrong else form).text
    there.come(session, worker, listed)
    return Assignment.objects.get(pk=assignment.pk)


def sync(made, commit):
    with commit(execute=True):
        return sync_round(made)
