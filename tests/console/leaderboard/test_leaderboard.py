"""The leaderboard's pages: what they show, and how rankings are uploaded, read, refused and scored."""

import re

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile

from core.models import Job
from evaluation.jobs import register, score_version
from evaluation.models import Run, Score
from evaluation.scores.scoring import evaluate_version
from tests.console.conftest import Site, random_rankings
from tests.dataset.releasing import release_version

UPLOAD = "/collections/zoo/leaderboard/register/"


@pytest.fixture
def site(db, lasting_site) -> Site:
    return lasting_site.again()


def upload(client, content: bytes, name: str = "mine.json", model: str = "") -> object:
    return client.post(UPLOAD, {"file": SimpleUploadedFile(name, content), "model": model})


def test_models_are_ordered_by_their_score_on_the_newest_version(member, site):
    release_version("v2", collection=site.collection, sample=site.version.sample, merge="original")
    for model, newest in (("a", 0.0), ("b", None), ("c", 0.9)):
        run = Run.objects.create(collection=site.collection, model=model, sha256=model * 64)
        for version, value in ((site.version, 0.5), (site.collection.versions.get(name="v2"), newest)):
            for direction in ("i2t", "t2i") if value is not None else ():
                run.scores.create(version=version, metric="mAP@R", direction=direction, value=value, queries=8)
    history = member.get("/collections/zoo/leaderboard/").context["history"]
    assert [one.label for one in history.panels] == [
        "v1; 1  c: 50.0; 1  a: 50.0; 1  b: 50.0",
        "v2; 1  c: 90.0; 2  a: 0.0",
    ]


def test_every_figure_has_its_interval_on_the_board_and_on_the_runs_page(researcher, site, jobs_run):
    with jobs_run():
        upload(researcher, random_rankings(site.collection))
    interval = re.compile(r"\d\.\d–\d+\.\d</span>")
    for path in ("/collections/zoo/leaderboard/", f"/runs/{Run.objects.get().pk}/"):
        assert len(interval.findall(researcher.get(path).text)) == 3 * 5


def test_the_same_file_again_leads_to_its_job_and_then_to_its_run(researcher, site):
    first, second = (upload(researcher, random_rankings(site.collection)).url for _ in range(2))
    assert first == second
    job = Job.objects.get(task=register.name)
    for _ in range(2):  # delivered twice
        Job.objects.update(state="queued")
        register(str(job.pk))
    assert (Run.objects.count(), Score.objects.count()) == (1, 10)
    assert upload(researcher, random_rankings(site.collection)).url == f"/runs/{Run.objects.get().pk}/"
    assert Job.objects.filter(task=register.name).count() == 1


def test_a_bad_file_fails_the_job_in_one_line_and_is_not_kept(researcher, site, jobs_run):
    bad = [
        (b"{", "mine.json is not valid JSON"),
        (b'{"t2i": {"0": ["99"]}}', "1 id of mine.json .*: 99"),
        (b'{"t2i": {"0": ["1"]}}', "can be scored on no version of zoo. Not on v1: .* 15 of 16 queries"),
    ]
    for content, message in bad:
        with jobs_run():
            answer = upload(researcher, content)
        job = Job.objects.get(pk=answer.url.split("/")[2])
        assert job.state == "failed"
        assert re.search(message, job.message)
        assert not Run.objects.exists()
        assert default_storage.listdir("runs/zoo")[1] == []


def test_a_new_version_is_scored_in_the_background(researcher, site, jobs_run):
    with jobs_run():
        upload(researcher, random_rankings(site.collection))
    with jobs_run():
        release_version("v2", collection=site.collection, sample=site.version.sample, merge="original")
    job = Job.objects.get(task=score_version.name)
    assert (job.state, job.message) == ("done", "1 of 1 runs are scored on v2.")
    assert Score.objects.filter(version__name="v2").count() == 10
    Job.objects.update(state="queued")
    score_version(str(job.pk))
    assert Score.objects.filter(version__name="v2").count() == 10


def test_both_charts_have_a_row_a_model_with_its_interval_or_say_that_there_is_none(researcher, site, jobs_run):
    release_version("v2", collection=site.collection, sample=site.version.sample, merge="original")
    site.round.pool.retrievals.add(site.retrieval)
    site.version.rounds.add(site.round)
    evaluate_version(site.version)
    with jobs_run():
        upload(researcher, random_rankings(site.collection), model="model b")
    Score.objects.filter(run__model="model b", metric="R@5").update(low=None, high=None)
    context = researcher.get("/collections/zoo/leaderboard/?version=v1&metric=R@1").context
    assert [panel.title for panel in context["scores"].panels] == ["mAP@R", "R-Precision", "R@1", "R@5", "R@10"]
    assert [panel.title for panel in context["history"].panels] == ["v1", "v2"]
    newest, later = (panel.label for panel in context["history"].panels)
    assert newest.index("model b: ") < newest.index("overlap: ")
    assert "overlap" not in later
    without = researcher.get("/collections/zoo/leaderboard/?version=v1&metric=R@5").context["history"]
    assert re.search(r"model b: \d+\.\d;", without.panels[0].label)


def test_results_list_versions_leaderboards_and_where_each_leads(member, site):
    assert "No version" not in member.get("/results/").text
    site.version.collection.runs.create(model="a", sha256="0" * 64)
    page = member.get("/scores/", follow=True)
    assert page.redirect_chain == [("/results/", 302)]
    assert "/collections/zoo/leaderboard/" in page.text
    assert "/versions/v1/" in page.text
