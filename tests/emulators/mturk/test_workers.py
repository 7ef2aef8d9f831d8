import pytest

from emulators.mturk import blocking
from emulators.mturk.errors import Refusal

LETTER = {"Subject": "A question", "MessageText": "How long did it take?"}


def failures(response):
    return {each["WorkerId"]: each["NotifyWorkersFailureCode"] for each in response["NotifyWorkersFailureStatuses"]}


def test_workers_whose_work_was_reviewed_are_written_to_and_the_others_named(mturk, world, post, do, worker):
    hit_id = post(MaxAssignments=3)["HITId"]
    reviewed, unreviewed = world.register_worker(), world.register_worker()
    mturk.approve_assignment(AssignmentId=do(hit_id, reviewed))
    do(hit_id, unreviewed)
    response = mturk.notify_workers(**LETTER, WorkerIds=[reviewed, unreviewed, "ANOBODY"])
    assert failures(response) == {unreviewed: "HardFailure", "ANOBODY": "HardFailure"}
    assert [message.subject for message in world.dashboard(reviewed)["messages"]] == ["A question"]


@pytest.mark.parametrize("different", [{"Subject": "x" * 201}, {"MessageText": "x" * 4097}, {"Subject": " "}])
def test_a_letter_beyond_the_limits_is_refused(mturk, refused, different):
    refusal = refused(mturk.notify_workers, **LETTER | different, WorkerIds=["A1"])
    assert refusal[0] == "ParameterValidationError"


@pytest.mark.parametrize("count", [0, 101])
def test_a_letter_goes_to_one_to_a_hundred_workers(mturk, refused, count):
    refusal = refused(mturk.notify_workers, **LETTER, WorkerIds=["A1"] * count)
    assert f"{count} were given" in refusal[2]


def test_a_blocked_worker_can_accept_nothing_and_reads_no_reason(mturk, world, post, worker):
    mturk.create_worker_block(WorkerId=worker, Reason="Always the first label")
    with pytest.raises(Refusal) as caught:
        world.accept(post()["HITId"], worker)
    assert "first label" not in str(caught.value)
    assert world.dashboard(worker)["messages"] == []


def test_blocks_are_listed_and_lifted(mturk, world, post, worker):
    mturk.create_worker_block(WorkerId=worker, Reason="r")
    assert mturk.list_worker_blocks()["WorkerBlocks"] == [{"WorkerId": worker, "Reason": "r"}]
    mturk.delete_worker_block(WorkerId=worker)
    assert mturk.list_worker_blocks()["WorkerBlocks"] == []
    assert world.accept(post()["HITId"], worker)["AssignmentId"]


def test_lifting_a_block_that_is_not_there_succeeds(mturk, worker):
    mturk.delete_worker_block(WorkerId=worker)


def test_a_worker_of_another_environment_cannot_be_blocked_or_let_in(mturk, refused):
    assert 'The value "ANOBODY" is not valid' in refused(mturk.create_worker_block, WorkerId="ANOBODY", Reason="r")[2]
    assert refused(mturk.delete_worker_block, WorkerId="ANOBODY")[2].startswith("WorkerId is invalid.")


def test_there_is_an_end_to_blocking(mturk, world, worker, refused, monkeypatch):
    monkeypatch.setattr(blocking, "MOST_BLOCKS", 1)
    mturk.create_worker_block(WorkerId=worker, Reason="r")
    mturk.create_worker_block(WorkerId=worker, Reason="another reason for the same worker")
    assert "up to 1 Workers" in refused(mturk.create_worker_block, WorkerId=world.register_worker(), Reason="r")[2]
