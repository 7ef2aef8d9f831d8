"""Models by the API: rankings in, and the scores that pages and commands tell."""

import json

import numpy as np
import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command

from console.leaderboard.benchmark_boards import figures_path, measure_rankings
from console.uploads import stored_upload
from core.errors import CounterpartError
from core.files.stored_files import write_json
from core.files.upload_files import needed_uploads
from core.models import Job
from evaluation.jobs import register
from evaluation.models import Run, Score
from tests.console.api.calls import Caller, caller_for


@pytest.fixture
def site(lasting_site):
    return lasting_site.again()


@pytest.fixture
def caller(person, site) -> Caller:
    person.groups.add(Group.objects.get(name="researcher"))
    return caller_for(type(person).objects.get(pk=person.pk))


@pytest.fixture
def reader(person, site) -> Caller:
    return caller_for(person, "evaluation:read")


def rankings(site, seed: int = 0) -> bytes:
    """Random rankings of the whole gallery in both directions."""
    rng = np.random.default_rng(seed)
    keys = [list(rows.values_list("key", flat=True)) for rows in (site.collection.images, site.collection.captions)]
    sides = {"i2t": keys, "t2i": keys[::-1]}
    lists = {side: {query: rng.permutation(of).tolist() for query in asking} for side, (asking, of) in sides.items()}
    return json.dumps(lists).encode()


def registered(caller: Caller, site, seed: int = 0, name: str = "clip.json") -> str:
    """Upload rankings and register them; the id of the job, which has run."""
    upload = caller.send(rankings(site, seed), name).json()["id"]
    job = caller.post("/runs", {"collection": site.collection.name, "upload": upload})
    assert job.status_code == 202
    register(job.json()["id"])
    return job.json()["id"]


def test_uploaded_rankings_become_a_run_that_is_scored(caller, site):
    job = registered(caller, site)
    assert Job.objects.get(pk=job).message == "clip is scored on v1."
    (line,) = caller.get(f"/runs?collection={site.collection}").json()["results"]
    assert (line["model"], line["file_name"], line["registered_by"]) == ("clip", "clip.json", "robin")
    told = caller.get(line["url"].removeprefix("/api/v1")).json()
    assert told["policies"] == {"ties": "file", "missing": "wrong"}
    (of_version,) = told["scores"]
    assert of_version["version"] == "v1"
    figures = {(one["metric"], one["direction"]): one for one in of_version["figures"]}
    for score in Score.objects.all():
        one = figures[score.metric, score.direction]
        assert (one["value"], one["low"], one["high"], one["queries"], one["kind"]) == (
            *(score.value, score.low, score.high, score.queries),
            "counted",
        )


def test_the_leaderboard_tells_what_the_command_prints(caller, site, tmp_path, capsys):
    files = [tmp_path / "clip.json", tmp_path / "vsrn.json"]
    for seed, file in enumerate(files):
        file.write_bytes(rankings(site, seed))
    call_command("evaluate", version="v1", rankings=files, json=True)
    said = json.loads(capsys.readouterr().out)
    board = caller.get("/versions/v1/leaderboard").json()
    assert {row["model"] for row in board["rows"]} == said.keys() == {"clip", "vsrn"}
    for row in board["rows"]:
        assert row["run"] == Run.objects.get(model=row["model"]).pk
        for one in row["figures"]:
            printed = said[row["model"]][one["direction"]][one["metric"]]
            assert {name: printed[name] for name in one.keys() - {"direction", "metric"}} == {
                name: value for name, value in one.items() if name not in ("direction", "metric")
            }
    assert len(board["rows"][0]["figures"]) == 5 * 3


def test_an_upload_is_kept_while_the_job_that_registers_it_waits(caller, site):
    upload = caller.send(rankings(site), "clip.json").json()["id"]
    caller.post("/runs", {"collection": site.collection.name, "upload": upload, "model": "mine"})
    assert needed_uploads() == {f"uploads/{upload}"}


def test_rankings_that_cannot_be_read_fail_the_job_and_leave_no_run(caller, site):
    upload = caller.send(b'{"i2t": {"none": []}}', "clip.json").json()["id"]
    job = caller.post("/runs", {"collection": site.collection.name, "upload": upload}).json()
    register(job["id"])
    assert Job.objects.get(pk=job["id"]).state == "failed"
    assert not Run.objects.exists()
    with pytest.raises(CounterpartError, match="There is no upload"):
        stored_upload(upload)


@pytest.mark.parametrize(
    ("change", "status", "told"),
    [
        ({"upload": "0" * 64 + "-clip.json"}, 422, "There is no upload"),
        ({"upload": "../../secret.json"}, 422, "There is no upload"),
        ({"upload": "0" * 64 + "-clip.pdf"}, 422, "Invalid upload"),
        ({"model": "a\nb"}, 422, "Invalid model name"),
        ({"model": "a\0"}, 422, "a NUL character"),
        ({"collection": "none"}, 404, ""),
        ({"path": "/etc/passwd"}, 422, "path: Extra inputs"),
    ],
)
def test_an_invalid_registration_is_refused(caller, site, change, status, told):
    upload = caller.send(rankings(site), "clip.json").json()["id"]
    response = caller.post("/runs", {"collection": site.collection.name, "upload": upload} | change)
    assert response.status_code == status
    assert told in response.json()["detail"]
    assert not Job.objects.exists()


