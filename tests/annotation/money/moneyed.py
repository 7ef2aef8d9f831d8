"""Helpers: a round in either channel, and the acts that move its money."""

from datetime import timedelta
from decimal import Decimal

from django.utils import timezone

from annotation.models import Assignment
from annotation.work.grading import accept, flag
from annotation.work.leases import claim, lease_seat
from annotation.work.submissions import mark_submitted
from crowd.calls.outbox import deliver_due
from crowd.models import Posting
from crowd.posting.publication import publish_round
from hits.models import Round, Seat
from tests.factories import make_round, make_worker

WHERE = {"channel": "mturk", "environment": "emulator"}
UNPAID = {"votes_count": False, "paid": False, "grounds": "random", "evidence": "Every answer is the same."}
WORDS = {"grounds": "random", "reason": "All 18 answers are 100% YES.", "evidence": "See the answers."}


def pooled(**options) -> Round:
    return make_round(**options)


def posted(**options) -> Round:
    """A round on the fake platform, with every HIT on the market."""
    ceiling = Decimal(options.pop("ceiling", "500"))
    made = make_round(published=False, **options)
    Round.objects.filter(pk=made.pk).update(ceiling=ceiling)
    made = publish_round(made, channel="mturk", actor="robin")
    deliver_due(made)
    return made


def begin(made: Round) -> Assignment | None:
    """Have a new worker take a seat: by a lease, or by a submission that the platform lists."""
    if made.channel == "browser":
        return lease_seat(made, worker=make_worker())
    for posting in Posting.objects.filter(hit__round=made, state="live"):
        seat = Seat.objects.filter(hit=posting.hit_id, state="open").first()
        if seat and posting.unused > 0 and claim(seat.pk):
            return _taken_in(posting, seat)
    return None


def submit(made: Round) -> Assignment | None:
    assignment = begin(made)
    if assignment:
        mark_submitted(assignment, active_seconds=240)
    return assignment


def flagged(made: Round) -> Assignment | None:
    assignment = submit(made)
    if assignment:
        flag(assignment, control_failures=1)
    return assignment


def accepted(made: Round) -> Assignment | None:
    assignment = submit(made)
    if assignment:
        accept(assignment)
    return assignment


def _taken_in(posting: Posting, seat: Seat) -> Assignment:
    worker, now = make_worker(), timezone.now()
    assignment = Assignment.objects.create(
        seat=seat, hit=posting.hit, worker=worker, deadline=now, submitted_at=now, outside_key=f"A{worker.pk}"
    )
    posting.begin_visit(assignment, state="submitted", auto_approval_at=now + timedelta(days=7))
    return assignment
