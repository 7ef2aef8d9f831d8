"""Charts are made by jobs: once for the same data, never in a request, shown until a newer one is there."""

import csv
import json
from io import StringIO

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command

from console.charts import plots
from console.charts.plots import chart_path
from console.charts.views import TYPES
from console.jobs import start_chart
from core.models import Job
from hits.models import Round
from tests.console.conftest import Site, answer_rightly
from tests.factories import make_annotator, make_collection, make_round
from tests.mitl.plugged import plug_in
from tests.transactions import locked_by

DRAWN = 'class="panel" role="img"'
OF_VERSION = "/charts/version/v1/uncertainty"
OF_ROUND = "/charts/round/round-1/workers"


@pytest.fixture
def site(db, lasting_site) -> Site:
    return lasting_site.again()


@pytest.fixture
def measured(researcher, commit):
    """Press the button; the page that is seen then."""

    def press(address: str, **fields: str):
        with commit(execute=True):
            answer = researcher.post(f"{address}/measure/", fields)
        return researcher.get(answer.url)

    return press


@pytest.fixture
def doubter(site, monkeypatch):
    """An annotator that measures its uncertainty."""
    plug_in(monkeypatch, unsure="tests.mitl.unsure")
    monkeypatch.setitem(plots.OF_ANNOTATORS, "uncertainty", ("unsure",))
    return make_annotator("doubter", kind="unsure")


def no_chart(*_: object, **__: object) -> None:
    raise AssertionError("A request computes a chart.")


@pytest.fixture
def only_shown(monkeypatch):
    """No chart can be computed from here on."""
    monkeypatch.setattr(plots, "analyse", no_chart)


def test_no_request_computes_a_chart_and_visits_while_it_is_made_start_no_second_job(researcher, site, only_shown):
    places = ("round/done/workers", "round/done/agreement", "version/v1/positives", "pool/pool/hubness")
    for place in places:
        assert f'"/charts/{place}/live/"' in researcher.get(f"/charts/{place}/").text
        assert researcher.get(f"/charts/{place}/live/").json()["live"]
        assert {researcher.get(f"/charts/{place}.{form}").status_code for form in TYPES} == {404}
        researcher.get(f"/charts/{place}/")
    queued = [job.params["subject"] for job in Job.objects.filter(state="queued")]
    assert sorted(queued) == sorted(place.split("/")[2] for place in places)
    assert {researcher.get(path).status_code for path in ("/pools/pool/", "/rounds/done/", "/versions/v1/")} == {200}


def test_a_stored_chart_is_shown_and_downloaded_without_computing(researcher, charted, site, request):
    charted("/charts/round/done/workers/")
    request.getfixturevalue("only_shown")
    assert 'class="panel" role="img" aria-label="workers; ' in researcher.get("/charts/round/done/workers/").text
    assert {researcher.get(f"/charts/round/done/workers.{form}").status_code for form in TYPES} == {200}
    assert "data-live" not in researcher.get("/charts/round/done/workers/").text


def test_a_visitor_without_a_role_starts_no_job_and_sees_the_stored_chart(member, charted, site):
    assert 'aria-label="Chart"' not in member.get("/charts/round/done/workers/").text
    assert not Job.objects.exists()
    for _ in range(3):
        charted("/charts/round/done/workers/")
    assert Job.objects.count() == 1  # the same data are charted once
    assert DRAWN in member.get("/charts/round/done/workers/").text


def test_two_visits_at_once_wait_for_each_other(site, person):
    assert locked_by(lambda: start_chart("round", site.round, "workers", "", by=person)) == {Round}


