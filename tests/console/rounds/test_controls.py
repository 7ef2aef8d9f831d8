"""The pages of a round's controls: their record, and rulings by those who may decide."""

import pytest
from django.urls import reverse

from annotation.models import Assignment, ControlRuling
from annotation.review.decisions import decide
from hits.models import Control
from tests.annotation.controlling import judge
from tests.factories import make_round

REASON = "The caption is about another picture."


@pytest.fixture
def control(db) -> Control:
    """The positive control of one HIT with 4 seats; one worker failed it, another one both controls."""
    made = make_round(replication=4)
    judge(made, fails="positive")
    judge(made, fails="positive negative")
    return made.controls.get(polarity="positive")


def address(name: str, control: Control) -> str:
    return reverse(name, args=[control.round.name, control.pk])


def rule(client, control: Control, retired: str, reason: str = REASON):
    return client.post(address("control_rule", control), {"retired": retired, "reason": reason}, follow=True)


def test_a_round_lists_its_controls_the_most_failed_first(researcher, control):
    text = researcher.get("/rounds/round-1/controls/").content.decode()
    positive, negative = (text.index(one.caption.text) for one in control.round.controls.order_by("-polarity"))
    assert positive < negative
    assert "active (2)" in text
    assert researcher.get("/rounds/round-1/").content.decode().count("/rounds/round-1/controls/") == 1


def test_a_control_that_nobody_failed_shows_no_doubt(researcher, db):
    judge(make_round(), fails="positive")
    failed, passed = researcher.get("/rounds/round-1/controls/").text.split("<tbody>")[1].split("<tr>")[1:]
    assert ("%</td>" in failed, "%</td>" in passed) == (True, False)


def test_the_list_can_show_one_state(researcher, reviewer, control):
    Control.objects.filter(pk=control.pk).update(state="suspected")
    assert researcher.get("/rounds/round-1/controls/?state=suspected").context["rows"].object_list == [control.pk]
    assert "No controls with this state" in researcher.get("/rounds/round-1/controls/?state=retired").content.decode()
    assert "/rounds/round-1/controls/?state=suspected" in reviewer.get("/rounds/round-1/").content.decode()


def test_a_list_of_many_controls_takes_as_many_queries(researcher, django_assert_max_num_queries):
    made = make_round(name="many", hits=12)
    for _ in range(3):
        judge(made)
    with django_assert_max_num_queries(12):
        assert researcher.get("/rounds/many/controls/").status_code == 200


def test_a_control_shows_who_answered_it_and_how_they_answer_others(researcher, control):
    text = researcher.get(address("control", control)).content.decode()
    for work in Assignment.objects.select_related("worker"):
        assert work.worker.pseudonym in text
    assert "0 right, 2 wrong" in text
    assert "1 of 1" in text
    assert "0 of 1" in text
    assert "Retire the control" not in text


def test_a_reviewer_retires_a_control_and_sees_what_became_of_the_work(reviewer, control):
    answer = rule(reviewer, control, "yes")
    text = answer.content.decode()
    assert "Control retired; 1 flagged assignment accepted." in text
    assert (
        "2 assignments, graded again: 1 accepted, 1 still flagged for another reason, 0 excluded by a person." in text
    )
    ruling = ControlRuling.objects.get()
    assert (ruling.by, ruling.retired, ruling.reason) == ("reviewer", True, REASON)
    assert "by reviewer" in text


def test_excluded_work_is_listed_for_a_second_look(reviewer, control, person):
    excluded = Assignment.objects.order_by("pk").first()
    decide(excluded, votes_count=False, paid=True, reason="Careless.", by=person)
    text = rule(reviewer, control, "yes").content.decode()
    assert f'Look again at the excluded work: <a href="/review/{excluded.pk}/">{excluded.pk}</a>.' in text


def test_a_reviewer_reinstates_a_control_and_keeps_a_suspected_one(reviewer, control):
    rule(reviewer, control, "yes")
    assert "judges work again" in rule(reviewer, control, "no").content.decode()
    Control.objects.update(state="suspected")
    assert "Keep it: the control is right" in reviewer.get(address("control", control)).content.decode()
    rule(reviewer, control, "no")
    control.refresh_from_db()
    assert control.state == "active"


def test_a_ruling_without_a_reason_is_refused_on_the_page(reviewer, control):
    answer = rule(reviewer, control, "yes", reason="")
    assert answer.status_code == 422
    assert "The reason is empty" in answer.content.decode()
    assert not ControlRuling.objects.exists()


def test_a_control_of_another_round_is_not_found(reviewer, control):
    make_round(control.round.pool.collection, "other")
    assert reviewer.get(reverse("control", args=["other", control.pk])).status_code == 404
    assert reviewer.post(reverse("control_rule", args=["other", control.pk])).status_code == 404
