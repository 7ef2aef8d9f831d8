"""What reads a row, decides and then writes locks the row first: two at once would both decide by what they read.

Where several are locked, a worker comes before a round and a round before its work: in another order two processes
would wait for each other.
"""

from decimal import Decimal

import pytest
from django.db import transaction
from django.utils import timezone

from annotation.models import Admission, Assignment, Exclusion, Payment, Worker, WorkerIdentity
from annotation.money.budget import set_ceiling
from annotation.money.payments import mark_reward_paid, owe, owe_bonus, withdraw
from annotation.money.payroll import mark_wages, write_wages
from annotation.people.admission import join_round
from annotation.people.workers import exclude, readmit
from annotation.review.appeals import answer_appeal, ask_for_pay
from annotation.review.decisions import decide
from annotation.work.answers import save_drafts
from annotation.work.grading import accept
from annotation.work.leases import bind_seat, lease_seat
from annotation.work.submissions import submit_answers
from core.work.jobs import open_once
from corpus.matches import seal_source
from corpus.models import Collection
from crowd.calls.delivery import mark_extended, mark_over, mark_posted, mark_rejected
from crowd.channels.base import Listed
from crowd.messages import write_to_round
from crowd.models import Posting, Visit
from crowd.posting.postings import post_open_seats
from crowd.sync import keep
from crowd.visits.intake import pay_for_outage, take_in
from dataset.jobs import start_export
from dataset.models import Version
from dataset.reviews.cases import open_cases
from dataset.reviews.reviews import second, undo
from dataset.verdicts import aggregate_round
from evaluation.jobs import start_scoring_run
from evaluation.models import Run
from hits.models import Round, Seat
from tests.annotation.answering import leased, lost, right_answers
from tests.annotation.cast import answer, candidates
from tests.annotation.money.moneyed import accepted, flagged, pooled, posted, submit
from tests.crowd.framing import claimed, confirm
from tests.dataset.releasing import release_version
from tests.dataset.reviewing import another_person, give_level
from tests.factories import make_collection, make_round, make_sample, make_worker
from tests.transactions import locked_by, locked_in_order

pytestmark = pytest.mark.django_db

in_transaction = transaction.atomic


def test_drafts_and_submissions_lock_the_assignment(platform):
    claim = claimed()
    answers = right_answers(claim)
    assert locked_by(lambda: save_drafts(claim, [answers[0]])) == {Assignment}
    assert locked_by(lambda: submit_answers(claim, answers=answers, active_seconds=1)) == {Assignment}
    confirm(claim)
    assert locked_in_order(lambda: take_in(claim.pk)) == [Worker, Round, Assignment, Seat]


def test_a_lease_locks_the_worker_and_its_seat():
    made = make_round()
    assert locked_by(lambda: lease_seat(made, worker=make_worker())) >= {Worker, Seat}


def test_accepted_work_locks_its_round_where_the_money_might_be_short():
    made = pooled(hits=2)
    rich, poor = (submit(made) for _ in range(2))
    assert locked_by(lambda: accept(rich)) == set()
    Round.objects.filter(pk=made.pk).update(ceiling=made.seat_cost)
    assert locked_by(lambda: accept(poor)) == {Round}
    assert (rich.state, poor.state) == ("accepted", "flagged")


def test_accepted_work_locks_a_round_whose_channel_pays_it(platform):
    work = submit(posted())
    assert Round in locked_by(lambda: accept(work))


def test_a_message_to_a_round_locks_the_round(platform):
    made = posted()
    worker = accepted(made).worker
    WorkerIdentity.objects.create(worker=worker, channel="mturk", environment="emulator", external_id="A1")
    assert locked_by(lambda: write_to_round(made, subject="Thank you", text="It helped.", by="robin")) == {Round}


def test_a_late_submission_locks_the_seats_of_its_hit(platform):
    claim = claimed()
    assert locked_by(lambda: in_transaction(bind_seat)(claim)) == {Seat}


def test_a_listed_submission_is_locked_while_it_is_compared(platform):
    accepted(posted())
    known, posting, now = Assignment.objects.get(), Posting.objects.get(), timezone.now()
    listed = Listed(known.outside_key, "AWORKER", "submitted", now, None, None, "")
    assert locked_in_order(lambda: keep(posting, listed)) == [Round, Visit]


