"""The fault matrix between a call and its answer, as plain boto3 meets it."""

from datetime import timedelta
from decimal import Decimal
from threading import Event

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError

from counterpart_emulators import call_faults
from tests.conftest import eventually
from tests.mturk.conftest import QUESTION


def balance(mturk) -> Decimal:
    return Decimal(mturk.get_account_balance()["AvailableBalance"])


def test_the_nth_call_is_throttled_and_the_next_one_is_not(mturk, upset, refused):
    upset("throttle", "GetAccountBalance", nth=2)
    mturk.get_account_balance()
    code, turk_code, message = refused(mturk.get_account_balance)
    assert (code, turk_code, message) == ("ThrottlingException", None, "Rate exceeded")
    mturk.get_account_balance()


@pytest.mark.parametrize(("status", "body"), [(500, "json"), (503, "html"), (505, "none")])
def test_a_failing_service_answers_with_its_status_and_does_nothing(mturk, post, upset, world, status, body):
    post()
    upset("status", "CreateHITWithHITType", status=status, body=body)
    with pytest.raises(ClientError) as failed:
        post()
    assert failed.value.response["ResponseMetadata"]["HTTPStatusCode"] == status
    assert mturk.list_hits()["NumResults"] == 1


def test_a_reset_connection_did_nothing(post, mturk, upset):
    upset("reset", "CreateHITWithHITType")
    with pytest.raises(ConnectionClosedError):
        post()
    assert mturk.list_hits()["NumResults"] == 0


def test_a_dropped_answer_belongs_to_a_call_that_was_done(post, mturk, upset):
    upset("drop", "CreateHITWithHITType")
    with pytest.raises(ConnectionClosedError):
        post()
    assert mturk.list_hits()["NumResults"] == 1


def test_a_bonus_without_a_token_is_paid_twice_when_the_sdk_meets_a_dropped_answer(connect, post, do, worker, upset):
    assignment_id = do(post()["HITId"], worker)
    upset("drop", "SendBonus", nth=1)
    patient = connect(attempts=2)
    patient.send_bonus(WorkerId=worker, AssignmentId=assignment_id, BonusAmount="0.50", Reason="Thank you")
    assert patient.list_bonus_payments(AssignmentId=assignment_id)["NumResults"] == 2


def test_a_token_makes_the_second_try_after_a_dropped_answer_harmless(connect, post, upset, mturk, refused):
    upset("drop", "CreateHITWithHITType", nth=1)
    type_id = mturk.create_hit_type(
        Title="Once", Description="Once", Reward="0.10", AssignmentDurationInSeconds=60, Keywords=""
    )["HITTypeId"]
    given = {"HITTypeId": type_id, "LifetimeInSeconds": 3600, "Question": QUESTION, "UniqueRequestToken": "row-1"}
    _, turk_code, message = refused(connect(attempts=2).create_hit_with_hit_type, **given)
    [made] = mturk.list_hits()["HITs"]
    assert turk_code == "AWS.MechanicalTurk.HitAlreadyExists"
    assert made["HITId"] in message


def test_an_answer_later_than_the_read_timeout_belongs_to_a_call_that_was_done(connect, post, mturk, upset, type_id):
    upset("latency", "CreateHITWithHITType", seconds=0.4)
    with pytest.raises(ReadTimeoutError):
        connect(patience=0.1).create_hit_with_hit_type(HITTypeId=type_id, LifetimeInSeconds=3600, Question=QUESTION)
    assert mturk.list_hits()["NumResults"] == 1


def test_a_stalled_call_is_done_only_after_its_client_gave_up(connect, world, upset, type_id, monkeypatch):
    gave_up = Event()

    def is_created() -> bool:
        return bool(world.call("ListHITs", {})["HITs"])

    monkeypatch.setattr(call_faults, "sleep", lambda seconds: gave_up.wait(10))
    upset("stall", "CreateHITWithHITType", seconds=0.3)
    with pytest.raises(ReadTimeoutError):
        connect(patience=0.1).create_hit_with_hit_type(HITTypeId=type_id, LifetimeInSeconds=3600, Question=QUESTION)
    assert not is_created()
    gave_up.set()
    assert eventually(is_created)


