from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotation.models import Admission, Assignment
from annotation.people.admission import join_round
from annotation.work import leases as leasing
from annotation.work.answers import save_drafts
from annotation.work.leases import end_idle_leases, expire_leases, extend_lease, lease_seat, return_assignment
from annotation.work.submissions import mark_submitted, submit_answers
from core.errors import CounterpartError
from core.models import Event
from hits.models import Item, Round, Seat
from tests.annotation.answering import right_answers
from tests.at_once import at_once
from tests.factories import make_assignment, make_collection, make_round, make_worker

State = Assignment.State


def overdue(assignment):
    Assignment.objects.filter(pk=assignment.pk).update(deadline=timezone.now() - timedelta(minutes=1))
    return assignment


def test_the_first_open_seat_is_leased_for_the_time_that_settings_give(db, settings):
    settings.LEASE_MINUTES = 7
    assignment = lease_seat(make_round(hits=2), worker=make_worker())
    assert (assignment.hit.number, assignment.state, assignment.seat.state) == (1, State.LEASED, Seat.State.TAKEN)
    assert timedelta(minutes=6) < assignment.deadline - timezone.now() <= timedelta(minutes=7)


def test_a_worker_never_gets_two_seats_of_one_hit(db):
    made, worker = make_round(hits=1, replication=2), make_worker()
    mark_submitted(lease_seat(made, worker=worker), active_seconds=60)
    assert lease_seat(made, worker=worker) is None
    assert lease_seat(made, worker=make_worker()) is not None


@pytest.mark.parametrize("seen", [{"control": None}, {"control__polarity": "positive"}])
@pytest.mark.parametrize("sides", [("image", "caption"), ("image",)])
def test_a_hit_that_shares_a_pair_with_answered_work_is_passed_over(db, seen, sides):
    made, worker = make_round(hits=3), make_worker()
    mark_submitted(lease_seat(made, worker=worker), active_seconds=60)
    first = Item.objects.filter(hit__number=1, **seen).first()
    Item.objects.filter(hit__number=2, place=1).update(**{side: getattr(first, side) for side in sides})
    assert lease_seat(made, worker=worker).hit.number == (3 if len(sides) == 2 else 2)


def test_pairs_of_other_rounds_count_as_seen(db):
    collection, worker = make_collection(images=10, pictures=True), make_worker()
    lease_seat(make_round(collection), worker=worker)
    assert lease_seat(make_round(collection, name="round-2"), worker=worker) is None


@pytest.mark.parametrize("stamps", [{"published_at": None}, {"closed_at": timezone.now()}])
def test_only_an_open_round_gives_out_seats(db, stamps):
    made = make_round()
    Round.objects.update(**stamps)
    assert lease_seat(made, worker=make_worker()) is None


def test_no_seat_is_leased_that_the_ceiling_could_not_pay(db):
    made = make_round(hits=3, reward="0.65")
    Round.objects.update(ceiling="1.30")
    made.refresh_from_db()
    leases = [lease_seat(made, worker=make_worker()) for _ in range(3)]
    assert [lease is not None for lease in leases] == [True, True, False]


def test_a_seat_lost_to_another_worker_leads_to_the_next_one(db, monkeypatch):
    made = make_round(hits=2)
    honest, lost = leasing.claim, []

    def lose_the_first(seat_id):
        if lost:
            return honest(seat_id)
        lost.append(seat_id)
        make_assignment(Seat.objects.get(pk=seat_id))
        return honest(seat_id)

    monkeypatch.setattr(leasing, "claim", lose_the_first)
    assert lease_seat(made, worker=make_worker()).hit.number == 2


@pytest.mark.parametrize("state", [State.SUBMITTED, State.ACCEPTED, State.RETURNED, State.EXPIRED])
def test_only_a_lease_can_be_returned(db, state):
    assignment = lease_seat(make_round(), worker=make_worker())
    Assignment.objects.update(state=state)
    assert not return_assignment(assignment, actor="test")
    assert Seat.objects.get().state == Seat.State.TAKEN