def test_whoever_joins_a_round_of_limited_places_locks_it():
    made = make_round()
    Admission.objects.create(round=made, capacity=1)
    made.refresh_from_db()
    assert locked_by(lambda: join_round(made, make_worker())) == {Round}


def test_whoever_readmits_a_worker_locks_the_exclusion():
    worker = make_worker()
    exclude(worker, reason="why", by="robin")
    assert locked_by(lambda: readmit(worker, by="robin")) == {Exclusion}


def test_a_decision_locks_the_round_and_the_work(person):
    work = flagged(pooled())
    acts = lambda: decide(work, votes_count=True, paid=True, reason="Fine.", by=person)  # noqa: E731
    assert locked_in_order(acts) == [Round, Assignment]


def test_whoever_pays_for_lost_work_locks_it(person):
    begun = leased(pooled())
    assert locked_in_order(lambda: pay_for_outage(begun, reason="No disk.", by=person)) == [Round, Assignment]
    asked = ask_for_pay(
        lost(make_round(begun.hit.round.pool.collection, name="other")), text="I had finished it.", actor="worker:x"
    )
    answered = locked_in_order(lambda: answer_appeal(asked, upheld=True, answer="Sorry.", by=person))
    assert answered == [Round, Assignment]


@pytest.mark.slow
@pytest.mark.parametrize(
    "act",
    [
        owe,
        mark_reward_paid,
        lambda work: withdraw(work, actor="robin"),
        lambda work: owe_bonus(work, amount=Decimal(1), reason="Thanks.", actor="robin"),
        lambda work: set_ceiling(work.hit.round, "400", actor="robin"),
        lambda work: post_open_seats(work.hit.round),
        lambda work: in_transaction(mark_posted)(Posting.objects.get()),
        lambda work: in_transaction(mark_extended)(Posting.objects.get()),
        lambda work: in_transaction(mark_over)(Posting.objects.get(), unused=0),
        lambda work: mark_rejected(work.visit),
    ],
)
def test_whatever_moves_money_locks_the_round(platform, act):
    work = accepted(posted())
    assert locked_by(lambda: act(work)) == {Round}


def test_payments_are_locked_while_a_list_of_them_is_checked(tmp_path):
    accepted(pooled())
    made = Round.objects.get()
    listed = tmp_path / "owed.csv"
    listed.write_text(write_wages(made))
    assert Payment in locked_by(lambda: mark_wages(made, listed, actor="robin"))


def test_verdicts_of_a_round_are_replaced_by_one_at_a_time():
    made = make_round()
    answer(made.hits.get(), 1, 4)
    assert locked_by(lambda: aggregate_round(made)) == {Round, Collection}


def test_reviews_lock_the_collection(person):
    made = make_round()
    collection, pair = made.pool.collection, candidates(made.hits.get())[0]
    Collection.objects.update(two_reviewers=True)
    given = []
    assert locked_by(lambda: given.append(give_level(made, pair, 4, by=person))) == {Collection}
    assert locked_by(lambda: second(given[0], by=another_person())) == {Collection}
    assert locked_by(lambda: undo(given, by=person)) == {Collection}
    assert locked_by(lambda: open_cases(collection, "reported", {})) == {Collection}
    assert locked_by(lambda: in_transaction(seal_source)(collection, "v1")) == {Collection}


def test_a_button_pressed_twice_waits_for_the_first_press(person, researcher):
    zoo = make_collection()
    version = release_version("v1", collection=zoo, sample=make_sample(zoo), merge="original")
    made = make_round(zoo)
    assert locked_by(lambda: open_once("Audit", "none", {"round": made.name}, lock=made, by=person)) == {Round}
    assert locked_by(lambda: start_export(version, "judgments-csv", by=person)) == {Version}
    assert locked_by(lambda: start_scoring_run(Run(pk=1, collection=zoo, model="m"), by=person)) == {Collection}
    assert locked_by(lambda: researcher.post("/collections/zoo/clean-up/", {"below": "2"})) == {Collection}
