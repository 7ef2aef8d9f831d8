"""Helpers: workers with a record on controls, and their answers to the controls of one HIT."""

from django.db import transaction

from annotation.models import Assignment, Worker
from annotation.work.grading import grade
from annotation.work.retirement import review_controls_of
from annotation.work.submissions import store_answers, submit_answers
from hits.models import HIT, Control, Item, Round, Seat
from tests.annotation.answering import right_answers
from tests.annotation.cast import say
from tests.factories import make_assignment, make_collection, make_round, make_worker

WRONG = {Control.Polarity.POSITIVE: 4, Control.Polarity.NEGATIVE: 1}
RIGHT = {Control.Polarity.POSITIVE: 1, Control.Polarity.NEGATIVE: 4}


def make_elsewhere(*, hits: int = 4, seats: int = 12) -> Round:
    """A round of another collection with two controls a HIT, for workers to earn a record."""
    return make_round(make_collection("elsewhere", images=4 * hits + 2), "elsewhere", hits=hits, replication=seats)


def seasoned(elsewhere: Round, *, right: int = 0, wrong: int = 0) -> Worker:
    """A worker who has answered ``right`` controls of ``elsewhere`` rightly and then ``wrong`` others wrongly."""
    worker, levels = make_worker(), [RIGHT] * right + [WRONG] * wrong
    items = Item.objects.filter(hit__round=elsewhere, control__isnull=False).select_related("control", "hit")
    for item, level in zip(items.order_by("hit", "place"), levels, strict=False):
        held = Assignment.objects.filter(hit=item.hit, worker=worker).first()
        assignment = held or make_assignment(_open_seat(item.hit.seats), worker)
        Assignment.objects.filter(pk=assignment.pk).update(state="accepted")
        say(assignment, item, level[item.control.polarity])
    return worker


def judge(made: Round, worker: Worker | None = None, *, fails: str = "", graded: bool = True) -> Assignment:
    """Have the worker submit the round's first open HIT, with the controls of the polarities in ``fails`` wrong; grade
    it and apply the rule, as the site does once the submission is committed. Not ``graded``: as a crash before that
    leaves it."""
    assignment = make_assignment(_open_seat(Seat.objects.filter(hit__round=made)), worker)
    polarities = dict(assignment.hit.items.filter(control__isnull=False).values_list("pk", "control__polarity"))
    answers = [
        type(answer)(answer.item_id, WRONG[polarity])
        if (polarity := polarities.get(answer.item_id)) and polarity in fails
        else answer
        for answer in right_answers(assignment)
    ]
    items = assignment.hit.items.in_bulk()
    if graded:
        submit_answers(assignment, answers=answers, active_seconds=60)
        return settle(assignment)
    with transaction.atomic():
        store_answers(assignment, answers, items, 60)
        transaction.get_connection().run_on_commit.clear()
    return Assignment.objects.get(pk=assignment.pk)


def settle(assignment: Assignment) -> Assignment:
    submitted = Assignment.objects.get(pk=assignment.pk)
    grade(submitted)
    review_controls_of(submitted)
    return Assignment.objects.get(pk=assignment.pk)


def _open_seat(seats) -> Seat:
    return seats.filter(state=Seat.State.OPEN).first()


# Votes on whole HITs, and the levels at which workers agree or not


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
