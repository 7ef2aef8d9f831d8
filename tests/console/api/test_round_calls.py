"""Rounds by calls: what pages and commands tell and do."""

import base64
import hashlib
import json
from io import BytesIO, StringIO

import pandas as pd
import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Judgment, WorkerIdentity
from annotation.money.ledger import balances
from annotation.work.submissions import submit_answers
from console.api.access_tokens import make_token
from core.models import Job
from crowd.posting.publication import close_round, quote
from dataset.verdicts import aggregate_round
from hits.models import Item, Round, Seat
from tests.annotation.answering import right_answers
from tests.console.api.calls import API, Caller, caller_for
from tests.console.conftest import Site
from tests.factories import make_assignment, make_round, put_on_platform


@pytest.fixture
def site(db, lasting_site) -> Site:
    return lasting_site.again()


@pytest.fixture
def caller(site, person) -> Caller:
    person.groups.add(Group.objects.get(name="researcher"))
    return caller_for(person)


def run_jobs(commit, call):
    """Make a call and let the job that it opens run; the job."""
    with commit(execute=True):
        response = call()
    assert response.status_code == 202, response.content
    return Job.objects.get(pk=response.json()["id"])


def test_the_list_has_every_round_the_latest_first(caller, site):
    told = caller.get("/rounds").json()
    assert [one["name"] for one in told["results"]] == [one.name for one in Round.objects.all()]
    assert caller.get("/rounds?collection=other").json()["results"] == []


def test_lists_take_as_many_queries_for_many_rounds_as_for_one(caller):
    caller.get("/rounds")
    with CaptureQueriesContext(
        connection,
    ) as one:
        caller.get("/rounds?limit=1")
    with CaptureQueriesContext(connection) as all_of_them:
        caller.get("/rounds?limit=50")
    assert len(all_of_them) == len(one)


def test_a_round_tells_what_its_page_tells(caller, site):
    told = caller.get("/rounds/open").json()
    assert (told["state"], told["collection"], told["pool"]) == ("open", "zoo", site.round.pool.name)
    assert told["progress"]["flagged"] == 1
    assert (
        sum(told["progress"][part] for part in ("filled", "flagged", "at_work", "open")) == told["progress"]["wanted"]
    )
    accounts = balances(site.round)
    assert told["ledger"]["owed"] == str(accounts["owed"])
    assert told["ledger"]["ceiling"] == str(site.round.ceiling)


def test_a_draft_tells_what_it_will_cost(caller, site):
    told = caller.get("/rounds/draft").json()
    assert told["expected_cost"] == str(quote(site.draft, "browser").total)
    assert float(told["expected_cost"]) == told["progress"]["wanted"] * float(told["reward"]) > 0


def test_the_accounts_of_a_round_sum_to_its_ceiling(caller):
    ledger = caller.get("/rounds/open").json()["ledger"]
    ceiling = float(ledger.pop("ceiling"))
    assert sum(map(float, ledger.values())) == pytest.approx(ceiling)


def test_only_an_open_round_of_the_browser_pool_has_a_join_link(caller, site):
    assert caller.get("/rounds/open").json()["join_link"].endswith(f"/judge/join/{site.round.join_key}/")
    assert caller.get("/rounds/draft").json()["join_link"] is None


@pytest.mark.parametrize("path", ["", "/judgments", "/aggregations"])
def test_an_unknown_round_is_not_found(caller, path):
    assert caller.get(f"/rounds/none{path}").status_code == 404


def test_a_plan_becomes_a_job_that_packs_the_round(caller, site, commit):
    body = {"round": "next", "collection": "zoo", "annotators": ["overlap"], "images": 2, "captions": 2, "seed": 3}
    body |= {
        "top_k": 2,
        "control_depth": 3,
        "design": {"name": "small", "candidates": 2, "positives": 1, "negatives": 1},
    }
    job = run_jobs(commit, lambda: caller.post("/rounds", body))
    assert job.state == "done", job.message
    assert caller.get("/rounds/next").json()["state"] == "draft"
    assert job.created_by.username == "robin"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"images": 0, "captions": 0}, "has no queries"),
        ({"annotators": ["none"]}, "1 annotator is unknown: none"),
        ({"reward": "-1"}, "Invalid reward"),
        ({"speed": 3}, "1 unknown parameter: speed"),
        ({"design": "/etc/passwd"}, "Invalid design"),
        ({"round": None}, "Invalid round None: send text."),
        ({"annotators": "overlap"}, "Invalid annotators 'overlap': send a list."),
        ({"annotators": [1]}, "Invalid annotators [1]: send a list."),
        ({"images": "2"}, "Invalid images '2': send a whole number."),
        ({"images": True}, "Invalid images True: send a whole number."),
        ({"seed": "1"}, "Invalid seed '1': send a whole number or null."),
        ({"reasons": 1}, "Invalid reasons 1: send true or false."),
    ],
)
def test_an_invalid_plan_is_refused_in_our_words(caller, change, told):
    body = {"round": "next", "collection": "zoo", "annotators": ["overlap"], "images": 2, **change}
    response = caller.post("/rounds", body)
    assert response.status_code == 422
    assert told in response.json()["detail"]
    assert not Job.objects.exists()


