"""The participants' site, as a browser without scripts uses it."""

import re

import httpx
import pytest

from tests.prolific.conftest import status_of


def reserved(participant, study_id):
    """Reserve a place; returns the address of the submission's page."""
    answer = participant.post(f"/studies/{study_id}/reserve")
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def test_a_participant_reserves_starts_and_completes_by_the_link(api, publish, visitor):
    study_id = publish()
    participant = visitor()
    offer = participant.get("/studies/").text
    assert all(text in offer for text in (f'data-study="{study_id}"', "$2.00", "$12.00", "2 of 2"))
    place = reserved(participant, study_id)
    address = httpx.URL(participant.post(f"{place}start").headers["location"])
    submission_id = place.split("/")[2]
    assert address.host == "tasks.example"
    assert (address.params["STUDY_ID"], address.params["SESSION_ID"]) == (study_id, submission_id)
    assert participant.get("/submissions/complete?cc=DONE").headers["location"] == f"{place}?done=completed"
    assert "Completed. Thank you." in participant.get(f"{place}?done=completed").text
    assert api.get(f"submissions/{submission_id}/").json()["entered_code"] == "DONE"


@pytest.mark.parametrize("code", ["DONE", "NOCODE"])
def test_a_code_can_be_entered_by_hand(api, publish, visitor, code):
    participant = visitor()
    place = reserved(participant, publish())
    participant.post(f"{place}start")
    assert participant.post(f"{place}complete", data={"code": code}).status_code == 303
    assert status_of(api, "submissions", place.split("/")[2]) == "AWAITING REVIEW"


def test_a_returned_place_is_on_offer_again_to_others_only(publish, visitor):
    study_id = publish(total_available_places=1)
    participant, other = visitor(), visitor()
    place = reserved(participant, study_id)
    assert study_id not in other.get("/studies/").text
    assert "Returned." in participant.get(participant.post(f"{place}return").headers["location"]).text
    assert study_id in other.get("/studies/").text
    assert study_id not in participant.get("/studies/").text


def test_what_is_not_possible_is_explained(publish, visitor):
    study_id = publish(total_available_places=1)
    reserved(visitor(), study_id)
    late = visitor().post(f"/studies/{study_id}/reserve")
    assert late.status_code == 409
    assert visitor().get("/submissions/complete?cc=DONE").status_code == 409


def test_the_submission_of_another_participant_cannot_be_opened(publish, visitor):
    place = reserved(visitor(), publish())
    assert visitor().get(place).status_code == 409
    assert visitor().post(f"{place}return").status_code == 409


def test_who_is_not_signed_in_comes_back_to_the_code_after_signing_in(emulator, publish, visitor):
    participant_id = "0123456789abcdef01234567"
    place = reserved(visitor(participant_id), publish())
    visitor(participant_id).post(f"{place}start")
    with httpx.Client(base_url=emulator.url, follow_redirects=True) as stranger:
        form = stranger.get("/submissions/complete?cc=DONE").text
        place_named = re.search(r'name="next" value="([^"]+)"', form)[1]
        assert place_named == "/submissions/complete?cc=DONE"
        answer = stranger.post("/sign-in", data={"participant_id": participant_id, "next": place_named})
    assert "Completed. Thank you." in answer.text


def test_earnings_and_messages_are_shown(api, world, publish, visitor, decide, pass_time):
    study_id = publish()
    participant = visitor()
    place = reserved(participant, study_id)
    submission_id = place.split("/")[2]
    participant.post(f"{place}start")
    participant.post(f"{place}complete", data={"code": "DONE"})
    decide(submission_id)
    order = api.post(
        "submissions/bonus-payments/", json={"study_id": study_id, "csv_bonuses": f"{submission_id},1.15"}
    ).json()
    api.post(f"bulk-bonus-payments/{order['id']}/pay/")
    pass_time(minutes=1)
    api.post(f"submissions/{submission_id}/request-return/", json={"request_return_reasons": ["late"]})
    work = participant.get("/submissions/").text
    assert all(text in work for text in ("$3.15", "$2.00", "$1.15", "approved"))
    with world.looking() as state:
        participant_id = next(iter(state.participants))
    api.post("messages/", json={"recipient_id": participant_id, "body": "Thank <you>", "study_id": study_id})
    assert "Thank &lt;you&gt;" in participant.get("/messages/").text
