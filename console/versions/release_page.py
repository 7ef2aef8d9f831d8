"""Releasing a version: first how to cite it and what counts, then what it would hold, which is released for good."""

from contextlib import suppress
from itertools import count
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.work.judgments import votes_in
from console.fields import ParametersForm, choose
from console.permissions import StaffRequest, members_only, releasers_only, stewards_only
from console.places import follow
from console.refusals import refusals_in
from console.versions.release_outlook import choices_of, effect_of, flips_of, pictured
from core import clock
from core.text import counted
from corpus.matches import sources_of
from corpus.models import Collection, Match, Sample
from crowd.posting.publication import BEGUN
from dataset.exports.citing import bibtex_of, citation_of
from dataset.jobs import start_release
from dataset.models import Case, Version
from dataset.releases.credits import authors_of, credits_of
from dataset.releases.release import check_release
from dataset.releases.release_parameters import ReleaseParameters
from dataset.reviews.conflicts import conflicts_of, preview, previews, send_to_review
from dataset.secret_controls import refuse_secret_pairs
from hits.models import Round
from hits.task_types import ON_PAIRS

SECTIONS = {
    "cited": ("version", "title", "authors", "licence"),
    "details": ("description", "url", "contact", "citation"),
    "counted": ("rounds", "queries"),
    "policies": ("merge", "positive_levels", "method", "ties", "precedence", "partial", "mixed_tasks"),
}
HELP = {
    "rounds": "Published rounds, whose votes are counted together. Without one, a version holds the sources alone.",
    "positive_levels": "The answers that make a pair a match.",
    "merge": "Known matches that the version holds too, as in “original” or “cxc>=3, original”.",
    "url": "A web address or a DOI. Left empty, it is the address of the public page.",
    "partial": "Answers that are missing or wait for a review are left out, and the manifest says so.",
    "mixed_tasks": "The manifest and the card say so.",
}
"""Help texts of a page, where those of the command explain how an option is typed."""


class ReleaseForm(ParametersForm):
    """How to cite a version, and what counts in it."""

    act = ReleaseParameters
    parameters: ReleaseParameters

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request
        samples = Sample.objects.select_related("collection")
        begun = Round.objects.filter(BEGUN, task__in=ON_PAIRS)
        choose(self, "queries", forms.ModelChoiceField(samples, empty_label=None))
        boxes = forms.CheckboxSelectMultiple
        choose(self, "rounds", forms.ModelMultipleChoiceField(begun, required=False, widget=boxes))
        for name, text in HELP.items():
            self.fields[name].help_text = text
        self.fields["merge"].initial = Match.ORIGINAL

    def sections(self) -> dict[str, list[forms.BoundField]]:
        return {section: [self[name] for name in names] for section, names in SECTIONS.items()}

    def public_address(self, name: str) -> str:
        return self.request.build_absolute_uri(reverse("result", args=[name]))

    def clean_version(self) -> str:
        name: str = self.cleaned_data["version"]
        if Version.objects.filter(name=name).exists():
            raise forms.ValidationError(f"Version {name} already exists and cannot be changed. Choose another name.")
        return name

    def clean(self) -> dict[str, Any]:
        chosen = super().clean() or self.cleaned_data
        if self.errors:
            return chosen
        with suppress(forms.ValidationError):  # a host of a local network has no public address
            chosen["url"] = chosen["url"] or self.fields["url"].clean(self.public_address(chosen["version"]))
        with refusals_in(self):
            self.parameters = ReleaseParameters(**self.chosen() | {"collection": chosen["queries"].collection.name})
            check_release(self.parameters)
        return chosen


def proposed(rounds: list[str], sample: str) -> dict[str, Any]:
    """Return the fields that a release of the rounds begins with, by default the newest one: a free name, and credits
    as in the latest version of its collection."""
    begun = Round.objects.filter(BEGUN, task__in=ON_PAIRS).select_related("pool__sample__collection")
    newest = (begun.filter(name__in=rounds) if rounds else begun).first()
    asked = Sample.objects.filter(name=sample).first() or (newest.pool.sample if newest else None)
    if asked is None:
        return {}
    collection = asked.collection
    latest = Version.objects.filter(collection=collection).order_by("-released_at").first()
    known = credits_of(latest) | {"licence": latest.manifest.get("licence", "")} if latest else {}
    return {name: known.get(name, "") for name in ("description", "contact", "licence")} | {
        "title": known.get("title") or f"{collection} with judged matches",
        "authors": "; ".join(map(str, authors_of(latest))) if latest else "",
        "version": free_name(collection),
        "queries": asked.name,
        "rounds": rounds or ([newest.name] if newest else []),
    }


def free_name(collection: Collection) -> str:
    """Return the next name of a version of the collection that neither a version nor a match source has."""
    taken = {*Version.objects.values_list("name", flat=True), *sources_of(collection)}
    return next(name for number in count(1) if (name := f"{collection}-v{number}") not in taken)


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