def test_a_body_that_is_no_object_is_refused(caller):
    assert caller.post("/rounds", ["next"]).status_code == 422


def test_a_body_that_is_no_json_is_refused(caller):
    headers = {"Authorization": f"Bearer {caller.text}", "Idempotency-Key": "one"}
    response = caller.client.post("/api/v1/rounds", "{", content_type="application/json", headers=headers)
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"


def test_the_name_of_a_round_is_taken_once(caller):
    body = {"round": "open", "collection": "zoo", "annotators": ["overlap"], "images": 2}
    response = caller.post("/rounds", body)
    assert response.status_code == 409
    assert "round open already" in response.json()["detail"]


def test_a_pool_is_packed_into_a_draft(caller, site, commit):
    body = {"round": "packed", "design": {"name": "small", "candidates": 1, "positives": 1, "negatives": 1}}
    job = run_jobs(commit, lambda: caller.post("/pools/pool/rounds", body))
    assert job.state == "done", job.message
    assert caller.get("/rounds/packed").json()["pool"] == "pool"
    assert caller.post("/pools/pool/rounds", body).status_code == 409
    assert caller.post("/pools/none/rounds", body).status_code == 404


def send(caller: Caller, content: bytes, name: str) -> str:
    """Upload a file; its id."""
    digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
    headers = {
        "Authorization": f"Bearer {caller.text}",
        "Idempotency-Key": "file",
        "Content-Digest": f"sha-256=:{digest}:",
    }
    address = f"{API}/uploads?name={name}"
    answer = caller.client.post(address, content, content_type="application/octet-stream", headers=headers)
    assert answer.status_code == 201, answer.content
    return answer.json()["id"]


def test_judgments_of_label_studio_are_imported(caller, site, commit):
    close_round(site.round, actor="robin")
    item = Item.objects.filter(hit__round=site.round, control=None).select_related("image", "caption").first()
    task = {
        "id": 1,
        "data": {"image_id": item.image.key, "caption_id": item.caption.key},
        "annotations": [
            {"id": 1, "completed_by": 7, "result": [
                {"type": "choices", "from_name": "level", "to_name": "image", "value": {"choices": ["3"]}}]}
        ],
    }  # fmt: skip
    file = send(caller, json.dumps([task]).encode(), "export.json")
    before = Judgment.objects.filter(assignment__hit__round=site.round).count()
    job = run_jobs(commit, lambda: caller.post("/rounds/open/imports", {"file": file}))
    assert job.state == "done", job.message
    lines = caller.get("/rounds/open/judgments").json()["results"]
    assert len(lines) == before + 1
    assert [line["level"] for line in lines if line["image"] == item.image.key and line["level"] == 3]


def test_nothing_is_imported_into_an_open_round(caller):
    response = caller.post("/rounds/open/imports", {"file": "none"})
    assert response.status_code == 409


def test_an_import_of_an_unknown_upload_is_refused(caller, site):
    close_round(site.round, actor="robin")
    response = caller.post("/rounds/open/imports", {"file": "none.json"})
    assert response.status_code == 422
    assert "none.json" in response.json()["detail"]


def publish(caller: Caller, **change):
    return caller.post("/rounds/draft/publish", {"channel": "browser", "ceiling": "500.00", **change})


def test_a_round_is_published_by_who_repeats_its_ceiling(caller, commit):
    job = run_jobs(commit, lambda: publish(caller, expected_minutes=2, capacity=5))
    assert job.state == "done", job.message
    found = Round.objects.get(name="draft")
    assert (found.state, found.channel) == ("open", "browser")
    assert found.admission.capacity == 5


def test_another_ceiling_publishes_nothing(caller):
    response = publish(caller, ceiling="500.01")
    assert response.status_code == 409
    assert "$500.00, not $500.01" in response.json()["detail"]
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("change", "status", "told"),
    [
        ({"channel": "none"}, 422, "Unknown channel"),
        ({"ceiling": None}, 422, "Invalid ceiling"),
        ({"channel": "mturk", "environment": "production"}, 422, "not possible here"),
        ({"below_floor": True}, 403, "Only an admin"),
        ({"round": "open"}, 422, "a call cannot set it"),
    ],
)
def test_an_invalid_publication_is_refused(caller, change, status, told):
    response = publish(caller, **change)
    assert response.status_code == status
    assert told in response.json()["detail"]
    assert Round.objects.get(name="draft").state == "draft"


def test_an_open_round_is_not_published_again(caller):
    response = caller.post("/rounds/open/publish", {"channel": "browser", "ceiling": "500.00"})
    assert response.status_code == 409


