import pytest

from annotation.models import Assignment, Report
from annotation.review.decisions import MassPolicy, reject
from core.models import Event
from corpus.models import Collection
from hits.models import Seat
from tests.annotation.money.moneyed import WORDS
from tests.console.conftest import answer_rightly, answer_wrongly
from tests.factories import make_round

EXCLUDE = {"votes_count": "no", "paid": "yes", "reason": "Everything was answered with 100% YES."}


@pytest.fixture
def flagged(db) -> Assignment:
    return answer_wrongly(make_round(hits=2))


def decide(client, assignment, **changes):
    return client.post(f"/review/{assignment.pk}/decide/", EXCLUDE | changes)


def test_the_queue_holds_flagged_work_only(researcher, flagged):
    answer_rightly(make_round(Collection.objects.get(), name="other"))
    assert [row.pk for row in researcher.get("/review/").context["rows"]] == [flagged.pk]


def test_the_page_leads_with_the_control_that_was_answered_wrong(researcher, flagged):
    context = researcher.get(f"/review/{flagged.pk}/").context
    first, second = context["controls"]
    assert first.is_wrong
    assert first.item.control.polarity == "negative"
    assert first.expected == "Mostly NO or 100% NO"
    assert not second.is_wrong


def test_a_control_whose_picture_did_not_load_is_not_wrong(researcher, flagged):
    skipped = flagged.judgments.get(item__control__polarity="positive")
    pair = {"item": skipped.item, "image": skipped.image, "caption": skipped.caption, "problem": Report.Problem.PICTURE}
    Report.objects.create(worker=flagged.worker, assignment=flagged, **pair)
    skipped.delete()
    page = researcher.get(f"/review/{flagged.pk}/").text
    assert "1 not answered." in page
    assert "the picture did not load" in page


def test_excluding_opens_the_seat_and_is_written_down(reviewer, flagged):
    decide(reviewer, flagged)
    flagged.refresh_from_db()
    assert flagged.state == "excluded"
    assert flagged.seat.state == Seat.State.OPEN
    assert flagged.payments.get().state == "owed"  # unless somebody refuses
    assert flagged.decisions.get().by.username == "reviewer"
    assert Event.objects.filter(verb="decided", actor="reviewer").exists()


def test_a_decision_leads_to_the_next_flagged_work(reviewer, flagged):
    following = answer_wrongly(make_round(Collection.objects.get(), name="other"))
    assert decide(reviewer, flagged).url == f"/review/{following.pk}/"
    assert decide(reviewer, following).url == "/review/"


def test_work_that_is_proposed_to_be_rejected_waits_for_no_other_decision(reviewer, flagged, person):
    other = answer_wrongly(flagged.hit.round)
    reject(flagged, **WORDS, by=person, policy=MassPolicy(earliest=1, share=0.0))
    assert list(reviewer.get("/review/").context["rows"]) == [other]
    assert decide(reviewer, other).url == "/review/"
    assert "flagged assignment" not in reviewer.get("/").text


def test_an_exclusion_needs_both_answers_and_a_reason(reviewer, flagged):
    for missing in EXCLUDE:
        answer = reviewer.post(f"/review/{flagged.pk}/decide/", {k: v for k, v in EXCLUDE.items() if k != missing})
        shown = "Required unless you count" if missing == "reason" else "This field is required"
        assert (answer.status_code, shown in answer.text) == (422, True), missing
    assert decide(reviewer, flagged, reason="   ").status_code == 422  # blanks are none
    assert not flagged.decisions.exists()


def test_answered_hits_are_narrowed_by_state_and_round(researcher, flagged):
    accepted = answer_rightly(make_round(Collection.objects.get(), name="other"))
    rows = researcher.get("/review/?state=accepted").context["rows"]
    assert [row.pk for row in rows] == [accepted.pk]
    assert [row.pk for row in researcher.get("/review/?state=all&round=round-1").context["rows"]] == [flagged.pk]
