"""Released versions: the tabs of one, the changes since another, and its files."""

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse

from console.permissions import members_only
from console.places import show
from console.refusals import refusals_as_404
from console.trust.trust_figures import stored_trust
from console.versions.release_outlook import pictured
from console.versions.schemas import VersionAnswer, describe_version
from console.versions.story import story_of
from core.errors import CounterpartError
from core.files.stored_files import local_copy
from dataset.exports.downloads import check_download, downloads_of
from dataset.exports.statements import mixed_tasks_of
from dataset.models import Version
from dataset.secret_controls import check_file, refuse_secret_pairs
from dataset.versions.changes import Cause, changes_between, count_causes
from dataset.versions.version_files import checked_file
from evaluation.scores.leaderboard import caution_of
from evaluation.scores.score_checks import score_changes, score_table

CHANGES_SHOWN = 200
LARGEST_COMPARED = 50_000_000  # bytes of both versions: what a page can read in a few seconds


def version_or_404(name: str) -> Version:
    related = ("collection", "sample", "released_by", "publication")
    return get_object_or_404(Version.objects.select_related(*related), name=name)


@members_only.reads("versions/<slug:name>/")
def version(request: HttpRequest, name: str) -> HttpResponse:
    """The contents of a version: the text of its public page, and the pairs behind it."""
    found = version_or_404(name)
    address = request.build_absolute_uri(reverse("result", args=[name]))
    context = {"address": address, "mixed_tasks": mixed_tasks_of(found)}
    return show(request, "console/versions/version.html", found, context | story_of(found, address))


@members_only.reads("versions/<slug:name>/trust/")
def version_trust(request: HttpRequest, name: str) -> HttpResponse:
    """How good a version is: the scores on it, its label errors, its completeness and its bias."""
    found = version_or_404(name)
    context = {"figures": stored_trust(found), "caution": caution_of(found), **story_of(found, "")}
    return show(request, "console/versions/version_trust.html", found, context)


@members_only.reads("versions/<slug:name>/changes/")
def version_changes(request: HttpRequest, name: str) -> HttpResponse:
    """Show what changed since the version ``?since=``, by default the one released before on the same collection."""
    found = version_or_404(name)
    others = Version.objects.filter(collection=found.collection).exclude(pk=found.pk)
    since = request.GET.get("since")
    earlier = others.filter(released_at__lt=found.released_at).first() or others.first()
    before = get_object_or_404(others, name=since) if since else earlier
    context: dict[str, object] = {"others": others, "before": before, "at_most": CHANGES_SHOWN}
    try:
        for one in filter(None, (before, found)):
            refuse_secret_pairs(one, request.user)
        context |= _comparison(before, found) if before else {}
    except CounterpartError as error:
        context["trouble"] = str(error)
    return show(request, "console/versions/changes.html", found, context)


def _comparison(before: Version, after: Version) -> dict[str, object]:
    size = sum(file["bytes"] for version in (before, after) for file in version.manifest["files"].values())
    if size > LARGEST_COMPARED:
        raise CounterpartError(f"These versions are too large for a page. Run diff {before} {after}.")
    changes = list(changes_between(before, after))
    return {
        "total": len(changes),
        "causes": [(Cause(name), count) for name, count in count_causes(changes).items()],
        "lines": pictured(after.collection, {(one.image, one.caption): one for one in changes[:CHANGES_SHOWN]}),
        "scores": score_table(score_changes(before, after)),
    }


@members_only.reads("versions/<slug:name>/files/")
def version_files(request: HttpRequest, name: str) -> HttpResponse:
    """The files of a version, its exports, and how it was made."""
    found = version_or_404(name)
    context = {
        "answer": VersionAnswer.model_validate(describe_version(found)),
        "downloads": downloads_of(found),
        "rounds": found.rounds.all(),
    }
    return show(request, "console/versions/version_files.html", found, context)


@members_only.reads("versions/<slug:name>/files/<str:file_name>")
def version_file(request: HttpRequest, name: str, file_name: str) -> FileResponse:
    """Download a file of the manifest, or the manifest itself, as it was released: a changed file is not served."""
    found = version_or_404(name)
    check_file(found, file_name, request.user)
    with refusals_as_404():
        content = checked_file(found, file_name).open("rb")
    return FileResponse(content, as_attachment=True, filename=file_name)


@members_only.reads("versions/<slug:name>/downloads/<str:what>.zip")
def version_download(request: HttpRequest, name: str, what: str) -> FileResponse:
    """Download an export that a job has made: a changed file is not served."""
    found = version_or_404(name)
    made = next((download for download in downloads_of(found) if download.what == what), None)
    if made is None:
        raise Http404(f"Version {found} has no export {what}. Start it first.")
    check_download(found, what, request.user)
    with refusals_as_404():
        content = local_copy(made.stored).open("rb")
    return FileResponse(content, as_attachment=True, filename=made.file_name)
