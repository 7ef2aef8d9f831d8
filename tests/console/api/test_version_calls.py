"""Versions by the API: the figures of pages and commands, and their files as they were released."""

import hashlib
from shutil import rmtree

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from core.files.stored_files import write_file
from core.models import Job
from dataset.exports.downloads import make_download
from dataset.jobs import release as release_job
from hits.models import Round
from tests.console.api.calls import Caller, caller_of, check_refused, problem
from tests.dataset.releasing import read, release_version

FILES = "/versions/v1/files"


@pytest.fixture
def caller(site) -> Caller:
    """A program of a reviewer."""
    return caller_of("reviewer", "dataset:read")


@pytest.fixture
def releaser(site) -> Caller:
    return caller_of("admin")


def content_of(response) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_the_versions_are_listed_the_newest_first_with_the_counts_of_their_manifests(caller, site):
    done = Round.objects.get(name="done")
    release_version("v2", collection=site.collection, sample=done.pool.sample, rounds=[done])
    first = caller.get("/versions?limit=1").json()
    second = caller.get(f"/versions?limit=1&after={first['next']}").json()
    assert [one["name"] for part in (first, second) for one in part["results"]] == ["v2", "v1"]
    assert second["next"] is None
    assert second["results"][0]["counts"] == site.version.manifest["counts"]
    assert second["results"][0]["rounds"] == ["done"]


def test_a_version_lists_its_files_and_their_addresses_lead_to_them(caller, site):
    files = caller.get("/versions/v1").json()["files"]
    described = site.version.manifest["files"]
    assert {one["path"]: (one["sha256"], one["size"]) for one in files} == {
        path: (file["sha256"], file["bytes"]) for path, file in described.items()
    }
    assert caller.get(files[0]["url"].removeprefix("/api/v1")).status_code == 200


def test_a_version_names_its_authors_but_not_the_contact(releaser, site):
    done = Round.objects.get(name="done")
    about = {"title": "Zoo", "authors": "Ada <0000-0001-5000-0007>", "url": "10.5281/zenodo.7", "contact": "a@b.org"}
    body = {"version": "v2", "collection": site.collection.name, "queries": done.pool.sample.name, "rounds": ["done"]}
    job = releaser.post("/versions", body | about).json()
    release_job(job["id"])
    answer = releaser.get("/versions/v2")
    assert answer.json()["authors"] == [{"name": "Ada", "orcid": "0000-0001-5000-0007"}]
    assert answer.json()["doi_or_url"] == "https://doi.org/10.5281/zenodo.7"
    assert "a@b.org" not in answer.content.decode()


@pytest.mark.parametrize("path", ["pairs.csv", "v1_image_to_caption.json", "manifest.json"])
def test_a_file_is_sent_as_it_was_released_with_its_checksum(caller, site, path):
    response = caller.get(f"{FILES}/{path}")
    content = content_of(response)
    assert content.decode() == read(site.version, path)
    assert response["ETag"] == f'"{hashlib.sha256(content).hexdigest()}"'
    assert response["Content-Length"] == str(len(content))


def test_a_file_that_the_caller_has_is_not_sent_again(caller):
    etag = caller.get(f"{FILES}/pairs.csv")["ETag"]
    response = caller.get(f"{FILES}/pairs.csv", HTTP_IF_NONE_MATCH=etag)
    assert (response.status_code, response.content, response["ETag"]) == (304, b"", etag)
    assert caller.get(f"{FILES}/gallery.csv", HTTP_IF_NONE_MATCH=etag).status_code == 200


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ("bytes=0-9", slice(0, 10)),
        ("bytes=10-", slice(10, None)),
        ("bytes=-7", slice(-7, None)),
        ("bytes=5-99999", slice(5, None)),
    ],
)
def test_a_part_of_a_file_is_sent(caller, site, asked, part):
    whole = read(site.version, "pairs.csv").encode()
    response = caller.get(f"{FILES}/pairs.csv", HTTP_RANGE=asked)
    content = content_of(response)
    assert (response.status_code, content) == (206, whole[part])
    start = range(len(whole))[part].start
    assert response["Content-Range"] == f"bytes {start}-{start + len(content) - 1}/{len(whole)}"
    assert response["Content-Length"] == str(len(content))


@pytest.mark.parametrize("asked", ["bytes=0-1,4-5", "bytes=9-3", "bytes=-", "lines=1-2", "bytes=a-b"])
def test_several_or_invalid_ranges_are_answered_with_the_whole_file(caller, site, asked):
    response = caller.get(f"{FILES}/pairs.csv", HTTP_RANGE=asked)
    assert (response.status_code, content_of(response).decode()) == (200, read(site.version, "pairs.csv"))


