"""Rounds by calls: the figures and acts of pages and commands."""

import json
from io import BytesIO

import pandas as pd
import pytest

from annotation.models import Judgment, WorkerIdentity
from annotation.money.ledger import balances
from annotation.work.submissions import submit_answers
from core.models import Job
from hits.models import Round, Seat
from tests.annotation.answering import right_answers
from tests.console.api.calls import Caller, check_refused
from tests.factories import make_assignment, make_round, put_on_platform


def run_jobs(commit, call):
    """Make a call and let the job that it opens run; the job."""
    with commit(execute=True):
        response = call()
    assert response.status_code == 202, response.content
    return Job.objects.get(pk=response.json()["id"])


def test_a_round_has_the_figures_of_its_page(caller, site):
    answer = caller.get("/rounds/open").json()
    assert (answer["state"], answer["collection"], answer["pool"]) == ("open", "zoo", site.round.pool.name)
    assert answer["progress"]["flagged"] == 1
    assert (
        sum(answer["progress"][part] for part in ("filled", "flagged", "at_work", "open"))
        == answer["progress"]["wanted"]
    )
    accounts = balances(site.round)
    assert answer["ledger"]["owed"] == str(accounts["owed"])
    assert answer["ledger"]["ceiling"] == str(site.round.ceiling)


def test_only_an_open_round_of_the_browser_pool_has_a_join_link(caller, site):
    assert caller.get("/rounds/open").json()["join_link"].endswith(f"/judge/join/{site.round.join_key}/")
    assert caller.get("/rounds/draft").json()["join_link"] is None


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
    assert job.created_by.username == "researcher"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"annotators": ["none"]}, "1 annotator is unknown: none"),
        ({"speed": 3}, "1 unknown parameter: speed"),
        ({"design": "/etc/passwd"}, "Unknown design '/etc/passwd'"),
        ({"round": None}, "Invalid round None: send text."),
        ({"annotators": "overlap"}, "Invalid annotators 'overlap': send a list."),
        ({"images": True}, "Invalid images True: send a whole number."),
        ({"reasons": 1}, "Invalid reasons 1: send true or false."),
    ],
)
def test_an_invalid_plan_is_refused_in_our_words(caller, change, message):
    body = {"round": "next", "collection": "zoo", "annotators": ["overlap"], "images": 2, **change}
    check_refused(caller.post("/rounds", body), 422, message)
    assert not Job.objects.exists()


def test_a_pool_is_packed_into_a_draft(caller, site, commit):
    body = {"round": "packed", "design": {"name": "small", "candidates": 1, "positives": 1, "negatives": 1}}
    job = run_jobs(commit, lambda: caller.post("/pools/pool/rounds", body))
    assert job.state == "done", job.message
    assert caller.get("/rounds/packed").json()["pool"] == "pool"
    assert caller.post("/pools/pool/rounds", body).status_code == 409
    assert caller.post("/pools/none/rounds", body).status_code == 404


def publish(caller: Caller, **change):
    return caller.post("/rounds/draft/publish", {"channel": "browser", "ceiling": "500.00", **change})


def test_a_round_is_published_by_who_repeats_its_ceiling(caller, commit):
    job = run_jobs(commit, lambda: publish(caller, expected_minutes=2, capacity=5))
    assert job.state == "done", job.message
    found = Round.objects.get(name="draft")
    assert (found.state, found.channel) == ("open", "browser")
    assert found.admission.capacity == 5


def test_another_ceiling_publishes_nothing(caller):
    check_refused(publish(caller, ceiling="500.01"), 409, "$500.00, not $500.01")
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"channel": "none"}, 422, "Unknown channel"),
        ({"ceiling": None}, 422, "Invalid ceiling"),
        ({"channel": "mturk", "environment": "production"}, 422, "not possible here"),
        ({"below_floor": True}, 403, "Only an admin"),
        ({"round": "open"}, 422, "a call cannot set it"),
    ],
)
def test_an_invalid_publication_is_refused(caller, change, status, message):
    check_refused(publish(caller, **change), status, message)
    assert Round.objects.get(name="draft").state == "draft"


def test_a_round_is_closed_once(caller, commit):
    job = run_jobs(commit, lambda: caller.post("/rounds/open/close"))
    assert job.state == "done", job.message
    assert Round.objects.get(name="open").state == "closed"
    assert caller.post("/rounds/open/close").status_code == 409


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
def test_an_invalid_place_in_the_judgments_is_refused(caller, after):
    check_refused(caller.get(f"/rounds/open/judgments?after={after}"), 422, "place")


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
