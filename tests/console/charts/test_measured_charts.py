"""Charts are counted by jobs that the clock or a button starts, never in a request; the last ones stay on the page."""

import csv
import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.utils import timezone

from console.charts import chart_jobs, plots
from console.charts.chart_jobs import due_charts, keep_charts, start_charts
from console.charts.plots import chart_path
from console.charts.views import TYPES
from core.models import Job
from hits.models import Round
from tests.console.conftest import Site, answer_rightly
from tests.factories import make_annotator, make_collection, make_round
from tests.mitl.plugged import plug_in
from tests.transactions import locked_by

DRAWN = 'class="panel" role="img"'
OF_DONE = "/charts/round/done/workers"
OF_VERSION = "/charts/version/v1/uncertainty"


@pytest.fixture
def site(db, lasting_site) -> Site:
    return lasting_site.again()


@pytest.fixture
def doubter(site, monkeypatch):
    """An annotator that measures its uncertainty."""
    plug_in(monkeypatch, unsure="tests.mitl.unsure")
    monkeypatch.setitem(plots.OF_ANNOTATORS, "uncertainty", ("unsure",))
    return make_annotator("doubter", kind="unsure")


def no_chart(*_: object, **__: object) -> None:
    raise AssertionError("A request computes a chart.")


def test_no_page_and_no_file_computes_a_chart_or_starts_a_job(researcher, site, monkeypatch):
    monkeypatch.setattr(chart_jobs, "measure_chart", no_chart)
    for place in ("/rounds/done/results/", "/versions/v1/trust/", "/pools/pool/"):
        assert "The site counts this chart" in researcher.get(place).text
    assert {researcher.get(f"{OF_DONE}.{form}").status_code for form in TYPES} == {404}
    assert not Job.objects.exists()


def test_a_stored_chart_is_shown_and_downloaded_without_computing(member, charted, site, monkeypatch):
    charted(f"{OF_DONE}/")
    monkeypatch.setattr(chart_jobs, "measure_chart", no_chart)
    page = member.get(f"{OF_DONE}/", follow=True)
    assert page.redirect_chain == [("/rounds/done/results/?show=workers#charts", 302)]
    assert DRAWN in page.text
    assert "data-live" not in page.text
    assert {member.get(f"{OF_DONE}.{form}").status_code for form in TYPES} == {200}


def test_two_presses_at_once_wait_for_each_other(site, person):
    assert locked_by(lambda: start_charts("round", site.round, by=person)) == {Round}
    assert start_charts("round", site.round) == start_charts("round", site.round)


def test_the_last_chart_is_shown_while_a_new_one_is_counted(researcher, charted, db, settings):
    made = make_round(make_collection("farm", images=14), hits=2)
    answer_rightly(made)
    charted("/charts/round/round-1/workers/")
    answer_rightly(made)
    page = researcher.get("/rounds/round-1/results/?show=workers")
    assert "the data changed since" in page.text
    settings.CELERY_TASK_ALWAYS_EAGER = False
    start_charts("round", made)
    page = researcher.get("/rounds/round-1/results/?show=workers")
    assert (len(page.context["made"]["rows"]), "data-live" in page.text, "Count again" in page.text) == (1, True, False)
    Job.objects.all().delete()
    settings.CELERY_TASK_ALWAYS_EAGER = True
    assert len(charted("/charts/round/round-1/workers/").context["made"]["rows"]) == 2


def test_a_failed_job_shows_its_error_until_it_is_started_again(researcher, charted, site, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(chart_jobs, "measure_chart", no_chart)
        assert "AssertionError" in charted(f"{OF_DONE}/").text
    assert Job.objects.get().state == "failed"
    assert DRAWN in charted(f"{OF_DONE}/").text


def test_a_chart_that_an_older_version_stored_is_counted_again(charted, site):
    older = {"at": "2026-11-01T00:00:00+00:00", "state": "1", "chart": {}, "rows": []}
    default_storage.save(chart_path(Round.objects.get(name="done"), "workers", ""), StringIO(json.dumps(older)))
    assert DRAWN in charted(f"{OF_DONE}/").text


def test_the_clock_counts_what_is_published_released_and_pooled_once(site, commit):
    due = {(kind, thing.name) for kind, thing in due_charts()}
    assert {("round", "done"), ("round", "open"), ("version", "v1"), ("pool", "pool")} <= due
    assert ("round", "draft") not in due
    with commit(execute=True):
        keep_charts()
    assert {job.state for job in Job.objects.filter(task="console.tasks.chart")} == {"done"}
    assert not list(due_charts())


def test_an_open_round_is_due_again_after_an_hour_with_new_data_and_a_closed_one_once(db, commit):
    made = make_round(make_collection("farm", images=14), hits=2)
    Round.objects.exclude(pk=made.pk).update(published_at=None)
    with commit(execute=True):
        keep_charts()
    Job.objects.update(created_at=timezone.now() - timedelta(hours=2))
    assert not list(due_charts())
    answer_rightly(made)
    assert list(due_charts()) == [("round", made)]
    Job.objects.update(created_at=timezone.now())
    assert not list(due_charts())
    Round.objects.filter(pk=made.pk).update(closed_at=timezone.now())
    assert list(due_charts()) == [("round", made)]


def test_uncertainty_is_measured_by_hand_and_is_that_of_the_command(researcher, doubter, charted, tmp_path):
    page = researcher.get(f"{OF_VERSION}/", follow=True)
    assert "doubter reads every picture" in page.text
    assert DRAWN in charted(f"{OF_VERSION}/").text
    call_command("analyse", "uncertainty", "zoo", annotator="doubter", matches="v1", csv=tmp_path / "table.csv")
    sent = researcher.get(f"{OF_VERSION}.csv?annotator=doubter")
    assert list(csv.DictReader(StringIO(sent.text))) == list(csv.DictReader((tmp_path / "table.csv").open()))
    assert "v1-uncertainty-doubter.csv" in sent["Content-Disposition"]


def test_several_annotators_have_a_chart_each(researcher, doubter, charted):
    make_annotator("sceptic", kind="unsure")
    charted(f"{OF_VERSION}/", annotator="sceptic")
    for name, status in (("doubter", 404), ("sceptic", 200)):
        assert researcher.get(f"{OF_VERSION}.csv?annotator={name}").status_code == status


def test_without_such_an_annotator_the_page_leads_to_adding_one(researcher, site):
    assert "/add-annotator/?kind=pcme" in researcher.get(f"{OF_VERSION}/", follow=True).text
    assert researcher.get(f"{OF_VERSION}/?annotator=overlap").status_code == 404


def remove(job: Job, run_on_commit) -> None:
    with run_on_commit(execute=True):
        call_command("remove", "job", str(job.pk), yes=True)


def test_charts_go_with_their_job(charted, site, commit):
    charted(f"{OF_DONE}/")
    path = chart_path(Round.objects.get(name="done"), "workers", "")
    assert default_storage.exists(path)
    remove(Job.objects.get(), commit)
    assert not default_storage.exists(path)


def test_a_job_whose_round_is_gone_can_be_removed(db, commit):
    params = {"kind": "round", "name": "gone", "annotator": ""}
    job = Job.objects.create(title="Charts", task="console.tasks.chart", state="done", params=params)
    remove(job, commit)
    assert not Job.objects.exists()
