"""Releasing a version: first how to cite it and what counts, then what it would hold, which is released for good."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.work.judgments import votes_in
from console.permissions import StaffRequest, members_only, releasers_only, stewards_only
from console.places import follow
from console.refusals import refusals_in
from console.versions.release_form import ReleaseForm, proposed
from console.versions.release_outlook import choices_of, effect_of, flips_of, pictured
from core import clock
from core.text import counted
from dataset.exports.citing import bibtex_of, citation_of
from dataset.jobs import start_release
from dataset.models import Case, Version
from dataset.reviews.conflicts import conflicts_of, preview, previews, send_to_review
from dataset.secret_controls import refuse_secret_pairs

FLIPS = 12
CONFLICTS = 48
"""Pairs that the page shows."""


@members_only.fills("release/")
def release(request: StaffRequest) -> HttpResponse:
    """Ask how to cite a version and what counts (``?rounds=`` and ``?sample=`` suggest it); show with ``?step=count``
    what it would hold, which all members may read. A POST of that page's ``query`` and a ``choice`` of policies starts
    the job that counts the votes and releases it."""
    sent = _sent(request)
    is_looking = request.method == "GET" and "step" in sent
    if not is_looking and not releasers_only.may(request.user):
        raise PermissionDenied
    if request.method == "GET" and not is_looking:
        known = proposed(sent.getlist("rounds"), sent.get("queries") or sent.get("sample") or "")
        many = ("rounds", "positive_levels")
        typed = {name: sent.getlist(name) if name in many else sent[name] for name in sent}
        return render(
            request, "console/versions/release.html", {"form": ReleaseForm(initial=known | typed, request=request)}
        )
    form = ReleaseForm(sent, request=request)
    if form.is_valid():
        with refusals_in(form, None if is_looking else "version"):
            if is_looking:
                refuse_secret_pairs(form.cleaned_data["queries"].collection, request.user)
                return render(request, "console/versions/release_count.html", _contents_of(form, sent))
            offered = {one.label: one.parameters for one in choices_of(form.parameters)}
            chosen = offered.get(request.POST.get("choice", ""), form.parameters)
            return follow(start_release(chosen, by=request.user))
    return render(request, "console/versions/release.html", {"form": form}, status=422)


@stewards_only.acts("conflicts/send/")
def conflicts_send(request: StaffRequest) -> HttpResponse:
    """Put the conflicts of the release that ``query`` describes into the reviewers' queue."""
    form = ReleaseForm(_sent(request), request=request)
    if not form.is_valid():
        messages.error(request, "No release has these fields. Open its page again.")
        return redirect("inbox")
    queries, rounds = form.cleaned_data["queries"], list(form.cleaned_data["rounds"])
    found = conflicts_of(preview(queries, rounds=rounds, policies=form.parameters.policies()))
    sent = send_to_review(queries.collection, found)
    messages.success(request, f"{counted(sent, 'conflict')} sent to review; the others were there or are settled.")
    return redirect(reverse("queue", args=[queries.collection.name]) + "?reason=conflict")


def _sent(request: HttpRequest) -> QueryDict:
    """Return the fields of a release: of the page's address, which a button sends as ``query``."""
    return QueryDict(request.POST.get("query", "")) if request.method == "POST" else request.GET


def _contents_of(form: ReleaseForm, sent: QueryDict) -> dict[str, Any]:
    """Return what the version would hold, to be checked before it is released for good."""
    typed = form.parameters
    sample = form.cleaned_data["queries"]
    rounds = list(form.cleaned_data["rounds"])
    choices = choices_of(typed)
    contents = previews(sample, rounds=rounds, policies=[one.parameters.policies() for one in choices])
    flips = flips_of(dict(zip((one.label for one in choices), contents, strict=True)))
    conflicts = conflicts_of(contents[0])
    draft = Version(name=typed.version, manifest={"credits": typed.in_manifest()}, released_at=clock.now())
    back = sent.copy()
    del back["step"]
    votes = votes_in(*rounds)
    return {
        "typed": typed,
        "collection": sample.collection,
        "effects": list(map(effect_of, choices, contents)),
        "n_flips": len(flips),
        "flips": pictured(sample.collection, {flip[0]: flip for flip in flips[:: max(1, len(flips) // FLIPS)][:FLIPS]}),
        "n_conflicts": len(conflicts),
        "conflicts": pictured(sample.collection, {(one.image, one.caption): one for one in conflicts[:CONFLICTS]}),
        "back": f"{reverse('release')}?{back.urlencode()}",
        "query": sent.urlencode(),
        "citation": citation_of(draft) or bibtex_of(draft),
        "public_address": form.public_address(typed.version),
        "rounds": rounds,
        "n_votes": votes.count(),
        "n_simulated": votes.simulated().count(),
        "open_rounds": [str(one) for one in rounds if one.state == "open"],
        "n_waiting": Case.objects.waiting().filter(collection=sample.collection).count() if rounds else 0,
    }
