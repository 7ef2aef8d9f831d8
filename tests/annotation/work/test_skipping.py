"""Answers that say that the picture does not load: no vote, and no judgment of the worker either."""

import pytest

from annotation.models import Assignment, Judgment, Report
from annotation.work.answers import NO_PICTURE, Answer
from annotation.work.disputes import disputed_pairs
from annotation.work.reports import Complaint, report_pair
from annotation.work.submissions import submit_answers
from core.errors import CounterpartError
from hits.models import Control, Item
from tests.annotation.answering import address, right_answers
from tests.annotation.controlling import settle
from tests.annotation.disagreeing import make_topped_up
from tests.factories import make_assignment, make_round


def skip(made, *kinds: str, seat: int = 1) -> Assignment:
    """A HIT whose worker could not load the pictures of these items ("candidate", "positive", "negative"), each the
    first of its kind, and answered all others right."""
    hit = made.hits.first()
    assignment = make_assignment(hit.seats.get(number=seat))
    skipped = [items_of(hit, kind)[kinds[:n].count(kind)].pk for n, kind in enumerate(kinds)]
    answers = [Answer(one.item_id, NO_PICTURE) if one.item_id in skipped else one for one in right_answers(assignment)]
    submit_answers(assignment, answers=answers, active_seconds=60)
    return settle(assignment)


def items_of(hit, kind: str) -> list[Item]:
    polarity = {} if kind == "candidate" else {"control__polarity": kind}
    return list(hit.items.filter(control__isnull=kind == "candidate", **polarity).order_by("place"))


def test_a_pair_whose_picture_does_not_load_gets_a_report_and_no_vote(db):
    assignment = skip(make_round(), "candidate")
    report = Report.objects.get()
    assert (assignment.state, assignment.receipt != "") == ("accepted", True)
    assert Judgment.objects.filter(assignment=assignment).count() == 3
    assert (report.problem, report.worker) == ("picture", assignment.worker)
    assert not Judgment.objects.filter(image=report.image, caption=report.caption).exists()


@pytest.mark.parametrize("polarity", Control.Polarity.values)
def test_a_control_whose_picture_does_not_load_is_neither_right_nor_wrong(db, polarity):
    assignment = skip(make_round(), polarity)
    assert (assignment.state, assignment.control_failures) == ("accepted", 0)


def test_another_control_still_judges_the_work(db):
    made = make_round()
    assignment = make_assignment(made.hits.get().seats.get())
    said = {1: NO_PICTURE, 4: 1, 2: 2}  # the positive control, the negative one, candidates
    answers = [Answer(one.item_id, said[one.level]) for one in right_answers(assignment, level=2)]
    submit_answers(assignment, answers=answers, active_seconds=60)
    settled = settle(assignment)
    assert (settled.state, settled.control_failures) == ("flagged", 1)


@pytest.mark.parametrize(
    ("kinds", "words"),
    [(("candidate", "candidate"), "2 of 4 pairs"), (("positive", "negative"), "2 of 4 pairs")],
)
def test_work_that_skips_many_pairs_waits_for_a_person(db, kinds, words):
    assignment = skip(make_round(), *kinds)
    assert assignment.state == "flagged"
    assert words in assignment.problem


def test_work_that_skips_every_control_waits_for_a_person(db):
    made = make_round(candidates=10)
    assignment = skip(made, "positive", "negative")
    assert (assignment.state, "No control" in assignment.problem) == ("flagged", True)


def test_a_picture_that_does_not_load_is_reported_although_the_worker_reported_something_else(db):
    made = make_topped_up(replication=1)
    assignment = make_assignment(made.hits.first().seats.get(number=1))
    item = items_of(made.hits.first(), "candidate")[0]
    report_pair(assignment, Complaint(item.pk, "text", "It is in German."))
    said = [Answer(one.item_id, NO_PICTURE) if one.item_id == item.pk else one for one in right_answers(assignment)]
    submit_answers(assignment, answers=said, active_seconds=60)
    settle(assignment)
    report = Report.objects.get()
    assert (report.problem, report.note) == ("picture", "It is in German.")
    assert disputed_pairs(made) == [(item.image_id, item.caption_id)]


def test_the_vote_is_wanted_again_where_the_round_asks_for_further_votes(db):
    made = make_topped_up(replication=1)
    skip(made, "candidate")
    report = Report.objects.get()
    assert disputed_pairs(made) == [(report.image_id, report.caption_id)]
    made.top_up = 0
    assert disputed_pairs(made) == []


def test_the_page_takes_the_answer_keeps_it_as_a_draft_and_frees_the_worker(stranger, db):
    assignment = make_assignment(make_round().hits.get().seats.get())
    saved = stranger.post(address("draft", assignment), {"place": 1, "level-1": "0"})
    assert saved.json() == {"saved": True}
    assert 'value="0" checked' in stranger.get(address("task", assignment)).text
    levels = {"level-1": "0", "level-2": "2", "level-3": "2", "level-4": "2"}
    sent = stranger.post(address("task", assignment), levels)
    assert sent.status_code == 302
    assert Report.objects.get().problem == "picture"


def test_a_reason_with_it_is_refused(stranger, db):
    assignment = make_assignment(make_round(reasons=True).hits.get().seats.get())
    answers = [Answer(one.item_id, NO_PICTURE, "grammar") for one in right_answers(assignment)]
    with pytest.raises(CounterpartError, match="not asked for"):
        submit_answers(assignment, answers=answers, active_seconds=60)