@pytest.mark.parametrize("asked", ["bytes=99999-", "bytes=-0"])
def test_a_range_beyond_the_end_is_refused_with_the_size(caller, site, asked):
    response = caller.get(f"{FILES}/pairs.csv", HTTP_RANGE=asked)
    assert response.status_code == 416
    assert response["Content-Range"] == f"bytes */{len(read(site.version, 'pairs.csv'))}"
    assert "bytes" in problem(response)


def test_a_part_of_another_file_than_the_callers_is_the_whole_file(caller):
    etag = caller.get(f"{FILES}/pairs.csv")["ETag"]
    asked = {"HTTP_RANGE": "bytes=0-9", "HTTP_IF_RANGE": etag}
    assert caller.get(f"{FILES}/pairs.csv", **asked).status_code == 206
    assert caller.get(f"{FILES}/gallery.csv", **asked).status_code == 200


def test_the_head_of_a_file_has_its_size_and_checksum(caller, site):
    response = caller.head(f"{FILES}/pairs.csv")
    assert (response.status_code, response.content) == (200, b"")
    described = site.version.manifest["files"]["pairs.csv"]
    assert response["Content-Length"] == str(described["bytes"])
    assert response["ETag"] == f'"{described["sha256"]}"'


@pytest.mark.parametrize("path", ["secret.txt", "../../secret.txt", "..%2f..%2fsecret.txt", "/etc/passwd", "v2.json"])
def test_only_files_of_the_manifest_can_be_fetched(caller, site, path):
    default_storage.save("versions/v1/secret.txt", ContentFile(b"hidden"))
    assert caller.get(f"{FILES}/{path}").status_code == 404


def test_a_file_that_was_changed_after_the_release_is_not_sent_and_its_place_is_secret(caller, site):
    rmtree(settings.FILE_CACHE, ignore_errors=True)
    write_file(f"{site.version.folder}/gallery.csv", b"changed")
    response = caller.get(f"{FILES}/gallery.csv")
    assert response.status_code == 404
    assert "gallery.csv" in problem(response)
    assert site.version.folder not in problem(response)


def test_judgments_are_sent_once_the_rounds_of_a_version_are_closed(caller, site):
    response = caller.get(f"{FILES}/judgments.csv")
    assert response.status_code == 409
    assert problem(response) == (
        "Files with judgments are not sent until these rounds are closed, as their controls are secret: done."
    )
    Round.objects.filter(name="done").update(closed_at=timezone.now())
    assert content_of(caller.get(f"{FILES}/judgments.csv")).decode() == read(site.version, "judgments.csv")


def test_a_name_that_is_taken_is_refused(releaser, site):
    done = Round.objects.get(name="done")
    body = {"version": "v1", "collection": site.collection.name, "queries": done.pool.sample.name, "rounds": ["done"]}
    assert releaser.post("/versions", body).status_code == 409
    assert releaser.post("/versions", body | {"version": "v2"}).status_code == 202
    response = releaser.post("/versions", body | {"version": "v2", "positive_levels": [1]})
    assert (response.status_code, problem(response)) == (
        409,
        "A version v2 is being released already. Choose another name.",
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rounds": ["open"]}, "Round open is unfinished"),
        ({"rounds": ["none"]}, "round 'none'"),
        ({"exclude_captions": "/etc/passwd"}, "a call cannot set it"),
        ({"positive_levels": [5]}, "Invalid positive levels"),
    ],
)
def test_a_release_that_would_fail_is_refused_before_it_begins(releaser, site, change, message):
    sample = Round.objects.get(name="done").pool.sample.name
    body = {"version": "v2", "collection": site.collection.name, "queries": sample, "rounds": ["done"]}
    check_refused(releaser.post("/versions", body | change), 422, message)
    assert not Job.objects.exists()


def test_a_download_is_made_by_a_job_and_then_sent(site):
    caller = caller_of("researcher")
    job = caller.post("/versions/v1/exports", {"what": "eccv-json_strict"})
    assert (job.status_code, job.json()["title"]) == (202, "Export v1 as eccv-json_strict")
    assert caller.get("/versions/v1/exports").json() == {"results": []}
    made = make_download(site.version, "eccv-json_strict")
    (line,) = caller.get("/versions/v1/exports").json()["results"]
    response = caller.get(line["url"].removeprefix("/api/v1"))
    assert hashlib.sha256(content_of(response)).hexdigest() == line["sha256"] == made.sha256
    assert response["ETag"] == f'"{made.sha256}"'
    assert response["Content-Disposition"] == 'attachment; filename="v1_eccv-json_strict.zip"'


def test_a_version_has_its_last_verification(site):
    caller = caller_of("researcher")
    job = caller.post("/versions/v1/verifications")
    assert job.status_code == 202
    assert caller.get("/versions/v1").json()["verification"] is None
    Job.objects.update(state="done", message="rebuilt", finished_at=timezone.now())
    assert caller.get("/versions/v1").json()["verification"]["message"] == "rebuilt"