def test_runs_are_listed_by_version_in_parts_and_with_few_queries(caller, site, django_assert_max_num_queries):
    for number in range(3):
        made = Run.objects.create(collection=site.collection, model=f"m{number}", sha256=str(number) * 64)
        if number:
            Score.objects.create(run=made, version=site.version, metric="R@1", direction="i2t", value=0.5, queries=8)
    with django_assert_max_num_queries(6):
        first = caller.get("/runs?version=v1&limit=1").json()
    second = caller.get(f"/runs?version=v1&limit=1&after={first['next']}").json()
    assert [one["model"] for part in (first, second) for one in part["results"]] == ["m2", "m1"]
    assert second["next"] is None
    assert len(caller.get("/runs").json()["results"]) == 3


def test_a_score_without_an_interval_has_none(reader, site):
    made = Run.objects.create(collection=site.collection, model="old", sha256="0" * 64)
    Score.objects.create(run=made, version=site.version, metric="R@1", direction="i2t", value=0.5, queries=8)
    (figure,) = reader.get(f"/runs/{made.pk}").json()["scores"][0]["figures"]
    assert (figure["value"], figure["low"], figure["high"]) == (0.5, None, None)


def test_scoring_again_is_a_job(caller, site):
    made = Run.objects.create(collection=site.collection, model="old", sha256="0" * 64)
    assert caller.post(f"/runs/{made.pk}/scores").json()["title"] == "Score old"
    assert caller.post("/versions/v1/scores").json()["title"] == "Score annotators on v1"


def test_the_benchmarks_are_those_of_the_command_with_their_metrics(reader):
    lines = {one["name"]: one for one in reader.get("/benchmarks").json()["results"]}
    assert list(lines) == ["eccv", "cxc", "coco-1k", "coco-5k", "pmrp"]
    assert lines["eccv"]["metrics"] == ["mAP@R", "R-Precision", "R@1", "R@5", "R@10"]
    assert [name for name, one in lines.items() if one["needs_categories"]] == ["pmrp"]


def test_rankings_are_measured_by_the_job_of_the_page(caller, site):
    upload = caller.send(b'{"i2t": {}}', "clip.json").json()["id"]
    job = caller.post("/benchmarks", {"benchmarks": ["eccv", "eccv"], "upload": upload}).json()
    made = Job.objects.get(pk=job["id"])
    assert (made.task, made.title) == (measure_rankings.name, "Measure on eccv")
    assert made.params == {
        "benchmarks": ["eccv"],
        "model": "",
        "files": {"rankings": {"name": "clip.json", "path": f"uploads/{upload}"}},
    }
    answer = caller.get(f"/benchmarks/{made.pk}").json()
    assert (answer["job"]["state"], answer["results"]) == ("queued", [])


def test_measured_figures_are_told(reader):
    job = Job.objects.create(title="x", task=measure_rankings.name, state="done")
    figure = {"value": 0.5, "low": 0.4, "high": None, "queries": 7}
    write_json(figures_path(job), {"clip": {"eccv": {"i2t": {"R@1": figure}}, "notes": ["lacks some"]}})
    (told,) = reader.get(f"/benchmarks/{job.pk}").json()["results"]
    assert (told["benchmark"], told["model"], told["notes"]) == ("eccv", "clip", ["lacks some"])
    assert told["figures"][0] == figure | {
        **{"direction": "i2t", "metric": "R@1", "kind": "counted", "estimand": "matches of eccv"},
        **{"best": False, "not_significantly_worse": False},
    }


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"benchmarks": []}, "Name at least one benchmark"),
        ({"benchmarks": ["imagenet"]}, "Unknown benchmarks imagenet: choose of eccv"),
        ({"benchmarks": ["pmrp"]}, "pmrp needs the categories"),
        ({"benchmarks": ["eccv"]}, "Name an upload of rankings, or a retrieval"),
        ({"benchmarks": ["eccv"], "upload": "a.json", "retrieval": 1}, "Name an upload of rankings, or a retrieval"),
        ({"benchmarks": ["eccv"], "upload": "a.pdf"}, "Invalid upload"),
        ({"benchmarks": ["eccv"], "upload": "a.json"}, "There is no upload"),
    ],
)
def test_an_invalid_measurement_is_refused(caller, body, told):
    response = caller.post("/benchmarks", body)
    assert response.status_code == 422
    assert told in response.json()["detail"]
    assert not Job.objects.exists()


@pytest.mark.parametrize("path", ["/runs", "/benchmarks", "/runs/1/scores", "/versions/v1/scores"])
def test_who_is_no_researcher_starts_no_work_on_models(person, site, path):
    response = caller_for(person).post(path, {})
    assert response.status_code == 403
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    "path", ["/runs/1", "/versions/none/leaderboard", "/benchmarks/00000000-0000-0000-0000-000000000000"]
)
def test_what_is_unknown_is_not_found(reader, path):
    assert reader.get(path).status_code == 404
