"""Helpers that act as a platform: postings of our HITs, the addresses that its frame opens, its answers."""

from urllib.parse import urlencode

from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment
from crowd.models import Posting, Visit
from hits.models import HIT
from tests.annotation.answering import leased
from tests.annotation.money.moneyed import posted
from tests.factories import put_on_platform

ORIGIN = "https://workers.example"
FRAME = "/judge/at/mturk/emulator/"


def serve_mturk(monkeypatch, *origins: str) -> None:
    """Have the emulator's workers come from these origins."""
    monkeypatch.setenv("MTURK_EMULATOR_URL", "http://127.0.0.1:1")  # never called
    monkeypatch.setenv("MTURK_EMULATOR_ORIGINS", ",".join(origins or (ORIGIN,)))


def post_hit(hit: HIT, external_id: str = "HITONE", **fields: object) -> Posting:
    """The HIT as posted on the platform; its round becomes MTurk's."""
    put_on_platform(hit.round)
    known = {"state": "live", "posted_at": timezone.now(), "max_assignments": 1, "posted_assignments": 1}
    return Posting.objects.create(
        round=hit.round, hit=hit, channel="mturk", environment="emulator", external_id=external_id, **known | fields
    )


def claims(posting: Posting, *, assignment: str = "ASSIGNED", worker: str = "AWORKERONE", to: str = ORIGIN) -> dict:
    """What MTurk adds to our address for a worker who has accepted the HIT."""
    return {
        "assignmentId": assignment,
        "hitId": posting.external_id,
        "turkSubmitTo": to,
        "workerId": worker,
    }


def frame_of(fields: dict) -> str:
    return f"{FRAME}?{urlencode(fields, doseq=True)}"


def enter(client: Client, posting: Posting, **claimed: str) -> str:
    """Open the frame as this worker; the address of their sheet."""
    answer = client.get(frame_of(claims(posting, **claimed)))
    assert answer.status_code == 302, answer.text
    return answer.url


def form_of(posting: Posting, *, level: int = 1, **changes: str) -> dict[str, str]:
    return {f"level-{item.place}": str(level) for item in posting.hit.items.all()} | changes


def save(client: Client, posting: Posting, **claimed: str) -> HttpResponse:
    """Enter and send the whole form."""
    return client.post(enter(client, posting, **claimed), form_of(posting))


def confirm(claim: Assignment, state: str = "submitted") -> None:
    """Note that the platform lists the work."""
    Assignment.objects.filter(pk=claim.pk).update(submitted_at=timezone.now())
    Visit.objects.filter(assignment=claim).update(state=state)


def claimed() -> Assignment:
    """Work on the fake platform that it has not confirmed."""
    made = posted()
    claim = leased(made)
    Assignment.objects.update(seat=None, outside_key="A1")
    claim = Assignment.objects.get(pk=claim.pk)
    made.postings.get().begin_visit(claim)
    return claim