def test_the_last_chart_is_shown_until_the_new_one_is_stored_and_polling_starts_no_job(researcher, charted, db):
    made = make_round(make_collection("farm", images=14), hits=2)
    answer_rightly(made)
    charted(f"{OF_ROUND}/")
    answer_rightly(made)
    assert not researcher.get(f"{OF_ROUND}/live/").json()["live"]
    assert Job.objects.get().state == "done"
    page = researcher.get(f"{OF_ROUND}/")
    assert (len(page.context["chart"].rows), "data-live" in page.text) == (1, True)
    assert Job.objects.count() == 1  # the ended one made room
    Job.objects.all().delete()
    page = charted(f"{OF_ROUND}/")
    assert (len(page.context["chart"].rows), "data-live" in page.text) == (2, False)


def test_a_failed_job_shows_its_error_and_starts_again_by_hand_alone(researcher, charted, measured, site, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(plots, "analyse", no_chart)
        charted("/charts/round/done/workers/")
    failed = Job.objects.get()
    assert "AssertionError" in charted("/charts/round/done/workers/").text
    assert Job.objects.get() == failed
    assert DRAWN in measured("/charts/round/done/workers").text


def test_a_failed_job_of_older_data_does_not_hinder_a_new_one(charted, site, person):
    job = start_chart("round", Round.objects.get(name="done"), "workers", "", by=person)
    Job.objects.filter(pk=job.pk).update(state="failed", params=job.params | {"state": "older"})
    assert DRAWN in charted("/charts/round/done/workers/").text


def test_a_chart_that_an_older_version_stored_is_made_again(charted, site):
    path = chart_path(Round.objects.get(name="done"), "workers", "")
    older = {"at": "2026-11-01T00:00:00+00:00", "state": "1", "chart": {}, "rows": []}
    default_storage.save(path, StringIO(json.dumps(older)))
    assert DRAWN in charted("/charts/round/done/workers/").text


def test_uncertainty_is_measured_by_hand_and_is_that_of_the_command(researcher, doubter, measured, tmp_path):
    assert "--annotator doubter" in researcher.get(f"{OF_VERSION}/").text
    assert not Job.objects.exists()
    assert DRAWN in measured(OF_VERSION).text
    call_command("analyse", "uncertainty", "zoo", annotator="doubter", matches="v1", csv=tmp_path / "table.csv")
    sent = researcher.get(f"{OF_VERSION}.csv?annotator=doubter")
    assert list(csv.DictReader(StringIO(sent.text))) == list(csv.DictReader((tmp_path / "table.csv").open()))
    assert "v1-uncertainty-doubter.csv" in sent["Content-Disposition"]


def test_several_annotators_have_a_chart_each(researcher, doubter, measured):
    make_annotator("sceptic", kind="unsure")
    measured(OF_VERSION, annotator="sceptic")
    for name, status in (("doubter", 404), ("sceptic", 200)):
        assert researcher.get(f"{OF_VERSION}.csv?annotator={name}").status_code == status


def test_without_such_an_annotator_the_page_leads_to_adding_one(researcher, site):
    assert "/add-annotator/?kind=pcme" in researcher.get(f"{OF_VERSION}/").text
    assert researcher.post(f"{OF_VERSION}/measure/").status_code == 404
    assert researcher.get(f"{OF_VERSION}/?annotator=overlap").status_code == 404


def remove(job: Job, run_on_commit) -> None:
    with run_on_commit(execute=True):
        call_command("remove", "job", str(job.pk), yes=True)


def test_a_chart_goes_with_its_job(charted, site, commit):
    done = Round.objects.get(name="done")
    stored = {subject: f"charts/round-{done.pk}-{subject}.json" for subject in ("workers", "agreement")}
    for subject in stored:
        charted(f"/charts/round/done/{subject}/")
    assert all(map(default_storage.exists, stored.values()))
    remove(Job.objects.get(params__subject="workers"), commit)
    assert not default_storage.exists(stored["workers"])
    assert default_storage.exists(stored["agreement"])


def test_a_job_whose_round_is_gone_can_be_removed(db, commit):
    params = {"kind": "round", "name": "gone", "subject": "workers", "annotator": ""}
    job = Job.objects.create(title="Chart", task="console.tasks.chart", state="done", params=params)
    remove(job, commit)
    assert not Job.objects.exists()
