"""The command palette: go to a thing or a page by its name, or do an act on a thing that the text names."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.models import Worker
from console.acts import ACTS
from console.navigation import ELSEWHERE, MENU, OF_USER
from console.permissions import StaffRequest, members_only
from console.places import page_of
from corpus.models import Caption, Collection, Image
from dataset.models import Version
from hits.models import Round
from mitl.models import Annotator, Pool

EACH = 5  # things of a kind
MOST = 20
NAMED: tuple[type[Model], ...] = (Round, Version, Collection, Annotator, Pool, Worker)
"""Kinds of things that have names, or pseudonyms."""


class Found(NamedTuple):
    """A line of the palette: ``kind`` says what it leads to, and is the question's verb for an act."""

    kind: str
    label: str
    url: str
    is_act: bool = False


@members_only.reads("go/")
def go(request: StaffRequest) -> HttpResponse:
    """Show what ``?q=`` finds; with ``?part`` only the list, for the dialog of palette.js."""
    text = " ".join(request.GET.get("q", "").split())[:100]
    found = list(islice(find(text, request.user), MOST))
    template = "console/_found.html" if "part" in request.GET else "console/go.html"
    return render(request, template, {"q": text, "found": found})


def find(text: str, user: User) -> Iterator[Found]:
    """Yield acts, things and pages by the text, the best first; pages alone for an empty one."""
    if text:
        yield from _acts(text, user)
        for kind in NAMED:
            yield from (Found(str(kind._meta.verbose_name), str(one), page_of(one)) for one in _named(kind, text))
        yield from _items(text)
    for entry in (*MENU, *ELSEWHERE, *OF_USER):
        if text.lower() in entry.title.lower() and entry.guard.may(user):
            yield Found("page", entry.title, reverse(entry.page))


def _acts(text: str, user: User) -> Iterator[Found]:
    """Yield the acts whose label begins with the text, or begins it, on the things that the rest of it names."""
    for act in ACTS.values():
        rest = _rest_of(text, act.label)
        if act.menu is None or rest is None or not act.guard.may(user):
            continue
        things = [one for one in _named(act.menu, rest) if act.offered(one)]
        yield from (Found("act", f"{act.label} {one}", act.url(one), is_act=True) for one in things)


def _rest_of(text: str, label: str) -> str | None:
    """Return what follows the label, or the beginning of it, in the text; None where the text says something else."""
    verb, _, rest = text.lower().partition(" ")
    if text.lower().startswith(f"{label.lower()} "):
        return text[len(label) + 1 :]
    if label.lower().startswith(text.lower()):
        return ""
    return rest if label.lower().split()[0] == verb else None


def _named(kind: type[Model], text: str) -> QuerySet[Model]:
    """Return the things of a kind whose name contains the text: the newest, or those that begin with it."""
    lookup = "pseudonym__startswith" if kind is Worker else "name__icontains"
    return kind._default_manager.filter(**{lookup: text}).order_by("-pk")[:EACH]


def _items(text: str) -> Iterator[Found]:
    """Yield the image and the caption with this key, and the pair of an image and a caption with two keys."""
    collections = list(Collection.objects.values_list("pk", flat=True))
    keys = text.split()
    images = Image.objects.filter(collection__in=collections, key=keys[0])[:EACH]
    captions = Caption.objects.filter(collection__in=collections, key=keys[-1])[:EACH]
    if len(keys) == 1:
        yield from (Found("image", one.key, reverse("image", args=[one.pk])) for one in images)
        yield from (Found("caption", one.text, reverse("caption", args=[one.pk])) for one in captions)
    elif len(keys) == 2:
        for image in images:
            for caption in captions:
                if image.collection_id == caption.collection_id:
                    yield Found("pair", f"{image.key} {caption.key}", reverse("pair", args=[image.pk, caption.pk]))