def test_funds_run_out_in_the_middle_of_a_batch(post, mturk, upset, refused, type_id):
    upset("balance", "CreateHITWithHITType", nth=3, amount="0.77")
    post(), post()
    given = {"HITTypeId": type_id, "LifetimeInSeconds": 3600, "Question": QUESTION}
    _, turk_code, _ = refused(mturk.create_hit_with_hit_type, **given)
    assert turk_code == "AWS.MechanicalTurk.InsufficientFunds"
    assert (mturk.list_hits()["NumResults"], balance(mturk)) == (2, Decimal("0.77"))


def pages(mturk, hit_id, **more) -> list[list[str]]:
    found = mturk.get_paginator("list_assignments_for_hit").paginate(HITId=hit_id, **more)
    return [[each["AssignmentId"] for each in page["Assignments"]] for page in found]


@pytest.mark.parametrize("nth", [1, 2])
def test_an_empty_page_with_a_token_is_not_the_end(mturk, post, do, upset, nth):
    hit_id = post(MaxAssignments=3)["HITId"]
    done = [do(hit_id) for _ in range(3)]
    upset("page", "ListAssignmentsForHIT", size=0, nth=nth)
    found = pages(mturk, hit_id, PaginationConfig={"PageSize": 2})
    assert found[nth - 1] == []
    assert sum(found, []) == done


def test_work_that_is_approved_between_two_pages_leaves_none_out(mturk, post, do, upset):
    hit_id = post(MaxAssignments=5)["HITId"]
    done = [do(hit_id) for _ in range(5)]
    upset("crowd", "ListAssignmentsForHIT", act="approve")
    found = pages(mturk, hit_id, AssignmentStatuses=["Submitted"], PaginationConfig={"PageSize": 2})
    assert {*done} - {*sum(found, [])} == {done[0]}  # approved before the first page was made


def test_a_lagging_list_shows_decided_work_as_undecided(mturk, post, do, upset, world):
    hit_id = post()["HITId"]
    assignment_id = do(hit_id)
    world.move_clock(by=timedelta(seconds=60), running=False)
    mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="Every answer is the same.")
    upset("lag", "ListAssignmentsForHIT", seconds=30)
    [shown] = mturk.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    assert shown["AssignmentStatus"] == "Submitted"
    assert not {"RejectionTime", "RequesterFeedback"} & shown.keys()


def test_lagging_counters_show_what_was(mturk, post, do, upset, world):
    hit_id = post(MaxAssignments=2)["HITId"]
    world.move_clock(by=timedelta(seconds=60), running=False)
    mturk.approve_assignment(AssignmentId=do(hit_id))
    world.accept(hit_id, world.register_worker())
    upset("lag", "GetHIT", seconds=30, times=1)
    names = ("HITStatus", *(f"NumberOfAssignments{name}" for name in ("Available", "Pending", "Completed")))
    late, now = (mturk.get_hit(HITId=hit_id)["HIT"] for _ in range(2))
    assert [late[name] for name in names] == ["Assignable", 2, 0, 0]
    assert [now[name] for name in names] == ["Unassignable", 0, 1, 1]


def test_a_finished_hit_flickers_back_to_assignable(mturk, post, do, upset):
    hit_id = post()["HITId"]
    do(hit_id)
    upset("flicker", "GetHIT", nth=2)
    assert [mturk.get_hit(HITId=hit_id)["HIT"]["HITStatus"] for _ in range(3)] == [
        "Reviewable",
        "Assignable",
        "Reviewable",
    ]


def test_fresh_work_can_be_listed_before_it_can_be_decided(mturk, post, do, upset, world, refused):
    hit_id = post()["HITId"]
    upset("blind", seconds=20)
    assignment_id = do(hit_id)
    assert mturk.list_assignments_for_hit(HITId=hit_id)["NumResults"] == 1
    for call in (mturk.approve_assignment, mturk.get_assignment):
        assert refused(call, AssignmentId=assignment_id)[1] == "AWS.MechanicalTurk.InvalidAssignmentState"
    world.move_clock(by=timedelta(seconds=20), running=False)
    mturk.approve_assignment(AssignmentId=assignment_id)
