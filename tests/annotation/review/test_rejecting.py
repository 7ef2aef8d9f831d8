"""Rejections: who may reject, for which reasons, and who has to agree."""

import ast
import re
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from annotation import platforms
from annotation.models import Appeal, Assignment, Decision, Payment, Rejection
from annotation.money.payments import COMPENSATION, owe_bonus
from annotation.platforms import Means
from annotation.review.appeals import LATE, WINDOW, answer_appeal, appeal, appealable_until, ask_for_pay
from annotation.review.decisions import (
    REVERSED,
    MassPolicy,
    decide,
    drop_proposal,
    reject,
    reverse,
    second,
)
from annotation.work.leases import expire_leases, lease_seat, return_assignment
from annotation.work.submissions import mark_submitted
from core.errors import CounterpartError
from core.events import subject_of
from core.models import Event
from crowd.calls.outbox import deliver_due, make_wanted_calls
from crowd.channels.base import ChannelError
from crowd.models import Outbox, Posting, Visit
from hits.models import Seat
from tests.annotation.answering import leased, lost
from tests.annotation.money.moneyed import UNPAID, WORDS, accepted, flagged, pooled, posted
from tests.factories import make_worker

State = Assignment.State
ONE_IS_MANY = MassPolicy(earliest=1, share=0.0)


def proposed(made, person) -> Rejection:
    return reject(flagged(made), **WORDS, by=person, policy=ONE_IS_MANY)


def test_a_rejection_excludes_the_votes_leaves_the_work_unpaid_and_comes_once(person):
    work = flagged(pooled())
    rejection = reject(work, **WORDS, by=person)
    work.refresh_from_db()
    assert rejection.holds
    assert (work.state, Seat.objects.get().state, Payment.objects.count()) == (State.EXCLUDED, Seat.State.OPEN, 0)
    assert (Decision.objects.get().paid, Decision.objects.get().by, rejection.by) == (False, person, person)
    assert not Outbox.objects.exists()
    with pytest.raises(CounterpartError, match="is rejected already"):
        reject(work, **WORDS, by=person)


def test_the_platform_gets_the_reason(person, platform):
    made = posted()
    rejection = reject(flagged(made), **WORDS, by=person)
    deliver_due(made)
    assert Outbox.objects.get(call="reject").subject == f"annotation.rejection:{rejection.pk}"
    assert Visit.objects.get().state == "rejected"


def test_an_incomplete_rejection_is_refused(person):
    work = flagged(pooled())
    no_grounds = "'failed_control' are not valid grounds .* A failed control alone is not enough"
    for change, message in (
        ({"grounds": "failed_control"}, no_grounds),
        ({"grounds": ""}, "choose one of: empty, random, automated, instructions, too_fast"),
        ({"reason": " "}, "The reason that the worker reads is empty"),
        ({"reason": "x" * 1025}, "has 1,025 characters; shorten it to 1,024"),
        ({"reason": "bad\x07work"}, r"contains 1 control character: U\+0007"),
        ({"evidence": "\n"}, "The evidence is empty"),
    ):
        with pytest.raises(CounterpartError, match=message):
            reject(work, **WORDS | change, by=person)
    work.refresh_from_db()
    assert (work.state, Rejection.objects.count(), Decision.objects.count()) == (State.FLAGGED, 0, 0)


def test_no_row_refuses_pay_without_a_person():
    assert not Rejection._meta.get_field("by").null
    assert not Rejection._meta.get_field("grounds").blank


