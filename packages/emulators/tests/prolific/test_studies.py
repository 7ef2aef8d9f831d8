"""Drafts, publication, places, stopping: the states of a study and the money on hold for it."""

import pytest

from tests.prolific.conftest import ADDRESS, balance, refusal, status_of

PLACE = 280  # cents: 200, a fee of 33.3 % (67) and VAT of 20 % of the fee (13)


def move(api, study_id, action, **more):
    return api.post(f"studies/{study_id}/transition/", json={"action": action, **more})


def test_the_same_request_twice_makes_two_drafts(api, draft):
    ids = {draft(internal_name="round 1")["id"] for _ in range(2)}
    rows = api.get("studies/").json()["results"]
    assert {row["id"] for row in rows if row["internal_name"] == "round 1"} == ids


def test_a_draft_can_be_changed_and_deleted_and_a_published_study_cannot(api, draft, publish):
    study_id = draft()["id"]
    assert api.patch(f"studies/{study_id}/", json={"reward": 300}).json()["reward"] == 300
    assert api.delete(f"studies/{study_id}/").status_code == 204
    study_id = publish()
    assert list(refusal(api.patch(f"studies/{study_id}/", json={"reward": 300}))) == ["reward"]
    assert api.delete(f"studies/{study_id}/").status_code == 400


def test_publishing_puts_the_price_of_all_places_on_hold(api, publish):
    publish()
    assert balance(api) == (1_000_000, 1_000_000 - 2 * PLACE)


def test_the_calculator_and_the_study_agree_on_the_cost(api, draft):
    sent = {"reward": 200, "total_available_places": 2}
    assert api.post("study-cost-calculator/", json=sent).json() == {"total_cost": 2 * PLACE}
    study = draft()
    parts = api.get(f"studies/{study['id']}/cost/", params={"is_projected": "true"}).json()["rewards"]
    amounts = {name: part["amount"] for name, part in parts.items()}
    assert (amounts, study["total_cost"]) == ({"rewards": 400, "fees": 134, "tax": 26}, 2 * PLACE)


def test_publishing_without_enough_money_changes_nothing(api, world, draft):
    world.act("set_balance", available="5.59")
    study_id = draft()["id"]
    assert "funds" in refusal(move(api, study_id, "PUBLISH"))
    assert (status_of(api, "studies", study_id), balance(api)) == ("UNPUBLISHED", (559, 559))


@pytest.mark.parametrize(("minutes", "reward", "published"), [(13.8, 65, False), (10, 133, False), (10, 134, True)])
def test_a_reward_under_the_floor_cannot_be_published(api, draft, minutes, reward, published):
    study_id = draft(estimated_completion_time=minutes, reward=reward, maximum_allowed_time=60)["id"]
    assert (move(api, study_id, "PUBLISH").status_code == 200) == published


@pytest.mark.parametrize(
    ("actions", "status"),
    [
        (["PUBLISH"], "ACTIVE"),
        (["PUBLISH", "PAUSE"], "PAUSED"),
        (["PUBLISH", "PAUSE", "START"], "ACTIVE"),
        (["PUBLISH", "STOP"], "COMPLETED"),
        (["PUBLISH", "PAUSE", "STOP"], "COMPLETED"),
    ],
)
def test_the_researcher_moves_a_study_between_states(api, draft, actions, status):
    study_id = draft()["id"]
    for action in actions:
        assert move(api, study_id, action).status_code == 200
    assert status_of(api, "studies", study_id) == status


@pytest.mark.parametrize(
    "actions", [["STOP"], ["PAUSE"], ["PUBLISH", "PUBLISH"], ["PUBLISH", "START"], ["PUBLISH", "STOP", "STOP"]]
)
def test_other_moves_are_refused(api, draft, actions):
    study_id = draft()["id"]
    *before, last = actions
    for action in before:
        move(api, study_id, action)
    assert "is not possible while" in refusal(move(api, study_id, last))


def test_a_scheduled_study_is_published_at_its_time_unless_cancelled(api, draft, pass_time):
    kept, cancelled = draft()["id"], draft()["id"]
    for study_id in (kept, cancelled):
        assert (
            move(api, study_id, "SCHEDULE_PUBLISH", publish_at="2026-03-02T13:00:00Z").json()["status"] == "SCHEDULED"
        )
    move(api, cancelled, "CANCEL_PUBLISH")
    pass_time(hours=1)
    assert [status_of(api, "studies", study_id) for study_id in (kept, cancelled)] == ["ACTIVE", "UNPUBLISHED"]


def test_a_full_study_awaits_review_and_is_complete_when_all_is_decided(api, publish, finish, decide):
    study_id = publish()
    first, second = finish(study_id)[0], finish(study_id)[0]
    assert status_of(api, "studies", study_id) == "AWAITING REVIEW"
    decide(first), decide(second)
    assert status_of(api, "studies", study_id) == "COMPLETED"
    assert balance(api) == (1_000_000 - 2 * PLACE,) * 2