def test_leases_past_their_deadline_expire_and_their_seats_open(db):
    made = make_round(hits=3)
    late = [overdue(lease_seat(made, worker=make_worker())) for _ in range(2)]
    running = lease_seat(made, worker=make_worker())
    assert [expire_leases(), expire_leases()] == [2, 0]
    assert Event.objects.filter(verb="expired").count() == 2
    assert {a.pk for a in Assignment.objects.filter(state=State.EXPIRED)} == {a.pk for a in late}
    assert [seat.state for seat in Seat.objects.order_by("hit__number")] == ["open", "open", "taken"]
    assert Assignment.objects.get(state=State.LEASED) == running


def test_any_number_of_leases_expires(db, monkeypatch):
    monkeypatch.setattr(leasing, "AT_ONCE", 2)
    made = make_round(hits=5)
    for _ in range(5):
        overdue(lease_seat(made, worker=make_worker()))
    assert expire_leases() == 5


@pytest.mark.parametrize(("hits", "state"), [(1, State.EXPIRED), (2, State.LEASED)])
def test_only_a_worker_who_finds_no_other_seat_gets_one_whose_lease_is_overdue(db, hits, state):
    made = make_round(hits=hits)
    late = overdue(lease_seat(made, worker=make_worker()))
    assert (lease_seat(made, worker=make_worker()).seat == late.seat) == (hits == 1)
    late.refresh_from_db()
    assert late.state == state


def test_an_overdue_lease_that_takes_the_last_of_the_ceiling_keeps_no_worker_out(db):
    made = make_round(hits=2, reward="0.65")
    Round.objects.update(ceiling="0.65")
    made.refresh_from_db()
    overdue(lease_seat(made, worker=make_worker()))
    assert lease_seat(made, worker=make_worker()) is not None


def test_a_worker_who_finds_no_seat_ends_no_overdue_lease_of_another_round(db):
    collection = make_collection(images=10, pictures=True)
    made, other = make_round(collection), make_round(collection, name="round-2")
    lease_seat(made, worker=make_worker())
    late = overdue(lease_seat(other, worker=make_worker()))
    assert lease_seat(made, worker=make_worker()) is None
    late.refresh_from_db()
    assert late.state == State.LEASED


def test_who_comes_back_after_the_deadline_leases_again(db):
    made, worker = make_round(), make_worker()
    late = overdue(lease_seat(made, worker=worker))
    assert lease_seat(made, worker=worker).pk != late.pk
    late.refresh_from_db()
    assert late.state == State.EXPIRED


@pytest.mark.parametrize("hits", [4, 12])
def test_leasing_takes_as_many_queries_however_long_the_round(db, django_assert_num_queries, hits):
    made, worker = make_round(hits=hits), make_worker()
    mark_submitted(lease_seat(made, worker=worker), active_seconds=60)
    with django_assert_num_queries(11):
        lease_seat(made, worker=worker)


def test_a_hit_that_fits_is_found_however_far_away(db, monkeypatch):
    monkeypatch.setattr(leasing, "AT_ONCE", 3)
    made, worker = make_round(hits=9), make_worker()
    mark_submitted(lease_seat(made, worker=worker), active_seconds=60)
    seen = Item.objects.get(hit__number=1, place=1)
    Item.objects.filter(hit__number__lt=9, place=1).update(image=seen.image, caption=seen.caption)
    assert lease_seat(made, worker=worker).hit.number == 9


def test_a_lease_is_prolonged_once_by_the_time_that_settings_give(db, settings):
    settings.LEASE_MINUTES = 7
    assignment = lease_seat(make_round(), worker=make_worker())
    first = assignment.deadline
    assert extend_lease(Assignment.objects.get()) is True
    assert extend_lease(assignment) is False  # pressed twice: the second press saw the lease as it was
    assert extend_lease(Assignment.objects.get()) is False
    assert Assignment.objects.get().deadline == first + timedelta(minutes=7)
    assert Event.objects.filter(verb="extended").count() == 1


