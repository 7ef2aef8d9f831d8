"""Who may join a round of the browser pool: capacity, HITs of one worker, tests and exclusions."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Assignment, Exclusion, Participant, TestItem, Worker
from annotation.people.admission import NotAdmittedError, join_round, make_admission, permit_of
from annotation.people.qualification_tests import QualificationPlan, answer_test, make_test
from annotation.work.leases import expire_leases, lease_seat
from annotation.work.submissions import mark_submitted
from core.errors import CounterpartError
from core.models import Event
from crowd.posting.publication import publish_round
from hits.models import Item, Round
from tests.annotation.answering import limit
from tests.at_once import at_once
from tests.factories import make_assignment, make_round, make_worker


def finish(assignment: Assignment) -> Assignment:
    mark_submitted(assignment, active_seconds=60)
    return assignment


def asking(made: Round) -> Round:
    """The round, with a test before its first HIT."""
    collection = made.pool.collection
    return limit(made, test=make_test("first", collection=collection, plan=QualificationPlan(1, 1, 2), actor="x"))


def answer(made: Round, worker: Worker, *, rightly: bool = True, number: int = 1) -> None:
    items = made.admission.test.items.all()
    levels = {item.place: 1 if (item.polarity == "positive") == rightly else 4 for item in items}
    answer_test(made.admission.test, worker, levels, number=number)


def exclude(worker: Worker) -> Exclusion:
    return Exclusion.objects.create(worker=worker, reason="why", by="robin")


def test_as_many_workers_join_as_the_capacity_says(db):
    made = limit(make_round(hits=3), capacity=2)
    assert [join_round(made, make_worker()) for _ in range(3)] == [True, True, False]
    assert Participant.objects.count() == 2


def test_joining_again_takes_no_second_place(db):
    made, worker = limit(make_round(), capacity=1), make_worker()
    assert join_round(made, worker)
    assert join_round(made, worker)
    assert Event.objects.filter(verb="joined").count() == 1


def test_a_full_round_gives_its_hits_only_to_those_who_joined(db):
    made, first, second = limit(make_round(hits=3), capacity=1), make_worker(), make_worker()
    join_round(made, first)
    assert lease_seat(made, worker=second) is None
    assert lease_seat(made, worker=first)


def test_who_has_failed_the_last_try_of_the_test_takes_no_place(db):
    made, worker, next_one = limit(asking(make_round(hits=3)), capacity=1), make_worker(), make_worker()
    join_round(made, worker)
    answer(made, worker, rightly=False, number=1)
    assert not join_round(made, next_one)
    answer(made, worker, rightly=False, number=2)
    assert join_round(made, next_one)
    assert not join_round(made, make_worker())


def test_who_leases_without_having_joined_takes_a_place(db):
    made = limit(make_round(hits=3), capacity=1)
    assert lease_seat(made, worker=make_worker())
    assert lease_seat(made, worker=make_worker()) is None


def test_many_at_the_door_at_once_never_pass_the_capacity(transactional_db):
    made = limit(make_round(hits=6), capacity=2)
    workers = [make_worker() for _ in range(6)]
    joined = at_once(*(lambda w=w: join_round(made, w) for w in workers))
    assert sum(joined) == Participant.objects.count() == 2


def test_a_worker_takes_as_many_hits_of_a_round_as_they_may(db):
    made, worker = limit(make_round(hits=4), per_worker=2), make_worker()
    for left in (2, 1):
        assert permit_of(made, worker).left == left
        finish(lease_seat(made, worker=worker))
    assert lease_seat(made, worker=worker) is None
    assert permit_of(made, worker).is_over
    assert lease_seat(made, worker=make_worker())
    assert permit_of(limit(make_round(made.pool.collection, "other"), per_worker=1), worker).left == 1


@pytest.mark.parametrize(("state", "counts"), [("returned", False), ("excluded", True)])
def test_a_hit_that_was_returned_is_not_counted_and_one_whose_votes_were_excluded_is(db, state, counts):
    made, worker = limit(make_round(hits=4), per_worker=1), make_worker()
    Assignment.objects.filter(pk=lease_seat(made, worker=worker).pk).update(state=state)
    assert (lease_seat(made, worker=worker) is None) == counts


def test_leases_that_ran_out_are_no_way_around_the_limit(db):
    made, worker = limit(make_round(hits=2), per_worker=1), make_worker()
    late = lease_seat(made, worker=worker)
    Assignment.objects.update(deadline=timezone.now() - timedelta(minutes=1))
    expire_leases()
    finish(make_assignment(made.hits.get(number=2).seats.get(), worker))
    late.refresh_from_db()
    assert mark_submitted(late, active_seconds=60) is None
    limit(made, per_worker=2)
    assert mark_submitted(Assignment.objects.get(pk=late.pk), active_seconds=60)


def test_no_hit_before_the_test_is_passed_which_then_holds_for_another_round(db):
    made, worker = asking(make_round(hits=3)), make_worker()
    with pytest.raises(NotAdmittedError, match="has not passed the test first"):
        lease_seat(made, worker=worker)
    answer(made, worker, rightly=False)
    with pytest.raises(NotAdmittedError):
        lease_seat(made, worker=worker)
    answer(made, worker, number=2)
    assert lease_seat(made, worker=worker)
    other = limit(make_round(made.pool.collection, "other"), test=made.admission.test)
    assert not permit_of(other, worker).needs_test


def test_a_pair_of_the_test_is_never_asked_of_that_worker_in_a_hit(db):
    made, worker = asking(make_round(hits=2)), make_worker()
    shown = Item.objects.get(hit__number=1, place=1)
    TestItem.objects.filter(place=1).update(image=shown.image, caption=shown.caption)
    answer(made, worker)
    assert lease_seat(made, worker=worker).hit.number == 2
    limit(made, test=None)
    assert lease_seat(made, worker=make_worker()).hit.number == 1


def test_an_excluded_worker_ends_the_hit_in_hand_and_gets_no_other_until_that_is_lifted(db):
    made, worker = make_round(hits=2), make_worker()
    held = lease_seat(made, worker=worker)
    exclusion = exclude(worker)
    assert lease_seat(made, worker=worker) == held
    assert mark_submitted(held, active_seconds=60)
    with pytest.raises(NotAdmittedError, match="is excluded"):
        lease_seat(made, worker=worker)
    Exclusion.objects.filter(pk=exclusion.pk).update(lifted_at=timezone.now())
    assert lease_seat(made, worker=worker)


def test_publishing_sets_who_may_work(db):
    made = make_round(published=False, hits=2, reward="2.50")
    test = asking(make_round(made.pool.collection, "other", published=False)).admission.test
    publish_round(made, admission=make_admission(capacity=3, per_worker=1, test=test), actor="robin")
    made.refresh_from_db()
    assert (made.admission.capacity, made.admission.per_worker, made.admission.test) == (3, 1, test)
    data = Event.objects.get(verb="published").data
    assert (data["capacity"], data["per_worker"], data["test"]) == (3, 1, "first")


@pytest.mark.parametrize("wish", [{"capacity": 0}, {"per_worker": -1}, {"capacity": 10**7}])
def test_a_number_out_of_range_is_refused(wish):
    with pytest.raises(CounterpartError, match="leave it out for no limit"):
        make_admission(**wish)


def test_on_a_platform_they_are_refused(db, platform):
    made = make_round(published=False)
    with pytest.raises(CounterpartError, match="are for the browser pool"):
        publish_round(made, channel="mturk", admission=make_admission(per_worker=1), actor="robin")
    made.refresh_from_db()
    assert made.state == "draft"
