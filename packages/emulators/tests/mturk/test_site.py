"""The workers' site without a browser: what each page shows and what each form does."""

from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import pytest
from defusedxml.ElementTree import fromstring


@pytest.fixture
def browse(emulator) -> Iterator[Callable[..., httpx.Client]]:
    """Open the site in a browser profile of its own, signed in as a worker if one is named."""
    opened: list[httpx.Client] = []

    def made(worker_id: str | None = None) -> httpx.Client:
        opened.append(httpx.Client(base_url=emulator.url, follow_redirects=True))
        if worker_id:
            opened[-1].post("/worker/sign-in", data={"worker_id": worker_id})
        return opened[-1]

    yield made
    for client in opened:
        client.close()


@pytest.fixture
def signed_in(browse, worker) -> httpx.Client:
    return browse(worker)


def frame_address(page: httpx.Response) -> str:
    return page.text.split('<iframe src="')[1].split('"')[0].replace("&amp;", "&")


def accepted(client: httpx.Client, hit_id: str) -> str:
    """Accept a HIT and return the AssignmentId that the address of its page ends in."""
    return client.post(f"/worker/hits/{hit_id}/accept").url.path.rsplit("/", 1)[1]


def statuses(mturk, hit_id: str) -> list[str]:
    return [each["AssignmentStatus"] for each in mturk.list_assignments_for_hit(HITId=hit_id)["Assignments"]]


@pytest.mark.parametrize("place", ["https://elsewhere.example/", "//elsewhere.example/", "/\\elsewhere.example"])
def test_signing_in_never_leads_to_another_site(browse, worker, place):
    page = browse().post("/worker/sign-in", data={"worker_id": worker, "next": place})
    assert page.url.path == "/worker/"


def test_a_new_worker_is_registered_with_a_record(browse, world):
    profile = {"worker_id": "ANEWWORKER1", "approved": "1200", "approval_rate": "97", "country": "gb", "masters": "1"}
    assert "ANEWWORKER1" in browse().post("/worker/register", data=profile).text
    with world.looking() as state:
        worker = state.workers["ANEWWORKER1"]
    assert (worker.approved, worker.approval_rate, worker.country, worker.masters) == (1200, 97, "GB", True)


@pytest.mark.parametrize(
    ("profile", "error"),
    [
        ({"worker_id": "lower"}, "is not a worker id"),
        ({"approved": "many"}, "is not a whole number"),
        ({"approval_rate": "0"}, "1 to 100 per cent"),
    ],
)
def test_a_bad_registration_is_explained_and_kept_in_the_form(browse, profile, error, world):
    page = browse().post("/worker/register", data=profile)
    assert (page.status_code, error in page.text) == (400, True)
    (value,) = profile.values()
    assert f'value="{value}"' in page.text
    with world.looking() as state:
        assert state.workers == {}


def test_the_list_shows_reward_time_requirements_and_whether_they_are_met(signed_in, mturk, post):
    required = {
        "QualificationTypeId": "00000000000000000040",
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [500],
    }
    type_id = mturk.create_hit_type(
        Title="For <b>old</b> hands",
        Description="d",
        Reward="1.40",
        AssignmentDurationInSeconds=5400,
        QualificationRequirements=[required],
    )["HITTypeId"]
    post(HITTypeId=type_id)
    page = signed_in.get("/worker/").text
    for text in ("For &lt;b&gt;old&lt;/b&gt; hands", "$1.40", "1 hour 30 minutes", "at least 500", "not met"):
        assert text in page
    assert "Accept and work" not in page


def test_a_preview_names_no_assignment_and_no_worker(signed_in, post):
    hit_id = post()["HITId"]
    page = signed_in.get(f"/worker/hits/{hit_id}")
    address = urlsplit(frame_address(page))
    assert address.path == "/judge"
    assert parse_qsl(address.query, keep_blank_values=True) == [
        ("round", "1"),
        ("item", "2"),
        ("assignmentId", "ASSIGNMENT_ID_NOT_AVAILABLE"),
        ("hitId", hit_id),
        ("turkSubmitTo", str(signed_in.base_url)),
    ]


def test_accepted_work_names_the_assignment_and_its_worker(signed_in, post, worker):
    hit_id = post()["HITId"]
    page = signed_in.post(f"/worker/hits/{hit_id}/accept")
    given = parse_qs(urlsplit(frame_address(page)).query)
    assert page.url.path == f"/worker/assignments/{given['assignmentId'][0]}"
    assert (given["hitId"], given["workerId"]) == ([hit_id], [worker])
    assert 'data-seconds="600"' in page.text


