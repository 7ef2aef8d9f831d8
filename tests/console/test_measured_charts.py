"""Charts that a job measures: those of one annotator, and those of very many judgments."""

import csv
from io import StringIO

import pytest
from django.core.cache import cache
from django.core.files.storage import default_storage
from django.core.management import call_command

from console import plots, records
from core.models import Job
from hits.models import Round
from tests.console.conftest import answer_rightly
from tests.factories import make_annotator, make_round
from tests.mitl.plugged import plug_in

OF_VERSION = "/charts/version/v1/uncertainty"


@pytest.fixture
def measured(member, researcher, django_capture_on_commit_callbacks):
    """Press the button; the page of the job."""

    def press(address: str, **fields: str):
        with django_capture_on_commit_callbacks(execute=True):
            answer = researcher.post(f"{address}/measure/", fields)
        return member.get(answer.url)

    return press


@pytest.fixture
def doubter(site, monkeypatch):
    """An annotator that tells how certain it is."""
    plug_in(monkeypatch, unsure="tests.mitl.unsure")
    monkeypatch.setitem(plots.OF_ANNOTATORS, "uncertainty", ("unsure",))
    return make_annotator("doubter", kind="unsure")


def test_uncertainty_is_measured_by_a_job_and_says_what_the_command_says(member, doubter, measured, tmp_path):
    page = member.get(f"{OF_VERSION}/").text
    assert "Not measured yet" in page
    assert "python manage.py analyse uncertainty zoo --annotator doubter --matches v1" in page
    job = measured(OF_VERSION)
    assert job.context["job"].state == "done", job.context["job"].message
    shown = member.get(job.context["outcome"].url)
    assert '<svg role="img" aria-label="Uncertainty and multiplicity: ' in shown.text
    call_command("analyse", "uncertainty", "zoo", annotator="doubter", matches="v1", csv=tmp_path / "table.csv")
    told = member.get(f"{OF_VERSION}.csv?annotator=doubter")
    assert list(csv.DictReader(StringIO(told.text))) == list(csv.DictReader((tmp_path / "table.csv").open()))
    assert 'filename="v1-uncertainty-doubter.csv"' in told["Content-Disposition"]
    for form, begins in (("svg", b"<svg"), ("png", b"\x89PNG")):
        assert member.get(f"{OF_VERSION}.{form}?annotator=doubter").content.startswith(begins)


def test_several_annotators_have_a_chart_each(member, doubter, measured):
    make_annotator("sceptic", kind="unsure")
    measured(OF_VERSION, annotator="sceptic")
    assert "Not measured yet" in member.get(f"{OF_VERSION}/?annotator=doubter").text
    assert "Of sceptic, measured" in member.get(f"{OF_VERSION}/?annotator=sceptic").text
    assert member.get(f"{OF_VERSION}.csv?annotator=doubter").status_code == 404


def test_without_such_an_annotator_the_page_says_how_to_get_one(researcher, site):
    page = researcher.get(f"{OF_VERSION}/").text
    assert "add one of kind pcme" in page
    assert researcher.post(f"{OF_VERSION}/measure/").status_code == 404
    assert researcher.get(f"{OF_VERSION}/?annotator=overlap").status_code == 404


def test_pressed_twice_one_job_measures(researcher, doubter, settings):
    settings.CELERY_TASK_ALWAYS_EAGER = False
    assert researcher.post(f"{OF_VERSION}/measure/").url == researcher.post(f"{OF_VERSION}/measure/").url
    assert Job.objects.count() == 1


def test_a_chart_of_very_many_judgments_is_measured_by_a_job_and_again(member, site, measured, monkeypatch):
    monkeypatch.setattr(plots, "LARGE", 3)
    address = "/charts/round/done/workers"
    assert "it reads all judgments" in member.get(f"{address}/").text
    measured(address)
    assert "more was judged" not in member.get(f"{address}/").text
    assert member.get(f"{address}.csv").text.startswith("worker,hits,")


def test_a_measured_chart_says_when_more_was_judged_since(member, db, measured, monkeypatch):
    monkeypatch.setattr(plots, "LARGE", 3)
    made = make_round(hits=2)
    answer_rightly(made)
    measured("/charts/round/round-1/workers")
    answer_rightly(made)
    page = member.get("/charts/round/round-1/workers/").text
    assert "more was judged or decided since" in page
    measured("/charts/round/round-1/workers")
    assert "more was judged" not in member.get("/charts/round/round-1/workers/").text


def remove(job: Job, run_on_commit) -> None:
    with run_on_commit(execute=True):
        call_command("remove", "job", str(job.pk), yes=True)


def test_a_chart_goes_with_the_last_job_that_measured_it(
    member, site, measured, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(plots, "LARGE", 3)
    for subject in ("workers", "agreement", "workers"):
        measured(f"/charts/round/done/{subject}")
    again, other, first = Job.objects.order_by("-created_at")
    done = Round.objects.get(name="done")
    stored = {job: f"charts/round-{done.pk}-{job.params['subject']}.json" for job in (other, first)}
    assert all(map(default_storage.exists, stored.values()))
    remove(first, django_capture_on_commit_callbacks)
    assert default_storage.exists(stored[first])
    remove(again, django_capture_on_commit_callbacks)
    assert not default_storage.exists(stored[first])
    assert default_storage.exists(stored[other])


def test_a_job_whose_round_is_gone_can_be_removed(db, django_capture_on_commit_callbacks):
    params = {"kind": "round", "name": "gone", "subject": "workers", "annotator": ""}
    job = Job.objects.create(title="Chart", task="console.tasks.chart", state="done", params=params)
    remove(job, django_capture_on_commit_callbacks)
    assert not Job.objects.exists()


@pytest.fixture
def slow(monkeypatch):
    """Whatever is counted took long, and is kept until the test ends."""
    monkeypatch.setattr(records, "SLOW", -1)
    cache.clear()  # of a round with the same number in another test
    yield
    cache.clear()


def test_a_slow_chart_is_kept_although_more_was_judged(member, db, slow):
    made = make_round(hits=2)
    answer_rightly(made)
    first = member.get("/charts/round/round-1/workers/").context["rows"]
    answer_rightly(made)
    assert member.get("/charts/round/round-1/workers/").context["rows"] == first
