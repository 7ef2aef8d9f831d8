"""Places: the page of each kind of thing, the tabs of those that have several, and what leads from one to another."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from annotation.models import Assignment, Worker
from core.models import Job
from corpus.models import Collection
from dataset.models import Version
from evaluation.models import Run
from hits.models import Round
from mitl.models import Annotator, Pool


class Tab(NamedTuple):
    """A tab of a place: its label, and the URL name of its page."""

    label: str
    page: str


PAGES: Mapping[type[Model], str] = {
    Collection: "collection",
    Annotator: "annotator",
    Pool: "pool",
    Round: "round",
    Version: "version",
    Run: "run",
    Worker: "worker",
    Assignment: "assignment",
    Job: "job",
}
"""Kind of thing → the URL name of its page, the first of its tabs."""
TABS: Mapping[type[Model], tuple[Tab, ...]] = {
    Collection: (
        Tab("Items", "collection"),
        Tab("Matches", "matches"),
        Tab("Samples and tests", "samples"),
        Tab("Annotators", "side_by_side"),
    ),
    Annotator: (Tab("Lists", "annotator"), Tab("Training", "training"), Tab("Origin", "annotator_origin")),
    Round: (
        Tab("Overview", "round"),
        Tab("Pairs", "round_pairs"),
        Tab("People", "round_people"),
        Tab("Money", "round_money"),
        Tab("Results", "round_results"),
    ),
    Version: (
        Tab("What is in it", "version"),
        Tab("How good", "version_trust"),
        Tab("Compare", "version_changes"),
        Tab("Files", "version_files"),
    ),
}


def key_of(thing: Model) -> Any:
    """Return what names a thing in addresses: its name, its pseudonym or its number."""
    return getattr(thing, "name", None) or getattr(thing, "pseudonym", None) or thing.pk


def page_of(thing: Model) -> str:
    """Return the address of the page of a thing, or of the assignment or the collection that it belongs to."""
    if type(thing) not in PAGES:
        return page_of(getattr(thing, "assignment", None) or thing.collection)  # type: ignore[attr-defined]
    return reverse(PAGES[type(thing)], args=[key_of(thing)])


def show(
    request: HttpRequest, template: str, thing: Model, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """Show a tab of a place. The template has the thing as ``thing`` and under the name of its kind."""
    named = {"thing": thing, type(thing).__name__.lower(): thing}
    return render(request, template, {**named, **context}, status=status)


def follow(job: Job) -> HttpResponseRedirect:
    """Show a job to the person who started it. Once it is done, the page leads to its result."""
    return HttpResponseRedirect(f"{page_of(job)}?follow=yes")
