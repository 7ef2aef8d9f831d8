"""The API's envelope: token, errors, schemas of bodies, pages."""

import httpx
import pytest

from tests.prolific.conftest import STUDY, refusal


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Token other"}, {"Authorization": "Bearer {token}"}])
def test_a_call_needs_the_token(emulator, headers):
    sent = {name: value.format(token=emulator.token) for name, value in headers.items()}
    answer = httpx.get(f"{emulator.url}/api/v1/users/me/", headers=sent)
    assert (answer.status_code, answer.json()["error"]["status"]) == (401, 401)


def test_an_unknown_address_is_not_found_in_the_apis_own_shape(api):
    answer = api.get("nowhere/")
    assert (answer.status_code, sorted(answer.json()["error"])) == (
        404,
        ["additional_information", "detail", "error_code", "status", "title"],
    )


def test_some_errors_have_no_object_around_them(api):
    assert api.get("submissions/none/").json()["error"]["status"] == 404
    assert api.get("studies/none/cost/").json()["status"] == 404


def without(name):
    return {key: value for key, value in STUDY.items() if key != name}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (without("reward"), "reward"),
        (STUDY | {"reward": "200"}, "reward"),
        (STUDY | {"eligibility_requirements": []}, "eligibility_requirements"),
        (STUDY | {"completion_codes": []}, "completion_codes"),
        (STUDY | {"completion_codes": STUDY["completion_codes"] * 2}, "completion_codes"),
        (STUDY | {"total_available_places": 0}, "total_available_places"),
        (STUDY | {"submissions_config": {"max": 1}}, "submissions_config"),
        (STUDY | {"maximum_allowed_time": 28}, "maximum_allowed_time"),
        (STUDY | {"maximum_allowed_time": 1440}, "maximum_allowed_time"),
        (STUDY | {"filters": [{"filter_id": "age", "selected_values": ["1"]}]}, "filters"),
        (STUDY | {"filters": [{"filter_id": "participant_group_allowlist", "selected_values": ["x"]}]}, "filters"),
        (STUDY | {"filters": [{"filter_id": "approval_rate", "selected_values": ["x"]}]}, "filters"),
        (STUDY | {"project": "none"}, "project"),
        (STUDY | {"external_study_url": None}, "external_study_url"),
        (STUDY | {"is_external_study_url_secure": True}, "is_external_study_url_secure"),
    ],
)
def test_an_invalid_study_is_refused_by_field_and_nothing_is_made(api, body, field):
    assert list(refusal(api.post("studies/", json=body))) == [field]
    assert api.get("studies/").json()["meta"]["count"] == 0


@pytest.mark.parametrize(
    "actions",
    [
        [{"action": "AUTOMATICALLY_APPROVE"}, {"action": "MANUALLY_REVIEW"}],
        [{"action": "REQUEST_RETURN"}],
        [{"action": "DYNAMIC_PAYMENT"}],
        [{"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": "none"}],
        [{"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 200, "slots": 1}],
        [{"action": "DANCE"}],
    ],
)
def test_actions_of_a_code_that_do_not_fit_are_refused(api, actions):
    codes = [{"code": "DONE", "code_type": "COMPLETED", "actions": actions}]
    assert list(refusal(api.post("studies/", json=STUDY | {"completion_codes": codes}))) == ["completion_codes"]


def test_a_body_that_is_not_json_is_refused(api):
    assert refusal(api.post("studies/", content=b"{", headers={"Content-Type": "application/json"}))
    assert "send JSON" in refusal(api.post("studies/", content=b"name=n", headers={"Content-Type": "text/plain"}))


def test_the_list_and_one_submission_have_different_shapes(api, publish, finish):
    study_id = publish()
    submission_id, participant_id = finish(study_id)
    [row] = api.get("submissions/", params={"study": study_id}).json()["results"]
    shown = api.get(f"submissions/{submission_id}/").json()
    assert (row["participant_id"], row["study_code"]) == (shown["participant"], shown["entered_code"])
    assert (participant_id, "DONE") == (shown["participant"], shown["entered_code"])
    assert (row["reward"], shown["bonus_payments"]) == (20_000, [])


def numbers(api, **query):
    """Return the sizes of all pages that the next links lead to."""
    sizes, address = [], str(httpx.URL("submissions/", params=query))
    while address:
        page = api.get(address).json()
        sizes.append(len(page["results"]))
        address = page["_links"]["next"]["href"]
    return sizes


@pytest.mark.slow
def test_next_links_lead_through_all_submissions(api, publish, finish):
    study_id = publish(total_available_places=45)
    for _ in range(45):
        finish(study_id)
    assert numbers(api, study=study_id) == [20, 20, 5]
    assert numbers(api, study=study_id, page_size=15) == [15, 15, 15]
    past = api.get("submissions/", params={"study": study_id, "page": 4})
    assert (past.status_code, past.json()["detail"]) == (404, "Invalid page.")


def test_a_list_without_a_study_is_of_the_whole_account(api, publish, finish):
    finish(publish()), finish(publish())
    assert api.get("submissions/").json()["meta"]["count"] == 2


def test_a_list_can_be_of_one_status(api, publish, finish, take):
    study_id = publish()
    finish(study_id), take(study_id)
    found = api.get("submissions/", params={"study": study_id, "status": "AWAITING_REVIEW"}).json()["results"]
    assert [row["status"] for row in found] == ["AWAITING REVIEW"]
    assert api.get("submissions/", params={"study": study_id, "page": "x"}).status_code == 400


def test_studies_are_listed_by_state_newest_first(api, draft, publish):
    first, second, third = draft()["id"], publish(), publish()
    assert [row["id"] for row in api.get("studies/").json()["results"]] == [third, second, first]
    for asked in ("(active|paused)", "ACTIVE"):
        assert [row["id"] for row in api.get("studies/", params={"state": asked}).json()["results"]] == [third, second]
    page = api.get("studies/", params={"limit": 2}).json()
    assert [row["id"] for row in api.get(page["_links"]["next"]["href"]).json()["results"]] == [first]


def test_the_account_has_one_workspace_with_projects(api, draft):
    [workspace] = api.get("workspaces/").json()["results"]
    made = api.post(f"workspaces/{workspace['id']}/projects/", json={"title": "Captions"}).json()
    assert draft()["project"] == workspace["projects"][0]["id"]
    assert draft(project=made["id"])["project"] == made["id"]
    assert [row["title"] for row in api.get(f"workspaces/{workspace['id']}/projects/").json()["results"]] == [
        "Project",
        "Captions",
    ]
    assert api.get("workspaces/none/projects/").status_code == 404
