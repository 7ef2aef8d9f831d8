import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.models import Appeal, Assignment, Payment, Rejection
from annotation.review.appeals import WINDOW, answer_appeal, appeal, appealable_until, ask_for_pay
from annotation.review.decisions import REVERSED, MassPolicy, reject, reverse
from annotation.review.lost_work import LATE
from annotation.work.leases import expire_leases, lease_seat, return_assignment
from annotation.work.submissions import mark_submitted
from core.errors import CounterpartError
from core.events import subject_of
from core.models import Event
from tests.annotation.answering import leased, lost
from tests.annotation.money.moneyed import WORDS, flagged, pooled
from tests.factories import make_worker


def make_appeal(rejection) -> Appeal:
    return appeal(rejection, text="I read every picture.", actor="worker:x")


def test_one_objects_once_though_the_button_is_pressed_twice(rejection):
    assert make_appeal(rejection) == make_appeal(rejection)
    with pytest.raises(CounterpartError, match="appealed already"):
        appeal(rejection, text="And another thing.", actor="worker:x")
    made = Appeal.objects.get()
    assert (made.text, made.upheld, made.answered_at) == ("I read every picture.", None, None)
    assert Event.objects.get(verb="appealed").actor == "worker:x"


@pytest.mark.parametrize(
    ("text", "message"), [("  ", "is empty"), ("x" * 4097, "shorten it to 4,096"), ("No.\x1b", r"U\+001B")]
)
def test_an_appeal_needs_fit_words(rejection, text, message):
    with pytest.raises(CounterpartError, match=message):
        appeal(rejection, text=text, actor="worker:x")


def test_a_proposal_needs_no_appeal(person):
    proposal = reject(flagged(pooled()), **WORDS, by=person, policy=MassPolicy(earliest=1, share=0.0))
    with pytest.raises(CounterpartError, match="nothing to appeal"):
        make_appeal(proposal)


def test_an_appeal_is_possible_for_thirty_days(rejection):
    assert appealable_until(rejection) == rejection.at + WINDOW
    Rejection.objects.update(at=timezone.now() - WINDOW - timedelta(minutes=1))
    rejection.refresh_from_db()
    with pytest.raises(CounterpartError, match="An appeal was possible until"):
        make_appeal(rejection)


def test_an_appeal_against_what_is_reversed_is_answered_with_it(rejection, person, other):
    made = make_appeal(rejection)
    reverse(rejection, reason="The pictures were blank.", by=other)
    made.refresh_from_db()
    assert (made.upheld, made.answer, made.answered_by) == (True, REVERSED, other)
    Appeal.objects.update(upheld=None, answered_at=None)  # as an older version left it
    with pytest.raises(CounterpartError, match="was reversed"):
        answer_appeal(made, upheld=False, answer="No.", by=User.objects.create_user(username="alex"))


@pytest.mark.parametrize("part", ["by", "seconded_by"])
def test_who_rejected_or_agreed_cannot_turn_the_appeal_down(rejection, other, part):
    Rejection.objects.update(**{part: other})
    rejection.refresh_from_db()
    with pytest.raises(CounterpartError, match="another person"):
        answer_appeal(make_appeal(rejection), upheld=False, answer="No.", by=other)
    assert Appeal.objects.get().answered_at is None


@pytest.mark.parametrize(("upheld", "verb"), [(True, "appeal upheld"), (False, "appeal turned down")])
def test_an_appeal_that_is_upheld_pays_and_who_answered_it_is_an_event(rejection, other, upheld, verb):
    made = answer_appeal(make_appeal(rejection), upheld=upheld, answer="I looked at it again.", by=other)
    rejection.refresh_from_db()
    assert (made.upheld, made.answered_by, rejection.holds) == (upheld, other, not upheld)
    assert [payment.state for payment in Payment.objects.all()] == ["owed"] * upheld
    event = Event.objects.get(verb=verb)
    assert (event.subject, event.actor, event.data) == (subject_of(made.assignment), "sam", {"appeal": made.pk})


