"""The inbox and a worker's case: flagged work with its evidence, decisions on it, notes and assignment."""

import pytest
from django.contrib.auth.models import User

from annotation.models import Assignment, Report
from annotation.review.decisions import MassPolicy, reject
from annotation.work.leases import lease_seat
from core.models import Event
from corpus.models import Collection
from hits.models import Item, Seat
from tests.annotation.cast import propose
from tests.annotation.money.moneyed import WORDS
from tests.annotation.review.test_worker_cases import always_yes
from tests.console.conftest import answer_rightly, answer_wrongly
from tests.factories import make_annotator, make_collection, make_round, make_worker

EXCLUDE = {"decision": "exclude", "reason": "Everything was answered with 100% YES."}


@pytest.fixture
def flagged(db) -> Assignment:
    return answer_wrongly(make_round(hits=2))


def decide(client, assignment, **changes):
    return client.post(f"/review/{assignment.pk}/decide/", EXCLUDE | changes)


def test_the_inbox_holds_flagged_work_only(researcher, flagged):
    answer_rightly(make_round(Collection.objects.get(), name="other"))
    (case,) = researcher.get("/inbox/").context["cases"]
    assert (case.worker, case.sets, case.reasons) == (flagged.worker, [flagged], [("wrong control", 1)])


def test_the_page_leads_with_the_control_that_was_answered_wrong(researcher, flagged):
    context = researcher.get(f"/review/{flagged.pk}/").context
    first, second = [pair for pair in context["pairs"] if pair.item.control]
    assert first is context["pairs"][0]
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
    assert "the picture did not load" in page
    assert "1 control answered wrong." in page


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
    assert decide(reviewer, following).url == "/inbox/"


def test_work_that_is_proposed_to_be_rejected_waits_for_no_other_decision(reviewer, flagged, person):
    other = answer_wrongly(flagged.hit.round)
    reject(flagged, **WORDS, by=person, policy=MassPolicy(earliest=1, share=0.0))
    assert [case.sets for case in reviewer.get("/inbox/").context["cases"]] == [[other]]
    assert decide(reviewer, other).url == "/inbox/"
    assert "flagged assignment" not in reviewer.get("/").text


def test_a_decision_has_to_be_one_of_three(reviewer, flagged):
    assert [decide(reviewer, flagged, decision=odd).status_code for odd in ("", "maybe")] == [422, 422]
    assert not flagged.decisions.exists()


# The bench: a worker's whole case


@pytest.fixture
def case(db) -> list[Assignment]:
    """Three flagged sets of one worker."""
    made = make_round(make_collection(images=24, pictures=True), hits=3)
    worker = make_worker()
    return [always_yes(lease_seat(made, worker=worker)) for _ in range(3)]


def test_the_case_shows_all_flagged_sets_with_what_speaks_against_each(reviewer, case):
    shown = reviewer.get(f"/review/{case[0].pk}/").context["waiting"]
    assert shown == [(one, ["wrong control"]) for one in case]


def test_an_answer_is_shown_beside_the_votes_of_others_and_the_ranks_that_it_follows(reviewer, case):
    work = case[0]
    copied = [{"signal": "copy", "sentence": "They follow the ranks of clip.", "annotator": "clip"}]
    Assignment.objects.filter(pk=work.pk).update(signals=copied)
    first, second = work.hit.items.filter(control=None)
    propose(work.hit.round, [(second.image_id, second.caption_id)], make_annotator("clip"))
    other = make_round(Collection.objects.get(), name="other")
    items = {"image": first.image, "caption": first.caption}
    Item.objects.filter(hit__round=other, place=1).update(**items)
    no = answer_rightly(other)
    no.judgments.filter(**items).update(level=4)
    context = reviewer.get(f"/review/{work.pk}/").context
    shown = {one.item.pk: one for one in context["pairs"]}
    assert (context["followed"], shown[second.pk].ranks) == ("clip", {"clip": 1})
    assert (shown[first.pk].others, shown[first.pk].is_alone) == ([4], True)
    candidates = [one.item for one in context["pairs"] if not one.item.control]
    assert candidates[0] == second, "what the annotator ranks first comes first"
    in_order = reviewer.get(f"/review/{work.pk}/?shown").context["pairs"]
    assert [one.place for one in in_order] == [1, 2, 3, 4]


@pytest.mark.parametrize(("scope", "decided"), [("", 1), ("worker", 3), ("copy", 0), ("control", 2)])
def test_a_decision_is_on_a_hit_a_worker_or_a_signal_that_alone_speaks_against_it(reviewer, case, scope, decided):
    both = [{"signal": "copy", "sentence": "They follow the ranks of clip."}]
    Assignment.objects.filter(pk=case[2].pk).update(signals=both)
    answer = decide(reviewer, case[0], scope=scope)
    assert Assignment.objects.filter(state="excluded").count() == decided
    assert answer.status_code == (302 if decided else 422)


def test_the_last_decision_is_undone_and_only_by_who_made_it(reviewer, releaser, case):
    following = decide(reviewer, case[0], scope="worker").url
    assert following == "/inbox/"
    releaser.post(f"/review/{case[0].pk}/undo/")
    assert Assignment.objects.filter(state="excluded").count() == 3
    assert "Undone. 3 HITs wait" in reviewer.post(f"/review/{case[0].pk}/undo/", follow=True).text
    assert Assignment.objects.filter(state="flagged").count() == 3


def test_a_case_is_assigned_and_found_under_mine(reviewer, researcher, case):
    worker, me = case[0].worker, User.objects.get(username="reviewer")
    reviewer.post(f"/workers/{worker}/assign/", {"to": me.pk})
    assert len(reviewer.get("/inbox/?mine=yes").context["cases"]) == 1
    assert researcher.get("/inbox/?mine=yes").context["cases"] == []
    researcher.post(f"/workers/{worker}/note/", {"text": "Asked about the zoom."})
    assert "Asked about the zoom." in reviewer.get(f"/review/{case[0].pk}/").text


def test_flagged_work_is_narrowed_by_reason_and_round(reviewer, case):
    copied = [{"signal": "copy", "sentence": "They follow the ranks of clip.", "annotator": "clip"}]
    Assignment.objects.filter(pk=case[1].pk).update(signals=copied, control_failures=0)
    context = reviewer.get("/inbox/?reason=copy").context
    assert context["cases"][0].sets == [case[1]]
    assert context["reasons"] == [("control", "wrong control", 2), ("copy", "copies an annotator", 1)]
    assert reviewer.get("/inbox/?round=other").context["cases"] == []


def test_a_receipt_is_checked_in_the_inbox(member, db):
    done = answer_rightly(make_round())
    assert member.get("/inbox/", {"code": done.receipt_code}).context["proof"].worker == done.worker
    assert 'role="alert"' in member.get("/inbox/?code=forged").text
