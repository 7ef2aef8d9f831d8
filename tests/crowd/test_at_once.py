"""Two processes that do the same at the same moment, on PostgreSQL: SQLite lets one write after the other."""

from contextlib import suppress

import pytest
from django.contrib.auth.models import User
from django.db import connection

from annotation.models import Assignment, Decision, Judgment, Payment
from annotation.work.answers import drafted_answers
from annotation.work.submissions import submit_answers
from core.errors import CounterpartError
from crowd.visits.intake import pay_for_outage, take_in
from dataset.models import Verdict
from dataset.verdicts import aggregate_round
from tests.annotation.answering import right_answers
from tests.annotation.cast import answer
from tests.annotation.money.moneyed import flagged, posted
from tests.at_once import at_once
from tests.crowd.framing import claimed, confirm
from tests.factories import make_round

pytestmark = [pytest.mark.service, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def postgresql(platform):
    if connection.vendor != "postgresql":
        pytest.skip("needs PostgreSQL")


def test_two_tabs_of_a_visitor_save_one_answer_set():
    claim = claimed()
    sets = [right_answers(claim, level=level) for level in (1, 2, 3, 4)]
    fresh = [Assignment.objects.get(pk=claim.pk) for _ in sets]
    receipts = at_once(
        *(
            lambda one=one, given=given: submit_answers(one, answers=given, active_seconds=9)
            for one, given in zip(fresh, sets, strict=True)
        )
    )
    assert len(set(receipts)) == 1
    (kept,) = at_once(lambda: {(one.item_id, one.level) for one in drafted_answers(claim).values()})
    assert kept in [{(one.item_id, one.level) for one in given} for given in sets]


def test_two_syncs_store_a_submission_once():
    claim = claimed()
    submit_answers(claim, answers=right_answers(claim), active_seconds=9)
    confirm(claim)
    assert sum(at_once(*[lambda: take_in(claim.pk)] * 4)) == 1
    assert Judgment.objects.count() == claim.hit.items.count()


def test_lost_work_is_paid_by_one_of_two_people():
    flagged(posted())
    Assignment.objects.update(state="leased", seat=None, receipt="", problem="no answers")
    lost, person = Assignment.objects.get(), User.objects.create_user(username="robin")
    at_once(*[lambda: pay_for_outage(Assignment.objects.get(pk=lost.pk), reason="x", by=person)] * 4)
    assert (Decision.objects.count(), Payment.objects.count()) == (1, 1)


def test_a_round_that_is_aggregated_twice_has_each_verdict_once():
    """The first to finish stores its verdicts; a later one that began before that is refused and changes nothing."""
    made = make_round()
    answer(made.hits.get(), 1, 4)

    def judgments() -> int | None:
        with suppress(CounterpartError):
            return aggregate_round(made)["judgments"]
        return None

    assert 2 in at_once(*[judgments] * 4)
    assert Verdict.objects.count() == 2
