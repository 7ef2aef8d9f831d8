"""Rankings and searches on the named benchmarks, measured by a job."""

import json

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

import counterpart_metrics as metrics
from core.models import Job
from tests.dataset.releasing import release_version
from tests.factories import make_collection, make_sample

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def rankings() -> bytes:
    """Lists of 30 random items for the queries of ECCV Caption, the first right."""
    rng, lists = np.random.default_rng(0), {}
    for side, other in (("i2t", "t2i"), ("t2i", "i2t")):
        qrels, gallery = metrics.positives("eccv")[side], metrics.positives("coco-5k")[other].queries
        lists[side] = {
            str(query): list(dict.fromkeys([int(qrels.items[qrels.starts[row]]), *rng.choice(gallery, 29).tolist()]))
            for row, query in enumerate(qrels.queries.tolist())
        }
    return json.dumps(lists).encode()


@pytest.fixture
def measure(researcher, commit):
    """Send the form; the page that answers."""

    def send(**fields: object):
        with commit(execute=True):
            answer = researcher.post("/benchmarks/", {"benchmarks": ["eccv"], **fields})
        return researcher.get(answer.url) if answer.status_code == 302 else answer

    return send


@pytest.mark.slow
def test_uploaded_rankings_get_the_figures_of_the_command(measure, researcher, rankings, tmp_path, capsys):
    page = measure(rankings=SimpleUploadedFile("clip.json", rankings))
    assert "clip is measured on eccv." in page.text
    shown = researcher.get(page.context["outcome"].url)
    (row, cells), *rest = shown.context["boards"]["eccv"].lines()
    (tmp_path / "clip.json").write_bytes(rankings)
    call_command("evaluate", benchmark=["eccv"], rankings=[tmp_path / "clip.json"], json=True)
    said = json.loads(capsys.readouterr().out)["clip"]["eccv"]
    columns = shown.context["boards"]["eccv"].columns
    assert (row.model, rest) == ("clip", [])
    assert [cell.figure.value for cell in cells] == [said[one.part][one.metric]["value"] for one in columns]
    assert str(Job.objects.get().pk) in researcher.get("/results/").text


def test_a_version_is_a_benchmark_of_the_page_and_its_leaderboard_has_the_run(measure, researcher):
    zoo = make_collection(images=2, captions_each=2)
    release_version("v1", collection=zoo, sample=make_sample(zoo), merge="original")
    lists = json.dumps({"t2i": {str(caption): [caption // 2] for caption in range(4)}}).encode()
    page = measure(benchmarks=["v1"], rankings=SimpleUploadedFile("mine.json", lists))
    shown = researcher.get(page.context["outcome"].url)
    assert [cell.percent for _, cells in shown.context["boards"]["v1"].lines() for cell in cells] == ["100.0"] * 5
    assert "mine" in researcher.get("/collections/zoo/leaderboard/?version=v1").text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "choose a search"),
        ({"benchmarks": ["pmrp"]}, "pmrp needs the categories"),
    ],
)
def test_a_form_that_is_not_valid_is_kept_and_starts_nothing(measure, fields, message):
    page = measure(model="mine", **fields)
    assert (page.status_code, message in page.text) == (422, True)
    assert page.context["form"]["model"].value() == "mine"
    assert not Job.objects.exists()
