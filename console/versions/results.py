"""The public page of a version: its story, its pictures and the files that its publisher offers.

The page needs no login, no session and no script. It names no worker, no pay and no control.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import FileResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from console.permissions import View, page
from console.refusals import refusals_as_404
from console.versions.story import described_for_programs, story_of, summary_of
from core.web.throttles import Throttle
from corpus.pictures.thumbnails import thumbnail
from dataset.exports import statements
from dataset.models import Publication
from dataset.publications import examples_of, public_files
from dataset.versions.version_files import checked_file
from evaluation.scores.leaderboard import caution_of

VISITS = Throttle("RESULTS_PER_HOUR")
PICTURE_SIZE = 320
KEPT_SECONDS = 300
"""How long browsers and proxies may keep the page, also after it was withdrawn."""


def public(view: Callable[..., HttpResponseBase]) -> View:
    """Serve a view of a published version to anybody; 404 for every other one. No search engine lists it."""

    @require_safe
    @wraps(view)
    def shown(request: HttpRequest, name: str, **kwargs: Any) -> HttpResponseBase:
        related = ("version__collection", "version__sample")
        found = get_object_or_404(Publication.objects.select_related(*related), version__name=name)
        response = view(request, found, **kwargs)
        response["X-Robots-Tag"] = "noindex"
        if response.status_code == 200:
            patch_cache_control(response, public=True, max_age=KEPT_SECONDS)
        return response

    return shown


@page("results/<slug:name>/")
@public
def result(request: HttpRequest, publication: Publication) -> HttpResponse:
    """The story of a version, its leaderboard and its card."""
    version = publication.version
    if not VISITS.admits(request, version.pk):
        return render(request, "console/versions/result_busy.html", status=429)

    def full(page: str, *arguments: object) -> str:
        return request.build_absolute_uri(reverse(page, args=[version.name, *arguments]))

    address = full("result")
    story = story_of(version, address)
    files = {name: full("result_file", name) for name in public_files(publication)}
    shown = story["examples"] if publication.picture_terms else []
    picture = next((full("result_picture", one.image_id) for one in shown if one.image.file), "")
    context = story | {
        "publication": publication,
        "address": address,
        "picture": picture,
        "summary": summary_of(version),
        "for_programs": described_for_programs(story, address, files, picture),
        "caution": caution_of(version),
        "card": _card(publication),
        "annotators": list(statements.annotators(version)),
        "files": [(name, files.get(name, ""), file) for name, file in version.manifest.get("files", {}).items()],
    }
    return render(request, "console/versions/result.html", context)


@page("results/<slug:name>/pictures/<int:image_id>.jpg")
@public
def result_picture(request: HttpRequest, publication: Publication, image_id: int) -> FileResponse:
    """Send a picture of the examples, small and without its metadata."""
    examples = examples_of(publication.version)
    shown = {image.pk: image for one in examples for image in (one.image, one.caption.image)}
    if not publication.picture_terms or image_id not in shown:
        raise Http404("The page shows no such picture.")
    with refusals_as_404():
        return FileResponse(thumbnail(shown[image_id], PICTURE_SIZE).open("rb"), content_type="image/jpeg")


@page("results/<slug:name>/files/<str:file_name>")
@public
def result_file(request: HttpRequest, publication: Publication, file_name: str) -> HttpResponseBase:
    """Send a file that the page offers, as it was released."""
    if file_name not in public_files(publication):
        raise Http404("The page offers no such file.")
    if not VISITS.admits(request, publication.version_id):
        return render(request, "console/versions/result_busy.html", status=429)
    with refusals_as_404():
        content = checked_file(publication.version, file_name).open("rb")
    return FileResponse(content, as_attachment=True, filename=file_name)


def _card(publication: Publication) -> dict[str, list[str]]:
    """Return the sections of the version's card without pay and without single workers; empty ones are left out."""
    version = publication.version
    agreement = [publication.agreement] if publication.agreement else []
    sections = {
        "Labels": statements.labels(),
        "Who judged": list(statements.workers(version)),
        "Agreement and certainty": [*agreement, *statements.certainty(version)],
        "Known biases": list(statements.biases(version)),
        "Limits": list(statements.limits(version)),
    }
    return {title: lines for title, lines in sections.items() if lines}