def test_a_form_of_fields_in_the_body_is_submitted_once(signed_in, browse, post, mturk):
    hit_id = post()["HITId"]
    assignment_id = accepted(signed_in, hit_id)
    fields = {"assignmentId": assignment_id, "labels": "1,2", "note": "<zebra> & co"}
    frame = browse()  # the frame sends no cookies
    assert frame.post("/mturk/externalSubmit", data=fields).status_code == 200
    again = frame.post("/mturk/externalSubmit", data=fields | {"labels": "4,4"})
    assert again.status_code == 409
    [assignment] = mturk.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    texts = [each.text for each in fromstring(assignment["Answer"]).iter() if each.tag.endswith("FreeText")]
    assert texts == ["1,2", "<zebra> & co"]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_fields_in_the_address_are_not_a_submission(signed_in, browse, post, mturk, method):
    hit_id = post()["HITId"]
    given = {"assignmentId": accepted(signed_in, hit_id), "labels": "1"}
    answer = browse().request(method, "/mturk/externalSubmit", params=given)
    assert (answer.status_code, statuses(mturk, hit_id)) == (400, [])


def test_a_preview_cannot_be_submitted(browse):
    fields = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "labels": "1"}
    answer = browse().post("/mturk/externalSubmit", data=fields)
    assert answer.status_code == 409


def test_a_stale_page_of_the_former_holder_submits_nothing(browse, post, world, upset, mturk):
    hit_id = post()["HITId"]
    first, second = (browse(world.register_worker()) for _ in range(2))
    upset("reissue", "accept", to="another")
    assignment_id = accepted(first, hit_id)
    first.post(f"/worker/assignments/{assignment_id}/return")
    assert accepted(second, hit_id) == assignment_id
    answer = first.post("/mturk/externalSubmit", data={"assignmentId": assignment_id, "labels": "stale"})
    assert (answer.status_code, statuses(mturk, hit_id)) == (409, [])


def test_fields_of_one_name_come_as_one_answer(signed_in, browse, post, mturk):
    hit_id = post()["HITId"]
    fields = {"assignmentId": accepted(signed_in, hit_id), "reason": ["object", "count"]}
    browse().post("/mturk/externalSubmit", data=fields)
    assert "object|count" in mturk.list_assignments_for_hit(HITId=hit_id)["Assignments"][0]["Answer"]


def test_work_of_another_worker_is_not_shown(signed_in, browse, post, world):
    assignment_id = accepted(signed_in, post()["HITId"])
    answer = browse(world.register_worker()).get(f"/worker/assignments/{assignment_id}")
    assert (answer.status_code, "You have no assignment" in answer.text) == (409, True)


def test_the_dashboard_shows_pay_reasons_bonuses_and_messages(signed_in, post, do, mturk, worker):
    good, bad = (do(post()["HITId"], worker) for _ in range(2))
    mturk.approve_assignment(AssignmentId=good)
    mturk.reject_assignment(AssignmentId=bad, RequesterFeedback="Every answer is the same.")
    mturk.send_bonus(WorkerId=worker, AssignmentId=good, BonusAmount="0.20", Reason="A longer one")
    mturk.notify_workers(Subject="More work", MessageText="Come <back>", WorkerIds=[worker])
    page = signed_in.get("/worker/dashboard").text
    for text in ("$0.85", "Every answer is the same.", "A longer one", "More work", "Come &lt;back&gt;"):
        assert text in page


@pytest.mark.parametrize(("url", "warned"), [("http://127.0.0.1:1/judge", True), ("http://localhost:1/judge", False)])
def test_a_task_that_shares_the_sites_host_name_is_pointed_out(signed_in, post, url, warned):
    question = post()["Question"].replace("https://tasks.example/judge", url)
    page = signed_in.get(f"/worker/hits/{post(Question=question)['HITId']}")
    assert ('class="notice small"' in page.text) is warned


def test_the_style_and_scripts_are_served_and_nothing_else(signed_in):
    assert signed_in.get("/static/emulator.css").headers["Content-Type"].startswith("text/css")
    assert "javascript" in signed_in.get("/static/task.js").headers["Content-Type"]
    assert signed_in.get("/static/..%2Fpages.py").status_code == 404
