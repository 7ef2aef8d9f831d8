"""Models by the API: rankings in, and the scores of pages and commands."""

import json

import pytest
from django.core.management import call_command

from console.leaderboard.benchmark_boards import figures_path, measure_rankings
from core.files.stored_files import write_json
from core.models import Job
from evaluation.jobs import register
from evaluation.models import Run, Score
from tests.console.api.calls import Caller, check_refused
from tests.console.conftest import random_rankings


def registered(caller: Caller, site, seed: int = 0, name: str = "clip.json") -> str:
    """Upload rankings and register them; the id of the job, which has run."""
    upload = caller.send(random_rankings(site.collection, seed), name).json()["id"]
    job = caller.post("/runs", {"collection": site.collection.name, "upload": upload})
    assert job.status_code == 202
    register(job.json()["id"])
    return job.json()["id"]


def test_uploaded_rankings_become_a_run_that_is_scored(caller, site):
    job = registered(caller, site)
    assert Job.objects.get(pk=job).message == "clip is scored on v1."
    (line,) = caller.get(f"/runs?collection={site.collection}").json()["results"]
    assert (line["model"], line["file_name"], line["registered_by"]) == ("clip", "clip.json", "researcher")
    answer = caller.get(line["url"].removeprefix("/api/v1")).json()
    assert answer["policies"] == {"ties": "file", "missing": "wrong"}
    (of_version,) = answer["scores"]
    assert of_version["version"] == "v1"
    figures = {(one["metric"], one["direction"]): one for one in of_version["figures"]}
    for score in Score.objects.all():
        one = figures[score.metric, score.direction]
        assert (one["value"], one["low"], one["high"], one["queries"], one["kind"]) == (
            *(score.value, score.low, score.high, score.queries),
            "counted",
        )


def test_the_leaderboard_has_the_figures_of_the_command(caller, site, tmp_path, capsys):
    files = [tmp_path / "clip.json", tmp_path / "vsrn.json"]
    for seed, file in enumerate(files):
        file.write_bytes(random_rankings(site.collection, seed))
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


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"upload": "0" * 64 + "-clip.json"}, 422, "Unknown upload"),
        ({"upload": "../../secret.json"}, 422, "Unknown upload"),
        ({"collection": "none"}, 404, ""),
        ({"path": "/etc/passwd"}, 422, "path: Extra inputs"),
    ],
)
def test_an_invalid_registration_is_refused(caller, site, change, status, message):
    upload = caller.send(random_rankings(site.collection), "clip.json").json()["id"]
    check_refused(
        caller.post("/runs", {"collection": site.collection.name, "upload": upload} | change), status, message
    )
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


def test_measured_figures_are_returned(reader):
    job = Job.objects.create(title="x", task=measure_rankings.name, state="done")
    figure = {"value": 0.5, "low": 0.4, "high": None, "queries": 7}
    write_json(figures_path(job), {"clip": {"eccv": {"i2t": {"R@1": figure}}, "notes": ["lacks some"]}})
    (answer,) = reader.get(f"/benchmarks/{job.pk}").json()["results"]
    assert (answer["benchmark"], answer["model"], answer["notes"]) == ("eccv", "clip", ["lacks some"])
    assert answer["figures"][0] == figure | {
        **{"direction": "i2t", "metric": "R@1", "kind": "counted", "estimand": "matches of eccv"},
        **{"question": "like", "level": 0.95},
        **{"best": False, "not_significantly_worse": False},
    }


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"benchmarks": ["imagenet"]}, "Unknown benchmarks imagenet: choose of eccv"),
        ({"benchmarks": ["eccv"]}, "an upload of rankings"),
        ({"benchmarks": ["eccv"], "upload": "a.json"}, "a.json"),
    ],
)
def test_an_invalid_measurement_is_refused(caller, body, message):
    check_refused(caller.post("/benchmarks", body), 422, message)
    assert not Job.objects.exists()
