import pytest

from counterpart_emulators.mturk import workers

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
    assert [message.subject for message in world.look(workers.dashboard, reviewed)["messages"]] == ["A question"]


@pytest.mark.parametrize("count", [0, 101])
def test_a_letter_goes_to_one_to_a_hundred_workers(mturk, refused, count):
    refusal = refused(mturk.notify_workers, **LETTER, WorkerIds=["A1"] * count)
    assert f"{count} were given" in refusal[2]
