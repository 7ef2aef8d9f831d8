"""Versions: what they hold, their files, releasing, downloads and verification."""

from typing import Annotated, Any

from django.http import Http404
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Query, Schema
from pydantic import WithJsonSchema

from console.api.bearer import ApiRequest
from console.api.file_answers import missing_as_404, send_file
from console.api.keysets import Place, part_of
from console.api.operations import Resources
from console.api.problems import Problem
from console.home.resources import JobAnswer
from console.permissions import researchers_only
from console.versions.schemas import VERSIONS, VersionAnswer, VersionLine, describe_version, line_of
from core.errors import CounterpartError
from core.files.stored_files import local_copy
from core.models import Job
from dataset.exports.downloads import Download, check_download, choices, downloads_of
from dataset.jobs import start_export, start_release
from dataset.models import Version
from dataset.releases.release import check_release
from dataset.releases.release_parameters import ReleaseParameters
from dataset.secret_controls import check_file
from dataset.versions.version_files import MANIFEST, checked_file, checksum_of
from evaluation.jobs import start_verification

resources = Resources("Versions")


class ExportBody(Schema, extra="forbid"):
    """What to download: a format, and its labels or ``pictures`` where it takes some."""

    what: Annotated[str, WithJsonSchema({"type": "string", "enum": list(choices())})]


class ExportLine(Schema):
    """A download that was made: an archive (zip) of a version's files in a format."""

    what: str
    url: str
    sha256: str


class Exports(Schema):
    """The downloads of a version that were made."""

    results: list[ExportLine]


@resources.lists("/versions", "dataset:read", VersionLine, "A part of the list of versions, the newest first.")
def versions(request: ApiRequest, place: Query[Place]) -> dict[str, Any]:
    """List the versions, the newest first."""
    part = part_of(VERSIONS.all(), place, key="name", newest="released_at")
    return part | {"results": [line_of(one) for one in part["results"]]}


@resources.reads("/versions/{name}", "dataset:read", VersionAnswer, url_name="version")
def version(request: ApiRequest, name: str) -> dict[str, Any]:
    """Return the contents of a version, who made it, and its files."""
    return describe_version(get_object_or_404(VERSIONS, name=name))


@resources.sends("/versions/{name}/files/{path:file_name}", "dataset:read", url_name="version_file")
def version_file(request: ApiRequest, name: str, file_name: str) -> HttpResponseBase:
    """Send a file of a version, or its manifest.json, as it was released.

    The judgments of a version with a round that is not closed are refused: they reveal which pairs are controls.
    """
    found = get_object_or_404(Version, name=name)
    if file_name != MANIFEST and file_name not in found.manifest.get("files", {}):
        raise Http404
    check_file(found, file_name, request.user)
    with missing_as_404(file_name):
        return send_file(request, checked_file(found, file_name), sha256=checksum_of(found, file_name), name=file_name)


@resources.acts("/versions", "dataset:release", JobAnswer)
def release_version(request: ApiRequest, body: ReleaseParameters) -> Job:
    """Release a version: a job counts the votes of the rounds again, merges the sources, and writes the files. A
    version never changes afterwards."""
    if Version.objects.filter(name=body.version).exists():
        raise Problem(409, f"Version {body.version} exists already and never changes. Choose another name.")
    check_release(body)
    try:
        return start_release(body, by=request.user)
    except CounterpartError as error:
        raise Problem(409, str(error)) from error


@resources.reads("/versions/{name}/exports", "dataset:read", Exports)
def version_exports(request: ApiRequest, name: str) -> dict[str, Any]:
    """List the downloads of a version that were made."""
    made = downloads_of(get_object_or_404(Version, name=name))
    return {"results": [_export(one) for one in made]}


@resources.acts("/versions/{name}/exports", "dataset:read", JobAnswer, guard=researchers_only)
def export_version(request: ApiRequest, name: str, body: ExportBody) -> Job:
    """Make a download of a version in another format. Once the job is done, it is among the exports."""
    return start_export(get_object_or_404(Version, name=name), body.what, by=request.user)


@resources.sends("/versions/{name}/exports/{what}", "dataset:read", url_name="version_export")
def version_export(request: ApiRequest, name: str, what: str) -> HttpResponseBase:
    """Send a download that was made, a zip archive.

    Those with judgments are refused while a round of the version is not closed: they reveal which pairs are controls.
    """
    found = get_object_or_404(Version, name=name)
    made = next((one for one in downloads_of(found) if one.what == what), None)
    if made is None:
        raise Http404
    check_download(found, what, request.user)
    with missing_as_404(made.file_name):
        return send_file(request, local_copy(made.stored), sha256=made.sha256, name=made.file_name)


@resources.acts("/versions/{name}/verifications", "dataset:read", JobAnswer, guard=researchers_only)
def verify_version(request: ApiRequest, name: str) -> Job:
    """Rebuild a version from its judgments and compare everything with what was released. Problems fail the job; its
    message names them."""
    return start_verification(get_object_or_404(Version, name=name), by=request.user)


def _export(made: Download) -> dict[str, str]:
    url = reverse("api:version_export", args=[made.version, made.what])
    return {"what": made.what, "url": url, "sha256": made.sha256}