@pytest.mark.parametrize("state", [State.RETURNED, State.EXPIRED, State.SUBMITTED])
def test_a_lease_that_is_over_is_not_prolonged(db, state):
    assignment = lease_seat(make_round(), worker=make_worker())
    Assignment.objects.update(state=state)
    assert extend_lease(Assignment.objects.get()) is False
    assert Assignment.objects.get().deadline == assignment.deadline


# Staff end the leases of people who never submitted, so that a script cannot hold the seats of a round


@pytest.fixture
def four_hits(db) -> Round:
    return make_round(hits=4)


def proven(made: Round):
    """A worker who has submitted in this round."""
    worker = make_worker()
    first = lease_seat(made, worker=worker)
    submit_answers(first, answers=right_answers(first), active_seconds=60)
    return worker


def end(made: Round, *, with_answers: bool = False) -> int:
    return end_idle_leases(made, with_answers=with_answers, actor="robin")


def states(*leases: Assignment) -> list[str]:
    for lease in leases:
        lease.refresh_from_db()
    return [lease.state for lease in leases]


def test_only_leases_of_workers_who_never_submitted_end(four_hits):
    theirs = lease_seat(four_hits, worker=proven(four_hits))
    idle = lease_seat(four_hits, worker=make_worker())
    elsewhere = lease_seat(make_round(four_hits.pool.collection, "other"), worker=make_worker())
    assert end(four_hits) == 1
    assert states(theirs, idle, elsewhere) == ["leased", "expired", "leased"]
    assert Seat.objects.get(pk=idle.seat_id).state == "open"
    assert Event.objects.get(verb="expired").actor == "robin"
    assert Event.objects.get(verb="ended idle leases").data == {"leases": 1, "places": 0}


def test_who_has_saved_answers_is_spared_unless_wanted(four_hits):
    begun = lease_seat(four_hits, worker=make_worker())
    save_drafts(begun, [right_answers(begun)[0]])
    assert (end(four_hits), states(begun)) == (0, ["leased"])
    assert (end(four_hits, with_answers=True), states(begun)) == (1, ["expired"])


def test_the_places_of_idle_workers_are_free_again(four_hits):
    Admission.objects.create(round=four_hits, capacity=2)
    four_hits.refresh_from_db()
    lease_seat(four_hits, worker=make_worker())
    worker = proven(four_hits)
    assert not join_round(four_hits, make_worker())
    end(four_hits)
    assert [one.worker for one in four_hits.participants.all()] == [worker]
    assert join_round(four_hits, make_worker())


def test_who_has_submitted_keeps_their_place_though_their_work_was_excluded(four_hits):
    Admission.objects.create(round=four_hits, capacity=1)
    four_hits.refresh_from_db()
    worker = proven(four_hits)
    Assignment.objects.update(state="excluded")
    end(four_hits)
    assert [one.worker for one in four_hits.participants.all()] == [worker]


@pytest.mark.service
def test_a_submission_at_the_same_moment_is_neither_lost_nor_given_away(transactional_db):
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has one writer at a time")
    made = make_round(hits=1)
    lease = lease_seat(made, worker=make_worker())
    answers = right_answers(lease)

    def submit() -> bool:
        try:
            submit_answers(Assignment.objects.get(pk=lease.pk), answers=answers, active_seconds=60)
        except CounterpartError:
            return False
        return True

    submitted, _ = at_once(submit, lambda: end(made, with_answers=True))
    assert submitted
    assert (states(lease)[0] in Assignment.SUBMITTED, lease.judgments.count()) == (True, 4)
    assert Seat.objects.get().state in ("taken", "filled")
