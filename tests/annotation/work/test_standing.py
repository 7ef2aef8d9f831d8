from decimal import Decimal

import pytest

from annotation.money.payments import mark_paid
from annotation.review.decisions import decide
from annotation.work.grading import accept, flag
from annotation.work.leases import lease_seat
from annotation.work.standing import standing_of, standings
from annotation.work.submissions import mark_submitted
from tests.factories import make_collection, make_round, make_worker, put_on_platform


def submitted(made):
    assignment = lease_seat(made, worker=make_worker())
    mark_submitted(assignment, active_seconds=1)
    return assignment


def test_a_new_round_has_only_open_seats(db):
    standing = standing_of(make_round(hits=2, replication=2))
    assert standing.seats == {"open": 4, "taken": 0, "filled": 0}
    assert (standing.wanted, standing.filled, standing.share, standing.workers) == (4, 0, 0.0, 0)
    assert (standing.cost, standing.is_complete, set(standing.work.values())) == (0, False, {0})


def test_a_round_on_its_way_counts_seats_work_people_and_money(person):
    made = make_round(hits=5, reward="0.65")
    lease_seat(made, worker=make_worker())
    first, second = submitted(made), submitted(made)
    accept(first), accept(second)
    mark_paid(first.payments.get(), actor="robin")
    flag(submitted(made), control_failures=1)
    standing = standing_of(made)
    assert standing.seats == {"open": 1, "taken": 2, "filled": 2}
    assert (standing.work["leased"], standing.work["accepted"], standing.waiting) == (1, 2, 1)
    assert (standing.owed, standing.spent, standing.cost) == (Decimal("0.65"), Decimal("0.65"), Decimal("1.30"))
    assert (standing.workers, standing.share, standing.ceiling) == (3, 0.4, Decimal("500.00"))


def test_the_expected_cost_counts_work_that_is_paid_and_done_again(person):
    made = make_round(hits=3, reward="0.65")
    excluded = submitted(made)
    flag(excluded, control_failures=1)
    decide(excluded, votes_count=False, paid=True, reason="careless", by=person)
    accept(submitted(made))
    lease_seat(made, worker=make_worker())
    assert standing_of(made).expected_cost == Decimal("0.65") * 4
    made.closed_at = made.published_at
    assert standing_of(made).expected_cost == Decimal("0.65") * 3


def test_withdrawn_pay_costs_nothing(person):
    made = make_round()
    assignment = submitted(made)
    accept(assignment)
    unpaid = {"votes_count": False, "paid": False, "grounds": "automated", "evidence": "18 answers in 2 seconds."}
    decide(assignment, **unpaid, reason="A script answered.", by=person)
    assert standing_of(made).cost == 0


def test_a_round_is_complete_when_every_seat_is_filled(db):
    made = make_round(hits=2)
    accept(submitted(made))
    assert not standing_of(made).is_complete
    accept(submitted(made))
    assert standing_of(made).is_complete


def test_the_platforms_fee_is_part_of_the_cost(db):
    made = put_on_platform(make_round(reward="0.65"))
    accept(submitted(made))
    assert standing_of(made).cost == Decimal("0.78")


@pytest.mark.parametrize("rounds", [1, 4])
def test_any_number_of_rounds_takes_three_queries(db, django_assert_num_queries, rounds):
    collection = make_collection(images=8, pictures=True)
    made = [make_round(collection, name=f"round-{n}") for n in range(rounds)]
    accept(submitted(made[0]))
    with django_assert_num_queries(3):
        assert [standing.filled for standing in standings(made).values()] == [1] + [0] * (rounds - 1)
