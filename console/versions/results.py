"""The public page of a version, and how an admin publishes and withdraws it.

The page needs no login, no session and no script. It names no worker, no pay and no control, and serves no file.
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import FileResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from console.kept_figures import kept_if_slow
from console.permissions import StaffRequest, View, releasers_only
from console.refusals import refusals_in
from console.versions.forms import PublishForm
from core.errors import CounterpartError
from core.web.throttles import Throttle
from corpus.pictures.thumbnails import thumbnail
from dataset.exports import statements
from dataset.exports.citing import bibtex_of, citation_of
from dataset.models import Publication, Version
from dataset.publications import examples_of, publish, withdraw
from dataset.releases.credits import authors_of, credits_of, title_of
from evaluation.scores.leaderboard import board_of, caution_of
from hits.question import Level

VISITS = Throttle("RESULTS_PER_HOUR")
PICTURE_SIZE = 320
KEPT_SECONDS = 300
"""How long browsers and proxies may keep the page, also after it was withdrawn."""


def public(view: Callable[..., HttpResponseBase]) -> View:
    """Serve a view of a published version to anybody; 404 for every other one. No search engine lists it."""

    @require_safe
    @wraps(view)
    def page(request: HttpRequest, name: str, **kwargs: Any) -> HttpResponseBase:
        related = ("version__collection", "version__sample")
        found = get_object_or_404(Publication.objects.select_related(*related), version__name=name)
        response = view(request, found, **kwargs)
        response["X-Robots-Tag"] = "noindex"
        if response.status_code == 200:
            patch_cache_control(response, public=True, max_age=KEPT_SECONDS)
        return response

    return page


@public
def result(request: HttpRequest, publication: Publication) -> HttpResponse:
    """Leaderboard, examples, card and citation of a version."""
    version = publication.version
    if not VISITS.admits(request, version.pk):
        return render(request, "console/versions/result_busy.html", status=429)
    counts = version.manifest["counts"]
    by_level = {Level(int(level)): pairs for level, pairs in counts.get("judged_by_level", {}).items()}
    context = {
        "version": version,
        "publication": publication,
        "title": title_of(version),
        "credits": credits_of(version),
        "authors": authors_of(version),
        "licence": version.manifest.get("licence", ""),
        "citation": citation_of(version) or bibtex_of(version, url=request.build_absolute_uri(request.path)),
        "simulated": statements.simulated_votes(version) if counts["simulated_votes"] else "",
        "sources": version.manifest["sources"],
        "facts": statements.facts(version),
        "levels": by_level.items(),
        "judged": sum(by_level.values()),
        "board": kept_if_slow(f"result-board:{version.pk}", partial(board_of, version)).figures,
        "caution": caution_of(version),
        "examples": examples_of(version),
        "card": _card(publication),
        "annotators": list(statements.annotators(version)),
        "files": version.manifest.get("files", {}),
    }
    return render(request, "console/versions/result.html", context)


@public
def result_picture(request: HttpRequest, publication: Publication, image_id: int) -> FileResponse:
    """Send a picture of the examples, small and without its metadata."""
    shown = {match.image_id: match.image for match in examples_of(publication.version)}
    if not publication.picture_terms or image_id not in shown:
        raise Http404("The page shows no such picture.")
    try:
        return FileResponse(thumbnail(shown[image_id], PICTURE_SIZE).open("rb"), content_type="image/jpeg")
    except CounterpartError as error:
        raise Http404(str(error)) from error


@releasers_only.fills
def version_publish(request: StaffRequest, name: str) -> HttpResponse:
    """Confirm what becomes public, then publish the page or change what it says of its pictures."""
    found = get_object_or_404(Version.objects.select_related("collection"), name=name)
    known = Publication.objects.filter(version=found).first()
    form = PublishForm(request.POST or None, initial={"picture_terms": known.picture_terms if known else ""})
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            publish(found, picture_terms=form.cleaned_data["picture_terms"], by=request.user)
            messages.success(request, "The page is public. Anybody with the link can read it.")
            return redirect("version_publish", name)
    context = {"version": found, "form": form, "publication": known, "examples": examples_of(found)}
    context["address"] = request.build_absolute_uri(reverse("result", args=[name]))
    return render(request, "console/versions/publish.html", context, status=422 if form.errors else 200)


@releasers_only.acts
def version_withdraw(request: StaffRequest, name: str) -> HttpResponse:
    """Take the public page back."""
    if withdraw(get_object_or_404(Version, name=name), by=request.user):
        messages.success(request, "The page is withdrawn. Its link does not work until you publish it again.")
    return redirect("version", name)


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
