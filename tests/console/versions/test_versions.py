import hashlib
from shutil import rmtree
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from console.home.outcomes import outcome_of
from console.jobs import trust
from core.files.stored_files import write_file
from core.models import Job
from dataset.jobs import export, release
from dataset.models import Version
from evaluation.jobs import verify
from hits.models import Round
from tests.console.conftest import answer_rightly
from tests.dataset.releasing import release_version
from tests.factories import make_collection, make_round


def test_files_arrive_as_the_manifest_has_them_and_nothing_else_can_be_fetched(researcher, site):
    site.version.rounds.update(closed_at=timezone.now())
    for file_name in ("v1_image_to_caption.json", "pairs.csv", "judgments.csv"):
        answer = researcher.get(f"/versions/v1/files/{file_name}")
        content = b"".join(answer.streaming_content)
        assert hashlib.sha256(content).hexdigest() == site.version.manifest["files"][file_name]["sha256"]
        assert answer["Content-Disposition"] == f'attachment; filename="{file_name}"'
    default_storage.save("versions/v1/secret.txt", ContentFile(b"hidden"))
    for file_name in ("secret.txt", "..%2f..%2fsecret_key", "v2.json"):
        assert researcher.get(f"/versions/v1/files/{file_name}").status_code == 404, file_name


def test_a_version_offers_its_publication_only_to_those_who_may_publish(member, researcher, releaser, site):
    for client, may in ((member, False), (researcher, False), (releaser, True)):
        assert ("/versions/v1/publish/" in client.get("/versions/v1/").text) is may


def test_a_file_that_was_changed_after_the_release_is_not_served(researcher, site):
    for file_name in ("pairs.csv", "manifest.json"):
        assert researcher.get(f"/versions/v1/files/{file_name}").status_code == 200
        rmtree(settings.FILE_CACHE, ignore_errors=True)
        write_file(f"versions/v1/{file_name}", b"{}")
        assert researcher.get(f"/versions/v1/files/{file_name}").status_code == 404


@pytest.fixture
def form(db) -> dict[str, object]:
    made = make_round(make_collection(images=8, pictures=True))
    answer_rightly(made)
    return {
        "version": "v1",
        "queries": made.pool.sample.name,
        "rounds": [made.name],
        "merge": "original",
        "positive_levels": ["1", "2"],
        "method": "majority",
        "ties": "median",
        "precedence": "union",
    }


def release_by(client: Client, form: dict[str, object]) -> HttpResponse:
    return client.post("/release/", {"query": urlencode(form, doseq=True)})


def test_an_admin_releases_through_a_job(releaser, form, commit):
    with commit(execute=True):
        answer = release_by(releaser, form)
    job = Job.objects.get(task=release.name)
    assert answer.url == f"/jobs/{job.pk}/?follow=yes"
    assert (job.state, job.message) == ("done", "Version v1 is released.")
    assert Job.objects.filter(task=trust.name, params={"version": "v1"}).exists()  # no visitor waits for its figures
    assert Version.objects.get().released_by.username == "admin"
    assert Version.objects.get().manifest["counts"]["judged"] == 2
    Job.objects.update(state="queued")
    release(str(job.pk))  # delivered twice
    job.refresh_from_db()
    assert (job.state, Version.objects.count()) == ("done", 1)


def test_of_two_releases_by_one_name_the_second_is_refused(releaser, form):
    for _ in range(2):  # a button pressed twice
        assert release_by(releaser, form).status_code == 302
    page = release_by(releaser, form | {"positive_levels": ["1"]})
    assert (page.status_code, Job.objects.count()) == (422, 1)
    assert "v1 is being released already" in page.text


def test_a_job_does_not_claim_the_version_of_another_one(releaser, form):
    release_by(releaser, form)
    made = Round.objects.get()
    release_version("v1", collection=made.pool.collection, sample=made.pool.sample, rounds=[made], partial=True)
    release(str(Job.objects.get().pk))
    job = Job.objects.get()
    assert (job.state, job.message.partition(".")[0]) == ("failed", "Version v1 exists already and never changes")


