"""The form of a release: how to cite the version, and what counts in it."""

from contextlib import suppress
from itertools import count
from typing import Any

from django import forms
from django.http import HttpRequest
from django.urls import reverse

from console.fields import ParametersForm, choose
from console.refusals import refusals_in
from corpus.matches import sources_of
from corpus.models import Collection, Match, Sample
from crowd.posting.publication import BEGUN
from dataset.models import Version
from dataset.releases.credits import authors_of, credits_of
from dataset.releases.release import check_release
from dataset.releases.release_parameters import ReleaseParameters
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
