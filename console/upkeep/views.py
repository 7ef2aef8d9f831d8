"""Undo imports, discard drafts of rounds, and rename: once confirmed, and while nothing depends on it."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from console.inventory import check_removable, find, remove, rename, singular
from console.permissions import StaffRequest, researchers_only
from console.refusals import refusals_as_404, refusals_in
from core.errors import CounterpartError
from core.text import NameField
from corpus.batches import contents_of

PAGES = {name: name for name in ("collection", "annotator", "pool", "round", "version")} | {"test": "test_items"}
"""Kinds of things with a page of their own → its address."""


@researchers_only.fills
def batch_undo(request: StaffRequest, name: str) -> HttpResponse:
    """Take an import back."""
    return _removal(request, "batch", name, f"{name} is undone.")


@researchers_only.fills
def round_discard(request: StaffRequest, name: str) -> HttpResponse:
    """Remove a draft of a round."""
    return _removal(request, "round", name, f"The draft {name} is discarded.")


def _removal(request: StaffRequest, word: str, name: str, done: str) -> HttpResponse:
    with refusals_as_404():
        thing, row = find(word, name)
    back = reverse("pool", args=[row.pool.name]) if word == "round" else reverse("collection", args=[row.collection])
    trouble = ""
    try:
        if request.method == "POST":
            remove(word, name, actor=request.user.get_username())
            messages.success(request, done)
            return redirect(back)
        check_removable(thing, row)
    except CounterpartError as error:
        trouble = str(error)
    brought = contents_of(row) if word == "batch" else ""
    context = {word: row, "brought": brought, "back": back, "trouble": trouble}
    status = 409 if trouble and request.method == "POST" else 200
    return render(request, f"console/upkeep/{word}.html", context, status=status)


class NewName(forms.Form):
    """Another name for a thing."""

    name = NameField(label="Name")


@researchers_only.fills
def renaming(request: StaffRequest, kind: str, name: str) -> HttpResponse:
    """Give something another name."""
    with refusals_as_404():
        thing, row = find(kind, name)
        if thing.key == "id":
            raise CounterpartError(f"A {singular(kind)} has a number and no name.")
    form = NewName(request.POST or None, initial={"name": name.rpartition("/")[2]})
    if request.method == "POST" and form.is_valid():
        new = form.cleaned_data["name"]
        with refusals_in(form):
            rename(kind, name, new, actor=request.user.get_username())
            messages.success(request, f"{name} is now {new}.")
            return redirect(_page_of(kind, new, row))
    context = {"form": form, "kind": singular(kind), "name": name, "back": _page_of(kind, name, row)}
    return render(request, "console/upkeep/rename.html", context, status=422 if form.errors else 200)


def _page_of(word: str, name: str, row: Any) -> str:
    """Return the page of a thing, or of the collection that lists it."""
    if page := PAGES.get(singular(word)):
        return reverse(page, args=[name])
    return reverse("collection", args=[row.collection])