@pytest.fixture
def withdraw(decide, world):
    """Have submitted work end without pay, by its researcher or its participant."""

    def withdrawn(submission: tuple[str, str], end: str) -> None:
        if end == "rejected":
            decide(submission[0], "REJECT")
        else:
            world.act("return", submission_id=submission[0], participant_id=submission[1])

    return withdrawn


@pytest.mark.parametrize("end", ["rejected", "returned"])
def test_a_full_study_that_loses_submitted_work_pauses_until_it_is_started(api, publish, finish, withdraw, end):
    study_id = publish()
    first, second = finish(study_id), finish(study_id)
    withdraw(first, end), withdraw(second, end)
    assert status_of(api, "studies", study_id) == "PAUSED"
    move(api, study_id, "START")
    assert status_of(api, "studies", study_id) == "ACTIVE"
    finish(study_id)
    assert balance(api) == (1_000_000, 1_000_000 - 2 * PLACE)


@pytest.mark.parametrize("end", ["rejected", "returned"])
def test_a_study_that_is_not_full_goes_on_without_the_work_it_loses(api, publish, finish, take, withdraw, end):
    study_id = publish(total_available_places=3)
    withdraw(finish(study_id), end)
    assert status_of(api, "studies", study_id) == "ACTIVE"
    lost, _, _ = finish(study_id), finish(study_id), take(study_id)  # full, but one is still at work
    withdraw(lost, end)
    assert status_of(api, "studies", study_id) == "ACTIVE"


def test_a_stopped_study_awaits_review_until_all_is_decided(api, publish, finish, withdraw, decide):
    study_id = publish(total_available_places=3)
    first, second = finish(study_id), finish(study_id)
    move(api, study_id, "STOP")
    assert status_of(api, "studies", study_id) == "AWAITING REVIEW"
    withdraw(first, "rejected")
    assert status_of(api, "studies", study_id) == "AWAITING REVIEW"
    decide(second[0])
    assert status_of(api, "studies", study_id) == "COMPLETED"


def test_stopping_gives_back_the_free_places_and_later_what_is_freed(api, publish, take, finish, world):
    study_id = publish(total_available_places=3)
    submission_id, participant_id = take(study_id)
    finish(study_id)
    move(api, study_id, "STOP")
    assert balance(api)[1] == 1_000_000 - 2 * PLACE
    world.act("return", submission_id=submission_id, participant_id=participant_id)
    assert balance(api)[1] == 1_000_000 - PLACE


def test_places_are_only_added_and_cost_money_at_once(api, publish):
    study_id = publish()
    assert api.patch(f"studies/{study_id}/", json={"total_available_places": 5}).status_code == 200
    assert api.patch(f"studies/{study_id}/", json={"total_available_places": 5}).status_code == 200
    assert balance(api)[1] == 1_000_000 - 5 * PLACE
    assert list(refusal(api.patch(f"studies/{study_id}/", json={"total_available_places": 4}))) == [
        "total_available_places"
    ]


def test_places_without_enough_money_are_not_added(api, publish, world):
    study_id = publish()
    world.act("set_balance", available="2.79")
    assert "funds" in refusal(api.patch(f"studies/{study_id}/", json={"total_available_places": 3}))
    assert api.get(f"studies/{study_id}/").json()["total_available_places"] == 2


@pytest.mark.parametrize("end", ["full", "stopped"])
def test_more_places_reactivate_a_study_that_ended(api, publish, finish, decide, end):
    study_id = publish(total_available_places=2)
    decide(finish(study_id)[0])
    if end == "full":
        decide(finish(study_id)[0])
    else:
        move(api, study_id, "STOP")
    api.patch(f"studies/{study_id}/", json={"total_available_places": 3})
    assert status_of(api, "studies", study_id) == "ACTIVE"
    paid = 2 if end == "full" else 1
    assert balance(api) == (1_000_000 - paid * PLACE, 1_000_000 - 3 * PLACE)


def test_tasks_have_addresses_and_places_of_their_own(api, publish, take, world):
    tasks = [{"external_url": f"{ADDRESS}&task={n}", "total_allocation": 1} for n in (1, 2)]
    study_id = publish(external_study_url=None, access_details=tasks)
    submissions = [take(study_id)[0] for _ in range(2)]
    with world.looking() as state:
        assert [state.submissions[id].url[-1] for id in submissions] == ["1", "2"]
    api.patch(f"studies/{study_id}/", json={"access_details": [tasks[0]]})
    progress = api.get(f"studies/{study_id}/access-details-progress/").json()["progress"]
    assert [(each["total_allocation"], each["allocated"]) for each in progress] == [(2, 1), (1, 1)]
    assert api.get(f"studies/{study_id}/").json()["total_available_places"] == 3
