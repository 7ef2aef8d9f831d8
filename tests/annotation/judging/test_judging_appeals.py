"""A worker of the pool reads why work was rejected, and appeals, on their own page."""

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.judging.links import worker_token
from annotation.models import Appeal
from annotation.money.payments import owe_bonus
from annotation.review import decisions
from annotation.review.appeals import LATE, OUTAGE, answer_appeal
from annotation.review.decisions import MassPolicy, reject
from annotation.work.leases import lease_seat, return_assignment
from crowd.visits.intake import pay_for_outage
from hits.models import Round
from tests.annotation.answering import home_of, lost
from tests.annotation.money.moneyed import WORDS, accepted, begin, flagged, pooled
from tests.factories import make_worker


def page_of(client, rejection):
    work = rejection.assignment
    return client.get(home_of(work.worker, work.hit.round)).text


def make_appeal(client, rejection, worker=None, text="I read every picture."):
    work = rejection.assignment
    token = worker_token(worker or work.worker, work.hit.round)
    return client.post(reverse("judging:appeal", args=[token, rejection.pk]), {"text": text})


def test_the_page_says_why_and_until_when_one_may_object(stranger, rejection):
    page = page_of(stranger, rejection)
    assert "All 18 answers are 100% YES." in page
    assert rejection.get_grounds_display() in page
    assert "<textarea" in page
    assert "being checked" not in page  # the list of submitted work says "not paid" too
    assert WORDS["evidence"] not in page  # it is for reviewers


def test_a_proposal_is_not_shown(stranger, person):
    proposal = reject(flagged(pooled()), **WORDS, by=person, policy=MassPolicy(earliest=1, share=0.0))
    assert "Rejected work" not in page_of(stranger, proposal)


def test_an_appeal_is_taken_once_and_shown_as_waiting(stranger, rejection):
    assert make_appeal(stranger, rejection).status_code == 302
    assert Appeal.objects.get().text == "I read every picture."
    page = page_of(stranger, rejection)
    assert "will read your appeal" in page
    assert "<textarea" not in page
    assert make_appeal(stranger, rejection, text="And another thing.").status_code == 422


@pytest.mark.parametrize("is_answered", [False, True])
def test_a_rejection_that_was_reversed_is_shown_as_paid_at_once(stranger, rejection, person, other, is_answered):
    make_appeal(stranger, rejection)
    if is_answered:
        answer_appeal(Appeal.objects.get(), upheld=False, answer="They are all the same.", by=other)
    decisions.reverse(rejection, reason="The pictures were blank.", by=person)
    page = page_of(stranger, rejection)
    assert ("You were right" in page, "reversed later" in page) == (not is_answered, is_answered)
    assert "being checked" not in page
    assert "$0.65" in page


def test_a_worker_cannot_appeal_for_another(stranger, rejection):
    answer = make_appeal(stranger, rejection, worker=make_worker())
    assert (answer.status_code, Appeal.objects.count()) == (404, 0)


def test_the_reason_of_a_bonus_is_shown(stranger, db):
    work = accepted(pooled())
    owe_bonus(work, amount=work.payments.get().amount, reason="Thank you <b>.", actor="robin")
    Round.objects.update(closed_at=timezone.now())
    page = stranger.get(home_of(work.worker, work.hit.round)).text
    assert "Bonus: Thank you &lt;b&gt;." in page
    assert "$1.30 owed" in page


def test_what_an_outage_cost_is_shown_though_nothing_was_submitted(stranger, person):
    work = begin(pooled())
    pay_for_outage(work, reason="The disk was full.", by=person)
    assert OUTAGE in stranger.get(home_of(work.worker, work.hit.round)).text


def ask(client, work, worker=None):
    token = worker_token(worker or work.worker, work.hit.round)
    return client.post(reverse("judging:ask_for_pay", args=[token, work.pk]), {"text": "I had finished it."})


def test_a_hit_that_another_worker_was_given_is_shown_and_its_pay_asked_for_once(stranger, db):
    work = lost(pooled(), drafts=3)
    home = home_of(work.worker, work.hit.round)
    assert "3 of its 4 pairs" in stranger.get(home).text
    assert ask(stranger, work).status_code == 302
    page = stranger.get(home).text
    assert "You asked to be paid on" in page
    assert "<textarea" not in page


def test_a_hit_without_an_answer_is_not_shown_as_lost(stranger, db):
    work = lost(pooled(), drafts=0)
    assert "Not submitted in time" not in stranger.get(home_of(work.worker, work.hit.round)).text


def test_a_worker_cannot_ask_for_the_pay_of_anothers_work(stranger, db):
    assert ask(stranger, lost(pooled()), make_worker()).status_code == 404


def test_the_answer_to_a_request_for_pay_is_shown(stranger, person):
    work = lost(pooled())
    ask(stranger, work)
    answer_appeal(Appeal.objects.get(), upheld=True, answer="Sorry for that.", by=person)
    page = stranger.get(home_of(work.worker, work.hit.round)).text
    assert "Sorry for that." in page
    assert "not submitted in time" in page
    assert "None" not in page
    assert LATE in page


def test_a_lost_hit_that_its_worker_has_again_is_shown_as_such_where_they_had_asked(stranger, db):
    work = lost(pooled())
    ask(stranger, work)
    return_assignment(work.hit.assignments.get(state="leased"), actor="robin")
    lease_seat(work.hit.round, worker=work.worker)
    home = home_of(work.worker, work.hit.round)
    assert "taken it again" in stranger.get(home).text
    Appeal.objects.all().delete()
    assert "Not submitted in time" not in stranger.get(home).text