def test_an_answer_needs_words(rejection, other):
    with pytest.raises(CounterpartError, match="The answer is empty"):
        answer_appeal(make_appeal(rejection), upheld=True, answer=" ", by=other)


def test_an_appeal_is_answered_once(rejection, other, person):
    made = make_appeal(rejection)
    answer_appeal(made, upheld=True, answer="Sorry.", by=person)
    with pytest.raises(CounterpartError, match="is answered already"):
        answer_appeal(made, upheld=False, answer="No.", by=other)
    assert Payment.objects.count() == 1


def ask(assignment: Assignment, text: str = "I had finished it.") -> Appeal:
    return ask_for_pay(assignment, text=text, actor="worker:x")


def test_the_pay_of_a_hit_that_another_worker_was_given_can_be_asked_for_once(db):
    late = lost(pooled())
    assert ask(late) == ask(late)
    with pytest.raises(CounterpartError, match="appealed already"):
        ask(late, "And another thing.")
    assert Event.objects.filter(verb="appealed").count() == 1


def test_the_pay_of_a_hit_that_is_not_lost_is_earned_by_submitting_it(db):
    late = leased(pooled(), minutes=-1)
    with pytest.raises(CounterpartError, match="take it again and submit it"):
        ask(late)


def test_the_pay_of_lost_work_can_be_asked_for_during_thirty_days(db):
    late = lost(pooled())
    late.deadline -= WINDOW
    with pytest.raises(CounterpartError, match="until"):
        ask(late)


def test_a_request_that_is_upheld_pays_as_much_as_a_bonus_and_ends_the_work(person):
    late = lost(pooled())
    answer_appeal(ask(late), upheld=True, answer="You had answered all.", by=person)
    payment = Payment.objects.get()
    assert (payment.assignment, payment.kind, payment.reason, str(payment.amount)) == (late, "bonus", LATE, "0.65")
    assert mark_submitted(late, active_seconds=60) is None


def test_a_request_that_is_turned_down_pays_nothing(person):
    answered = answer_appeal(ask(lost(pooled())), upheld=False, answer="Only 1 pair was answered.", by=person)
    assert (answered.upheld, Payment.objects.count()) == (False, 0)


def given_again(late: Assignment) -> Assignment:
    """Have the worker who got a lost HIT return it, and the one who lost it take it again."""
    return_assignment(late.hit.assignments.get(state="leased"), actor="robin")
    return lease_seat(late.hit.round, worker=late.worker)


def test_a_hit_that_its_worker_has_again_is_paid_once(person):
    late = lost(pooled())
    asked = ask(late)
    again = given_again(late)
    with pytest.raises(CounterpartError, match=re.escape(f"has its HIT as {again} too")):
        answer_appeal(asked, upheld=True, answer="Sorry.", by=person)
    asked.refresh_from_db()
    assert (asked.answered_at, Payment.objects.count()) == (None, 0)


def test_a_hit_that_was_lost_twice_is_paid_once(person):
    first = lost(pooled())
    second = given_again(first)
    Assignment.objects.filter(pk=second.pk).update(deadline=timezone.now())
    assert expire_leases() == 1
    lease_seat(first.hit.round, worker=make_worker())
    requests = [ask(one) for one in (first, second)]
    answer_appeal(requests[0], upheld=True, answer="Sorry.", by=person)
    with pytest.raises(CounterpartError, match="A HIT is paid once"):
        answer_appeal(requests[1], upheld=True, answer="Sorry.", by=person)
    assert Payment.objects.count() == 1


def test_the_pay_of_a_hit_that_one_has_again_cannot_be_asked_for(db):
    late = lost(pooled(replication=2))
    assert lease_seat(late.hit.round, worker=late.worker).hit == late.hit
    with pytest.raises(CounterpartError, match="again"):
        ask(late)