def test_a_release_that_version_0_3_queued_is_made(releaser, form):
    """Its parameters were stored in another shape."""
    release_by(releaser, form)
    job, made = Job.objects.get(), Round.objects.get()
    answer = {"merge": "", "positive_levels": [1], "method": "majority", "ties": "lower", "precedence": "union"}
    given = {"version": "v1", "sample": made.pool.sample.name, "rounds": [made.name]}
    job.params = given | {"options": answer | {"partial": False, "mixed_tasks": False}, "credits": {"title": "Zoo"}}
    job.save()
    release(str(job.pk))
    manifest = Version.objects.get().manifest
    assert (manifest["policies"]["ties"], manifest["policies"]["positive_levels"]) == ("lower", [1])
    assert (manifest["policies"]["merge"], manifest["credits"]) == ("", {"title": "Zoo"})


def test_rounds_of_different_tasks_are_released_only_on_purpose(releaser, form):
    boxes = make_round(Round.objects.get().pool.collection, name="boxes")
    answer_rightly(boxes)
    Round.objects.filter(name="boxes").update(task="checkbox")
    form["rounds"].append("boxes")
    refused = release_by(releaser, form)
    assert refused.status_code == 422
    assert "checkbox (levels 1, 4)" in refused.text
    assert not Job.objects.exists()
    assert release_by(releaser, {**form, "mixed_tasks": "on"}).status_code == 302
    release(str(Job.objects.get().pk))
    assert "different tasks" in releaser.get("/versions/v1/").text


def test_an_export_is_started_made_by_its_job_which_leads_to_it_and_downloaded(member, researcher, site):
    site.version.rounds.update(closed_at=timezone.now())
    assert researcher.post("/versions/v1/export/", {"what": "xml"}).status_code == 422
    assert not Job.objects.filter(task="console.tasks.export").exists()
    answer = researcher.post("/versions/v1/export/", {"what": "qrels_graded"})
    job = Job.objects.get(task="console.tasks.export")
    assert answer.url == f"/jobs/{job.pk}/?follow=yes"
    assert member.get("/versions/v1/downloads/qrels_graded.zip").status_code == 404
    export(str(job.pk))
    (made,) = member.get("/versions/v1/files/").context["downloads"]
    job.refresh_from_db()
    assert job.message == f"v1_qrels_graded.zip is ready to download. SHA-256 {made.sha256}."
    assert outcome_of(job).url == "/versions/v1/files/#qrels_graded"
    served = member.get("/versions/v1/downloads/qrels_graded.zip")
    assert hashlib.sha256(b"".join(served.streaming_content)).hexdigest() == made.sha256
    assert served["Content-Disposition"] == 'attachment; filename="v1_qrels_graded.zip"'
    Job.objects.update(state="queued")
    export(str(job.pk))  # delivered twice
    assert member.get("/versions/v1/files/").context["downloads"] == [made]


@pytest.fixture
def second(site):
    """A stricter version of the same round."""
    first = site.version
    release = {"collection": first.collection, "sample": first.sample, "rounds": list(first.rounds.all())}
    return release_version("v2", positive_levels=(4,), partial=True, **release)


def test_a_version_is_verified_by_one_job_and_shows_the_outcome(member, researcher, site):
    assert "not yet on this site" in member.get("/versions/v1/files/").text
    for _ in range(2):
        researcher.post("/versions/v1/verify/")
    job = Job.objects.get(task=verify.name)
    write_file("versions/v1/pairs.csv", b"changed")
    verify(str(job.pk))
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert "versions/v1/pairs.csv" in job.message
    assert "<strong>failed</strong>" in member.get("/versions/v1/files/").text


def test_changes_are_listed_with_their_cause_and_the_other_way_round_when_asked(researcher, site, second, monkeypatch):
    answer = researcher.get("/versions/v2/changes/")
    assert answer.context["before"] == site.version
    assert answer.context["total"] == sum(count for _, count in answer.context["causes"]) > 0
    assert "threshold" in answer.content.decode()
    assert researcher.get("/versions/v1/changes/?since=v2").context["before"] == second
    assert researcher.get("/versions/v1/changes/?since=v9").status_code == 404
    monkeypatch.setattr("console.versions.views.LARGEST_COMPARED", 10)
    assert "Run diff v1 v2" in researcher.get("/versions/v2/changes/").content.decode()
