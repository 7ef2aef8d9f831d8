"""The states of a submission, from a reserved place to a decision."""

import pytest

from counterpart_emulators.marketplace import Refusal
from tests.prolific.conftest import REASON, STUDY, balance, refusal, status_of


def test_a_reserved_place_is_free_again_after_ten_minutes(api, world, publish, pass_time):
    study_id = publish(total_available_places=1)
    participant_id = world.register()
    submission_id = world.act("reserve", study_id=study_id, participant_id=participant_id)["submission_id"]
    with pytest.raises(Refusal, match="places"):
        world.act("reserve", study_id=study_id, participant_id=world.register())
    pass_time(minutes=10)
    assert status_of(api, "submissions", submission_id) == "TIMED-OUT"
    world.act("reserve", study_id=study_id, participant_id=world.register())


def test_work_times_out_at_the_longest_allowed_time(api, publish, take, pass_time):
    submission_id, _ = take(publish())
    pass_time(minutes=28.9)
    assert status_of(api, "submissions", submission_id) == "ACTIVE"
    pass_time(minutes=0.1)
    assert status_of(api, "submissions", submission_id) == "TIMED-OUT"


def test_late_work_counts_while_its_place_is_free(api, world, publish, take, pass_time):
    study_id = publish(total_available_places=1)
    submission_id, participant_id = take(study_id)
    pass_time(minutes=29)
    world.act("complete", submission_id=submission_id, participant_id=participant_id, code="DONE")
    assert status_of(api, "submissions", submission_id) == "AWAITING REVIEW"


def test_late_work_is_refused_once_its_place_is_taken(world, publish, take, pass_time):
    study_id = publish(total_available_places=1)
    submission_id, participant_id = take(study_id)
    pass_time(minutes=29)
    take(study_id)
    with pytest.raises(Refusal, match="any more"):
        world.act("complete", submission_id=submission_id, participant_id=participant_id, code="DONE")


@pytest.mark.parametrize("code", ["DONE", "another study's"])
def test_work_awaits_review_whatever_code_was_entered(api, publish, finish, code):
    submission_id, _ = finish(publish(), code=code)
    shown = api.get(f"submissions/{submission_id}/").json()
    assert (shown["status"], shown["entered_code"]) == ("AWAITING REVIEW", code)


def test_a_code_can_ask_for_a_return(api, publish, finish):
    submission_id, participant_id = finish(publish(), code="NOPE")
    assert api.get(f"submissions/{submission_id}/").json()["return_requested"] == "2026-03-02T12:00:00+00:00"
    [message] = api.get("messages/", params={"user_id": participant_id}).json()["results"]
    assert "You did not agree" in message["body"]


def code(*actions, **more):
    return STUDY | {"completion_codes": [{"code": "DONE", "code_type": "OTHER", "actions": [*actions], **more}]}


def test_a_code_can_approve_at_once(api, publish, finish):
    submission_id, _ = finish(publish(**code({"action": "AUTOMATICALLY_APPROVE"})))
    assert status_of(api, "submissions", submission_id) == "APPROVED"


def test_a_code_can_screen_out_for_a_fixed_reward_until_the_slots_are_used(api, publish, finish, take):
    action = {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 50, "slots": 2}
    study_id = publish(**code(action))
    submission_id, _ = finish(study_id)
    assert status_of(api, "submissions", submission_id) == "SCREENED OUT"
    # 50, a fee of 16.65, rounded to 17, and VAT of 3.40, rounded to 3; two places stay on hold
    assert balance(api) == (1_000_000 - 70, 1_000_000 - 70 - 560)
    assert api.get(f"studies/{study_id}/").json()["places_taken"] == 0
    finish(study_id)
    assert status_of(api, "studies", study_id) == "PAUSED"


def complete(api, submission_id, code="RESCUE", **more):
    body = {"action": "COMPLETE", "completion_code": code, **more}
    return api.post(f"submissions/{submission_id}/transition/", json=body)


def test_the_researcher_can_complete_with_a_code_of_their_own(api, publish, take):
    submission_id, _ = take(publish())
    assert list(refusal(complete(api, submission_id, "DONE"))) == ["completion_code"]
    assert complete(api, submission_id).json()["status"] == "AWAITING REVIEW"
    assert complete(api, submission_id).json()["status"] == "AWAITING REVIEW"


def test_a_part_of_the_reward_can_be_paid(api, publish, take):
    study_id = publish(**code({"action": "DYNAMIC_PAYMENT"}, actor="researcher"))
    submission_id, _ = take(study_id)
    assert list(refusal(complete(api, submission_id, "DONE"))) == ["completion_code_data"]
    data = {"percentage_of_reward": 25}
    assert complete(api, submission_id, "DONE", completion_code_data=data).json()["status"] == "PARTIALLY APPROVED"
    # 50, 17 and 3 of the 280 on hold
    assert balance(api) == (1_000_000 - 70, 1_000_000 - 70 - 280)


def test_a_decision_repeated_is_ignored_and_pays_once(api, publish, finish, decide):
    submission_id, _ = finish(publish())
    assert [decide(submission_id)["status"] for _ in range(2)] == ["APPROVED"] * 2
    assert balance(api)[0] == 1_000_000 - 280


