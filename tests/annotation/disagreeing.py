"""Votes on whole HITs, and the levels at which workers agree or not."""

from annotation.models import Assignment, Worker
from annotation.work.submissions import submit_answers
from hits.models import HIT, Round, Seat
from tests.annotation.answering import right_answers
from tests.annotation.controlling import settle
from tests.factories import make_assignment, make_round


def make_topped_up(hits: int = 1, *, replication: int = 2, top_up: int = 1, candidates: int = 2) -> Round:
    """An open round that asks for further votes where workers disagree."""
    made = make_round(hits=hits, replication=replication, candidates=candidates)
    Round.objects.filter(pk=made.pk).update(top_up=top_up)
    return Round.objects.get(pk=made.pk)


def vote(hit: HIT, *levels: int, worker: Worker | None = None) -> Assignment:
    """Have a worker answer an open seat of the HIT: its candidates at ``levels`` (one for all), its controls right."""
    assignment = make_assignment(hit.seats.filter(state=Seat.State.OPEN).first(), worker)
    places = hit.items.filter(control=None).order_by("place").values_list("pk", flat=True)
    wanted = dict(zip(places, levels if len(levels) > 1 else levels * len(places), strict=True))
    answers = [type(one)(one.item_id, wanted.get(one.item_id, one.level)) for one in right_answers(assignment)]
    submit_answers(assignment, answers=answers, active_seconds=60)
    return settle(assignment)
