"""Workers report a pair that has a problem of its own: stored once, and nothing else changes."""

import pytest
from django.test import Client

from annotation.judging.sheet import shown_in
from annotation.models import Assignment, Draft, Judgment, Report
from annotation.people.erasure import forget_worker
from annotation.work.answers import NO_PICTURE, Answer, SeatLostError, places_of
from annotation.work.disputes import disputed_pairs
from annotation.work.leases import return_assignment
from annotation.work.reports import LONGEST_NOTE, Complaint, report_pair
from annotation.work.submissions import submit_answers
from core.errors import CounterpartError
from core.models import Event
from hits.models import Control, Item, Round
from tests.annotation.answering import address, leased, right_answers, shown, submit
from tests.annotation.controlling import make_topped_up, settle
from tests.factories import make_assignment, make_round, make_worker


@pytest.fixture
def two_seats(db) -> Round:
    return make_round(replication=2)


def send(client: Client, assignment: Assignment, place: int = 2, problem: str = "picture", note: str = ""):
    fields = {"place": str(place), f"problem-{place}": problem, f"note-{place}": note}
    return client.post(address("draft", assignment), fields)


def reported(assignment: Assignment) -> dict[int, str]:
    """Return the problems that the worker reported, by item."""
    shown = shown_in(assignment.hit_id, worker=assignment.worker_id)
    return {one.item: one.problem for one in shown if one.problem}


def refused(assignment: Assignment, *said: str, item: int = 0) -> pytest.ExceptionInfo:
    with pytest.raises(CounterpartError) as caught:
        report_pair(assignment, Complaint(item or places_of(assignment)[1], *said))
    assert not Report.objects.exists()
    return caught


def test_a_report_is_stored_with_its_pair_and_an_event(stranger, assignment):
    assert send(stranger, assignment, 2, "other", " It is upside down. ").json() == {"errors": {}}
    report, item = Report.objects.get(), shown(assignment)[1]
    assert (report.worker, report.image, report.caption) == (assignment.worker, item.image, item.caption)
    assert (report.problem, report.note) == ("other", "It is upside down.")
    event = Event.objects.get(verb="reported")
    assert (event.subject, event.data) == (f"annotation.report:{report.pk}", {"problem": "other"})
    assert reported(assignment) == {item.pk: "other"}


def test_a_worker_reports_a_pair_once_and_the_first_report_stays(stranger, assignment):
    send(stranger, assignment, 2, "picture")
    assert send(stranger, assignment, 2, "text").json() == {"errors": {}}
    assert list(Report.objects.values_list("problem", flat=True)) == ["picture"]
    assert Event.objects.filter(verb="reported").count() == 1


def test_two_workers_report_the_same_pair_and_do_not_see_each_other(two_seats):
    first, other = (make_assignment(seat, make_worker()) for seat in two_seats.seats.all())
    item = shown(first)[0]
    for one in (first, other):
        report_pair(one, Complaint(item.pk, "offensive"))
        assert list(reported(one)) == [item.pk]
    assert Report.objects.count() == 2
    later = make_round(two_seats.pool.collection, "later")
    assert reported(make_assignment(later.hits.get().seats.get())) == {}


def test_an_invalid_report_is_refused(assignment):
    assert "Choose what is wrong" in str(refused(assignment, "ugly").value)
    assert "shorten it to 300" in str(refused(assignment, "other", "x" * (LONGEST_NOTE + 1)).value)
    assert "1 control character" in str(refused(assignment, "other", "a\0b").value)
    other = shown(leased(make_round(assignment.hit.round.pool.collection, "other")))[0]
    assert "another HIT" in str(refused(assignment, "text", item=other.pk).value)


def test_a_report_of_a_pair_that_is_not_in_the_hit_is_refused(stranger, assignment):
    for fields in ({}, {"problem-99": "text"}):
        response = stranger.post(address("draft", assignment), fields)
        assert response.status_code == 422
        assert not Report.objects.exists()


def test_nothing_is_reported_of_a_hit_that_was_given_back(stranger, assignment):
    item = places_of(assignment)[1]
    return_assignment(assignment, actor="worker")
    assert send(stranger, assignment).status_code == 409
    with pytest.raises(SeatLostError):
        report_pair(Assignment.objects.get(), Complaint(item, "text"))
    assert not Report.objects.exists()


def test_a_report_changes_no_answer_no_control_and_no_pay(stranger, two_seats):
    plain, reporting = (make_assignment(seat, make_worker()) for seat in two_seats.seats.all())
    for place in range(1, 5):
        send(stranger, reporting, place)
    assert not Draft.objects.exists()
    for one in (plain, reporting):
        submit(stranger, one)
    outcomes = [
        (settle(one).state, one.judgments.count(), one.payments.get().amount)
        for one in Assignment.objects.order_by("pk")
    ]
    assert outcomes == [("accepted", 4, two_seats.reward)] * 2
    assert set(two_seats.controls.values_list("state", flat=True)) == {"active"}


def test_what_was_reported_is_shown_on_the_page_and_its_fields_are_not(stranger, assignment):
    send(stranger, assignment, 2)
    page = stranger.get(address("task", assignment)).text
    assert page.count("You reported this: the picture is missing or broken.") == 1
    assert 'name="problem-2"' not in page
    assert 'name="problem-3"' in page


@pytest.mark.parametrize(
    ("change", "status", "reports", "judgments"),
    [({}, 302, 1, 4), ({"level-1": ""}, 422, 1, 0), ({"problem-3": "ugly"}, 302, 0, 4)],
)
def test_without_a_script_valid_reports_come_with_the_answers(stranger, assignment, change, status, reports, judgments):
    fields = {"problem-3": "text", "note-3": "Half is cut off.", "problem-1": "", **change}
    assert submit(stranger, assignment, **fields).status_code == status
    assert list(Report.objects.values_list("note", flat=True)) == ["Half is cut off."] * reports
    assert Judgment.objects.count() == judgments


def test_only_the_link_of_the_hit_reports_its_pairs(stranger, assignment):
    assert stranger.post("/judge/task/MQ:1x:forged/draft/", {"problem-1": "text"}).status_code == 404
    assert stranger.get(address("draft", assignment)).status_code == 405
    assert send(Client(enforce_csrf_checks=True), assignment).status_code == 200


def test_words_of_a_report_are_erased_with_their_worker(stranger, assignment):
    send(stranger, assignment, 1, "other", "I am Jo and know this dog.")
    forget_worker(assignment.worker.pseudonym, actor="robin")
    report = Report.objects.get()
    assert (report.note, report.problem) == ("[erased]", "other")


# Answers that say that the picture does not load: no vote, and no judgment of the worker either


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


def test_work_that_skips_many_pairs_waits_for_a_person(db):
    assignment = skip(make_round(), "candidate", "candidate")
    assert (assignment.state, "2 of 4 pairs" in assignment.problem) == ("flagged", True)


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
    assert saved.json() == {"errors": {}}
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
