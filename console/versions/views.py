"""Released versions: the list, a version's figures and files, and releasing."""

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render

from console.pagination import page_of
from console.permissions import StaffRequest, members_only, researchers_only
from console.refusals import refusals_as_404
from console.rounds.figures import level_bar
from console.versions.forms import ExportForm
from console.versions.schemas import VersionAnswer, describe_version
from core.errors import CounterpartError
from core.files.stored_files import local_copy
from dataset.exports.downloads import check_download, downloads_of
from dataset.exports.statements import mixed_tasks_of
from dataset.jobs import start_export
from dataset.models import Version
from dataset.secret_controls import check_file, refuse_secret_pairs
from dataset.versions.changes import Cause, changes_between, count_causes
from dataset.versions.version_files import checked_file
from evaluation.jobs import start_scoring_annotators, start_verification
from evaluation.scores.leaderboard import board_of
from evaluation.scores.score_checks import score_changes, score_table
from hits.question import Level

CHANGES_SHOWN = 200
LARGEST_COMPARED = 50_000_000  # bytes of both versions: what a page can read in a few seconds


@members_only.reads
def versions(request: HttpRequest) -> HttpResponse:
    rows = Version.objects.select_related("collection", "sample", "released_by")
    return render(request, "console/versions/versions.html", {"rows": page_of(request, rows), "things": "versions"})


@members_only.reads
def version(request: HttpRequest, name: str) -> HttpResponse:
    found = get_object_or_404(
        Version.objects.select_related("collection", "sample", "released_by", "publication"), name=name
    )
    by_level = found.manifest["counts"].get("judged_by_level", {})
    context = {
        "version": found,
        "answer": VersionAnswer.model_validate(describe_version(found)),
        "sources": found.manifest["sources"],
        "files": found.manifest.get("files", {}),
        "rounds": found.rounds.all(),
        "board": board_of(found),
        "export": ExportForm(),
        "downloads": downloads_of(found),
        "mixed_tasks": mixed_tasks_of(found),
        "levels": level_bar({int(level): n for level, n in by_level.items()}, {one.value: one.brief for one in Level}),
        "others": Version.objects.filter(collection=found.collection).exclude(pk=found.pk),
    }
    return render(request, "console/versions/version.html", context)


@researchers_only.acts
def version_verify(request: StaffRequest, name: str) -> HttpResponse:
    """Start a job that rebuilds the version from its judgments."""
    return redirect("job", start_verification(get_object_or_404(Version, name=name), by=request.user).pk)


@researchers_only.acts
def version_score(request: StaffRequest, name: str) -> HttpResponse:
    """Start a job that scores the annotators of the version's rounds on it."""
    found = get_object_or_404(Version.objects.select_related("collection"), name=name)
    return redirect("job", start_scoring_annotators(found, by=request.user).pk)


@members_only.reads
def version_changes(request: HttpRequest, name: str) -> HttpResponse:
    """Show what changed since the version ``?since=``, by default the one released before on the same collection."""
    found = get_object_or_404(Version.objects.select_related("collection"), name=name)
    others = Version.objects.filter(collection=found.collection).exclude(pk=found.pk)
    since = request.GET.get("since")
    earlier = others.filter(released_at__lt=found.released_at).first() or others.first()
    before = get_object_or_404(others, name=since) if since else earlier
    context: dict[str, object] = {"version": found, "others": others, "before": before, "at_most": CHANGES_SHOWN}
    try:
        for version in filter(None, (before, found)):
            refuse_secret_pairs(version, request.user)
        context |= _comparison(before, found) if before else {}
    except CounterpartError as error:
        context["trouble"] = str(error)
    return render(request, "console/versions/changes.html", context)


def _comparison(before: Version, after: Version) -> dict[str, object]:
    size = sum(file["bytes"] for version in (before, after) for file in version.manifest["files"].values())
    if size > LARGEST_COMPARED:
        raise CounterpartError(f"These versions are too large for a page. Run diff {before} {after}.")
    changes = list(changes_between(before, after))
    shown = changes[:CHANGES_SHOWN]
    pictured = after.collection.images.filter(key__in={one.image for one in shown})
    images = {image.key: image for image in pictured}
    captions = after.collection.captions.filter(key__in={one.caption for one in shown})
    by_key = {caption.key: caption for caption in captions}
    return {
        "total": len(changes),
        "causes": [(Cause(name), count) for name, count in count_causes(changes).items()],
        "lines": [(change, images.get(change.image), by_key.get(change.caption)) for change in shown],
        "scores": score_table(score_changes(before, after)),
    }


@members_only.reads
def version_file(request: HttpRequest, name: str, file_name: str) -> FileResponse:
    """Download a file of the manifest, or the manifest itself, as it was released: a changed file is not served."""
    found = get_object_or_404(Version, name=name)
    check_file(found, file_name, request.user)
    with refusals_as_404():
        content = checked_file(found, file_name).open("rb")
    return FileResponse(content, as_attachment=True, filename=file_name)


@researchers_only.acts
def version_export(request: StaffRequest, name: str) -> HttpResponse:
    """Start a job that makes a download."""
    found = get_object_or_404(Version, name=name)
    form = ExportForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest("Unknown export. Choose one of the list.")
    return redirect("job", start_export(found, form.cleaned_data["what"], by=request.user).pk)


@members_only.reads
def version_download(request: HttpRequest, name: str, what: str) -> FileResponse:
    """Download an export that a job has made: a changed file is not served."""
    found = get_object_or_404(Version, name=name)
    made = next((download for download in downloads_of(found) if download.what == what), None)
    if made is None:
        raise Http404(f"Version {found} has no export {what}. Start it first.")
    check_download(found, what, request.user)
    with refusals_as_404():
        content = local_copy(made.stored).open("rb")
    return FileResponse(content, as_attachment=True, filename=made.file_name)