def test_publishing_needs_the_scope_that_spends(site, person):
    person.groups.add(Group.objects.get(name="researcher"))
    caller = caller_for(person, "rounds:read", "rounds:write")
    assert "rounds:spend" in publish(caller).json()["detail"]


def test_a_round_is_closed_once(caller, commit):
    job = run_jobs(commit, lambda: caller.post("/rounds/open/close"))
    assert job.state == "done", job.message
    assert Round.objects.get(name="open").state == "closed"
    assert caller.post("/rounds/open/close").status_code == 409


def test_a_draft_is_not_closed(caller):
    assert caller.post("/rounds/draft/close").status_code == 409


def test_judgments_come_in_parts_that_together_are_all(caller, site):
    after, lines = "", []
    while after is not None:
        part = caller.get(f"/rounds/open/judgments?limit=2&after={after}").json()
        lines += part["results"]
        after = part["next"]
    stored = Judgment.objects.of_candidates().filter(assignment__hit__round=site.round)
    stored = stored.order_by("assignment__hit__number", "assignment", "item__place")
    assert [line["id"] for line in lines] == [one.pk for one in stored]
    assert [line["level"] for line in lines] == [one.level for one in stored]
    assert {line["worker"] for line in lines} == {site.flagged.worker.pseudonym}
    assert {line["counted"] for line in lines} == {False}


def test_answer_sets_of_a_hit_follow_each_other(caller, site):
    """Two answer sets of HIT 1, read in parts that end within each of them."""
    seat = site.flagged.seat
    second = Seat.objects.create(round=site.round, hit=seat.hit, number=2)
    answers = make_assignment(second)
    submit_answers(answers, answers=right_answers(answers), active_seconds=60)
    n = seat.hit.items.filter(control=None).count()
    parts = [caller.get("/rounds/open/judgments?limit=1").json()]
    while after := parts[-1]["next"]:
        parts.append(caller.get(f"/rounds/open/judgments?limit=3&after={after}").json())
    lines = [line for part in parts for line in part["results"]]
    sets = [site.flagged.worker.pseudonym] * n + [answers.worker.pseudonym] * n
    assert [line["worker"] for line in lines if line["hit"] == seat.hit.number] == sets
    assert len({line["id"] for line in lines}) == len(lines)


@pytest.mark.parametrize("after", ["0", "x", "9" * 30, "¹"])
def test_a_judgment_of_no_round_is_no_place(caller, after):
    response = caller.get(f"/rounds/open/judgments?after={after}")
    assert response.status_code == 422
    assert "no place" in response.json()["detail"]


def test_controls_are_told_only_when_the_round_is_closed(caller, site):
    assert {line["control"] for line in caller.get("/rounds/open/judgments").json()["results"]} == {None}
    close_round(site.round, actor="robin")
    told = {line["control"] for line in caller.get("/rounds/open/judgments").json()["results"]}
    assert told == {"", "positive", "negative"}


def test_files_of_judgments_have_the_rows_of_the_list(caller):
    rows = caller.get("/rounds/done/judgments?limit=1000").json()["results"]
    lines = caller.get("/rounds/done/judgments?format=jsonl").getvalue().decode()
    assert [json.loads(line) for line in lines.splitlines()] == rows
    table = pd.read_parquet(BytesIO(caller.get("/rounds/done/judgments?format=parquet").getvalue()))
    assert json.loads(table.to_json(orient="records")) == rows


def test_no_answer_has_a_platform_id_of_a_worker(caller, site):
    WorkerIdentity.objects.create(
        worker=site.flagged.worker, channel="mturk", environment="sandbox", external_id="SECRETID1"
    )
    put_on_platform(make_round(site.collection, "there"))
    for path in ("/rounds", "/rounds/there", "/rounds/open/judgments", "/rounds/open/judgments?format=jsonl"):
        assert "SECRETID1" not in caller.get(path).getvalue().decode()


def test_votes_are_counted_as_the_command_counts_them(caller, commit, site):
    told = StringIO()
    call_command("aggregate", "done", method="mace", json=True, stdout=told)
    before = json.loads(told.getvalue())
    aggregate_round(Round.objects.get(name="done"), method="majority")
    job = run_jobs(commit, lambda: caller.post("/rounds/done/aggregations", {"method": "mace"}))
    assert job.state == "done", job.message
    first = caller.get("/rounds/done/aggregations").json()["results"][0]
    assert (first["method"], first["judgments"], first["verdicts"]) == ("mace", before["judgments"], before["pairs"])


def test_a_member_reads_and_changes_nothing(site, person):
    text = make_token(person, "reads", ["rounds:read", "judgments:read"])
    caller = Caller(*text)
    assert caller.get("/rounds/open").status_code == 200
    for path in ("/rounds", "/rounds/draft/publish", "/rounds/open/close", "/rounds/done/aggregations"):
        assert caller.post(path).status_code == 403
