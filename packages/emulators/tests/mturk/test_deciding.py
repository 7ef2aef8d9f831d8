from datetime import timedelta

import pytest

WRONG_STATE = "AWS.MechanicalTurk.InvalidAssignmentState"


def shown(mturk, assignment_id):
    return mturk.get_assignment(AssignmentId=assignment_id)["Assignment"]


@pytest.fixture
def submitted(post, do):
    return do(post()["HITId"])


def test_submitted_work_can_be_approved_with_a_message(mturk, submitted):
    mturk.approve_assignment(AssignmentId=submitted, RequesterFeedback="Thank you")
    after = shown(mturk, submitted)
    assert (after["AssignmentStatus"], after["RequesterFeedback"]) == ("Approved", "Thank you")
    assert "RejectionTime" not in after


def test_a_message_that_holds_control_characters_is_refused(mturk, submitted, refused):
    refusal = refused(mturk.reject_assignment, AssignmentId=submitted, RequesterFeedback="bell\x07")
    assert refusal[0] == "ParameterValidationError"


def test_a_rejected_place_does_not_open_again(mturk, post, do):
    hit_id = post()["HITId"]
    mturk.reject_assignment(AssignmentId=do(hit_id), RequesterFeedback="no")
    hit = mturk.get_hit(HITId=hit_id)["HIT"]
    assert (hit["HITStatus"], hit["NumberOfAssignmentsAvailable"]) == ("Reviewable", 0)


@pytest.mark.parametrize("decision", ["approve", "reject"])
@pytest.mark.parametrize("again", ["approve", "reject"])
def test_a_decision_is_made_once(mturk, submitted, refused, decision, again):
    calls = {
        "approve": lambda: mturk.approve_assignment(AssignmentId=submitted),
        "reject": lambda: mturk.reject_assignment(AssignmentId=submitted, RequesterFeedback="no"),
    }
    calls[decision]()
    _, turk_code, message = refused(calls[again])
    assert turk_code == WRONG_STATE
    assert "a status of: Submitted (" in message


def test_work_that_was_never_submitted_has_the_state_null(mturk, world, post, worker, refused):
    assignment_id = world.accept(post()["HITId"], worker)["AssignmentId"]
    _, turk_code, message = refused(mturk.approve_assignment, AssignmentId=assignment_id)
    assert turk_code == WRONG_STATE
    assert "status of: null" in message


def test_work_cannot_be_seen_before_it_is_submitted(mturk, world, post, worker, refused):
    assignment_id = world.accept(post()["HITId"], worker)["AssignmentId"]
    _, turk_code, message = refused(mturk.get_assignment, AssignmentId=assignment_id)
    assert turk_code == WRONG_STATE
    assert "Reviewable,Approved,Rejected" in message


def test_a_rejection_can_be_overridden(mturk, submitted):
    mturk.reject_assignment(AssignmentId=submitted, RequesterFeedback="no")
    mturk.approve_assignment(AssignmentId=submitted, OverrideRejection=True)
    after = shown(mturk, submitted)
    assert (after["AssignmentStatus"], "RejectionTime" in after) == ("Approved", False)


@pytest.mark.parametrize(("days", "may"), [(30, True), (30.001, False)])
def test_a_rejection_can_be_overridden_for_30_days_from_submission(mturk, world, submitted, refused, days, may):
    world.move_clock(by=timedelta(days=5))
    mturk.reject_assignment(AssignmentId=submitted, RequesterFeedback="no")
    world.move_clock(by=timedelta(days=days - 5))
    override = {"AssignmentId": submitted, "OverrideRejection": True}
    if may:
        mturk.approve_assignment(**override)
    else:
        assert refused(mturk.approve_assignment, **override)[1] == WRONG_STATE


def test_a_rejection_is_final_once_its_hit_is_deleted(mturk, submitted, refused):
    mturk.reject_assignment(AssignmentId=submitted, RequesterFeedback="no")
    mturk.delete_hit(HITId=shown(mturk, submitted)["HITId"])
    refusal = refused(mturk.approve_assignment, AssignmentId=submitted, OverrideRejection=True)
    assert refusal[1] == WRONG_STATE


def test_unreviewed_work_is_approved_after_the_types_delay(mturk, world, submitted):
    due = shown(mturk, submitted)["AutoApprovalTime"]
    world.move_clock(due - timedelta(seconds=1))
    assert shown(mturk, submitted)["AssignmentStatus"] == "Submitted"
    world.move_clock(by=timedelta(hours=5))
    after = shown(mturk, submitted)
    assert (after["AssignmentStatus"], after["ApprovalTime"]) == ("Approved", due)


def test_work_that_was_rejected_is_not_approved_by_itself(mturk, world, submitted):
    mturk.reject_assignment(AssignmentId=submitted, RequesterFeedback="no")
    world.move_clock(by=timedelta(days=8))
    assert shown(mturk, submitted)["AssignmentStatus"] == "Rejected"
