"""Faults of calls and of participants' acts."""

import httpx
import pytest

from tests.prolific.conftest import STUDY, balance, status_of

LOST = (httpx.RemoteProtocolError, httpx.ReadError)


def test_a_draft_whose_answer_is_lost_was_made(api, upset):
    upset("drop", "create_study", nth=1)
    with pytest.raises(LOST):
        api.post("studies/", json=STUDY)
    assert api.get("studies/").json()["meta"]["count"] == 1


def test_a_payment_whose_answer_is_lost_was_made_and_repeating_it_pays_again(api, publish, finish, upset, pass_time):
    study_id = publish()
    submission_id, participant_id = finish(study_id)
    sent = {"study_id": study_id, "csv_bonuses": f"{submission_id},1.00"}
    order_id = api.post("submissions/bonus-payments/", json=sent).json()["id"]
    upset("drop", "pay_bonuses", nth=1)
    with pytest.raises(LOST):
        api.post(f"bulk-bonus-payments/{order_id}/pay/")
    api.post(f"bulk-bonus-payments/{order_id}/pay/")
    pass_time(minutes=1)
    assert api.get(f"submissions/{submission_id}/").json()["bonus_payments"] == [100, 100]


def test_a_burst_of_calls_is_refused_with_429(api, upset):
    upset("throttle", rate=1, burst=2)
    assert [api.get("users/me/").status_code for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize("status", [401, 423])
def test_a_call_is_refused_with_the_status_that_is_asked_for_and_did_nothing(api, publish, finish, upset, status):
    submission_id, _ = finish(publish())
    upset("status", "move_submission", status=status, body="json", times=1)
    answers = [api.post(f"submissions/{submission_id}/transition/", json={"action": "APPROVE"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [status, 200]
    assert answers[1].json()["status"] == "APPROVED"


def test_a_publication_can_take_time(api, draft, upset, pass_time):
    study_id = draft()["id"]
    upset("publishing", "move_study", seconds=30)
    answer = api.post(f"studies/{study_id}/transition/", json={"action": "PUBLISH"})
    assert (answer.json()["status"], balance(api)[1]) == ("PUBLISHING", 1_000_000 - 560)
    pass_time(seconds=30)
    assert status_of(api, "studies", study_id) == "ACTIVE"


def test_a_bonus_can_show_later(api, publish, finish, upset, pass_time):
    study_id = publish()
    submission_id, _ = finish(study_id)
    sent = {"study_id": study_id, "csv_bonuses": f"{submission_id},1.00"}
    order_id = api.post("submissions/bonus-payments/", json=sent).json()["id"]
    upset("late", "pay_bonuses", seconds=3600)
    api.post(f"bulk-bonus-payments/{order_id}/pay/")
    pass_time(minutes=59)
    assert api.get(f"submissions/{submission_id}/").json()["bonus_payments"] == []
    pass_time(minutes=1)
    assert api.get(f"submissions/{submission_id}/").json()["bonus_payments"] == [100]


def test_what_awaits_review_can_show_late(api, publish, finish, upset, pass_time):
    study_id = publish()
    submission_id, _ = finish(study_id)
    pass_time(seconds=30)
    fault_id = upset("lag", seconds=60)
    [row] = api.get("submissions/", params={"study": study_id}).json()["results"]
    shown = api.get(f"submissions/{submission_id}/").json()
    assert [row["study_code"], row["completed_at"], shown["entered_code"]] == [None] * 3
    assert {row["status"], shown["status"]} == {"RESERVED"}
    pass_time(seconds=30)
    assert status_of(api, "submissions", submission_id) == "AWAITING REVIEW"
    assert fault_id


def test_a_submission_can_be_fleetingly_processing(api, publish, finish, take, upset):
    study_id = publish()
    finish(study_id), take(study_id)
    upset("processing", "list_submissions", nth=1)
    asked = [api.get("submissions/", params={"study": study_id}).json()["results"] for _ in range(2)]
    assert [[row["status"] for row in rows] for rows in asked] == [
        ["PROCESSING", "ACTIVE"],
        ["AWAITING REVIEW", "ACTIVE"],
    ]


def ids(page):
    return [row["id"] for row in page["results"]]


def test_pages_can_shift_between_two_requests(api, publish, finish, upset):
    study_id = publish(total_available_places=4)
    made = [finish(study_id)[0] for _ in range(4)]
    first = api.get("submissions/", params={"study": study_id, "page_size": 2}).json()
    upset("shift", "list_submissions", by=1)
    second = api.get(first["_links"]["next"]["href"]).json()
    assert ids(first) + ids(second) == [made[0], made[1], made[3]]


def test_a_full_last_page_can_name_a_page_that_does_not_exist(api, publish, finish, upset):
    study_id = publish()
    finish(study_id), finish(study_id)
    upset("next", "list_submissions")
    page = api.get("submissions/", params={"study": study_id, "page_size": 2}).json()
    assert api.get(page["_links"]["next"]["href"]).status_code == 404


@pytest.mark.parametrize(
    ("act", "taken", "places"), [("reserve", 2, 2), ("complete", 2, 2), ("return", 0, 2), ("places", 1, 3)]
)
def test_another_participant_acts_on_the_study_before_a_call(api, publish, take, upset, act, taken, places):
    study_id = publish()
    take(study_id)
    upset("crowd", "show_study", act=act, nth=1)
    study = api.get(f"studies/{study_id}/").json()
    assert (study["places_taken"], study["total_available_places"]) == (taken, places)


def test_another_researcher_stops_the_study_before_places_are_added(api, publish, upset):
    study_id = publish()
    upset("crowd", "change_study", act="stop", nth=1)
    assert api.patch(f"studies/{study_id}/", json={"total_available_places": 3}).json()["status"] == "ACTIVE"
    assert balance(api)[1] == 1_000_000 - 3 * 280


def test_time_passes_while_a_participant_saves(api, publish, visitor, upset):
    study_id = publish(total_available_places=1)
    page = visitor().post(f"/studies/{study_id}/reserve")
    place = page.headers["location"]
    upset("clock", "start", seconds=601)
    guest = visitor()
    late = guest.get("/studies/")
    assert study_id not in late.text
    upset("clock", "reserve", seconds=601)
    assert guest.post(f"/studies/{study_id}/reserve").status_code == 303
    assert status_of(api, "submissions", place.split("/")[2]) == "TIMED-OUT"


def test_an_address_can_miss_the_session_or_have_everything_twice(publish, visitor, upset):
    study_id = publish()
    participant = visitor()
    place = participant.post(f"/studies/{study_id}/reserve").headers["location"]
    addresses = []
    for form in ("missing", "repeated"):
        upset("address", "start", form=form, times=1)
        addresses.append(httpx.URL(participant.post(f"{place}start").headers["location"]))
    assert [len(address.params.get_list("SESSION_ID")) for address in addresses] == [0, 2]
