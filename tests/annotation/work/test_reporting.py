"""Workers report a pair that has a problem of its own: stored once, and nothing else changes."""

import pytest
from django.test import Client

from annotation.models import Assignment, Draft, Judgment, Report
from annotation.people.erasure import forget_worker
from annotation.work.answers import SeatLostError, places_of
from annotation.work.leases import return_assignment
from annotation.work.reports import LONGEST_NOTE, Complaint, report_pair, reported_problems
from core.errors import CounterpartError
from core.models import Event
from hits.models import Round
from tests.annotation.answering import address, leased, shown, submit
from tests.annotation.controlling import settle
from tests.factories import make_assignment, make_round, make_worker


@pytest.fixture
def made(db) -> Round:
    return make_round(replication=2)


def send(client: Client, assignment: Assignment, place: int = 2, problem: str = "picture", note: str = ""):
    fields = {"place": str(place), f"problem-{place}": problem, f"note-{place}": note}
    return client.post(address("report", assignment), fields)


def refused(assignment: Assignment, *said: str, item: int = 0) -> pytest.ExceptionInfo:
    with pytest.raises(CounterpartError) as caught:
        report_pair(assignment, Complaint(item or places_of(assignment)[1], *said))
    assert not Report.objects.exists()
    return caught


def test_a_report_is_stored_with_its_pair_and_an_event(stranger, assignment):
    assert send(stranger, assignment, 2, "other", " It is upside down. ").json() == {"saved": True}
    report, item = Report.objects.get(), shown(assignment)[1]
    assert (report.worker, report.image, report.caption) == (assignment.worker, item.image, item.caption)
    assert (report.problem, report.note) == ("other", "It is upside down.")
    event = Event.objects.get(verb="reported")
    assert (event.subject, event.data) == (f"annotation.report:{report.pk}", {"problem": "other"})
    assert reported_problems(assignment) == {item.pk: "something else"}


def test_a_worker_reports_a_pair_once_and_the_first_report_stays(stranger, assignment):
    send(stranger, assignment, 2, "picture")
    assert send(stranger, assignment, 2, "text").json() == {"saved": True}
    assert list(Report.objects.values_list("problem", flat=True)) == ["picture"]
    assert Event.objects.filter(verb="reported").count() == 1


def test_two_workers_report_the_same_pair_and_do_not_see_each_other(stranger, made, assignment):
    other = make_assignment(made.hits.get().seats.last(), make_worker())
    item = shown(assignment)[0]
    for one in (assignment, other):
        report_pair(one, Complaint(item.pk, "offensive"))
        assert list(reported_problems(one)) == [item.pk]
    assert Report.objects.count() == 2
    later = make_round(made.pool.collection, "later")
    assert reported_problems(make_assignment(later.hits.get().seats.get())) == {}


def test_an_invalid_report_is_refused(assignment):
    assert "Choose what is wrong" in str(refused(assignment, "ugly").value)
    assert "shorten it to 300" in str(refused(assignment, "other", "x" * (LONGEST_NOTE + 1)).value)
    assert "1 control character" in str(refused(assignment, "other", "a\0b").value)
    other = shown(leased(make_round(assignment.hit.round.pool.collection, "other")))[0]
    assert "another HIT" in str(refused(assignment, "text", item=other.pk).value)


def test_a_request_holds_one_report_of_a_pair_of_the_hit(stranger, assignment):
    for fields in ({}, {"problem-99": "text"}, {"problem-1": "text", "problem-2": "text"}):
        response = stranger.post(address("report", assignment), fields)
        assert response.status_code == 422
        assert not Report.objects.exists()


def test_nothing_is_reported_of_a_hit_that_was_given_back(stranger, assignment):
    item = places_of(assignment)[1]
    return_assignment(assignment, actor="worker")
    assert send(stranger, assignment).status_code == 409
    with pytest.raises(SeatLostError):
        report_pair(Assignment.objects.get(), Complaint(item, "text"))
    assert not Report.objects.exists()


def test_a_report_changes_no_answer_no_control_and_no_pay(stranger, made):
    plain, reporting = (make_assignment(seat, make_worker()) for seat in made.hits.get().seats.all())
    for place in range(1, 5):
        send(stranger, reporting, place)
    assert not Draft.objects.exists()
    for one in (plain, reporting):
        submit(stranger, one)
    outcomes = [
        (settle(one).state, one.judgments.count(), one.payments.get().amount)
        for one in Assignment.objects.order_by("pk")
    ]
    assert outcomes == [("accepted", 4, made.reward)] * 2
    assert set(made.controls.values_list("state", flat=True)) == {"active"}


def test_what_was_reported_is_shown_on_the_page_and_its_fields_are_not(stranger, assignment):
    send(stranger, assignment, 2)
    page = stranger.get(address("task", assignment)).text
    assert page.count("You reported this pair: the picture is missing or broken.") == 1
    assert 'name="problem-2"' not in page
    assert 'name="problem-3"' in page


def test_without_a_script_reports_come_with_the_answers(stranger, assignment):
    response = submit(stranger, assignment, **{"problem-3": "text", "note-3": "Half is cut off.", "problem-1": ""})
    assert response.status_code == 302
    assert Report.objects.get().note == "Half is cut off."
    assert Judgment.objects.count() == 4


def test_reports_stay_where_the_answers_are_not_complete(stranger, assignment):
    assert submit(stranger, assignment, **{"level-1": "", "problem-3": "text"}).status_code == 422
    assert Report.objects.count() == 1


def test_an_invalid_report_keeps_no_answers_out(stranger, assignment):
    assert submit(stranger, assignment, **{"problem-3": "ugly"}).status_code == 302
    assert (Report.objects.count(), Judgment.objects.count()) == (0, 4)


def test_only_the_link_of_the_hit_reports_its_pairs(stranger, assignment):
    assert stranger.post("/judge/task/MQ:1x:forged/report/", {"problem-1": "text"}).status_code == 404
    assert stranger.get(address("report", assignment)).status_code == 405
    assert send(Client(enforce_csrf_checks=True), assignment).status_code == 200


def test_words_of_a_report_are_erased_with_their_worker(stranger, assignment):
    send(stranger, assignment, 1, "other", "I am Jo and know this dog.")
    forget_worker(assignment.worker.pseudonym, actor="robin")
    report = Report.objects.get()
    assert (report.note, report.problem) == ("[erased]", "other")
