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


def test_a_round_lists_its_controls_the_most_failed_first_or_those_of_one_state(researcher, reviewer, control):
    page = researcher.get("/rounds/round-1/hits/?show=controls")
    assert [record.control for record, _ in page.context["lines"]][0] == control
    Control.objects.filter(pk=control.pk).update(state="suspected")
    assert researcher.get("/rounds/round-1/hits/?state=suspected").context["rows"].object_list == [control.pk]
    assert "/hits/?state=suspected" in reviewer.get("/rounds/round-1/").text


def test_a_control_shows_who_answered_it_and_how_they_answer_others(researcher, control):
    page = researcher.get(address("control", control))
    record = page.context["record"]
    assert (record.right, len(record.failed)) == (0, 2)
    assert [answer.elsewhere.right for answer in record.answers] == [1, 0]
    assert all(work.worker.pseudonym in page.text for work in Assignment.objects.select_related("worker"))
    assert address("control_rule", control) not in page.text


def test_a_reviewer_retires_a_control_and_its_work_is_graded_again(reviewer, control):
    page = rule(reviewer, control, "yes")
    record = page.context["record"]
    assert "1 flagged assignment" in page.text
    assert (len(record.failed), len(record.accepted), len(record.flagged), len(record.excluded)) == (2, 1, 1, 0)
    ruling = ControlRuling.objects.get()
    assert (ruling.by, ruling.retired, ruling.reason) == ("reviewer", True, REASON)


def test_excluded_work_is_listed_for_a_second_look(reviewer, control, person):
    excluded = Assignment.objects.order_by("pk").first()
    decide(excluded, votes_count=False, paid=True, reason="Careless.", by=person)
    assert f"/review/{excluded.pk}/" in rule(reviewer, control, "yes").text


def test_a_reviewer_reinstates_a_control_and_keeps_a_suspected_one(reviewer, control):
    rule(reviewer, control, "yes")
    rule(reviewer, control, "no")
    assert not Control.objects.filter(state="retired").exists()
    Control.objects.update(state="suspected")
    rule(reviewer, control, "no")
    control.refresh_from_db()
    assert control.state == "active"


def test_a_ruling_without_a_reason_is_refused_on_the_page(reviewer, control):
    answer = rule(reviewer, control, "yes", reason="")
    assert "reason" in str(next(iter(answer.context["messages"])))
    assert not ControlRuling.objects.exists()


def test_a_wrong_control_is_thrown_out_from_the_page_of_its_hit(reviewer, researcher, control):
    page = f"/rounds/round-1/hits/{control.items.first().hit.number}/"
    assert address("control_rule", control) not in researcher.get(page).text
    assert address("control_rule", control) in reviewer.get(page).text


def test_a_control_of_another_round_is_not_found(reviewer, control):
    make_round(control.round.pool.collection, "other")
    assert reviewer.get(reverse("control", args=["other", control.pk])).status_code == 404
    assert reviewer.post(reverse("control_rule", args=["other", control.pk])).status_code == 404