@pytest.mark.parametrize(("first", "second"), [("APPROVE", "REJECT"), ("REJECT", "APPROVE")])
def test_a_decision_cannot_be_reversed(api, publish, finish, decide, first, second):
    submission_id, _ = finish(publish())
    decide(submission_id, first)
    why = {"message": REASON, "rejection_category": "LOW_EFFORT"} if second == "REJECT" else {}
    assert "is not possible" in refusal(
        api.post(f"submissions/{submission_id}/transition/", json={"action": second, **why})
    )


@pytest.mark.parametrize("end", ["active", "returned", "timed out"])
def test_only_work_that_awaits_review_is_decided(api, world, publish, take, pass_time, end):
    submission_id, participant_id = take(publish())
    if end == "returned":
        world.act("return", submission_id=submission_id, participant_id=participant_id)
    if end == "timed out":
        pass_time(minutes=29)
    assert refusal(api.post(f"submissions/{submission_id}/transition/", json={"action": "APPROVE"}))


@pytest.mark.parametrize(
    "different",
    [
        {"message": "x" * 99},
        {"message": None},
        {"rejection_category": None},
        {"rejection_category": ["OTHER"]},
        {"rejection_category": "BORED"},
        {"action": "UNREJECT"},
    ],
)
def test_a_rejection_needs_a_long_message_and_one_category(api, publish, finish, different):
    submission_id, _ = finish(publish())
    body = {"action": "REJECT", "message": "x" * 100, "rejection_category": "OTHER"} | different
    assert refusal(api.post(f"submissions/{submission_id}/transition/", json=body))
    assert status_of(api, "submissions", submission_id) == "AWAITING REVIEW"


def test_undecided_work_is_approved_after_21_days(api, publish, finish, pass_time):
    submission_id, _ = finish(publish())
    pass_time(days=20.9)
    assert status_of(api, "submissions", submission_id) == "AWAITING REVIEW"
    pass_time(days=0.1)
    assert status_of(api, "submissions", submission_id) == "APPROVED"


@pytest.mark.parametrize(("minutes", "status"), [(4.9, "AWAITING REVIEW"), (5, "APPROVED")])
def test_rushed_work_of_a_study_with_repeats_is_never_approved_by_time(
    api, world, publish, take, pass_time, minutes, status
):
    submission_id, participant_id = take(publish(submissions_config={"max_submissions_per_participant": 2}))
    pass_time(minutes=minutes)
    world.act("complete", submission_id=submission_id, participant_id=participant_id, code="DONE")
    pass_time(days=22)
    assert status_of(api, "submissions", submission_id) == status


def test_submitted_work_can_be_returned_until_it_is_decided(api, world, publish, finish, decide):
    study_id = publish()
    submission_id, participant_id = finish(study_id)
    world.act("return", submission_id=submission_id, participant_id=participant_id)
    assert api.get(f"studies/{study_id}/submissions/counts/").json()["RETURNED"] == 1
    approved, other = finish(study_id)
    decide(approved)
    with pytest.raises(Refusal, match="cannot be returned"):
        world.act("return", submission_id=approved, participant_id=other)


def test_every_request_to_return_writes_to_the_participant(api, publish, finish):
    submission_id, participant_id = finish(publish())
    for _ in range(2):
        answer = api.post(f"submissions/{submission_id}/request-return/", json={"request_return_reasons": ["No data"]})
        assert answer.json()["return_requested"]
    assert api.get("messages/", params={"user_id": participant_id}).json()["meta"]["count"] == 2


def test_a_bulk_approval_happens_a_little_later_and_passes_over_the_rest(api, publish, finish, decide, pass_time):
    study_id = publish()
    rejected, approved = finish(study_id)[0], finish(study_id)[0]
    sent = {"submission_ids": [rejected, approved]}
    assert api.post("submissions/bulk-approve/", json=sent).status_code == 200
    decide(rejected, "REJECT")
    assert status_of(api, "submissions", approved) == "AWAITING REVIEW"
    pass_time(seconds=30)
    assert [status_of(api, "submissions", id) for id in (rejected, approved)] == ["REJECTED", "APPROVED"]
    assert refusal(api.post("submissions/bulk-approve/", json=sent | {"study_id": study_id, "participant_ids": []}))


@pytest.mark.parametrize(("most", "taken"), [(1, 1), (2, 2), (-1, 3)])
def test_a_participant_takes_a_study_as_often_as_it_allows(world, publish, finish, most, taken):
    study_id = publish(total_available_places=9, submissions_config={"max_submissions_per_participant": most})
    participant_id = world.register()
    for _ in range(taken):
        finish(study_id, participant_id)
    if most > 0:
        with pytest.raises(Refusal, match="already"):
            finish(study_id, participant_id)


def test_a_participant_works_on_one_study_at_a_time(world, publish, take):
    _, participant_id = take(publish())
    with pytest.raises(Refusal, match="Finish or return"):
        take(publish(), participant_id)
