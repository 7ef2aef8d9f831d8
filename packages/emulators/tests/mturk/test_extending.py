from datetime import UTC, datetime, timedelta

import pytest

from counterpart_emulators.mturk.errors import TurkError
from counterpart_emulators.mturk.world import World
from counterpart_emulators.world_clock import Clock
from tests.mturk.conftest import NOON, QUESTION, TYPE

HOUR = timedelta(hours=1)
LONG_AGO = datetime(2015, 1, 1, tzinfo=UTC)


def shown(mturk, hit_id):
    return mturk.get_hit(HITId=hit_id)["HIT"]


def more(mturk, hit, count, **token):
    mturk.create_additional_assignments_for_hit(HITId=hit["HITId"], NumberOfAdditionalAssignments=count, **token)


def test_added_places_open_a_full_hit_again(mturk, post, do):
    hit = post()
    do(hit["HITId"])
    more(mturk, hit, 2)
    after = shown(mturk, hit["HITId"])
    assert (after["HITStatus"], after["MaxAssignments"]) == ("Assignable", 3)


@pytest.mark.parametrize(("at_first", "added", "may"), [(8, 1, True), (9, 1, False), (1, 9, False), (10, 90, True)])
def test_a_hit_never_goes_from_nine_or_fewer_to_ten_or_more(mturk, post, refused, at_first, added, may):
    hit = post(MaxAssignments=at_first)
    if may:
        more(mturk, hit, added)
    else:
        refusal = refused(more, mturk=mturk, hit=hit, count=added)
        assert refusal[1] == "AWS.MechanicalTurk.InvalidMaximumAssignmentsIncrease"
    assert shown(mturk, hit["HITId"])["MaxAssignments"] == at_first + added * may


def test_a_token_extends_once(mturk, post, refused):
    hit = post()
    more(mturk, hit, 1, UniqueRequestToken="row-9")
    message = refused(lambda: more(mturk, hit, 1, UniqueRequestToken="row-9"))[2]
    assert 'token "row-9" has already' in message
    assert shown(mturk, hit["HITId"])["MaxAssignments"] == 2


def test_a_hit_older_than_july_2015_cannot_be_extended():
    world = World(clock=Clock(lambda: LONG_AGO))
    hit_type = world.call("CreateHITType", TYPE)["HITTypeId"]
    wanted = {"HITTypeId": hit_type, "LifetimeInSeconds": 3600, "Question": QUESTION}
    hit_id = world.call("CreateHITWithHITType", wanted)["HIT"]["HITId"]
    with pytest.raises(TurkError) as caught:
        world.call("CreateAdditionalAssignmentsForHIT", {"HITId": hit_id, "NumberOfAdditionalAssignments": 1})
    assert caught.value.turk_code == "AWS.MechanicalTurk.HITTooOldForExtension"


def test_any_past_instant_expires_a_hit_now_and_may_be_given_again(mturk, post):
    hit_id, past = post()["HITId"], datetime(2015, 1, 1, tzinfo=UTC)
    for _ in range(2):
        mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=past)
    after = shown(mturk, hit_id)
    assert (after["HITStatus"], after["Expiration"]) == ("Reviewable", NOON)


@pytest.mark.parametrize(
    ("until", "increment"),
    [(NOON, -3600), (NOON + timedelta(seconds=30), -3570), (NOON + HOUR + timedelta(seconds=59), 59)],
)
def test_an_expiry_that_is_not_a_minute_later_than_the_current_one_is_refused(mturk, post, refused, until, increment):
    code, _, message = refused(mturk.update_expiration_for_hit, HITId=post()["HITId"], ExpireAt=until)
    assert code == "ParameterValidationError"
    assert f"The value {increment} is" in message


def test_a_later_expiry_opens_an_expired_hit_again(mturk, world, post):
    hit_id = post()["HITId"]
    world.move_clock(by=2 * HOUR)
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=NOON + 3 * HOUR)
    assert shown(mturk, hit_id)["HITStatus"] == "Assignable"
    world.move_clock(by=HOUR)
    assert shown(mturk, hit_id)["HITStatus"] == "Reviewable"


def test_the_same_later_expiry_twice_is_an_idempotency_error(mturk, post, refused):
    hit_id, until = post()["HITId"], NOON + 2 * HOUR
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=until)
    message = refused(mturk.update_expiration_for_hit, HITId=hit_id, ExpireAt=until)[2]
    assert hit_id + "Mon Mar 02 14:00:00 UTC 2026" in message


def test_a_disposed_hit_can_be_neither_extended_nor_expired(mturk, world, post, refused):
    hit = post()
    world.move_clock(by=2 * HOUR)
    mturk.delete_hit(HITId=hit["HITId"])
    refusals = [
        refused(lambda: more(mturk, hit, 1)),
        refused(mturk.update_expiration_for_hit, HITId=hit["HITId"], ExpireAt=NOON),
    ]
    assert {turk_code for _, turk_code, _ in refusals} == {"AWS.MechanicalTurk.InvalidHITState"}
