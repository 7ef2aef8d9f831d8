from datetime import timedelta

import pytest

from counterpart_emulators.marketplace import Refusal
from counterpart_emulators.mturk.errors import TurkError
from counterpart_emulators.mturk.world import World
from counterpart_emulators.world_clock import Clock, ClockError
from tests.mturk.conftest import NOON, QUESTION, TYPE


@pytest.fixture
def world() -> World:
    return World(seed=7, clock=Clock(lambda: NOON))


def post(world, **different):
    type_id = world.call("CreateHITType", TYPE)["HITTypeId"]
    usual = {"HITTypeId": type_id, "LifetimeInSeconds": 3600, "Question": QUESTION}
    return world.call("CreateHITWithHITType", usual | different)["HIT"]["HITId"]


def ids_of(seed):
    world = World(seed=seed, clock=Clock(lambda: NOON))
    hit_id, worker_id = post(world), world.register_worker()
    return hit_id, worker_id, world.accept(hit_id, worker_id)["AssignmentId"]


def test_the_same_seed_and_calls_give_the_same_ids():
    assert ids_of(3) == ids_of(3)
    assert not set(ids_of(3)) & set(ids_of(4))


def test_a_call_that_fails_changes_no_later_id():
    def with_failures(count):
        world = World(seed=3, clock=Clock(lambda: NOON))
        for _ in range(count):
            with pytest.raises(TurkError):
                post(world, MaxAssignments=1_000_000)
        return post(world)

    assert with_failures(0) == with_failures(3)


def test_what_time_does_is_done_at_its_own_instant_and_in_order(world):
    hit_id, worker_id = post(world, MaxAssignments=2), world.register_worker()
    world.accept(hit_id, worker_id)
    world.move_clock(by=timedelta(days=200))
    with world.looking() as state:
        hit = state.hits[hit_id]
        released = state.ledger.entries[-1]
        assert (hit.status, hit.assignments[0].status) == ("Disposed", "Abandoned")
        assert hit.assignments[0].ended_at - NOON == timedelta(seconds=600)
        assert (released.what, released.at - NOON) == ("release", timedelta(hours=1))
        assert hit.reviewable_since - NOON == timedelta(hours=1)


def test_a_refusal_changes_nothing(world):
    worker_id, before = world.register_worker(), len(world.journal.entries)
    with pytest.raises(Refusal):
        world.accept("3NOTHING", worker_id)
    assert len(world.journal.entries) == before


def test_an_expiry_that_was_moved_does_not_happen_at_its_first_time(world):
    hit_id = post(world)
    world.call("UpdateExpirationForHIT", {"HITId": hit_id, "ExpireAt": NOON + timedelta(hours=2)})
    world.move_clock(by=timedelta(minutes=90))
    assert world.call("GetHIT", {"HITId": hit_id})["HIT"]["HITStatus"] == "Assignable"


def test_work_accepted_again_under_a_former_id_is_not_abandoned_at_the_former_deadline(world):
    hit_id, worker_id = post(world), world.register_worker()
    world.act("set_reissue", policy="same")
    first = world.accept(hit_id, worker_id)["AssignmentId"]
    world.return_assignment(first, worker_id)
    world.move_clock(by=timedelta(seconds=300))
    again = world.accept(hit_id, worker_id)["AssignmentId"]
    world.move_clock(by=timedelta(seconds=301))
    world.submit(again, worker_id, {"a": "1"})
    assert first == again


def test_the_clock_keeps_its_distance_from_the_real_one_and_can_be_stopped():
    real = [NOON]
    clock = Clock(lambda: real[0])
    clock.set(NOON + timedelta(days=1), running=True)
    real[0] += timedelta(minutes=1)
    assert clock.now() == NOON + timedelta(days=1, minutes=1)
    clock.set(clock.now(), running=False)
    real[0] += timedelta(minutes=1)
    assert clock.now() == NOON + timedelta(days=1, minutes=1)


def test_the_clock_never_goes_back(world):
    with pytest.raises(ClockError, match="only moves forward"):
        world.move_clock(NOON - timedelta(seconds=1))
