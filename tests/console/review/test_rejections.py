"""Rejections in the console: proposing, agreeing, reversing, and deciding appeals."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.models import Appeal, Assignment, Payment, Rejection
from annotation.review.appeals import appeal, ask_for_pay
from annotation.review.decisions import MassPolicy, reject
from console.home.needs import needs_of_all_rounds
from crowd.models import Visit
from tests.annotation.answering import lost
from tests.annotation.money.moneyed import WORDS, posted
from tests.annotation.money.moneyed import flagged as flagged_on
from tests.console.conftest import answer_wrongly
from tests.factories import make_round

REFUSE = {"decision": "refuse", **WORDS}
PROPOSED = MassPolicy(earliest=1, share=0.0)


@pytest.fixture
def flagged(db) -> Assignment:
    return answer_wrongly(make_round(hits=2))


def decide(client, assignment, **changes):
    return client.post(f"/review/{assignment.pk}/decide/", REFUSE | changes)


def test_a_reviewer_refuses_with_grounds_reason_and_evidence(reviewer, flagged):
    assert decide(reviewer, flagged).status_code == 302
    rejection = Rejection.objects.get()
    assert (rejection.by.username, rejection.grounds, rejection.reason) == ("reviewer", "random", WORDS["reason"])
    assert Payment.objects.count() == 0


def test_a_refusal_needs_all_fields(reviewer, flagged):
    wrong = [
        ({"grounds": ""}, "Required if you do not pay."),
        ({"evidence": ""}, "Required if you do not pay."),
        ({"grounds": "failed_control"}, "Select a valid choice"),
    ]
    for changes, message in wrong:
        answer = decide(reviewer, flagged, **changes)
        assert (answer.status_code, message in answer.text) == (422, True), changes
    assert not Rejection.objects.exists()


def test_a_second_person_agrees_on_the_page(reviewer, releaser, flagged):
    proposer = User.objects.get(username="reviewer")
    rejection = reject(flagged, **WORDS, by=proposer, policy=PROPOSED)
    assert "/second/" not in reviewer.get(f"/review/{flagged.pk}/").text
    answer = reviewer.post(f"/rejections/{rejection.pk}/second/", follow=True)
    assert "another person" in answer.text
    releaser.post(f"/rejections/{rejection.pk}/second/")
    rejection.refresh_from_db()
    assert (rejection.holds, rejection.seconded_by.username) == (True, "admin")


@pytest.mark.parametrize(("policy", "state"), [(PROPOSED, "dropped"), (MassPolicy(), "reversed")])
def test_another_decision_ends_a_rejection_and_pays(reviewer, flagged, person, policy, state):
    reject(flagged, **WORDS, by=person, policy=policy)
    decide(reviewer, flagged, decision="exclude")
    ((shown, _),) = reviewer.get(f"/review/{flagged.pk}/").context["rejections"]
    assert (shown.state, Payment.objects.get().state) == (state, "owed")


def test_an_objection_by_mail_is_written_down_and_answered(reviewer, releaser, flagged, person):
    rejection = reject(flagged, **WORDS, by=person)
    reviewer.post(f"/rejections/{rejection.pk}/appeal/", {"text": "I read every picture."})
    objection = Appeal.objects.get()
    assert "I read every picture." in reviewer.get(f"/review/{flagged.pk}/").text
    releaser.post(f"/appeals/{objection.pk}/answer/", {"upheld": "yes", "answer": "Sorry, you are right."})
    objection.refresh_from_db()
    assert (objection.upheld, objection.answered_by.username, Payment.objects.count()) == (True, "admin", 1)


def test_the_inbox_holds_proposed_rejections_and_appeals(researcher, person):
    made = make_round(hits=3)
    works = [answer_wrongly(made) for _ in range(3)]
    held = reject(works[0], **WORDS, by=person)
    proposal = reject(works[1], **WORDS, by=person, policy=PROPOSED)
    objection = appeal(held, text="Please look again.", actor="worker:x")
    shown = researcher.get("/inbox/").context
    lists = [list(shown[name]) for name in ("proposed", "appeals")]
    assert lists == [[proposal], [objection]]


def test_a_request_for_pay_is_listed_and_answered(reviewer, db):
    work = lost(make_round())
    ask_for_pay(work, text="I had finished it.", actor="worker:x")
    assert needed() == ["1 appeal in round-1 to answer"]
    assert f"Assignment {work.pk}" in reviewer.get("/inbox/").text
    page = reviewer.get(f"/review/{work.pk}/").text
    assert "I had finished it." in page
    assert "answered 1 of its 4 pairs" in page
    assert "If you agree, they are paid" in page
    assert [answer.said for answer in reviewer.get(f"/review/{work.pk}/").context["exhibits"] if answer.said] == [
        "100% YES"
    ]
    reviewer.post(f"/appeals/{Appeal.objects.get().pk}/answer/", {"upheld": "yes", "answer": "You are right."})
    assert (Appeal.objects.get().answered_by.username, Payment.objects.get().assignment) == ("reviewer", work)
    assert "If you agree, they are paid" not in reviewer.get(f"/review/{work.pk}/").text


def needed():
    return [need.text for need in needs_of_all_rounds(User(is_superuser=True))]


def test_the_first_page_warns_before_a_platform_approves_by_itself(platform, person):
    made = posted(hits=3)
    soon, later, decided = flagged_on(made), flagged_on(made), flagged_on(made)
    reject(decided, **WORDS, by=person)
    Visit.objects.exclude(assignment=later).update(auto_approval_at=timezone.now() + timedelta(hours=47))
    assert any("approves within 48 h" in text for text in needed())
    assert soon.state == "flagged"