def calls_in_source(word: str) -> dict[str, list[str]]:
    """Every call in our own source that starts with ``word``, by file."""
    calls: dict[str, list[str]] = {}
    apps = ("core", "corpus", "mitl", "hits", "annotation", "crowd", "dataset", "evaluation", "simulation", "console")
    for app in apps:
        for path in (Path(settings.BASE_DIR) / app).rglob("*.py"):
            if word in (source := path.read_text()) and "emulator" not in path.parts:
                nodes = (ast.unparse(node) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
                if found := [call for call in nodes if call.startswith(word)]:
                    calls[path.relative_to(settings.BASE_DIR).as_posix()] = found
    return calls


def test_only_the_act_of_rejecting_makes_a_rejection_and_only_a_decision_calls_it():
    assert set(calls_in_source("Rejection.objects.create(")) == {"annotation/review/decisions.py"}
    assert set(calls_in_source("want_call(rejection")) == {"annotation/review/decisions.py"}
    assert set(calls_in_source("store_call(Outbox.Call.REJECT")) == {"crowd/calls/outbox.py"}
    assert set(calls_in_source("reject(")) == {"annotation/review/decisions.py"}


def test_only_staff_and_the_simulated_reviewer_decide_and_the_latter_always_pays():
    callers = calls_in_source("decide(")
    of_staff = {"annotation/review/worker_cases.py", "dataset/management/commands/review.py"}
    assert set(calls_in_source("decide_on(")) == {"console/review/views.py"}
    assert set(callers) == {*of_staff, "simulation/simulated_workers.py"}
    assert all("by=person_named(" in call for call in callers["dataset/management/commands/review.py"])
    assert all("paid=True" in call for call in callers["simulation/simulated_workers.py"])


def test_from_the_fourth_on_the_rejections_of_a_round_need_a_second_person(person):
    made = pooled(hits=6)
    rejections = [reject(flagged(made), **WORDS, by=person) for _ in range(5)]
    assert [one.holds for one in rejections] == [True, True, True, False, False]
    assert Assignment.objects.get(pk=rejections[3].assignment_id).state == State.FLAGGED


def test_four_rejections_among_much_accepted_work_need_no_second_person(person):
    made = pooled(hits=14)
    for _ in range(10):
        accepted(made)
    policy = MassPolicy(share=0.3)  # four of fourteen are less
    assert all(reject(flagged(made), **WORDS, by=person, policy=policy).holds for _ in range(4))


def test_the_fourth_rejection_of_one_worker_needs_a_second_person_however_much_was_accepted(person):
    made = pooled(hits=4)
    works = [flagged(made) for _ in range(4)]
    Assignment.objects.filter(pk__in=[work.pk for work in works]).update(worker=works[0].worker)
    for work in works:
        work.refresh_from_db()
    policy = MassPolicy(earliest=1, share=1.0)
    assert [reject(work, **WORDS, by=person, policy=policy).holds for work in works] == [True, True, True, False]


def test_a_second_person_lets_a_proposal_hold_once_and_the_proposer_cannot(person, other):
    rejection = proposed(pooled(), person)
    with pytest.raises(CounterpartError, match="nothing to appeal"):
        make_appeal(rejection)
    with pytest.raises(CounterpartError, match="You proposed"):
        second(rejection, by=person)
    assert Assignment.objects.get().state == State.FLAGGED
    assert second(rejection, by=other).holds
    assert (Assignment.objects.get().state, Decision.objects.get().by) == (State.EXCLUDED, person)
    with pytest.raises(CounterpartError, match="does not wait"):
        second(rejection, by=other)


def test_a_proposal_that_is_dropped_leaves_the_work_to_be_decided(person, other):
    rejection = proposed(pooled(), person)
    drop_proposal(rejection, by=other)
    with pytest.raises(CounterpartError, match="does not wait"):
        second(rejection, by=other)
    assert (Assignment.objects.get().state, Decision.objects.count()) == (State.FLAGGED, 0)


def test_deciding_to_pay_ends_a_proposal(person):
    rejection = proposed(pooled(), person)
    decide(rejection.assignment, votes_count=True, paid=True, reason="I looked again.", by=person)
    rejection.refresh_from_db()
    assert (rejection.dropped_at is not None, Payment.objects.get().state) == (True, "owed")


def test_a_decision_that_waits_for_a_second_person_is_none_yet(person):
    made = pooled(hits=6)
    for _ in range(3):
        reject(flagged(made), **WORDS, by=person)
    work = flagged(made)
    assert decide(work, **UNPAID, reason="All the same.", by=person) is None
    assert (work.state, work.decisions.count()) == (State.FLAGGED, 0)


@pytest.mark.parametrize("change", [{"state": "approved"}, {"auto_approval_at": timezone.now()}])
def test_what_the_platform_has_approved_cannot_be_rejected(person, platform, change):
    work = flagged(posted())
    Visit.objects.update(**change)
    with pytest.raises(CounterpartError, match="approved"):
        reject(work, **WORDS, by=person)


@pytest.mark.parametrize(
    ("pay", "message"),
    [
        (lambda work: Visit.objects.update(state="approved"), "approved"),
        (partial(owe_bonus, amount=Decimal("0.65"), reason=COMPENSATION, actor="robin"), "was paid by a bonus"),
    ],
)
def test_what_was_paid_meanwhile_cannot_be_seconded(person, other, platform, pay, message):
    rejection = proposed(posted(), person)
    pay(rejection.assignment)
    with pytest.raises(CounterpartError, match=message):
        second(rejection, by=other)
    rejection.refresh_from_db()
    assert rejection.is_proposal


def test_a_reversal_pays_once_and_names_who_and_why(rejection, other):
    with pytest.raises(CounterpartError, match="without a reason"):
        reverse(rejection, reason=" ", by=other)
    decision = reverse(rejection, reason="The pictures were blank.", by=other)
    assert (decision.paid, decision.votes_count, decision.by) == (True, False, other)
    assert Payment.objects.get().state == Payment.State.OWED
    assert Event.objects.get(verb="rejection reversed").actor == "sam"
    with pytest.raises(CounterpartError, match="does not hold"):
        reverse(rejection, reason="Wrong.", by=other)
    assert Payment.objects.count() == 1


def test_reversed_work_can_be_rejected_again_with_another_row(person):
    work = flagged(pooled())
    reverse(reject(work, **WORDS, by=person), reason="Wrong.", by=person)
    assert reject(work, **WORDS, by=person).holds
    assert (Rejection.objects.count(), Payment.objects.get().state) == (2, Payment.State.WITHDRAWN)


def test_a_rejection_that_is_on_its_way_cannot_be_reversed(person, platform):
    rejection = reject(flagged(posted()), **WORDS, by=person)
    platform.failures = [ChannelError("The line was cut.")]
    make_wanted_calls()
    with pytest.raises(CounterpartError, match="is being sent"):
        reverse(rejection, reason="Wrong.", by=person)


def rejected_there(person, *, days: int) -> Rejection:
    """A rejection that the platform knows, of work submitted ``days`` ago."""
    made = posted()
    rejection = reject(flagged(made), **WORDS, by=person)
    deliver_due(made)
    Assignment.objects.update(submitted_at=timezone.now() - timedelta(days=days))
    return Rejection.objects.get(pk=rejection.pk)


def test_within_thirty_days_of_submission_the_platform_itself_reverses(person, platform):
    rejection = rejected_there(person, days=29)
    assert platforms.postings.means_of_pay(rejection.assignment) is Means.REWARD
    end = platforms.postings.reversible_until(rejection.assignment)
    assert timezone.now() < end < timezone.now() + timedelta(days=2)
    reverse(rejection, reason="Wrong.", by=person)
    assert Payment.objects.get().kind == Payment.Kind.REWARD


@pytest.mark.parametrize("late", ["by time", "by disposal"])
def test_after_that_as_much_is_given_as_a_bonus(person, platform, late):
    rejection = rejected_there(person, days=31 if late == "by time" else 1)
    if late == "by disposal":
        Posting.objects.update(state="disposed")
    reverse(rejection, reason="Wrong.", by=person)
    payment = Payment.objects.get()
    assert (payment.kind, payment.amount, payment.reason) == ("bonus", Decimal("0.65"), COMPENSATION)


def test_work_that_was_made_good_by_a_bonus_is_neither_rejected_nor_paid_again(person, platform):
    rejection = rejected_there(person, days=31)
    reverse(rejection, reason="Wrong.", by=person)
    work = Assignment.objects.get(pk=rejection.assignment_id)
    with pytest.raises(CounterpartError, match="was paid by a bonus"):
        reject(work, **WORDS, by=person)
    decide(work, votes_count=True, paid=True, reason="Its votes are fine as well.", by=person)
    assert [payment.kind for payment in Payment.objects.all()] == ["bonus"]


def test_in_the_house_pool_a_reversal_has_no_end(rejection):
    assert platforms.postings.reversible_until(rejection.assignment) is None
    assert platforms.postings.means_of_pay(rejection.assignment) is Means.REWARD


# Appeals against a rejection, and requests for the pay of a lost HIT


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


def test_an_appeal_is_answered_once_and_in_words(rejection, other, person):
    made = make_appeal(rejection)
    with pytest.raises(CounterpartError, match="The answer is empty"):
        answer_appeal(made, upheld=True, answer=" ", by=other)
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
