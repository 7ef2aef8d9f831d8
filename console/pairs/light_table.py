"""A page of the light table: the lines of its pairs, and the filters that are set, each with the address without it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.core.paginator import Page
from django.http import HttpRequest, QueryDict

from console.pagination import page_of
from console.pairs.pair_filters import PairFilter
from console.pairs.pair_lines import Line, lines_of

MOST = 10_000
"""How many pairs are counted and paged: the database stops there."""
SIZE = 24
"""Pairs a page: five screens of a phone at most."""
PLAIN = ("sort",)
"""Fields of the filter that leave out no pair, and so have no chip."""


@dataclass(frozen=True)
class Chip:
    """A filter that is set, in words, and the query string of the page without it."""

    label: str
    value: str
    without: str


def chips_of(form: PairFilter, address: QueryDict) -> list[Chip]:
    """Return a chip for each condition of a valid filter, which the address holds."""
    return [
        Chip(str(form[name].label), _words(form, name), _without(address, name))
        for name in form.fields
        if name not in PLAIN and address.get(name)
    ]


def _words(form: PairFilter, name: str) -> str:
    chosen: Any = form.cleaned_data[name]
    field = form.fields[name]
    named = cast("Iterable[tuple[str, str]]", field.choices) if type(field) is forms.ChoiceField else []
    return str(dict(named).get(chosen, chosen))


def _without(address: QueryDict, name: str) -> str:
    """Return the query string without a filter, the page number and empty values."""
    kept = QueryDict(mutable=True)
    for key, values in address.lists():
        if key not in (name, "page"):
            kept.setlist(key, [value for value in values if value])
    return kept.urlencode()


def page_and_lines(request: HttpRequest, form: PairFilter) -> tuple[Page, list[Line], bool]:
    """Return the page of a valid filter, its lines, and whether there are more pairs than were counted."""
    found = list(form.pairs()[:MOST])  # One query, where a count would be a second one.
    page = page_of(request, found, size=SIZE)
    return page, lines_of(form.place, page.object_list), len(found) == MOST
